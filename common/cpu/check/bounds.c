// Where is an access: in memory that the kernel may touch, all of it? And has somebody written what it
// reads? If so, races.c asks who else was there.
#include "check.h"
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SHARED_CELLS = (CPU_MOST_SHARED + 65536) / 4 };
#define MOST_CELL_BYTES \
    ((size_t)256 << 20) // for one allocation; of a larger one, some pages are looked at

enum {
    SMALL = 64 << 10
}; // bytes: less comes from malloc, as a process may only have some 65,000 mappings

static void *lazy_pages(size_t bytes) // zero, and there when they are touched
{
    if (bytes < SMALL) return calloc(1, bytes);
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static void give_back(void *pages, size_t bytes)
{
    if (bytes < SMALL)
        free(pages);
    else if (pages)
        munmap(pages, bytes);
}

// All that is kept for races goes.
void cpu_clear_cells(const struct cpu_allocation *a)
{
    size_t bytes = 24 * cpu_cells_of(a->bytes);
    if (a->shadow.writers && bytes < SMALL)
        memset(a->shadow.writers, 0, bytes);
    else if (a->shadow.writers)
        madvise(a->shadow.writers, bytes, MADV_DONTNEED);
}

bool cpu_is_checking(void)
{
    static int is_off = -1;
    const char *check = getenv("CPU_CUDA_CHECK");
    if (is_off < 0) is_off = (check && strcmp(check, "0") == 0) || cpu_has_asan();
    return !is_off;
}

// ---- What is kept for an allocation

size_t cpu_cells_of(size_t bytes) { return bytes / 4 + 2; }

// Which bytes the host writes nobody knows, so only of the device's own memory it is kept what is written.
void cpu_track(struct cpu_allocation *a)
{
    struct cpu_shadow *s = &a->shadow;
    s->all_written = a->bytes;
    if (!cpu_is_checking()) return;
    size_t cells = cpu_cells_of(a->bytes);
    s->writers = lazy_pages(24 * cells);
    s->readers = s->writers ? s->writers + cells : NULL;
    while (24 * cells / (s->skipped / 4096 + 1) > MOST_CELL_BYTES)
        s->skipped = 2 * s->skipped + 4096;
    if (a->kind == DEVICE) s->written = lazy_pages(cells);
    if (s->written) s->all_written = 0;
}

void cpu_untrack(struct cpu_allocation *a)
{
    give_back(a->shadow.writers, 24 * cpu_cells_of(a->bytes));
    give_back(a->shadow.written, cpu_cells_of(a->bytes));
    a->shadow = (struct cpu_shadow){.writers = NULL};
}

static bool is_written(const struct cpu_shadow *s, size_t i)
{
    return i < s->all_written || s->written[i / 4] >> i % 4 & 1;
}

static void note_written(struct cpu_shadow *s, size_t offset, size_t bytes)
{
    for (size_t i = offset; i < offset + bytes; i++)
        if (i % 4 == 0 && offset + bytes - i >= 4) {
            s->written[i / 4] = 15;
            i += 3;
        } else {
            __atomic_or_fetch(&s->written[i / 4], 1 << i % 4, __ATOMIC_RELAXED);
        }
}

// A copy or memset has written this: what is so as a whole needs no bytes of its own.
void cpu_note_written(const char *to, size_t bytes)
{
    struct cpu_allocation *a = cpu_find_allocation(to);
    if (!a || !a->shadow.written) return;
    size_t offset = (size_t)(to - a->base);
    if (offset > a->shadow.all_written)
        note_written(&a->shadow, offset, bytes);
    else if (offset + bytes > a->shadow.all_written)
        a->shadow.all_written = offset + bytes;
}

// A copy reads this. What nobody has written gets large numbers, and is told if it goes to the host; but
// short gaps behind something written, many of them or in little memory, are the padding of structs.
void cpu_note_copied(const char *from, size_t bytes, bool to_host)
{
    struct cpu_allocation *a = cpu_find_allocation(from);
    if (!a || !a->shadow.written) return;
    size_t offset = (size_t)(from - a->base), end = offset + bytes, gaps = 0, first = 0,
           longest = 0, all = 0;
    for (size_t i = offset < a->shadow.all_written ? a->shadow.all_written : offset; i < end;) {
        size_t start = i;
        while (i < end && !is_written(&a->shadow, i)) i++;
        if (i > start) {
            cpu_fill_fresh(a, start, i - start);
            first = gaps++ ? first : start;
            longest = i - start > longest ? i - start : longest;
            all += i - start;
        } else {
            i++;
        }
    }
    bool is_padding = first > offset && longest < 16 && (gaps > 1 || bytes <= 64);
    if (gaps && to_host && !is_padding)
        cpu_say_of_call("reads %zu bytes that nobody has written, the first at byte %zu of an "
                        "allocation of %zu bytes",
                        all, first, a->bytes);
}

// ---- A launch, a core, a block

// What a kernel reaches by pointers to const alone is only read, and no races are looked for, as long
// as it does not write there all the same.
void cpu_check_launch(const struct cpu_launch *launch)
{
    if (!cpu_is_checking()) return;
    cpu_note_launch();
    cpu_begin_touches(launch);
    for (unsigned i = 0; i < launch->arguments; i++) {
        struct cpu_allocation *a = cpu_find_allocation(launch->argument[i].pointer);
        if (a && launch->argument[i].is_read_only && !cpu_streams_meet)
            a->shadow.quiet_launch = cpu_launches;
    }
    for (unsigned i = 0; i < launch->arguments; i++) {
        struct cpu_allocation *a = cpu_find_allocation(launch->argument[i].pointer);
        if (a && !launch->argument[i].is_read_only) a->shadow.quiet_launch = 0;
    }
}

void cpu_check_core(const char *stacks, size_t stack_bytes)
{
    struct cpu_checker *k =
        cpu_is_checking() ? lazy_pages(sizeof *k + 24 * (size_t)SHARED_CELLS) : NULL;
    if (!k) return;
    const char *own[] = {(char *)&threadIdx,        (char *)&blockIdx,
                         (char *)&blockDim,         (char *)&gridDim,
                         (char *)&cpu_cuda_row_end, (char *)&cpu_cuda_dynamic_shared};
    const char *end = own[0];
    *k = (struct cpu_checker){.stacks = stacks,
                              .stack_bytes = stack_bytes,
                              .own = own[0],
                              .pages = (char *)(k + 1),
                              .has_no_short_cuts = cpu_is_touching || cpu_has_others};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (own[i] < k->own) k->own = own[i];
        if (own[i] + sizeof(dim3) > end) end = own[i] + sizeof(dim3);
    }
    k->own_bytes = (size_t)(end - k->own);
    cpu_checker = k;
}

