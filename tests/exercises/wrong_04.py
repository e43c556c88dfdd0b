"""Wrong answers to the exercises of stage 04, those that learners make, and what the check has to say of each.

(what it is, changes of the solution or a text in place of the hole's lines, what the check says). None: a right answer.
"""

WRONG = {
    "indices": [
        ("a negative index is bad", [("        if (j < 0)\n            j += size;\n", "")], "index -1, .*taken as Python takes it"),
        ("below -size is not looked at", [("j >= 0 && j < size", "j < size")], "(before|behind|no device memory)[\\s\\S]*a bad index"),
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
        ("no guard", [("    if (i < n)\n", "")], "behind the end"),
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
        ("row and column exchanged", [("row = k / columns, column = k % columns", "row = k % columns, column = k / columns")], "In which row and column|behind the end"),
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
        ("sizeof(float)", [("sizeof(T)", "sizeof(float)")], "behind the end|nobody has written|float64"),
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
        ("no NaN", [("check(np.array([1, np.nan, 5], np.float32), -2, 3)\n", "")], "turns NaN into low"),
        ("never empty", [("in 0, 1", "in 2, 1")], "empty array"),
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
