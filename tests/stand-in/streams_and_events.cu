// Streams and events: what waits for what, what is refused, and copies that have not happened yet.
#include <cstdio>
#include <cstdlib>

__global__ void set(int *p, int value) { *p = value; }
__global__ void add(int *to, const int *from) { *to += *from; }
__global__ void slow(unsigned long long *sink) // long enough for the host to look in the meantime
{
    unsigned long long x = 0;
    for (int i = 0; i < 20000000; i++)
        x += i ^ (x << 1);
    *sink = x;
}
#define SHOW(x) printf("%-58s %s\n", #x, cudaGetErrorName(x))
static int value_of(const int *d)
{
    int h;
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    return h;
}

int main()
{
    int *a, *b, *pinned, *pageable = (int *)malloc(4);
    unsigned long long *sink;
    cudaStream_t s, t, free_one;
    cudaEvent_t e, f, untimed;
    float ms = -1;
    SHOW(cudaMalloc(&a, 4));
    SHOW(cudaMalloc(&b, 4));
    SHOW(cudaMalloc(&sink, 8));
    SHOW(cudaMallocHost(&pinned, 4));
    SHOW(cudaStreamCreate(&s));
    SHOW(cudaStreamCreateWithFlags(&t, cudaStreamDefault));
    SHOW(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
    SHOW(cudaStreamCreateWithFlags(&free_one, 77));
    SHOW(cudaStreamCreate(nullptr));
    SHOW(cudaEventCreate(&e));
    SHOW(cudaEventCreate(&f));
    SHOW(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));

    // one stream: in order
    set<<<1, 1, 0, s>>>(a, 1);
    set<<<1, 1, 0, s>>>(a, 2);
    SHOW(cudaStreamSynchronize(s));
    printf("one stream: %d\n", value_of(a));

    // two streams, and an event in between
    slow<<<1, 1, 0, s>>>(sink);
    set<<<1, 1, 0, s>>>(a, 10);
    SHOW(cudaEventRecord(e, s));
    SHOW(cudaStreamWaitEvent(t, e, 0));
    set<<<1, 1, 0, t>>>(b, 5);
    add<<<1, 1, 0, t>>>(b, a);
    SHOW(cudaStreamSynchronize(t));
    printf("after an event: %d\n", value_of(b));

    // the default stream waits for the others, and they for it
    slow<<<1, 1, 0, s>>>(sink);
    set<<<1, 1, 0, s>>>(a, 20);
    add<<<1, 1>>>(b, a);
    set<<<1, 1, 0, t>>>(a, 30);
    SHOW(cudaStreamSynchronize(t));
    printf("default stream: %d %d\n", value_of(a), value_of(b));

    // a copy to pinned memory has not happened before somebody waits
    *pinned = -1;
    slow<<<1, 1, 0, s>>>(sink);
    set<<<1, 1, 0, s>>>(a, 40);
    SHOW(cudaMemcpyAsync(pinned, a, 4, cudaMemcpyDeviceToHost, s));
    SHOW(cudaEventRecord(f, s));
    SHOW(cudaEventQuery(f));
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaEventQuery(f));
    SHOW(cudaStreamQuery(s));
    printf("pinned: %d\n", *pinned);

    // a source that is not pinned may be changed as soon as the call returns
    *pageable = 50;
    slow<<<1, 1, 0, s>>>(sink);
    SHOW(cudaMemcpyAsync(b, pageable, 4, cudaMemcpyHostToDevice, s));
    *pageable = 60;
    SHOW(cudaStreamSynchronize(s));
    printf("pageable: %d\n", value_of(b));

    // the errors
    SHOW(cudaEventElapsedTime(&ms, e, untimed));
    cudaGetLastError();
    SHOW(cudaEventElapsedTime(nullptr, e, f));
    cudaGetLastError();
    SHOW(cudaEventElapsedTime(&ms, e, f));
    printf("time went on: %d\n", ms >= 0);
    SHOW(cudaEventRecord(e, s));
    slow<<<1, 1, 0, s>>>(sink);
    SHOW(cudaEventRecord(f, s));
    SHOW(cudaEventElapsedTime(&ms, e, f));
    SHOW(cudaGetLastError());
    SHOW(cudaEventSynchronize(f));
    SHOW(cudaEventElapsedTime(&ms, e, f));
    SHOW(cudaEventSynchronize(untimed));
    SHOW(cudaStreamWaitEvent(s, untimed, 0));
    SHOW(cudaStreamWaitEvent(s, untimed, 1));
    SHOW(cudaStreamWaitEvent(s, untimed, 99));
    cudaGetLastError();
    SHOW(cudaEventRecord(untimed, s)); // in two streams: the later call counts
    SHOW(cudaEventRecord(untimed, t));
    SHOW(cudaEventSynchronize(untimed));
    SHOW(cudaEventQuery(untimed));
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaEventQuery(untimed));
    SHOW(cudaMemsetAsync(a, 0, 8, s));
    cudaGetLastError();
    SHOW(cudaMemcpyAsync(a, pinned, 4, cudaMemcpyDeviceToHost, s));
    cudaGetLastError();
    SHOW(cudaStreamDestroy(nullptr));
    cudaGetLastError();
    SHOW(cudaEventDestroy(e));
    SHOW(cudaEventDestroy(f));
    SHOW(cudaEventDestroy(untimed));
    SHOW(cudaStreamDestroy(s));
    SHOW(cudaStreamDestroy(t));
    SHOW(cudaStreamDestroy(free_one));
    slow<<<1, 1>>>(sink);
    set<<<1, 1>>>(pinned, 70);
    SHOW(cudaFree(a)); // waits for all work
    printf("after cudaFree: %d\n", *pinned);
    SHOW(cudaFreeHost(pinned));
    SHOW(cudaFree(b));
    SHOW(cudaFree(sink));
    free(pageable);
    SHOW(cudaDeviceSynchronize());
}
