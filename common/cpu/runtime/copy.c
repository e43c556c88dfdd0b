// Copies and memsets: checked at once; queued, and if the call has to wait, run.
#include "runtime.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_PITCH = 2147483647 };

// Addresses that the host has from the device, as of functions: what may be one in copies that are not large.
enum { MOST_ADDRESSES = 1024, LARGE_COPY = 4096 };
static const void *addresses[MOST_ADDRESSES];
static size_t addresses_known; // MOST_ADDRESSES: perhaps more

static void note_addresses(const char *to, size_t bytes)
{
    if (bytes > LARGE_COPY || cpu_find_allocation(to)) return;
    for (size_t i = 0; i + 8 <= bytes && addresses_known < MOST_ADDRESSES; i += 8) {
        uintptr_t word;
        memcpy(&word, to + i, 8);
        if (word >= CPU_SMALL && word >> 48 == 0) addresses[addresses_known++] = (void *)word;
    }
}

bool cpu_may_be_of_device(const void *address)
{
    for (size_t i = 0; i < addresses_known; i++)
        if (addresses[i] == address) return true;
    return addresses_known == MOST_ADDRESSES;
}

static void copy_rows(struct cpu_work *work)
{
    const struct cpu_copy *c = &work->copy;
    for (size_t row = 0; row < c->height; row++) {
        char *to = c->to + row * c->to_pitch;
        const char *from = c->from ? c->from + row * c->from_pitch : NULL;
        CHECKS(copy, to, from, c->width);
        if (from)
            memmove(to, from, c->width);
        else
            memset(to, c->value, c->width);
        if (from) note_addresses(to, c->width);
    }
}

static size_t extent(size_t pitch, size_t width, size_t height)
{
    return pitch * (height - 1) + width;
}

// One side of a copy, which has to lie in its memory as a whole.
enum side { OUT_OF_RANGE, HOST, KNOWN }; // KNOWN to CUDA: of the device, pinned, managed
static enum side side_of(const char *start, size_t bytes)
{
    const struct cpu_allocation *a = cpu_find_allocation(start);
    if (!start) return OUT_OF_RANGE;
    if (!a) return cpu_find_neighbour(start) ? OUT_OF_RANGE : HOST;
    if (bytes > (size_t)(a->base + a->bytes - start)) return OUT_OF_RANGE;
    return a->kind == ON_HOST ? HOST : KNOWN;
}

// CUDA knows what is device memory or pinned; only for other memory it has to believe `kind`.
static bool is_allowed(enum side to, enum side from, enum cudaMemcpyKind kind)
{
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return to && from && !(to == HOST && to_device) && !(from == HOST && from_device);
}

static bool is_on_host(const void *address)
{
    const struct cpu_allocation *a = cpu_find_allocation(address);
    return a && a->kind == ON_HOST;
}

// Why so many bytes cannot be there.
static void tell_side(const char *side, const char *start, size_t bytes)
{
    const struct cpu_allocation *a = cpu_find_allocation(start), *near = cpu_find_neighbour(start);
    if (!start)
        cpu_say_of_call("the %s is NULL", side);
    else if (cpu_is_unset(start))
        cpu_say_of_call("the %s is a pointer that nobody has set", side);
    else if (a && a->kind == ON_HOST)
        cpu_say_of_call("the %s is the address on the host of a variable of the device: use "
                        "cudaMemcpyToSymbol, cudaMemcpyFromSymbol or cudaGetSymbolAddress",
                        side);
    else if (a)
        cpu_say_of_call("the %s has %zu bytes, not %zu: out of bounds", side,
                        (size_t)(a->base + a->bytes - start), bytes);
    else if (near && near->freed_by && (size_t)(start - near->base) < near->bytes)
        cpu_say_of_call("the %s was freed by %s", side, near->freed_by);
    else
        cpu_say_of_call("the %s is %s", side,
                        near ? "outside of all allocations" : "memory of the host");
}

