// Shared memory and barriers: static, dynamic, of templates, in two dimensions; threads that leave early.
#include <cstdio>
#define N 256

__global__ void reverse(const int *in, int *out)
{
    __shared__ int tile[N];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void sum(const int *in, int n, int *out)
{
    __shared__ int part[N];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

template <typename T, int SIDE> __global__ void transpose(const T *in, T *out, int rows, int columns)
{
    __shared__ T tile[SIDE][SIDE + 1];
    int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
    if (x < columns && y < rows)
        tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
    __syncthreads();
    x = blockIdx.y * SIDE + threadIdx.x;
    y = blockIdx.x * SIDE + threadIdx.y;
    if (x < rows && y < columns)
        out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

extern __shared__ double all_kernels_dynamic[];

__global__ void prefix_sum(int *data, int n)
{
    extern __shared__ int work[];
    unsigned t = threadIdx.x;
    if (t >= (unsigned)n)
        return;
    work[t] = data[t];
    for (unsigned step = 1; step < (unsigned)n; step *= 2) {
        __syncthreads();
        int before = t >= step ? work[t - step] : 0;
        __syncthreads();
        work[t] += before;
    }
    data[t] = work[t];
}

template <typename T> struct Pair {
    T first, second;
};

__global__ void dynamic_of_structs(double *out)
{
    extern __shared__ Pair<double> pairs[];
    pairs[threadIdx.x] = {1.0 * threadIdx.x, 2.0 * threadIdx.x};
    __syncthreads();
    out[threadIdx.x] = pairs[blockDim.x - 1 - threadIdx.x].second + all_kernels_dynamic[0];
}

__device__ int one_warp_later(int *cell)
{
    __syncthreads();
    return *cell;
}

__global__ void barrier_in_a_function(int *out)
{
    __shared__ int cell;
    if (threadIdx.x == blockDim.x - 1 && threadIdx.z == 1)
        cell = 41;
    int seen = one_warp_later(&cell);
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0)
        *out = seen + 1;
}

__global__ void ways_to_write_it(int *out, int n)
{
    extern __shared__ volatile int dynamic[];
    static __shared__ int a;
    __shared__ alignas(16) short b[4];
    __shared__ __align__(8) unsigned char c[8], d[2][2];
    __shared__ struct {
        int x, y[3];
    } e;
    __shared__ float f[16 >= 32 ? 16 : 32];
    if (threadIdx.x == 0) {
        a = 1;
        b[3] = 2;
        c[7] = d[1][1] = 3;
        e.x = e.y[2] = 4;
        f[31] = 5;
        dynamic[n] = 6;
    }
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1)
        *out = a + b[3] + c[7] + d[1][1] + e.x + e.y[2] + (int)f[31] + dynamic[n];
}

// Every thread of the first block meets the barrier, and only some of the others.
__global__ void leave_early(int *out)
{
    __shared__ int part[64];
    part[threadIdx.x] = 1;
    if (blockIdx.x > 0 && threadIdx.x % 3 == 0) {
        out[blockIdx.x * 64 + threadIdx.x] = -1;
        return;
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = part[63 - threadIdx.x];
}

int main()
{
    static int h[1000], r[1000];
    for (int i = 0; i < 1000; i++)
        h[i] = i;
    int *in, *out;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof h);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);

    reverse<<<3, N>>>(in, out);
    cudaMemcpy(r, out, 3 * N * sizeof *r, cudaMemcpyDeviceToHost);
    printf("reverse %d %d %d\n", r[0], r[N], r[3 * N - 1]);

    sum<<<4, N>>>(in, 1000, out);
    cudaMemcpy(r, out, 4 * sizeof *r, cudaMemcpyDeviceToHost);
    printf("sums %d %d %d %d\n", r[0], r[1], r[2], r[3]);

    transpose<int, 16><<<dim3(3, 2), dim3(16, 16)>>>(in, out, 25, 40);
    cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost);
    bool good = true;
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 25; x++)
            good = good && r[y * 25 + x] == h[x * 40 + y];
    printf("transpose %d\n", good);

    prefix_sum<<<1, 128, 100 * sizeof(int)>>>(in, 100);
    cudaMemcpy(r, in, 100 * sizeof *r, cudaMemcpyDeviceToHost);
    printf("prefix sum %d %d %d\n", r[0], r[50], r[99]);

    double d[32], *dd;
    cudaMalloc(&dd, sizeof d);
    dynamic_of_structs<<<1, 32, 32 * sizeof(Pair<double>)>>>(dd);
    cudaMemcpy(d, dd, sizeof d, cudaMemcpyDeviceToHost);
    printf("pairs %g %g\n", d[0], d[31]);

    barrier_in_a_function<<<1, dim3(8, 4, 2)>>>(out);
    cudaMemcpy(r, out, sizeof *r, cudaMemcpyDeviceToHost);
    printf("barrier in a function %d\n", r[0]);

    ways_to_write_it<<<1, 40, 64>>>(out, 15);
    cudaMemcpy(r, out, sizeof *r, cudaMemcpyDeviceToHost);
    printf("ways to write it %d\n", r[0]);

    leave_early<<<4, 64>>>(out);
    cudaMemcpy(r, out, 4 * 64 * sizeof *r, cudaMemcpyDeviceToHost);
    int total = 0;
    for (int i = 0; i < 4 * 64; i++)
        total += r[i];
    printf("leave early %d\n", total);
    reverse<<<1, 32, 49153>>>(in, out);
    printf("too much shared memory: %s\n", cudaGetErrorName(cudaGetLastError()));
    cudaFree(in);
    cudaFree(out);
    cudaFree(dd);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
