// In front of MPI (LD_PRELOAD): one that takes addresses on the device, as it says itself.
#include <mpi.h>
#include <stdlib.h>

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaPointerGetAttributes(void *attributes, const void *pointer);
enum { ROOM = 1 << 26, ON_DEVICE = 2 };

static int is_on_device(const void *pointer)
{
    int attributes[16] = {0}; // the first one is the kind of memory
    return cudaPointerGetAttributes(attributes, pointer) == 0 && attributes[0] == ON_DEVICE;
}

int MPIX_Query_cuda_support(void)
{
    return 1;
}

int MPI_Alltoallv(const void *from, const int out[], const int out_at[], MPI_Datatype out_type, void *to, const int in[], const int in_at[],
                  MPI_Datatype in_type, MPI_Comm comm)
{
    char *a = malloc(ROOM), *b = malloc(ROOM);
    int ranks, code;
    if (!is_on_device(from) || !is_on_device(to))
        abort();
    MPI_Comm_size(comm, &ranks);
    for (int r = 0; r < ranks; r++)
        cudaMemcpy(a + out_at[r], (const char *)from + out_at[r], out[r], 4);
    code = PMPI_Alltoallv(a, out, out_at, out_type, b, in, in_at, in_type, comm);
    for (int r = 0; r < ranks; r++)
        cudaMemcpy((char *)to + in_at[r], b + in_at[r], in[r], 4);
    free(a), free(b);
    return code;
}
