"""Wrong answers to the exercises of stage 01: what is changed in the solution, and what the check has to say.

No message: a right answer, in another style.
"""

WRONG = {
    "element": [
        ("the thread's number in its block", [("blockIdx.x * blockDim.x + ", "")], "race|block 1 begins"),
        (
            "blocks and threads swapped",
            [("blockIdx.x * blockDim.x + threadIdx.x;", "threadIdx.x * gridDim.x + blockIdx.x;")],
            "block 1 begins",
        ),
        ("gridDim for blockDim", [("blockIdx.x * blockDim.x", "blockIdx.x * gridDim.x")], "race|block 1 begins"),
        ("right for blocks of 4 only", [("blockIdx.x * blockDim.x", "blockIdx.x * 4")], "race|block 1 begins"),
        (
            "one too far",
            [("+ threadIdx.x;\n    numbers", "+ threadIdx.x + 1;\n    numbers")],
            "behind the end|wrote to element 8|numbers\\[0\\]",
        ),
        (
            "its own number, which is not asked for",
            [("= 1000 * blockIdx.x + threadIdx.x", "= i")],
            "numbers\\[4\\] of 8: expected 1000, came 4",
        ),
        (
            "a number for each that comes",
            [
                (
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    numbers[i] = 1000 * blockIdx.x + threadIdx.x;\n",
                    "    __shared__ int next;\n    if (threadIdx.x == 0)\n        next = blockIdx.x * blockDim.x;\n    __syncthreads();\n    numbers[atomicAdd(&next, 1)] = 1000 * blockIdx.x + threadIdx.x;\n",
                )
            ],
            "block 1 begins",
        ),
        (
            "a short",
            [
                (
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    numbers[i] = 1000 * blockIdx.x + threadIdx.x;\n",
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    short number = 1000 * blockIdx.x + threadIdx.x;\n    numbers[i] = number;\n",
                )
            ],
            "expected",
        ),
        (
            "added to what is there",
            [
                (
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    numbers[i] = 1000 * blockIdx.x + threadIdx.x;\n",
                    "    numbers[blockIdx.x * blockDim.x + threadIdx.x] += 1000 * blockIdx.x + threadIdx.x;\n",
                )
            ],
            "never written|nobody has written|expected",
        ),
    ],
    "guard": [
        ("no guard", [("if (i < n)\n        ", "")], "keeps the threads off|Invalid"),
        ("<=", [("i < n", "i <= n")], "keeps the threads off|Invalid"),
        ("< n - 1", [("i < n", "i < n - 1")], "guard i < n|x.255. of 256"),
        ("blocks rounded down", [("(n + THREADS - 1) / THREADS", "n / THREADS")], "rounded up"),
        ("one block", [("blocks = (n + THREADS - 1) / THREADS;", "")], "rounded up"),
        (
            "one block too many and no guard",
            [("(n + THREADS - 1) / THREADS", "n / THREADS + 1"), ("if (i < n)\n        ", "")],
            "keeps the threads off|Invalid",
        ),
        ("the factor for all equal inputs", [("= factor * x[i]", "= factor")], "factor . x.i., once"),
        ("no launch", [("    Scale<<<blocks, THREADS>>>(x, factor, n);\n", "")], "expected 3, came 1"),
        (
            "a block that is too large",
            [("THREADS = 256", "THREADS = 2048")],
            "InvalidValue|InvalidConfiguration|not launched",
        ),
        (
            "a value for those behind the end",
            [("    if (i < n)\n        x[i] = factor * x[i];\n", "    x[i] = i < n ? factor * x[i] : x[i];\n")],
            "keeps the threads off|Invalid",
        ),
        (
            "whole numbers",
            [
                (
                    "    if (i < n)\n        x[i] = factor * x[i];\n",
                    "    int f = factor;\n    if (i < n)\n        x[i] = (int)x[i] * f;\n",
                )
            ],
            "factor . x.i.",
        ),
        (
            "a short i",
            [
                (
                    "    if (i < n)\n        x[i] = factor * x[i];\n",
                    "    short j = i;\n    if (j < n)\n        x[j] = factor * x[j];\n",
                )
            ],
            "race|keeps the threads off|Invalid|needs its thread|must not be negative",
        ),
        (
            "right: an early return",
            [
                (
                    "    if (i < n)\n        x[i] = factor * x[i];\n",
                    "    if (i >= n)\n        return;\n    x[i] *= factor;\n",
                )
            ],
            None,
        ),
    ],
    "matrix": [
        ("a row has `rows` elements", [("row * columns", "row * rows")], "row|wrote to element|behind the end"),
        ("column major", [("row * columns + column", "column * rows + row")], "row .y. and column .x."),
        (
            "x for the row",
            [
                ("row = blockIdx.y * blockDim.y + threadIdx.y", "row = blockIdx.x * blockDim.x + threadIdx.x"),
                ("column = blockIdx.x * blockDim.x + threadIdx.x", "column = blockIdx.y * blockDim.y + threadIdx.y"),
            ],
            "row .y. and column .x.",
        ),
        (
            "no guard for the columns",
            [(" && column < columns", "")],
            "race|below its own limit|wrote to element|behind the end",
        ),
        ("no guard for the rows", [("row < rows && ", "")], "keeps the threads off|Invalid"),
        ("|| for &&", [("&&", "||")], "keeps the threads off|Invalid|race|told apart"),
        (
            "swapped limits",
            [("row < rows && column < columns", "row < columns && column < rows")],
            "row|keeps the threads off|Invalid|race",
        ),
        ("<=", [("column < columns", "column <= columns")], "race|below its own limit|wrote to element|behind the end"),
        (
            "the block's size written down",
            [
                (
                    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n    int column = blockIdx.x * blockDim.x + threadIdx.x;\n    if (row < rows && column < columns)\n        matrix[row * columns + column] = 100 * row + column;\n",
                    "    int row = blockIdx.y * 8 + threadIdx.y;\n    int column = blockIdx.x * 16 + threadIdx.x;\n    if (row < rows && column < columns)\n        matrix[row * columns + column] = 100 * row + column;\n",
                )
            ],
            "row|race",
        ),
        (
            "unsigned char",
            [
                (
                    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n    int column = blockIdx.x * blockDim.x + threadIdx.x;\n    if (row < rows && column < columns)\n        matrix[row * columns + column] = 100 * row + column;\n",
                    "    unsigned char row = blockIdx.y * blockDim.y + threadIdx.y;\n    unsigned char column = blockIdx.x * blockDim.x + threadIdx.x;\n    if (row < rows && column < columns)\n        matrix[row * columns + column] = 100 * row + column;\n",
                )
            ],
            "row|race",
        ),
    ],
    "stride": [
        (
            "no loop",
            [
                (
                    "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads_in_grid)",
                    "int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)",
                )
            ],
            "x.8. of 20: expected 11, came 10",
        ),
        ("a step of one block", [("gridDim.x * blockDim.x", "blockDim.x")], "race|its turn once"),
        ("a step of gridDim", [("gridDim.x * blockDim.x", "gridDim.x")], "race|its turn once"),
        (
            "all begin with their number in the block",
            [("i = blockIdx.x * blockDim.x + threadIdx.x", "i = threadIdx.x")],
            "race|its turn once",
        ),
        ("<=", [("i < n", "i <= n")], "keeps the threads off|Invalid"),
        (
            "no limit on the number of blocks: the first element left out",
            [("+ threadIdx.x; i", "+ threadIdx.x + 1; i")],
            "x\\[0\\] of 20: expected 11, came 10",
        ),
        (
            "one thread does it all, and so does each",
            [("i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads_in_grid", "i = 0; i < n; i++")],
            "race|its turn once",
        ),
        (
            "at most 20 rounds",
            [
                (
                    "    int threads_in_grid = gridDim.x * blockDim.x;\n    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads_in_grid)\n        x[i] += 1;\n",
                    "    for (int k = 0; k < 20; k++) {\n        int i = blockIdx.x * blockDim.x + threadIdx.x + k * gridDim.x * blockDim.x;\n        if (i < n)\n            x[i] += 1;\n    }\n",
                )
            ],
            "its turn once",
        ),
        (
            "reads the next one first",
            [
                (
                    "    int threads_in_grid = gridDim.x * blockDim.x;\n    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads_in_grid)\n        x[i] += 1;\n",
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x, next = x[i];\n    for (; i < n; i += step) {\n        int now = next;\n        next = x[i + step];\n        x[i] = now + 1;\n    }\n",
                )
            ],
            "reads 4 bytes|Invalid",
        ),
        (
            "right: backwards",
            [
                (
                    "    int threads_in_grid = gridDim.x * blockDim.x;\n    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads_in_grid)\n        x[i] += 1;\n",
                    "    for (int i = n - 1 - (blockIdx.x * blockDim.x + threadIdx.x); i >= 0; i -= gridDim.x * blockDim.x)\n        x[i]++;\n",
                )
            ],
            None,
        ),
    ],
    "histogram": [
        ("no atomic", [("atomicAdd(&counts[text[i]], 1)", "counts[text[i]] += 1")], "race|atomicAdd"),
        (
            "no guard",
            [("if (i < n)\n        ", "")],
            "counts\\[\\d+\\]|outside|never|written|keeps the threads off|Invalid",
        ),
        ("<=", [("i < n", "i <= n")], "counts\\[\\d+\\]|outside|written|keeps the threads off|Invalid"),
        ("a count of 1", [("atomicAdd(&counts[text[i]], 1)", "counts[text[i]] = 1")], "expected"),
        (
            "atomicExch",
            [("atomicAdd(&counts[text[i]], 1)", "atomicExch(&counts[text[i]], counts[text[i]] + 1)")],
            "race|atomicAdd",
        ),
        ("only the first block", [("i < n", "threadIdx.x == i && i < n")], "expected"),
        (
            "the text is cleared",
            [
                (
                    "        atomicAdd(&counts[text[i]], 1);",
                    "        atomicAdd(&counts[text[i]], 1), const_cast<unsigned char *>(text)[i] = 0;",
                )
            ],
            "read, not written",
        ),
        (
            "the larger one",
            [
                (
                    "    if (i < n)\n        atomicAdd(&counts[text[i]], 1);\n",
                    "    if (i < n)\n        atomicMax(&counts[text[i]], counts[text[i]] + 1);\n",
                )
            ],
            "atomicAdd",
        ),
        (
            "volatile",
            [
                (
                    "    if (i < n)\n        atomicAdd(&counts[text[i]], 1);\n",
                    "    volatile int *c = counts;\n    if (i < n)\n        c[text[i]] = c[text[i]] + 1;\n",
                )
            ],
            "race|atomicAdd",
        ),
        (
            "a signed char",
            [
                (
                    "    if (i < n)\n        atomicAdd(&counts[text[i]], 1);\n",
                    "    if (i < n)\n        atomicAdd(&counts[(signed char)text[i]], 1);\n",
                )
            ],
            "before|negative|expected",
        ),
        (
            "right: compare and swap until it goes well",
            [
                (
                    "    if (i < n)\n        atomicAdd(&counts[text[i]], 1);\n",
                    "    if (i < n) {\n        int old = counts[text[i]], seen;\n        do {\n            seen = old;\n            old = atomicCAS(&counts[text[i]], seen, seen + 1);\n        } while (old != seen);\n    }\n",
                )
            ],
            None,
        ),
        (
            "right: a lock",
            [
                (
                    "    if (i < n)\n        atomicAdd(&counts[text[i]], 1);\n",
                    "    static __device__ int lock;\n    for (bool done = i >= n; !done;)\n        if (atomicCAS(&lock, 0, 1) == 0) {\n            __threadfence();\n            counts[text[i]]++;\n            __threadfence();\n            atomicExch(&lock, 0);\n            done = true;\n        }\n",
                )
            ],
            None,
        ),
        (
            "right: counted in shared memory first",
            [
                (
                    "    if (i < n)\n        atomicAdd(&counts[text[i]], 1);\n",
                    "    __shared__ int part[256];\n    part[threadIdx.x] = 0;\n    __syncthreads();\n    if (i < n)\n        atomicAdd(&part[text[i]], 1);\n    __syncthreads();\n    atomicAdd(&counts[threadIdx.x], part[threadIdx.x]);\n",
                )
            ],
            None,
        ),
    ],
    "block_sum": [
        ("no barrier before the sum", [("0;\n    __syncthreads();\n", "0;\n")], "race|written yet|__syncthreads"),
        (
            "no barrier in the loop",
            [("        __syncthreads();\n    }", "    }")],
            "race|__syncthreads|hazard|racecheck",
        ),
        (
            "the barrier inside the if",
            [
                (
                    "        if (t < half)\n            part[t] += part[t + half];\n        __syncthreads();",
                    "        if (t < half) {\n            part[t] += part[t + half];\n            __syncthreads();\n        }",
                )
            ],
            "inside an if",
        ),
        (
            "the last block's threads leave",
            [("    part[t] = i < n ? x[i] : 0;", "    if (i >= n)\n        return;\n    part[t] = x[i];")],
            "last block|written yet|never|race|returned before it",
        ),
        ("no 0 for a thread without an element", [("i < n ? x[i] : 0", "x[i]")], "last block|reads 4 bytes"),
        (
            "right for equal numbers only",
            [("part[t] = i < n ? x[i] : 0", "part[t] = x[blockIdx.x * blockDim.x]")],
            "last block|added once",
        ),
        ("the loop ends too early", [("half > 0", "half > 1")], "added once|expected"),
        ("all blocks write to the first", [("sums[blockIdx.x]", "sums[0]")], "race|added once|nobody has written"),
        ("__syncwarp", [("__syncthreads", "__syncwarp")], "race|written yet|syncthreads|hazard|racecheck"),
        (
            "all threads write their part",
            [("if (t == 0)\n        sums[blockIdx.x] = part[0]", "sums[blockIdx.x] = part[t]")],
            "race|added once|expected",
        ),
        (
            "no barrier after the zero",
            [
                (
                    "    __shared__ int part[256];\n    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n    part[t] = i < n ? x[i] : 0;\n    __syncthreads();\n    for (int half = 128; half > 0; half /= 2) {\n        if (t < half)\n            part[t] += part[t + half];\n        __syncthreads();\n    }\n    if (t == 0)\n        sums[blockIdx.x] = part[0];\n",
                    "    __shared__ int sum;\n    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n    if (t == 0)\n        sum = 0;\n    if (i < n)\n        atomicAdd(&sum, x[i]);\n    __syncthreads();\n    if (t == 0)\n        sums[blockIdx.x] = sum;\n",
                )
            ],
            "race|written yet|__syncthreads",
        ),
        (
            "volatile for a barrier",
            [
                (
                    "    __shared__ int part[256];\n    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n    part[t] = i < n ? x[i] : 0;\n    __syncthreads();\n    for (int half = 128; half > 0; half /= 2) {\n        if (t < half)\n            part[t] += part[t + half];\n        __syncthreads();\n    }\n    if (t == 0)\n        sums[blockIdx.x] = part[0];\n",
                    "    __shared__ volatile int total;\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (threadIdx.x == 0)\n        total = 0;\n    __syncthreads();\n    if (i < n)\n        total += x[i];\n    __syncthreads();\n    if (threadIdx.x == 0)\n        sums[blockIdx.x] = total;\n",
                )
            ],
            "race|__syncthreads",
        ),
        (
            "floats",
            [
                (
                    "    __shared__ int part[256];\n    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n    part[t] = i < n ? x[i] : 0;\n    __syncthreads();\n    for (int half = 128; half > 0; half /= 2) {\n        if (t < half)\n            part[t] += part[t + half];\n        __syncthreads();\n    }\n    if (t == 0)\n        sums[blockIdx.x] = part[0];\n",
                    "    __shared__ float part[256];\n    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n    part[t] = i < n ? x[i] : 0;\n    __syncthreads();\n    for (int half = 128; half > 0; half /= 2) {\n        if (t < half)\n            part[t] += part[t + half];\n        __syncthreads();\n    }\n    if (t == 0)\n        sums[blockIdx.x] = part[0];\n",
                )
            ],
            "added once|expected",
        ),
        (
            "not shared",
            [
                (
                    "    __shared__ int part[256];\n    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n    part[t] = i < n ? x[i] : 0;\n    __syncthreads();\n    for (int half = 128; half > 0; half /= 2) {\n        if (t < half)\n            part[t] += part[t + half];\n        __syncthreads();\n    }\n    if (t == 0)\n        sums[blockIdx.x] = part[0];\n",
                    "    int part[256];\n    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n    part[t] = i < n ? x[i] : 0;\n    __syncthreads();\n    for (int half = 128; half > 0; half /= 2) {\n        if (t < half)\n            part[t] += part[t + half];\n        __syncthreads();\n    }\n    if (t == 0)\n        sums[blockIdx.x] = part[0];\n",
                )
            ],
            "__shared__|written|expected|outside|behind",
        ),
        (
            "right: an atomic sum",
            [
                (
                    "    __shared__ int part[256];\n    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n    part[t] = i < n ? x[i] : 0;\n    __syncthreads();\n    for (int half = 128; half > 0; half /= 2) {\n        if (t < half)\n            part[t] += part[t + half];\n        __syncthreads();\n    }\n    if (t == 0)\n        sums[blockIdx.x] = part[0];\n",
                    "    __shared__ int sum;\n    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n    if (t == 0)\n        sum = 0;\n    __syncthreads();\n    if (i < n)\n        atomicAdd(&sum, x[i]);\n    __syncthreads();\n    if (t == 0)\n        sums[blockIdx.x] = sum;\n",
                )
            ],
            None,
        ),
        (
            "right: one thread does it all",
            [
                (
                    "    __shared__ int part[256];\n    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n    part[t] = i < n ? x[i] : 0;\n    __syncthreads();\n    for (int half = 128; half > 0; half /= 2) {\n        if (t < half)\n            part[t] += part[t + half];\n        __syncthreads();\n    }\n    if (t == 0)\n        sums[blockIdx.x] = part[0];\n",
                    "    int first = blockIdx.x * 256, sum = 0;\n    for (int k = 0; k < 256 && first + k < n; k++)\n        sum += x[first + k];\n    if (threadIdx.x == 0)\n        sums[blockIdx.x] = sum;\n",
                )
            ],
            None,
        ),
    ],
    "unnoticed": [
        (
            "only the launch",
            [("    if (error == cudaSuccess)\n        error = cudaDeviceSynchronize();\n", "")],
            "the kernel fails",
        ),
        (
            "only the kernel",
            [("    error = cudaGetLastError();\n    if (error == cudaSuccess)\n", "")],
            "2048 threads is not accepted",
        ),
        (
            "asked, and not kept",
            [
                ("error = cudaGetLastError();", "cudaGetLastError();"),
                (
                    "    if (error == cudaSuccess)\n        error = cudaDeviceSynchronize();\n",
                    "    cudaDeviceSynchronize();\n",
                ),
            ],
            "2048 threads is not accepted",
        ),
        (
            "the second answer replaces the first",
            [("    if (error == cudaSuccess)\n", "")],
            "2048 threads is not accepted",
        ),
        ("always an error", [("    return error;", "    return cudaErrorUnknown;")], "returned as it is"),
        (
            "only printed",
            [
                (
                    "error = cudaGetLastError();\n    if (error == cudaSuccess)\n        error = cudaDeviceSynchronize();",
                    'if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)\n        printf("an error\\n");',
                )
            ],
            "2048 threads is not accepted",
        ),
        (
            "CHECK ends the program, and whoever uses it",
            [("error = cudaGetLastError();", "CHECK(cudaGetLastError());")],
            "CHECK does",
        ),
        ("no launch", [("    Double<<<(n - 1) / threads_in_block + 1, threads_in_block>>>(x, n);\n", "")], "2048"),
        (
            "only what the check tries",
            [
                (
                    "    error = cudaGetLastError();\n    if (error == cudaSuccess)\n        error = cudaDeviceSynchronize();\n",
                    "    if (threads_in_block > 1024)\n        return cudaErrorInvalidValue;\n    error = cudaDeviceSynchronize();\n",
                )
            ],
            "negative|2048",
        ),
        (
            "asked twice",
            [
                (
                    "    error = cudaGetLastError();\n    if (error == cudaSuccess)\n        error = cudaDeviceSynchronize();\n",
                    "    if (cudaGetLastError() != cudaSuccess)\n        error = cudaGetLastError();\n    else\n        error = cudaDeviceSynchronize();\n",
                )
            ],
            "2048 threads is not accepted",
        ),
        (
            "1 for everything",
            [
                (
                    "    error = cudaGetLastError();\n    if (error == cudaSuccess)\n        error = cudaDeviceSynchronize();\n",
                    "    error = (cudaError_t)(cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess);\n",
                )
            ],
            "returned as it is",
        ),
        (
            "CHECK for the kernel",
            [
                (
                    "    error = cudaGetLastError();\n    if (error == cudaSuccess)\n        error = cudaDeviceSynchronize();\n",
                    "    error = cudaGetLastError();\n    if (error == cudaSuccess)\n        CHECK(cudaDeviceSynchronize());\n",
                )
            ],
            "CHECK does",
        ),
    ],
}
