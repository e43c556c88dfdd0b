"""Wrong answers to the exercises of stage 03: what is changed in the solution, and what the check has to say."""

SIGNATURE = "[float_pointer, ctypes.c_size_t, ctypes.c_double, ctypes.POINTER(ctypes.c_int)]"
CHECK = """    if code != 0:
        name, text = library.error_name(code).decode(), library.error_text(code).decode()
        if name == "cudaErrorMemoryAllocation":
            raise MemoryError(text)
        raise CudaError(code, name, text)
"""
TRY = """    try:
        check(library.fill(d_x, n, value))
        check(library.read_back(result.ctypes.data, d_x, n))
    finally:
        library.release(d_x)
"""
ARRAYS = """    total = np.empty(x.shape[0], np.float32)
    difference = np.empty(x.shape[0], np.float32)
"""
REFUSAL = """    if x.strides[0] <= 0:
        raise ValueError(f"x: a stride above 0 is taken, not {x.strides[0]}")
"""
CALL = "check(c_doubled(&x[0], x.strides[0], x.shape[0], &result_view[0]))"
CINIT = """        self.n = n
        check(owner_allocate(&self.d_x, n))
        check(owner_fill(self.d_x, n, value))
"""
DEALLOC = """    def __dealloc__(self):
        owner_free(self.d_x)  # an error is lost: nobody could catch an exception here
"""
CLOSE = """        cdef float *d_x = self.d_x
        self.d_x = NULL
        check(owner_free(d_x))
"""

