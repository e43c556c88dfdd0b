// Square and not, whole tiles and not, one row, one column; and the sectors of 32 bytes that the warps ask for.
#include "transpose.cu"

#include "exercise.cuh"

int main(void)
{
    int sizes[][2] = {{32, 32}, {16, 48}, {48, 16}, {1, 100}, {100, 1}, {40, 40}, {0, 0}};
    sizes[6][0] = random_number(50, 200);
    sizes[6][1] = random_number(201, 400);
    for (const int *size : sizes) {
        int rows = size[0], columns = size[1];
        std::vector<float> h = random_numbers<float>((size_t)rows * columns, 1, 1000000),
                           expected(h.size());
        for (int row = 0; row < rows; row++)
            for (int column = 0; column < columns; column++)
                expected[column * rows + row] = h[row * columns + column];
        Array<float> x("x", h), result("result", h.size());
        dim3 blocks((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
        auto seen = see(
            [&] { Transpose<<<blocks, dim3(TILE, TILE)>>>(x.data, rows, columns, result.data); });
        result.expect(expected,
                      "which element does this thread write, and where in the tile does it lie? "
                      "Rows and columns need not be equal, nor whole tiles.");
        x.expect(h, "x is read, not written");
        expect_shared(seen, 2, "each thread reads one element, and writes one");
        // A tile of x begins in the middle of a sector if 8 does not divide the number of columns.
        long long tiles = (long long)blocks.x * blocks.y;
        long long most = rows % 8 || columns % 8 ? tiles * TILE * 6 : rows * columns / 4;
        if (seen.sectors > most)
            wrong("the threads of a warp have threadIdx.x side by side: so must be what they read, "
                  "and "
                  "what they write; the tile is what turns rows into columns",
                  "%d rows, %d columns: the warps move %lld sectors of 32 bytes, expected at most "
                  "%lld",
                  rows, columns, seen.sectors, most);
    }
    return passed();
}
