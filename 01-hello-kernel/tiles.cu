// The product of two matrices, c = a * b, each of N rows and N columns: simple, and by way of tiles in shared memory.
// Build: make tiles
// Run:   ./tiles
#include "check.h"
#include <string.h>

#define N 200   // TILE does not divide it
#define TILE 16 // rows and columns of a block, and of a tile

// Each thread reads a row of a and a column of b, and writes one element of c.
__global__ void Product(const float *a, const float *b, float *c)
{
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    if (row >= N || column >= N)
        return;
    float sum = 0;
    for (int k = 0; k < N; k++)
        sum += a[row * N + k] * b[k * N + column];
    c[row * N + column] = sum;
}

// The same, but the threads of a block read each number once for all of them, a tile of a and one of b at a time.
__global__ void ProductTiles(const float *a, const float *b, float *c)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (int first = 0; first < N; first += TILE) {
        // Each thread brings one number of each tile, or a 0 from outside of the matrix.
        tile_a[y][x] = row < N && first + x < N ? a[row * N + first + x] : 0;
        tile_b[y][x] = first + y < N && column < N ? b[(first + y) * N + column] : 0;
        __syncthreads(); // the tiles are complete
        for (int k = 0; k < TILE; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads(); // nobody needs them any more
    }
    if (row < N && column < N)
        c[row * N + column] = sum;
}

int main(int argc, char **argv)
{
    static float a[N][N], b[N][N], c[N][N]; // small whole numbers: the sums are exact in any order
    float *d_a, *d_b, *d_c;
    int right = 0;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            a[i][k] = rand() % 10;
            b[i][k] = rand() % 10;
        }

    CHECK(cudaMalloc(&d_a, sizeof a));
    CHECK(cudaMalloc(&d_b, sizeof b));
    CHECK(cudaMalloc(&d_c, sizeof c));
    CHECK(cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice));
    dim3 threads(TILE, TILE), blocks((N + TILE - 1) / TILE, (N + TILE - 1) / TILE);
    if (argc > 1 && strcmp(argv[1], "simple") == 0)
        Product<<<blocks, threads>>>(d_a, d_b, d_c);
    else
        ProductTiles<<<blocks, threads>>>(d_a, d_b, d_c);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c, d_c, sizeof c, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_c));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_a));

    for (int row = 0; row < N; row++)
        for (int column = 0; column < N; column++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[row][k] * b[k][column];
            right += c[row][column] == sum;
        }
    printf("%d of %d right\n", right, N * N);
    return right == N * N ? 0 : 1;
}
