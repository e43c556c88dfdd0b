// Memory: of the device, managed, pinned, registered; variables of the device; copies in one, two and three dimensions.
#include "expect.h"
#include <cstdlib>

__global__ void twice(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= 2;
}

static int type_of(const void *pointer)
{
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, pointer));
    return attributes.type;
}

// ---- Variables of the device

__constant__ float weights[4];
__constant__ int one_constant = 7;
__constant__ const int also_constant = 70;
__device__ alignas(16) const short constants[2] = {3, 4};
__device__ int (*function)(int) = nullptr;
__device__ int counter = 100;
struct Pair { int a, b; };
enum Color { RED };
__device__ struct Pair pair, *pair_pointer;
__device__ static enum Color color;
__device__ struct { int a; } without_name;
__device__ float table[3] = {1, 2, 3};
__managed__ int shared_by_both = 1;
static __device__ const int never_changes = 5;
namespace inner {
__device__ double deep;
}

__global__ void use(float *out)
{
    int i = threadIdx.x;
    out[i] = weights[i] * one_constant + table[i % 3] + never_changes;
    atomicAdd(&counter, 1);
    if (i == 0) {
        inner::deep = 2.5;
        shared_by_both += 1;
    }
}

static void variables()
{
    float w[4] = {1, 10, 100, 1000}, *out;
    int h = 0;
    short s[2];
    double deep = 0;
    void *address;
    size_t bytes;
    OK(cudaMalloc(&out, sizeof w));
    OK(cudaMemcpyToSymbol(weights, w, sizeof w));
    FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(weights, w, sizeof w + 4));
    FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(weights, nullptr, 8));
    FAILS(cudaErrorInvalidValue, cudaMemcpyFromSymbol(nullptr, weights, 8));
    FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(weights, w, 8, 12));
    FAILS(cudaErrorInvalidValue,
          cudaMemcpyToSymbol(table, w, 8, 8)); // other variables lie behind it
    FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(weights, w, 8, (size_t)-4));
    FAILS(cudaErrorInvalidValue, cudaMemcpyFromSymbol(w, table, 4, 12));
    OK(cudaMemcpyToSymbol(weights, w + 3, 4, 4));
    use<<<1, 4>>>(out);
    HAS(out, {13, 7007, 708, 7006});
    OK(cudaMemcpyFromSymbol(&h, counter, sizeof h));
    OK(cudaMemcpyFromSymbol(&deep, inner::deep, sizeof deep));
    IS(h, 104);
    IS(deep, 2.5);
    IS(shared_by_both, 2);
    FAILS(cudaErrorInvalidValue, cudaFree(&shared_by_both));
    OK(cudaGetSymbolSize(&bytes, table));
    IS(bytes, sizeof table);
    OK(cudaGetSymbolAddress(&address, table));
    HAS((float *)address + 1, {2, 3});
    OK(cudaMemcpyFromSymbol(&h, also_constant, sizeof h));
    IS(h, 70);
    OK(cudaMemcpyFromSymbol(s, constants, sizeof s));
    IS(s[0] * 10 + s[1], 34);
    OK(cudaMemcpyFromSymbol(&address, function, sizeof address));
    IS(address == nullptr, true);
    FAILS(cudaErrorInvalidMemcpyDirection,
          cudaMemcpyToSymbol(weights, w, 4, 0, cudaMemcpyDeviceToHost));
    FAILS(cudaErrorInvalidMemcpyDirection,
          cudaMemcpyToSymbol(weights, w, 4, 0, cudaMemcpyHostToHost));
    FAILS(cudaErrorInvalidMemcpyDirection,
          cudaMemcpyFromSymbol(w, weights, 4, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromSymbol(w, weights, 4, 0, cudaMemcpyDefault));
    static float no_symbol[4];
    FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(no_symbol, w, sizeof w));
    FAILS(cudaErrorInvalidSymbol, cudaMemcpyFromSymbol(w, no_symbol, sizeof w));
    FAILS(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, no_symbol));
    OK(cudaFree(out));
}

// ---- Of the device

