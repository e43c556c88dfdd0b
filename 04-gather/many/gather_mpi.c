// A gather over MPI: each index goes to the rank that has its element, and the element comes back.
// Build: make libgather_mpi.so
// Run:   mpirun -n 4 ./many_c, or from Python: see many.pyx
#include "gather_mpi.h"
#include "route.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#ifndef ROOMS
#define ROOMS (16 << 20) // bytes that a rank sends, or receives, in one round
#endif

enum { INVALID_VALUE = 1, UNKNOWN_ERROR = 999 }; // the latter for NCCL, which has its own codes

typedef unsigned long long count; // of elements: 64 bits, where MPI's own are ints

struct gather_plan {
    MPI_Comm comm;
    int rank, ranks, element_bytes;
    int device;          // its number
    void *slice;         // on the device
    long long *starts;   // ranks + 1: where each slice begins in the whole source
    long long *d_starts; // the same on the device
    count *out, *in;     // for each rank: how many indices go there, how many come from there
    int *sizes;          // 4 times ranks, for MPI: bytes and offsets in `sent`, then in `received`
    char *sent, *received; // what MPI reads and writes: room for each rank
    size_t room;           // bytes
    char *work;            // on the device: what a call needs, kept for the next one
    size_t work_bytes;
    int is_direct;         // MPI takes addresses on the device
    struct ncclComm *nccl; // if it is there, it carries, and MPI does not; it belongs to comm
    double seconds[5];
};

// ---- NCCL, NVIDIA's library for data between GPUs, opened if it is there

struct nccl_id {
    char bytes[128];
};
static int (*ncclGetUniqueId)(struct nccl_id *id);
static int (*ncclCommInitRank)(struct ncclComm **comm, int ranks, struct nccl_id id, int rank);
static int (*ncclCommDestroy)(struct ncclComm *comm);
static int (*ncclGroupStart)(void);
static int (*ncclGroupEnd)(void);
static int (*ncclSend)(const void *from, size_t bytes, int type, int rank, struct ncclComm *comm,
                       void *stream);
static int (*ncclRecv)(void *to, size_t bytes, int type, int rank, struct ncclComm *comm,
                       void *stream);

static int find_nccl(void)
{
    const char *carrier = getenv("GATHER_CARRIER"); // mpi: not NCCL
    void *library =
        carrier && strcmp(carrier, "mpi") == 0 ? NULL : dlopen("libnccl.so.2", RTLD_NOW);
    if (!library)
        return 0;
    struct {
        void *pointer;
        const char *name;
    } functions[] = {{&ncclGetUniqueId, "ncclGetUniqueId"},
                     {&ncclCommInitRank, "ncclCommInitRank"},
                     {&ncclCommDestroy, "ncclCommDestroy"},
                     {&ncclGroupStart, "ncclGroupStart"},
                     {&ncclGroupEnd, "ncclGroupEnd"},
                     {&ncclSend, "ncclSend"},
                     {&ncclRecv, "ncclRecv"}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (!symbol)
            return 0;
        memcpy(functions[i].pointer, &symbol, sizeof symbol);
    }
    return 1;
}

static int nccl_key = MPI_KEYVAL_INVALID, end_key = MPI_KEYVAL_INVALID;

static int end_nccl(MPI_Comm comm, int key, void *nccl, void *unused)
{
    (void)comm, (void)key, (void)unused;
    ncclCommDestroy(nccl);
    return MPI_SUCCESS;
}

// MPI_Finalize ends what belongs to MPI_COMM_SELF, and not always what belongs to MPI_COMM_WORLD.
static int end_world(MPI_Comm comm, int key, void *unused, void *unused2)
{
    void *nccl;
    int is_known;
    (void)comm, (void)key, (void)unused, (void)unused2;
    MPI_Comm_get_attr(MPI_COMM_WORLD, nccl_key, &nccl, &is_known);
    return is_known ? MPI_Comm_delete_attr(MPI_COMM_WORLD, nccl_key) : MPI_SUCCESS;
}

// With NCCL only if all ranks have it, and each its own GPU. To start it takes some tenths of a second: it stays with the
// communicator (an attribute, as MPI calls it), for the next plan, and ends with it.
static int start_nccl(struct gather_plan *plan, int has_own_gpu)
{
    struct nccl_id id;
    int is_known, is_there = has_own_gpu && plan->ranks > 1 && find_nccl();
    MPI_Allreduce(MPI_IN_PLACE, &is_there, 1, MPI_INT, MPI_MIN, plan->comm);
    if (!is_there)
        return 0;
    if (nccl_key == MPI_KEYVAL_INVALID) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_nccl, &nccl_key, NULL);
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_world, &end_key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, end_key, NULL);
    }
    MPI_Comm_get_attr(plan->comm, nccl_key, &plan->nccl, &is_known);
    if (is_known)
        return 0;
    int code = plan->rank == 0 ? ncclGetUniqueId(&id) : 0;
    MPI_Bcast(&code, 1, MPI_INT, 0, plan->comm);
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, plan->comm);
    if (code == 0)
        code = ncclCommInitRank(&plan->nccl, plan->ranks, id, plan->rank);
    int failed = code != 0; // all ranks keep it, or none
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, plan->comm);
    if (!failed)
        MPI_Comm_set_attr(plan->comm, nccl_key, plan->nccl);
    else if (code == 0)
        ncclCommDestroy(plan->nccl);
    return code == 0 ? 0 : UNKNOWN_ERROR;
}

