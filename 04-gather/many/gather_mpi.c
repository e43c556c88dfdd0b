// A gather over MPI: each index goes to the rank that has its element, and the element comes back.
// Build: make libgather_mpi.so
// Run:   mpirun -n 4 ./many_c, or from Python: see many.pyx
#include "gather_mpi.h"
#include "route.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef ROOMS
#define ROOMS (16 << 20) // bytes that a rank sends by MPI, or receives, in one round
#endif

// As in common/check.h, which needs CUDA's headers: the compiler of this file has none.
#define CHECK_GOTO(error, call, cleanup) \
    do { \
        (error) = (call); \
        if ((error) != 0) \
            goto cleanup; \
    } while (0)

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
    void *work;          // on the device: what a call needs, kept for the next one
    size_t work_bytes;
    double seconds[5];
    struct ncclComm *nccl; // NULL: MPI carries. It belongs to comm.
    char *sent, *received; // ROOMS bytes of pinned memory each, which MPI reads and writes
};

// ---- All ranks go on, or none

// What went wrong on one rank is known to all: the code of the first that failed, or 0.
static int agree(const struct gather_plan *plan, int code, struct gather_fault *fault)
{
    long long told[] = {code, fault->position, fault->index};
    int first = code != 0 ? plan->rank : plan->ranks;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, plan->comm);
    if (first == plan->ranks)
        return 0;
    MPI_Bcast(told, 3, MPI_LONG_LONG, first, plan->comm);
    *fault = (struct gather_fault){first, told[1], told[2]};
    return (int)told[0];
}

// ---- NCCL, NVIDIA's library for data between GPUs, opened if it is there

struct nccl_id {
    char bytes[128];
};
#define NCCL_FUNCTIONS(F) \
    F(ncclGetUniqueId, (struct nccl_id * id)) \
    F(ncclCommInitRank, (struct ncclComm * *comm, int ranks, struct nccl_id id, int rank)) \
    F(ncclCommDestroy, (struct ncclComm * comm)) \
    F(ncclGroupStart, (void)) \
    F(ncclGroupEnd, (void)) \
    F(ncclSend, \
      (const void *from, size_t bytes, int type, int rank, struct ncclComm *, void *stream)) \
    F(ncclRecv, (void *to, size_t bytes, int type, int rank, struct ncclComm *, void *stream))

#define DECLARE(name, arguments) static int(*name) arguments;
NCCL_FUNCTIONS(DECLARE) // static int (*ncclGroupStart)(void); and so on

