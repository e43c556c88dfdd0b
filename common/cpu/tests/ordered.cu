// Work of three streams on one number, drawn: ./ordered SEED. Each access comes after all that it has to come after, by
// the masks below, but in most programs the last: "not ordered". Then the stand-in has to say so, and else nothing.
#include "expect.h"
#include <random>

// Stream 0 is the default one, which waits for all others, as they do for it.
enum { STREAMS = 3, EVENTS = 2, STEPS = 24 };

__global__ void Write(int *p, int value) { *p = value; }
__global__ void Read(const int *p, int *out) { *out = *p; }

static int *number, *out;
static cudaStream_t stream[STREAMS];

static void access(int kind, int step, cudaStream_t s)
{
    int value = 1000 + step; // each another one: to write what is there already is no race
    if (kind == 0) Write<<<1, 1, 0, s>>>(number, value);
    if (kind == 1) OK(cudaMemsetAsync(number, value % 256, sizeof *number, s));
    if (kind == 2) OK(cudaMemcpyAsync(number, &value, sizeof *number, cudaMemcpyHostToDevice, s));
    if (kind == 3) Read<<<1, 1, 0, s>>>(number, out + step);
    if (kind == 4) OK(cudaMemcpyAsync(out + step, number, sizeof *number, cudaMemcpyDeviceToDevice, s));
}

int main(int, char **arguments)
{
    std::mt19937 draw(atoi(arguments[1]));
    cudaEvent_t event[EVENTS];
    OK(cudaMalloc(&number, sizeof *number));
    OK(cudaMalloc(&out, STEPS * sizeof *out));
    OK(cudaMemset(number, 0, sizeof *number));
    for (int s = 1; s < STREAMS; s++) OK(cudaStreamCreate(&stream[s]));
    for (cudaEvent_t &e : event) OK(cudaEventCreate(&e));
    OK(cudaDeviceSynchronize());

    // Masks of steps: what comes before a stream's next work, or before an event; what the host knows to be done; what
    // has written, or accessed at all.
    unsigned before[STREAMS] = {}, recorded[EVENTS] = {}, done = 0, written = 0, accessed = 0;
    bool is_ordered = true; // until the last access
    for (int step = 0; step < STEPS; step++) {
        int what = draw() % 20, kind = draw() % 5, s = draw() % 10 ? 1 + draw() % 2 : 0, e = draw() % EVENTS;
        if (what < 7) {
            unsigned all = before[s] | done;
            for (int t = 0; s == 0 && t < STREAMS; t++) all |= before[t];
            is_ordered = !((kind < 3 ? accessed : written) & ~all);
            if (!is_ordered && step < STEPS / 2) continue;
            access(kind, step, stream[s]);
            if (!is_ordered) break;
            before[s] = all;
            before[s] |= 1u << step, accessed |= 1u << step, written |= (kind < 3) << step;
            for (int t = 0; s == 0 && t < STREAMS; t++) before[t] |= before[0];
        } else if (s == 0) {
            continue;
        } else if (what < 13) {
            OK(cudaEventRecord(event[e], stream[s]));
            recorded[e] = before[s];
        } else if (what < 19) {
            OK(cudaStreamWaitEvent(stream[s], event[e]));
            before[s] |= recorded[e];
        } else if (kind < 3) {
            OK(cudaEventSynchronize(event[e]));
            done |= recorded[e];
        } else {
            OK(cudaStreamSynchronize(stream[s]));
            done |= before[s];
        }
    }
    puts(is_ordered ? "ordered" : "not ordered");
    for (int s = 1; s < STREAMS; s++) OK(cudaStreamDestroy(stream[s]));
    for (cudaEvent_t e : event) OK(cudaEventDestroy(e));
    OK(cudaFree(number));
    OK(cudaFree(out));
}