// ---- All ranks go on, or none

// What went wrong on one rank is known to all: the code of the first that failed, or 0.
static int agree(struct gather_plan *plan, int code, struct gather_fault *fault)
{
    long long mine[3] = {code, fault->position, fault->index};
    long long *all = malloc(plan->ranks * sizeof mine);
    if (!all) // nothing else is left to do
        MPI_Abort(plan->comm, 1);
    MPI_Allgather(mine, 3, MPI_LONG_LONG, all, 3, MPI_LONG_LONG, plan->comm);
    code = 0;
    for (int r = 0; r < plan->ranks && code == 0; r++) {
        code = (int)all[3 * r];
        *fault = (struct gather_fault){r, all[3 * r + 1], all[3 * r + 2]};
    }
    free(all);
    return code;
}

// ---- Elements go from rank to rank

// What MPI is told of a round, which begins with element `done` of each rank: how many bytes, and in which room.
static void cut(const struct gather_plan *plan, const count *counts, size_t bytes, count done,
                int *sizes, int *places)
{
    for (int r = 0; r < plan->ranks; r++) {
        count rest = counts[r] > done && r != plan->rank ? counts[r] - done : 0,
              most = plan->room / bytes;
        sizes[r] = (int)((rest < most ? rest : most) * bytes);
        places[r] = (int)(r * plan->room);
    }
}

// Copies that between the rooms and the elements, which lie rank by rank.
static int carry(const struct gather_plan *plan, char *rooms, char *elements, const count *counts,
                 size_t bytes, count done, const int *sizes, int is_out)
{
    int code = 0;
    for (int r = 0; r < plan->ranks && code == 0; r++) {
        char *room = rooms + r * plan->room, *there = elements + done * bytes;
        if (sizes[r] > 0)
            code = is_out ? gather_copy(room, there, sizes[r], NULL)
                          : gather_copy(there, room, sizes[r], NULL);
        elements += counts[r] * bytes;
    }
    if (code != 0) // MPI uses the rooms next: what is under way comes first
        gather_copy(NULL, NULL, 0, NULL);
    return code;
}

// out[r] elements at `from` for each rank r become in[r] elements at `to` from each rank r. In rounds: MPI counts with int,
// and the rooms are small. After an error it goes on, since the others wait.
static int exchange(const struct gather_plan *plan, char *from, const count *out, char *to,
                    const count *in, size_t bytes)
{
    int *send = plan->sizes, *send_at = send + plan->ranks, *get = send_at + plan->ranks,
        *get_at = get + plan->ranks;
    count before_from = 0, before_to = 0, own = out[plan->rank], most = 0;
    for (int r = 0; r < plan->ranks; r++) {
        before_from += r < plan->rank ? out[r] : 0;
        before_to += r < plan->rank ? in[r] : 0;
        if (r != plan->rank && out[r] > most)
            most = out[r];
    }
    int code =
        own ? gather_copy(to + before_to * bytes, from + before_from * bytes, own * bytes, NULL)
            : 0;
    if (plan->nccl) {
        ncclGroupStart();
        for (int r = 0; r < plan->ranks; from += out[r] * bytes, to += in[r] * bytes, r++) {
            if (r != plan->rank && out[r] &&
                ncclSend(from, out[r] * bytes, 0, r, plan->nccl, NULL) != 0)
                code = UNKNOWN_ERROR;
            if (r != plan->rank && in[r] &&
                ncclRecv(to, in[r] * bytes, 0, r, plan->nccl, NULL) != 0)
                code = UNKNOWN_ERROR;
        }
        if (ncclGroupEnd() != 0)
            code = UNKNOWN_ERROR;
        return code ? code : gather_copy(NULL, NULL, 0, NULL); // waits
    }
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, plan->comm);
    for (count done = 0; done < most; done += plan->room / bytes) {
        cut(plan, out, bytes, done, send, send_at);
        cut(plan, in, bytes, done, get, get_at);
        if (code == 0)
            code = carry(plan, plan->sent, from, out, bytes, done, send, 1);
        MPI_Alltoallv(plan->sent, send, send_at, MPI_BYTE, plan->received, get, get_at, MPI_BYTE,
                      plan->comm);
        if (code == 0)
            code = carry(plan, plan->received, to, in, bytes, done, get, 0);
    }
    return code;
}

