"""Wrong answers to the exercises of stage 04: what is changed in the solution, and what the check has to say."""

WRONG = {
    "indices": [
        ("a negative index is bad", [("        if (j < 0)\n            j += size;\n", "")], "index -1, .*from the end"),
        ("one too far from the end", [("j += size", "j += size - 1")], "index -1, .*from the end"),
        ("j <= size", [("j < size", "j <= size")], "index 5, .*bad"),
        ("-size refused", [("j >= 0", "j > 0")], "index 0, .*good"),
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
        ("the last one that comes", [("atomicMin(first_bad, i)", "*first_bad = i")], "race|whoever comes"),
        ("the first that comes", [("atomicMin(first_bad, i)", "atomicCAS(first_bad, INT_MAX, i)")], "whoever comes"),
        ("the bad index, not its position", [("atomicMin(first_bad, i)", "atomicMin(first_bad, j)")], "first_bad is"),
        (
            "the position in the block",
            [("atomicMin(first_bad, i)", "atomicMin(first_bad, (int)threadIdx.x)")],
            "whoever comes",
        ),
        (
            "no guard",
            [("if (i < n) {", "{")],
            "behind the end|keeps the threads off|Invalid|a thread beyond n has none",
        ),
        ("position 0 looks like success", [("-1 - first_bad", "-first_bad")], "position 0: expected status -1, came 0"),
        ("a positive status", [("-1 - first_bad", "1 + first_bad")], "expected status -1, came 1"),
        (
            "a sum that is too large for an int",
            [
                (
                    "        if (j < 0)\n            j += size;\n        if (j >= 0 && j < size)\n            result[i] = source[j];\n        else\n            atomicMin(first_bad, i);\n",
                    "        if (j < -size || j >= size)\n            atomicMin(first_bad, i);\n        else\n            result[i] = source[(j + size) % size];\n",
                )
            ],
            "index\\[i\\] may be large",
        ),
        (
            "a bad index reads source[0]",
            [
                (
                    "        if (j < 0)\n            j += size;\n        if (j >= 0 && j < size)\n            result[i] = source[j];\n        else\n            atomicMin(first_bad, i);\n",
                    "        if (j < 0)\n            j += size;\n        bool good = j >= 0 && j < size;\n        float element = *(const volatile float *)&source[good ? j : 0];\n        if (good)\n            result[i] = element;\n        else\n            atomicMin(first_bad, i);\n",
                )
            ],
            "source of 0 elements",
        ),
        (
            "thread 0 looks for the bad ones",
            [
                (
                    "            atomicMin(first_bad, i);\n    }\n",
                    "            ;\n    }\n    if (i == 0)\n        for (int k = n - 1; k >= 0; k--)\n            if (index[k] < -size || index[k] >= size)\n                *first_bad = k;\n",
                )
            ],
            "thread i looks at index i",
        ),
        ("atomicMin_block", [("atomicMin(", "atomicMin_block(")], r"does not compile[\s\S]*only within a block"),
        (
            "an assert in the kernel",
            [
                ("            atomicMin(first_bad, i);", "            assert(false);"),
                ("#include <limits.h>", "#include <limits.h>\n#include <assert.h>"),
            ],
            "does not end the kernel",
        ),
    ],
    "rows": [
        (
            "rows and columns swapped",
            [("k / columns, column = k % columns", "k % rows, column = k / rows")],
            "n which row",
        ),
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
            "no guard",
            [("if (k < (size_t)rows * columns) {", "{")],
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
        ("rounded down", [("(elements - 1) / THREADS + 1", "elements / THREADS")], "number of blocks"),
        (
            "blocks for the rows only",
            [("(elements - 1) / THREADS + 1", "(rows - 1) / THREADS + 1")],
            "number of blocks",
        ),
        ("one block", [("(elements - 1) / THREADS + 1", "1")], "number of blocks"),
        (
            "a product of ints in the guard",
            [("k < (size_t)rows * columns", "k < rows * columns")],
            "element k. rows . columns is a product of two ints",
        ),
        (
            "a product of unsigned ints",
            [("(size_t)index[row] * columns", "(unsigned)index[row] * columns")],
            "index.row. . columns is a product of two ints",
        ),
    ],
    "scatter": [
        ("no atomic", [("atomicAdd(&result[index[i]], value[i])", "result[index[i]] += value[i]")], "race|atomicAdd"),
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
        ("no guard", [("if (i < n)\n        ", "")], "threads that have no number|read, not written|Invalid"),
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
            "CHECK ends the program",
            [
                (
                    "CHECK_GOTO(error, cudaMemcpy(d_value, value, value_bytes, cudaMemcpyHostToDevice), cleanup)",
                    "CHECK(cudaMemcpy(d_value, value, value_bytes, cudaMemcpyHostToDevice))",
                )
            ],
            "each call may fail|CHECK|ended the program",
        ),
        ("the value becomes an int", [("value[i])", "(int)value[i])")], "once"),
        ("only what is positive", [("    if (i < n)", "    if (i < n && value[i] > 0)")], "once"),
        (
            "one thread adds all",
            [
                (
                    "    if (i < n)\n        atomicAdd(&result[index[i]], value[i]);\n",
                    "    if (i == 0)\n        for (int k = 0; k < n; k++)\n            result[index[k]] += value[k];\n",
                )
            ],
            "thread i adds value.i.",
        ),
        ("atomicAdd_block", [("atomicAdd(", "atomicAdd_block(")], r"does not compile[\s\S]*only within a block"),
        (
            "the error of cudaMemcpyAsync is not looked at",
            [
                (
                    "CHECK_GOTO(error, cudaMemcpy(d_value, value, value_bytes, cudaMemcpyHostToDevice), cleanup)",
                    "cudaMemcpyAsync(d_value, value, value_bytes, cudaMemcpyHostToDevice)",
                )
            ],
            "each call may fail",
        ),
    ],
    "dtype": [
        ("sizeof(float)", [("sizeof(T)", "sizeof(float)")], "float64.*(expected|outside)|outside|has written"),
        ("always sizeof(double)", [("sizeof(T)", "sizeof(double)")], "crash|host code touched|nobody has written"),
        (
            "a float in the kernel",
            [("result[i] = source[index[i]]", "{ float element = source[index[i]]; result[i] = element; }")],
            "digits are lost",
        ),
        ("no guard", [("if (i < n)\n        ", "")], "outside|CudaError|reads|never"),
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
        (
            "on the CPU, behind one CUDA call",
            [
                (
                    "    error = gather(source, size, index, n, result);",
                    "    error = cudaFree(0);\n    for (int i = 0; i < n; i++)\n        result[i] = source[index[i]];",
                )
            ],
            "who computes",
        ),
        (
            "0 for NaN",
            [
                (
                    "result[i] = source[index[i]]",
                    "result[i] = source[index[i]] == source[index[i]] ? source[index[i]] : T(0)",
                )
            ],
            "computes nothing",
        ),
        (
            "with the GIL",
            [
                (
                    "        source64, result64 = x, result\n        with nogil:\n            code = gather_float64(&source64[0], size, &index[0], n, &result64[0])\n",
                    "        source64, result64 = x, result\n        code = gather_float64(&source64[0], size, &index[0], n, &result64[0])\n",
                )
            ],
            "with nogil",
        ),
    ],
    "clip": [
        ("no upper limit", [("x[i] > high ? high : x[i]", "x[i]")], "expected 1.0, came 5.0"),
        ("no guard", [("if (i < n)\n        ", "")], "outside|CudaError|reads|before an allocation"),
        ("blocks rounded down", [("(n - 1) / THREADS + 1", "n / THREADS")], "CudaError|not launched"),
        (
            "the launch is not looked at",
            [("    CHECK_GOTO(error, cudaGetLastError(), cleanup);\n", "")],
            "was the launch accepted",
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
            "by NumPy",
            [
                (
                    "        code = c_clip(&x_view[0], low, high, &result_view[0], x_view.shape[0])\n",
                    "        pass\n    result[:] = np.clip(x, low, high)\n",
                )
            ],
            "GPU or NumPy",
        ),
        (
            "assert (…, …) is always true",
            [("assert result.dtype == np.float32, result.dtype", "assert (result.dtype == np.float32, result.dtype)")],
            "returns float64",
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
        (
            "min and max drop NaN",
            [("result[i] = x[i] < low ? low : x[i] > high ? high : x[i];", "result[i] = min(max(x[i], low), high);")],
            "NaN stays NaN",
        ),
        (
            "with the GIL",
            [
                (
                    "    with nogil:\n        code = c_clip(&x_view[0], low, high, &result_view[0], x_view.shape[0])\n",
                    "    code = c_clip(&x_view[0], low, high, &result_view[0], x_view.shape[0])\n",
                )
            ],
            "with nogil",
        ),
        (
            "n becomes an int",
            [
                ("    if (n == 0)", "    int blocks = ((int)n + THREADS - 1) / THREADS;\n    if (n == 0)"),
                ("Clip<<<(n - 1) / THREADS + 1", "Clip<<<blocks"),
            ],
            "too large for an int",
        ),
        (
            "one thread does all",
            [
                (
                    "    if (i < n)\n        result[i] = x[i] < low ? low : x[i] > high ? high : x[i];",
                    "    if (i == 0)\n        for (; i < n; i++)\n            result[i] = x[i] < low ? low : x[i] > high ? high : x[i];",
                )
            ],
            "thread i writes element i",
        ),
        (
            "the error of cudaMemcpyAsync is not looked at",
            [
                (
                    "CHECK_GOTO(error, cudaMemcpy(result, d_result, bytes, cudaMemcpyDeviceToHost), cleanup)",
                    "cudaMemcpyAsync(result, d_result, bytes, cudaMemcpyDeviceToHost)",
                )
            ],
            "each call may fail",
        ),
        (
            "no subclass",
            [("not isinstance(x, np.ndarray)", "type(x) is not np.ndarray")],
            "a subclass of numpy.ndarray: expected no error",
        ),
        (
            "no dtype that was pickled",
            [("x.dtype != np.float32", "x.dtype is not np.dtype(np.float32)")],
            "pickled: expected no error",
        ),
        (
            "a list of float32",
            [
                (
                    "    if not isinstance(x, np.ndarray) or x.dtype != np.float32:",
                    "    x = np.asarray(x)\n    if x.dtype != np.float32:",
                )
            ],
            "list: expected TypeError",
        ),
        (
            "a number of type float32",
            [("not isinstance(x, np.ndarray) or x.dtype != np.float32", "getattr(x, 'dtype', None) != np.float32")],
            "float32: expected TypeError",
        ),
        ("two sizes", [("for size in 0, 1, 255, 256, 257, 1000:", "for size in 0, 1000:")], "sizes around 256"),
        (
            "compared roughly",
            [
                (
                    "np.testing.assert_array_equal(result, np.clip(before, low, high))",
                    "np.testing.assert_allclose(result, np.clip(before, low, high), atol=0.9)",
                )
            ],
            "more than high",
        ),
        ("any exception will do", [("except TypeError:", "except Exception:")], "ValueError for float64"),
        ("backwards, but not every second element", [("[::2], -2, 3)", "[::-1], -2, 3)")], "strided"),
        (
            "compared when sorted",
            [
                (
                    "np.testing.assert_array_equal(result, np.clip(before, low, high))",
                    "np.testing.assert_array_equal(np.sort(result), np.sort(np.clip(before, low, high)))",
                )
            ],
            "from the end to the beginning",
        ),
        (
            "compared at both ends",
            [
                (
                    "np.testing.assert_array_equal(result, np.clip(before, low, high))",
                    "expected = np.clip(before, low, high)\n    assert len(result) == len(expected)\n    for k in [*range(3), *range(-3, 0)] if len(result) > 5 else range(len(result)):\n        np.testing.assert_equal(result[k], expected[k])",
                )
            ],
            "in the middle",
        ),
        (
            "the size of the result is not looked at",
            [
                (
                    "np.testing.assert_array_equal(result, np.clip(before, low, high))",
                    "expected = np.clip(before, low, high)\n    for a, b in zip(result, expected):\n        np.testing.assert_equal(a, b)",
                )
            ],
            "one element too many",
        ),
    ],
}
