"""Wrong answers to the exercises of stage 02: what is changed in the solution, and what the check has to say."""

VISIBLE = '__attribute__((visibility("default"))) '
FREE = "    cudaFree(d_out);\n    cudaFree(d_b);\n    cudaFree(d_a);\n"
LAUNCHED = "    CHECK_GOTO(error, cudaGetLastError(), cleanup);\n"
WAITED = "    CHECK_GOTO(error, cudaDeviceSynchronize(), cleanup);\n"
SECOND = "CHECK_GOTO(error, cudaMalloc(&d_b, bytes), cleanup)"
TYPE = "double (*function)(const float *, size_t, double, int *)"
CALL = "function(x, n, weight, &error)"
BLOCKS = "(n + THREADS - 1) / THREADS"
LAUNCH = "code = cuLaunchKernel(add_all, blocks, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL);"
WRONG = {
    "interface": [
        ("only extern C", [(VISIBLE, "")], "dlsym finds no raise_all.*\n.*visib"),
        ("only visible", [('extern "C" ', "")], "C\\+\\+ has made _Z9raise_allPfif"),
        (
            "only the first function",
            [(f'extern "C" {VISIBLE}const char *raise_error_name(int code);\n', "")],
            "no raise_error_name",
        ),
        (
            "the helper too",
            [("// END OF", f'extern "C" {VISIBLE}int blocks_for(int n);\n// END OF')],
            "blocks_for can be found",
        ),
        (
            "all that follows is visible",
            [("// END OF", "#pragma GCC visibility push(default)\n// END OF")],
            "blocks_for.* can be found",
        ),
        (
            "another type, and so another function",
            [("int n, float by);", "size_t n, float by);")],
            "no raise_all.*\n.*types",
        ),
        ("the error is thrown away", [("    return error;", "    return 0;")], "expected an error, came 0"),
        (
            "the program ends",
            [
                ("CHECK_GOTO(error, cudaMalloc(&d_x, bytes), cleanup)", "CHECK(cudaMalloc(&d_x, bytes))"),
                ("cleanup:", "    goto cleanup;\ncleanup:"),
            ],
            "the end of the program",
        ),
        (
            "by the CPU",
            [
                (
                    "    size_t bytes",
                    "    for (int i = 0; i < n; i++)\n        x[i] += by;\n    return 0;\n    size_t bytes",
                )
            ],
            "without a device: expected an error, came 0|compile",
        ),
        (
            "a function more",
            [("// END OF", f'extern "C" {VISIBLE}int raise_version(void) {{ return 1; }}\n// END OF')],
            "raise_version can be found",
        ),
        (
            "another of the name, in C++",
            [("// END OF", f"{VISIBLE}int raise_all(double *x, int n, float by) {{ return 1; }}\n// END OF")],
            "_Z9raise_allPdif can be found",
        ),
    ],
    "cleanup": [
        (
            "no code is looked at",
            [
                ("CHECK_GOTO(error, cudaM", "(void)(cudaM"),
                (", cleanup);", ");"),
                ("CHECK_GOTO(error, cudaG", "(void)(cudaG"),
                ("CHECK_GOTO(error, cudaD", "(void)(cudaD"),
                ("cleanup:\n", ""),
            ],
            "cudaMalloc, call 1 of the function, fails, and the function goes on",
        ),
        (
            "return for goto",
            [(SECOND, "if ((error = cudaMalloc(&d_b, bytes)) != cudaSuccess)\n        return error")],
            "cudaMalloc, call 2 .*1 of the arrays on the device is not freed",
        ),
        ("one is not freed", [("    cudaFree(d_b);\n", "")], "no call fails: 1 of the arrays"),
        (
            "freed on the spot and at the end",
            [
                (
                    "CHECK_GOTO(error, cudaMalloc(&d_out, bytes), cleanup)",
                    "if ((error = cudaMalloc(&d_out, bytes)) != cudaSuccess) {\n        cudaFree(d_a);\n        goto cleanup;\n    }",
                )
            ],
            "call 3 .*freed already",
        ),
        ("the launch is not asked about", [(LAUNCHED, "")], "2048 threads.*\n.*cudaGetLastError"),
        ("the wait is not looked at", [(WAITED, "    cudaDeviceSynchronize();\n")], "cudaDeviceSynchronize, call 6"),
        (
            "the last error",
            [("    cudaFree(d_a);\n", "    error = cudaFree(d_a);\n")],
            "the first error is returned|call 1 ",
        ),
        (
            "a later error replaces the first",
            [
                (
                    "CHECK_GOTO(error, cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice), cleanup)",
                    "error = cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice)",
                )
            ],
            "cudaMemcpy, call 4 .*\n.*first error",
        ),
        (
            "CHECK",
            [("CHECK_GOTO(error, ", "CHECK(("), (", cleanup);", "));"), ("cleanup:\n", "")],
            "call 1 .*the function ends the program\n.*CHECK_GOTO",
        ),
        (
            "a return after the launch",
            [(LAUNCHED, "    if ((error = cudaGetLastError()) != cudaSuccess)\n        return error;\n")],
            "2048 threads .*: 3 of the arrays",
        ),
        (
            "asked after the last copy",
            [(LAUNCHED, ""), ("cleanup:\n", LAUNCHED + "cleanup:\n")],
            "2048 threads.*expected out.*\n.*only if all",
        ),
        (
            "the device is reset",
            [("    return error;", "    cudaDeviceReset();\n    return error;")],
            "calls cudaDeviceReset",
        ),
        (
            "exit",
            [("cleanup:\n", "cleanup:\n    if (error != cudaSuccess)\n        exit(1);\n")],
            "the function ends the program",
        ),
        ("always the same code", [("    return error;", "    return error ? -1 : 0;")], "call 1 .*expected code"),
        ("n bytes", [("bytes = n * sizeof(float)", "bytes = n")], "how many bytes"),
        (
            "the answer is in place of a",
            [("cudaMemcpy(out, d_out", "cudaMemcpy(const_cast<float *>(a), d_out")],
            "expected out",
        ),
        (
            "out is cleared first",
            [
                (
                    "    CHECK_GOTO(error, cudaMalloc(&d_a",
                    "    for (int i = 0; i < n; i++)\n        out[i] = 0;\n    CHECK_GOTO(error, cudaMalloc(&d_a",
                )
            ],
            "call 1 .*expected out.0.*\n.*only if all",
        ),
        (
            "by the CPU, after calls that are looked at",
            [
                ("    Larger<<<blocks, threads_in_block>>>(d_a, d_b, d_out, n);\n", ""),
                (
                    "cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost)",
                    "cudaMemcpy(d_out, a, bytes, cudaMemcpyHostToDevice)",
                ),
                (
                    "cleanup:\n",
                    "    for (int i = 0; i < n; i++)\n        out[i] = a[i] > b[i] ? a[i] : b[i];\ncleanup:\n",
                ),
            ],
            "2048 threads",
        ),
        (
            "the host's memory is given to the kernel",
            [("(d_a, d_b, d_out, n)", "(a, b, out, n)")],
            "host|expected out|what is given to",
        ),
        (
            "the last copy is async, and not looked at",
            [
                (
                    "CHECK_GOTO(error, cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost), cleanup)",
                    "cudaMemcpyAsync(out, d_out, bytes, cudaMemcpyDeviceToHost)",
                )
            ],
            "cudaMemcpy, call 7 .*came 0",
        ),
        (
            "async memory, not looked at",
            [
                ("CHECK_GOTO(error, cudaMalloc(&d_out, bytes), cleanup)", "cudaMallocAsync(&d_out, bytes, 0)"),
                ("cudaFree(d_out)", "cudaFreeAsync(d_out, 0)"),
            ],
            "cudaMalloc, call 3 .*goes on",
        ),
        (
            "a message of its own",
            [("cleanup:\n", 'cleanup:\n    if (error != cudaSuccess)\n        perror("larger");\n')],
            "cudaMalloc, call 1 .*the function prints",
        ),
        (
            "throw",
            [("cleanup:\n", "cleanup:\n    if (error != cudaSuccess)\n        throw error;\n")],
            "crashed, signal 6\n.*exception that nobody caught",
        ),
        (
            "1024 for what CUDA says",
            [
                (LAUNCHED, ""),
                (
                    "    CHECK_GOTO(error, cudaMalloc(&d_a",
                    "    if (threads_in_block > 1024)\n        return cudaErrorInvalidValue;\n    CHECK_GOTO(error, cudaMalloc(&d_a",
                ),
            ],
            "-1 threads .*came 0.*\n.*cudaGetLastError",
        ),
        (
            "freed again if cudaFree fails",
            [("cleanup:\n", "    CHECK_GOTO(error, cudaFree(d_a), cleanup);\n    d_a = NULL;\ncleanup:\n")],
            "cudaFree, call 8 .*freed already",
        ),
        (
            "unique_ptr",
            [
                ("    cudaFree(d_a);\n", ""),
                ("cudaMalloc(&d_a", "cudaMalloc<float>(&d_a"),
                (
                    "    return error;\n}",
                    "    std::unique_ptr<float, cudaError_t (*)(void *)> a_to_free(d_a, cudaFree);\n    return error;\n}",
                ),
                ('#include "cleanup_check.cuh"', '#include "cleanup_check.cuh"\n#include <memory>'),
            ],
            None,
        ),
    ],
    "pointer": [
        (
            "dlopen is not looked at",
            [("    if (!library)\n        return NO_LIBRARY;\n", "")],
            "libnothing.*\n.*dlopen returns NULL",
        ),
        ("dlsym is not looked at", [("if (function) {", "if (1) {")], "weighted_product: the program crashed"),
        ("both are one error", [("return NO_LIBRARY", "return NO_FUNCTION")], "returns -1, came -2"),
        (
            "no function, and no word of it",
            [("error = NO_FUNCTION", "error = 0")],
            "weighted_product: expected that call.. returns -2, came 0",
        ),
        ("not closed", [("    dlclose(library);\n", "")], "dlclose"),
        (
            "closed only if it went well",
            [("error = NO_FUNCTION;", "return NO_FUNCTION;")],
            "weighted_product: the library is still open",
        ),
        (
            "closed before the call",
            [
                ("    if (function) {", "    dlclose(library);\n    if (function) {"),
                ("    }\n    dlclose(library);", "    }"),
            ],
            "after the last call",
        ),
        (
            "closed twice",
            [("    dlclose(library);\n", "    dlclose(library);\n    dlclose(library);\n")],
            "of what is not open",
        ),
        ("float for the weight", [(TYPE, TYPE.replace("t, double", "t, float"))], "argument 3"),
        ("float for the result", [(TYPE, TYPE.replace("double (", "float ("))], "what does the function return"),
        (
            "int for n",
            [(TYPE, TYPE.replace("size_t", "int"))],
            "argument 2 has not arrived: given n = 4294967301, came 5",
        ),
        (
            "not closed if the library has an error",
            [("        if (error == 0)", "        if (error)\n            return error;\n        if (error == 0)")],
            "is not 0: the library is still open",
        ),
        ("NULL for the error", [("&error", "NULL")], "argument 4"),
        (
            "the error is not returned",
            [("    return error;\n}", "    return error < 0 ? error : 0;\n}")],
            r"\*error.*returns \d+, came 0|is not 0: ",
        ),
        ("the result is written after an error, too", [("if (error == 0)\n            ", "")], r"\*result has become"),
        ("the result is not written", [("*result = sum", "(void)sum")], "kept in .result"),
        (
            "by the CPU",
            [
                (
                    "double sum = " + CALL,
                    "double sum = 0;\n        for (size_t i = 0; i < n; i++)\n            sum += weight * (double)x[i]",
                )
            ],
            "called 0 times",
        ),
        ("without a library's name", [("dlopen(library_name,", 'dlopen("libpointer.so",')], "libnothing"),
        ("without a function's name", [("dlsym(library, name)", 'dlsym(library, "weighted_sum")')], "weighted_product"),
        ("called twice", [("*result = sum", f"*result = {CALL}")], "called 2 times"),
        ("exit", [("        return NO_LIBRARY;", "        exit(1);")], "libnothing.*ends the program"),
    ],
    "source": [
        ("no extern C", [('    "extern \\"C\\" "\n', "")], "no kernel of the name AddAll"),
        (
            "no i",
            [('    "    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\\n"\n', "")],
            r"finds an error.*\n(.*\n)*.*kernel.cu[(:]3",
        ),
        ("the number in the block", [("(size_t)blockIdx.x * blockDim.x + ", "")], r"race|x\[\d+\] of"),
        ("no launch", [(LAUNCH, "(void)arguments, (void)blocks;")], "called 0 times"),
        ("launched twice", [(LAUNCH, LAUNCH + "\n    " + LAUNCH)], "called 2 times"),
        ("by is a double", [("&by_as_float", "&by")], "the type of .by|type lies there|kernel's type"),
        (
            "the values for the addresses",
            [("{&x, &n, &by_as_float}", "{(void *)x, &n, &by_as_float}")],
            "crash|address|arguments|host",
        ),
        ("swapped", [("{&x, &n, ", "{&n, &x, ")], "arguments in their order|stand-in|in their order"),
        ("blocks rounded down", [(BLOCKS, "n / THREADS")], "rounded up"),
        (
            "threads and blocks swapped",
            [("blocks, 1, 1, THREADS, 1, 1", "THREADS, 1, 1, blocks, 1, 1")],
            "rounded up|many blocks and threads",
        ),
        (
            "the code is thrown away",
            [("code = cuLaunchKernel", "cuLaunchKernel")],
            "returns what cuLaunchKernel returns",
        ),
        ("too many threads", [("THREADS 128", "THREADS 2048")], "many blocks and threads"),
        (
            "no space behind extern C",
            [('C\\" "', 'C\\""')],
            r"finds an error.*\n(.*\n)*.*kernel.cu.1.: error: expected an identifier",
        ),
        (
            "n is an int",
            [
                ("    void *arguments", "    static int n_as_int;\n    n_as_int = (int)n;\n    void *arguments"),
                ("&n, ", "&n_as_int, "),
            ],
            r"gets n = 5\n.*the type of n",
        ),
        (
            "the blocks of an int",
            [(BLOCKS, "((int)n + THREADS - 1) / THREADS")],
            r"8589934597 elements: came 1 blocks.*\n.*an int",
        ),
        ("n blocks", [(BLOCKS, "n")], r"came 256 blocks of 128 threads\n.*rounded up"),
        ("shared memory", [("THREADS, 1, 1, 0, NULL", "THREADS, 1, 1, 4096, NULL")], "4096 bytes of shared memory"),
    ],
    "handle": [
        (
            "the sums are not 0 at first",
            [("    CHECK_GOTO(error, cudaMemset(t->d_sums, 0, n * sizeof(float)), failed);\n", "")],
            "0 at first|written",
        ),
        (
            "malloc, and d_sums is not NULL",
            [("calloc(1, sizeof(total))", "malloc(sizeof(total))")],
            "call 2 of total_create, fails: cudaFree of what is not allocated",
        ),
        (
            "the handle is not freed",
            [("    free(handle);\n", "")],
            "one of three handles: still allocated: 1 that free has",
        ),
        ("an array is not freed", [("    cudaFree(handle->d_x);\n", "")], "still allocated: 1 that cudaFree has"),
        ("an array is freed twice", [("cudaFree(handle->d_x)", "cudaFree(handle->d_sums)")], "freed already"),
        ("free for all", [("cudaFree(handle->d_x)", "free(handle->d_x)")], "free of what cudaFree has to free"),
        ("NULL is not asked for", [("    if (!handle)\n        return;\n", "")], "total_destroy of NULL: it crashed"),
        (
            "only the handle is freed after an error",
            [("    total_destroy(t);\n", "    free(t);\n")],
            "call 3 of total_create, fails: still allocated: 1 that cudaFree",
        ),
        ("*handle is written first", [("    t->n = n;", "    *handle = t;\n    t->n = n;")], "call 2 .*another one"),
        ("*handle is not written", [("    *handle = t;\n", "")], "handle is NULL"),
        ("n is not kept", [("    t->n = n;\n", "")], "does the handle know n"),
        (
            "calloc is not looked at",
            [("    if (!t)\n        return cudaErrorMemoryAllocation;\n", "")],
            "malloc, call 1 .*crashed",
        ),
        ("-1 for no memory", [("return cudaErrorMemoryAllocation", "return -1")], "call 1 .*expected code 2"),
        (
            "one handle for all",
            [
                (
                    "total *t = (total *)calloc(1, sizeof(total));",
                    "static total *t;\n    if (!t)\n        t = (total *)calloc(1, sizeof(total));",
                )
            ],
            "does the handle know n|own memory|freed already|0 at first|crashed",
        ),
        (
            "the memory is the host's",
            [
                (
                    "CHECK_GOTO(error, cudaMalloc(&t->d_x, n * sizeof(float)), failed)",
                    "t->d_x = (float *)malloc(n * sizeof(float))",
                ),
                ("cudaFree(handle->d_x)", "free(handle->d_x)"),
            ],
            "not device memory|host|code|total_add",
        ),
        (
            "the handle is freed too early",
            [
                ("    free(handle);\n", ""),
                ("    cudaFree(handle->d_x);", "    free(handle);\n    cudaFree(handle->d_x);"),
            ],
            r"read after it was freed\n.*comes last",
        ),
        (
            "the size of a pointer",
            [("calloc(1, sizeof(total))", "calloc(1, sizeof(total *))")],
            "handle of 8 bytes is too small",
        ),
        (
            "async memory, not looked at",
            [
                (
                    "CHECK_GOTO(error, cudaMalloc(&t->d_x, n * sizeof(float)), failed)",
                    "cudaMallocAsync(&t->d_x, n * sizeof(float), 0)",
                ),
                ("cudaFree(handle->d_x)", "cudaFreeAsync(handle->d_x, 0)"),
            ],
            "cudaMalloc, call 2 .*came 999",
        ),
        (
            "cudaMemsetAsync is not looked at",
            [
                (
                    "CHECK_GOTO(error, cudaMemset(t->d_sums, 0, n * sizeof(float)), failed)",
                    "cudaMemsetAsync(t->d_sums, 0, n * sizeof(float))",
                )
            ],
            "cudaMemset, call 4 .*came 0",
        ),
        (
            "an int for the bytes",
            [
                ("    t->n = n;\n", "    t->n = n;\n    int bytes = n * sizeof(float);\n"),
                ("cudaMalloc(&t->d_sums, n * sizeof(float))", "cudaMalloc(&t->d_sums, bytes)"),
            ],
            "cudaMalloc of 0 bytes: n floats have 4294967296\n.*not an int",
        ),
        ("it prints", [("failed:\n", 'failed:\n    puts("failed");\n')], "total_create prints"),
        (
            "CHECK",
            [
                (
                    "CHECK_GOTO(error, cudaMalloc(&t->d_x, n * sizeof(float)), failed)",
                    "CHECK(cudaMalloc(&t->d_x, n * sizeof(float)))",
                )
            ],
            "call 2 .*ends the program\n.*CHECK_GOTO",
        ),
        (
            "those of std",
            [("(total *)calloc", "(total *)std::calloc"), ("    free(handle)", "    std::free(handle)")],
            None,
        ),
    ],
}
