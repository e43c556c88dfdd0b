// What the threads of a warp and of a block tell each other: shuffles, votes, masks, cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>

namespace cg = cooperative_groups;

const int THREADS = 80; // two warps and a half
enum { SHUFFLES = 12, VOTES = 9, BLOCK = 5, TILES = 13, ACTIVE = 8 };

__global__ void shuffles(int *out)
{
    const unsigned all = 0xffffffff;
    int t = threadIdx.x, lane = t % warpSize, *o = out + t * SHUFFLES;
    unsigned mask = t < 64 ? all : 0xffff; // the last warp has 16 lanes
    o[0] = __shfl_sync(mask, 100 + t, 3);
    o[1] = __shfl_sync(mask, t, lane + 1, 4);
    o[2] = __shfl_up_sync(mask, t, 2);
    o[3] = __shfl_up_sync(mask, t, 1, 8);
    o[4] = __shfl_down_sync(mask, t, 1, 16);
    o[5] = __shfl_xor_sync(mask, t, 5, 16);
    o[6] = __shfl_xor_sync(mask, t, 4, 4); // later groups cannot be read: the own value; earlier ones can
    o[7] = (int)(2 * __shfl_xor_sync(mask, 0.5 * t, 1));
    o[8] = (int)(__shfl_down_sync(mask, (1ull << 40) * t, 1, 2) >> 40);
    o[9] = (int)__shfl_sync(mask, t + 0.25f, 15);
    int sum = t;
    for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(mask, sum, d);
    o[10] = sum;
    o[11] = 0;
    if (lane % 2) o[11] = __shfl_sync(0xaaaaaaaa & mask, t, 7);
}

__global__ void votes(unsigned *out)
{
    int t = threadIdx.x;
    unsigned mask = t < 64 ? 0xffffffff : 0xffff, *o = out + t * VOTES;
    int all;
    o[0] = __ballot_sync(mask, t % 3 == 0);
    o[1] = __any_sync(mask, t == 33) << 4 | __all_sync(mask, t < 50) << 8;
    o[2] = __match_any_sync(mask, t % 5);
    o[3] = __match_all_sync(mask, t / 32, &all);
    o[4] = all;
    o[5] = __match_all_sync(mask, t / 8, &all) + all;
    o[6] = __reduce_add_sync(mask, t);
    o[7] = (unsigned)__reduce_min_sync(mask, -t) + __reduce_max_sync(mask, (unsigned)t);
    o[8] = __reduce_and_sync(mask, 0xff00u | t) ^ __reduce_or_sync(mask, 1u << t % 32) ^
           __reduce_xor_sync(mask, (unsigned)t);
}

__global__ void block(int *out)
{
    int t = threadIdx.x, *o = out + t * BLOCK;
    o[0] = __syncthreads_count(t % 3 == 0);
    o[1] = __syncthreads_or(t == 70);
    o[2] = __syncthreads_and(t < 80);
    o[3] = __syncthreads_and(t < 79) + __syncthreads_or(0);
    if (t >= 60) return; // threads that have ended do not count
    o[4] = __syncthreads_count(1);
}

__global__ void tiles(int *out)
{
    int t = threadIdx.x, *o = out + t * TILES;
    cg::thread_block whole = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(whole);
    auto pair = cg::tiled_partition<2>(tile);
    o[0] = whole.thread_rank() + whole.size();
    o[1] = tile.thread_rank() * 1000 + tile.meta_group_rank() * 10 + tile.size();
    o[2] = tile.shfl(t, 5);
    o[3] = tile.shfl_down(t, 3);
    o[4] = tile.shfl_up(t, 3);
    o[5] = tile.shfl_xor(t, 6);
    o[6] = tile.ballot(t % 3 == 0);
    o[7] = tile.any(t == 9) + 2 * tile.all(t < 17);
    o[8] = cg::reduce(tile, t, cg::plus<int>());
    o[9] = cg::reduce(tile, -t, cg::greater<int>());
    o[10] = pair.shfl(t, 1);
    o[11] = tile.match_any(t / 2);
    cg::thread_group quarter = cg::tiled_partition(whole, 4);
    o[12] = quarter.thread_rank() * 10 + quarter.size();
    tile.sync();
    whole.sync();
}

__global__ void active(int *out, int *counter)
{
    int t = threadIdx.x, *o = out + t * ACTIVE;
    for (int i = 0; i < ACTIVE; i++) o[i] = 0;
    __syncwarp();
    o[0] = __activemask();
    if (t % 4 == 1) {
        cg::coalesced_group group = cg::coalesced_threads();
        o[1] = group.size() * 100 + group.thread_rank();
        o[2] = group.shfl(t, 2);
        o[3] = group.ballot(t % 8 == 1);
        o[4] = group.shfl_down(t, 1);
        o[5] = group.shfl_up(t, 1);
        int before = 0; // one atomic for the whole group
        if (group.thread_rank() == 0) before = atomicAdd(counter, group.size());
        o[6] = group.shfl(before, 0) >= 0;
    }
    o[7] = __activemask(); // nvcc lets those of the branch and the others meet here
}

static void show(const char *name, const int *d, int columns, const char *format)
{
    static int h[THREADS * 16];
    cudaError_t error = cudaMemcpy(h, d, THREADS * columns * sizeof *h, cudaMemcpyDeviceToHost);
    printf("%s: %s\n", name, cudaGetErrorName(error));
    for (int t = 0; t < THREADS && !error; t += t < 20 ? 1 : 7) {
        printf("%2d:", t);
        for (int i = 0; i < columns; i++) printf(format, h[t * columns + i]);
        printf("\n");
    }
}

int main(void)
{
    int *d, *counter;
    cudaMalloc(&d, THREADS * 16 * sizeof *d);
    cudaMalloc(&counter, sizeof *counter);
    cudaMemset(d, 0, THREADS * 16 * sizeof *d);
    cudaMemset(counter, 0, sizeof *counter);
    shuffles<<<1, THREADS>>>(d);
    show("shuffles", d, SHUFFLES, " %d");
    votes<<<1, THREADS>>>((unsigned *)d);
    show("votes", d, VOTES, " %x");
    cudaMemset(d, 0, THREADS * 16 * sizeof *d);
    block<<<1, THREADS>>>(d);
    show("block", d, BLOCK, " %d");
    tiles<<<1, THREADS>>>(d);
    show("tiles", d, TILES, " %d");
    active<<<1, THREADS>>>(d, counter);
    show("active", d, ACTIVE, " %x");
    int h;
    cudaMemcpy(&h, counter, sizeof h, cudaMemcpyDeviceToHost);
    printf("counter %d\n", h);
    cudaFree(d);
    cudaFree(counter);
    return 0;
}
