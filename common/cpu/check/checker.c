// What check/ keeps while a launch runs: for it, for each core, for a block.
#include "check.h"
#include <string.h>

enum { SHARED_CELLS = (CPU_MOST_SHARED + 65536) / 4 };

// What a kernel reaches by pointers to const alone is only read, and no races are looked for, as long
// as it does not write there all the same.
void cpu_check_launch(const struct cpu_launch *launch)
{
    cpu_note_launch();
    cpu_begin_record(launch);
    for (unsigned i = 0; i < launch->arguments; i++) {
        struct cpu_allocation *a = cpu_find_allocation(launch->argument[i].pointer);
        if (a) cpu_gather_written(&a->shadow, a->bytes);
        if (a && launch->argument[i].is_read_only && !cpu_streams_meet && !cpu_takes_no_short_cuts)
            a->shadow.quiet_launch = cpu_launches;
    }
    for (unsigned i = 0; i < launch->arguments; i++) {
        struct cpu_allocation *a = cpu_find_allocation(launch->argument[i].pointer);
        if (a && !launch->argument[i].is_read_only) a->shadow.quiet_launch = 0;
    }
}

void cpu_check_core(void **kept)
{
    if (!*kept) *kept = cpu_lazy_pages(sizeof *cpu_checker + CELL_BYTES * (size_t)SHARED_CELLS);
    struct cpu_checker *k = *kept;
    if (!k) return;
    const char *own[] = {(char *)&threadIdx,        (char *)&blockIdx,
                         (char *)&blockDim,         (char *)&gridDim,
                         (char *)&cpu_cuda_row_end, (char *)&cpu_cuda_dynamic_shared};
    const char *end = own[0];
    *k = (struct cpu_checker){.stacks = cpu_here.stacks,
                              .stack_bytes = cpu_here.stack_bytes,
                              .own = own[0],
                              .pages = (char *)(k + 1),
                              .shared = k->shared, // what older blocks left is not of this one
                              .record = k->record,
                              .turns = k->turns,
                              .room = k->room,
                              .has_no_short_cuts =
                                  cpu_takes_no_short_cuts || cpu_is_recording || cpu_has_others};
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
    if (k->has_candidates) cpu_decide_races(NULL);
    cpu_end_record_of_block();
    cpu_end_block_of_races();
    cpu_checker = NULL;
}

void cpu_check_block(void)
{
    struct cpu_checker *k = cpu_checker;
    if (!k) return;
    cpu_end_record_of_block(); // the one before
    cpu_end_block_of_races();
    uint64_t block =
        blockIdx.x + (uint64_t)gridDim.x * (blockIdx.y + (uint64_t)gridDim.y * blockIdx.z);
    k->block = (cpu_launches % 255 + 1) << LAUNCH | (block << BLOCK & BITS(BLOCK, LAUNCH));
    k->shared += (uint64_t)1 << BLOCK;
    cpu_begin_block_of_races();
    k->is_first_block = block == 0;
    k->epoch = 0;
    k->block_epoch = k->fenced = 0;
    if (k->has_released) memset(k->released, 0, sizeof k->released);
    memset(k->warps, 0, sizeof k->warps);
    k->has_released = k->has_acquired = k->is_late = false;
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

// All blocks have waited for each other: as for a new launch, what comes is later.
void cpu_check_block_goes_on(void)
{
    struct cpu_checker *k = cpu_checker;
    if (k) k->block = (k->block & BITS(BLOCK, LAUNCH)) | (cpu_launches % 255 + 1) << LAUNCH;
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
    uint64_t *pages = (uint64_t *)k->pages, *writers = pages + 3 * k->used;
    uint64_t(*parts)[4] = (uint64_t(*)[4])(pages + 3 * SHARED_CELLS) + k->used;
    uint32_t *olds = (uint32_t *)(pages + 7 * SHARED_CELLS) + k->used;
    k->used += cells;
    k->variables[k->count++] = (struct cpu_shared){
        (const char *)base, name, bytes, {writers, writers + cells, olds, parts}};
}