WRONG = {
    "signature": [
        ("no argtypes", [(f"library.mean.argtypes = {SIGNATURE}\n", "")], "mean.argtypes: nothing is declared"),
        ("no restype", [("library.mean.restype = ctypes.c_float\n", "")], "returns float in C.*if nothing is declared"),
        ("None is returned", [("restype = ctypes.c_float", "restype = None")], "returns float in C, in ctypes None"),
        ("float for double", [("ctypes.c_double", "ctypes.c_float")], "in C it is double scale, came c_float"),
        ("int for size_t", [("ctypes.c_size_t", "ctypes.c_int")], "in C it is size_t n, came c_int"),
        ("an int for the pointer", [("[float_pointer, ", "[ctypes.c_int, ")], "which of C's arguments are pointers"),
        (
            "doubles behind the pointer",
            [("[float_pointer, ", "[ctypes.POINTER(ctypes.c_double), ")],
            "which of C's arguments are pointers",
        ),
        (
            "an int for the pointer to one",
            [("ctypes.POINTER(ctypes.c_int)]", "ctypes.c_int]")],
            "which of C's arguments are pointers",
        ),
        (
            "the last argument is forgotten",
            [(", ctypes.POINTER(ctypes.c_int)]", "]")],
            "has 3 types, the C function has 4",
        ),
        (
            "n and scale swapped",
            [("ctypes.c_size_t, ctypes.c_double", "ctypes.c_double, ctypes.c_size_t")],
            "size_t n, came c_double",
        ),
        (
            "the type of the result in argtypes too",
            [("argtypes = [float_pointer", "argtypes = [ctypes.c_float, float_pointer")],
            "has 5 types",
        ),
        (
            "error_text: no argtypes",
            [("library.error_text.argtypes = [ctypes.c_int]\n", "")],
            "error_text.argtypes: nothing",
        ),
        (
            "error_text: no restype",
            [("library.error_text.restype = ctypes.c_char_p\n", "")],
            r"returns const char \* in C",
        ),
        (
            "strings",
            [(SIGNATURE, '["const float *", "size_t", "double", "int *"]')],
            "line 18: ctypes does not take .*\n.*a list of ctypes' types",
        ),
        ("the type is called", [("ctypes.c_double, ", "ctypes.c_double(), ")], r"without \(\)"),
        (
            "a function of its own",
            [
                (
                    f"library.mean.argtypes = {SIGNATURE}\nlibrary.mean.restype = ctypes.c_float\n",
                    f'library.mean = ctypes.CFUNCTYPE(ctypes.c_float, *{SIGNATURE})(("mean", library))\n',
                )
            ],
            None,
        ),
    ],
    "exception": [
        (
            "returned",
            [("raise CudaError", "return CudaError"), ("raise MemoryError", "return MemoryError")],
            "came no exception",
        ),
        ("printed", [("raise CudaError(code, name, text)", "print(code, name, text)")], "came no exception"),
        (
            "printed and raised",
            [("        raise CudaError", "        print(name)\n        raise CudaError")],
            "somebody prints",
        ),
        ("sys.exit", [("raise CudaError(code, name, text)", "raise SystemExit(name)")], "came SystemExit"),
        ("os._exit", [("raise CudaError(code, name, text)", "os._exit(1)")], "ends Python.*exit status 1"),
        ("os._exit where there is no room", [("raise MemoryError(text)", "os._exit(0)")], "ends Python"),
        (
            "a RuntimeError",
            [("raise CudaError(code, name, text)", "raise RuntimeError(code, name, text)")],
            "came RuntimeError",
        ),
        ("all MemoryError", [('        if name == "cudaErrorMemoryAllocation":\n    ', "")], "came MemoryError"),
        (
            "all CudaError",
            [('        if name == "cudaErrorMemoryAllocation":\n            raise MemoryError(text)\n', "")],
            "expected MemoryError, came CudaError",
        ),
        ("bytes", [("error_name(code).decode()", "error_name(code)"), ('name == "', 'name == b"')], "as str"),
        (
            "the text twice",
            [("CudaError(code, name, text)", "CudaError(code, text, text)")],
            "name and text come from the library",
        ),
        ("0 too", [("if code != 0:", "if code >= 0:")], r"check\(0\): expected no exception"),
        ("only small codes", [("if code != 0:", "if 0 < code < 128:")], "came no exception"),
        (
            "except and pass",
            [
                (
                    CHECK,
                    CHECK.replace("    if code", "    try:\n      if code").replace("\n        ", "\n            ")
                    + "    except Exception:\n        pass\n",
                )
            ],
            "came no exception",
        ),
        (
            "no finally",
            [(TRY, TRY.replace("    try:\n", "").replace("    finally:\n", "").replace("        ", "    "))],
            "d_x is not released",
        ),
        (
            "except, and the error is lost",
            [(TRY, TRY.replace("finally:", "except CudaError:"))],
            "d_x is not released|came no exception",
        ),
        (
            "released after an error only",
            [(TRY, TRY.replace("finally:", "except BaseException:") + "        raise\n")],
            "d_x is not released",
        ),
        (
            "released twice",
            [(TRY, TRY.replace("    finally:", "        library.release(d_x)\n    finally:"))],
            "not allocated, or not any more",
        ),
        (
            "released before it is read",
            [
                (
                    TRY,
                    TRY.replace(
                        "        check(library.read", "        library.release(d_x)\n        check(library.read"
                    ),
                )
            ],
            "is released already",
        ),
        ("never released", [("library.release(d_x)", "pass")], "d_x is not released"),
        (
            "the code of fill is lost",
            [("check(library.fill(d_x, n, value))", "library.fill(d_x, n, value)")],
            "library.fill returns 2.*: expected MemoryError, came CudaError: CUDA error 999",
        ),
        (
            "the code of read_back is lost",
            [("check(library.read_back(result.ctypes.data, d_x, n))", "library.read_back(result.ctypes.data, d_x, n)")],
            "library.read_back returns 2: expected MemoryError, came no exception",
        ),
        (
            "return in finally",
            [(TRY, TRY + "        return result\n")],
            "library.fill returns 2.*: expected MemoryError, came no exception",
        ),
        (
            "not read",
            [("        check(library.read_back(result.ctypes.data, d_x, n))\n", "")],
            r"filled\(3, .*expected",
        ),
        (
            "except Exception",
            [(TRY, TRY.replace("finally:", "except Exception:") + "        raise\n    library.release(d_x)\n")],
            "KeyboardInterrupt: d_x is not released",
        ),
        (
            "released before the code is looked at",
            [
                (
                    TRY,
                    """    code = library.fill(d_x, n, value) or library.read_back(result.ctypes.data, d_x, n)
    library.release(d_x)
    check(code)
""",
                )
            ],
            "ArgumentError: d_x is not released",
        ),
        (
            "the larger code",
            [
                (
                    TRY,
                    """    try:
        check(max(library.fill(d_x, n, value), library.read_back(result.ctypes.data, d_x, n)))
    finally:
        library.release(d_x)
""",
                )
            ],
            "library.fill returns 2.*came CudaError.*\n.*at that alone",
        ),
        (
            "one element on the GPU, the others by NumPy",
            [
                ("fill(d_x, n, value)", "fill(d_x, 1, value)"),
                ("    finally:\n", "        result[:] = result[0]\n    finally:\n"),
                ("read_back(result.ctypes.data, d_x, n)", "read_back(result.ctypes.data, d_x, 1)"),
            ],
            "NumPy fills none",
        ),
        (
            "the library's function has a second name",
            [
                ("def filled", "release = library.release\n\n\ndef filled"),
                ("        library.release(d_x)", "        release(d_x)"),
            ],
            None,
        ),
        (
            "a MemoryError of its own",
            [("raise MemoryError(text)", "raise type('GpuMemoryError', (MemoryError,), {})(text)")],
            None,
        ),
    ],
    "two_results": [
        ("one array is returned twice", [("return total, difference", "return total, total")], "same memory"),
        (
            "swapped in the return",
            [("return total, difference", "return difference, total")],
            r"the first result, \(x \+ y\)\[0\]: expected",
        ),
        ("x and y swapped", [("&x[0], &y[0]", "&y[0], &x[0]")], r"the second result, \(x - y\)\[0\]: expected"),
        (
            "the code is not looked at",
            [
                (
                    "check(c_sum_and_difference(&x[0], &y[0], &total_view[0], &difference_view[0], x.shape[0]))",
                    "c_sum_and_difference(&x[0], &y[0], &total_view[0], &difference_view[0], x.shape[0])",
                )
            ],
            "without a GPU.*came no exception",
        ),
        ("float64", [(ARRAYS, ARRAYS.replace(", np.float32", ""))], "Buffer dtype mismatch|came float64"),
        (
            "float64, converted",
            [("return total, difference", "return total.astype(float), difference.astype(float)")],
            "expected float32 .*came float64",
        ),
        ("no elements", [("    if x.shape[0] > 0:\n    ", "")], "no elements: is C called"),
        (
            "None for no elements",
            [("    if x.shape[0] > 0:\n    ", "    if x.shape[0] == 0:\n        return None\n")],
            "of 0 elements: expected two arrays, came None",
        ),
        (
            "into x",
            [
                ("const float[::1] x not", "float[::1] x not"),
                ("    total = np.empty(x.shape[0], np.float32)", "    total = np.asarray(x)"),
            ],
            "in the memory of x",
        ),
        (
            "the memoryviews",
            [("return total, difference", "return total_view, difference_view")],
            "expected a NumPy array, came _memoryviewslice",
        ),
        (
            "one array of two rows",
            [("return total, difference", "return np.stack([total, difference])")],
            "expected two arrays",
        ),
        (
            "one element less",
            [("&difference_view[0], x.shape[0]", "&difference_view[0], x.shape[0] - 1")],
            r"\(x \+ y\)\[2\]: expected .*, came -7777",
        ),
        (
            "two halves of one array",
            [
                (
                    ARRAYS,
                    "    both = np.empty(2 * x.shape[0], np.float32)\n    total, difference = both[: x.shape[0]], both[x.shape[0] :] if len(both) > 600 else both[1: x.shape[0] + 1]\n",
                )
            ],
            "same memory",
        ),
        (
            "computed by NumPy, after a call of C",
            [("return total, difference", "return total, np.subtract(x, y)")],
            r"the second result\[0\]: expected .*\n.*nothing from NumPy",
        ),
        (
            "arrays that are kept",
            [
                ("def sum_and_difference", "kept = {}\n\n\ndef sum_and_difference"),
                (
                    ARRAYS,
                    "    n = x.shape[0]\n    total, difference = kept.setdefault(n, (np.empty(n, np.float32), np.empty(n, np.float32)))\n",
                ),
            ],
            "memory of an earlier one",
        ),
        (
            "one array twice for no elements",
            [
                (
                    "    if x.shape[0] > 0:",
                    "    if x.shape[0] == 0:\n        return total, total\n    if x.shape[0] > 0:",
                )
            ],
            "of 0 elements: both results are the same memory",
        ),
    ],
    "strided": [
        (
            "a copy",
            [("cdef float[::1] result_view", "x = np.ascontiguousarray(x)\n    cdef float[::1] result_view")],
            "an address that is not that of x",
        ),
        (
            "elements, not bytes",
            [("&x[0], x.strides[0],", "&x[0], x.strides[0] // sizeof(float),")],
            "C got the stride 3, expected 12",
        ),
        ("the stride ignored", [("&x[0], x.strides[0],", "&x[0], sizeof(float),")], "C got the stride 4, expected 12"),
        (
            "the size of the base array",
            [("x.strides[0], x.shape[0],", "x.strides[0], x.base.base.shape[0],")],
            "C got the number 30",
        ),
        ("no refusal", [(REFUSAL, "")], "a stride of -4: expected ValueError, came"),
        (
            "no refusal of 0",
            [("x.strides[0] <= 0", "x.strides[0] < 0")],
            "a stride of 0: expected ValueError, came CudaError",
        ),
        ("the wrong exception", [("raise ValueError", "raise TypeError")], "expected ValueError, came TypeError"),
        ("only side by side", [("x.strides[0] <= 0", "x.strides[0] != 4")], "of 10 elements: came ValueError"),
        (
            "element by element",
            [
                (
                    f"    {CALL}",
                    "    for i in range(x.shape[0]):\n        check(c_doubled(&x[i], 4, 1, &result_view[i]))",
                )
            ],
            "called 10 times",
        ),
        ("computed by NumPy", [(f"    {CALL}", "    result[:] = 2 * np.asarray(x)")], "called 0 times"),
        (
            "doubled twice",
            [("&result_view[0]))", "&result_view[0]))\n    result *= 2")],
            "the result.0.: expected .*\n.*where does the result go",
        ),
        (
            "the result into x",
            [("&result_view[0]))", "<float *>&x[0]))\n    result[:] = np.asarray(x)[: x.shape[0]]")],
            "not what it was",
        ),
        ("the code is not looked at", [(CALL, CALL[6:-1])], "what the C function returns"),
        (
            "refused after the call",
            [(REFUSAL, ""), (CALL, f"cdef int code = {CALL[6:-1]}\n{REFUSAL}    check(code)")],
            "a stride of -4: the C function was called",
        ),
        (
            "an int",
            [("&x[0], x.strides[0],", "&x[0], <int>x.strides[0],")],
            "C got the stride 8, .*\n.*fit in its type",
        ),
        ("whole floats", [("&x[0], x.strides[0],", "&x[0], x.strides[0] // 4 * 4,")], "C got the stride 4, expected 5"),
        (
            "only multiples of 4",
            [("x.strides[0] <= 0", "x.strides[0] <= 0 or x.strides[0] % 4")],
            "came ValueError: .*not 5",
        ),
    ],
    "owner": [
        ("no __dealloc__", [(DEALLOC, "")], "has ended, without close"),
        ("close does nothing", [(CLOSE, "        pass\n")], r"^  wrong    close\(\): .*came 1"),
        (
            "the pointer is not set to NULL",
            [("        self.d_x = NULL\n", "")],
            "how do a second close and __dealloc__ know",
        ),
        (
            "set to NULL before it is freed",
            [("        check(owner_free(d_x))", "        check(owner_free(self.d_x))")],
            r"^  wrong    close\(\): .*came 1",
        ),
        ("allocated in __init__", [("def __cinit__", "def __init__")], "__init__ may run twice"),
        (
            "allocated in __init__, freed before",
            [
                (
                    "def __cinit__(self, size_t n, float value):\n",
                    "def __init__(self, size_t n, float value):\n        owner_free(self.d_x)\n",
                )
            ],
            "only if a subclass calls it",
        ),
        (
            "in self too late",
            [
                (
                    CINIT,
                    "        cdef float *d_x\n        self.n = n\n        check(owner_allocate(&d_x, n))\n        check(owner_fill(d_x, n, value))\n        self.d_x = d_x\n",
                )
            ],
            "has raised its exception: .*came 3",
        ),
        (
            "the code of fill is lost",
            [("check(owner_fill(self.d_x, n, value))", "owner_fill(self.d_x, n, value)")],
            r"Filled\(5, NaN\): expected CudaError, came no exception",
        ),
        (
            "the code of allocate is lost",
            [("check(owner_allocate(&self.d_x, n))", "owner_allocate(&self.d_x, n)")],
            "the code that owner_allocate returns",
        ),
        (
            "get after close",
            [('        if self.d_x == NULL:\n            raise ValueError("this Filled is closed")\n', "")],
            r"get\(\) after close\(\): expected ValueError, came CudaError",
        ),
        (
            "a second close is refused",
            [
                (
                    "        self.d_x = NULL\n        check",
                    '        if d_x == NULL:\n            raise ValueError("closed")\n        self.d_x = NULL\n        check',
                )
            ],
            r"a second close\(\): came ValueError",
        ),
        ("n is forgotten", [("        self.n = n\n", "")], "self.n|expected"),
        (
            "freed twice in the constructor",
            [
                (
                    "        check(owner_fill(self.d_x, n, value))\n",
                    "        try:\n            check(owner_fill(self.d_x, n, value))\n        except CudaError:\n            owner_free(self.d_x)\n            raise\n",
                )
            ],
            "not any more",
        ),
        (
            "a global pointer",
            [
                ("cdef class Filled", "cdef float *shared = NULL\n\n\ncdef class Filled"),
                (
                    CINIT,
                    "        global shared\n"
                    + CINIT.replace("&self.d_x", "&shared")
                    .replace("check(owner_fill(", "self.d_x = shared\n        check(owner_fill(")
                    .replace(
                        "check(owner_allocate(&shared, n))",
                        "if shared == NULL:\n            check(owner_allocate(&shared, n))",
                    ),
                ),
            ],
            "memory of its own",
        ),
        (
            "a flag that __dealloc__ does not look at",
            [
                ("    cdef size_t n\n", "    cdef size_t n\n    cdef bint closed\n"),
                ("        self.d_x = NULL\n", "        self.closed = True\n"),
                ("if self.d_x == NULL:", "if self.closed:"),
                (
                    "        cdef float *d_x = self.d_x\n",
                    "        cdef float *d_x = NULL if self.closed else self.d_x\n",
                ),
            ],
            "the end of an object that was closed",
        ),
        (
            "__dealloc__ calls close",
            [(DEALLOC, "    def __dealloc__(self):\n        self.close()\n")],
            r"self.close\(\) and __del__ may be those of a subclass",
        ),
        (
            "__del__",
            [(DEALLOC, DEALLOC.replace("__dealloc__", "__del__"))],
            r"self.close\(\) and __del__ may be those of a subclass",
        ),
        (
            "the code of free is lost",
            [("check(owner_free(d_x))", "owner_free(d_x)")],
            "owner_free fails: expected CudaError, came no exception",
        ),
        (
            "set to NULL after the code is looked at",
            [(CLOSE, "        check(owner_free(self.d_x))\n        self.d_x = NULL\n")],
            "after the first has raised CudaError: came CudaError",
        ),
    ],
}