static void tell_sides(enum side to, enum side from, enum cudaMemcpyKind kind)
{
    static const char *const name[] = {"HostToHost", "HostToDevice", "DeviceToHost",
                                       "DeviceToDevice", "Default"};
    const char *what = to == HOST && from == HOST ? "both are memory of the host"
                       : to == HOST               ? "the target is memory of the host"
                                                  : "the source is memory of the host";
    cpu_say_of_call("%s, which cudaMemcpy%s says is of the device: the target comes first", what,
                    name[kind]);
}

static void claim(const char *start, size_t bytes, int host_access, cudaStream_t stream)
{
    struct cpu_allocation *a = cpu_find_allocation(start);
    if (a)
        cpu_claim(a, (struct cpu_claim){.work = cpu_last_work,
                                        .start = start,
                                        .call = cpu_call.name,
                                        .stream = stream,
                                        .bytes = bytes,
                                        .host_access = host_access});
}

// A source that is not pinned is read before the call returns, and such a target written to.
static cudaError_t keep_source(struct cpu_work *work, size_t bytes)
{
    char *kept = malloc(bytes);
    if (!kept) return cudaErrorMemoryAllocation;
    memcpy(kept, work->copy.from, bytes);
    work->copy.from = kept;
    work->owned = kept;
    return cudaSuccess;
}

// Work on the device's own memory alone: the call does not wait for it.
static bool is_of_device(const void *pointer)
{
    const struct cpu_allocation *a = cpu_find_allocation(pointer);
    return a && (a->kind == DEVICE || a->kind == VARIABLE);
}

