# gather.h for Cython; gather.pyx has it at hand without an import.
from gather_memory cimport gather_memory

cdef extern from "gather.h" nogil:
    enum gather_mode:
        GATHER_RAISE, GATHER_WRAP, GATHER_CLIP
    struct gather_job:
        gather_memory source, index, result
        size_t outer, N, M, element_bytes
        int index_bytes
        gather_mode mode
        void *stream
    int gather_launch(const gather_job *job, unsigned long long *first_bad)
    int gather(const gather_job *job, size_t *first_bad)
    enum gather_number:
        GATHER_FLOAT32, GATHER_FLOAT64, GATHER_INT32, GATHER_INT64, GATHER_FLOAT16, GATHER_BFLOAT16
    int gather_add_launch(const gather_job *job, gather_number number)
    int gather_add(const gather_job *job, gather_number number, size_t *first_bad)
