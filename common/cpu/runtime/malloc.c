// The calls that allocate, register and free memory, or tell about it.
#include "runtime.h"
#include <sys/mman.h>

enum { PITCH = 512 }; // bytes: rows begin at a multiple of it

static cudaError_t allocate(void **pointer, size_t bytes, enum cpu_kind kind)
{
    cpu_catch_faults(); // the host may use it
    return cpu_allocate(pointer, bytes, kind);
}

void cpu_say_who_frees(const void *pointer)
{
    static const char *const calls[] = {
        [DEVICE] = "cudaFree",
        [MANAGED] = "cudaFree",
        [PINNED] = "cudaFreeHost",
    };
    const struct cpu_allocation *a = cpu_find_neighbour(pointer);
    if (cpu_context_is_broken()) return; // since then cudaMalloc has given nothing
    if (cpu_is_unset(pointer))
        cpu_say_of_call("nobody has set this pointer");
    else if (!a || a->base != pointer)
        cpu_say_of_call("%p is not the start of such memory", pointer);
    else if (a->freed_by)
        cpu_say_of_call("this memory was freed before, by %s (%zu bytes)", a->freed_by, a->bytes);
    else
        cpu_say_of_call("this memory is freed by %s (%zu bytes)", calls[a->kind], a->bytes);
}

// Frees what begins at the pointer if it is of one of two kinds, after all work that may use it.
static cudaError_t release(const void *pointer, enum cpu_kind kind, enum cpu_kind other)
{
    cpu_finish_all();
    struct cpu_allocation *a = cpu_find_allocation(pointer);
    if (!a || a->base != pointer || (a->kind != kind && a->kind != other) || cpu_is_variable(a)) {
        cpu_say_who_frees(pointer);
        return cudaErrorInvalidValue;
    }
    cpu_forget(a);
    return cudaSuccess;
}

PUBLIC cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    CALL(allocate(pointer, bytes, DEVICE));
}
PUBLIC cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    ENTER();
    if (!pitch || width > SIZE_MAX / 2 || (height && width > SIZE_MAX / 2 / height))
        LEAVE(cudaErrorInvalidValue);
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    LEAVE(allocate(pointer, *pitch * height, DEVICE));
}
PUBLIC cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent)
{
    if (!pointer) return cudaMallocPitch(NULL, NULL, 0, 0);
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width,
                           extent.height * extent.depth);
}
PUBLIC cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    ENTER();
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) LEAVE(cudaErrorInvalidValue);
    LEAVE(allocate(pointer, bytes, MANAGED));
}
PUBLIC cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    CALL(flags < 8 ? allocate(pointer, bytes, PINNED) : cudaErrorInvalidValue);
}
PUBLIC cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}
PUBLIC cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    ENTER();
    if (!pointer || !bytes || flags > 15) LEAVE(cudaErrorInvalidValue);
    const struct cpu_allocation *a = cpu_allocations; // that it overlaps with
    while (a && ((char *)pointer >= a->base + a->bytes || a->base >= (char *)pointer + bytes))
        a = a->next;
    if (a)
        LEAVE(a->kind == REGISTERED ? cudaErrorHostMemoryAlreadyRegistered : cudaErrorInvalidValue);
    cpu_catch_faults();
    uintptr_t page = cpu_page_bytes(), start = ((uintptr_t)pointer + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)pointer + bytes) / page * page;
    bool can_be_locked = start < end && !(flags & cudaHostRegisterReadOnly) &&
                         mprotect((void *)start, end - start, PROT_READ | PROT_WRITE) == 0;
    LEAVE(cpu_add_allocation(pointer, bytes, can_be_locked ? end - start : 0, REGISTERED)
              ? cudaSuccess
              : cudaErrorMemoryAllocation);
}
PUBLIC cudaError_t cudaHostUnregister(void *pointer)
{
    ENTER();
    bool is_unknown = pointer && !cpu_find_allocation(pointer);
    LEAVE(is_unknown ? cudaErrorHostMemoryNotRegistered : release(pointer, REGISTERED, REGISTERED));
}
PUBLIC cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    ENTER();
    const struct cpu_allocation *a = cpu_find_allocation(host);
    if (device) *device = NULL;
    if (!device || flags || !a || (a->kind != PINNED && a->kind != REGISTERED))
        LEAVE(cudaErrorInvalidValue);
    *device = host;
    LEAVE(cudaSuccess);
}
PUBLIC cudaError_t cudaFreeHost(void *pointer)
{
    cudaError_t standing = cpu_enter(CALLED); // it is freed all the same
    cudaError_t error = pointer ? release(pointer, PINNED, PINNED) : cudaSuccess;
    LEAVE(standing ? standing : error);
}
PUBLIC cudaError_t cudaFree(void *pointer)
{
    cudaError_t standing = cpu_enter(CALLED); // it is freed all the same
    cudaError_t error = pointer ? release(pointer, DEVICE, MANAGED) : cudaSuccess;
    LEAVE(standing ? standing : error);
}
// In the order of a stream on a GPU; here it waits for what uses the memory, as cudaFree does.
PUBLIC cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    CALL(cpu_is_stream(stream) ? allocate(pointer, bytes, DEVICE) : cudaErrorInvalidResourceHandle);
}
PUBLIC cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    CALL(!cpu_is_stream(stream) ? cudaErrorInvalidResourceHandle
         : pointer              ? release(pointer, DEVICE, DEVICE)
                                : cudaErrorInvalidValue);
}
// A pool keeps nothing here: its memory is got and given back like any other. A reset ends it, and the next has another name.
static uintptr_t the_pool = 1;
void cpu_end_pools(void) { the_pool++; }