void cpu_check_core_end(void)
{
    struct cpu_checker *k = cpu_checker;
    if (!k) return;
    if (k->is_in_doubt) cpu_settle(NULL);
    cpu_end_block_of_races();
    free(k->touch);
    cpu_checker = NULL;
    munmap(k, sizeof *k + 24 * (size_t)SHARED_CELLS);
}

void cpu_check_block(void)
{
    struct cpu_checker *k = cpu_checker;
    if (!k) return;
    cpu_end_block_of_races(); // the one before
    uint64_t block =
        blockIdx.x + (uint64_t)gridDim.x * (blockIdx.y + (uint64_t)gridDim.y * blockIdx.z);
    k->block = (cpu_launches % 255 + 1) << LAUNCH | (block << BLOCK & BITS(BLOCK, LAUNCH));
    k->shared += (uint64_t)1 << BLOCK;
    k->epoch = 0;
    k->block_epoch = 0;
    if (k->has_fenced) memset(k->released, 0, sizeof k->released);
    memset(k->warps, 0, sizeof k->warps);
    k->has_fenced = k->has_acquired = k->is_late = false;
}

unsigned cpu_next_epoch(struct cpu_checker *k)
{
    unsigned epoch = NUMBER(k->epoch, EPOCH, THREAD) + 1;
    if (epoch == MOST_EPOCHS) k->is_late = true;
    k->epoch = ((uint64_t)epoch << EPOCH) & BITS(EPOCH, THREAD);
    return epoch;
}

// Threads have waited for each other: all of the block (warp < 0), or of one warp.
void cpu_check_waited(int warp)
{
    struct cpu_checker *k = cpu_checker;
    if (!k) return;
    unsigned epoch = cpu_next_epoch(k);
    if (warp < 0)
        k->block_epoch = epoch;
    else
        k->warps[warp].waited = k->warps[warp].acquired = epoch;
}

// A __shared__ variable, from ../nvcc, when a thread comes by.
PUBLIC void cpu_cuda_shared(const volatile void *base, size_t bytes, const char *name)
{
    struct cpu_checker *k = cpu_checker;
    if (!k) return;
    for (unsigned i = 0; i < k->count; i++)
        if (k->variables[i].base == (const char *)base) {
            k->variables[i].bytes = bytes;
            return;
        }
    size_t cells = cpu_cells_of(bytes);
    if (k->count == sizeof k->variables / sizeof k->variables[0] || k->used + cells > SHARED_CELLS)
        return;
    uint64_t *writers = (uint64_t *)k->pages + 3 * k->used;
    k->used += cells;
    k->variables[k->count++] =
        (struct cpu_shared){(const char *)base, name, bytes, {writers, writers + cells}};
}