static cudaError_t copy(struct cpu_copy c, enum cudaMemcpyKind kind, cudaStream_t stream, bool wait)
{
    if (!cpu_is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (c.width == 0 || c.height == 0) return cudaSuccess;
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (c.width > c.to_pitch || c.width > c.from_pitch)
        return c.height > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue;
    if (c.height > 1 && (c.to_pitch > MOST_PITCH || c.from_pitch > MOST_PITCH))
        return cudaErrorInvalidPitchValue;
    size_t from_bytes = extent(c.from_pitch, c.width, c.height);
    size_t to_bytes = extent(c.to_pitch, c.width, c.height);
    enum side to = side_of(c.to, to_bytes), from = side_of(c.from, from_bytes);
    if (is_on_host(c.to) || is_on_host(c.from)) {
        tell_side(is_on_host(c.to) ? "target" : "source", is_on_host(c.to) ? c.to : c.from, 0);
        return is_allowed(to, from, kind) ? cudaSuccess : cudaErrorInvalidValue;
    }
    if (!is_allowed(to, from, kind)) {
        if (!to || cpu_is_unset(c.to))
            tell_side("target", c.to, to_bytes);
        else if (!from || cpu_is_unset(c.from))
            tell_side("source", c.from, from_bytes);
        else
            tell_sides(to, from, kind);
        return cudaErrorInvalidValue;
    }
    if (to == HOST) CHECKS(host, "writes", c.to, to_bytes);
    if (from == HOST) CHECKS(host, "reads", c.from, from_bytes);
    struct cpu_work *work = cpu_add_work(stream, copy_rows);
    if (!work) return cudaErrorMemoryAllocation;
    work->copy = c;
    if (to == HOST || (wait && !(is_of_device(c.to) && is_of_device(c.from))))
        return cpu_finish_stream(stream);
    claim(c.from, from_bytes, PROT_READ, stream);
    claim(c.to, to_bytes, PROT_NONE, stream);
    return from == HOST ? keep_source(work, from_bytes) : cudaSuccess;
}

// Of the device's own memory the call need not wait; what the host may look at has been set when it returns.
static cudaError_t set(struct cpu_copy c, cudaStream_t stream, bool wait)
{
    if (!cpu_is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (c.width == 0 || c.height == 0) return cudaSuccess;
    size_t bytes = extent(c.to_pitch, c.width, c.height);
    if (c.height > 1 && (c.width > c.to_pitch || c.to_pitch > MOST_PITCH))
        return cudaErrorInvalidValue;
    if (side_of(c.to, bytes) != KNOWN) {
        tell_side("target", c.to, bytes);
        return cudaErrorInvalidValue;
    }
    struct cpu_work *work = cpu_add_work(stream, copy_rows);
    if (!work) return cudaErrorMemoryAllocation;
    work->copy = c;
    if (wait && !is_of_device(c.to)) return cpu_finish_stream(stream);
    claim(c.to, bytes, PROT_NONE, stream);
    return cudaSuccess;
}

static struct cpu_copy bytes_of(void *to, const void *from, size_t bytes)
{
    return (struct cpu_copy){to, from, bytes, bytes, bytes, 1, 0};
}

PUBLIC cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    CALL(copy(bytes_of(to, from, bytes), kind, NULL, true));
}
PUBLIC cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CALL(copy(bytes_of(to, from, bytes), kind, stream, false));
}
PUBLIC cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind)
{
    CALL(copy((struct cpu_copy){to, from, to_pitch, from_pitch, width, height, 0}, kind, NULL,
              true));
}
PUBLIC cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind,
                                     cudaStream_t stream)
{
    CALL(copy((struct cpu_copy){to, from, to_pitch, from_pitch, width, height, 0}, kind, stream,
              false));
}
// There is one device, so it is both.
PUBLIC cudaError_t cudaMemcpyPeerAsync(void *to, int device, const void *from, int other,
                                       size_t bytes, cudaStream_t stream)
{
    CALL(device || other
             ? cudaErrorInvalidDevice
             : copy(bytes_of(to, from, bytes), cudaMemcpyDeviceToDevice, stream, false));
}
PUBLIC cudaError_t cudaMemcpyPeer(void *to, int device, const void *from, int other, size_t bytes)
{
    return cudaMemcpyPeerAsync(to, device, from, other, bytes, NULL);
}
// A box is copied plane by plane.
static cudaError_t copy_box(const struct cudaMemcpy3DParms *p, cudaStream_t stream, bool wait)
{
    cudaError_t error = p ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t z = 0; !error && z < p->extent.depth; z++) {
        const struct cudaPitchedPtr *to = &p->dstPtr, *from = &p->srcPtr;
        size_t to_row = (p->dstPos.z + z) * to->ysize + p->dstPos.y;
        size_t from_row = (p->srcPos.z + z) * from->ysize + p->srcPos.y;
        struct cpu_copy c = {(char *)to->ptr + to_row * to->pitch + p->dstPos.x,
                             (char *)from->ptr + from_row * from->pitch + p->srcPos.x,
                             to->pitch,
                             from->pitch,
                             p->extent.width,
                             p->extent.height,
                             0};
        error = copy(c, p->kind, stream, false);
    }
    return error || !wait ? error : cpu_finish_stream(stream);
}
PUBLIC cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    CALL(copy_box(p, stream, false));
}
PUBLIC cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    CALL(copy_box(p, NULL, true));
}
PUBLIC cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width,
                                     size_t height, cudaStream_t stream)
{
    CALL(set((struct cpu_copy){pointer, NULL, pitch, 0, width, height, value}, stream, false));
}
PUBLIC cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    CALL(set((struct cpu_copy){pointer, NULL, pitch, 0, width, height, value}, NULL, true));
}
static cudaError_t set_box(struct cudaPitchedPtr p, int value, struct cudaExtent extent,
                           cudaStream_t stream, bool wait)
{
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; !error && z < extent.depth; z++)
        error = set((struct cpu_copy){(char *)p.ptr + z * p.pitch * p.ysize, NULL, p.pitch, 0,
                                      extent.width, extent.height, value},
                    stream, false);
    return error || !wait ? error : cpu_finish_stream(stream);
}
PUBLIC cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent extent,
                                     cudaStream_t stream)
{
    CALL(set_box(p, value, extent, stream, false));
}
PUBLIC cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent extent)
{
    CALL(set_box(p, value, extent, NULL, true));
}
PUBLIC cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{
    CALL(set((struct cpu_copy){pointer, NULL, 0, 0, bytes, 1, value}, stream, false));
}
PUBLIC cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    CALL(set((struct cpu_copy){pointer, NULL, 0, 0, bytes, 1, value}, NULL, true));
}

