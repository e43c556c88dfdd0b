// Exercise unnoticed: a launch and a kernel that fail, and nobody notices.
// Check: make exercises EXERCISE=unnoticed

__global__ void Double(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= 2;
}

// Doubles n elements on the device, and waits until that is done. Returns the error: of the launch, if it was not
// accepted, or of the kernel, if it did not run to its end.
cudaError_t double_all(int *x, int n, int threads_in_block)
{
    cudaError_t error = cudaSuccess;
    Double<<<(n - 1) / threads_in_block + 1, threads_in_block>>>(x, n);
    // YOUR LINES, about 3: what went wrong? Ask the two questions of the stage's page.
    error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    // END OF YOUR LINES
    return error;
}
