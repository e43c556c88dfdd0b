"""Wrong answers to the exercises of stage 01: what is changed in the solution, and what the check has to say."""

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
            r"wrote to element 8|numbers\[0\]",
        ),
        (
            "its own number, which is not asked for",
            [("= 1000 * blockIdx.x + threadIdx.x", "= i")],
            r"numbers\[4\] of 8: expected 1000, came 4",
        ),
    ],
    "guard": [
        ("no guard", [("if (i < n)\n        ", "")], "no element: what keeps them off"),
        ("<=", [("i < n", "i <= n")], "no element: what keeps them off"),
        ("< n - 1", [("i < n", "i < n - 1")], "guard i < n|x.255. of 256"),
        ("blocks rounded down", [("(n + THREADS - 1) / THREADS", "n / THREADS")], "rounded up"),
        ("one block", [("blocks = (n + THREADS - 1) / THREADS;", "")], "rounded up"),
        (
            "one block too many and no guard",
            [("(n + THREADS - 1) / THREADS", "n / THREADS + 1"), ("if (i < n)\n        ", "")],
            "no element",
        ),
        ("the factor for all equal inputs", [("= factor * x[i]", "= factor")], "factor . x.i., once"),
        ("no launch", [("    Scale<<<blocks, THREADS>>>(x, factor, n);\n", "")], "expected 3, came 1"),
        (
            "a block that is too large",
            [("THREADS = 256", "THREADS = 2048")],
            "InvalidValue|InvalidConfiguration|not launched",
        ),
    ],
    "matrix": [
        ("a row has `rows` elements", [("row * columns", "row * rows")], "row|wrote to element"),
        ("column major", [("row * columns + column", "column * rows + row")], "row .y. and column .x."),
        (
            "x for the row",
            [
                ("row = blockIdx.y * blockDim.y + threadIdx.y", "row = blockIdx.x * blockDim.x + threadIdx.x"),
                ("column = blockIdx.x * blockDim.x + threadIdx.x", "column = blockIdx.y * blockDim.y + threadIdx.y"),
            ],
            "row .y. and column .x.",
        ),
        ("no guard for the columns", [(" && column < columns", "")], "race|below its own limit|wrote to element"),
        ("no guard for the rows", [("row < rows && ", "")], "wrote to element 200|no element"),
        ("|| for &&", [("&&", "||")], "no element|race"),
        (
            "swapped limits",
            [("row < rows && column < columns", "row < columns && column < rows")],
            "row|no element|race",
        ),
        ("<=", [("column < columns", "column <= columns")], "race|below its own limit|wrote to element"),
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
        ("<=", [("i < n", "i <= n")], "no element"),
        (
            "no limit on the number of blocks: the first element left out",
            [("+ threadIdx.x; i", "+ threadIdx.x + 1; i")],
            r"x\[0\] of 20: expected 11, came 10",
        ),
        (
            "one thread does it all, and so does each",
            [("i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads_in_grid", "i = 0; i < n; i++")],
            "race|its turn once",
        ),
    ],
    "histogram": [
        ("no atomic", [("atomicAdd(&counts[text[i]], 1)", "counts[text[i]] += 1")], "race|atomicAdd"),
        ("no guard", [("if (i < n)\n        ", "")], r"counts\[\d+\]|outside|never|written|no element"),
        ("<=", [("i < n", "i <= n")], r"counts\[\d+\]|outside|written|no element"),
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
            "last block|written yet|never|race",
        ),
        ("no 0 for a thread without an element", [("i < n ? x[i] : 0", "x[i]")], "last block|outside"),
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
        ("always an error", [("    return error;", "    return cudaErrorUnknown;")], "expected 0, cudaSuccess"),
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
    ],
}
