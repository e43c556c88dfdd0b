// The check of exercise 6: a whole block, and sizes whose last block is not full.
// On a GPU also: compute-sanitizer --tool racecheck, compute-sanitizer --tool memcheck
#include "exercise.cuh"

__global__ void BlockSum(const int *x, int n, int *sums);

// volatile makes nobody wait: what would be wrong without it, is.
#define volatile

// How often each thread of block 0 has come to a __syncthreads() of the answer.
__device__ int barriers[256];
#define __syncthreads() \
    ((blockIdx.x == 0 ? (void)barriers[threadIdx.x]++ : (void)0), __syncthreads())

int main(void)
{
    for (int n : {256, 1024, 1, 1000, random_number(10000, 100000)}) {
        int blocks = (n + 255) / 256;
        std::vector<int> h = n == 256 ? std::vector<int>(n, 1)
                                      : random_numbers<int>(n, -1000000, 1000000),
                         expected(blocks);
        for (int i = 0; i < n; i++)
            expected[i / 256] += h[i];
        Array<int> x("x", h), sums("sums", blocks);
        for (int again = 0; again < 3; again++) {
            BlockSum<<<blocks, 256>>>(x.data, n, sums.data);
            sums.expect(
                expected,
                n % 256
                    ? "the last block: is 0 added for a thread that has no element?"
                    : "is each element added once, and does each read wait for the write before it "
                      "(__syncthreads)? Is the array __shared__?");
        }
        x.expect(h, "x is read, not written");
    }
    int h[256];
    CHECK(cudaMemcpyFromSymbol(h, barriers, sizeof h));
    for (int t = 1; t < 256; t++)
        if (h[t] != h[0])
            wrong("__syncthreads() is for all threads of a block: does one stand inside an if, or "
                  "has a thread returned before it?",
                  "in block 0 of all launches, thread 0 came to __syncthreads() %d times, thread "
                  "%d %d times",
                  h[0], t, h[t]);
    return passed();
}
