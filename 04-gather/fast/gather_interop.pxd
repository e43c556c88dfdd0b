# What gather_interop.pyx offers to other modules in Cython.
from gather_arrays cimport Array

cdef Array array_of(str name, x, bint writeable=*)
cdef Array device_array_of(str name, x, bint writeable)
cdef numpy_array(str name, x)
