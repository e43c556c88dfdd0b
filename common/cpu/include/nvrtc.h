// The CPU stand-in's <nvrtc.h>: CUDA C++ compiled while the program runs. The calls are in
// libnvrtc.so (../lib), to be opened with dlopen.
#pragma once
#include "cpu_names.h"
#include <stddef.h>

#define CPU_CUDA_NVRTC_ERRORS(ERROR) \
    ERROR(NVRTC_SUCCESS, 0) \
    ERROR(NVRTC_ERROR_OUT_OF_MEMORY, 1) \
    ERROR(NVRTC_ERROR_PROGRAM_CREATION_FAILURE, 2) \
    ERROR(NVRTC_ERROR_INVALID_INPUT, 3) \
    ERROR(NVRTC_ERROR_INVALID_PROGRAM, 4) \
    ERROR(NVRTC_ERROR_INVALID_OPTION, 5) \
    ERROR(NVRTC_ERROR_COMPILATION, 6) \
    ERROR(NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION, 8) \
    ERROR(NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION, 9) \
    ERROR(NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID, 10) \
    ERROR(NVRTC_ERROR_INTERNAL_ERROR, 11)

typedef enum {
#define CPU_CUDA_ENUM(name, value) name = value,
    CPU_CUDA_NVRTC_ERRORS(CPU_CUDA_ENUM)
#undef CPU_CUDA_ENUM
} nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;

#ifdef __cplusplus
extern "C" {
#endif
const char *nvrtcGetErrorString(nvrtcResult result);
nvrtcResult nvrtcVersion(int *major, int *minor);
nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name,
                               int headers, const char *const *texts, const char *const *names);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program);
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression);
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **lowered);
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options);
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log);
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes);
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin);
#ifdef __cplusplus
}
#endif
