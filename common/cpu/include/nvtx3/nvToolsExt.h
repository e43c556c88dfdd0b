// The CPU stand-in's <nvToolsExt.h>: marks for a GPU's profiler, which have no effect here.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint16_t version, size;
    int32_t colorType, messageType;
    uint32_t category, color;
    union {
        const char *ascii;
    } message;
} nvtxEventAttributes_t;
enum { NVTX_VERSION = 3, NVTX_EVENT_ATTRIB_STRUCT_SIZE = sizeof(nvtxEventAttributes_t) };
enum { NVTX_COLOR_ARGB = 1, NVTX_MESSAGE_TYPE_ASCII = 1 };
#define nvtxRangePushA(name) ((void)(name), 0)
#define nvtxRangePush nvtxRangePushA
#define nvtxRangePushEx nvtxRangePushA
#define nvtxMarkA(name) ((void)(name))
#define nvtxMark nvtxMarkA
#define nvtxRangePop() 0
