"""Wrong answers to the exercises, those that learners make, and what the check has to say of each.

(what it is, changes of the solution or a text in place of the hole's lines, what the check says). None: a right answer.
"""

RACE = """if (i < n)                    // was: if (i < n && x[i] > *largest)
        atomicMax(largest, x[i]); // was: *largest = x[i];"""
VISIBLE = '__attribute__((visibility("default"))) '
INTERFACE = 'extern "C" ' + VISIBLE
RAISE = INTERFACE + "int raise_all(float *x, int n, float by);\n"
NAME = INTERFACE + "const char *raise_error_name(int code);\n"
LAUNCHED = "    CHECK_GOTO(error, cudaGetLastError(), cleanup);\n"
BLOCKS = "(n + THREADS - 1) / THREADS"
NEW = "(total *)calloc(1, sizeof(total))"

WRONG = {
    "element": [
        ("the thread's number in its block", [("blockIdx.x * blockDim.x + ", "")], "race|block 1 begins"),
        ("swapped", [("* blockDim.x + threadIdx.x;", "+ threadIdx.x * gridDim.x;")], "block 1 begins"),
        ("one too far", [("+ threadIdx.x;\n    numbers", "+ threadIdx.x + 1;\n    numbers")], "out of bounds"),
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
        ("no guard", [("if (i < n)\n        ", "")], "out of bounds"),
        ("<=", [("i < n", "i <= n")], "out of bounds"),
        ("rounded down", [("(n + THREADS - 1) / THREADS", "n / THREADS")], "rounded up|not launched"),
        ("rounded up as a float", [("(n + THREADS - 1) / THREADS", "ceilf((float)n / THREADS)")], "16777217 elements"),
        ("always many", [("(n + THREADS - 1) / THREADS", "65535")], "expected 4 blocks, came 65535"),
        ("right: an early return", [("if (i < n)\n        x[i] = factor * x[i];", "if (i >= n)\n        return;\n    x[i] *= factor;")], None),
    ],
    "matrix": [
        ("a row has `rows` elements", [("row * columns", "row * rows")], "row|out of bounds"),
        ("column after column", [("row * columns + column", "column * rows + row")], "told apart|out of bounds"),
        ("no guard for the columns", [(" && column < columns", "")], "race|below its own limit|out of bounds"),
        ("|| for &&", [("&&", "||")], "out of bounds|race|told apart"),
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
        ("no guard", [("        if (i < n)\n    ", "")], "out of bounds"),
        ("blocks too near", [("blockDim.x * EACH + ", "blockDim.x + ")], "race|its turn once"),
        ("thread 0 does all", "    if (blockIdx.x + threadIdx.x == 0)\n        for (int i = 0; i < n; i++)\n            x[i] += 1;\n", "its own part"),
        ("right: by the whole grid", "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n        x[i] += 1;\n", None),
    ],
    "histogram": [
        ("no atomic", [("atomicAdd(&counts[text[i]], 1)", "counts[text[i]] += 1")], "race"),
        ("no guard", [("if (i < n)\n        ", "")], "out of bounds"),
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
        ("no 0 for a thread without an element", [("i < n ? x[i] : 0", "x[i]")], "last block|out of bounds"),
        ("volatile for a barrier", [("__shared__ int", "volatile __shared__ int"), ("    for (int half = 128; half > 0; half /= 2) {\n        if (t < half)\n            part[t] += part[t + half];\n        __syncthreads();\n    }", "    for (int half = 128; half > 0; half /= 2)\n        if (t < half)\n            part[t] += part[t + half];\n    __syncthreads();")], "race|wait|__sync"),
        ("by atomics in global memory", "    int i = blockIdx.x * 256 + threadIdx.x;\n    if (threadIdx.x == 0)\n        sums[blockIdx.x] = 0;\n    __syncthreads();\n    if (i < n)\n        atomicAdd(&sums[blockIdx.x], x[i]);\n", "grows in shared memory"),
        ("right: an atomic sum in shared memory", "    __shared__ int sum;\n    int i = blockIdx.x * 256 + threadIdx.x;\n    if (threadIdx.x == 0)\n        sum = 0;\n    __syncthreads();\n    if (i < n)\n        atomicAdd(&sum, x[i]);\n    __syncthreads();\n    if (threadIdx.x == 0)\n        sums[blockIdx.x] = sum;\n", None),
    ],
    "race": [
        ("asked twice", [(RACE, "if (i < n && x[i] > *largest)\n        if (x[i] > *largest)\n            *largest = x[i];")], "race"),
        ("atomicExch", [(RACE, "if (i < n && x[i] > *largest)\n        atomicExch(largest, x[i]);")], "race|two threads may read"),
        ("volatile", [(RACE, "volatile int *l = largest;\n    if (i < n && x[i] > *l)\n        *l = x[i];")], "race|two threads may read"),
        ("no guard", [(RACE, "atomicMax(largest, x[i]);")], "out of bounds"),
        ("thread 0 does all", [(RACE, "if (i == 0)\n        for (int k = 0; k < n; k++)\n            if (x[k] > *largest)\n                *largest = x[k];")], "each thread looks at one"),
    ],
    "unnoticed": [
        ("only the launch", [("    if (error == cudaSuccess)\n        error = cudaDeviceSynchronize();\n", "")], "the kernel fails"),
        ("only the kernel", [("    error = cudaGetLastError();\n    if (error == cudaSuccess)\n", "")], "2048 threads is not accepted"),
        ("the second answer replaces the first", [("    if (error == cudaSuccess)\n", "")], "2048 threads is not accepted"),
        ("CHECK ends the program", [("error = cudaGetLastError();", "CHECK(cudaGetLastError());"), ("__global__", '#include "check.h"\n__global__')], "CHECK does"),
        ("asked twice", "    if (cudaGetLastError() != cudaSuccess)\n        error = cudaGetLastError();\n    else\n        error = cudaDeviceSynchronize();\n", "2048 threads is not accepted"),
        ("1 for everything", "    error = (cudaError_t)(cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess);\n", "returned as it is"),
    ],
    "interface": [
        ("only extern C", RAISE.replace(VISIBLE, "") + NAME.replace(VISIBLE, ""), "dlsym finds no raise_all\n.*visib"),
        ("only visible", RAISE.replace('extern "C" ', "") + NAME.replace('extern "C" ', ""), r"C\+\+ has made _Z9raise_allPfif"),
        ("only the first function", RAISE, "finds no raise_error_name"),
        ("another type, and so another function", RAISE.replace("int n", "size_t n") + NAME, "finds no raise_all\n.*types"),
        ("right: a block of declarations", '#pragma GCC visibility push(default)\nextern "C" {\nint raise_all(float *x, int n, float by);\n' "const char *raise_error_name(int code);\n}\n#pragma GCC visibility pop\n", None),
    ],
    "leak": [
        ("as it was", [("goto cleanup; // was", "return error; // was")], "call 2, cudaMalloc, fails: memory stays allocated"),
        ("freed here and there", [("        goto cleanup; // was", "    {\n        cudaFree(d_rgb);\n        goto cleanup;\n    } // was")], "call 2, cudaMalloc, fails, and then leak.cu:\\d+: cudaFree: .*freed before.*\n.*once"),
        ("the program ends", [("goto cleanup; // was", "exit(1); // was")], "call 2, cudaMalloc, fails: expected 719, and the program has ended"),
        ("the last line returns 0", [("    return error;\n}", "    return 0;\n}")], "call 2.*expected 719.*came 0"),
        ("right: CHECK_GOTO", [("    error = cudaMalloc(&d_gray, bytes);\n    if (error != cudaSuccess)\n        goto cleanup; // was: return error;\n", "    CHECK_GOTO(error, cudaMalloc(&d_gray, bytes), cleanup);\n")], None),
    ],
    "cleanup": [
        ("no code is looked at", [("CHECK_GOTO(error, cuda", "(void)(cuda"), (", cleanup);", ");"), ("cleanup:\n", "")], "call 1, cudaMalloc, fails"),
        ("it prints", [("cleanup:\n", 'cleanup:\n    if (error)\n        fprintf(stderr, "failed\\n");\n')], "prints nothing"),
        ("return for goto", [("    CHECK_GOTO(error, cudaMalloc(&d_b, bytes), cleanup);\n", "    if ((error = cudaMalloc(&d_b, bytes)) != cudaSuccess)\n        return error;\n")], "call 2, cudaMalloc, fails: memory stays allocated"),
        ("freed on the spot and at the end", [("    CHECK_GOTO(error, cudaMalloc(&d_out, bytes), cleanup);\n", "    if ((error = cudaMalloc(&d_out, bytes)) != cudaSuccess) {\n        cudaFree(d_a);\n        goto cleanup;\n    }\n")], "call 3, cudaMalloc, fails, and then .*freed before.*\n.*once"),
        ("the launch is not asked about", [(LAUNCHED, "")], "the launch of Larger, fails|not accepted"),
        ("a later call replaces the error", [("CHECK_GOTO(error, cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice), cleanup)", "error = cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice)")], "call 4, cudaMemcpy, fails"),
        (
            "right: managed memory",
            "    CHECK_GOTO(error, cudaMallocManaged(&d_a, bytes), cleanup);\n"
            "    CHECK_GOTO(error, cudaMallocManaged(&d_b, bytes), cleanup);\n"
            "    CHECK_GOTO(error, cudaMallocManaged(&d_out, bytes), cleanup);\n"
            "    memcpy(d_a, a, bytes);\n    memcpy(d_b, b, bytes);\n"
            "    Larger<<<blocks, threads_in_block>>>(d_a, d_b, d_out, n);\n"
            + LAUNCHED
            + "    CHECK_GOTO(error, cudaDeviceSynchronize(), cleanup);\n"
            + "    memcpy(out, d_out, bytes);\ncleanup:\n"
            + "    cudaFree(d_out);\n    cudaFree(d_b);\n    cudaFree(d_a);\n",
            None,
        ),
    ],
    "pointer": [
        ("dlopen is not looked at", [("    if (!library)\n        return NO_LIBRARY;\n", "")], "libnothing.*\n.*dlopen returns NULL"),
        ("both are one error", [("return NO_LIBRARY", "return NO_FUNCTION")], "returns -1, came -2"),
        ("not closed after an error", [("error = NO_FUNCTION;", "return NO_FUNCTION;")], "product: .*still open"),
        ("two arguments swapped", [("weight, start, &error", "start, weight, &error")], "in their order"),
        ("int for n", [("const float *, size_t,", "const float *, int,")], "4294967301.*came weighted_sum.x, 5"),
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
        ("no i", [('    "    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\\n"\n', "")], r"finds an error.*\n(.*\n)*.*kernel.cu[(:]3"),
        ("by is a double", [("&by_as_float", "&by")], r"came AddAll\(x, 256, 0\)\n.*the type"),
        ("the values for the addresses", [("{&x, &n, &by_as_float}", "{(void *)x, (void *)n, &by_as_float}")], "argument 1 of the kernel: came 0x.*no address"),
        ("the blocks of an int", [(BLOCKS, "((int)n + THREADS - 1) / THREADS")], r"8589934597 elements.*\n.*an int"),
        ("right: a constant in the kernel, and a cast at once", [("blockIdx.x * blockDim.x", "blockIdx.x * 128"), ("float by_as_float = (float)by;", "float b = by;"), ("&by_as_float", "&b"), (BLOCKS, "(n - 1) / THREADS + 1")], None),
    ],
    "handle": [
        ("the sums are not 0 at first", [("    CHECK_GOTO(error, cudaMemset(t->d_sums, 0, n * sizeof(float)), failed);\n", "")], "0 at first|which nobody has written"),
        ("nothing is freed after an error", [("    total_destroy(t);\n", "")], "call 1 .*not freed: expected 0, came 1"),
        ("*handle is written first", [("    t->n = n;", "    *handle = t;\n    t->n = n;")], r"call 1 .*\*handle is not"),
        ("calloc is not looked at", [("    if (!t)\n        return cudaErrorMemoryAllocation;\n", "")], "calloc gives NULL"),
        ("one handle for all", [(f"total *t = {NEW};", f"static total *t;\n    if (!t)\n        t = {NEW};")], "its own memory|freed|stays"),
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
    "signature": [
        ("no restype", [("library.mean.restype = ctypes.c_float\n", "")], "returns float in C.*if nothing is declared"),
        ("no argtypes", [("library.mean.argtypes = [float_pointer, ctypes.c_size_t, ctypes.c_double, ctypes.POINTER(ctypes.c_int)]\n", "")], "4 arguments in C, but 0 types"),
        ("int for size_t", [("ctypes.c_size_t", "ctypes.c_int")], "in C it is size_t n, came c_int"),
        ("another order", [("ctypes.c_size_t, ctypes.c_double", "ctypes.c_double, ctypes.c_size_t")], "size_t n, came c_double"),
        ("right: calls of one's own at the end", [("    return result\n", "    return result\n\n\nprint(mean(np.ones(9), 2))\nprint(library.error_text(1))\n")], None),
    ],
    "exception": [
        ("returned", [("raise CudaError", "return CudaError"), ("raise MemoryError", "return MemoryError")], "cudaMalloc .*came no exception"),
        ("bytes", [("error_name(code).decode()", "error_name(code)"), ('name == "', 'name == b"')], "as str"),
        ("no finally", [("    try:\n", "    if True:\n"), ("    finally:\n        code", "    if True:\n        code")], "the launch of Fill.*memory stays allocated"),
        ("the code of release is lost", [("    check(code)\n", "")], "cudaFree .*came no exception"),
        ("bytes for elements", [("library.fill(d_x, n,", "library.fill(d_x, result.nbytes,")], "out of bounds.*\n.*came CudaError 700"),
        ("right: checked in finally", [("    finally:\n        code = library.release(d_x)\n    check(code)\n", "    finally:\n        check(library.release(d_x))\n")], None),
    ],
    "two_results": [
        ("swapped in the return", [("return total, difference", "return difference, total")], r"the first result, \(x \+ y\)\[0\]: expected"),
        ("the code is not looked at", [("check(c_sum_and_difference(&x[0], &y[0], &total_view[0], &difference_view[0], x.shape[0]))", "c_sum_and_difference(&x[0], &y[0], &total_view[0], &difference_view[0], x.shape[0])")], "cudaMalloc .*came no exception"),
        ("no elements", [("    if x.shape[0] > 0:\n    ", "")], "is C called"),
        ("bytes for elements", [("&difference_view[0], x.shape[0]", "&difference_view[0], x.nbytes")], "not of bytes"),
        (
            "right: the whole in the if",
            "    both = np.zeros((2, x.shape[0]), np.float32)\n    cdef float[:, ::1] view = both\n    if x.shape[0]:\n"
            "        check(c_sum_and_difference(&x[0], &y[0], &view[0, 0], &view[1, 0], x.shape[0]))\n"
            "    return [both[0], both[1]]\n",
            None,
        ),
    ],
    "strided": [
        ("a copy", [("cdef float[::1] result_view", "x = np.ascontiguousarray(x)\n    cdef float[::1] result_view")], "not of a copy"),
        ("elements, not bytes", [("x.strides[0], x.shape", "x.strides[0] // 4, x.shape")], "stride in C: expected 20, came 5"),
        ("an int", [("&x[0], x.strides[0],", "&x[0], <int>x.strides[0],")], "came 8\n.*type large enough"),
        ("no refusal", [('    if x.strides[0] <= 0:\n        raise ValueError(f"x: a stride above 0 is taken, not {x.strides[0]}")\n', "")], "a stride of -4: expected ValueError, came|VALUE"),
        ("right: a call of one's own at the end", [("    # END OF YOUR LINES\n    return result\n", "    # END OF YOUR LINES\n    return result\n\n\nprint(doubled(np.ones(9, 'f')[::2]))\n")], None),
    ],
    "owner": [
        ("no __dealloc__", [("    def __dealloc__(self):\n        owner_free(self.d_x)  # an error is lost: nobody could catch an exception here\n\n", "")], "the launch of Fill.*stays allocated|has ended, without close"),
        ("the pointer is not set to NULL", [("        self.d_x = NULL\n", "")], "freed before|how do a second close"),
        (
            "in self too late",
            [
                ("        self.n = n\n", "        cdef float *d_x\n        self.n = n\n"),
                ("check(owner_allocate(&self.d_x, n))", "check(owner_allocate(&d_x, n))"),
                ("check(owner_fill(self.d_x, n, value))", "check(owner_fill(d_x, n, value))\n        self.d_x = d_x"),
            ],
            "the launch of Fill.*memory stays allocated",
        ),
        ("the code of free is lost", [("check(owner_free(d_x))", "owner_free(d_x)")], "cudaFree .*came no exception"),
        (
            "freed twice in the constructor",
            [
                (
                    "        check(owner_fill(self.d_x, n, value))\n",
                    "        try:\n            check(owner_fill(self.d_x, n, value))\n"
                    "        except:\n            owner_free(self.d_x)\n            raise\n",
                )
            ],
            "freed before",
        ),
        (
            "right: if in both",
            [
                ("        owner_free(self.d_x)  # an", "        if self.d_x != NULL:\n            owner_free(self.d_x)  # an"),
                (
                    "        cdef float *d_x = self.d_x\n        self.d_x = NULL\n        check(owner_free(d_x))\n",
                    "        if self.d_x != NULL:\n            code = owner_free(self.d_x)\n            self.d_x = NULL\n            check(code)\n",
                ),
            ],
            None,
        ),
    ],
    "indices": [
        ("a negative index is bad", [("        if (j < 0)\n            j += size;\n", "")], "index -1, .*taken as Python takes it"),
        ("below -size is not looked at", [("j >= 0 && j < size", "j < size")], "(before|out of bounds|no device memory)[\\s\\S]*a bad index"),
        ("whoever comes last", [("atomicMin(first_bad, i)", "*first_bad = i")], "race"),
        ("compared, then written", [("atomicMin(first_bad, i)", "if (i < *first_bad) *first_bad = i")], "race"),
        ("the index, not its position", [("atomicMin(first_bad, i)", "atomicMin(first_bad, index[i])")], "not index\\[i\\]"),
        (
            "right: a grid-stride loop, both bounds first",
            "    for (; i < n; i += gridDim.x * blockDim.x)\n        if (index[i] >= size || index[i] < -size)\n            atomicMin(first_bad, i);\n"
            "        else\n            result[i] = source[index[i] >= 0 ? index[i] : size + index[i]];\n",
            None,
        ),
    ],
    "scatter": [
        ("no atomic", [("atomicAdd(&result[index[i]], value[i])", "result[index[i]] += value[i]")], "race"),
        ("no guard", [("    if (i < n)\n", "")], "out of bounds"),
        ("result is not copied in", [("    CHECK_GOTO(error, cudaMemcpy(d_result, result, result_bytes, cudaMemcpyHostToDevice), cleanup);\n", "")], "is all that the kernel reads copied"),
        ("exchanged", [("atomicAdd(&result[index[i]], value[i])", "atomicExch(&result[index[i]], result[index[i]] + value[i])")], "race|one step"),
        ("CHECK ends the program", [("CHECK_GOTO(error, cudaMemcpy(d_index, index, index_bytes, cudaMemcpyHostToDevice), cleanup)", "CHECK(cudaMemcpy(d_index, index, index_bytes, cudaMemcpyHostToDevice))")], "does not end the program"),
        ("return leaks", [("CHECK_GOTO(error, cudaMemcpy(d_index, index, index_bytes, cudaMemcpyHostToDevice), cleanup)", "if ((error = cudaMemcpy(d_index, index, index_bytes, cudaMemcpyHostToDevice)) != cudaSuccess)\n        return error")], "stays allocated"),
        (
            "right: a grid-stride loop",
            "    for (int k = i; k < n; k += blockDim.x * gridDim.x)\n        atomicAdd(result + index[k], value[k]);\n",
            None,
        ),
    ],
    "rows": [
        ("row and column exchanged", [("row = k / columns, column = k % columns", "row = k % columns, column = k / columns")], "In which row and column|out of bounds"),
        ("k as an int", [("size_t row = k / columns, column = k % columns;", "int row = (int)k / columns, column = (int)k % columns; columns = (int)columns;"), ("k < (size_t)rows * columns", "(int)k < rows * columns")], "product of two ints"),
        (
            "a thread copies a whole row",
            "    if (k < rows)\n        for (int column = 0; column < columns; column++)\n            result[k * columns + column] = source[(size_t)index[k] * columns + column];\n",
            "its own part|product",
        ),
        ("rounded down", [("(elements + THREADS - 1) / THREADS", "elements / THREADS")], "blocks_for.1.: expected 1, came 0"),
        ("a float", [("(elements + THREADS - 1) / THREADS", "ceilf((float)elements / THREADS)")], "blocks_for.16777217.|blocks_for.2147483649."),
        (
            "right: a grid-stride loop",
            "    for (size_t n = rows * (size_t)columns; k < n; k += (size_t)gridDim.x * blockDim.x)\n        result[k] = source[index[k / columns] * (size_t)columns + k % columns];\n",
            None,
        ),
    ],
    "vector4": [
        ("the rest is forgotten", [("    for (size_t i = 4 * packs + thread; i < n; i += threads)\n        result[i] = factor * x[i];\n", "")], "which of the two loops|nobody has written to result"),
        ("one by one", [("for (size_t p = thread; p < packs; p += threads) {", "for (size_t i = thread; i < 4 * packs; i += threads)\n        result[i] = factor * x[i];\n    for (size_t p = 0; p < 0; p++) {")], "one float4"),
        ("only x is looked at", [(" && (size_t)result % 16 == 0", "")], "multiple of 16[\\s\\S]*which addresses"),
        ("packs as an int", [("packs = n / 4", "packs = (int)n / 4")], "n may be too large for an int"),
        ("thread 0 does the packs", [("for (size_t p = thread; p < packs; p += threads)", "for (size_t p = 0; thread == 0 && p < packs; p++)")], "its own part"),
        ("right: if in place of loops", [("for (size_t p = thread; p < packs; p += threads) {", "size_t p = thread;\n    if (p < packs) {"), ("for (size_t i = 4 * packs + thread; i < n; i += threads)", "size_t i = 4 * packs + thread;\n    if (i < n)")], None),
    ],
    "dtype": [
        ("sizeof(float)", [("sizeof(T)", "sizeof(float)")], "out of bounds|nobody has written|float64"),
        ("n in bytes", [("n = idx.size,", "n = idx.nbytes,")], "elements, not bytes"),
        ("no branch for float64", [("    else:\n        source64, result64 = x, result\n        with nogil:\n            code = gather_float64(&source64[0], size, &index[0], n, &result64[0])\n", "")], "branch of its own|no CUDA call"),
        ("by way of float32", [("        source64, result64 = x, result\n        with nogil:\n            code = gather_float64(&source64[0], size, &index[0], n, &result64[0])\n", "        result[:] = gather(x.astype(np.float32), idx)\n")], "digits are lost"),
        ("with the GIL", [("        source64, result64 = x, result\n        with nogil:\n            code", "        source64, result64 = x, result\n        code")], "with nogil"),
        ("right: elif, and T by name", [("    else:\n", "    elif x.dtype == np.float64:\n"), ("error = gather(", "error = gather<double>(")], None),
    ],
    "clip_kernel": [
        ("no upper limit", [("x[i] > high ? high : x[i]", "x[i]")], "above high"),
        ("fminf and fmaxf drop NaN", [("x[i] < low ? low : x[i] > high ? high : x[i]", "fminf(fmaxf(x[i], low), high)")], "drop NaN"),
        ("the launch is not looked at", [("    CHECK_GOTO(error, cudaGetLastError(), cleanup);\n", "")], "the launch of .*fails"),
        ("a return that frees nothing", [("CHECK_GOTO(error, cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost), cleanup)", "return cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost)")], "stays allocated|never freed"),
        ("one thread does all", [("    if (i < n)\n        result[i]", "    for (; i < n && blockIdx.x + threadIdx.x == 0; i++)\n        result[i]")], "its own part"),
        ("right: a grid-stride loop", [("    if (i < n)", "    for (; i < n; i += (size_t)gridDim.x * blockDim.x)")], None),
    ],
    "clip_module": [
        ("any dtype", [("    if not isinstance(x, np.ndarray) or x.dtype != np.float32:\n        raise TypeError(f\"x: a NumPy array of float32 is taken, not {getattr(x, 'dtype', type(x))}\")\n", "")], "expected TypeError"),
        ("only contiguous arrays", [('np.require(x, requirements=["C", "A"])', "x")], "every third element"),
        ("not aligned", [('np.require(x, requirements=["C", "A"])', "np.ascontiguousarray(x)")], "an unaligned array"),
        ("bytes", [("    with nogil:", "    cdef size_t n = x.nbytes\n    with nogil:"), ("x_view.shape[0])", "n)")], "number of elements"),
        ("with the GIL", [("    with nogil:\n        code", "    code")], "GIL"),
        ("right: a memory view of a copy", [('np.require(x, requirements=["C", "A"])', "np.array(x, np.float32, copy=True, order='C', subok=False)"), ("x_view.shape[0])", "<size_t>n)"), ("    with nogil", "    cdef Py_ssize_t n = x.size\n    with nogil")], None),
    ],
    "clip_test": [
        ("NaN makes the test fail", [("np.testing.assert_array_equal(result, np.clip(before, low, high))", "assert (result == np.clip(before, low, high)).all()")], "clip is right, and your test ends with AssertionError"),
        ("all but the first element", [("np.testing.assert_array_equal(result, np.clip(before, low, high))", "np.testing.assert_array_equal(result[1:], np.clip(before, low, high)[1:])")], "wrong in the first element"),
        ("all but the last element", [("np.testing.assert_array_equal(result, np.clip(before, low, high))", "np.testing.assert_array_equal(result[:-1], np.clip(before, low, high)[:-1])")], "wrong in the last element"),
        ("no NaN", [("check(np.array([1, np.nan, 5], np.float32), -2, 3)\n", "")], "turns NaN into low"),
        ("never empty", [("in 0, 1", "in 2, 1")], "empty array"),
        ("float64 is not tried", [("    clip(np.ones(3), -2, 3)\n", "    raise TypeError\n")], "takes float64"),
        ("x is not looked at afterwards", [("    np.testing.assert_array_equal(x, before)\n", "")], "writes to x"),
        ("zip, which ends early", [("np.testing.assert_array_equal(result, np.clip(before, low, high))", "for a, b in zip(result, np.clip(before, low, high)):\n        np.testing.assert_equal(a, b)")], "one element too many"),
        ("right: unittest's words", [("np.testing.assert_array_equal(result, np.clip(before, low, high))", "expected = np.clip(before, low, high)\n    assert result.shape == expected.shape and np.array_equal(result, expected, equal_nan=True)")], None),
    ],
    "pinned": [
        ("ordinary memory", [("buffer=PinnedMemory(n * dtype.itemsize)", "buffer=bytearray(n * dtype.itemsize)")], "whose memory"),
        ("never given back", [("        pinned_free(self.data)  # an error is lost: nobody could catch an exception here", "        pass")], "memory stays allocated|__dealloc__ gives"),
        ("given back twice", [("        pinned_free(self.data)  #", "        pinned_free(self.data)\n        pinned_free(self.data)  #")], "freed before"),
        ("as many bytes as elements", [("PinnedMemory(n * dtype.itemsize)", "PinnedMemory(n)")], "buffer is too small|TypeError"),
        ("the code is not looked at", [("check(pinned_allocate(&self.data, bytes))", "pinned_allocate(&self.data, bytes)")], "CUDA call 1. fails"),
        ("right: np.frombuffer", [("np.ndarray(n, dtype, buffer=PinnedMemory(n * dtype.itemsize))", "np.frombuffer(PinnedMemory(n * dtype.itemsize), dtype, n)")], None),
    ],
}
