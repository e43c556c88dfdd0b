// Errors: what each call returns, what cudaGetLastError() remembers, and failures on demand.
#include "runtime.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cpu_checks cpu_checks;
// Recursive, as a host function may call CUDA, in vain.
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
cudaError_t cpu_broken = cudaSuccess; // the sticky error: only a new process gets rid of it
struct cpu_call cpu_call;
bool cpu_is_forked = false;
bool cpu_is_in_host_function;
__thread cudaError_t cpu_last_error = cudaSuccess;

// CUDA_VISIBLE_DEVICES hides devices as it does from CUDA; device 0 is all there is.
static bool device_is_hidden(void)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    return visible && !(visible[0] == '0' && (visible[1] == '\0' || visible[1] == ','));
}

// CPU_CUDA_FAIL=k makes the k-th call fail, with CPU_CUDA_FAIL_CODE (2, out of memory, if unset); k+ all from there on, but
// not those that give something back, or no program could clean up; k++ also those, with cudaErrorInvalidValue, so that it
// is seen which error a program keeps.
static cudaError_t failure_on_demand(void)
{
    static long calls;
    const char *which = getenv("CPU_CUDA_FAIL"), *code = getenv("CPU_CUDA_FAIL_CODE");
    if (!which) return cudaSuccess;
    const char *name = cpu_call.name;
    bool is_launch = !cpu_call.place, has_plus = strchr(which, '+');
    bool gives_back =
        has_plus && !is_launch &&
        (strstr(name, "Free") || strstr(name, "Destroy") || strstr(name, "Unregister"));
    if (gives_back && !strstr(which, "++")) return cudaSuccess;
    if (++calls < atol(which) || (calls > atol(which) && !has_plus)) return cudaSuccess;
    cpu_say("CPU_CUDA_FAIL: call %ld, %s%s, fails, as asked", calls,
            is_launch ? "the launch of " : "", name);
    if (gives_back) return cudaErrorInvalidValue;
    return code ? (cudaError_t)atoi(code) : cudaErrorMemoryAllocation;
}

const char *volatile cpu_waiting_call;

void cpu_lock(void) { cpu_lock_for("another call"); }
void cpu_lock_for(const char *call)
{
    char text[400];
    if (cpu_running) { // it holds the lock already
        if (cpu_break_context(cudaErrorLaunchFailure))
            cpu_say("%s: kernel %s calls a function of the CUDA runtime: only host code can",
                    cpu_launched_at(cpu_running, text, sizeof text), cpu_running->kernel);
        cpu_leave_kernel();
    }
    if (call) cpu_waiting_call = call;
    pthread_mutex_lock(&lock);
    if (call) cpu_waiting_call = NULL;
}
void cpu_unlock(void) { pthread_mutex_unlock(&lock); }

