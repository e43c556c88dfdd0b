// Six kernels that touch memory in six ways: what each asks for, in 32-byte sectors, ncu counts on a GPU.
#include <cstdio>

const int N = 1 << 16, SIDE = 256;

__global__ void add(const float *a, const float *b, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

__global__ void stride_2(const float *a, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[2 * i];
}

__global__ void stride_32(const float *a, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[32 * i];
}

__global__ void four(const float4 *a, float4 *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i];
}

__global__ void gather(const float *a, const int *index, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[index[i]];
}

__global__ void transpose(const float *a, float *c)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    c[x * SIDE + y] = a[y * SIDE + x];
}

int main(void)
{
    static int h_index[N];
    unsigned random = 1;
    for (int i = 0; i < N; i++) {
        random = random * 1664525u + 1013904223u;
        h_index[i] = (int)(random >> 16);
    }
    float *a, *b, *c;
    int *index;
    cudaMalloc(&a, 32 * N * sizeof(float));
    cudaMalloc(&b, N * sizeof(float));
    cudaMalloc(&c, 4 * N * sizeof(float));
    cudaMalloc(&index, sizeof h_index);
    cudaMemset(a, 0, 32 * N * sizeof(float));
    cudaMemset(b, 0, N * sizeof(float));
    cudaMemcpy(index, h_index, sizeof h_index, cudaMemcpyHostToDevice);
    add<<<N / 256, 256>>>(a, b, c);
    stride_2<<<N / 256, 256>>>(a, c);
    stride_32<<<N / 256, 256>>>(a, c);
    four<<<N / 256, 256>>>((float4 *)a, (float4 *)c);
    gather<<<N / 256, 256>>>(a, index, c);
    transpose<<<dim3(SIDE / 32, SIDE / 8), dim3(32, 8)>>>(a, c);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(error));
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(index);
    return error != cudaSuccess;
}