static void of_the_device()
{
    int *d = nullptr, h[1000] = {}, *none;
    size_t bytes, total;
    OK(cudaMemGetInfo(&bytes, &total));
    OK(cudaMemGetInfo(nullptr, &total));
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&d, (size_t)1 << 50));
    OK(cudaMalloc(&d, 0));
    IS(d == nullptr, true);
    FAILS(cudaErrorInvalidValue, cudaMalloc(nullptr, 4));
    OK(cudaMalloc(&d, sizeof h));
    IS(type_of(d), cudaMemoryTypeDevice);
    IS(type_of(d + 10), cudaMemoryTypeDevice);
    IS(type_of(h), cudaMemoryTypeUnregistered);
    FAILS(cudaErrorInvalidValue, cudaMemcpy(d, h, sizeof h, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyDefault));
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
    OK(cudaMemcpy(d, d, sizeof h, cudaMemcpyDeviceToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(h, d, sizeof h, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(h, d, sizeof h, (cudaMemcpyKind)9));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(nullptr, d, sizeof h, cudaMemcpyDeviceToHost));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(h, d, sizeof h + 1000, cudaMemcpyDeviceToHost));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(h, d + 1, sizeof h, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(d, h, 16, cudaMemcpyHostToHost));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(h, d, 16, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(h, d, 0, (cudaMemcpyKind)9));
    FAILS(cudaErrorInvalidValue, cudaMemset(h, 0, sizeof h));
    FAILS(cudaErrorInvalidValue, cudaMemset(d, 0, sizeof h + 1000));
    FAILS(cudaErrorInvalidValue, cudaMemset(d + 1, 0, sizeof h));
    FAILS(cudaErrorInvalidValue, cudaMemset(nullptr, 0, 4));
    struct Pair *of_host = &pair; // the host's addresses of variables
    FAILS(cudaErrorInvalidValue, cudaMemset(of_host, 0, 4));
    FAILS(cudaErrorInvalidValue, cudaMemset(&pair_pointer, 0, 4));
    FAILS(cudaErrorInvalidValue, cudaMemset(&color, 0, 4));
    FAILS(cudaErrorInvalidValue, cudaMemset(&without_name, 0, 4));
    OK(cudaMemset(nullptr, 0, 0));
    OK(cudaMemset(d, 1, 8));
    OK(cudaMemcpyPeer(d + 2, 0, d, 0, 8));
    OK(cudaMemcpyPeerAsync(d + 4, 0, d, 0, 4));
    HAS(d, {0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0});
    FAILS(cudaErrorInvalidDevice, cudaMemcpyPeer(d, 99, d + 10, 0, 4));
    FAILS(cudaErrorInvalidDevice, cudaMemcpyPeer(d, 0, d + 10, -1, 4));
    OK(cudaMemcpyPeer(d, 0, d, 0, 0));
    FAILS(cudaErrorInvalidValue, cudaFree(h));
    FAILS(cudaErrorInvalidValue, cudaFree(d + 1));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(d));
    OK(cudaFree(d));
    FAILS(cudaErrorInvalidValue, cudaFree(d));
    OK(cudaFree(nullptr));
    FAILS(cudaErrorInvalidValue, cudaMallocPitch(&none, &bytes, ~(size_t)0, 1));
    FAILS(cudaErrorInvalidValue, cudaMallocPitch(&none, &bytes, (size_t)1 << 32, (size_t)1 << 32));
}

// What malloc gives in a kernel: 8 MiB at most, if nothing else is asked for before the first malloc.
__global__ void take(void **p, size_t bytes) { p[threadIdx.x] = malloc(bytes); }
__global__ void give_back(void **p) { free(p[threadIdx.x]); }
__global__ void take_all(char **p)
{
    int n = 0;
    while (n < 100 && (p[n] = new char[1 << 20])) n++;
    p[100] = (char *)nullptr + n;
    while (n--) delete[] p[n];
}

