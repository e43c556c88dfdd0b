// What the host does, right and wrong, one case at a time: ./host PART/CASE. The line that a message has to name bears the
// case's name.
#include <cstdio> // which undefines printf
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

static const char *name;
#define IF(which) if (strcmp(name, which) == 0)
#define UNLESS(which) if (strcmp(name, which) != 0)

__global__ void set(int *p)
{
    *p = 1; // by-freed-pointer, by-itself, then-launch, then-launch-asked, then-call, status-3
}
__global__ void wait_for(volatile int *flag)
{
    while (*flag == 0) continue;
}
__device__ char middle[] = "rn";
__constant__ const char *last = "el\n";
__global__ void greet()
{
    __shared__ char first[2];
    first[0] = 'k'; // no end: two are printed
    first[1] = 'e';
    printf("%.*s%1s%s", 2, first, middle, last);
}
__global__ void add(int *p, int n)
{
    __shared__ int s;
    if (threadIdx.x == 0) s = n;
    __syncthreads();
    p[threadIdx.x] += s;
}
__global__ void up_to(float *p, float *end)
{
    if (p + threadIdx.x < end) p[threadIdx.x] = 1;
}

// ---- Who asks what an error was

static int errors()
{
    cudaError_t error = cudaMemset2D(nullptr, 1, 0, 2, 2); // unasked, of-success
    IF("last-error") cudaGetLastError();
    IF("peek") cudaPeekAtLastError();
    IF("name") cudaGetErrorName(error);
    IF("string") cudaGetErrorString(error);
    IF("of-success") cudaGetErrorName(cudaSuccess);
    IF("status-3") return 3;
    IF("another")
    {
        cudaGetLastError();
        cudaFree(&error); // another
    }
    IF("kernel") // its error was looked at: that all calls after it return it again is no news
    {
        set<<<1, 1>>>(nullptr);
        cudaGetErrorName(cudaDeviceSynchronize());
        cudaFree(nullptr);
        cudaDeviceSynchronize();
    }
    return 0;
}

static int failed_kernels()
{
    set<<<1, 1>>>(nullptr);
    if (strcmp(name, "then-call") == 0)
        cudaDeviceSynchronize();
    else
        usleep(500000); // it runs by itself
    if (strncmp(name, "then-launch", 11) == 0) set<<<1, 1>>>(nullptr);
    IF("then-launch-asked") cudaGetLastError();
    IF("status-3") return 3;
    return 0;
}

// ---- Memory

static int frees()
{
    int *d, *h, *own = (int *)malloc(40);
    cudaMalloc(&d, 40);
    cudaMallocHost(&h, 40);
    IF("device-by-host") return cudaFreeHost(d);                // device-by-host
    IF("host-by-device") return cudaFree(h);                    // host-by-device
    IF("device-by-libc") free(d);                               // device-by-libc
    IF("host-by-libc") free(h);                                 // host-by-libc
    IF("host-by-delete") delete[] h;                            // host-by-delete
    IF("device-then-libc") cudaFree(d), free(d);                // device-then-libc
    IF("host-then-device") return cudaFreeHost(h), cudaFree(h); // host-then-device
    IF("host-freed-read") return cudaFreeHost(h), h[0];
    IF("by-freed-pointer") return cudaFreeHost(h), set<<<1, 1>>>(h), cudaDeviceSynchronize();
    IF("async-then-device") return cudaFreeAsync(d, 0), cudaFree(d); // async-then-device
    IF("reset-then-device") return cudaDeviceReset(), cudaFree(d);   // reset-then-device
    IF("own") return cudaFree(own);                                  // own
    return cudaFree(d), cudaFreeHost(h), free(own), 0;
}