static int find_nccl(void)
{
    const char *carrier = getenv("GATHER_CARRIER"); // mpi: not NCCL
    int only_mpi = carrier && strcmp(carrier, "mpi") == 0;
    void *function, *library = only_mpi ? NULL : dlopen("libnccl.so.2", RTLD_NOW);
    if (!library)
        return 0;
#define FIND(name, arguments) \
    if (!(function = dlsym(library, #name))) \
        return 0; \
    memcpy(&name, &function, sizeof function);
    NCCL_FUNCTIONS(FIND)
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
static int start_nccl(struct gather_plan *plan, int has_own_gpu, struct gather_fault *fault)
{
    struct {
        int code;
        struct nccl_id id;
    } first = {0}; // of rank 0
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
    if (plan->rank == 0)
        first.code = ncclGetUniqueId(&first.id);
    MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, plan->comm);
    int failed = first.code || ncclCommInitRank(&plan->nccl, plan->ranks, first.id, plan->rank);
    int code = agree(plan, failed ? UNKNOWN_ERROR : 0, fault); // all ranks keep it, or none
    if (code == 0)
        MPI_Comm_set_attr(plan->comm, nccl_key, plan->nccl);
    else if (!failed)
        ncclCommDestroy(plan->nccl);
    return code;
}

// ---- Elements go from rank to rank: out[r] of them for each rank r lie at `from`, rank by rank; in[r] come to `to`

static int carry_by_nccl(const struct gather_plan *plan, const char *from, const count *out,
                         char *to, const count *in, size_t bytes)
{
    int code = 0;
    ncclGroupStart();
    for (int r = 0; r < plan->ranks; from += out[r] * bytes, to += in[r] * bytes, r++) {
        if (r == plan->rank)
            continue;
        if (out[r] && ncclSend(from, out[r] * bytes, 0, r, plan->nccl, NULL) != 0)
            code = UNKNOWN_ERROR;
        if (in[r] && ncclRecv(to, in[r] * bytes, 0, r, plan->nccl, NULL) != 0)
            code = UNKNOWN_ERROR;
    }
    if (ncclGroupEnd() != 0)
        code = UNKNOWN_ERROR;
    return code ? code : gather_copy(NULL, NULL, 0, NULL); // waits
}

// The bytes of a rank's elements in the round that begins with its element `done`.
static int bytes_now(count elements, count done, size_t room, size_t bytes)
{
    count rest = elements > done ? elements - done : 0, most = room / bytes;
    return (int)((rest < most ? rest : most) * bytes);
}

// In rounds, since MPI counts with int, and the memory that it reads and writes is small: a room for each rank. After an error it
// goes on with zeros, as the others wait; what is under way comes first, since MPI uses the rooms next.
static int carry_by_mpi(const struct gather_plan *plan, const char *from, const count *out,
                        char *to, const count *in, size_t bytes)
{
    int ranks = plan->ranks, send[ranks], get[ranks], at[ranks], code = 0;
    size_t room = ROOMS / ranks / 8 * 8;
    count most = 0;
    for (int r = 0; r < ranks; r++) {
        at[r] = (int)(r * room);
        if (r != plan->rank && out[r] > most)
            most = out[r];
    }
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, plan->comm);
    for (count done = 0; done < most; done += room / bytes) {
        const char *next = from + done * bytes;
        char *place = to + done * bytes;
        for (int r = 0; r < ranks; next += out[r++] * bytes) {
            send[r] = r == plan->rank ? 0 : bytes_now(out[r], done, room, bytes);
            get[r] = r == plan->rank ? 0 : bytes_now(in[r], done, room, bytes);
            if (code == 0 && send[r] > 0)
                code = gather_copy(plan->sent + at[r], next, send[r], NULL);
        }
        if (code != 0) {
            gather_copy(NULL, NULL, 0, NULL);
            memset(plan->sent, 0, ROOMS);
        }
        MPI_Alltoallv(plan->sent, send, at, MPI_BYTE, plan->received, get, at, MPI_BYTE,
                      plan->comm);
        for (int r = 0; r < ranks; place += in[r++] * bytes)
            if (code == 0 && get[r] > 0)
                code = gather_copy(place, plan->received + at[r], get[r], NULL);
        if (code != 0)
            gather_copy(NULL, NULL, 0, NULL);
    }
    return code;
}

static int exchange(const struct gather_plan *plan, const char *from, const count *out, char *to,
                    const count *in, size_t bytes)
{
    const char *own = from;
    char *own_place = to;
    for (int r = 0; r < plan->rank; r++) {
        own += out[r] * bytes;
        own_place += in[r] * bytes;
    }
    size_t own_bytes = out[plan->rank] * bytes;
    int code = own_bytes ? gather_copy(own_place, own, own_bytes, NULL) : 0;
    int carried = plan->nccl ? carry_by_nccl(plan, from, out, to, in, bytes)
                             : carry_by_mpi(plan, from, out, to, in, bytes);
    return code ? code : carried;
}

// ---- A plan

static int is_array(size_t elements, int bytes) // one that can be
{
    return (bytes == 4 || bytes == 8) && elements <= PTRDIFF_MAX / 8;
}

// As gather_find. What is on another GPU than the plan is copied, as from the host, and after what that GPU still has to do.
static int find(const struct gather_plan *plan, struct gather_memory *memory, const void *pointer,
                size_t bytes)
{
    int number, before, code = gather_find(memory, &number, pointer, bytes);
    if (code != 0 || number < 0 || number == plan->device)
        return code;
    memory->device = NULL;
    code = gather_use_device(number, &before);
    if (code == 0)
        code = gather_copy(NULL, NULL, 0, NULL); // waits
    int back = gather_use_device(plan->device, &before);
    return code ? code : back;
}

// Each process of a machine takes a GPU of its own, if there are enough.
static int choose_device(struct gather_plan *plan, int *is_own)
{
    MPI_Comm local;
    int rank, processes, devices, before;
    MPI_Comm_split_type(plan->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &rank);
    MPI_Comm_size(local, &processes);
    MPI_Comm_free(&local);
    int code = gather_device_count(&devices);
    if (code == 0) {
        plan->device = rank % devices;
        code = gather_use_device(plan->device, &before);
    }
    *is_own = code == 0 && processes <= devices;
    return code;
}

// A plan without what is on the GPU. If the host has no room for it, nothing else is left to do than to end.
static struct gather_plan *new_plan(MPI_Comm comm, size_t elements, int element_bytes)
{
    struct gather_plan *plan = calloc(1, sizeof *plan);
    long long mine = (long long)elements;
    int ranks;
    MPI_Comm_size(comm, &ranks);
    if (!plan || !(plan->starts = calloc(ranks + 1, sizeof *plan->starts)) ||
        !(plan->out = calloc(ranks, 2 * sizeof *plan->out)))
        MPI_Abort(comm, 1);
    plan->in = plan->out + ranks;
    plan->comm = comm;
    plan->ranks = ranks;
    MPI_Comm_rank(comm, &plan->rank);
    plan->element_bytes = element_bytes;
    MPI_Allgather(&mine, 1, MPI_LONG_LONG, plan->starts + 1, 1, MPI_LONG_LONG, comm);
    for (int r = 0; r < ranks; r++)
        plan->starts[r + 1] += plan->starts[r];
    return plan;
}

// What a plan has on the GPU, and in pinned memory.
static int fill_plan(struct gather_plan *plan, const void *slice, size_t elements)
{
    size_t starts_bytes = (plan->ranks + 1) * sizeof *plan->starts,
           slice_bytes = elements * plan->element_bytes;
    struct gather_memory where;
    int error;
    CHECK_GOTO(error, is_array(elements, plan->element_bytes) ? 0 : INVALID_VALUE, cleanup);
    CHECK_GOTO(error, gather_device_allocate((void **)&plan->d_starts, starts_bytes), cleanup);
    CHECK_GOTO(error, gather_copy(plan->d_starts, plan->starts, starts_bytes, NULL), cleanup);
    CHECK_GOTO(error, gather_device_allocate(&plan->slice, slice_bytes), cleanup);
    if (elements > 0) {
        CHECK_GOTO(error, find(plan, &where, slice, slice_bytes), cleanup);
        CHECK_GOTO(error, gather_copy(plan->slice, slice, slice_bytes, NULL), cleanup);
    }
    CHECK_GOTO(error, gather_pinned_allocate((void **)&plan->sent, ROOMS), cleanup);
    CHECK_GOTO(error, gather_pinned_allocate((void **)&plan->received, ROOMS), cleanup);

cleanup:
    return error;
}

int gather_plan_make(struct gather_plan **result, MPI_Comm comm, const void *slice, size_t elements,
                     int element_bytes, struct gather_fault *fault)
{
    struct gather_plan *plan = new_plan(comm, elements, element_bytes);
    int has_own_gpu, code = choose_device(plan, &has_own_gpu);
    *fault = (struct gather_fault){0};
    code = agree(plan, code ? code : fill_plan(plan, slice, elements), fault);
    if (code == 0)
        code = start_nccl(plan, has_own_gpu, fault);
    if (code != 0)
        gather_plan_free(plan);
    *result = code == 0 ? plan : NULL;
    return code;
}

void gather_plan_free(struct gather_plan *plan)
{
    if (!plan)
        return;
    gather_device_free(plan->work);
    gather_device_free(plan->slice);
    gather_device_free(plan->d_starts);
    gather_pinned_free(plan->sent);
    gather_pinned_free(plan->received);
    free(plan->starts);
    free(plan->out);
    free(plan);
}

unsigned long long gather_plan_size(const struct gather_plan *plan)
{
    return plan->starts[plan->ranks];
}

const char *gather_plan_seconds(const struct gather_plan *plan, double seconds[5])
{
    memcpy(seconds, plan->seconds, sizeof plan->seconds);
    return plan->nccl ? "NCCL" : "MPI, by pinned memory";
}

// ---- The steps of a call of take, on one rank. move() alone talks to other ranks.

struct call {
    struct route route;         // the indices; on the device, once they are counted
    void *result, *target;      // the caller's; and on the device
    void *d_index, *d_result;   // allocated for this call: NULL if the device reaches the caller's
    size_t asked;               // how many elements of this rank are asked for
    long long *wanted, *others; // this rank's indices, sorted; those that come from others. Like
    size_t *position;           // where each of `wanted` was, and
    char *picked, *got;         // the elements for others and those that come, in the work memory
};

// Finds the arrays, and counts in plan->out how many indices go to each rank.
static int count_indices(struct gather_plan *plan, struct call *call, struct gather_fault *fault)
{
    struct route *route = &call->route;
    size_t index_bytes = route->N * route->index_bytes;
    struct gather_memory index, result;
    int error;
    CHECK_GOTO(error, is_array(route->N, route->index_bytes) ? 0 : INVALID_VALUE, cleanup);
    CHECK_GOTO(error, route->mode >= GATHER_RAISE && route->mode <= GATHER_CLIP ? 0 : INVALID_VALUE,
               cleanup);
    if (route->N > 0) {
        CHECK_GOTO(error, find(plan, &index, route->index, index_bytes), cleanup);
        CHECK_GOTO(error, find(plan, &result, call->result, route->N * plan->element_bytes),
                   cleanup);
        if (!index.device) {
            CHECK_GOTO(error, gather_device_allocate(&call->d_index, index_bytes), cleanup);
            CHECK_GOTO(error, gather_copy(call->d_index, route->index, index_bytes, NULL), cleanup);
        }
        route->index = index.device ? index.device : call->d_index;
        call->target = result.device;
    }
    CHECK_GOTO(error, route_count(route, plan->out, &fault->position, &fault->index), cleanup);
    error = fault->position < 0 ? 0 : -1;

cleanup:
    return error;
}

// Work memory of so many bytes. To get and to free it in each call would take longer than the gather.
static int reserve(struct gather_plan *plan, size_t bytes)
{
    if (bytes <= plan->work_bytes)
        return 0;
    gather_device_free(plan->work); // first: there may be no room for both
    plan->work = NULL;
    int code = gather_device_allocate(&plan->work, bytes);
    plan->work_bytes = code == 0 ? bytes : 0;
    return code;
}

// Room for what comes, of which plan->in tells how much; and the indices, sorted by their ranks.
static int sort_indices(struct gather_plan *plan, struct call *call)
{
    size_t N = call->route.N, bytes = plan->element_bytes, index_bytes = sizeof *call->wanted;
    int error;
    for (int r = 0; r < plan->ranks; r++)
        call->asked += plan->in[r];
    CHECK_GOTO(error,
               reserve(plan, (2 * index_bytes + bytes) * N + (index_bytes + bytes) * call->asked),
               cleanup);
    call->wanted = plan->work;
    call->position = (size_t *)(call->wanted + N);
    call->others = (long long *)(call->position + N);
    call->picked = (char *)(call->others + call->asked);
    call->got = call->picked + call->asked * bytes;
    if (N > 0 && !call->target) {
        CHECK_GOTO(error, gather_device_allocate(&call->d_result, N * bytes), cleanup);
        call->target = call->d_result;
    }
    CHECK_GOTO(error, route_sort(&call->route, plan->out, call->wanted, call->position), cleanup);

cleanup:
    return error;
}

// picked[k] = slice[others[k]]
static int pick(const struct gather_plan *plan, const struct call *call)
{
    struct gather_job job = {.outer = 1, .element_bytes = plan->element_bytes, .index_bytes = 8};
    job.source.device = plan->slice;
    job.M = plan->starts[plan->rank + 1] - plan->starts[plan->rank];
    job.index.device = call->others;
    job.result.device = call->picked;
    job.N = call->asked;
    job.mode = GATHER_CLIP; // all are in range
    int code = gather_launch(&job, NULL);
    return code ? code : gather_copy(NULL, NULL, 0, NULL); // waits
}

// The elements in the order of the indices, where the caller wants them.
static int place(const struct gather_plan *plan, const struct call *call)
{
    size_t N = call->route.N;
    int code = route_place(call->got, call->position, call->target, N, plan->element_bytes);
    if (code == 0 && call->d_result)
        code = gather_copy(call->result, call->d_result, N * plan->element_bytes, NULL);
    return code;
}

// The seconds since *start, which becomes now.
static double lap(double *start)
{
    double before = *start;
    *start = MPI_Wtime();
    return *start - before;
}

// The indices go to their ranks, the elements come back. After an error too: the others wait.
static int move(struct gather_plan *plan, struct call *call, double *start)
{
    double *seconds = plan->seconds;
    seconds[0] = lap(start);
    int code = exchange(plan, (char *)call->wanted, plan->out, (char *)call->others, plan->in,
                        sizeof *call->wanted);
    seconds[1] = lap(start);
    if (code == 0)
        code = pick(plan, call);
    seconds[2] = lap(start);
    int back = exchange(plan, call->picked, plan->in, call->got, plan->out, plan->element_bytes);
    seconds[3] = lap(start);
    if (code == 0 && back == 0)
        code = place(plan, call);
    seconds[4] = lap(start);
    return code ? code : back;
}

int gather_plan_take(struct gather_plan *plan, const void *index, size_t N, int index_bytes,
                     enum gather_mode mode, void *result, struct gather_fault *fault)
{
    struct call call = {.route = {index, N, index_bytes, mode, plan->d_starts, plan->ranks},
                        .result = result};
    double start = MPI_Wtime();
    int before, ours; // devices: this thread may use another one than the plan
    *fault = (struct gather_fault){.position = -1};
    int device_code = gather_use_device(plan->device, &before);
    int code = agree(plan, device_code ? device_code : count_indices(plan, &call, fault), fault);
    if (code == 0) {
        MPI_Alltoall(plan->out, 1, MPI_UNSIGNED_LONG_LONG, plan->in, 1, MPI_UNSIGNED_LONG_LONG,
                     plan->comm);
        code = agree(plan, sort_indices(plan, &call), fault);
    }
    if (code == 0)
        code = agree(plan, move(plan, &call, &start), fault);
    gather_device_free(call.d_result);
    gather_device_free(call.d_index);
    if (device_code == 0)
        gather_use_device(before, &ours);
    return code;
}
