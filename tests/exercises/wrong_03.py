"""Wrong answers to the exercises of stage 03, those that learners make, and what the check has to say of each.

(what it is, changes of the solution or a text in place of the hole's lines, what the check says). None: a right answer.
"""

TYPES = "[float_pointer, ctypes.c_size_t, ctypes.c_double, ctypes.POINTER(ctypes.c_int)]"
RELEASE = "    finally:\n        code = library.release(d_x)\n    check(code)\n"
CALL = "check(c_sum_and_difference(&x[0], &y[0], &total_view[0], &difference_view[0], x.shape[0]))"
REFUSAL = '    if x.strides[0] <= 0:\n        raise ValueError(f"x: a stride above 0 is taken, not {x.strides[0]}")\n'
DEALLOC = """    def __dealloc__(self):
        owner_free(self.d_x)  # an error is lost: nobody could catch an exception here

"""
OWN_CALLS = [
    ("    return result\n", "    return result\n\n\nprint(mean(np.ones(9), 2))\nprint(library.error_text(1))\n")
]

WRONG = {
    "signature": [
        ("no restype", [("library.mean.restype = ctypes.c_float\n", "")], "returns float in C.*if nothing is declared"),
        ("no argtypes", [(f"library.mean.argtypes = {TYPES}\n", "")], "4 arguments in C, but 0 types"),
        ("int for size_t", [("ctypes.c_size_t", "ctypes.c_int")], "in C it is size_t n, came c_int"),
        (
            "another order",
            [("ctypes.c_size_t, ctypes.c_double", "ctypes.c_double, ctypes.c_size_t")],
            "size_t n, came c_double",
        ),
        ("right: calls of one's own at the end", OWN_CALLS, None),
    ],
    "exception": [
        (
            "returned",
            [("raise CudaError", "return CudaError"), ("raise MemoryError", "return MemoryError")],
            "cudaMalloc .*came no exception",
        ),
        ("bytes", [("error_name(code).decode()", "error_name(code)"), ('name == "', 'name == b"')], "as str"),
        (
            "no finally",
            [("    try:\n", "    if True:\n"), ("    finally:\n        code", "    if True:\n        code")],
            "the launch of Fill.*memory stays allocated",
        ),
        ("the code of release is lost", [("    check(code)\n", "")], "cudaFree .*came no exception"),
        (
            "bytes for elements",
            [("library.fill(d_x, n,", "library.fill(d_x, result.nbytes,")],
            "behind the end.*\n.*came CudaError 700",
        ),
        ("right: checked in finally", [(RELEASE, "    finally:\n        check(library.release(d_x))\n")], None),
    ],
    "two_results": [
        ("swapped in the return", [("return total, difference", "return difference, total")], r"the first result, \(x \+ y\)\[0\]: expected"),
        ("the code is not looked at", [(CALL, CALL[6:-1])], "cudaMalloc .*came no exception"),
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
        (
            "a copy",
            [("cdef float[::1] result_view", "x = np.ascontiguousarray(x)\n    cdef float[::1] result_view")],
            "not of a copy",
        ),
        ("elements, not bytes", [("x.strides[0], x.shape", "x.strides[0] // 4, x.shape")], "stride in C: expected 20, came 5"),
        ("an int", [("&x[0], x.strides[0],", "&x[0], <int>x.strides[0],")], "came 8\n.*type large enough"),
        ("no refusal", [(REFUSAL, "")], "a stride of -4: expected ValueError, came|VALUE"),
        ("right: a call of one's own at the end", [("    # END OF YOUR LINES\n    return result\n", "    # END OF YOUR LINES\n    return result\n\n\nprint(doubled(np.ones(9, 'f')[::2]))\n")], None),
    ],
    "owner": [
        ("no __dealloc__", [(DEALLOC, "")], "the launch of Fill.*stays allocated|has ended, without close"),
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
}
