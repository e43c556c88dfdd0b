// The check of exercise 5: random characters, few different ones, and counts that are not 0 at first.
#include "exercise.cuh"

__global__ void Histogram(const unsigned char *text, int n, int *counts);

// An exchange does not add: what others have added since the old value was read is lost. Here each thread of a warp has
// read its value before one of them writes, so that this shows in every run.
template <typename T> __device__ T late(T value)
{
    __syncwarp(__activemask());
    return value;
}
#define atomicExch(address, value) atomicExch(address, late(value))

int main(void)
{
    const int texts[][2] = {{1000, 'a'},
                            {random_number(20000, 40000), 'b'},
                            {random_number(5000, 20000), 'd'},
                            {random_number(100, 5000), 'z'}};
    for (auto [n, last] : texts) {
        std::vector<unsigned char> h = random_numbers<unsigned char>(n, 'a', last);
        std::vector<int> before = random_numbers<int>(256, 0, 9), expected = before;
        for (unsigned char c : h)
            expected[c]++;
        Array<unsigned char> text("text", h);
        Array<int> counts("counts", before);
        Histogram<<<n / 256 + 1, 256>>>(text.data, n, counts.data);
        counts.expect(expected, "does each thread count one character, its own, and is reading, "
                                "adding and writing one step "
                                "(atomicAdd)?");
        text.expect(h, "the text is read, not written");
    }
    return passed();
}
