// Streams and events, as far as draw.py does not draw them: what is refused, and copies that have not happened yet.
#include "expect.h"
#include <cstdlib>

__global__ void set(int *p, int value) { *p = value; }
__global__ void slow(unsigned long long *sink) // long enough for the host to look in the meantime
{
    unsigned long long x = 0;
    for (int i = 0; i < 20000000; i++) x += i ^ (x << 1);
    *sink = x;
}

static int *a, *b, *pinned;
static unsigned long long *sink;
static cudaStream_t s, t, apart;
static cudaEvent_t e, f, untimed, twice;

static void create()
{
    OK(cudaMalloc(&a, 4));
    OK(cudaMalloc(&b, 4));
    OK(cudaMalloc(&sink, 8));
    OK(cudaMallocHost(&pinned, 4));
    int least, greatest;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    IS(least, 0);
    IS(greatest, -5);
    OK(cudaStreamCreate(&s));
    OK(cudaStreamQuery(s));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamDefault));
    OK(cudaStreamCreateWithPriority(&apart, cudaStreamNonBlocking, least));
    FAILS(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&apart, 77));
    FAILS(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
    OK(cudaEventCreate(&e));
    OK(cudaEventQuery(e));
    OK(cudaEventSynchronize(e));
    OK(cudaEventCreate(&f));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    unsigned flags = 7;
    int priority = 7;
    OK(cudaStreamGetFlags(apart, &flags));
    IS(flags, 1);
    OK(cudaStreamGetFlags(0, &flags));
    IS(flags, 0);
    FAILS(cudaErrorInvalidValue, cudaStreamGetFlags(apart, nullptr));
    OK(cudaStreamGetPriority(apart, &priority));
    IS(priority, 0);
}

static char order[8];
static void note(void *letter) { strncat(order, (char *)letter, 1); }

static void come_later()
{
    // a copy to pinned memory has not happened before somebody waits
    OK(cudaEventRecord(e, s));
    slow<<<1, 1, 0, s>>>(sink);
    set<<<1, 1, 0, s>>>(a, 40);
    OK(cudaMemcpyAsync(pinned, a, 4, cudaMemcpyDeviceToHost, s));
    OK(cudaEventRecord(f, s));
    GIVES(cudaErrorNotReady, cudaEventQuery(f));
    OK(cudaGetLastError());
    OK(cudaStreamSynchronize(s));
    OK(cudaEventQuery(f));
    OK(cudaStreamQuery(s));
    IS(*pinned, 40);

    // a source that is not pinned may be changed as soon as the call returns
    int pageable = 50;
    slow<<<1, 1, 0, s>>>(sink);
    OK(cudaMemcpyAsync(b, &pageable, 4, cudaMemcpyHostToDevice, s));
    pageable = 60;
    OK(cudaStreamSynchronize(s));
    HAS(b, {50});

    OK(cudaLaunchHostFunc(s, note, (void *)"a"));
    OK(cudaLaunchHostFunc(s, note, (void *)"b"));
    FAILS(cudaErrorInvalidValue, cudaLaunchHostFunc(s, nullptr, nullptr));
    OK(cudaStreamSynchronize(s));
    IS(strcmp(order, "ab"), 0);
}

static void measure_time()
{
    float ms = -1;
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, e, untimed));
    FAILS(cudaErrorInvalidValue, cudaEventElapsedTime(nullptr, e, f));
    OK(cudaEventElapsedTime(&ms, e, f));
    IS(ms >= 0, true);
    OK(cudaEventRecord(e, s));
    slow<<<1, 1, 0, s>>>(sink);
    OK(cudaEventRecord(f, s));
    GIVES(cudaErrorNotReady, cudaEventElapsedTime(&ms, e, f));
    OK(cudaGetLastError());
    OK(cudaEventSynchronize(f));
    OK(cudaEventElapsedTime(&ms, e, f));
    OK(cudaEventRecord(f, s)); // in two streams, the second of which is done first: the later call counts
    slow<<<1, 1, 0, t>>>(sink);
    OK(cudaEventRecord(f, t));
    OK(cudaStreamSynchronize(t));
    OK(cudaStreamSynchronize(s));
    OK(cudaEventElapsedTime(&ms, e, f));
    cudaEvent_t never;
    OK(cudaEventCreate(&never));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, e, never));
    OK(cudaEventDestroy(never));
}

static void refuse()
{
    OK(cudaEventSynchronize(untimed));
    OK(cudaStreamWaitEvent(s, untimed, 0));
    FAILS(cudaErrorIllegalState, cudaStreamWaitEvent(s, untimed, 1));
    FAILS(cudaErrorInvalidValue, cudaStreamWaitEvent(s, untimed, 99));
    OK(cudaEventRecord(untimed, s)); // in two streams: the later call counts
    OK(cudaEventRecord(untimed, t));
    OK(cudaEventSynchronize(untimed));
    OK(cudaEventQuery(untimed));
    OK(cudaStreamSynchronize(s));
    OK(cudaEventQuery(untimed));
    OK(cudaEventRecordWithFlags(e, s));
    FAILS(cudaErrorIllegalState, cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
    FAILS(cudaErrorInvalidValue, cudaEventRecordWithFlags(e, s, 5));
    OK(cudaEventSynchronize(e));
    FAILS(cudaErrorInvalidValue, cudaMemsetAsync(a, 0, 8, s));
    OK(cudaMemcpyAsync(a, pinned, 4, cudaMemcpyDeviceToHost, s));
    FAILS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(nullptr));
}

static void call_back(cudaStream_t stream, cudaError_t status, void *told)
{
    *(int *)told = stream == s && status == cudaSuccess;
}

static void destroy()
{
    int told = 0;
    OK(cudaStreamAddCallback(s, call_back, &told, 0));
    OK(cudaStreamSynchronize(s));
    IS(told, 1);
    // recorded twice, and destroyed while both are to come: nobody writes where it was
    cudaStream_t other;
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaEventCreate(&twice));
    set<<<1, 1, 0, apart>>>(b, 1);
    OK(cudaEventRecord(twice, apart));
    OK(cudaEventRecord(twice, other));
    OK(cudaEventDestroy(twice));
    char *mine[16], zeros[740] = {};
    for (int i = 0; i < 16; i++) mine[i] = (char *)memset(malloc(500 + 16 * i), 0, 500 + 16 * i);
    OK(cudaStreamSynchronize(apart));
    for (int i = 0; i < 16; i++) {
        IS(memcmp(mine[i], zeros, 500 + 16 * i), 0);
        free(mine[i]);
    }
    OK(cudaStreamDestroy(other));
    OK(cudaEventDestroy(e));
    OK(cudaEventDestroy(f));
    OK(cudaEventDestroy(untimed));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(apart));
    set<<<1, 1, 0, t>>>(b, 80);
    OK(cudaStreamDestroy(t)); // its work is done all the same
    OK(cudaDeviceSynchronize());
    HAS(b, {80});
    slow<<<1, 1>>>(sink);
    set<<<1, 1>>>(pinned, 70);
    OK(cudaFree(a)); // waits for all work
    IS(*pinned, 70);
    OK(cudaFreeHost(pinned));
    OK(cudaFree(b));
    OK(cudaFree(sink));
    OK(cudaDeviceSynchronize());
}

int main(void)
{
    create();
    come_later();
    measure_time();
    refuse();
    destroy();
    return all_is_well();
}