// ---- malloc and new in a kernel: the device's heap, of which only the bounds are looked at

enum { AROUND = 64 }; // bytes: so far from it an access is still taken for one to it

static struct piece {
    const char *start;
    size_t bytes;
    struct piece *next;
} * heap;
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;

PUBLIC void *__wrap_malloc(size_t bytes)
{
    struct piece *piece = cpu_running ? malloc(sizeof *piece + bytes + AROUND) : NULL;
    if (!cpu_running) return malloc(bytes);
    if (!piece) return NULL;
    pthread_mutex_lock(&heap_lock);
    *piece = (struct piece){(const char *)(piece + 1), bytes, heap};
    heap = piece;
    pthread_mutex_unlock(&heap_lock);
    return piece + 1;
}

PUBLIC void __wrap_free(void *start)
{
    struct piece *found = NULL;
    pthread_mutex_lock(&heap_lock);
    for (struct piece **link = &heap; cpu_running && *link; link = &(*link)->next)
        if ((*link)->start == start) {
            found = *link;
            *link = found->next;
            break;
        }
    pthread_mutex_unlock(&heap_lock);
    if (found)
        free(found);
    else if (!cpu_running)
        free(start);
}

PUBLIC void *__wrap__Znwm(size_t bytes) { return __wrap_malloc(bytes); }
PUBLIC void *__wrap__Znam(size_t bytes) { return __wrap_malloc(bytes); }
PUBLIC void __wrap__ZdlPv(void *start) { __wrap_free(start); }
PUBLIC void __wrap__ZdaPv(void *start) { __wrap_free(start); }
PUBLIC void __wrap__ZdlPvm(void *start, size_t bytes) { (void)bytes, __wrap_free(start); }
PUBLIC void __wrap__ZdaPvm(void *start, size_t bytes) { (void)bytes, __wrap_free(start); }

static const char *verb(const struct cpu_access *x) { return x->kind & WRITE ? "writes" : "reads"; }

static bool is_in_heap(const struct cpu_access *x)
{
    pthread_mutex_lock(&heap_lock);
    const struct piece *piece = heap;
    while (piece &&
           (x->address < piece->start - 8 || x->address >= piece->start + piece->bytes + AROUND))
        piece = piece->next;
    pthread_mutex_unlock(&heap_lock);
    if (piece && (x->address < piece->start || x->address + x->bytes > piece->start + piece->bytes))
        cpu_complain(cudaErrorIllegalAddress, x,
                     "%s outside the %zu bytes that malloc or new gave it", verb(x), piece->bytes);
    return piece;
}

// ---- Looking

static void check_written(struct cpu_allocation *a, const struct cpu_access *x, size_t offset)
{
    struct cpu_shadow *s = &a->shadow;
    if (x->kind & WRITE) {
        if (s->quiet_launch) s->quiet_launch = 0; // written to once: other cores read it
        if (offset + x->bytes > s->all_written) note_written(s, offset, x->bytes);
        return;
    }
    size_t missing = 0, first = 0; // of a struct that is copied, some bytes are nobody's
    for (size_t i = offset; i < offset + x->bytes && offset + x->bytes > s->all_written; i++)
        if (!is_written(s, i)) first = missing++ ? first : i;
    if (missing && (x->bytes <= 8 || missing == x->bytes))
        cpu_complain(cudaErrorLaunchFailure, x,
                     "reads byte %zu of an allocation of %zu bytes, which nobody has written",
                     first, a->bytes);
}

static void check_allocation(struct cpu_allocation *a, const struct cpu_access *x)
{
    struct cpu_shadow *s = &a->shadow;
    size_t offset = (size_t)(x->address - a->base);
    if (cpu_is_touching) cpu_note_touch(x);
    check_written(a, x, offset);
    if (s->quiet_launch == cpu_launches || !s->writers || offset & s->skipped) return;
    if (x->kind != WRITE && s->read_launch != cpu_launches) s->read_launch = cpu_launches;
    struct cpu_where where = {
        {s->writers, s->read_launch == cpu_launches || cpu_has_others ? s->readers : NULL},
        offset,
        IN_LAUNCH,
        cpu_checker->block,
        NULL};
    cpu_check_race(x, &where);
}

