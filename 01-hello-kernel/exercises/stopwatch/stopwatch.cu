// Exercise stopwatch: find the bugs. "My kernel takes 5 microseconds, however large the array is."
// Check: make exercises EXERCISE=stopwatch
#include "bench/bench.h" // median()

double now(void); // seconds on the host's clock

// Milliseconds that the kernel takes which launch() launches.
double milliseconds(void (*launch)(void))
{
    std::vector<double> times;
    for (int run = -3; run < 21; run++) { // the first three do not count
        double start = now();
        launch();
        CHECK(cudaDeviceSynchronize()); // was: double seconds = now() - start;
        double seconds = now() - start; // was: CHECK(cudaDeviceSynchronize());
        if (run >= 0)
            times.push_back(seconds);
    }
    return 1e3 * median(times); // was: return 1e3 * times.back();
}
