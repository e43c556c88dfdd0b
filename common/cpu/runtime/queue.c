// Streams, events and the queue: work is kept, in order, until somebody waits for it, or for a moment nobody calls.
#include "runtime.h"
#include <stdlib.h>
#include <time.h>

enum { MOST_WORK = 1 << 12 }; // then the host waits, as with a GPU, whose queue is shorter

struct handle { // what cudaStream_t and cudaEvent_t point to
    enum { STREAM, EVENT } kind;
    unsigned flags;
    unsigned number;                    // a stream's; the default stream's is 0
    struct cpu_order order;             // before what comes next in a stream; before an event
    unsigned long recorded_by, done_by; // an event: ids of work; 0: none
    struct timespec time;
    struct handle *next;
};

unsigned long cpu_last_work;
static struct handle default_stream, *handles;
static struct cpu_order destroyed;  // what was in blocking streams that are no more
static struct cpu_order waited_for; // by the host
bool cpu_streams_meet;
static struct cpu_work *queue, **queue_end = &queue; // in the order of the calls
static size_t queued;

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

static bool is_blocking(const struct handle *h)
{
    return h->kind == STREAM && !(h->flags & cudaStreamNonBlocking);
}

// Before what comes next in a stream comes what is in it, and before the default stream's what is in all streams that
// are not cudaStreamNonBlocking.
static struct cpu_order order_of(const struct handle *stream)
{
    struct cpu_order order = stream->order;
    if (stream == &default_stream) add_order(&order, &destroyed);
    for (const struct handle *h = handles; stream == &default_stream && h; h = h->next)
        if (is_blocking(h)) add_order(&order, &h->order);
    return order;
}

// Also what the host has waited for, and, if the stream is no cudaStreamNonBlocking, what is in the default stream.
static void order_work(struct cpu_work *work, struct handle *stream)
{
    stream->order = order_of(stream);
    add_order(&stream->order, &waited_for);
    if (is_blocking(stream)) add_order(&stream->order, &default_stream.order);
    work->stream = stream->number;
    stream->order.before[stream->number] = work->id;
    work->order = stream->order;
}

// ---- The queue

static void watch(void);

struct cpu_work *cpu_add_work(cudaStream_t stream, void (*run)(struct cpu_work *))
{
    watch();
    if (queued == MOST_WORK) cpu_finish_all();
    struct cpu_work *work = calloc(1, sizeof *work);
    if (!work) return NULL;
    work->id = work->claim = ++cpu_last_work;
    work->run = run;
    work->call = cpu_call;
    order_work(work, stream_of(stream));
    *queue_end = work;
    queue_end = &work->next;
    queued++;
    return work;
}

bool cpu_has_published;
static unsigned long polled; // the work that the host is seen to wait for in a loop; or 0

static void call_host(struct cpu_work *work);

// Whether the host gets to know that this work is done when it runs by itself.
static bool is_known(const struct cpu_work *w)
{
    return w->run == call_host || w->claim == polled || w->is_published;
}

static void end_claims_in(const struct cpu_order *order)
{
    for (const struct cpu_work *w = queue; w; w = w->next)
        if (w->id <= order->before[w->stream]) cpu_end_claims(w->claim);
}

// Runs what is in the order, and gives how many of it. by_itself: nobody waits for it, so to the host it is not done.
static size_t run_up_to(const struct cpu_order *order, bool by_itself)
{
    size_t ran = 0;
    static bool some_stay; // of a queue in which they met
    cpu_streams_meet = some_stay;
    for (const struct cpu_work *w = queue; w; w = w->next)
        cpu_streams_meet = cpu_streams_meet || w->stream != queue->stream;
    struct cpu_call call = cpu_call;
    cpu_open_memory(true);
    cpu_show_results();
    if (by_itself) cpu_keep_before();
    queue_end = &queue;
    for (struct cpu_work *work; (work = *queue_end);) {
        bool is_needed = work->id <= order->before[work->stream];
        if (is_needed && !work->is_done) {
            cpu_call = work->call;
            CHECKS(work, work);
            cpu_has_published = false;
            if (!cpu_context_is_broken() || work->run == call_host) work->run(work);
            work->is_published = cpu_has_published;
            if (by_itself && is_known(work)) end_claims_in(&work->order);
            ran++;
        }
        work->is_done = work->is_done || is_needed;
        if (!is_needed || by_itself) {
            queue_end = &work->next;
            continue;
        }
        *queue_end = work->next;
        queued--;
        cpu_end_claims(work->claim);
        free(work->owned);
        free(work);
    }
    some_stay = cpu_streams_meet && queue;
    cpu_call = call;
    cpu_open_memory(false);
    if (!by_itself) cpu_flush_prints();
    return ran;
}

static size_t finish(struct cpu_order order) // the host waits; how much has run
{
    add_order(&waited_for, &order);
    size_t ran = queue ? run_up_to(&order, false) : 0;
    cpu_tell_early_access();
    return ran;
}

static struct cpu_order everything(void)
{
    struct cpu_order order;
    for (unsigned i = 0; i < CPU_STREAMS; i++) order.before[i] = cpu_last_work;
    return order;
}

void cpu_finish_all(void) { finish(everything()); }

