"""Wrong answers to the exercises of stage 01, those that learners make, and what the check has to say of each.

(what it is, changes of the solution or a text in place of the hole's lines, what the check says). None: a right answer.
"""

WRONG = {
    "element": [
        ("the thread's number in its block", [("blockIdx.x * blockDim.x + ", "")], "race|block 1 begins"),
        ("swapped", [("* blockDim.x + threadIdx.x;", "+ threadIdx.x * gridDim.x;")], "block 1 begins"),
        ("one too far", [("+ threadIdx.x;\n    numbers", "+ threadIdx.x + 1;\n    numbers")], "behind"),
        ("a short", [("int i", "short i")], "before|outside|race"),
        (
            "thread 0 does all",
            "    if (blockIdx.x == 0 && threadIdx.x == 0)\n        for (int i = 0; i < gridDim.x * blockDim.x; i++)\n"
            "            numbers[i] = i / blockDim.x * 1000 + i % blockDim.x;\n",
            "each thread has its own part",
        ),
        ("right: two lines in one", "    numbers[blockIdx.x * blockDim.x + threadIdx.x] = 1000 * blockIdx.x + threadIdx.x;\n", None),
    ],
    "guard": [
        ("no guard", [("if (i < n)\n        ", "")], "behind"),
        ("<=", [("i < n", "i <= n")], "behind"),
        ("rounded down", [("(n + THREADS - 1) / THREADS", "n / THREADS")], "rounded up|not launched"),
        ("rounded up as a float", [("(n + THREADS - 1) / THREADS", "ceilf((float)n / THREADS)")], "16777217 elements"),
        ("always many", [("(n + THREADS - 1) / THREADS", "65535")], "expected 4 blocks, came 65535"),
        ("right: an early return", [("if (i < n)\n        x[i] = factor * x[i];", "if (i >= n)\n        return;\n    x[i] *= factor;")], None),
    ],
    "matrix": [
        ("a row has `rows` elements", [("row * columns", "row * rows")], "row|behind"),
        ("column after column", [("row * columns + column", "column * rows + row")], "told apart|behind"),
        ("no guard for the columns", [(" && column < columns", "")], "race|below its own limit|behind"),
        ("|| for &&", [("&&", "||")], "behind|race|told apart"),
        ("every thread does all", "    for (int i = 0; i < rows * columns; i++)\n        matrix[i] = i / columns * 100 + i % columns;\n", "each thread has its own part"),
        ("right: its number first", [("matrix[row * columns + column] = 100", "*(matrix + row * columns + column) = 100")], None),
    ],
    "stride": [
        ("one element for each thread", [("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads_in_grid)", "int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)")], "its turn once"),
        ("the block's threads alone", [("= gridDim.x * blockDim.x", "= blockDim.x")], "its turn once|race"),
        (
            "contiguous pieces",
            "    int threads = gridDim.x * blockDim.x, each = (n - 1) / threads + 1;\n    int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;\n"
            "    for (int i = first; i < first + each && i < n; i++)\n        x[i] += 1;\n",
            "side by side",
        ),
        ("thread 0 does all", "    if (blockIdx.x + threadIdx.x == 0)\n        for (int i = 0; i < n; i++)\n            x[i] += 1;\n", "its own part"),
        ("right: backwards", "    for (int i = n - 1 - (blockIdx.x * blockDim.x + threadIdx.x); i >= 0; i -= gridDim.x * blockDim.x)\n        x[i]++;\n", None),
    ],
    "coalesced": [
        ("eight in a row", [("blockIdx.x * blockDim.x * EACH + threadIdx.x", "(blockIdx.x * blockDim.x + threadIdx.x) * EACH"), ("first + k * blockDim.x", "first + k")], "sectors of 32 bytes"),
        ("no guard", [("        if (i < n)\n    ", "")], "behind"),
        ("blocks too near", [("blockDim.x * EACH + ", "blockDim.x + ")], "race|its turn once"),
        ("thread 0 does all", "    if (blockIdx.x + threadIdx.x == 0)\n        for (int i = 0; i < n; i++)\n            x[i] += 1;\n", "its own part"),
        ("right: by the whole grid", "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n        x[i] += 1;\n", None),
    ],
    "histogram": [
        ("no atomic", [("atomicAdd(&counts[text[i]], 1)", "counts[text[i]] += 1")], "race"),
        ("no guard", [("if (i < n)\n        ", "")], "behind"),
        ("atomicCAS without a loop", [("atomicAdd(&counts[text[i]], 1)", "atomicCAS(&counts[text[i]], counts[text[i]], counts[text[i]] + 1)")], "race|one step"),
        ("a look by an atomic, then CAS", [("atomicAdd(&counts[text[i]], 1);", "{ int *c = &counts[text[i]], old = atomicAdd(c, 0); atomicCAS(c, old, old + 1); }")], "one step"),
        ("tried twice", [("atomicAdd(&counts[text[i]], 1);", "{ int *c = &counts[text[i]], old = *c; int now = atomicCAS(c, old, old + 1); if (now != old) atomicCAS(c, now, now + 1); }")], "one step"),
        ("a thread for each character", "    if (i < 256)\n        for (int k = 0; k < n; k++)\n            counts[i] += text[k] == i;\n", "each thread counts one|its own part"),
        (
            "right: compare and swap until it goes well",
            "    if (i < n) {\n        int old = counts[text[i]], seen;\n        do {\n            seen = old;\n            old = atomicCAS(&counts[text[i]], seen, seen + 1);\n"
            "        } while (old != seen);\n    }\n",
            None,
        ),
    ],
    "halves": [
        ("no barrier", [("    __syncthreads();\n", "")], "race|written"),
        ("not shared", [("__shared__ int part", "int part")], "written|expected"),
        ("from global memory", "    if (t < 128)\n        out[blockIdx.x * 128 + t] = x[blockIdx.x * 256 + t] + x[blockIdx.x * 256 + t + 128];\n", "read once|its own part"),
        ("neighbours", [("part[t] + part[t + 128]", "part[2 * t] + part[2 * t + 1]")], "element t and element t . 128"),
        ("block 0 only", [("x[blockIdx.x * 256 + t]", "x[t]")], "of this block"),
    ],
    "block_sum": [
        ("no barrier in the loop", [("        __syncthreads();\n    }", "    }")], "race|__syncthreads"),
        ("no 0 for a thread without an element", [("i < n ? x[i] : 0", "x[i]")], "last block|behind"),
        ("volatile for a barrier", [("__shared__ int", "volatile __shared__ int"), ("    for (int half = 128; half > 0; half /= 2) {\n        if (t < half)\n            part[t] += part[t + half];\n        __syncthreads();\n    }", "    for (int half = 128; half > 0; half /= 2)\n        if (t < half)\n            part[t] += part[t + half];\n    __syncthreads();")], "race|wait|__sync"),
        ("by atomics in global memory", "    int i = blockIdx.x * 256 + threadIdx.x;\n    if (threadIdx.x == 0)\n        sums[blockIdx.x] = 0;\n    __syncthreads();\n    if (i < n)\n        atomicAdd(&sums[blockIdx.x], x[i]);\n", "grows in shared memory"),
        ("right: an atomic sum in shared memory", "    __shared__ int sum;\n    int i = blockIdx.x * 256 + threadIdx.x;\n    if (threadIdx.x == 0)\n        sum = 0;\n    __syncthreads();\n    if (i < n)\n        atomicAdd(&sum, x[i]);\n    __syncthreads();\n    if (threadIdx.x == 0)\n        sums[blockIdx.x] = sum;\n", None),
    ],
    "race": [
        ("asked twice", [("if (i < n)\n        atomicMax(largest, x[i]);", "if (i < n && x[i] > *largest)\n        if (x[i] > *largest)\n            *largest = x[i];")], "race"),
        ("atomicExch", [("if (i < n)\n        atomicMax(largest, x[i]);", "if (i < n && x[i] > *largest)\n        atomicExch(largest, x[i]);")], "race|two threads may read"),
        ("volatile", [("if (i < n)\n        atomicMax(largest, x[i]);", "volatile int *l = largest;\n    if (i < n && x[i] > *l)\n        *l = x[i];")], "race|two threads may read"),
        ("no guard", [("if (i < n)\n        ", "")], "behind"),
        ("thread 0 does all", [("if (i < n)\n        atomicMax(largest, x[i]);", "if (i == 0)\n        for (int k = 0; k < n; k++)\n            if (x[k] > *largest)\n                *largest = x[k];")], "each thread looks at one"),
    ],
    "unnoticed": [
        ("only the launch", [("    if (error == cudaSuccess)\n        error = cudaDeviceSynchronize();\n", "")], "the kernel fails"),
        ("only the kernel", [("    error = cudaGetLastError();\n    if (error == cudaSuccess)\n", "")], "2048 threads is not accepted"),
        ("the second answer replaces the first", [("    if (error == cudaSuccess)\n", "")], "2048 threads is not accepted"),
        ("CHECK ends the program", [("error = cudaGetLastError();", "CHECK(cudaGetLastError());"), ("__global__", '#include "check.h"\n__global__')], "CHECK does"),
        ("asked twice", "    if (cudaGetLastError() != cudaSuccess)\n        error = cudaGetLastError();\n    else\n        error = cudaDeviceSynchronize();\n", "2048 threads is not accepted"),
        ("1 for everything", "    error = (cudaError_t)(cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess);\n", "returned as it is"),
    ],
}  # fmt: skip
