// What a process gets from CUDA that was forked after its parent had used it.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHOW(call) printf("%-62s %s\n", #call, cudaGetErrorName(call))

__global__ void set(int *p)
{
    *p = 7;
}

int main(void)
{
    int *d, *other, h = 0, count = 0;
    cudaStream_t stream;
    cudaDeviceProp properties;
    setvbuf(stdout, NULL, _IONBF, 0);

    if (fork() == 0) { // before: the child has CUDA to itself
        SHOW(cudaMalloc(&d, sizeof *d));
        set<<<1, 1>>>(d);
        SHOW(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
        printf("the child before has %d\n", h);
        SHOW(cudaFree(d));
        exit(0);
    }
    wait(NULL);

    SHOW(cudaMalloc(&d, sizeof *d));
    set<<<1, 1>>>(d);
    SHOW(cudaDeviceSynchronize());
    if (fork() == 0) {
        SHOW(cudaGetLastError());
        SHOW(cudaMalloc(&other, sizeof *other));
        SHOW(cudaGetLastError());
        SHOW(cudaGetLastError());
        SHOW(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
        set<<<1, 1>>>(d);
        SHOW(cudaGetLastError());
        SHOW(cudaDeviceSynchronize());
        SHOW(cudaStreamCreate(&stream));
        SHOW(cudaGetDeviceCount(&count));
        SHOW(cudaGetDeviceProperties(&properties, 0));
        SHOW(cudaSetDevice(0));
        SHOW(cudaFree(d));
        SHOW(cudaFree(NULL));
        SHOW(cudaDeviceReset());
        printf("the child after has %d\n", h);
        exit(0);
    }
    wait(NULL);
    SHOW(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
    printf("the parent has %d\n", h);
    SHOW(cudaFree(d));
    return 0;
}
