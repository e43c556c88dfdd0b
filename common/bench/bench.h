// Measuring, for programs that make bench runs: clocks, the median of several launches, and the
// device's copy bandwidth to compare with.
#pragma once
#include "check.h"
#include <algorithm>
#include <string.h>
#include <time.h>
#include <vector>

// Seconds on the host's clock, from any starting point.
static inline double host_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// What the CPU stand-in takes says nothing about a GPU.
static inline bool is_stand_in(void)
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    return strstr(device.name, "stand-in") != NULL;
}

// P of "./program P", or `otherwise` if there is none. Ends the program, with its usage, for all but `least` to `most`.
static inline int power_of_two(int argc, char **argv, const char *usage, int otherwise, int least,
                               int most)
{
    char *end = NULL;
    long power = argc > 1 ? strtol(argv[1], &end, 10) : otherwise;
    if ((end && *end) || power < least || power > most) {
        fprintf(stderr, "%s, P from %d to %d\n", usage, least, most);
        exit(2);
    }
    return (int)power;
}

// Ends the program unless it runs on a GPU.
static inline void require_gpu(void)
{
    if (is_stand_in()) {
        fprintf(stderr, "times are taken on a GPU only: the CPU stand-in is never timed\n");
        exit(EXIT_FAILURE);
    }
}

static inline double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// Seconds that the device takes for what `launch` starts: by events, the median of 21 runs after
// three to warm up:   double t = device_time([&] { Kernel<<<blocks, threads>>>(d_x); });
template <typename Launch> static double device_time(Launch launch)
{
    cudaEvent_t start, stop;
    std::vector<double> times;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int run = -3; run < 21; run++) {
        float milliseconds;
        CHECK(cudaEventRecord(start));
        launch();
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
        if (run >= 0)
            times.push_back(milliseconds * 1e-3);
    }
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaEventDestroy(start));
    return median(times);
}

// Seconds on the host's clock for `work`, until the device has finished too: the median of 21 runs.
template <typename Work> static double call_time(Work work)
{
    std::vector<double> times;
    for (int run = -3; run < 21; run++) {
        double start = host_seconds();
        work();
        CHECK(cudaDeviceSynchronize());
        if (run >= 0)
            times.push_back(host_seconds() - start);
    }
    return median(times);
}

// What a copy within the device moves, bytes read and bytes written, a second: no kernel that has
// to read and write its data in device memory is much faster. 256 MB: more than any cache holds.
static inline double copy_bandwidth(void)
{
    const size_t bytes = 256 << 20;
    char *from, *to;
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMemset(from, 1, bytes));
    double seconds =
        device_time([&] { CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); });
    CHECK(cudaFree(to));
    CHECK(cudaFree(from));
    return 2 * bytes / seconds;
}
