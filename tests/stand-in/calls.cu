// Smaller calls, good and bad; and a grid whose blocks wait for each other.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>

namespace cg = cooperative_groups;
#define SHOW(...) printf("%-70.70s %s\n", #__VA_ARGS__, cudaGetErrorName(__VA_ARGS__))

// Each block's sum, then all blocks wait, then each block takes the next one's.
__global__ void sums(const int *in, int *part, int *next, int n)
{
    cg::grid_group grid = cg::this_grid();
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        atomicAdd(&sum, in[i]);
    __syncthreads();
    for (int round = 0; round < 5; round++) {
        if (threadIdx.x == 0)
            part[blockIdx.x] = sum + round;
        grid.sync();
        if (threadIdx.x == 0)
            next[blockIdx.x] = part[(blockIdx.x + 1) % gridDim.x];
        grid.sync();
    }
}

__global__ void labels(int *out)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto same = cg::labeled_partition(warp, threadIdx.x % 3);
    auto half = cg::binary_partition(warp, threadIdx.x < 10);
    out[threadIdx.x] = same.size() * 10000 + same.thread_rank() * 100 + half.size();
}

__managed__ int sum_part[40], sum_next[40], label[32];

int main(void)
{
    int *a, *b, *managed, device = 7, priority = 7, n = 1024;
    unsigned flags = 7;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaDeviceProp wanted;
    memset(&wanted, 0, sizeof wanted);
    cudaMalloc(&a, n * sizeof *a);
    cudaMalloc(&b, n * sizeof *b);
    cudaMallocManaged(&managed, 4096);
    cudaMemset(a, 1, n * sizeof *a); // each 0x01010101
    cudaDeviceSynchronize();
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&event);

    SHOW(cudaMemcpyPeer(b, 0, a, 0, 4096));
    cudaDeviceSynchronize();
    SHOW(cudaMemcpyPeerAsync(b, 0, a, 0, 4096, stream));
    cudaDeviceSynchronize();
    SHOW(cudaMemcpyPeer(b, 99, a, 0, 4096));
    SHOW(cudaMemcpyPeer(b, 0, a, -1, 4096));
    SHOW(cudaMemcpyPeer(b, 0, a, 0, 0));
    SHOW(cudaStreamAttachMemAsync(stream, managed));
    SHOW(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachGlobal));
    SHOW(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachHost));
    SHOW(cudaStreamAttachMemAsync(stream, managed, 4096, cudaMemAttachGlobal));
    SHOW(cudaStreamAttachMemAsync(stream, managed, 100, cudaMemAttachGlobal));
    SHOW(cudaStreamAttachMemAsync(stream, managed, 0, 3));
    SHOW(cudaStreamAttachMemAsync(stream, a));
    SHOW(cudaStreamSynchronize(stream));
    SHOW(cudaChooseDevice(&device, &wanted));
    printf("device %d\n", device);
    SHOW(cudaChooseDevice(NULL, &wanted));
    SHOW(cudaInitDevice(0, 0, 0));
    SHOW(cudaInitDevice(99, 0, 0));
    SHOW(cudaGetDeviceFlags(&flags));
    SHOW(cudaGetDeviceFlags(NULL));
    SHOW(cudaStreamGetFlags(stream, &flags));
    printf("flags %u\n", flags);
    SHOW(cudaStreamGetFlags(0, &flags));
    printf("flags %u\n", flags);
    SHOW(cudaStreamGetFlags(stream, NULL));
    SHOW(cudaStreamGetPriority(stream, &priority));
    printf("priority %d\n", priority);
    SHOW(cudaEventRecordWithFlags(event, stream));
    SHOW(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
    SHOW(cudaEventRecordWithFlags(event, stream, 5));
    SHOW(cudaEventSynchronize(event));
    printf("new managed memory: %d\n", managed[7]);

    void *arguments[4] = {&a, NULL, NULL, &n};
    int *part, *next;
    cudaGetSymbolAddress((void **)&part, sum_part);
    cudaGetSymbolAddress((void **)&next, sum_next);
    arguments[1] = &part;
    arguments[2] = &next;
    SHOW(cudaLaunchCooperativeKernel((void *)sums, 40, 64, arguments, 0, stream));
    SHOW(cudaStreamSynchronize(stream));
    for (int i = 0; i < 40; i += 13)
        printf("%x %x\n", sum_part[i], sum_next[i]);
    SHOW(cudaLaunchCooperativeKernel((void *)sums, 100000, 64, arguments, 0, stream));
    SHOW(cudaLaunchCooperativeKernel((void *)sums, 0, 64, arguments, 0, stream));
    SHOW(cudaLaunchCooperativeKernel((void *)main, 1, 64, arguments, 0, stream));
    SHOW(cudaDeviceSynchronize());
    cudaGetLastError();

    int *out;
    cudaGetSymbolAddress((void **)&out, label);
    labels<<<1, 32>>>(out);
    SHOW(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i += 5)
        printf("%d ", label[i]);
    printf("\n");
    cudaFree(a), cudaFree(b), cudaFree(managed), cudaStreamDestroy(stream), cudaEventDestroy(event);
}