static int taken(void **p, int threads)
{
    void *h[1024];
    int n = 0;
    take<<<1, threads>>>(p, 1 << 16);
    OK(cudaMemcpy(h, p, threads * sizeof *h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < threads; i++) n += h[i] != nullptr;
    give_back<<<1, threads>>>(p);
    return n;
}

static void heap_of_kernels()
{
    void **p;
    size_t bytes = 0;
    OK(cudaMalloc(&p, 1024 * sizeof *p));
    OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    IS(bytes, 8 << 20);
    int n = taken(p, 1024);
    IS(n > 60 && n <= 128, true); // 78 on an H100
    for (int i = 0; i < 5; i++) IS(taken(p, 60), 60);
    FAILS(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes));
    take_all<<<1, 1>>>((char **)p); // no room is no exception
    OK(cudaMemcpy(&bytes, p + 100, sizeof bytes, cudaMemcpyDeviceToHost));
    IS(bytes >= 4 && bytes <= 8, true); // 6 on an H200
    OK(cudaFree(p));
}

// ---- Of both

static void managed()
{
    int *m, *none, *d;
    cudaStream_t stream;
    cudaPointerAttributes attributes;
    OK(cudaMallocManaged(&m, 4096));
    OK(cudaMallocManaged(&none, 0));
    FAILS(cudaErrorInvalidValue, cudaMallocManaged(&none, 4, 9));
    OK(cudaPointerGetAttributes(&attributes, m));
    IS(attributes.type, cudaMemoryTypeManaged);
    IS(attributes.devicePointer == attributes.hostPointer, true);
    IS(m[7], 0); // new
    m[2] = 4;
    m[999] = 1998;
    OK(cudaMemset(m, 0, 8));
    OK(cudaMemcpy(m, m + 999, 4, cudaMemcpyHostToDevice));
    OK(cudaDeviceSynchronize());
    IS(m[0], 1998);
    IS(m[1], 0);
    IS(m[2], 4);

    cudaMemLocation place = {cudaMemLocationTypeDevice, 0};
    OK(cudaMemPrefetchAsync(m, 4096, place, 0));
    FAILS(cudaErrorInvalidValue, cudaMemPrefetchAsync(m, 0, place, 0));
    OK(cudaMemPrefetchAsync(m + 512, 2048, place, 0));
    FAILS(cudaErrorInvalidValue, cudaMemPrefetchAsync(m + 512, 4096, place, 0));
    OK(cudaMemAdvise(m, 4096, cudaMemAdviseSetReadMostly, place));
    OK(cudaMalloc(&d, 4));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamAttachMemAsync(stream, m));
    OK(cudaStreamAttachMemAsync(stream, m, 0, cudaMemAttachGlobal));
    OK(cudaStreamAttachMemAsync(stream, m, 0, cudaMemAttachHost));
    OK(cudaStreamAttachMemAsync(stream, m, 4096, cudaMemAttachGlobal));
    FAILS(cudaErrorInvalidValue, cudaStreamAttachMemAsync(stream, m, 100, cudaMemAttachGlobal));
    FAILS(cudaErrorInvalidValue, cudaStreamAttachMemAsync(stream, m, 0, 3));
    FAILS(cudaErrorInvalidValue, cudaStreamAttachMemAsync(stream, d));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(d));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(m));
    OK(cudaFree(m));
}

static void pinned_and_registered()
{
    int *mapped, *seen, *m = (int *)aligned_alloc(4096, 8192);
    OK(cudaHostAlloc(&mapped, 400, cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer(&seen, mapped, 0));
    IS(seen == mapped, true);
    IS(type_of(mapped), cudaMemoryTypeHost);
    IS(type_of(m), cudaMemoryTypeUnregistered);
    FAILS(cudaErrorInvalidValue, cudaHostGetDevicePointer(&seen, m, 0));
    OK(cudaHostRegister(m, 4096, cudaHostRegisterMapped));
    IS(type_of(m), cudaMemoryTypeHost);
    OK(cudaHostGetDevicePointer(&seen, m, 0));
    FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(m, 4096, cudaHostRegisterMapped));
    FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(m + 8, 64, 0));
    FAILS(cudaErrorInvalidValue, cudaHostRegister(mapped, 400, 0));
    FAILS(cudaErrorInvalidValue, cudaHostRegister(m, 0, 0));
    FAILS(cudaErrorInvalidValue, cudaHostRegister(nullptr, 64, 0));
    FAILS(cudaErrorInvalidValue, cudaHostUnregister(m + 8));
    FAILS(cudaErrorInvalidValue, cudaHostUnregister(mapped));
    FAILS(cudaErrorInvalidValue, cudaHostUnregister(nullptr));
    OK(cudaHostUnregister(m));
    FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(m));
    OK(cudaHostRegister(m + 1024, 4096, 0)); // side by side
    OK(cudaHostRegister(m, 4096, 0));
    OK(cudaHostUnregister(m + 1024));
    IS(type_of(m), cudaMemoryTypeHost);
    OK(cudaHostUnregister(m));
    OK(cudaMemcpyFromSymbol(m, counter, sizeof *m)); // variables are where they were
    FAILS(cudaErrorInvalidValue, cudaFreeHost(m));
    FAILS(cudaErrorInvalidValue, cudaFree(mapped));
    OK(cudaFreeHost(mapped));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(mapped));
    OK(cudaFreeHost(nullptr));
    free(m);
}

