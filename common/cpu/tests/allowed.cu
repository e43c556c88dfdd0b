// What the stand-in has to take: names of the host that are others in device code, names of a program's own that CUDA 13
// has dropped; a function of a file by -include.
#include <algorithm>
#include <cstdio>

const int N = 4;
constexpr int twice(int n) { return 2 * n; }
int count, table[9];
__host__ __device__ int both(int n) { return n + 1; }
int overloaded(float) { return 1; }
__device__ int overloaded(int) { return 2; }
struct Pair {
    int count;
    __device__ int first() const { return count; }
};
template <class F> __global__ void apply(F f, int *p) { *p = f(*p); }
// A parameter, a member and a variable have the host's names.
__global__ void k(int *p, Pair pair, int table)
{
    int cudaOwn = N, count = table + pair.count;
    *p = both(twice(count)) + overloaded(cudaOwn) + pair.first() + std::max(count, 3);
}

struct Own {
    int clockRate;
};
template <class A, class B> struct Both {
    A a;
    B b;
};
extern __shared__ int of_the_launch[];
__global__ void type(int *p)
{
    __shared__ Both<int, Both<int, char>> some[2], one; // no comma between two variables
    __shared__ int many[1'000], more[1'000];            // a number's separators
    some[1].a = one.a = of_the_launch[0] = many[0] = more[*p % 1'000] = 1;
    decltype(count) n = 4; // its type alone may be used
    *p = n + some[1].a - of_the_launch[0] * more[*p % 1'000];
}

int main()
{
    int *d, most = std::max(1, 2);
    cudaMallocManaged(&d, 32);
    k<<<1, 1>>>(d, Pair{3}, most);
    apply<<<1, 1>>>([] __device__(int n) { return both(n); }, d);
    cudaMemcpy(&count, d, 4, cudaMemcpyDeviceToHost);
    printf("%d\n", count);

    type<<<1, 1, 4>>>(d);
    cudaDeviceSynchronize();
    printf("%d %d\n", *d, Own{5}.clockRate);

    cudaFree(d);
    return before(-1);
}
