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
FIRST = "    CHECK_GOTO(error, cudaMalloc(&d_a, bytes), cleanup);\n"
SECOND = "    CHECK_GOTO(error, cudaMalloc(&d_b, bytes), cleanup);\n"
THIRD = "    CHECK_GOTO(error, cudaMalloc(&d_out, bytes), cleanup);\n"
TYPE = "double (*function)(const float *, size_t, double, double, int *)"
CALL = "function(x, n, weight, start, &error)"
BLOCKS = "(n + THREADS - 1) / THREADS"
LAUNCH = "code = cuLaunchKernel(add_all, blocks, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL);"
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
        ("the helper too", RAISE + NAME + INTERFACE + "int blocks_for(int n);\n", "blocks_for can be found"),
        (
            "all that follows is visible",
            "#pragma GCC visibility push(default)\n" + RAISE + NAME,
            "blocks_for.* can be found|RaiseAll.* can be found",
        ),
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
            "the error is forgotten",
            [("        goto cleanup;\n    CHECK_GOTO", "        error = cudaSuccess;\n    CHECK_GOTO")],
            "call 2, cudaMalloc, fails",
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
        (
            "right: freed on the spot",
            [
                (
                    "        goto cleanup;\n    CHECK_GOTO",
                    "    {\n        cudaFree(d_rgb);\n        return error;\n    }\n    CHECK_GOTO",
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
        (
            "return for goto",
            [(SECOND, "    if ((error = cudaMalloc(&d_b, bytes)) != cudaSuccess)\n        return error;\n")],
            "call 2, cudaMalloc, fails: memory stays allocated",
        ),
        ("one is not freed", [("    cudaFree(d_b);\n", "")], "memory stays allocated"),
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
        ("the wait is not looked at", [(WAITED, "    cudaDeviceSynchronize();\n")], "cudaDeviceSynchronize, fails"),
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
            "CHECK",
            [("CHECK_GOTO(error, ", "CHECK(("), (", cleanup);", "));"), ("cleanup:\n", "")],
            "call 1, cudaMalloc, fails: expected 2, and the program has ended\n.*CHECK",
        ),
        ("always the same code", [("    return error;", "    return error ? -1 : 0;")], "call 1.*expected 2, .*came -1"),
        ("n bytes", [("bytes = n * sizeof(float)", "bytes = n")], "Larger (reads|writes) .*behind the end"),
        ("a short", [("bytes = n * sizeof(float)", "bytes = (short)n * sizeof(float)")], "Larger|out|larger"),
        (
            "the host's memory is given to the kernel",
            [("(d_a, d_b, d_out, n)", "(a, b, out, n)")],
            "kernel Larger .*the host's",
        ),
        (
            "1024 for what CUDA says",
            [
                (LAUNCHED, ""),
                (FIRST, "    if (threads_in_block > 1024)\n        return cudaErrorInvalidValue;\n" + FIRST),
            ],
            "the launch of Larger, fails|-1 threads",
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
        ("right: the last copy waits", [(WAITED, "")], None),
        (
            "right: a code of cudaFree is returned, too",
            [("    cudaFree(d_a);\n", "    if (cudaFree(d_a) != cudaSuccess && !error)\n        error = cudaErrorUnknown;\n")],
            None,
        ),
    ],
    "pointer": [
        (
            "dlopen is not looked at",
            [("    if (!library)\n        return NO_LIBRARY;\n", "")],
            "libnothing.*\n.*dlopen returns NULL",
        ),
        ("dlsym is not looked at", [("if (function) {", "if (1) {")], "weighted_product: the program crashed.*\n.*NULL"),
        ("both are one error", [("return NO_LIBRARY", "return NO_FUNCTION")], "returns -1, came -2"),
        ("not closed after an error", [("error = NO_FUNCTION;", "return NO_FUNCTION;")], "product: .*still open"),
        (
            "closed before the call",
            [
                ("    if (function) {", "    dlclose(library);\n    if (function) {"),
                ("    }\n    dlclose(library);", "    }"),
            ],
            "after the call",
        ),
        ("closed twice", [("    dlclose(library);\n", "    dlclose(library);\n    dlclose(library);\n")], "one dlclose"),
        ("float for the weight", [(TYPE, TYPE.replace("double, d", "float, d"))], r"came weighted_sum\(x, 10, "),
        (
            "two arguments swapped",
            [(CALL, CALL.replace("weight, start", "start, weight"))],
            "in their order",
        ),
        (
            "x and n swapped",
            [
                (TYPE, TYPE.replace("const float *, size_t", "size_t, const float *")),
                (CALL, CALL.replace("x, n", "n, x")),
            ],
            "came weighted_sum.not x",
        ),
        ("float for the result", [(TYPE, TYPE.replace("double (", "float ("))], "what the function returns"),
        ("int for n", [(TYPE, TYPE.replace("size_t", "int"))], "4294967301.*came weighted_sum.x, 5"),
        ("NULL for the error", [("&error", "NULL")], "came weighted_sum.*NULL"),
        ("the error is not returned", [("    return error;\n}", "    return error < 0 ? error : 0;\n}")], "77, came 0"),
        ("the result is written after an error", [("if (error == 0)\n            ", "")], "only if there was no error"),
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
        ("the number in the block", [("(size_t)blockIdx.x * blockDim.x + ", "")], r"race|x\[\d+\] of"),
        ("a short", [("    size_t i = (size_t)", "    short i = ")], r"race|x\[\d+\] of|kernel AddAll"),
        ("no launch", [(LAUNCH, "(void)arguments, (void)blocks;")], "called 0 times"),
        ("by is a double", [("&by_as_float", "&by")], r"came AddAll\(x, 256, 0\)\n.*the type"),
        (
            "the values for the addresses",
            [("{&x, &n, &by_as_float}", "{(void *)x, (void *)n, &by_as_float}")],
            "argument 1 of the kernel: came 0x.*no address",
        ),
        ("swapped", [("{&x, &n, ", "{&n, &x, ")], r"came AddAll\(not x"),
        ("blocks rounded down", [(BLOCKS, "n / THREADS")], "rounded up"),
        (
            "the code is thrown away",
            [("code = cuLaunchKernel", "cuLaunchKernel")],
            "returns what cuLaunchKernel returns",
        ),
        ("too many threads", [("THREADS 128", "THREADS 2048")], "larger than 1024"),
        (
            "n is an int",
            [
                ("    void *arguments", "    static int n_as_int;\n    n_as_int = (int)n;\n    void *arguments"),
                ("&n, ", "&n_as_int, "),
            ],
            r"expected AddAll\(x, 8589934597.*came AddAll\(x, 5,",
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
        (
            "malloc, and d_sums is not NULL",
            [("calloc(1, sizeof(total))", "malloc(sizeof(total))")],
            "call 1, cudaMalloc, fails, and then .*cudaFree",
        ),
        ("the handle is not freed", [("    free(handle);\n", "")], "not freed: expected 0, came 1"),
        ("an array is not freed", [("    cudaFree(handle->d_x);\n", "")], "memory stays allocated"),
        ("an array is freed twice", [("cudaFree(handle->d_x)", "cudaFree(handle->d_sums)")], "freed before|stays"),
        ("free for all", [("cudaFree(handle->d_x)", "free(handle->d_x)")], "free of memory of the device"),
        (
            "NULL is not asked for",
            [("    if (!handle)\n        return;\n", "")],
            r"total_destroy\(NULL\): the program has crashed",
        ),
        ("only the handle is freed", [("    total_destroy(t);\n", "    free(t);\n")], "call 2, cudaMalloc, fails: memory"),
        ("nothing is freed after an error", [("    total_destroy(t);\n", "")], "call 1 .*not freed: expected 0, came 1"),
        ("the handle is freed twice", [("    total_destroy(t);\n", "    total_destroy(t);\n    free(t);\n")], "freed twice"),
        ("*handle is written first", [("    t->n = n;", "    *handle = t;\n    t->n = n;")], r"call 1 .*\*handle is not"),
        ("*handle is not written", [("    *handle = t;\n", "")], r"returns 0, and \*handle is as it was"),
        ("n is not kept", [("    t->n = n;\n", "")], "does it keep n|total_add"),
        (
            "calloc is not looked at",
            [("    if (!t)\n        return cudaErrorMemoryAllocation;\n", "")],
            "calloc gives NULL",
        ),
        ("-1 for no memory", [("return cudaErrorMemoryAllocation", "return -1")], "calloc gives NULL: expected code 2.*came -1"),
        (
            "one handle for all",
            [(f"total *t = {NEW};", f"static total *t;\n    if (!t)\n        t = {NEW};")],
            "its own memory|freed|stays",
        ),
        (
            "the handle is freed too early",
            [
                ("    free(handle);\n", ""),
                ("    cudaFree(handle->d_sums);", "    free(handle);\n    cudaFree(handle->d_sums);"),
            ],
            "cudaFree.*0x6666|cudaFree",
        ),
        ("the size of a pointer", [("calloc(1, sizeof(total))", "calloc(1, sizeof(total *))")], "8 bytes for a handle"),
        (
            "an int for the bytes",
            [
                ("    t->n = n;\n", "    t->n = n;\n    int bytes = n * sizeof(float);\n"),
                ("cudaMalloc(&t->d_sums, n * sizeof(float))", "cudaMalloc(&t->d_sums, bytes)"),
                ("cudaMalloc(&t->d_x, n * sizeof(float))", "cudaMalloc(&t->d_x, bytes)"),
                ("0, n * sizeof(float)", "0, bytes"),
            ],
            "too large for an int",
        ),
        (
            "CHECK",
            [
                (
                    "CHECK_GOTO(error, cudaMalloc(&t->d_x, n * sizeof(float)), failed)",
                    "CHECK(cudaMalloc(&t->d_x, n * sizeof(float)))",
                )
            ],
            "call 1, cudaMalloc, fails: expected 2, and the program has ended\n.*CHECK",
        ),
        (
            "right: those of std",
            [("(total *)calloc", "(total *)std::calloc"), ("    free(handle)", "    std::free(handle)")],
            None,
        ),
        (
            "right: new and delete",
            [
                ('#include "check.h"', '#include "check.h"\n#include <new>'),
                (NEW, "new (std::nothrow) total()"),
                ("    free(handle)", "    delete handle"),
            ],
            None,
        ),
    ],
}