static bool check_shared(struct cpu_checker *k, const struct cpu_access *x)
{
    for (unsigned n = 0, i = k->last; n < k->count; n++, i = i + 1 < k->count ? i + 1 : 0) {
        struct cpu_shared *v = &k->variables[i];
        size_t offset = (size_t)(x->address - v->base);
        if (offset >= v->bytes) continue;
        if (x->bytes > v->bytes - offset) break;
        k->last = i;
        if (!(x->kind & WRITE) && (v->cells.writers[offset / 4] ^ k->shared) & IN_BLOCK)
            cpu_complain(
                cudaErrorLaunchFailure, x,
                "reads byte %zu of the shared memory %s, which no thread of this block has "
                "written yet; is a __syncthreads() missing before?",
                offset, v->name);
        struct cpu_where where = {v->cells, offset, IN_BLOCK, k->shared, v->name};
        cpu_check_race(x, &where);
        return true;
    }
    return false;
}

// Read-only memory of a program or library: strings, tables, a compiler's constants; and its thread's own.
static int find_constants(struct dl_phdr_info *info, size_t size, void *access)
{
    const struct cpu_access *x = access;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        const char *start = (const char *)(info->dlpi_addr + h->p_vaddr);
        bool is_fixed = (h->p_type == PT_LOAD && !(h->p_flags & PF_W)) || h->p_type == PT_GNU_RELRO;
        if (h->p_type == PT_TLS && info->dlpi_tls_data &&
            (size_t)(x->address - (char *)info->dlpi_tls_data) < h->p_memsz)
            return 1;
        if (!is_fixed || (size_t)(x->address - start) >= h->p_memsz || x->kind & WRITE) continue;
        cpu_checker->constants = start;
        cpu_checker->constants_end = start + h->p_memsz;
        return 1;
    }
    return 0;
}

// Just outside a shared variable, where nothing else is.
static void complain_of_shared(const struct cpu_checker *k, const struct cpu_access *x)
{
    for (unsigned i = 0; i < k->count; i++) {
        const struct cpu_shared *v = &k->variables[i];
        if (x->address >= v->base - 16 && x->address < v->base + v->bytes + 64)
            cpu_complain(cudaErrorIllegalAddress, x,
                         "%s outside the %zu bytes of the shared memory %s", verb(x), v->bytes,
                         v->name);
    }
}

static void check_elsewhere(struct cpu_checker *k, const struct cpu_access *x)
{
    if ((size_t)(x->address - k->own) < k->own_bytes || check_shared(k, x)) return;
    if (x->address >= k->constants && x->address < k->constants_end && !(x->kind & WRITE)) return;
    struct cpu_allocation *a = cpu_find_allocation(x->address);
    if (a && x->bytes <= a->bytes - (size_t)(x->address - a->base)) {
        check_allocation(a, x);
        return;
    }
    complain_of_shared(k, x);
    if ((uintptr_t)x->address < 4096)
        cpu_complain(cudaErrorIllegalAddress, x, "follows a null pointer");
    if (is_in_heap(x) || dl_iterate_phdr(find_constants, (void *)x)) return;
    cpu_complain(cudaErrorIllegalAddress, x, "%s %p, which is not device memory but the host's",
                 verb(x), (const void *)x->address);
}

static void complain_of_device(const struct cpu_access *x)
{
    const struct cpu_allocation *a = cpu_find_neighbour(x->address);
    const char *end = a ? a->base + a->bytes : NULL;
    if (a && a->is_freed)
        cpu_complain(cudaErrorIllegalAddress, x, "%s memory that was freed (%zu bytes)", verb(x),
                     a->bytes);
    if (a && x->address < a->base)
        cpu_complain(cudaErrorIllegalAddress, x,
                     "%s %zu bytes, %zu bytes before an allocation of %zu bytes", verb(x), x->bytes,
                     (size_t)(a->base - x->address), a->bytes);
    if (a)
        cpu_complain(cudaErrorIllegalAddress, x,
                     "%s %zu bytes, %zu bytes behind the end of an allocation of %zu bytes",
                     verb(x), x->bytes, x->address < end ? 0 : (size_t)(x->address - end),
                     a->bytes);
    cpu_complain(cudaErrorInvalidAddressSpace, x, "%s the address %p, where no device memory is",
                 verb(x), (const void *)x->address);
}

void cpu_look_closely(const struct cpu_access *x)
{
    struct cpu_checker *k = cpu_checker;
    if (k->is_in_doubt) cpu_settle(x);
    uintptr_t unit = ((uintptr_t)x->address - cpu_first_place) / CPU_UNIT;
    if (unit >= CPU_UNITS) {
        check_elsewhere(k, x);
        return;
    }
    struct cpu_allocation *a = cpu_find_allocation(x->address);
    if (!a || x->bytes > a->bytes - (size_t)(x->address - a->base)) complain_of_device(x);
    check_allocation(a, x);
}