// ---- The interface

static int is_array(size_t elements, int bytes) // one that can be
{
    return (bytes == 4 || bytes == 8) && elements <= PTRDIFF_MAX / 8;
}

void gather_plan_free(struct gather_plan *plan)
{
    if (!plan)
        return;
    gather_device_free(plan->work);
    gather_device_free(plan->slice);
    gather_device_free(plan->d_starts);
    for (char **rooms = (char *[]){plan->sent, plan->received, NULL}; *rooms; rooms++)
        plan->is_direct ? gather_device_free(*rooms) : gather_pinned_free(*rooms);
    free(plan->starts);
    free(plan->out);
    free(plan->sizes);
    free(plan);
}

// Work memory of so many bytes. To get and to free it in each call would take longer than the gather.
static int reserve(struct gather_plan *plan, size_t bytes)
{
    if (bytes <= plan->work_bytes)
        return 0;
    gather_device_free(plan->work); // first: there may be no room for both
    plan->work = NULL;
    plan->work_bytes = 0;
    int code = gather_device_allocate((void **)&plan->work, bytes);
    if (code == 0)
        plan->work_bytes = bytes;
    return code;
}

// As gather_find. What is on another GPU than the plan is copied, as from the host, and after what that GPU still has to do.
static int find(const struct gather_plan *plan, struct gather_memory *memory, const void *pointer,
                size_t bytes)
{
    int number, before, code = gather_find(memory, &number, pointer, bytes);
    if (code != 0 || number < 0 || number == plan->device)
        return code;
    memory->device = NULL;
    code = route_use_device(number, &before);
    if (code == 0)
        code = gather_copy(NULL, NULL, 0, NULL); // waits
    int back = route_use_device(plan->device, &before);
    return code != 0 ? code : back;
}

// Each process of a machine takes a GPU of its own, if there are enough.
static int choose_device(MPI_Comm comm, int *is_own)
{
    MPI_Comm local;
    int rank, processes;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &rank);
    MPI_Comm_size(local, &processes);
    MPI_Comm_free(&local);
    return route_choose_device(rank, processes, is_own);
}

// The seconds since *start, which becomes now.
static double lap(double *start)
{
    double before = *start;
    *start = MPI_Wtime();
    return *start - before;
}

#define TRY(call) \
    do { \
        if (code == 0) \
            code = (call); \
    } while (0)

int gather_plan_make(struct gather_plan **result, MPI_Comm comm, const void *slice, size_t elements,
                     int element_bytes, struct gather_fault *fault)
{
    long long mine = (long long)elements;
    struct gather_memory where;
    struct gather_plan *plan = calloc(1, sizeof *plan);
    *result = NULL;
    *fault = (struct gather_fault){0};
    if (!plan)
        MPI_Abort(comm, 1);
    plan->comm = comm;
    MPI_Comm_rank(comm, &plan->rank);
    MPI_Comm_size(comm, &plan->ranks);
    plan->element_bytes = element_bytes;
    plan->room = ROOMS / plan->ranks / 8 * 8;
#ifdef MPIX_CUDA_AWARE_SUPPORT // an MPI that can be asked
    plan->is_direct = MPIX_Query_cuda_support();
#endif
    plan->starts = calloc(plan->ranks + 1, sizeof *plan->starts);
    plan->out = calloc(plan->ranks, 2 * sizeof *plan->out);
    plan->sizes = calloc(plan->ranks, 4 * sizeof *plan->sizes);
    if (!plan->starts || !plan->out || !plan->sizes)
        MPI_Abort(comm, 1);
    plan->in = plan->out + plan->ranks;

    MPI_Allgather(&mine, 1, MPI_LONG_LONG, plan->starts + 1, 1, MPI_LONG_LONG, comm);
    for (int r = 0; r < plan->ranks; r++)
        plan->starts[r + 1] += plan->starts[r];
    int has_own_gpu, code = choose_device(comm, &has_own_gpu);
    size_t starts_bytes = (plan->ranks + 1) * sizeof *plan->starts,
           rooms = plan->ranks * plan->room;
    TRY(is_array(elements, element_bytes) ? 0 : INVALID_VALUE);
    TRY(gather_current_device(&plan->device));
    TRY(gather_device_allocate((void **)&plan->d_starts, starts_bytes));
    TRY(gather_copy(plan->d_starts, plan->starts, starts_bytes, NULL));
    TRY(gather_device_allocate(&plan->slice, elements * element_bytes));
    if (elements > 0) {
        TRY(find(plan, &where, slice, elements * element_bytes));
        TRY(gather_copy(plan->slice, slice, elements * element_bytes, NULL));
    }
    TRY(plan->is_direct ? gather_device_allocate((void **)&plan->sent, rooms)
                        : gather_pinned_allocate((void **)&plan->sent, rooms));
    TRY(plan->is_direct ? gather_device_allocate((void **)&plan->received, rooms)
                        : gather_pinned_allocate((void **)&plan->received, rooms));
    int nccl_code = start_nccl(plan, code == 0 && has_own_gpu);
    TRY(nccl_code);
    code = agree(plan, code, fault);
    if (code == 0)
        *result = plan;
    else
        gather_plan_free(plan);
    return code;
}

