// Random characters, few different ones, each one once, and counts that are not 0 at first.
#include "histogram.cu"

#include "exercise.cuh"

int main(void)
{
    const int texts[][3] = {{1000, 'a', 'a'},
                            {random_number(30000, 40000), 'a', 'b'},
                            {random_number(5000, 20000), 'a', 'd'},
                            {random_number(100, 5000), 0, 255},
                            {256, 0, 255}};
    for (auto &one : texts) {
        int n = one[0], first = one[1], last = one[2];
        std::vector<unsigned char> h = random_numbers<unsigned char>(n, first, last);
        for (int i = 0; i < n && n == 256; i++)
            h[i] = (unsigned char)(97 * i); // each one once: no thread has to try again
        std::vector<int> before = random_numbers<int>(256, 0, 99999), expected = before;
        for (unsigned char c : h)
            expected[c]++;
        Array<unsigned char> text("text", h);
        Array<int> counts("counts", before);
        auto seen = see([&] { Histogram<<<n / 256 + 1, 256>>>(text.data, n, counts.data); });
        counts.expect(expected, "does each thread count one character, its own, and is reading, "
                                "adding and writing one step "
                                "(atomicAdd)? Is it added to what there was?");
        text.expect(h, "the text is read, not written");
        expect_shared(seen,
                      n == 256    ? 8
                      : n < 30000 ? n + 1000
                                  : n / 4,
                      "each thread counts one character");
    }
    return passed();
}
