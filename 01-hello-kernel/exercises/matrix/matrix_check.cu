// A matrix of 20 rows and 10 columns, and others that are not square either; one has more than 65,536 elements. The first
// blocks are wide, the second ones tall: who takes blockDim.x for blockDim.y leaves elements out in the one or the other.
#include "matrix.cu"

#include "exercise.cuh"

int main(void)
{
    const int sizes[][2] = {{20, 10},
                            {10, 20},
                            {1, 50},
                            {50, 1},
                            {random_number(260, 300), random_number(20, 60)},
                            {20, random_number(260, 300)},
                            {random_number(330, 340), 300}};
    for (auto &one : sizes) {
        int rows = one[0], columns = one[1];
        std::vector<int> expected;
        for (int row = 0; row < rows; row++)
            for (int column = 0; column < columns; column++)
                expected.push_back(100 * row + column);
        Array<int> matrix("matrix", expected.size());
        dim3 threads = columns == 10 ? dim3(8, 4)
                       : rows == 10  ? dim3(4, 8)
                                     : dim3(random_number(3, 20), random_number(3, 20));
        dim3 blocks((columns - 1) / threads.x + 1, (rows - 1) / threads.y + 1);
        auto seen = see([&] { Mark<<<blocks, threads>>>(matrix.data, rows, columns); });
        char look_at[300];
        snprintf(look_at, sizeof look_at,
                 "%d rows of %d columns, blocks of %u (x) by %u (y) threads: are row (y) and "
                 "column (x) told apart, is each kept below its own limit, and are there `columns` "
                 "elements in a row?",
                 rows, columns, threads.x, threads.y);
        matrix.expect(expected, look_at);
        expect_shared(seen, 1, "each thread writes one element");
        expect_writes(seen, expected.size(), "Mark");
    }
    return passed();
}
