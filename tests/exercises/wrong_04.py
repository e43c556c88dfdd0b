"""Wrong answers to the exercises of stage 04: what is changed in the solution, and what the check has to say."""

WRONG = {
    "indices": [
        ("a negative index is bad", [("        if (j < 0)\n            j += size;\n", "")], "index -1, .*from the end"),
        (
            "a negative index is followed",
            [("        if (j < 0)\n            j += size;\n        if (j >= 0 && ", "        if (")],
            "index -1, .*from the end",
        ),
        (
            "from the end only after the check",
            [
                (
                    "        if (j < 0)\n            j += size;\n        if (j >= 0 && j < size)\n            result[i] = source[j];",
                    "        if (j >= 0 && j < size)\n            result[i] = source[j < 0 ? j + size : j];",
                )
            ],
            "index -1, .*from the end",
        ),
        ("one too far from the end", [("j += size", "j += size - 1")], "index -1, .*from the end"),
        ("mirrored", [("j += size", "j = -j")], "index -1, .*from the end"),
        ("j <= size", [("j < size", "j <= size")], "index 5, .*bad"),
        ("-size refused", [("j >= 0", "j > 0")], "index 0, .*good"),
        (
            "-size refused, 0 is not",
            [
                (
                    "        if (j < 0)\n            j += size;\n        if (j >= 0 && j < size)\n            result[i] = source[j];",
                    "        if (j > -size && j < size)\n            result[i] = source[j < 0 ? j + size : j];",
                )
            ],
            "index -5, .*from the end",
        ),
        ("no upper limit", [(" && j < size", "")], "index 5, .*bad"),
        ("no lower limit", [("j >= 0 && ", "")], "index -6, .*bad"),
        (
            "abs() of the smallest int",
            [
                (
                    "        if (j < 0)\n            j += size;\n        if (j >= 0 && j < size)\n            result[i] = source[j];",
                    "        if (j < size && -j <= size)\n            result[i] = source[j < 0 ? j + size : j];",
                )
            ],
            "outside|wrong place|index -2147483648",
        ),
        (
            "round and round",
            [
                (
                    "        if (j < 0)\n            j += size;\n        if (j >= 0 && j < size)",
                    "        j = (j % size + size) % size;\n        if (true)",
                )
            ],
            "index 5, .*bad",
        ),
        (
            "clamped",
            [("        if (j >= 0 && j < size)", "        j = min(max(j, 0), size - 1);\n        if (true)")],
            "index 5, .*bad",
        ),
        (
            "followed, and noted as well",
            [("            atomicMin(first_bad, i);", "            result[i] = source[j], atomicMin(first_bad, i);")],
            "index 5, .*bad",
        ),
        (
            "first read, then looked at",
            [
                (
                    "        if (j >= 0 && j < size)\n            result[i] = source[j];",
                    "        float element = *(const volatile float *)(source + j);\n        if (j >= 0 && j < size)\n            result[i] = element;",
                )
            ],
            "wrong place|outside",
        ),
        (
            "0 for a bad index",
            [("            atomicMin(first_bad, i);", "            result[i] = 0, atomicMin(first_bad, i);")],
            "nothing is written",
        ),
        ("not noted", [("            atomicMin(first_bad, i);", "            ;")], "first_bad is"),
        ("the last one that comes", [("atomicMin(first_bad, i)", "*first_bad = i")], "race|whoever comes"),
        (
            "looked at, then written",
            [
                (
                    "            atomicMin(first_bad, i);",
                    "            if (i < *first_bad)\n                *first_bad = i;",
                )
            ],
            "race|whoever comes",
        ),
        ("atomicExch", [("atomicMin", "atomicExch")], "whoever comes"),
        ("the first that comes", [("atomicMin(first_bad, i)", "atomicCAS(first_bad, INT_MAX, i)")], "whoever comes"),
        ("atomicMax", [("atomicMin", "atomicMax")], "first_bad is"),
        ("the bad index, not its position", [("atomicMin(first_bad, i)", "atomicMin(first_bad, j)")], "first_bad is"),
        (
            "the position in the block",
            [("atomicMin(first_bad, i)", "atomicMin(first_bad, (int)threadIdx.x)")],
            "whoever comes",
        ),
        ("source[i]", [("source[j]", "source[i]")], "index 0, .*good"),
        (
            "no guard",
            [("if (i < n) {", "{")],
            "behind the end|keeps the threads off|Invalid|a thread beyond n has none",
        ),
        ("<=", [("i < n", "i <= n")], "behind the end|keeps the threads off|Invalid|a thread beyond n has none"),
        ("position 0 looks like success", [("-1 - first_bad", "-first_bad")], "position 0: expected status -1, came 0"),
        ("a positive status", [("-1 - first_bad", "1 + first_bad")], "expected status -1, came 1"),
        ("always a position", [("    if (first_bad != INT_MAX)\n", "")], "expected status 0"),
        ("no status", [("        status = -1 - first_bad;", "        ;")], "expected status -1, came 0"),
    ],
    "rows": [
        (
            "rows and columns swapped",
            [("k / columns, column = k % columns", "k % rows, column = k / rows")],
            "n which row",
        ),
        (
            "rows for columns",
            [("k / columns, column = k % columns", "k / rows, column = k % rows")],
            "n which row|outside|wrong place",
        ),
        (
            "/ and % swapped",
            [("k / columns, column = k % columns", "k % columns, column = k / columns")],
            "n which row|outside|wrong place",
        ),
        (
            "the source column behind column",
            [("index[row] * columns + column", "column * rows + index[row]")],
            "n which row|outside|wrong place",
        ),
        (
            "a step of rows",
            [("index[row] * columns + column", "index[row] * rows + column")],
            "n which row|outside|wrong place",
        ),
        ("index of the element", [("index[row]", "index[k]")], "n which row|outside|wrong place"),
        ("no index", [("(size_t)index[row]", "row")], "n which row|outside"),
        (
            "scatter for gather",
            [
                (
                    "result[k] = source[(size_t)index[row] * columns + column]",
                    "result[(size_t)index[row] * columns + column] = source[k]",
                )
            ],
            "n which row|outside|race|wrote to",
        ),
        (
            "right for one column",
            [
                ("        size_t row = k / columns, column = k % columns;\n", ""),
                ("index[row] * columns + column", "index[k]"),
            ],
            "n which row|outside|wrong place",
        ),
        ("first column only", [("* columns + column", "* columns")], "n which row"),
        ("the guard is rows", [("k < (size_t)rows * columns", "k < (size_t)rows")], "n which row"),
        (
            "no guard",
            [("if (k < (size_t)rows * columns) {", "{")],
            "behind the end|keeps the threads off|Invalid|a thread beyond n has none",
        ),
        (
            "<=",
            [("k < (size_t)", "k <= (size_t)")],
            "behind the end|keeps the threads off|Invalid|a thread beyond n has none",
        ),
        (
            "a product of ints",
            [("(size_t)index[row] * columns", "index[row] * columns")],
            "two ints|outside|no allocation|nothing",
        ),
        (
            "a sum of ints is no better",
            [("(size_t)index[row] * columns + column", "(size_t)(index[row] * columns + column)")],
            "two ints|outside|no allocation|nothing",
        ),
        (
            "a thread for each row",
            [
                (
                    "    if (k < (size_t)rows * columns) {\n        size_t row = k / columns, column = k % columns;\n        result[k] = source[(size_t)index[row] * columns + column];\n    }",
                    "    if (k < rows)\n        for (int column = 0; column < columns; column++)\n            result[k * columns + column] = source[(size_t)index[k] * columns + column];",
                )
            ],
            "thread k writes element k",
        ),
        (
            "each thread writes all",
            [("    if (k < (size_t)rows * columns) {", "    for (k = 0; k < (size_t)rows * columns; k++) {")],
            "race|thread k writes element k",
        ),
        ("rounded down", [("(elements - 1) / THREADS + 1", "elements / THREADS")], "number of blocks"),
        (
            "blocks for the rows only",
            [("(elements - 1) / THREADS + 1", "(rows - 1) / THREADS + 1")],
            "number of blocks",
        ),
        ("one block", [("(elements - 1) / THREADS + 1", "1")], "number of blocks"),
        (
            "blocks for the bytes that are too few",
            [("(elements - 1) / THREADS + 1", "(elements - 1) / 1024 + 1")],
            "number of blocks",
        ),
    ],
    "scatter": [
        ("no atomic", [("atomicAdd(&result[index[i]], value[i])", "result[index[i]] += value[i]")], "race|atomicAdd"),
        ("= for +=", [("atomicAdd(&result[index[i]], value[i])", "result[index[i]] = value[i]")], "atomicAdd"),
        ("atomicExch", [("atomicAdd(", "atomicExch(")], "atomicAdd"),
        (
            "atomicExch of a sum",
            [("atomicAdd(&result[index[i]], value[i])", "atomicExch(&result[index[i]], result[index[i]] + value[i])")],
            "race|atomicAdd",
        ),
        (
            "a barrier for an atomic",
            [
                (
                    "        atomicAdd(&result[index[i]], value[i]);",
                    "        result[index[i]] += value[i];\n    __syncthreads();",
                )
            ],
            "race|atomicAdd",
        ),
        (
            "one thread of the block after the other",
            [
                (
                    "    if (i < n)\n        atomicAdd(&result[index[i]], value[i]);",
                    "    for (int t = 0; t < blockDim.x; t++) {\n        if (t == threadIdx.x && i < n)\n            result[index[i]] += value[i];\n        __syncthreads();\n    }",
                )
            ],
            "race|atomicAdd",
        ),
        (
            "gather for scatter",
            [("atomicAdd(&result[index[i]], value[i])", "atomicAdd(&result[i], value[index[i]])")],
            "threads that have no number|outside|once|has 5 elements|wrote to",
        ),
        ("no index", [("&result[index[i]]", "&result[i]")], "threads that have no number|outside|once|wrote to"),
        ("1 is added: a histogram", [("value[i])", "1)")], "once"),
        ("the value of the index", [("value[i])", "value[index[i]])")], "once|which array has element i"),
        ("no guard", [("if (i < n)\n        ", "")], "threads that have no number|read, not written|Invalid"),
        ("<=", [("i < n)\n        ", "i <= n)\n        ")], "threads that have no number|read, not written|Invalid"),
        (
            "the result is not copied in",
            [
                (
                    "    CHECK_GOTO(error, cudaMemcpy(d_result, result, result_bytes, cudaMemcpyHostToDevice), cleanup);\n",
                    "",
                )
            ],
            "before something|written yet|never written|nobody has",
        ),
        (
            "the result is 0 at first",
            [
                (
                    "cudaMemcpy(d_result, result, result_bytes, cudaMemcpyHostToDevice)",
                    "cudaMemset(d_result, 0, result_bytes)",
                )
            ],
            "before something",
        ),
        (
            "the index is not copied",
            [
                (
                    "    CHECK_GOTO(error, cudaMemcpy(d_index, index, index_bytes, cudaMemcpyHostToDevice), cleanup);\n",
                    "",
                )
            ],
            "written|nobody|expected",
        ),
        (
            "copied the wrong way",
            [
                (
                    "cudaMemcpy(d_value, value, value_bytes, cudaMemcpyHostToDevice)",
                    "cudaMemcpy(d_value, value, value_bytes, cudaMemcpyDeviceToHost)",
                )
            ],
            "direction",
        ),
        (
            "the number of elements, not of bytes",
            [("cudaMemcpy(d_value, value, value_bytes", "cudaMemcpy(d_value, value, n")],
            "written|bytes|before something",
        ),
        (
            "the wrong size",
            [("cudaMemcpy(d_result, result, result_bytes", "cudaMemcpy(d_result, result, value_bytes")],
            "bytes|crash",
        ),
        (
            "the copies are not looked at",
            [
                (
                    "    CHECK_GOTO(error, cudaMemcpy(d_value, value, value_bytes, cudaMemcpyHostToDevice), cleanup);",
                    "    cudaMemcpy(d_value, value, value_bytes, cudaMemcpyHostToDevice);",
                )
            ],
            "each call may fail",
        ),
        (
            "return leaves what is allocated",
            [
                (
                    "CHECK_GOTO(error, cudaMemcpy(d_index, index, index_bytes, cudaMemcpyHostToDevice), cleanup)",
                    "if ((error = cudaMemcpy(d_index, index, index_bytes, cudaMemcpyHostToDevice)) != cudaSuccess)\n        return error",
                )
            ],
            "not freed",
        ),
        (
            "the second error replaces the first",
            [
                (
                    "    CHECK_GOTO(error, cudaMemcpy(d_value, value, value_bytes, cudaMemcpyHostToDevice), cleanup);",
                    "    error = cudaMemcpy(d_value, value, value_bytes, cudaMemcpyHostToDevice);",
                )
            ],
            "each call may fail",
        ),
        (
            "CHECK ends the program",
            [
                (
                    "CHECK_GOTO(error, cudaMemcpy(d_value, value, value_bytes, cudaMemcpyHostToDevice), cleanup)",
                    "CHECK(cudaMemcpy(d_value, value, value_bytes, cudaMemcpyHostToDevice))",
                )
            ],
            "each call may fail|CHECK|ended the program",
        ),
    ],
    "dtype": [
        ("sizeof(float)", [("sizeof(T)", "sizeof(float)")], "float64.*(expected|outside)|outside|has written"),
        ("half the source", [("size * sizeof(T)", "size * sizeof(float)")], "float64.*expected|has written|outside"),
        ("always sizeof(double)", [("sizeof(T)", "sizeof(double)")], "crash|host code touched|nobody has written"),
        ("the size of a pointer", [("size * sizeof(T)", "size * sizeof(source)")], "crash|host code touched"),
        (
            "a float in the kernel",
            [("result[i] = source[index[i]]", "{ float element = source[index[i]]; result[i] = element; }")],
            "digits are lost",
        ),
        ("no guard", [("if (i < n)\n        ", "")], "outside|CudaError|reads|never"),
        ("no index", [("source[index[i]]", "source[i]")], "expected"),
        (
            "double taken for float",
            [
                (
                    "error = gather(source, size, index, n, result)",
                    "error = gather((const float *)source, size, index, n, (float *)result)",
                )
            ],
            "float64: gather.x, idx.*expected",
        ),
        (
            "never the C function for double",
            [("    error = gather(source, size, index, n, result);\n", "")],
            "float64.*came CudaError",
        ),
        (
            "the error is dropped",
            [("error = gather(source, size, index, n, result)", "error = (gather(source, size, index, n, result), 0)")],
            "float64: expected CudaError 100, came no exception",
        ),
        (
            "no branch for float64",
            [
                (
                    "    else:\n        source64, result64 = x, result\n        with nogil:\n            code = gather_float64(&source64[0], size, &index[0], n, &result64[0])\n",
                    "",
                )
            ],
            "branch of its own",
        ),
        (
            "by way of float32",
            [
                (
                    "        source64, result64 = x, result\n        with nogil:\n            code = gather_float64(&source64[0], size, &index[0], n, &result64[0])\n",
                    "        result[:] = gather(x.astype(np.float32), idx)\n",
                )
            ],
            "digits are lost|overflow",
        ),
        (
            "by NumPy",
            [
                (
                    "        source64, result64 = x, result\n        with nogil:\n            code = gather_float64(&source64[0], size, &index[0], n, &result64[0])\n",
                    "        result[:] = x[idx]\n",
                )
            ],
            "GPU or NumPy",
        ),
        ("the code is not kept", [("code = gather_float64(", "gather_float64(")], "code that the C function returns"),
        (
            "float64 for all",
            [
                (
                    "    x, idx = check_array",
                    "    x = np.asarray(x, float) if isinstance(x, np.ndarray) else x\n    x, idx = check_array",
                )
            ],
            "float32.*came float64",
        ),
    ],
    "clip": [
        ("no lower limit", [("x[i] < low ? low : ", "")], "expected -1.0, came -5.0"),
        ("no upper limit", [("x[i] > high ? high : x[i]", "x[i]")], "expected 1.0, came 5.0"),
        (
            "low and high swapped",
            [("x[i] < low ? low : x[i] > high ? high", "x[i] < low ? high : x[i] > high ? low")],
            "expected -1.0, came 1.0",
        ),
        (
            "fminf and fmaxf drop NaN",
            [("x[i] < low ? low : x[i] > high ? high : x[i]", "fminf(fmaxf(x[i], low), high)")],
            "NaN stays NaN",
        ),
        (
            "an int in between",
            [("        result[i] = x", "        result[i] = (int)x")],
            "0.5|does not|compile|expected",
        ),
        ("no guard", [("if (i < n)\n        ", "")], "outside|CudaError|reads|before an allocation"),
        (
            "the number in the block",
            [("(size_t)blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x")],
            "257|race|expected|written",
        ),
        ("blocks rounded down", [("(n - 1) / THREADS + 1", "n / THREADS")], "CudaError|not launched"),
        (
            "the launch is not looked at",
            [("    CHECK_GOTO(error, cudaGetLastError(), cleanup);\n", "")],
            "was the launch accepted",
        ),
        (
            "the copy back is not looked at",
            [
                (
                    "CHECK_GOTO(error, cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost), cleanup)",
                    "cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost)",
                )
            ],
            "each call may fail",
        ),
        (
            "a return that frees nothing",
            [
                (
                    "CHECK_GOTO(error, cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost), cleanup)",
                    "return cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost)",
                )
            ],
            "not freed",
        ),
        (
            "CHECK",
            [
                (
                    "CHECK_GOTO(error, cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost), cleanup)",
                    "CHECK(cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost))",
                )
            ],
            "does not end the program",
        ),
        (
            "no copy back",
            [("    CHECK_GOTO(error, cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost), cleanup);\n", "")],
            "copy back",
        ),
        (
            "the kernel works on the host's array",
            [("(d_x, low, high, d_result, n)", "(x, low, high, d_result, n)")],
            "host|CudaError",
        ),
        (
            "x comes back",
            [("cudaMemcpy(result, d_result, bytes", "cudaMemcpy(result, d_x, bytes")],
            "expected -1.0, came -5.0",
        ),
        (
            "not declared",
            [("int clip(const float *x, float low, float high, float *result, size_t n);\n", "")],
            "declaration|compile",
        ),
        (
            "any dtype",
            [
                (
                    "    if not isinstance(x, np.ndarray) or x.dtype != np.float32:\n        raise TypeError(f\"x: a NumPy array of float32 is taken, not {getattr(x, 'dtype', type(x))}\")\n",
                    "",
                )
            ],
            "expected TypeError",
        ),
        (
            "only contiguous arrays",
            [('np.require(x, requirements=["C", "A"])', "x")],
            "every third element.*expected no error",
        ),
        ("only arrays that may be written", [("cdef const float", "cdef float")], "read-only array: expected no error"),
        (
            "in place",
            [("result = np.empty(x.size, np.float32)", "result = x")],
            "new array|not C-contiguous|expected no error",
        ),
        (
            "the code is not kept",
            [("code = c_clip", "c_clip")],
            "without a GPU: expected CudaError 100, came no exception",
        ),
        (
            "by NumPy",
            [
                (
                    "        code = c_clip(&x_view[0], low, high, &result_view[0], x_view.shape[0])\n",
                    "        pass\n    result[:] = np.clip(x, low, high)\n",
                )
            ],
            "GPU or NumPy",
        ),
        ("all elements but the last", [("x_view.shape[0])", "x_view.shape[0] - 1)")], "expected"),
        (
            "a test without an assertion",
            [
                (
                    "    assert result.dtype == np.float32, result.dtype\n    np.testing.assert_array_equal(result, np.clip(before, low, high))\n    np.testing.assert_array_equal(x, before)\n",
                    "",
                )
            ],
            "your test passes with a clip that",
        ),
        (
            "assert (…, …) is always true",
            [("assert result.dtype == np.float32, result.dtype", "assert (result.dtype == np.float32, result.dtype)")],
            "returns float64",
        ),
        (
            "the result compared with itself",
            [("np.clip(before, low, high))", "clip(before, low, high))")],
            "your test passes with a clip that",
        ),
        (
            "NaN makes the test fail",
            [
                (
                    "np.testing.assert_array_equal(result, np.clip(before, low, high))",
                    "assert (result == np.clip(before, low, high)).all()",
                )
            ],
            "your module is right, and your test fails",
        ),
        ("no NaN", [("check(np.array([1, np.nan, 5], np.float32), -2, 3)\n", "")], "turns NaN into low"),
        (
            "one size only",
            [("for size in 0, 1, 255, 256, 257, 1000:", "for size in 0, 256:"), ("9, 1000)", "9, 512)")],
            "last full block",
        ),
        ("never empty", [("for size in 0, 1", "for size in 1, 2")], "empty array"),
        ("never strided", [("check(random.uniform(-9, 9, 1000).astype(np.float32)[::2], -2, 3)\n", "")], "strided"),
        (
            "numbers that are never too large",
            [("random.uniform(-9, 9,", "random.uniform(-9, 3,"), ("np.nan, 5]", "np.nan, 2]")],
            "upper limit",
        ),
        (
            "no TypeError asked for",
            [
                (
                    'try:\n    clip(np.ones(3), -2, 3)\nexcept TypeError:\n    pass\nelse:\n    raise AssertionError("an array of float64 is taken")\n',
                    "",
                )
            ],
            "takes float64",
        ),
        ("x is not looked at afterwards", [("    np.testing.assert_array_equal(x, before)\n", "")], "writes to x"),
        (
            "the dtype is not looked at",
            [("    assert result.dtype == np.float32, result.dtype\n", "")],
            "returns float64",
        ),
        (
            "not all elements",
            [
                (
                    "assert_array_equal(result, np.clip(before, low, high))",
                    "assert_array_equal(result[:-1], np.clip(before, low, high)[:-1])",
                )
            ],
            "last element",
        ),
    ],
}
