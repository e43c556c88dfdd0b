// The C interface of libgather_mpi.so: result = source[index] for a source of which each process of an MPI program,
// each rank, holds a slice. make and take are collective: every rank of the communicator calls them.
// They return the same code on every rank: 0; the code of a CUDA call that failed on one of them (a cudaError_t, positive;
// cudaErrorInvalidValue also for arguments that make no sense, cudaErrorUnknown if NCCL failed); or -1 if an index is out of
// range. An error of MPI itself ends the program, as is MPI's custom.
#pragma once
#include "gather.h"
#include <mpi.h>

// Which rank it was, the smallest if there are several; for -1: the index, and its position among those of that rank.
struct gather_fault {
    int rank;
    long long position, index;
};

struct gather_plan; // a source: the slice of each rank, on that rank's GPU

// This rank's slice, `elements` of 4 or 8 bytes in host or device memory, goes to its GPU; there may be none. The whole
// source is the slices one behind the other, rank by rank. `comm` has to live as long as the plan. The GPU of each process
// becomes the one of its number on its machine.
int gather_plan_make(struct gather_plan **plan, MPI_Comm comm, const void *slice, size_t elements,
                     int element_bytes, struct gather_fault *fault);

// result[i] = source[index[i]] for this rank's own N indices, of 4 or 8 bytes, into the whole source. N may be 0, and another
// one on each rank. index, result: in host memory, or on any GPU. After an error result is undefined.
int gather_plan_take(struct gather_plan *plan, const void *index, size_t N, int index_bytes,
                     enum gather_mode mode, void *result, struct gather_fault *fault);

// How many elements the whole source has.
unsigned long long gather_plan_size(const struct gather_plan *plan);

// Where the time of this rank's last take went: seconds[0] sorting the indices by their ranks, [1] their way there, [2] the
// gather, [3] the elements' way back, [4] putting them in order. Returns what carried them: "NCCL" or "MPI, by pinned memory".
const char *gather_plan_seconds(const struct gather_plan *plan, double seconds[5]);

void gather_plan_free(struct gather_plan *plan); // not collective; NULL is fine
