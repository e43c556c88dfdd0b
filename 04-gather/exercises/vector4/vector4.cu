// Exercise vector4: four floats in one access.
// Check: make exercises EXERCISE=vector4

const int THREADS = 256; // a block

// result[i] = factor * x[i] for n elements. The first 4 * packs of them are read and written by four: a float4 has four
// floats, .x, .y, .z and .w, and lies at an address that is a multiple of 16. The rest is read and written one by one.
__global__ void Scale(const float *x, float factor, float *result, size_t packs, size_t n)
{
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    // YOUR LINES, about 10: a grid-stride loop over the packs, and one over the elements behind the last pack.
    for (size_t p = thread; p < packs; p += threads) {
        float4 four = ((const float4 *)x)[p];
        four.x *= factor;
        four.y *= factor;
        four.z *= factor;
        four.w *= factor;
        ((float4 *)result)[p] = four;
    }
    for (size_t i = 4 * packs + thread; i < n; i += threads)
        result[i] = factor * x[i];
    // END OF YOUR LINES
}

// The same for arrays on the device, anywhere.
void scale(const float *x, float factor, float *result, size_t n)
{
    size_t packs = 0;
    // YOUR LINES, about 2: how many packs of four are there? None, unless both addresses are multiples of 16.
    if ((size_t)x % 16 == 0 && (size_t)result % 16 == 0)
        packs = n / 4;
    // END OF YOUR LINES
    size_t blocks = ((packs > 0 ? packs : n) + THREADS - 1) / THREADS;
    Scale<<<blocks, THREADS>>>(x, factor, result, packs, n);
}
