# gather.h for Cython; gather.pyx has it at hand without an import.
from gather_memory cimport gather_memory

cdef extern from "gather.h" nogil:
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