static int leaks()
{
    void *d, *managed, *pinned;
    cudaStream_t s;
    cudaEvent_t e;
    cudaMalloc(&d, 100);
    cudaMallocManaged(&managed, 200);
    cudaMallocHost(&pinned, 300);
    cudaStreamCreate(&s);
    cudaEventCreate(&e);
    UNLESS("device") cudaFree(d);
    UNLESS("managed") cudaFree(managed);
    UNLESS("pinned") cudaFreeHost(pinned);
    UNLESS("stream") cudaStreamDestroy(s);
    UNLESS("event") cudaEventDestroy(e);
    IF("reset")
    {
        cudaMalloc(&d, 100);
        cudaStreamCreate(&s);
        cudaDeviceReset();
    }
    printf("done\n");
    return 0;
}

// Each way to write a managed variable in a kernel; the host reads it without waiting.
#define WRITES(way, expression) \
    __managed__ int m_##way = 8; \
    __global__ void write_##way() { expression; } \
    static int read_##way() \
    { \
        write_##way<<<1, 1>>>(); \
        return m_##way; \
    }
WRITES(set, m_set = 1) WRITES(add, m_add += 1) WRITES(sub, m_sub -= 1) WRITES(mul, m_mul *= 2) WRITES(div, m_div /= 2)
WRITES(mod, m_mod %= 3) WRITES(and, m_and &= 1) WRITES(or, m_or |= 1) WRITES(xor, m_xor ^= 1) WRITES(shl, m_shl <<= 1)
WRITES(shr, m_shr >>= 1) WRITES(inc, m_inc++) WRITES(dec, m_dec--) WRITES(first_inc, ++m_first_inc)
WRITES(first_dec, --m_first_dec) WRITES(address, int *p = &m_address; *p = 1) WRITES(atomic, atomicAdd(&m_atomic, 1))
static int operators()
{
#define WAY(way) IF(#way) return read_##way() != 8
    WAY(set); WAY(add); WAY(sub); WAY(mul); WAY(div); WAY(mod); WAY(and); WAY(or); WAY(xor); WAY(shl); WAY(shr);
    WAY(inc); WAY(dec); WAY(first_inc); WAY(first_dec); WAY(address); WAY(atomic);
    return 2;
}

__device__ __noinline__ void add(float *to, float x) { *to += x; }
__global__ void add_to_nothing(float *out)
{
    float one, four[4];
    struct { float a, b; } pair;
    for (int i = 0; i < 3; i++) {
        float *at = i == 0 ? &one : i == 1 ? four + 3 : &pair.b;
        add(at, 1);
        out[i] = *at;
    }
}
static int unwritten()
{
    float *d, h[3] = {0, 0};
    IF("locals") {
        cudaMalloc(&d, sizeof h);
        add_to_nothing<<<1, 1>>>(d);
        cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
        printf("%d %d %d\n", fabsf(h[0]) < 1e6, fabsf(h[1]) < 1e6, fabsf(h[2]) < 1e6);
        return cudaFree(d);
    }
    cudaMalloc(&d, 100 * sizeof *d);
    cudaMemset(d + 2, 0, 90 * sizeof *d);
    cudaMemcpy(h, d, 2 * sizeof *h, cudaMemcpyDeviceToHost); // copy
    printf("%d %d ", h[0] > 1e37, h[1] > 1e37);
    cudaMemcpy(h, d + 2, 2 * sizeof *h, cudaMemcpyDeviceToHost);
    printf("%g %g\n", h[0], h[1]);
    fflush(stdout);
    return d[0] == 0;
}

static int by_the_ten_thousand()
{
    float *d;
    int n = 0, wrong = 0;
    for (int i = 0; i < 70000; i++) wrong += cudaMalloc(&d, 4) || cudaFree(d);
    wrong += cudaMalloc(&d, 1024);
    up_to<<<1, 256>>>(d, d + 256); // one past the end is a right pointer
    wrong += cudaDeviceSynchronize();
    while (n < 70000 && cudaMalloc(&d, 4) == cudaSuccess) n++;
    printf("%d %d %d\n", wrong, n > 1000, n < 70000 ? cudaGetLastError() : 2);
    return 0;
}

// ---- The rest

