// The sum of an array of any length: each block adds up its share, and then adds it to the result.
// Build: make sum
// Run:   ./sum
#include "check.h"
#include <math.h>

#define THREADS 256 // a block
#define BLOCKS 512

// *sum += all n numbers of x. Blocks have THREADS threads, and there may be any number of blocks.
__global__ void Sum(const float *x, size_t n, float *sum)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;

    // 1. Each thread adds up its elements, which are a whole grid apart.
    size_t threads = (size_t)gridDim.x * THREADS;
    float mine = 0;
    for (size_t i = (size_t)blockIdx.x * THREADS + t; i < n; i += threads)
        mine += x[i];

    // 2. The tree adds up the numbers of the block's threads.
    part[t] = mine;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            part[t] += part[t + half];
    }

    // 3. One thread of each block adds the block's sum to the result.
    if (t == 0)
        atomicAdd(sum, part[0]);
}

int main(void)
{
    const size_t n = 1 << 20;
    float *x = (float *)malloc(n * sizeof *x), *d_x, *d_sum, sum;
    if (!x) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    double exact = 0;  // a double has 29 bits more than a float: here it is as good as exact
    float in_turn = 0; // one number after the other
    for (size_t i = 0; i < n; i++) {
        x[i] = 1.0f / (float)(i + 1);
        exact += x[i];
        in_turn += x[i];
    }

    CHECK(cudaMalloc(&d_x, n * sizeof *x));
    CHECK(cudaMalloc(&d_sum, sizeof sum));
    CHECK(cudaMemcpy(d_x, x, n * sizeof *x, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_sum, 0, sizeof sum)); // the kernel adds to what is there
    Sum<<<BLOCKS, THREADS>>>(d_x, n, d_sum);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_sum));
    CHECK(cudaFree(d_x));
    free(x);

    // Each number goes through so many additions at most, and each rounds by 2^-24 of the sum at most.
    double additions = ceil((double)n / (BLOCKS * THREADS)) + log2(THREADS) + BLOCKS;
    double tolerance = additions * exact / (1 << 24);
    printf("exact       %.6f\n", exact);
    printf("in turn     %.6f\n", in_turn);
    printf("in blocks   %.6f\n", sum);
    printf("tolerance   %.6f\n", tolerance);
    return fabs(sum - exact) <= tolerance ? 0 : 1;
}
