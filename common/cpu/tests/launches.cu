// Launches as people write them: every form of kernel name, and arguments that C++ has to convert first.
#include <cassert>
#include <cstdio>
#include <vector>

struct Point {
    int x, y;
};
struct Bits {
    unsigned low : 4, high : 4;
};
enum Colour { RED = 3 };
typedef void (*Kernel)(int *, int);

__global__ void add(int *p, int n) { atomicAdd(p, n); }
__global__ void add(int *p, Point point) { atomicAdd(p, point.x * point.y); }
static __global__ void add_product(int *p, short a, double b, const Point *none)
{
    a *= 2; // an argument is the thread's own
    atomicAdd(p, none ? 1000000 : (int)(a * b));
}
__global__ void add_with_default(int *p, int n = 10);
__global__ void __launch_bounds__(64) add_with_default(int *p, int n) { atomicAdd(p, n); }
template <typename T> __global__ void add_any(T *p, T n)
{
    if (threadIdx.x == 0)
        atomicAdd(p, n);
}
template <typename T, int N, bool B = false> __global__ void add_times(T *p, T n) { atomicAdd(p, B ? n * N : n); }
template <typename F> __global__ void apply(int *p, F f) { atomicAdd(p, f(4)); }
template <typename... T> __global__ void add_all(int *p, T... n) { atomicAdd(p, (0 + ... + n)); }
struct Square {
    __host__ __device__ int operator()(int n) const { return n * n; }
};
namespace outer { namespace inner {
__global__ void add_one(int *p) { atomicAdd(p, 1); }
}}
extern "C" __global__ void add_c(int *__restrict__ p, const int n[2]);
__global__ void sizes(int *p)
{
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0 && blockIdx.x + blockIdx.y + blockIdx.z == 0)
        *p = gridDim.x * 100000 + gridDim.y * 10000 + gridDim.z * 1000 + blockDim.x * 100 + blockDim.y * 10 + blockDim.z;
}
__global__ void uneven(int n, int zero)
{
    assert(n > 0);
    if (n > 1 && zero == 0)
        printf(" %d\n", printf("printed %d %a %s %*.2f %c%%", n, 0.75, "text", 5, 1.5, 'x'));
}

namespace outer {
__global__ void declared_inside(int *p);
}
__global__ void outer::declared_inside(int *p) { atomicAdd(p, 1); }
template <class T> __global__ std::enable_if_t<(sizeof(T) > 2)> add_large(T *p) { atomicAdd(p, sizeof(T)); }
template <int N, bool B> __global__ void shifted(int *p) { atomicAdd(p, B ? 1000 : N); }
__global__ void its_name(void)
{
    uint3 size = blockDim;
    printf("%s %s %u\n", __func__, __FUNCTION__, size.x);
}
__device__ __noinline__ int twice(int n) { return 2 * n; }
__global__ void add_from(int *__restrict__ p, const int *const from, const Point point) { atomicAdd(p, twice(*from) + point.y); }
__global__ void smaller(int *p, unsigned u, float f) { atomicAdd(p, min(3, u) + (int)max(f, 1.5)); }
struct Stream {
    int n = 0;
};
Stream &operator<<(Stream &s, int n) { s.n += n; return s; }
static int copies, deaths;
struct Token { // is copied on the host, once
    int n;
    explicit Token(int n) : n(n) {}
    Token(const Token &other) : n(other.n) { copies++; }
    ~Token() { deaths++; }
};
template <class T> __global__ void add_object(int *p, const Token token, T other) { atomicAdd(p, token.n + other.n); }
static int add_and_return(int *p, int n)
{
    add<<<1, 1>>>(p, n);
    return n;
}

#define LAUNCH(kernel, ...) kernel<<<1, 1>>>(__VA_ARGS__)
#define ADD(n) \
    add<<<1, 1>>>(d, n); \
    add<<<1, 1>>>(d, n)

static Kernel chosen = add;
static int *d;
static int total()
{
    int h;
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaMemset(d, 0, sizeof h);
    return h;
}
static dim3 two() { return dim3(2); }

static int later = 1, *device_two;

static void arguments()
{
    add<<<1, 1>>>(d, 1);
    add<<<two(), dim3(2, 2)>>>(d, Point{2, 3});
    add<<<1, 1>>>(d, {4, 5});
    printf("overloads %d\n", total());

    Bits bits = {9, 2};
    std::vector<bool> flags(3, true);
    add<<<1, 1>>>(d, bits.low);
    add<<<1, 1>>>(d, (int)flags[2]);
    add<<<1, 1>>>(d, RED);
    add<<<1, 1>>>(d, 'A' - 60.5f);
    add_product<<<1, 2>>>(d, 3, 1.5f, NULL);
    add_product<<<1, 1>>>(d, 3, 2, 0);
    add_product<<<1, 1>>>(d, 3, 2, nullptr);
    printf("conversions %d\n", total());

    add<<<1, 1>>>(d, later);
    later = 1000;
    Kernel local = chosen;
    local<<<1, 1>>>(d, 2);
    (*local)<<<1, 1>>>(d, 3);
    chosen<<<1, 1>>>(d, 4);
    chosen = nullptr;
    Kernel table[2] = {nullptr, add};
    table[1]<<<1, 1>>>(d, 5);
    (static_cast<Kernel>(add))<<<1, 1>>>(d, 6);
    printf("pointers %d\n", total());

}

