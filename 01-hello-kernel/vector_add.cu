// b += a on the GPU, one thread an element: checked against the CPU at several block sizes.
// Build: make vector_add
// Run:   ./vector_add
#include "check.h"

// b[i] += a[i] for 0 <= i < n.
__global__ void VectorAdd(const float *a, float *b, int n)
{
    // If n comes near 2^31, n and i have to be size_t, and one factor too: (size_t)blockIdx.x * blockDim.x.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) // there are only whole blocks: the last may have threads without an element
        b[i] += a[i];
}

// The same on the CPU: what a right answer is.
static void vector_add_cpu(const float *a, float *b, int n)
{
    for (int i = 0; i < n; i++)
        b[i] += a[i];
}

int main(void)
{
    const int n = 1 << 20;
    const size_t bytes = n * sizeof(float);
    float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes);
    float *expected = (float *)malloc(bytes), *result = (float *)malloc(bytes);
    if (!a || !b || !expected || !result) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    for (int i = 0; i < n; i++) {
        a[i] = (float)rand() / (float)RAND_MAX;
        expected[i] = b[i] = (float)rand() / (float)RAND_MAX;
    }
    vector_add_cpu(a, expected, n);

    float *d_a, *d_b; // d_: in device memory, which the CPU cannot follow
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice));

    const int block_sizes[] = {32, 100, 256, 1000, 1024}; // 100 and 1000 do not divide n
    int all_right = 1;
    for (int threads : block_sizes) {
        int blocks = (n + threads - 1) / threads; // n / threads, rounded up
        CHECK(cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice));
        VectorAdd<<<blocks, threads>>>(d_a, d_b, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(result, d_b, bytes, cudaMemcpyDeviceToHost)); // waits for the kernel

        int right = 0;
        for (int i = 0; i < n; i++)
            right += result[i] == expected[i]; // false for a NaN as well
        printf("%5d blocks of %4d threads: %d of %d right\n", blocks, threads, right, n);
        all_right = all_right && right == n;
    }
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_a));
    free(result);
    free(expected);
    free(b);
    free(a);
    return all_right ? 0 : 1;
}
