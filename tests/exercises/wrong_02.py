"""Wrong answers to the exercises of stage 02: what is changed in the solution, and what the check has to say.

No message: a right answer, in another style.
"""

VISIBLE = '__attribute__((visibility("default"))) '
INTERFACE = 'extern "C" ' + VISIBLE
RAISE = INTERFACE + "int raise_all(float *x, int n, float by);\n"
NAME = INTERFACE + "const char *raise_error_name(int code);\n"
LAUNCHED = "    CHECK_GOTO(error, cudaGetLastError(), cleanup);\n"
WAITED = "    CHECK_GOTO(error, cudaDeviceSynchronize(), cleanup);\n"
FREE = "    cudaFree(d_out);\n    cudaFree(d_b);\n    cudaFree(d_a);\n"
SECOND = "    CHECK_GOTO(error, cudaMalloc(&d_b, bytes), cleanup);\n"
THIRD = "    CHECK_GOTO(error, cudaMalloc(&d_out, bytes), cleanup);\n"
TYPE = "double (*function)(const float *, size_t, double, double, int *)"
CALL = "function(x, n, weight, start, &error)"
BLOCKS = "(n + THREADS - 1) / THREADS"
NEW = "(total *)calloc(1, sizeof(total))"

WRONG = {
    "interface": [
        ("only extern C", RAISE.replace(VISIBLE, "") + NAME.replace(VISIBLE, ""), "dlsym finds no raise_all\n.*visib"),
        (
            "only visible",
            RAISE.replace('extern "C" ', "") + NAME.replace('extern "C" ', ""),
            r"C\+\+ has made _Z9raise_allPfif",
        ),
        ("only the first function", RAISE, "finds no raise_error_name"),
        (
            "another type, and so another function",
            RAISE.replace("int n", "size_t n") + NAME,
            "finds no raise_all\n.*types",
        ),
        (
            "right: a block of declarations",
            '#pragma GCC visibility push(default)\nextern "C" {\nint raise_all(float *x, int n, float by);\n'
            "const char *raise_error_name(int code);\n}\n#pragma GCC visibility pop\n",
            None,
        ),
    ],
    "leak": [
        (
            "as it was",
            [("        goto cleanup;\n    CHECK_GOTO", "        return error;\n    CHECK_GOTO")],
            "call 2, cudaMalloc, fails: memory stays allocated",
        ),
        (
            "freed here and there",
            [
                (
                    "        goto cleanup;\n    CHECK_GOTO",
                    "    {\n        cudaFree(d_rgb);\n        goto cleanup;\n    }\n    CHECK_GOTO",
                )
            ],
            "call 2, cudaMalloc, fails, and then leak.cu:\\d+: cudaFree: .*freed before.*\n.*once",
        ),
        (
            "the program ends",
            [("        goto cleanup;\n    CHECK_GOTO", "        exit(1);\n    CHECK_GOTO")],
            "call 2, cudaMalloc, fails: expected 719, and the program has ended",
        ),
        ("the last line returns 0", [("    return error;\n}", "    return 0;\n}")], "call 2.*expected 719.*came 0"),
        (
            "right: CHECK_GOTO",
            [
                (
                    "    error = cudaMalloc(&d_gray, bytes);\n    if (error != cudaSuccess)\n        goto cleanup;\n",
                    "    CHECK_GOTO(error, cudaMalloc(&d_gray, bytes), cleanup);\n",
                )
            ],
            None,
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
            "call 1, cudaMalloc, fails",
        ),
        ("it prints", [("cleanup:\n", 'cleanup:\n    if (error)\n        fprintf(stderr, "failed\\n");\n')], "prints nothing"),
        (
            "return for goto",
            [(SECOND, "    if ((error = cudaMalloc(&d_b, bytes)) != cudaSuccess)\n        return error;\n")],
            "call 2, cudaMalloc, fails: memory stays allocated",
        ),
        (
            "freed on the spot and at the end",
            [
                (
                    THIRD,
                    "    if ((error = cudaMalloc(&d_out, bytes)) != cudaSuccess) {\n"
                    "        cudaFree(d_a);\n        goto cleanup;\n    }\n",
                )
            ],
            "call 3, cudaMalloc, fails, and then .*freed before.*\n.*once",
        ),
        ("the launch is not asked about", [(LAUNCHED, "")], "the launch of Larger, fails|not accepted"),
        (
            "a later call replaces the error",
            [
                (
                    "CHECK_GOTO(error, cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice), cleanup)",
                    "error = cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice)",
                )
            ],
            "call 4, cudaMemcpy, fails",
        ),
        (
            "right: managed memory",
            "    CHECK_GOTO(error, cudaMallocManaged(&d_a, bytes), cleanup);\n"
            "    CHECK_GOTO(error, cudaMallocManaged(&d_b, bytes), cleanup);\n"
            "    CHECK_GOTO(error, cudaMallocManaged(&d_out, bytes), cleanup);\n"
            "    memcpy(d_a, a, bytes);\n    memcpy(d_b, b, bytes);\n"
            "    Larger<<<blocks, threads_in_block>>>(d_a, d_b, d_out, n);\n"
            + LAUNCHED
            + WAITED
            + "    memcpy(out, d_out, bytes);\ncleanup:\n"
            + FREE,
            None,
        ),
    ],
    "pointer": [
        (
            "dlopen is not looked at",
            [("    if (!library)\n        return NO_LIBRARY;\n", "")],
            "libnothing.*\n.*dlopen returns NULL",
        ),
        ("both are one error", [("return NO_LIBRARY", "return NO_FUNCTION")], "returns -1, came -2"),
        ("not closed after an error", [("error = NO_FUNCTION;", "return NO_FUNCTION;")], "product: .*still open"),
        (
            "two arguments swapped",
            [(CALL, CALL.replace("weight, start", "start, weight"))],
            "in their order",
        ),
        ("int for n", [(TYPE, TYPE.replace("size_t", "int"))], "4294967301.*came weighted_sum.x, 5"),
        (
            "right: a typedef, and dlerror",
            "    typedef double sum_function(const float *, size_t, double, double, int *);\n"
            "    void *library = dlopen(library_name, RTLD_LAZY);\n    if (library == NULL)\n"
            "        return NO_LIBRARY;\n    dlerror();\n"
            "    sum_function *sum = (sum_function *)dlsym(library, name);\n    if (dlerror() != NULL) {\n"
            "        dlclose(library);\n        return NO_FUNCTION;\n    }\n"
            "    double value = sum(x, n, weight, start, &error);\n    if (!error)\n        *result = value;\n"
            "    dlclose(library);\n",
            None,
        ),
    ],
    "source": [
        ("no extern C", [('    "extern \\"C\\" "\n', "")], "no kernel of the name AddAll"),
        (
            "no i",
            [('    "    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\\n"\n', "")],
            r"finds an error.*\n(.*\n)*.*kernel.cu[(:]3",
        ),
        ("by is a double", [("&by_as_float", "&by")], r"came AddAll\(x, 256, 0\)\n.*the type"),
        (
            "the values for the addresses",
            [("{&x, &n, &by_as_float}", "{(void *)x, (void *)n, &by_as_float}")],
            "argument 1 of the kernel: came 0x.*no address",
        ),
        ("the blocks of an int", [(BLOCKS, "((int)n + THREADS - 1) / THREADS")], r"8589934597 elements.*\n.*an int"),
        (
            "right: a constant in the kernel, and a cast at once",
            [
                ("blockIdx.x * blockDim.x", "blockIdx.x * 128"),
                ("float by_as_float = (float)by;", "float b = by;"),
                ("&by_as_float", "&b"),
                (BLOCKS, "(n - 1) / THREADS + 1"),
            ],
            None,
        ),
    ],
    "handle": [
        (
            "the sums are not 0 at first",
            [("    CHECK_GOTO(error, cudaMemset(t->d_sums, 0, n * sizeof(float)), failed);\n", "")],
            "0 at first|which nobody has written",
        ),
        ("nothing is freed after an error", [("    total_destroy(t);\n", "")], "call 1 .*not freed: expected 0, came 1"),
        ("*handle is written first", [("    t->n = n;", "    *handle = t;\n    t->n = n;")], r"call 1 .*\*handle is not"),
        (
            "calloc is not looked at",
            [("    if (!t)\n        return cudaErrorMemoryAllocation;\n", "")],
            "calloc gives NULL",
        ),
        (
            "one handle for all",
            [(f"total *t = {NEW};", f"static total *t;\n    if (!t)\n        t = {NEW};")],
            "its own memory|freed|stays",
        ),
        (
            "right: malloc, and the handle's own cleanup",
            [
                (f"total *t = {NEW};", "total *t = (total *)malloc(sizeof *t);"),
                ("    t->n = n;", "    t->n = n;\n    t->d_x = t->d_sums = NULL;"),
                ("    total_destroy(t);", "    cudaFree(t->d_sums);\n    cudaFree(t->d_x);\n    free(t);"),
            ],
            None,
        ),
    ],
}
