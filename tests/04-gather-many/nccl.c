// NCCL for the stand-in, as libnccl.so.2 and in front of all else (LD_PRELOAD): it carries by MPI, and each process finds as many
// GPUs as it asks for. NCCL_FAIL=ncclRecv: that function fails on rank 1. At the end it says on stderr which GPU, and what was started and ended.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
enum { MOST = 64, DEFAULT = 4 };

struct ncclComm {
    MPI_Comm comm;
};
struct id {
    char bytes[128];
};
static struct part {
    void *device, *host;
    size_t bytes;
    MPI_Request request;
} parts[MOST];
static int open, started, ended, sent;
static __thread int gpu; // of each thread the first one, as CUDA has it

static int fails(const char *name)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (gpu != rank) // not that of this communicator
        return 4;
    return rank == 1 && getenv("NCCL_FAIL") && strcmp(getenv("NCCL_FAIL"), name) == 0 ? 3 : 0;
}

int cpu_cudaGetDeviceCount(int *count)
{
    *count = 8;
    return 0;
}

int cpu_cudaGetDevice(int *device)
{
    *device = gpu;
    return 0;
}

int cpu_cudaSetDevice(int device)
{
    gpu = device;
    return device < 8 ? 0 : 101;
}

const void *on_first_gpu; // indices that the kernels of the other GPUs do not reach

int route_count(const void **route, void *counts, void *first_bad, void *bad_index)
{
    int (*count)(const void **, void *, void *, void *);
    *(void **)&count = dlsym(dlopen("libroute.so", RTLD_NOW | RTLD_NOLOAD), "route_count");
    return gpu != 0 && *route == on_first_gpu ? 1 : count(route, counts, first_bad, bad_index);
}

int ncclGetUniqueId(struct id *id)
{
    memset(id, 7, sizeof *id);
    return 0;
}

int ncclCommInitRank(struct ncclComm **comm, int ranks, struct id id, int rank)
{
    int size, own;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    for (size_t i = 0; i < sizeof id; i++)
        if (id.bytes[i] != 7)
            return 4;
    if (fails("ncclCommInitRank") || ranks != size || rank != own)
        return 3;
    *comm = malloc(sizeof **comm);
    started++;
    return 0;
}

int ncclCommDestroy(struct ncclComm *comm)
{
    free(comm);
    ended++;
    return 0;
}

int ncclGroupStart(void)
{
    open = 0;
    return 0;
}

// One rank has at most one message for another in a group, so the tag is the same for all.
int ncclSend(const void *from, size_t bytes, int type, int rank, struct ncclComm *comm, void *stream)
{
    struct part *p = &parts[open++];
    (void)type, (void)comm, (void)stream;
    *p = (struct part){NULL, malloc(bytes), bytes, MPI_REQUEST_NULL};
    cudaMemcpy(p->host, from, bytes, DEFAULT);
    sent++;
    return MPI_Isend(p->host, (int)bytes, MPI_BYTE, rank, 7, MPI_COMM_WORLD, &p->request) || fails("ncclSend");
}

int ncclRecv(void *to, size_t bytes, int type, int rank, struct ncclComm *comm, void *stream)
{
    struct part *p = &parts[open++];
    (void)type, (void)comm, (void)stream;
    *p = (struct part){to, malloc(bytes), bytes, MPI_REQUEST_NULL};
    return MPI_Irecv(p->host, (int)bytes, MPI_BYTE, rank, 7, MPI_COMM_WORLD, &p->request) || fails("ncclRecv");
}

int ncclGroupEnd(void)
{
    for (int i = 0; i < open; i++) {
        MPI_Wait(&parts[i].request, MPI_STATUS_IGNORE);
        if (parts[i].device)
            cudaMemcpy(parts[i].device, parts[i].host, parts[i].bytes, DEFAULT);
        free(parts[i].host);
    }
    return fails("ncclGroupEnd");
}

__attribute__((destructor)) static void say(void)
{
    if (started || ended)
        fprintf(stderr, "NCCL: on GPU %d, started %d, ended %d, %s\n", gpu, started, ended, sent ? "sent" : "nothing sent");
}
