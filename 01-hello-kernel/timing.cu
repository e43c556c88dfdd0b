// Where does the time go? b += a on the GPU, its parts one by one, beside the CPU. On a GPU only.
// Build: make timing
// Run:   ./timing, ./timing 26 (2^26 floats)
#include "bench/bench.h"

__global__ void VectorAdd(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] += a[i];
}

// The same with four floats a thread: one load of 16 bytes instead of four of 4, so that more of the
// data is under way at a time. n4: how many float4, each at an address that 16 divides.
__global__ void VectorAdd4(const float4 *a, float4 *b, int n4)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4) {
        float4 x = a[i], y = b[i];
        b[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}

static std::vector<float> a, b, result; // result: what comes back from the device
static float *d_a, *d_b;
static int n; // how many floats each has
static size_t bytes;

static void copy_in(void)
{
    CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
}

static void launch(void)
{
    VectorAdd<<<(n + 255) / 256, 256>>>(d_a, d_b, n);
    CHECK(cudaGetLastError());
}

static void launch4(void)
{
    VectorAdd4<<<(n / 4 + 255) / 256, 256>>>((const float4 *)d_a, (float4 *)d_b, n / 4);
    CHECK(cudaGetLastError());
}

static void copy_out(void)
{
    CHECK(cudaMemcpy(result.data(), d_b, bytes, cudaMemcpyDeviceToHost));
}

static void add_on_cpu(void)
{
    for (int i = 0; i < n; i++)
        b[i] += a[i];
}

static void show(const char *part, double seconds, double bytes)
{
    printf("| %-28s | %9.4f |", part, seconds * 1e3);
    if (bytes > 0)
        printf(" %6.1f |\n", bytes / seconds * 1e-9);
    else
        printf("        |\n");
}

// Returns the seconds of the first launch of all. Ends the program if a kernel's sum is not the CPU's.
static double first_launch(void)
{
    copy_in();
    CHECK(cudaDeviceSynchronize());
    double start = host_seconds();
    launch();
    CHECK(cudaDeviceSynchronize());
    double seconds = host_seconds() - start;
    copy_out();
    std::vector<float> sum = result;
    copy_in();
    launch4();
    copy_out();
    add_on_cpu();
    if (sum != b || result != b) {
        fprintf(stderr, "the GPU's sum is not the CPU's\n");
        exit(EXIT_FAILURE);
    }
    return seconds;
}

int main(int argc, char **argv)
{
    int power = power_of_two(argc, argv, "./timing P: 2^P floats", 20, 2, 28);
    double start = host_seconds();
    CHECK(cudaFree(NULL)); // the first CUDA call makes the context, whatever it asks for
    double context = host_seconds() - start;
    require_gpu();

    n = 1 << power;
    bytes = n * sizeof(float);
    for (int i = 0; i < n; i++) {
        a.push_back((float)rand() / (float)RAND_MAX);
        b.push_back((float)rand() / (float)RAND_MAX);
    }
    result.resize(n);
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    double first = first_launch(); // before anything else is timed

    double copy_rate = copy_bandwidth(), moved = 3.0 * bytes; // a and b are read, b is written
    double kernel = device_time(launch);
    double kernel4 = device_time(launch4);
    double whole_call = call_time([&] {
        copy_in();
        launch();
        copy_out();
    });
    double cpu = call_time(add_on_cpu);
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    printf("%s: b += a on 2^%d floats, equal to the CPU's\n\n", device.name, power);
    printf("| %-28s | %9s | %6s |\n|---|---|---|\n", "part", "ms", "GB/s");
    show("once: context", context, 0);
    show("once: first launch", first, 0);
    show("copy in, a and b", call_time(copy_in), 2.0 * bytes);
    show("kernel", kernel, moved);
    show("kernel, four floats a thread", kernel4, moved);
    show("copy out, b", call_time(copy_out), bytes);
    show("copy in, kernel, copy out", whole_call, 0);
    show("CPU, one thread", cpu, moved);
    printf("\nA copy within the device moves %.1f GB/s.\n", copy_rate * 1e-9);
    printf(
        "The kernel reaches %.1f %% of this rate. With four floats a thread it reaches %.1f %%.\n",
        100 * moved / kernel / copy_rate, 100 * moved / kernel4 / copy_rate);
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_a));
    return 0;
}