// Of memory that the host may touch, a memset has been done when it returns, so what the host adds is not set back. What a
// kernel of another stream uses, further on or before, the host has to keep off, and nothing else.
static void set_and_touched()
{
    unsigned *m, *pinned, *registered = (unsigned *)aligned_alloc(4096, 8192);
    cudaStream_t stream[2];
    for (cudaStream_t &s : stream) OK(cudaStreamCreate(&s));
    OK(cudaMallocManaged(&m, 8192));
    OK(cudaMallocHost(&pinned, 8192));
    OK(cudaHostRegister(registered, 8192, 0));
    for (unsigned *p : {m, pinned, registered}) {
        OK(cudaMemset(p, 0, 8));
        p[1]++;
        OK(cudaMemset2D(p + 2, 8, 0, 4, 2));
        p[4]++;
        OK(cudaMemset3D(make_cudaPitchedPtr(p + 8, 8, 8, 1), 0, make_cudaExtent(4, 1, 2)));
        p[10]++;
        OK(cudaDeviceSynchronize());
        IS(p[1] + 10 * p[4] + 100 * p[10], 111);
        OK(cudaMemset(p, 0, 8192));
        for (int first : {0, 1}) {
            for (int i : {first, 1 - first})
                twice<<<1, 64, 0, stream[i]>>>((int *)p + 1024 * i, 64);
            for (int i : {1, 0}) {
                OK(cudaStreamSynchronize(stream[i]));
                p[1024 * i]++;
            }
        }
        IS(p[0] + 10 * p[1024], 33);
    }
    for (cudaStream_t s : stream) OK(cudaStreamDestroy(s));
    OK(cudaMemset(&shared_by_both, 0, sizeof shared_by_both));
    shared_by_both++;
    OK(cudaDeviceSynchronize());
    IS(shared_by_both, 1);
    OK(cudaFree(m));
    OK(cudaFreeHost(pinned));
    OK(cudaHostUnregister(registered));
    free(registered);
}

// ---- Rows and boxes

