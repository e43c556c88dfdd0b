// Streams, events and the queue: work is kept, in order, until somebody waits for it.
#include "runtime.h"
#include <stdlib.h>
#include <time.h>

enum { MOST_WORK = 1 << 16 };

struct handle { // what cudaStream_t and cudaEvent_t point to
    enum { STREAM, EVENT } kind;
    unsigned flags;
    bool is_needed;                     // a stream: what it holds has to run now
    unsigned number;                    // a stream's; the default stream's is 0
    struct cpu_order order;             // before what comes next in a stream; before an event
    unsigned long recorded_by, done_by; // an event: ids of work; 0: none
    struct timespec time;
    struct handle *next;
};

unsigned long cpu_last_work;
static struct handle default_stream, *handles;
static struct cpu_order waited_for; // by the host
bool cpu_streams_meet;
static struct cpu_work **queue; // in the order of the calls
static size_t queued, room;

static struct handle *find(const void *pointer, unsigned kind)
{
    struct handle *h = handles;
    while (h && (h != pointer || h->kind != kind)) h = h->next;
    return h;
}

static struct handle *stream_of(cudaStream_t stream)
{
    return stream > cudaStreamPerThread ? find(stream, STREAM) : &default_stream;
}

bool cpu_is_stream(cudaStream_t stream) { return stream_of(stream); }

unsigned cpu_handles_left(bool events)
{
    unsigned n = 0;
    for (const struct handle *h = handles; h; h = h->next) n += (h->kind == EVENT) == events;
    return n;
}

// ---- The order: what comes before what, whichever stream it is in

static void add_order(struct cpu_order *to, const struct cpu_order *from)
{
    for (unsigned i = 0; i < CPU_STREAMS; i++)
        if (from->before[i] > to->before[i]) to->before[i] = from->before[i];
}

// Before new work comes what the host has waited for, what is in its stream, and as long as that is not
// cudaStreamNonBlocking, what is in the default stream; before work of that, what is in all such streams.
static void order_work(struct cpu_work *work, struct handle *stream)
{
    add_order(&stream->order, &waited_for);
    bool is_blocking = !(stream->flags & cudaStreamNonBlocking);
    if (is_blocking) add_order(&stream->order, &default_stream.order);
    for (struct handle *h = handles; stream == &default_stream && h; h = h->next)
        if (h->kind == STREAM && !(h->flags & cudaStreamNonBlocking))
            add_order(&stream->order, &h->order);
    work->order = stream->order;
    work->stream_number = stream->number;
    stream->order.before[stream->number] = work->id;
}

// ---- The queue

struct cpu_work *cpu_add_work(cudaStream_t stream, void (*run)(struct cpu_work *))
{
    if (queued == MOST_WORK) cpu_finish_all();
    if (queued == room) {
        struct cpu_work **larger = realloc(queue, (2 * room + 64) * sizeof *queue);
        if (!larger) return NULL;
        queue = larger;
        room = 2 * room + 64;
    }
    struct cpu_work *work = calloc(1, sizeof *work);
    if (!work) return NULL;
    work->id = ++cpu_last_work;
    work->stream = stream_of(stream);
    work->run = run;
    work->call = cpu_call;
    order_work(work, work->stream);
    queue[queued++] = work;
    return work;
}

// Marks what has to run before the work that is needed already, by CUDA's rules: a stream keeps its
// order; the default stream and those that are not cudaStreamNonBlocking wait for each other. Of
// a in s, b in t, c in the default stream, d in s, a wait for d needs c, and that needs a and b.
static void mark_needed(void)
{
    bool blocking_needed = false;
    for (size_t i = queued; i-- > 0;) {
        struct cpu_work *work = queue[i];
        struct handle *stream = work->stream;
        bool is_blocking = !(stream->flags & cudaStreamNonBlocking);
        if (stream->is_needed || (is_blocking && default_stream.is_needed) ||
            (stream == &default_stream && blocking_needed))
            work->is_needed = true;
        if (!work->is_needed) continue;
        stream->is_needed = true;
        blocking_needed = blocking_needed || is_blocking;
        for (size_t j = 0; work->awaited && j < i; j++)
            if (queue[j]->id == work->awaited) queue[j]->is_needed = true;
    }
}