// A process forked after its parent used CUDA has no device, and no work of its own to report. The lock's owner was the
// parent's thread.
static void in_forked_child(void)
{
    cpu_is_forked = true;
    cpu_broken = cudaErrorInitializationError;
    lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

// ---- Errors that nobody has looked at

unsigned long cpu_calls;
static struct cpu_call unseen_call;
static cudaError_t unseen;
static bool has_seen_the_end; // of the context
static struct {
    cudaError_t error;
    const char *kernel;
    bool is_returned; // by some call
} end;                // of the context
static bool has_told;

static void note_error(cudaError_t error)
{
    bool is_query =
        error == cudaErrorNotReady && strcmp(cpu_call.name, "cudaEventElapsedTime") != 0;
    bool is_question = is_query || error == cudaErrorNoDevice;
    if (unseen || is_question || has_seen_the_end || cpu_is_forked || cpu_is_own(cpu_call.place))
        return;
    unseen = error;
    unseen_call = cpu_call;
}

static void note_seen(cudaError_t error)
{
    if (!error) return;
    pthread_mutex_lock(&lock);
    unseen = cudaSuccess;
    has_seen_the_end = cpu_context_is_broken();
    pthread_mutex_unlock(&lock);
}

static int status_at_exit;

static void at_exit(int status, void *unused)
{
    char text[400];
    (void)unused;
    status_at_exit = status;
    cpu_lock_for("exit"); // for good: nothing runs by itself any more
    if (status || cpu_is_forked) return;
    if (end.error && !end.is_returned && !has_seen_the_end) {
        cpu_say(
            "the program ends as if all were well, but kernel %s ended with %s, and nobody asked",
            end.kernel, cudaGetErrorName(end.error));
        has_told = true;
        return;
    }
    if (!unseen) return;
    const char *line = cpu_line_of(unseen_call.place, text, sizeof text),
               *file = unseen_call.launch_file;
    if (file) snprintf(text, sizeof text, "%s:%d", file, unseen_call.launch_line);
    cpu_say(
        "the program ends with status 0, but %s%s%s%s returned %s, and nobody asked what that is",
        file ? "the launch of " : "", unseen_call.name, file || line ? " at " : "",
        file   ? text
        : line ? line
               : "",
        cudaGetErrorName(unseen));
}

void cpu_say_of_call(const char *format, ...)
{
    char text[600], line[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *where = cpu_line_of(cpu_call.place, line, sizeof line);
    cpu_say("%s%s%s: %s", where ? where : "", where ? ": " : "", cpu_call.name, text);
}

// ---- Faults that a GPU lets pass: they are told, once for a line, and the program goes on

// Whether nothing has been told of this place, or of its line; nor of the other side's, if it has one: one bug is often
// seen from both.
bool cpu_is_news(const void *place, const void *other)
{
    enum { MOST = 64, BYTES = 300 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const void *places[MOST];
    static char lines[MOST][BYTES];
    static unsigned count;
    const void *const sides[] = {place, other};
    pthread_mutex_lock(&lock);
    has_told = true;
    unsigned known = count;
    bool is_new = true;
    for (unsigned i = 0; i < known; i++) is_new = is_new && places[i] != place;
    for (int side = 0; is_new && side < 2 && sides[side] && count < MOST; side++) {
        places[count] = sides[side];
        bool has_line = cpu_line_of(sides[side], lines[count], BYTES);
        for (unsigned i = 0; has_line && i < known; i++)
            if (strcmp(lines[i], lines[count]) == 0) is_new = false;
        count++;
    }
    pthread_mutex_unlock(&lock);
    return is_new && count < MOST;
}

// The last that a program does.
void cpu_end(bool well)
{
    if ((well && !has_told) || status_at_exit) return;
    fflush(NULL);
    _exit(1);
}

// ---- Every call

cudaError_t cpu_enter(const char *name, const void *place)
{
    static bool introduced = false;
    cpu_lock_for(name);
    cpu_call = (struct cpu_call){.name = name, .place = place};
    cpu_calls++;
    if (!introduced) {
        cpu_say("this program runs on the CPU, not on a GPU");
        pthread_atfork(cpu_lock, cpu_unlock, in_forked_child);
        on_exit(at_exit, NULL);
    }
    introduced = true;
    if (device_is_hidden()) return cudaErrorNoDevice;
    if (cpu_is_in_host_function) return cudaErrorNotPermitted;
    return cpu_context_is_broken() ? cpu_broken : failure_on_demand();
}

cudaError_t cpu_leave(cudaError_t error)
{
    if (cpu_context_is_broken()) {
        error = cpu_broken;
        if (!cpu_call.launch_line) end.is_returned = true; // kernel<<<...>>>(...) returns nothing
    }
    if (error && error != cudaErrorNotReady) cpu_last_error = error;
    if (error) note_error(error);
    cpu_unlock();
    return error;
}

bool cpu_break_context(cudaError_t error)
{
    cudaError_t none = cudaSuccess; // the first error stays; several cores may come here at once
    bool is_first = __atomic_compare_exchange_n(&cpu_broken, &none, error, false, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED);
    if (is_first && cpu_running) {
        end.error = error;
        end.kernel = cpu_running->kernel;
    }
    return is_first;
}

PUBLIC cudaError_t cudaPeekAtLastError(void)
{
    note_seen(cpu_last_error);
    return device_is_hidden() ? cudaErrorNoDevice : cpu_last_error;
}

PUBLIC cudaError_t cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    cpu_last_error = cudaSuccess;
    return error;
}

static const struct error {
    int value;
    const char *name, *text;
} errors[] = {
#define ENTRY(name, value, text) {value, #name, text},
    CPU_CUDA_ERRORS(ENTRY){-1, "unrecognized error code", "unrecognized error code"}};

static const struct error *find_error(cudaError_t error)
{
    const struct error *e = errors;
    while (e->value != (int)error && e->value >= 0) e++;
    note_seen(error);
    return e;
}
PUBLIC const char *cudaGetErrorName(cudaError_t error) { return find_error(error)->name; }
PUBLIC const char *cudaGetErrorString(cudaError_t error) { return find_error(error)->text; }
