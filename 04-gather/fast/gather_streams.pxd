# What gather_streams.pyx offers to other modules in Cython.
cdef int check(int code, size_t wanted=*) except -1
cdef int current_gpu() except -1
cdef int wait_for(void *stream, void *other) except -1