static void run_needed(void)
{
    mark_needed();
    default_stream.is_needed = false;
    for (struct handle *h = handles; h; h = h->next) h->is_needed = false;
    size_t kept = 0;
    static bool some_stay; // of a queue in which they met
    cpu_streams_meet = some_stay;
    for (size_t i = 1; i < queued; i++)
        cpu_streams_meet = cpu_streams_meet || queue[i]->stream != queue[0]->stream;
    struct cpu_call call = cpu_call;
    cpu_open_memory(true);
    for (size_t i = 0; i < queued; i++) {
        struct cpu_work *work = queue[i];
        if (!work->is_needed) {
            queue[kept++] = work;
            continue;
        }
        cpu_call = work->call;
        cpu_check_work(work);
        if (!cpu_context_is_broken()) work->run(work);
        cpu_end_claims(work->id);
        if (work->release) work->release(work->owned);
        free(work);
    }
    queued = kept;
    some_stay = cpu_streams_meet && kept;
    cpu_call = call;
    cpu_open_memory(false);
    cpu_flush_prints();
}

void cpu_finish_all(void)
{
    for (size_t i = 0; i < queued; i++) queue[i]->is_needed = true;
    if (queued) run_needed();
    for (unsigned i = 0; i < CPU_STREAMS; i++) waited_for.before[i] = cpu_last_work;
}

static cudaError_t finish_work(unsigned long id)
{
    for (size_t i = 0; i < queued; i++) queue[i]->is_needed = queue[i]->id == id;
    if (queued) run_needed();
    return cudaSuccess;
}

cudaError_t cpu_finish_stream(cudaStream_t stream)
{
    struct handle *s = stream_of(stream);
    if (!s) return cudaErrorInvalidResourceHandle;
    s->is_needed = true;
    if (queued) run_needed();
    s->is_needed = false;
    add_order(&waited_for, &s->order);
    for (struct handle *h = handles; s == &default_stream && h; h = h->next)
        if (h->kind == STREAM && !(h->flags & cudaStreamNonBlocking))
            add_order(&waited_for, &h->order);
    return cudaSuccess;
}

PUBLIC cudaError_t cudaDeviceSynchronize(void)
{
    ENTER();
    cpu_finish_all();
    LEAVE(cudaSuccess);
}

// The first launch that nobody has waited for, or NULL.
const struct cpu_launch *cpu_waiting_launch(void)
{
    for (size_t i = 0; i < queued; i++)
        if (queue[i]->run == cpu_run_kernel) return &queue[i]->launch;
    return NULL;
}

// ---- Streams and events

static cudaError_t create(void **handle, unsigned kind, unsigned flags, unsigned most)
{
    ENTER();
    if (!handle || flags > most) LEAVE(cudaErrorInvalidValue);
    struct handle *h = calloc(1, sizeof *h);
    if (!h) LEAVE(cudaErrorMemoryAllocation);
    *h = (struct handle){.kind = kind, .flags = flags, .next = handles};
    *handle = handles = h;
    static unsigned streams;
    if (kind == STREAM) h->number = ++streams % CPU_STREAMS;
    LEAVE(cudaSuccess);
}

static cudaError_t destroy(void *handle, unsigned kind)
{
    ENTER();
    struct handle *h = find(handle, kind), **link = &handles;
    if (!h) LEAVE(cudaErrorInvalidResourceHandle);
    for (size_t i = 0; i < queued; i++) // what uses it runs before it goes
        queue[i]->is_needed = queue[i]->stream == h || queue[i]->owned == h;
    if (queued) run_needed();
    while (*link != h) link = &(*link)->next;
    *link = h->next;
    free(h);
    LEAVE(cudaSuccess);
}

void cpu_forget_handles(void)
{
    while (handles) {
        struct handle *h = handles;
        handles = h->next;
        free(h);
    }
}

PUBLIC cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return create((void **)stream, STREAM, flags, cudaStreamNonBlocking);
}
PUBLIC cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
PUBLIC cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    (void)priority; // all streams are equal
    return cudaStreamCreateWithFlags(stream, flags);
}
PUBLIC cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    return create((void **)event, EVENT, flags, cudaEventBlockingSync | cudaEventDisableTiming);
}
PUBLIC cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}
PUBLIC cudaError_t cudaStreamDestroy(cudaStream_t stream) { return destroy(stream, STREAM); }
PUBLIC cudaError_t cudaEventDestroy(cudaEvent_t event) { return destroy(event, EVENT); }

PUBLIC cudaError_t cudaStreamSynchronize(cudaStream_t stream) { CALL(cpu_finish_stream(stream)); }

