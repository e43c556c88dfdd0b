// The one device there is: this machine's CPU, with the limits of a GPU.
#include "runtime.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int cores(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }

PUBLIC cudaError_t cudaGetDeviceCount(int *count)
{
    if (count) *count = cpu_is_forked; // 0 if the call fails
    if (count && cpu_is_forked) return cudaSuccess;
    ENTER();
    if (!count) LEAVE(cudaErrorInvalidValue);
    *count = 1;
    LEAVE(cudaSuccess);
}

static void describe(struct cudaDeviceProp *properties)
{
    *properties = (struct cudaDeviceProp){
#define PROPERTY(name, number, property, value) .property = (value),
        .name = "CPU stand-in (no GPU)",
        .totalGlobalMem = cpu_device_bytes(),
        .reservedSharedMemPerBlock = 1024,
        .texturePitchAlignment = 32,
        .surfaceAlignment = 512,
        .hostRegisterSupported = 1,
        CPU_CUDA_ATTRIBUTES(PROPERTY)};
}

PUBLIC cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    if (properties && !device && cpu_is_forked) return describe(properties), cudaSuccess;
    ENTER();
    if (!properties) LEAVE(cudaErrorInvalidValue);
    if (device) LEAVE(cudaErrorInvalidDevice);
    describe(properties);
    LEAVE(cudaSuccess);
}

PUBLIC cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    if (device) *device = 0;
    CALL(device && wanted ? cudaSuccess : cudaErrorInvalidValue);
}

PUBLIC cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    ENTER();
    if (!value) LEAVE(cudaErrorInvalidValue);
    if (device) LEAVE(cudaErrorInvalidDevice);
    switch (attribute) {
#define VALUE(name, number, property, what) \
    case name: \
        *value = (what); \
        LEAVE(cudaSuccess);
        CPU_CUDA_ATTRIBUTES(VALUE)
    }
    LEAVE(cudaErrorInvalidValue);
}

PUBLIC cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    ENTER();
    if (!text || size < 13) LEAVE(cudaErrorInvalidValue);
    if (device) LEAVE(cudaErrorInvalidDevice);
    snprintf(text, (size_t)size, "0000:00:00.0");
    LEAVE(cudaSuccess);
}

static size_t stack_bytes = 1024; // a GPU also refuses what all its threads have no memory for
static size_t *const limits[] = {&stack_bytes, &cpu_printf_bytes, &cpu_heap.bytes};

PUBLIC cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    ENTER();
    if (!value || (unsigned)limit > cudaLimitMallocHeapSize) LEAVE(cudaErrorInvalidValue);
    *value = *limits[limit];
    LEAVE(cudaSuccess);
}

PUBLIC cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    ENTER();
    bool is_too_deep = limit == cudaLimitStackSize && value > 512 << 10;
    if ((unsigned)limit > cudaLimitMallocHeapSize || is_too_deep) LEAVE(cudaErrorInvalidValue);
    if (limit != cudaLimitStackSize) cpu_finish_all(); // which may use it
    if (limit == cudaLimitMallocHeapSize && cpu_heap.is_used) LEAVE(cudaErrorInvalidValue);
    if (limit == cudaLimitPrintfFifoSize && cpu_has_printed) LEAVE(cudaErrorInvalidValue);
    *limits[limit] = value;
    LEAVE(cudaSuccess);
}

PUBLIC cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    CALL(cudaSuccess);
}

// There is no other device, whose memory could be reached.
PUBLIC cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (can) *can = 0;
    CALL(!can ? cudaErrorInvalidValue : device || peer ? cudaErrorInvalidDevice : cudaSuccess);
}
#define ONLY_CHECKED(call, error) \
    PUBLIC cudaError_t call { CALL(error); }
ONLY_CHECKED(cudaGetDevice(int *device),
             (device ? *device = 0, cudaSuccess : cudaErrorInvalidValue))
ONLY_CHECKED(cudaSetDevice(int device), device ? cudaErrorInvalidDevice : cudaSuccess)
ONLY_CHECKED(cudaDeviceEnablePeerAccess(int peer, unsigned flags),
             flags || !peer ? cudaErrorInvalidValue : cudaErrorInvalidDevice)
ONLY_CHECKED(cudaDeviceDisablePeerAccess(int peer),
             peer ? cudaErrorInvalidDevice : cudaErrorInvalidValue)
ONLY_CHECKED(cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig c),
             c < 3 ? cudaSuccess : cudaErrorInvalidValue)
ONLY_CHECKED(cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *c),
             (c ? *c = cudaSharedMemBankSizeFourByte, cudaSuccess : cudaErrorInvalidValue))