PUBLIC cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    ENTER();
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned ||
        properties->location.type != cudaMemLocationTypeDevice || properties->location.id)
        LEAVE(cudaErrorInvalidValue);
    *pool = (cudaMemPool_t)the_pool;
    LEAVE(cudaSuccess);
}
PUBLIC cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    const struct cudaMemPoolProps properties = {
        cudaMemAllocationTypePinned, cudaMemHandleTypeNone, {cudaMemLocationTypeDevice, device}};
    return cudaMemPoolCreate(pool, &properties);
}
static cudaError_t is_pool(cudaMemPool_t pool)
{
    return (uintptr_t)pool == the_pool ? cudaSuccess : cudaErrorInvalidValue;
}
PUBLIC cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) { CALL(is_pool(pool)); }
PUBLIC cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                           void *value)
{
    bool is_known = attribute == cudaMemPoolAttrReleaseThreshold && value;
    CALL(is_known ? is_pool(pool) : cudaErrorInvalidValue);
}
PUBLIC cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
                                           cudaStream_t stream)
{
    if (is_pool(pool) == cudaSuccess) return cudaMallocAsync(pointer, bytes, stream);
    CALL(cudaErrorInvalidValue);
}
PUBLIC cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    ENTER();
    if (total_bytes) *total_bytes = cpu_device_bytes();
    if (free_bytes) *free_bytes = cpu_device_bytes() - cpu_used_bytes;
    LEAVE(cudaSuccess);
}
PUBLIC cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                            const void *pointer)
{
    static const enum cudaMemoryType type[] = {
        [DEVICE] = cudaMemoryTypeDevice,   [MANAGED] = cudaMemoryTypeManaged,
        [PINNED] = cudaMemoryTypeHost,     [REGISTERED] = cudaMemoryTypeHost,
        [VARIABLE] = cudaMemoryTypeDevice,
    };
    ENTER();
    if (!attributes) LEAVE(cudaErrorInvalidValue);
    const struct cpu_allocation *a = cpu_find_allocation(pointer);
    if (a && a->kind == ON_HOST) a = NULL;
    void *p = (void *)pointer;
    *attributes = (struct cudaPointerAttributes){.device = -2, .hostPointer = p};
    if (a) *attributes = (struct cudaPointerAttributes){type[a->kind], 0, p, p};
    if (a && type[a->kind] == cudaMemoryTypeDevice) attributes->hostPointer = NULL;
    LEAVE(cudaSuccess);
}
// Managed memory is at its place already: these only look at what they are given.
static cudaError_t is_managed(const void *pointer, size_t bytes, struct cudaMemLocation place)
{
    const struct cpu_allocation *a = cpu_find_allocation(pointer);
    bool is_device = place.type == cudaMemLocationTypeDevice;
    if (!bytes || !a || a->kind != MANAGED ||
        bytes > (size_t)(a->base + a->bytes - (const char *)pointer) ||
        (!is_device && place.type != cudaMemLocationTypeHost))
        return cudaErrorInvalidValue;
    return is_device && place.id ? cudaErrorInvalidDevice : cudaSuccess;
}
PUBLIC cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes,
                                        struct cudaMemLocation place, unsigned flags,
                                        cudaStream_t stream)
{
    CALL(!cpu_is_stream(stream) ? cudaErrorInvalidResourceHandle
         : flags                ? cudaErrorInvalidValue
                                : is_managed(pointer, bytes, place));
}
PUBLIC cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                                 struct cudaMemLocation place)
{
    if (advice <= cudaMemAdviseUnsetReadMostly)
        place.type = cudaMemLocationTypeHost; // is not looked at
    CALL((unsigned)advice - 1 < 6 ? is_managed(pointer, bytes, place) : cudaErrorInvalidValue);
}
PUBLIC cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                            unsigned flags)
{
    ENTER();
    if (!cpu_is_stream(stream)) LEAVE(cudaErrorInvalidResourceHandle);
    const struct cpu_allocation *a = cpu_find_allocation(pointer);
    bool is_whole = a && a->kind == MANAGED && a->base == pointer && (!bytes || bytes == a->bytes);
    bool is_flag = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost ||
                   (flags == cudaMemAttachSingle && stream > cudaStreamPerThread);
    LEAVE(is_whole && is_flag ? cudaSuccess : cudaErrorInvalidValue);
}