static int prints()
{
    IF("room-for-each") {
        cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1024); // of each launch
        for (int i = 0; i < 15; i++) greet<<<1, 2>>>();
        return cudaDeviceSynchronize();
    }
    IF("too-much") cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 64);
    greet<<<1, 2>>>();
    printf("host\n");
    cudaDeviceSynchronize();
    if (write(1, "written\n", 8) != 8) // behind what was printed, also through a pipe
        return 1;
    greet<<<1, 2>>>(); // greet
    return 0;
}

// The last of so many streams and the default stream have the same memory, and nothing says who comes first.
static int streams()
{
    cudaStream_t s = NULL;
    int *d;
    cudaMalloc(&d, sizeof *d);
    for (int i = atoi(name); i > 0; i--) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    set<<<1, 1, 0, s>>>(d);
    cudaMemset(d, 0, sizeof *d);
    return cudaDeviceSynchronize();
}

static int fail_on_demand()
{
    int *d = NULL, h = 0, failed = 0;
    cudaStream_t s = NULL;
    cudaEvent_t e = NULL;
#define CALL(call) \
    do { \
        cudaError_t error = call; \
        failed += error != 0; \
        if (error) printf("%s %d", #call, error); \
    } while (0)
    CALL(cudaMalloc(&d, 4));
    CALL(cudaStreamCreate(&s));
    CALL(cudaEventCreate(&e));
    up_to<<<1, 1, 0, s>>>(NULL, NULL);
    CALL(cudaGetLastError());
    CALL(cudaEventRecord(e, s));
    CALL(cudaMemcpyAsync(d, &h, 4, cudaMemcpyHostToDevice, s));
    CALL(cudaStreamSynchronize(s));
    CALL(cudaEventDestroy(e));
    CALL(cudaStreamDestroy(s));
    CALL(cudaFree(d));
    printf(" %d\n", failed);
    return 0;
}

static int wrong_results;

static void *work(void *number)
{
    const int t = *(int *)number;
    for (int k = 0; k < 100; k++) {
        int *d, h[64], wrong = 0;
        cudaStream_t s;
        wrong += cudaStreamCreate(&s);
        wrong += cudaMalloc(&d, sizeof h);
        wrong += cudaMemsetAsync(d, 0, sizeof h, s);
        add<<<1, 64, 0, s>>>(d, t);
        add<<<1, 64, 0, s>>>(d, k);
        wrong += cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, s);
        wrong += cudaStreamSynchronize(s);
        for (int n : h) wrong += n != t + k;
        wrong += cudaFree(d);
        wrong += cudaStreamDestroy(s);
        __atomic_fetch_add(&wrong_results, wrong, __ATOMIC_RELAXED);
    }
    return NULL;
}

// A kernel may wait for the host as long as it likes; not if the program is at its end.
static int late_answer()
{
    int *flag;
    cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped);
    *flag = 0;
    wait_for<<<1, 1>>>(flag);
    usleep(2500000);
    IF("at-its-end") return 0;
    *flag = 1;
    printf("%d\n", cudaDeviceSynchronize());
    return cudaFreeHost(flag);
}

static int host_threads()
{
    pthread_t threads[4];
    int numbers[4] = {0, 1, 2, 3};
    for (int t = 0; t < 4; t++) pthread_create(&threads[t], NULL, work, &numbers[t]);
    for (pthread_t thread : threads) pthread_join(thread, NULL);
    printf("%d wrong\n", wrong_results);
    return 0;
}

int main(int, char **argv)
{
    static const struct {
        const char *name;
        int (*function)();
    } parts[] = {{"errors", errors},       {"failed", failed_kernels},    {"frees", frees},
                 {"leaks", leaks},         {"operators", operators}, {"unwritten", unwritten},      {"prints", prints},
                 {"streams", streams},     {"many", by_the_ten_thousand}, {"calls", fail_on_demand},
                 {"threads", host_threads}, {"late", late_answer}};
    name = argv[1] + strcspn(argv[1], "/") + 1;
    for (auto &part : parts)
        if (strncmp(argv[1], part.name, strlen(part.name)) == 0) return part.function();
}