ONLY_CHECKED(cudaSetDeviceFlags(unsigned flags), flags < 32 ? cudaSuccess : cudaErrorInvalidValue)
ONLY_CHECKED(cudaGetDeviceFlags(unsigned *flags),
             (flags ? *flags = cudaDeviceMapHost, cudaSuccess : cudaErrorInvalidValue))
ONLY_CHECKED(cudaInitDevice(int device, unsigned device_flags, unsigned flags),
             device                           ? cudaErrorInvalidDevice
             : flags > 1 || device_flags > 31 ? cudaErrorInvalidValue
                                              : cudaSuccess)
ONLY_CHECKED(cudaDeviceGetCacheConfig(enum cudaFuncCache *c),
             (c ? *c = cudaFuncCachePreferNone, cudaSuccess : cudaErrorInvalidValue))
ONLY_CHECKED(cudaDeviceSetCacheConfig(enum cudaFuncCache c),
             (unsigned)c < 4 ? cudaSuccess : cudaErrorInvalidValue)
ONLY_CHECKED(cudaProfilerStart(void), cudaSuccess)
ONLY_CHECKED(cudaProfilerStop(void), cudaSuccess)

int cpu_version = CUDART_VERSION;
PUBLIC void cpu_cuda_be_version_12(void) { cpu_version = 12090; }

static cudaError_t version(int *version)
{
    if (version) *version = cpu_version;
    return version ? cudaSuccess : cudaErrorInvalidValue;
}
PUBLIC cudaError_t cudaDriverGetVersion(int *driver) { return version(driver); }
PUBLIC cudaError_t cudaRuntimeGetVersion(int *runtime) { return version(runtime); }

// cudaDeviceReset "succeeds" on a lost device, but a lost device does not come back.
PUBLIC cudaError_t cudaDeviceReset(void)
{
    if (cpu_context_is_broken() && !cpu_is_forked) {
        cpu_broken = cudaErrorDevicesUnavailable;
        return cpu_last_error = cudaSuccess;
    }
    ENTER();
    cpu_finish_all();
    for (struct cpu_allocation *a = cpu_allocations, *next; a; a = next) {
        next = a->next;
        if (a->kind <= REGISTERED && !cpu_is_variable(a)) cpu_forget(a);
    }
    cpu_heap = (struct cpu_heap){8 << 20, false};
    stack_bytes = 1024, cpu_printf_bytes = 8650752, cpu_has_printed = false;
    cpu_end_pools();
    cpu_forget_handles();
    LEAVE(cudaSuccess);
}

// ---- The end of the program

// What nobody freed is told; CPU_CUDA_LEAKS=1 makes it the exit status.
static void report_leaks(void)
{
    static const char *name[] = {[DEVICE] = "device", [MANAGED] = "managed", [PINNED] = "pinned"};
    size_t bytes[3] = {0}, length = 0;
    char text[300] = "";
    for (const struct cpu_allocation *a = cpu_allocations; a; a = a->next)
        if (a->kind <= PINNED && !cpu_is_variable(a)) bytes[a->kind] += a->bytes;
    for (enum cpu_kind kind = DEVICE; kind <= PINNED; kind++)
        if (bytes[kind])
            length += (size_t)snprintf(text + length, sizeof text - length,
                                       ", %zu bytes of %s memory", bytes[kind], name[kind]);
    for (int events = 0; events < 2; events++)
        if (cpu_handles_left(events))
            length += (size_t)snprintf(text + length, sizeof text - length, ", %u %s",
                                       cpu_handles_left(events), events ? "event(s)" : "stream(s)");
    if (!length || cpu_context_is_broken()) return;
    cpu_say("never freed: %s", text + 2);
    const char *leaks = getenv("CPU_CUDA_LEAKS");
    if (leaks && strcmp(leaks, "0") != 0) cpu_end(false);
}

// Work that nobody waited for never ran: on a GPU perhaps, here for certain.
__attribute__((destructor)) static void report_at_exit(void)
{
    if (cpu_is_forked) return; // its parent reports
    CHECKS(program_ends);
    cpu_tell_early_access();
    char text[400];
    const struct cpu_work *work = cpu_waiting_launch();
    if (work && !cpu_context_is_broken())
        cpu_say("%s: the program ended %s kernel %s ran: nobody waited for it "
                "(cudaDeviceSynchronize)",
                cpu_launched_at(&work->launch, text, sizeof text),
                work->is_done ? "after" : "before", work->launch.kernel);
    report_leaks();
    cpu_end(true);
}