static void names()
{
    add_with_default<<<1, 1>>>(d);
    add_with_default<<<1, 1>>>(d, 1);
    add_any<<<2, 32>>>(d, 2);
    add_any<std::common_type_t<std::common_type_t<int>>><<<1, 32>>>(d, 'a' - 'Z');
    add_times<int, (3 > 2) ? 5 : 7, true><<<1, 1>>>(d, 3);
    add_times<std::vector<int>::value_type, 2><<<dim3((16 + 15) / 16, 1), 1 << 0, 0, nullptr>>>(d, 1);
    apply<<<1, 1>>>(d, Square());
    add_all<<<1, 1>>>(d, 1, 2, 3u);
    add_all<<<1, 1>>>(d);
    printf("templates %d\n", total());

    outer::inner::add_one<<<1, 1>>>(d);
    ::outer::inner::add_one<<<1, 1>>>(d);
    using namespace outer;
    inner::add_one<<<
        1, // as
        1  /* one likes */
        >>>
        (d);
    LAUNCH(add, d, 10);
    LAUNCH((add_times<int, 2, true>), d, 10);
    ADD(100);
    const char *no_launch = R"(add<<<1, 1>>>(d, ")"; // add<<<1, 1>>>(d, 1000)
    if (later == 1000)
        add<<<1, 1>>>(d, 1000);
    else
        add<<<1, 1>>>(d, 10000);
    for (int i = 0; i < 3; i++)
        later ? add<<<1, 1>>>(d, 10000) : add<<<1, 1>>>(d, 100000);
    printf("names %d %s\n", total(), no_launch);

}

static void by_address()
{
    int host_two[2] = {3, 4}, *device_d = d;
    cudaMalloc(&device_two, sizeof host_two);
    cudaMemcpy(device_two, host_two, sizeof host_two, cudaMemcpyHostToDevice);
    add_c<<<1, 1>>>(d, device_two);
    void *arguments[] = {&device_d, &device_two};
    printf("%s\n", cudaGetErrorName(cudaLaunchKernel((const void *)add_c, dim3(2), dim3(3), arguments)));
    printf("by address %d\n", total());
    printf("%s\n", cudaGetErrorName(cudaLaunchKernel((const void *)host_two, dim3(2), dim3(3), arguments, 0, nullptr)));
    cudaGetLastError();

    int *three = device_two;
    void *more[] = {&device_d, three ? (void *)&later : nullptr};
    later = 7;
    printf("%s\n", cudaGetErrorName(cudaLaunchKernel(add_any<int>, dim3(1), dim3(32), more)));
    printf("%s\n", cudaGetErrorName(cudaLaunchKernel((const void *)nullptr, dim3(2), dim3(3), arguments, 0, nullptr)));
    cudaGetLastError();
}

static void forms()
{
    shifted<1 << 3, false><<<1, 1>>>(d);
    static_cast<void (*)(int *, int)>(add)<<<1, 1>>>(d, 1);
    its_name<<<1, 1>>>();
    outer::declared_inside<<<1, 1>>>(d);
    add_large<<<1, 1>>>(d);
    add_from<<<1, 1>>>(d, device_two, Point{0, 100});
    smaller<<<1, 1>>>(d, 10u, 2.75f);
    printf("more %d\n", total());
    add<<<1, 1>>>(d, add_and_return(d, 10) + add_and_return(d, 100));
    printf("a launch in an argument %d\n", total());
    add<<<1, 1>>>(d + 5 - 5, 1);
    Stream stream;
    stream << 3 << 4;
    printf("operators %d %d\n", total(), stream.n);

    {
        Token token(7), other(30);
        add_object<<<2, 2>>>(d, token, other);
        printf("objects %d %d ", copies, deaths);
        printf("%d %d %d\n", total(), copies, deaths);
    }

    sizes<<<dim3(1, 2, 3), dim3(4, 5, 6)>>>(d);
    printf("sizes %d\n", total());
    uneven<<<1, 1>>>(2, 0);
    printf("printed later\n");
    cudaDeviceSynchronize();
}

int main()
{
    cudaMalloc(&d, sizeof *d);
    cudaMemset(d, 0, sizeof *d);
    arguments(), names(), by_address(), forms();
    cudaFree(d);
    cudaFree(device_two);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}

__global__ void add_c(int *__restrict__ p, const int n[2]) { atomicAdd(p, n[0] * n[1]); }
