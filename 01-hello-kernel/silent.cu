// Six failures that nobody notices. Of each there are two functions, one below the other: the wrong one,
// and the same with the line that finds the failure, or prevents it.
// Build: make silent
// Run:   ./silent big_block, then ./silent big_block check; the others: see main
#include "check.h"
#include <string.h>

static const int n = 1000;

__global__ void Fill(float *x, float value, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        x[i] = value;
}

__global__ void FillWithoutGuard(float *x, float value)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void Greet(void)
{
    printf("Hello from a kernel\n");
}

// n floats on the device, all 1.
static float *device_ones(void)
{
    float *d_x;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    Fill<<<(n + 255) / 256, 256>>>(d_x, 1, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return d_x;
}

// Copies x back and says how many of its elements are 7, which is what every failure is to write.
static void count_sevens(float *d_x)
{
    float x[n] = {};
    int sevens = 0;
    CHECK(cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost));
    for (float element : x)
        sevens += element == 7;
    printf("%d of %d elements are 7\n", sevens, n);
    CHECK(cudaFree(d_x));
}

// ---- A block of 1025 threads is one too many: nothing runs, and the launch itself tells nobody.

static void big_block(void)
{
    float *d_x = device_ones();
    Fill<<<1, 1025>>>(d_x, 7, n);
    count_sevens(d_x);
}

static void big_block_checked(void)
{
    float *d_x = device_ones();
    Fill<<<1, 1025>>>(d_x, 7, n);
    CHECK(cudaGetLastError());
    count_sevens(d_x);
}

// ---- The program ends before the kernel has run, or before its text has come back.

static void no_wait(void)
{
    Greet<<<1, 1>>>();
    CHECK(cudaGetLastError());
}

static void no_wait_checked(void)
{
    Greet<<<1, 1>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

// ---- 4 blocks of 256 are 1024 threads, for 1000 elements. The check that is missing is i < n.

static void no_guard(void)
{
    float *d_x = device_ones();
    FillWithoutGuard<<<4, 256>>>(d_x, 7);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    count_sevens(d_x);
}

static void no_guard_checked(void)
{
    float *d_x = device_ones();
    Fill<<<4, 256>>>(d_x, 7, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    count_sevens(d_x);
}

// ---- An array of the CPU's, given to a kernel. The launch is fine; what it follows is not.

static void host_pointer(void)
{
    float x[n] = {};
    Fill<<<(n + 255) / 256, 256>>>(x, 7, n);
    cudaDeviceSynchronize(); // returns an error that nobody looks at
    printf("x[0] is %g\n", x[0]);
}

static void host_pointer_checked(void)
{
    float x[n] = {};
    Fill<<<(n + 255) / 256, 256>>>(x, 7, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    printf("x[0] is %g\n", x[0]);
}

// ---- A kernel fails, and the first call after it that waits reports the error as if it were its own.

static void late(void)
{
    float *d_x = device_ones(), *no_array = NULL;
    Fill<<<(n + 255) / 256, 256>>>(no_array, 7, n);
    CHECK(cudaGetLastError());
    count_sevens(d_x); // there is nothing wrong with this copy
}

static void late_checked(void)
{
    float *d_x = device_ones(), *no_array = NULL;
    Fill<<<(n + 255) / 256, 256>>>(no_array, 7, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    count_sevens(d_x);
}

// ---- A race: each thread reads the counter, adds 1 and writes it, and many do so at the same time. The one
// overwrites what the other has written. atomicAdd does all three in one step, one thread after the other.

__global__ void Count(int *count)
{
    *count += 1;
}

__global__ void CountByAtomic(int *count)
{
    atomicAdd(count, 1);
}

static int *device_zero(void)
{
    int *d_count;
    CHECK(cudaMalloc(&d_count, sizeof *d_count));
    CHECK(cudaMemset(d_count, 0, sizeof *d_count));
    return d_count;
}

// Waits for the kernel, and says how many of its 1000 threads it has counted.
static void show_count(int *d_count)
{
    int count;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&count, d_count, sizeof count, cudaMemcpyDeviceToHost));
    printf("%d of 1000 threads are counted\n", count);
    CHECK(cudaFree(d_count));
}

static void race(void)
{
    int *d_count = device_zero();
    Count<<<4, 250>>>(d_count);
    show_count(d_count);
}

static void race_checked(void)
{
    int *d_count = device_zero();
    CountByAtomic<<<4, 250>>>(d_count);
    show_count(d_count);
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*wrong)(void);
        void (*checked)(void);
    } failures[] = {{"big_block", big_block, big_block_checked},
                    {"no_wait", no_wait, no_wait_checked},
                    {"no_guard", no_guard, no_guard_checked},
                    {"host_pointer", host_pointer, host_pointer_checked},
                    {"late", late, late_checked},
                    {"race", race, race_checked}};
    bool is_checked = argc == 3 && strcmp(argv[2], "check") == 0;

    for (auto &failure : failures) {
        if ((argc == 2 || is_checked) && strcmp(argv[1], failure.name) == 0) {
            if (is_checked)
                failure.checked();
            else
                failure.wrong();
            return 0;
        }
    }
    fprintf(stderr, "./silent big_block|no_wait|no_guard|host_pointer|late|race [check]\n");
    return 2;
}
