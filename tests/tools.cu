// For tests: how much of the device's memory is free; streams; managed memory.
extern "C" size_t free_bytes(void)
{
    size_t free = 0, total;
    cudaMemGetInfo(&free, &total);
    return free;
}

extern "C" void *new_stream(void)
{
    cudaStream_t stream = 0;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return stream;
}

extern "C" int end_stream(void *stream)
{
    return cudaStreamDestroy((cudaStream_t)stream);
}

extern "C" int copy_on(void *stream, void *to, const void *from, size_t bytes)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream);
    return error ? error : cudaStreamSynchronize((cudaStream_t)stream);
}

extern "C" void *new_managed(size_t bytes)
{
    void *pointer = NULL;
    cudaMallocManaged(&pointer, bytes);
    return pointer;
}

extern "C" int copy_later(void *stream, void *to, const void *from, size_t bytes)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream);
}