// ---- Variables of the device

// The __device__ and __constant__ variables of a program or library, from ../nvcc, which pads them to pages of 4096 bytes;
// or one __managed__ variable. Those of the device have other addresses on the host, where nothing is.
PUBLIC void cpu_cuda_add_variables(char *start, const char *end, bool is_managed, bool shares_pages)
{
    if (cpu_find_allocation(start)) return; // two sources of one library
    cpu_keep_loaded(start);
    cpu_catch_faults();
    size_t bytes = (size_t)(end - start), page = cpu_page_bytes();
    // One of a template shares its pages with what is the host's.
    bool can_be_locked = page <= 4096 && (uintptr_t)start % page == 0 && !shares_pages;
    struct cpu_allocation *a =
        cpu_add_allocation(start, bytes, can_be_locked ? (bytes + page - 1) / page * page : 0,
                           is_managed ? MANAGED : VARIABLE);
    char *there = is_managed ? MAP_FAILED
                             : mmap(NULL, bytes, PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct cpu_allocation *b =
        a && there != MAP_FAILED ? cpu_add_allocation(there, bytes, 0, ON_HOST) : NULL;
    if (b) a->other = there - start, b->other = start - there;
}

// From a variable's address on the host to the variable, or the other way.
static void *other_address(const volatile void *address, enum cpu_kind kind)
{
    const struct cpu_allocation *a = cpu_find_allocation((const void *)address);
    return (char *)address + (a && a->kind == kind ? a->other : 0);
}

PUBLIC void *cpu_cuda_on_host(const volatile void *variable)
{
    cpu_lock();
    void *there = other_address(variable, VARIABLE);
    cpu_unlock();
    return there;
}

static bool is_symbol(const void *address)
{
    const struct cpu_allocation *a = cpu_find_allocation(address);
    return a && cpu_is_variable(a);
}

PUBLIC cudaError_t cpu_cuda_find_symbol(void **pointer, const void *symbol)
{
    ENTER();
    cpu_call.name = pointer ? "cudaGetSymbolAddress" : "cudaGetSymbolSize";
    void *address = other_address(symbol, ON_HOST);
    if (!is_symbol(address)) LEAVE(cudaErrorInvalidSymbol);
    if (pointer) *pointer = address;
    LEAVE(cudaSuccess);
}

PUBLIC cudaError_t cpu_cuda_copy_symbol(bool is_to, const void *symbol, size_t symbol_bytes,
                                        size_t offset, const void *memory, size_t bytes,
                                        enum cudaMemcpyKind kind, cudaStream_t stream, bool wait)
{
    ENTER();
    cpu_call.name = is_to  ? wait ? "cudaMemcpyToSymbol" : "cudaMemcpyToSymbolAsync"
                    : wait ? "cudaMemcpyFromSymbol"
                           : "cudaMemcpyFromSymbolAsync";
    symbol = other_address(symbol, ON_HOST);
    if (!is_symbol(symbol)) LEAVE(cudaErrorInvalidSymbol);
    if (kind == cudaMemcpyHostToHost ||
        kind == (is_to ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice))
        LEAVE(cudaErrorInvalidMemcpyDirection);
    if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
        cpu_say_of_call("the variable has %zu bytes, not %zu from byte %zu on: out of bounds",
                        symbol_bytes, bytes, offset);
        LEAVE(cudaErrorInvalidValue);
    }
    char *place = (char *)symbol + offset;
    struct cpu_copy c =
        is_to ? bytes_of(place, memory, bytes) : bytes_of((void *)memory, place, bytes);
    LEAVE(copy(c, kind, stream, wait));
}