unsigned long long gather_plan_size(const struct gather_plan *plan)
{
    return plan->starts[plan->ranks];
}

const char *gather_plan_seconds(const struct gather_plan *plan, double seconds[5])
{
    memcpy(seconds, plan->seconds, sizeof plan->seconds);
    return plan->nccl        ? "NCCL"
           : plan->is_direct ? "MPI, from device memory"
                             : "MPI, by pinned memory";
}

int gather_plan_take(struct gather_plan *plan, const void *index, size_t N, int index_bytes,
                     enum gather_mode mode, void *result, struct gather_fault *fault)
{
    size_t bytes = plan->element_bytes, asked = 0;
    struct gather_memory where = {0}, target = {0};
    void *d_index = NULL, *d_result = NULL;
    char *wanted, *position, *others, *picked, *got; // parts of the work memory
    struct route route = {index, N, index_bytes, mode, plan->d_starts, plan->ranks};
    struct gather_job job = {
        .element_bytes = plan->element_bytes, .index_bytes = 8, .mode = GATHER_CLIP};
    int code = 0, before = -1, ours; // devices: another thread may use another one than the plan
    double start = MPI_Wtime();
    *fault = (struct gather_fault){.position = -1};

    // 1. Where do the indices go?
    if (!is_array(N, index_bytes) || mode < GATHER_RAISE || mode > GATHER_CLIP)
        code = INVALID_VALUE;
    TRY(route_use_device(plan->device, &before));
    if (N > 0) {
        TRY(find(plan, &where, index, N * index_bytes));
        TRY(find(plan, &target, result, N * bytes));
        if (code == 0 && !where.device) {
            TRY(gather_device_allocate(&d_index, N * index_bytes));
            TRY(gather_copy(d_index, index, N * index_bytes, NULL));
        }
        route.index = where.device ? where.device : d_index;
    }
    TRY(route_count(&route, plan->out, &fault->position, &fault->index));
    if (code == 0 && fault->position >= 0)
        code = -1;
    code = agree(plan, code, fault);
    if (code != 0)
        goto cleanup;

    // 2. How many come from each rank? Room for them.
    MPI_Alltoall(plan->out, 1, MPI_UNSIGNED_LONG_LONG, plan->in, 1, MPI_UNSIGNED_LONG_LONG,
                 plan->comm);
    for (int r = 0; r < plan->ranks; r++)
        asked += plan->in[r];
    TRY(reserve(plan, (2 * sizeof(long long) + bytes) * N + (sizeof(long long) + bytes) * asked));
    wanted = plan->work;
    position = wanted + N * sizeof(long long);
    others = position + N * sizeof(long long);
    picked = others + asked * sizeof(long long);
    got = picked + asked * bytes;
    if (N > 0 && !target.device)
        TRY(gather_device_allocate(&d_result, N * bytes));
    TRY(route_sort(&route, plan->out, (long long *)wanted, (size_t *)position));
    code = agree(plan, code, fault);
    if (code != 0)
        goto cleanup;

    // 3. The indices go there, the elements come back.
    plan->seconds[0] = lap(&start);
    TRY(exchange(plan, wanted, plan->out, others, plan->in, sizeof(long long)));
    plan->seconds[1] = lap(&start);
    job.source.device = plan->slice;
    job.M = plan->starts[plan->rank + 1] - plan->starts[plan->rank];
    job.index.device = others;
    job.result.device = picked;
    job.N = asked;
    TRY(gather_launch(&job, NULL));
    TRY(gather_copy(NULL, NULL, 0, NULL)); // waits
    plan->seconds[2] = lap(&start);
    int later = exchange(plan, picked, plan->in, got, plan->out, bytes);
    TRY(later);
    plan->seconds[3] = lap(&start);
    TRY(route_place(got, (size_t *)position, target.device ? target.device : d_result, N,
                    plan->element_bytes));
    if (N > 0 && !target.device)
        TRY(gather_copy(result, d_result, N * bytes, NULL));
    plan->seconds[4] = lap(&start);
    code = agree(plan, code, fault);

cleanup:
    gather_device_free(d_result);
    gather_device_free(d_index);
    if (before >= 0)
        route_use_device(before, &ours);
    return code;
}