static void rows_and_boxes()
{
    char *rows, back[6][5];
    size_t pitch;
    OK(cudaMallocPitch(&rows, &pitch, 5, 6));
    IS(pitch, 512);
    OK(cudaMemset2D(rows, pitch, 'x', 5, 6));
    FAILS(cudaErrorInvalidPitchValue,
          cudaMemcpy2D(back, 4, rows, pitch, 5, 6, cudaMemcpyDeviceToHost));
    FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2D(back, 5, rows, 4, 5, 6, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy2D(back, 5, rows, pitch, 0, 6, cudaMemcpyDeviceToHost));
    FAILS(cudaErrorInvalidValue, cudaMemcpy2D(back, 5, rows, pitch, 5, 6, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemset2D(rows, 3, 0, 5, 6));
    FAILS(cudaErrorInvalidValue, cudaMemcpy2D(back, 4, rows, pitch, 5, 1, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy2DAsync(back, 5, rows, pitch, 5, 6, cudaMemcpyDeviceToHost));
    OK(cudaFree(rows));

    cudaPitchedPtr box;
    cudaExtent extent = make_cudaExtent(3 * sizeof(int), 2, 2);
    int h[12], part[12] = {};
    for (int i = 0; i < 12; i++) h[i] = i * i;
    OK(cudaMalloc3D(&box, extent));
    OK(cudaMemset3D(box, 7, extent));
    OK(cudaMemset3D(box, 0, make_cudaExtent(extent.width, 1, 2))); // the first row of each plane
    OK(cudaMemcpy2D(part, sizeof(int), box.ptr, box.pitch, sizeof(int), 4, cudaMemcpyDeviceToHost));
    IS(part[0] == 0 && part[1] == 0x07070707 && part[2] == 0 && part[3] == part[1], true);
    memset(part, 0, sizeof part);
    OK(cudaMemset3D(box, 0, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcArray = copy.dstArray = NULL;
    copy.srcPtr = make_cudaPitchedPtr(h, 3 * sizeof(int), 3, 2);
    copy.dstPtr = box;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    copy.srcPtr = box;
    copy.srcPos = make_cudaPos(sizeof(int), 1, 0);
    copy.dstPtr = make_cudaPitchedPtr(part, 3 * sizeof(int), 3, 2);
    copy.extent = make_cudaExtent(2 * sizeof(int), 1, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    const int wanted[12] = {16, 25, 0, 0, 0, 0, 100, 121};
    IS(memcmp(part, wanted, sizeof part), 0);
    OK(cudaFree(box.ptr));
}

// Boxes of any size, from a place in one to a place in another: host, device, device, host.
static void boxes()
{
    unsigned state = 1;
    auto draw = [&](int n) { return (int)((state = state * 1664525 + 1013904223) >> 16) % n; };
    for (int round = 0; round < 100; round++) {
        int size[3] = {1 + draw(9), 1 + draw(4), 1 + draw(4)}, whole[4][3], at[4][3];
        cudaPitchedPtr box[4];
        for (int b = 0; b < 4; b++) {
            for (int i = 0; i < 3; i++) at[b][i] = draw(4), whole[b][i] = at[b][i] + size[i] + draw(4);
            int bytes = whole[b][0] * whole[b][1] * whole[b][2];
            if (b == 1 || b == 2) OK(cudaMalloc3D(&box[b], make_cudaExtent(whole[b][0], whole[b][1], whole[b][2])));
            else box[b] = make_cudaPitchedPtr(calloc(bytes, 1), whole[b][0], whole[b][0], whole[b][1]);
            for (int i = 0; b == 0 && i < bytes; i++) ((char *)box[b].ptr)[i] = 1 + draw(127);
        }
        for (int b = 0; b < 3; b++) {
            cudaMemcpy3DParms copy = {};
            copy.srcPtr = box[b], copy.srcPos = make_cudaPos(at[b][0], at[b][1], at[b][2]);
            copy.dstPtr = box[b + 1], copy.dstPos = make_cudaPos(at[b + 1][0], at[b + 1][1], at[b + 1][2]);
            copy.extent = make_cudaExtent(size[0], size[1], size[2]);
            copy.kind = b == 0   ? cudaMemcpyHostToDevice
                        : b == 1 ? cudaMemcpyDeviceToDevice
                                 : cudaMemcpyDeviceToHost;
            OK(cudaMemcpy3D(&copy));
        }
        auto byte = [&](int b, int x, int y, int z) { return ((char *)box[b].ptr)[(z * whole[b][1] + y) * whole[b][0] + x]; };
        for (int z = 0; z < whole[3][2]; z++)
            for (int y = 0; y < whole[3][1]; y++)
                for (int x = 0; x < whole[3][0]; x++) {
                    int from[3] = {x - at[3][0], y - at[3][1], z - at[3][2]};
                    bool is_copied = true;
                    for (int i = 0; i < 3; i++) is_copied &= from[i] >= 0 && from[i] < size[i];
                    IS(byte(3, x, y, z), is_copied ? byte(0, from[0] + at[0][0], from[1] + at[0][1], from[2] + at[0][2]) : 0);
                }
        free(box[0].ptr), OK(cudaFree(box[1].ptr)), OK(cudaFree(box[2].ptr)), free(box[3].ptr);
    }
}

int main(void)
{
    boxes();
    variables();
    of_the_device();
    heap_of_kernels();
    managed();
    pinned_and_registered();
    set_and_touched();
    rows_and_boxes();
    OK(cudaGetLastError());
    return all_is_well();
}