// Asked whether it is ready, a stream or an event says no once, if it is not, and then runs.
PUBLIC cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    ENTER();
    size_t before = queued;
    cudaError_t error = cpu_finish_stream(stream);
    LEAVE(!error && queued < before ? cudaErrorNotReady : error);
}

static void wait(struct cpu_work *work) { (void)work; } // the order of the queue has done it

PUBLIC cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    ENTER();
    const struct handle *e = find(event, EVENT);
    if (!cpu_is_stream(stream) || !e) LEAVE(cudaErrorInvalidResourceHandle);
    if (flags) LEAVE(flags == 1 ? cudaErrorIllegalState : cudaErrorInvalidValue);
    struct cpu_work *work = cpu_add_work(stream, wait);
    if (work) work->awaited = e->recorded_by;
    add_order(&stream_of(stream)->order, &e->order);
    LEAVE(work ? cudaSuccess : cudaErrorMemoryAllocation);
}

static void note_time(struct cpu_work *work)
{
    struct handle *e = work->owned;
    if (work->id < e->done_by) return; // recorded again, in a stream that came first
    e->done_by = work->id;
    clock_gettime(CLOCK_MONOTONIC, &e->time);
}

PUBLIC cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER();
    struct handle *e = find(event, EVENT);
    if (!e || !cpu_is_stream(stream)) LEAVE(cudaErrorInvalidResourceHandle);
    struct cpu_work *work = cpu_add_work(stream, note_time);
    if (!work) LEAVE(cudaErrorMemoryAllocation);
    work->owned = e;
    e->recorded_by = work->id;
    e->order = stream_of(stream)->order;
    LEAVE(cudaSuccess);
}

PUBLIC cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    ENTER();
    const struct handle *e = find(event, EVENT);
    if (e) add_order(&waited_for, &e->order);
    LEAVE(e ? finish_work(e->recorded_by) : cudaErrorInvalidResourceHandle);
}

PUBLIC cudaError_t cudaEventQuery(cudaEvent_t event)
{
    ENTER();
    const struct handle *e = find(event, EVENT);
    if (!e) LEAVE(cudaErrorInvalidResourceHandle);
    bool was_done = e->done_by == e->recorded_by;
    finish_work(e->recorded_by);
    add_order(&waited_for, &e->order); // a second question says yes
    LEAVE(was_done ? cudaSuccess : cudaErrorNotReady);
}

PUBLIC cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    ENTER();
    const struct handle *a = find(start, EVENT), *b = find(end, EVENT);
    if (!milliseconds) LEAVE(cudaErrorInvalidValue);
    if (!a || !b || !a->recorded_by || !b->recorded_by ||
        ((a->flags | b->flags) & cudaEventDisableTiming))
        LEAVE(cudaErrorInvalidResourceHandle);
    if (a->done_by != a->recorded_by || b->done_by != b->recorded_by) LEAVE(cudaErrorNotReady);
    *milliseconds = (float)((double)(b->time.tv_sec - a->time.tv_sec) * 1e3 +
                            (double)(b->time.tv_nsec - a->time.tv_nsec) / 1e6);
    LEAVE(cudaSuccess);
}

// ---- Functions of the host, in the order of a stream; they may not call CUDA

struct host_call {
    cudaHostFn_t function;
    cudaStreamCallback_t callback; // the older kind
    cudaStream_t stream;
    void *data;
};

static void call_host(struct cpu_work *work)
{
    const struct host_call *c = work->owned;
    cpu_is_in_host_function = true;
    if (c->function) c->function(c->data);
    if (c->callback) c->callback(c->stream, cudaSuccess, c->data);
    cpu_is_in_host_function = false;
}

static cudaError_t add_host_call(struct host_call call)
{
    if (!cpu_is_stream(call.stream)) return cudaErrorInvalidResourceHandle;
    if (!call.function && !call.callback) return cudaErrorInvalidValue;
    struct host_call *kept = malloc(sizeof *kept);
    struct cpu_work *work = kept ? cpu_add_work(call.stream, call_host) : NULL;
    if (!work) return free(kept), cudaErrorMemoryAllocation;
    *kept = call;
    work->owned = kept;
    work->release = free;
    return cudaSuccess;
}
PUBLIC cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    CALL(add_host_call((struct host_call){function, NULL, stream, data}));
}
PUBLIC cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                         void *data, unsigned flags)
{
    CALL(flags ? cudaErrorInvalidValue
               : add_host_call((struct host_call){NULL, callback, stream, data}));
}
