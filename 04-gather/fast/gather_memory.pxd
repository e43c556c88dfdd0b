# gather_memory.h for Cython.
cdef extern from "gather_memory.h" nogil:
    struct gather_memory:
        void *host
        void *device
    int gather_find(gather_memory *memory, int *number, const void *pointer, size_t bytes)
    int gather_device_allocate(void **pointer, size_t bytes)
    int gather_device_free(void *pointer)
    int gather_pinned_allocate(void **pointer, size_t bytes)
    int gather_pinned_free(void *pointer)
    int gather_pin(void *pointer, size_t bytes)
    int gather_unpin(void *pointer)
    int gather_copy(void *to, const void *from_, size_t bytes, void *stream)
    int gather_current_device(int *number)
    int gather_use_device(int number, int *before)
    int gather_wait_for(void *stream, void *other)
    const char *gather_error_name(int code)
    const char *gather_error_text(int code)

cdef enum:
    INVALID_VALUE = 1  # cudaErrorInvalidValue
