// Saxpy, compiled by nvcc and by NVRTC: how fast is each, beside the device's copy bandwidth?
// Build: make saxpy_bench
// Run:   ./saxpy_bench, ./saxpy_bench 18 (2^18 floats). On a GPU only.
#include "bench/bench.h"
#include "cuda_loader.h"

// The two kernels, for nvcc as code and for NVRTC as a string.
#define CODE_AND_STRING(...) __VA_ARGS__ static const char source[] = #__VA_ARGS__;
// clang-format off
CODE_AND_STRING(
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a * x[i] + y[i];
}

// Four floats a thread: one load of 16 bytes instead of four of 4. n4: how many float4.
extern "C" __global__ void saxpy4(float a, const float4 *x, const float4 *y, float4 *out, size_t n4)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4) {
        float4 p = x[i], q = y[i];
        out[i] = make_float4(a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w);
    }
})
// clang-format on

// The kernels by NVRTC, as a module of a cubin for this device. It stays loaded: the program ends soon.
static CUmodule compile(void)
{
    nvrtcProgram program;
    CUmodule module;
    cudaDeviceProp device;
    char architecture[40];
    size_t bytes;

    CHECK(cudaGetDeviceProperties(&device, 0));
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", device.major,
             device.minor);
    const char *options[] = {architecture};
    CHECK_NVRTC(nvrtcCreateProgram(&program, source, "saxpy.cu", 0, NULL, NULL));
    CHECK_NVRTC(nvrtcCompileProgram(program, 1, options));
    CHECK_NVRTC(nvrtcGetCUBINSize(program, &bytes));
    std::vector<char> cubin(bytes);
    CHECK_NVRTC(nvrtcGetCUBIN(program, cubin.data()));
    CHECK_NVRTC(nvrtcDestroyProgram(&program));
    CHECK_CU(cuModuleLoadData(&module, cubin.data()));
    return module;
}

// Seconds of a launch on the device, after its result was compared with the CPU's.
template <typename Launch>
static double checked_time(const char *who, float *d_out, const std::vector<float> &expected,
                           Launch launch)
{
    std::vector<float> out(expected.size());
    size_t bytes = out.size() * sizeof(float);
    CHECK(cudaMemset(d_out, 0xff, bytes)); // NaN: what is not written is not equal
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
    if (out != expected) {
        fprintf(stderr, "%s: the result is not the CPU's\n", who);
        exit(EXIT_FAILURE);
    }
    return device_time(launch);
}

// The table's rows for 2^power floats; simple and four are NVRTC's kernels.
static void show(int power, CUfunction simple, CUfunction four, double copy_rate)
{
    const unsigned int threads = 256;
    size_t n = (size_t)1 << power, bytes = n * sizeof(float);
    float a = 2, *d_x, *d_y, *d_out;
    std::vector<float> x(n), y(n), expected(n);
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)(rand() % 4096); // small integers: one rounding or two, the sum is exact
        y[i] = (float)(rand() % 4096);
        expected[i] = a * x[i] + y[i];
    }
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMalloc(&d_y, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y.data(), bytes, cudaMemcpyHostToDevice));

    for (int each : {1, 4}) { // floats a thread
        size_t count = n / each;
        unsigned int blocks = (unsigned int)(count / threads);
        double nvcc_time = checked_time("nvcc", d_out, expected, [&] {
            if (each == 1)
                saxpy<<<blocks, threads>>>(a, d_x, d_y, d_out, n);
            else
                saxpy4<<<blocks, threads>>>(a, (float4 *)d_x, (float4 *)d_y, (float4 *)d_out,
                                            count);
        });
        double nvrtc_time = checked_time("NVRTC", d_out, expected, [&] {
            void *arguments[] = {&a, &d_x, &d_y, &d_out, &count};
            CHECK_CU(cuLaunchKernel(each == 1 ? simple : four, blocks, 1, 1, threads, 1, 1, 0, NULL,
                                    arguments, NULL));
        });
        printf("| 2^%d | %d | %.4f | %.1f %% | %.4f | %.1f %% | %.3f |\n", power, each,
               nvcc_time * 1e3, 100 * 3 * bytes / nvcc_time / copy_rate, nvrtc_time * 1e3,
               100 * 3 * bytes / nvrtc_time / copy_rate, nvrtc_time / nvcc_time);
    }
    CHECK(cudaFree(d_out));
    CHECK(cudaFree(d_y));
    CHECK(cudaFree(d_x));
}

int main(int argc, char **argv)
{
    int power = power_of_two(argc, argv, "./saxpy_bench P: 2^P floats", 24, 10, 28);
    CHECK(cudaFree(NULL)); // makes the context, which the driver's calls use too
    require_gpu();
    load_cuda();
    CUmodule module = compile();
    CUfunction simple, four;
    CHECK_CU(cuModuleGetFunction(&simple, module, "saxpy"));
    CHECK_CU(cuModuleGetFunction(&four, module, "saxpy4"));
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    double copy_rate = copy_bandwidth();
    printf("%s: a copy within the device moves %.1f GB/s\n\n", device.name, copy_rate * 1e-9);
    printf("| floats | floats a thread | nvcc, ms | %% of a copy | NVRTC, ms | %% of a copy | "
           "NVRTC / nvcc |\n|---|---|---|---|---|---|---|\n");
    show(power, simple, four, copy_rate); // 2^24 = 512 x 32768, the article's
    if (argc == 1)
        show(26, simple, four, copy_rate);
    return 0;
}
