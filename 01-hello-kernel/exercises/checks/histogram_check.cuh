// The check of exercise 5: random characters, few different ones, and counts that are not 0 at first.
// On a GPU also: compute-sanitizer --tool memcheck
#include "exercise.cuh"

__global__ void Histogram(const unsigned char *text, int n, int *counts);

// volatile makes nobody wait: what would be wrong without it, is.
#define volatile

// Between a thread's reading of a count and its atomic operation others may add to it. Here the threads of a warp wait
// for each other in between, so that what is lost then is lost in every run.
__device__ int *first_count;
template <typename T> __device__ T *late(T *address)
{
    if (address >= (T *)first_count && address < (T *)first_count + 256)
        __syncwarp(__activemask());
    return address;
}
template <typename T> __device__ T late_exchange(T *a, T value)
{
    return atomicExch(late(a), value);
}
template <typename T> __device__ T late_maximum(T *a, T value)
{
    return atomicMax(late(a), value);
}
#define atomicExch late_exchange
#define atomicMax late_maximum

int main(void)
{
    const int texts[][3] = {{1000, 'a', 'a'},
                            {random_number(20000, 40000), 'a', 'b'},
                            {random_number(5000, 20000), 'a', 'd'},
                            {random_number(100, 5000), 0, 255}};
    for (auto [n, first, last] : texts) {
        std::vector<unsigned char> h = random_numbers<unsigned char>(n, first, last);
        std::vector<int> before = random_numbers<int>(256, 0, 9), expected = before;
        for (unsigned char c : h)
            expected[c]++;
        Array<unsigned char> text("text", h);
        Array<int> counts("counts", before);
        CHECK(cudaMemcpyToSymbol(first_count, &counts.data, sizeof counts.data));
        Histogram<<<n / 256 + 1, 256>>>(text.data, n, counts.data);
        counts.expect(expected, "does each thread count one character, its own, and is reading, "
                                "adding and writing one step "
                                "(atomicAdd)? Is it added to what there was?");
        text.expect(h, "the text is read, not written");
    }
    return passed();
}
