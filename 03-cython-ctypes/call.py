"""The smallest call by ctypes: a function of C, and what restype changes.

Build: make build
Run:   python3 call.py
"""

import ctypes

library = ctypes.CDLL("./libhello.so")
print("hello_from_gpu returns", library.hello_from_gpu())
print("without restype:", library.hello_error_name(100))
library.hello_error_name.restype = ctypes.c_char_p
print("with restype:", library.hello_error_name(100))
