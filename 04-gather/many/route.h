// What gather_mpi.c needs on the GPU: indices are sorted by the rank that has their element, and results are
// put back into their order. All arrays but `counts` are on the device; the two numbers of a bad index are the
// host's. At most 6,144 ranks: each takes 8 bytes of a block's shared memory. Every function returns 0 or a
// cudaError_t.
#pragma once
#include "gather.h"

#ifdef __cplusplus
extern "C" {
#endif

// The indices of a rank. starts[r] is the first element of rank r in the whole source, starts[ranks] its size.
struct route {
    const void *index;
    size_t N;
    int index_bytes; // 4 or 8
    enum gather_mode mode;
    const long long *starts;
    int ranks;
};

// counts[r]: how many of them are elements of rank r. *first_bad: the position of the first that is out of range, or -1;
// *bad_index: that index.
int route_count(const struct route *route, unsigned long long *counts, long long *first_bad,
                long long *bad_index);

// wanted: the indices as seen from the rank that has their element, first those of rank 0, then those of rank 1, and so on,
// with counts[r] of each. position[k]: which of the N the k-th of them was.
int route_sort(const struct route *route, const unsigned long long *counts, long long *wanted,
               size_t *position);

// result[position[k]] = got[k] for 0 <= k < N.
int route_place(const void *got, const size_t *position, void *result, size_t N, int element_bytes);

#ifdef __cplusplus
}
#endif
