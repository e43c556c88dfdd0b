// The GPU copies in both directions and computes, all at once: the index goes there in pieces, and the results
// come back, on two streams. What does that save?
// Build: make overlap
// Run:   ./overlap, ./overlap 16 (2^16 indices)
#include "bench/bench.h"
#include "gather.h"

// index and result are in the host's memory, everything else is on the device.
struct Arrays {
    int *index, *d_index;
    float *result, *d_source, *d_result;
    size_t N;
};

// Piece after piece: there, kernel, back. In a stream each waits for the one before; the two streams do not
// wait for each other, so that one piece is on its way there while another one comes back.
static void in_pieces(const Arrays *a, int pieces, const cudaStream_t *streams)
{
    for (int p = 0; p < pieces; p++) {
        size_t begin = a->N * p / pieces, n = a->N * (p + 1) / pieces - begin;
        cudaStream_t stream = streams[p % 2];
        gather_job job = {};
        job.source.device = a->d_source;
        job.index.device = a->d_index + begin;
        job.result.device = a->d_result + begin;
        job.outer = 1, job.N = n, job.M = a->N, job.element_bytes = 4, job.index_bytes = 4;
        job.mode = GATHER_CLIP, job.stream = stream;
        CHECK(cudaMemcpyAsync(a->d_index + begin, a->index + begin, 4 * n, cudaMemcpyHostToDevice,
                              stream));
        CHECK((cudaError_t)gather_launch(&job, NULL));
        CHECK(cudaMemcpyAsync(a->result + begin, a->d_result + begin, 4 * n, cudaMemcpyDeviceToHost,
                              stream));
    }
    CHECK(cudaDeviceSynchronize());
}

// Shows how long this way takes, and that its result is right; or returns false.
static bool measure(const char *name, const Arrays *a, int pieces, const cudaStream_t *streams,
                    const std::vector<float> &source)
{
    std::vector<double> times;
    CHECK(cudaMemset(a->d_index, 0, 4 * a->N)); // what the way before has left there
    CHECK(cudaMemset(a->d_result, 0, 4 * a->N));
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < (is_stand_in() ? 1 : 11); k++) {
        double start = host_seconds();
        in_pieces(a, pieces, streams);
        times.push_back(1e3 * (host_seconds() - start));
    }
    size_t right = 0;
    for (size_t i = 0; i < a->N; i++)
        right += a->result[i] == source[a->index[i]];
    memset(a->result, 0, 4 * a->N);
    printf(is_stand_in() ? "| %s | on a GPU only |" : "| %s | %.2f |", name, median(times));
    printf(" %zu of %zu |\n", right, a->N);
    return right == a->N;
}

int main(int argc, char **argv)
{
    const size_t N = (size_t)1 << power_of_two(argc, argv, "./overlap P: 2^P indices", 24, 4, 28);
    const size_t bytes = 4 * N;
    std::vector<int> index(N);
    std::vector<float> source(N), result(N);
    for (size_t i = 0; i < N; i++) {
        source[i] = i / 2.0f;
        index[i] = (int)(i * 7919 % N);
    }
    Arrays ordinary = {index.data(), NULL, result.data(), NULL, NULL, N};
    CHECK(cudaMalloc(&ordinary.d_index, bytes));
    CHECK(cudaMalloc(&ordinary.d_source, bytes));
    CHECK(cudaMalloc(&ordinary.d_result, bytes));
    CHECK(cudaMemcpy(ordinary.d_source, source.data(), bytes, cudaMemcpyHostToDevice));
    Arrays pinned = ordinary;
    CHECK(cudaMallocHost(&pinned.index, bytes));
    CHECK(cudaMallocHost(&pinned.result, bytes));
    memcpy(pinned.index, index.data(), bytes);
    cudaStream_t streams[2];
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    printf("| way | milliseconds | right |\n|---|---|---|\n");
    bool is_right = measure("pinned memory, one piece", &pinned, 1, streams, source);
    is_right &= measure("pinned memory, 8 pieces", &pinned, 8, streams, source);
    is_right &= measure("ordinary memory, one piece", &ordinary, 1, streams, source);
    is_right &= measure("ordinary memory, 8 pieces", &ordinary, 8, streams, source);
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamDestroy(stream));
    for (void *array :
         {(void *)ordinary.d_index, (void *)ordinary.d_source, (void *)ordinary.d_result})
        CHECK(cudaFree(array));
    CHECK(cudaFreeHost(pinned.index));
    CHECK(cudaFreeHost(pinned.result));
    return is_right ? 0 : 1;
}
