// A gather with four indices a thread, beside one with one index a thread. Neither checks its indices.
// Build: make packs
// Run:   ./packs, ./packs 13 (13 indices)
//        CPU_CUDA_PICTURE=picture.svg ./packs (without a GPU: how often each kernel reads and writes)
#include "check.h"
#include <vector>

#define THREADS 128 // a block

__global__ void OneEach(const float *source, const int *index, float *result, size_t N)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        result[i] = source[index[i]];
}

// index and result have to lie at multiples of 16, as all that cudaMalloc gives does.
__global__ void FourEach(const float *source, const int *index, float *result, size_t N)
{
    size_t p = (size_t)blockIdx.x * blockDim.x + threadIdx.x; // the number of this thread's pack
    if (p < N / 4) {
        int4 j = ((const int4 *)index)[p];
        float4 picked = make_float4(source[j.x], source[j.y], source[j.z], source[j.w]);
        ((float4 *)result)[p] = picked;
    } else {
        for (size_t i = 4 * p; i < N; i++) // the one thread after the packs: up to three are left
            result[i] = source[index[i]];
    }
}

int main(int argc, char **argv)
{
    char *end = NULL;
    long N = argc > 1 ? strtol(argv[1], &end, 10) : 1 << 20;
    if ((end && *end) || N < 1 || N > 1 << 28) {
        fprintf(stderr, "./packs N: a number from 1 to %d\n", 1 << 28);
        return 2;
    }
    std::vector<float> source(N), result(N);
    std::vector<int> index(N);
    for (long i = 0; i < N; i++) {
        source[i] = (float)(i % 1000);
        index[i] = (int)(i * 7919 % N); // far apart
    }
    float *d_source, *d_result;
    int *d_index;
    size_t bytes = N * sizeof(float); // an int has as many as a float
    CHECK(cudaMalloc(&d_source, bytes));
    CHECK(cudaMalloc(&d_index, bytes));
    CHECK(cudaMalloc(&d_result, bytes));
    CHECK(cudaMemcpy(d_source, source.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_index, index.data(), bytes, cudaMemcpyHostToDevice));

    bool is_right = true;
    for (int each : {1, 4}) {
        long threads = (N + each - 1) / each, blocks = (threads + THREADS - 1) / THREADS;
        CHECK(cudaMemset(d_result, 0xff, bytes)); // so that no result is there already
        if (each == 1)
            OneEach<<<blocks, THREADS>>>(d_source, d_index, d_result, N);
        else
            FourEach<<<blocks, THREADS>>>(d_source, d_index, d_result, N);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(result.data(), d_result, bytes, cudaMemcpyDeviceToHost));
        long right = 0;
        for (long i = 0; i < N; i++)
            right += result[i] == source[index[i]];
        printf("%d each: %ld of %ld right\n", each, right, N);
        is_right = is_right && right == N;
    }
    CHECK(cudaFree(d_result));
    CHECK(cudaFree(d_index));
    CHECK(cudaFree(d_source));
    return is_right ? 0 : 1;
}
