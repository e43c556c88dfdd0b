# gather.cuh for Cython; gather.pyx has it at hand without an import.
cdef extern from "gather.cuh" nogil:
    struct gather_memory:
        void *host
        void *device
    int gather_find(gather_memory *memory, int *number, const void *pointer, size_t bytes)

    enum gather_mode:
        GATHER_RAISE, GATHER_WRAP, GATHER_CLIP
    struct gather_job:
        gather_memory source, index, result
        size_t N, M
        int element_bytes, index_bytes
        gather_mode mode
        void *stream
    int gather_launch(const gather_job *job, unsigned long long *first_bad)
    int gather(const gather_job *job, size_t *first_bad)

    int gather_device_allocate(void **pointer, size_t bytes)
    int gather_device_free(void *pointer)
    int gather_pinned_allocate(void **pointer, size_t bytes)
    int gather_pinned_free(void *pointer)
    int gather_pin(void *pointer, size_t bytes)
    int gather_unpin(void *pointer)
    int gather_copy(void *to, const void *from_, size_t bytes, void *stream)

    int gather_current_device(int *number)
    int gather_wait_for(void *stream, void *other)
    const char *gather_error_name(int code)
    const char *gather_error_text(int code)
