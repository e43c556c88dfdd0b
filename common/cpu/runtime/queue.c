// Streams, events and the queue: work is kept, in order, until somebody waits for it, or for a moment nobody calls.
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

static void watch(void);

struct cpu_work *cpu_add_work(cudaStream_t stream, void (*run)(struct cpu_work *))
{
    watch();
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

// How many of what is needed has run. by_itself: nobody waits for it, so to the host it is not done.
static size_t run_needed(bool by_itself)
{
    mark_needed();
    default_stream.is_needed = false;
    for (struct handle *h = handles; h; h = h->next) h->is_needed = false;
    size_t kept = 0, ran = 0;
    static bool some_stay; // of a queue in which they met
    cpu_streams_meet = some_stay;
    for (size_t i = 1; i < queued; i++)
        cpu_streams_meet = cpu_streams_meet || queue[i]->stream != queue[0]->stream;
    struct cpu_call call = cpu_call;
    cpu_open_memory(true);
    for (size_t i = 0; i < queued; i++) {
        struct cpu_work *work = queue[i];
        if (work->is_needed && !work->is_done) {
            cpu_call = work->call;
            CHECKS(work, work);
            if (!cpu_context_is_broken()) work->run(work);
            ran++;
        }
        work->is_done = work->is_done || work->is_needed;
        if (!work->is_needed || by_itself) {
            queue[kept++] = work;
            continue;
        }
        cpu_end_claims(work->id);
        if (work->release) work->release(work->owned);
        free(work);
    }
    queued = kept;
    some_stay = cpu_streams_meet && kept;
    cpu_call = call;
    cpu_open_memory(false);
    if (!by_itself) cpu_flush_prints();
    if (!by_itself) cpu_tell_touch();
    return ran;
}

void cpu_finish_all(void)
{
    for (size_t i = 0; i < queued; i++) queue[i]->is_needed = true;
    if (queued) run_needed(false);
    for (unsigned i = 0; i < CPU_STREAMS; i++) waited_for.before[i] = cpu_last_work;
}

static cudaError_t finish_work(unsigned long id)
{
    for (size_t i = 0; i < queued; i++) queue[i]->is_needed = queue[i]->id == id;
    if (queued) run_needed(false);
    return cudaSuccess;
}

static size_t finish(struct handle *s) // how much has run
{
    s->is_needed = true;
    size_t ran = queued ? run_needed(false) : 0;
    s->is_needed = false;
    add_order(&waited_for, &s->order);
    for (struct handle *h = handles; s == &default_stream && h; h = h->next)
        if (h->kind == STREAM && !(h->flags & cudaStreamNonBlocking))
            add_order(&waited_for, &h->order);
    return ran;
}

cudaError_t cpu_finish_stream(cudaStream_t stream)
{
    struct handle *s = stream_of(stream);
    if (s) finish(s);
    return s ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

PUBLIC cudaError_t cudaDeviceSynchronize(void)
{
    ENTER();
    cpu_finish_all();
    LEAVE(cudaSuccess);
}

// The first launch that nobody has waited for, or NULL.
const struct cpu_work *cpu_waiting_launch(void)
{
    for (size_t i = 0; i < queued; i++)
        if (queue[i]->is_launch) return queue[i];
    return NULL;
}

// ---- By itself: a GPU begins at once, here work that nobody waits for begins after a moment without a call

// The host waits in a loop for what this work does: the host, too, knows then that it is done.
static void end_work_before(const struct cpu_work *last)
{
    for (size_t i = 0; i < queued; i++)
        queue[i]->is_needed = queue[i]->stream == last->stream && queue[i]->id <= last->id;
    run_needed(false);
}

static void call_host(struct cpu_work *work);

static void run_by_itself(void)
{
    unsigned long polled = cpu_polled_work();
    const struct cpu_work *known = NULL;
    for (size_t i = 0; i < queued; i++) queue[i]->is_needed = true;
    run_needed(true);
    for (size_t i = 0; i < queued; i++)
        if (queue[i]->run == call_host || queue[i]->id == polled) known = queue[i];
    if (known) end_work_before(known);
}

static bool is_watched;

static void *run_after_a_moment(void *unused)
{
    enum { NAP = 20, MOMENT = 100, LONG = 1000 }; // milliseconds
    const struct timespec nap = {0, NAP * 1000000};
    unsigned long calls = 0;
    unsigned quiet = 0;
    for (bool goes_on = true; goes_on; quiet += NAP) {
        nanosleep(&nap, NULL);
        cpu_lock();
        if (calls != cpu_calls) quiet = 0;
        calls = cpu_calls;
        bool is_waiting = false;
        for (size_t i = 0; i < queued; i++) is_waiting = is_waiting || !queue[i]->is_done;
        if (is_waiting && quiet >= MOMENT && cpu_is_touch_decided()) run_by_itself();
        goes_on = is_watched = is_waiting || quiet < LONG;
        cpu_unlock();
    }
    return unused;
}

static void watch(void)
{
    if (!is_watched) is_watched = cpu_start_thread(run_after_a_moment, NULL);
}

// ---- Streams and events

static cudaError_t create(void **handle, unsigned kind, unsigned flags, unsigned most)
{
    if (!handle || flags > most) return cudaErrorInvalidValue;
    struct handle *h = calloc(1, sizeof *h);
    if (!h) return cudaErrorMemoryAllocation;
    *h = (struct handle){.kind = kind, .flags = flags, .next = handles};
    *handle = handles = h;
    static unsigned streams;
    if (kind == STREAM) h->number = 1 + streams++ % (CPU_STREAMS - 1); // 0 is the default stream's
    return cudaSuccess;
}

static cudaError_t destroy(void *handle, unsigned kind)
{
    struct handle *h = find(handle, kind), **link = &handles;
    if (!h) return cudaErrorInvalidResourceHandle;
    for (size_t i = 0; i < queued; i++) // what uses it runs before it goes
        queue[i]->is_needed = queue[i]->stream == h || queue[i]->owned == h;
    if (queued) run_needed(false);
    while (*link != h) link = &(*link)->next;
    *link = h->next;
    free(h);
    return cudaSuccess;
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
    CALL(create((void **)stream, STREAM, flags, cudaStreamNonBlocking));
}
PUBLIC cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    CALL(create((void **)stream, STREAM, cudaStreamDefault, 0));
}
PUBLIC cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    (void)priority; // all streams are equal
    CALL(create((void **)stream, STREAM, flags, cudaStreamNonBlocking));
}
PUBLIC cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    ENTER();
    const struct handle *s = stream_of(stream);
    if (s && flags) *flags = s->flags;
    LEAVE(!flags ? cudaErrorInvalidValue : s ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
PUBLIC cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    if (priority) *priority = 0;
    CALL(!priority               ? cudaErrorInvalidValue
         : cpu_is_stream(stream) ? cudaSuccess
                                 : cudaErrorInvalidResourceHandle);
}
PUBLIC cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    CALL(create((void **)event, EVENT, flags, cudaEventBlockingSync | cudaEventDisableTiming));
}
PUBLIC cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    CALL(create((void **)event, EVENT, 0, 0));
}
PUBLIC cudaError_t cudaStreamDestroy(cudaStream_t stream) { CALL(destroy(stream, STREAM)); }
PUBLIC cudaError_t cudaEventDestroy(cudaEvent_t event) { CALL(destroy(event, EVENT)); }

PUBLIC cudaError_t cudaStreamSynchronize(cudaStream_t stream) { CALL(cpu_finish_stream(stream)); }

// Asked whether it is ready, a stream or an event says no once, if it is not, and then runs.
PUBLIC cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    ENTER();
    struct handle *s = stream_of(stream);
    LEAVE(!s ? cudaErrorInvalidResourceHandle : finish(s) ? cudaErrorNotReady : cudaSuccess);
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

PUBLIC cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    if (!flags) return cudaEventRecord(event, stream);
    CALL(flags == 1 ? cudaErrorIllegalState : cudaErrorInvalidValue); // 1: for graphs
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
