// Gathers an ordinary index or result, which the device cannot reach: through pinned memory, a chunk of
// the indices at a time, by two threads of the CPU.
// Build: make libgather.so
// Run:   ./gather_c, or from Python: see gather.pyx
#include "check.h"
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#pragma GCC visibility push(default)
#include "gather.cuh"
#pragma GCC visibility pop
#include "gather_launch.cuh"

#define PER_THREAD_STREAM ((void *)2) // cudaStreamPerThread: another stream in each thread

struct Thread {
    const Part *part;
    size_t number, threads, chunk; // of 2 threads, number 1 gathers chunks 1, 3, 5 ...
    int device;
    void *context;
    int error; // what came of it
    unsigned long long first_bad;
};

// Calls cuCtxGetCurrent or cuCtxSetCurrent. A thread's context is not always its device's primary one, the
// only one that the runtime's own functions know: PyCUDA makes others. The CPU stand-in has none.
static int call_driver(const char *function, void *argument)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); // only if it is loaded
    int (*call)(void *) = driver ? (int (*)(void *))dlsym(driver, function) : NULL;
    int error = call ? call(argument) : cudaSuccess;
    if (driver)
        dlclose(driver);
    return error;
}

static int gather_chunks(Thread *thread)
{
    const Part *part = thread->part;
    const gather_job *job = part->job;
    size_t index_bytes = job->index_bytes, element_bytes = job->element_bytes;
    const char *index = (const char *)job->index, *d_index = (const char *)part->d_job.index;
    char *result = (char *)job->result, *d_result = (char *)part->d_job.result;
    Scratch *scratch = gather_scratch[thread->number];
    for (size_t start = thread->number * thread->chunk; start < job->N;
         start += thread->threads * thread->chunk) {
        gather_job d_job = part->d_job;
        d_job.N = job->N - start < thread->chunk ? job->N - start : thread->chunk;
        d_job.index = d_index ? d_index + start * index_bytes : (char *)scratch->index;
        d_job.result = d_result ? d_result + start * element_bytes : (char *)scratch->result;
        if (!d_index)
            memcpy(scratch->index, index + start * index_bytes, d_job.N * index_bytes);
        // The kernel writes the elements of this part; those of earlier parts have to survive the copy back.
        if (!d_result && part->first > 0)
            memcpy(scratch->result, result + start * element_bytes, d_job.N * element_bytes);
        scratch->first_bad = NO_BAD_INDEX;
        int error = gather_launch_part(&d_job, part->first, part->count, part->over_bus,
                                       &scratch->first_bad);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize((cudaStream_t)job->stream);
        if (error != cudaSuccess)
            return error;
        if (scratch->first_bad != NO_BAD_INDEX) {
            thread->first_bad = start + scratch->first_bad;
            return cudaSuccess;
        }
        if (!d_result)
            memcpy(result + start * element_bytes, scratch->result, d_job.N * element_bytes);
    }
    return cudaSuccess;
}

// A new thread needs its maker's context, which is of the device; without one, the device.
static void *run_thread(void *argument)
{
    Thread *thread = (Thread *)argument;
    thread->error = thread->context ? call_driver("cuCtxSetCurrent", thread->context)
                                    : cudaSetDevice(thread->device);
    if (thread->error == cudaSuccess)
        thread->error = gather_chunks(thread);
    return NULL;
}

int gather_part(const Part *part, unsigned long long *first_bad)
{
    bool is_reached = part->d_job.index && part->d_job.result; // by the kernel: one launch for all
    Thread first = {part, 0, 1, is_reached ? part->job->N : GATHER_CHUNK, 0, NULL, 0, NO_BAD_INDEX};
    if (part->job->N <= first.chunk || part->job->stream == PER_THREAD_STREAM) {
        first.error = gather_chunks(&first);
        *first_bad = first.first_bad;
        return first.error;
    }

    // Two threads: one alone copies slower than the bus, and waits while the device works.
    first.threads = 2;
    first.error = cudaGetDevice(&first.device);
    if (first.error == cudaSuccess)
        first.error = call_driver("cuCtxGetCurrent", &first.context);
    if (first.error != cudaSuccess)
        return first.error;
    Thread second = first;
    second.number = 1;
    pthread_t handle;
    bool is_made = pthread_create(&handle, NULL, run_thread, &second) == 0;
    first.error = gather_chunks(&first);
    if (is_made)
        pthread_join(handle, NULL);
    else
        second.error = gather_chunks(&second); // no second thread: its chunks come afterwards
    *first_bad = first.first_bad < second.first_bad ? first.first_bad : second.first_bad;
    return first.error ? first.error : second.error;
}
