// How large can a launch be? The limits of this device, a launch at each limit and one beyond.
// Build: make limits
// Run:   ./limits
#include "check.h"

__global__ void Nothing(void) {}

// What becomes of a launch: "runs", or the name of its error.
static const char *launch(dim3 grid, dim3 block, size_t shared_bytes)
{
    Nothing<<<grid, block, shared_bytes>>>();
    cudaError_t error = cudaGetLastError(); // and with that it is forgotten
    CHECK(cudaDeviceSynchronize());
    return error == cudaSuccess ? "runs" : cudaGetErrorName(error);
}

static void show(const char *what, unsigned int limit, const char *at_limit, const char *beyond)
{
    printf("%-30s %10u  %s  %s\n", what, limit, at_limit, beyond);
}

int main(void)
{
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    unsigned int x = p.maxThreadsDim[0], y = p.maxThreadsDim[1], z = p.maxThreadsDim[2];
    unsigned int gx = p.maxGridSize[0], gy = p.maxGridSize[1], gz = p.maxGridSize[2];
    unsigned int shared = (unsigned int)p.sharedMemPerBlock;

    printf("%-30s %10s  %s  %s\n", "", "limit", "at it", "one beyond");
    show("threads in a block, x", x, launch(1, dim3(x), 0), launch(1, dim3(x + 1), 0));
    show("threads in a block, y", y, launch(1, dim3(1, y), 0), launch(1, dim3(1, y + 1), 0));
    show("threads in a block, z", z, launch(1, dim3(1, 1, z), 0), launch(1, dim3(1, 1, z + 1), 0));
    if (p.maxThreadsPerBlock == 1024) // 1024 = 4 x 4 x 64, and 1025 = 5 x 5 x 41
        show("threads in a block, all in all", 1024, launch(1, dim3(4, 4, 64), 0),
             launch(1, dim3(5, 5, 41), 0));
    show("blocks in a grid, x", gx, launch(dim3(gx), 1, 0), launch(dim3(gx + 1), 1, 0));
    show("blocks in a grid, y", gy, launch(dim3(1, gy), 1, 0), launch(dim3(1, gy + 1), 1, 0));
    show("blocks in a grid, z", gz, launch(dim3(1, 1, gz), 1, 0), launch(dim3(1, 1, gz + 1), 1, 0));
    show("bytes of shared memory", shared, launch(1, 1, shared), launch(1, 1, shared + 1));

    // dim3 holds three unsigned int of 32 bits: 2^50 blocks cannot even be written down.
    unsigned long long wanted = 1ull << 50;
    dim3 grid((unsigned int)wanted);
    printf("%llu blocks become %u in a dim3: %s\n", wanted, grid.x, launch(grid, 1, 0));
    return 0;
}
