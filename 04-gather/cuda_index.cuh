// The C interface of libcuda_index.so: gather, result = source[index], for C, C++ and Cython.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// res[i] = source[index[i]] for 0 <= i < N, on the GPU.
//   source  M floats, in host memory
//   index   N ints, in host memory, each from -M to M - 1; a negative one counts from the end
//   res     N floats, in host memory; written only if all went well
// Returns 0 if all went well;
//   the code of the first CUDA call that failed (a cudaError_t, which is positive);
//   or -1 - i if index[i] is out of range, for the smallest such i.
// Nothing stays allocated, nothing is printed, the process never ends here.
int Gather(const float *source, const int *index, float *res, int N, int M);

// A positive code of Gather(): its name, "cudaErrorMemoryAllocation", and text, "out of memory".
const char *GatherErrorName(int code);
const char *GatherErrorText(int code);

#ifdef __cplusplus
}
#endif