cudaError_t cpu_finish_stream(cudaStream_t stream)
{
    const struct handle *s = stream_of(stream);
    if (s) finish(order_of(s));
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
    const struct cpu_work *w = queue;
    while (w && !w->is_launch) w = w->next;
    return w;
}

// ---- By itself: a GPU begins at once, here work that nobody waits for begins after a moment without a call

bool cpu_runs_by_itself;

static void run_by_itself(void)
{
    struct cpu_order order = everything();
    const struct cpu_work *known = NULL;
    cpu_runs_by_itself = true;
    run_up_to(&order, true);
    cpu_runs_by_itself = false;
    for (const struct cpu_work *w = queue; w; w = w->next)
        if (is_known(w)) known = w;
    polled = 0;
    if (!known) return;
    order = known->order;
    run_up_to(&order, false);
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
        cpu_lock_for(NULL);
        if (calls != cpu_calls) quiet = 0;
        calls = cpu_calls;
        bool is_waiting = false;
        for (const struct cpu_work *w = queue; w; w = w->next) is_waiting |= !w->is_done;
        cpu_lock_claims(); // the host accesses nothing between this decision and the work
        bool is_time = queue && quiet >= MOMENT && cpu_is_early_access_decided();
        if (is_time) polled = cpu_polled_work();
        is_time = is_time && (is_waiting || polled);
        if (is_time) cpu_open_memory(true);
        cpu_unlock_claims();
        if (is_time) run_by_itself();
        goes_on = is_watched = queue || quiet < LONG;
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

static void note_time(struct cpu_work *work)
{
    struct handle *e = work->event;
    if (work->id < e->done_by) return; // recorded again, in a stream that came first
    e->done_by = work->id;
    clock_gettime(CLOCK_MONOTONIC, &e->time);
}

// Runs what is in the order, but the host has not waited for it. Returns how much has run.
static size_t run_unseen(const struct cpu_order *order)
{
    size_t ran = queue ? run_up_to(order, true) : 0;
    cpu_tell_early_access();
    return ran;
}

static cudaError_t destroy(void *handle, unsigned kind)
{
    struct handle *h = find(handle, kind), **link = &handles;
    if (!h) return cudaErrorInvalidResourceHandle;
    for (const struct cpu_work *w = queue; w; w = w->next) // what uses it runs before it goes
        if (w->run == note_time && w->event == h) add_order(&h->order, &w->order);
    if (is_blocking(h)) add_order(&destroyed, &h->order);
    run_unseen(&h->order);
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

// Asked whether it is ready, a stream or an event says no once, if it is not, and then runs. A second question says yes.
static cudaError_t query(struct cpu_order order)
{
    if (run_unseen(&order)) return cudaErrorNotReady;
    finish(order);
    return cudaSuccess;
}

PUBLIC cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    ENTER();
    const struct handle *s = stream_of(stream);
    if (!s) LEAVE(cudaErrorInvalidResourceHandle);
    LEAVE(query(order_of(s)));
}

PUBLIC cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    ENTER();
    const struct handle *e = find(event, EVENT);
    if (!cpu_is_stream(stream) || !e) LEAVE(cudaErrorInvalidResourceHandle);
    if (flags) LEAVE(flags == 1 ? cudaErrorIllegalState : cudaErrorInvalidValue);
    add_order(&stream_of(stream)->order, &e->order);
    LEAVE(cudaSuccess);
}

PUBLIC cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER();
    struct handle *e = find(event, EVENT);
    if (!e || !cpu_is_stream(stream)) LEAVE(cudaErrorInvalidResourceHandle);
    struct cpu_work *work = cpu_add_work(stream, note_time);
    if (!work) LEAVE(cudaErrorMemoryAllocation);
    work->event = e;
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
    if (e) finish(e->order);
    LEAVE(e ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

PUBLIC cudaError_t cudaEventQuery(cudaEvent_t event)
{
    ENTER();
    const struct handle *e = find(event, EVENT);
    LEAVE(e ? query(e->order) : cudaErrorInvalidResourceHandle);
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

static void call_host(struct cpu_work *work)
{
    const struct cpu_host_call *c = &work->host_call;
    cudaError_t error = cpu_context_is_broken() ? cpu_broken : cudaSuccess;
    cpu_is_in_host_function = true;
    if (c->function && !error) c->function(c->data);
    if (c->callback) c->callback(c->stream, error, c->data);
    cpu_is_in_host_function = false;
}

static cudaError_t add_host_call(struct cpu_host_call call)
{
    if (!cpu_is_stream(call.stream)) return cudaErrorInvalidResourceHandle;
    if (!call.function && !call.callback) return cudaErrorInvalidValue;
    struct cpu_work *work = cpu_add_work(call.stream, call_host);
    if (work) work->host_call = call;
    return work ? cudaSuccess : cudaErrorMemoryAllocation;
}
PUBLIC cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    CALL(add_host_call((struct cpu_host_call){function, NULL, stream, data}));
}
PUBLIC cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                         void *data, unsigned flags)
{
    CALL(flags ? cudaErrorInvalidValue
               : add_host_call((struct cpu_host_call){NULL, callback, stream, data}));
}
