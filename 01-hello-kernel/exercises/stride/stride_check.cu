// Fewer threads than elements, as many, and more.
#include "stride.cu"

#include "exercise.cuh"

int main(void)
{
    const int launches[][3] = {{2, 4, 20},
                               {4, 64, 256},
                               {4, 64, 10},
                               {4, 64, random_number(300, 5000)},
                               {4, 64, random_number(70000, 80000)}};
    for (auto &one : launches) {
        int blocks = one[0], threads = one[1], n = one[2];
        std::vector<int> h = n == 20 ? std::vector<int>(n, 10) : random_numbers<int>(n, 1, 1000),
                         expected = h;
        for (int &element : expected)
            element += 1;
        Array<int> x("x", h);
        auto seen = see([&] { AddOne<<<blocks, threads>>>(x.data, n); });
        char look_at[200];
        snprintf(look_at, sizeof look_at,
                 "the loop: of %d elements, each has to have its turn once, with %d blocks of %d "
                 "threads. Where does a thread begin, how far does it step, where does it end?",
                 n, blocks, threads);
        x.expect(expected, look_at);
        expect_shared(seen, 2 * ((n - 1) / (blocks * threads) + 1),
                      "each element has its turn once");
        if (seen.sectors > 2 * 2 * (n / 8 + 1))
            wrong("the step: the next element of a thread is as many elements further on as the "
                  "grid has threads",
                  "threads side by side do not take elements side by side: %lld sectors of memory "
                  "are moved, expected about %d",
                  seen.sectors, 2 * (n / 8 + 1));
    }
    return passed();
}
