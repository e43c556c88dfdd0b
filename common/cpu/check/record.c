// CPU_CUDA_PICTURE=file.svg: what the first launch of each kernel touches in the device's memory, counted as a
// GPU moves it: for each access of a warp, the sectors of 32 bytes that its lanes ask for. ../picture.py draws it.
// And cpu_cuda_watch, which counts all launches.
#include "check.h"
#include "cpu_seen.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32, MOST_SHOWN = 256, MOST_KEPT = 1 << 22 };

struct cpu_recorded {
    const char *address;
    unsigned site, thread, turn; // turn: how often this thread had been at this site
    unsigned bytes;
    int kind;
};

static struct cpu_counts {
    uint64_t accesses, bytes, sectors;
} counts[SITES];
static struct cpu_recorded shown[MOST_SHOWN]; // of the first warp
static unsigned shown_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *report; // to ../picture.py
bool cpu_is_recording;
static bool is_drawn;              // this launch
static struct cpu_cuda_seen *seen; // by cpu_cuda_watch
static long long most;             // accesses by one thread of this launch

static const char *wanted(void)
{
    const char *file = getenv("CPU_CUDA_PICTURE");
    return file && file[0] ? file : NULL;
}

static FILE *open_report(void)
{
    Dl_info here;
    char command[1000];
    if (!dladdr((void *)cpu_begin_record, &here)) return NULL;
    int folder = (int)(strrchr(here.dli_fname, '/') - here.dli_fname);
    snprintf(command, sizeof command, "python3 '%.*s/bin/picture.py' \"$CPU_CUDA_PICTURE\"", folder,
             here.dli_fname);
    return popen(command, "w");
}

void cpu_begin_record(const struct cpu_launch *launch)
{
    enum { MOST = 64 };
    static void (*known[MOST])(const void *);
    static unsigned count;
    unsigned i = 0;
    while (i < count && known[i] != launch->run_threads) i++;
    is_drawn = wanted() && launch->run_threads && i == count && count < MOST;
    cpu_is_recording = is_drawn || seen;
    if (!cpu_is_recording) return;
    if (is_drawn) known[count++] = launch->run_threads;
    memset(counts, 0, sizeof counts);
    shown_count = 0;
    most = 0;
}

void cpu_record(const struct cpu_access *x)
{
    struct cpu_checker *k = cpu_checker;
    const struct cpu_recorded *last = k->recorded ? &k->record[k->recorded - 1] : NULL;
    bool goes_on = last && last->address == x->address && last->thread == cpu_thread_number() &&
                   (x->kind & (ATOMIC | WRITE | VOLATILE)) == (ATOMIC | WRITE) &&
                   (last->kind & (ATOMIC | VOLATILE)) == ATOMIC;
    if (goes_on)
        k->recorded--; // the atomics of ../include read, then compare and swap until it is done
    if (!k->turns && !(k->turns = cpu_lazy_pages(SITES * sizeof *k->turns))) abort();
    // Of a loop that does not end, memory would not hold all. (A warp's requests at this place are counted in two parts.)
    if (k->recorded == MOST_KEPT) cpu_end_record_of_block();
    if (k->recorded == k->room) {
        k->room = 2 * k->room + 4096;
        k->record = realloc(k->record, k->room * sizeof *k->record);
        if (!k->record) abort();
    }
    k->record[k->recorded] = (struct cpu_recorded){.address = x->address,
                                                   .site = cpu_site_of(x->place, x->kind),
                                                   .thread = cpu_thread_number(),
                                                   .bytes = (unsigned)x->bytes,
                                                   .kind = x->kind};
    k->recorded++;
}

static bool is_one_request(const struct cpu_recorded *a, const struct cpu_recorded *b)
{
    return a->site == b->site && a->thread / 32 == b->thread / 32 && a->turn == b->turn;
}

static int by_request(const void *left, const void *right)
{
    const struct cpu_recorded *a = left, *b = right;
    if (a->site != b->site) return a->site < b->site ? -1 : 1;
    if (a->thread / 32 != b->thread / 32) return a->thread / 32 < b->thread / 32 ? -1 : 1;
    if (a->turn != b->turn) return a->turn < b->turn ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

// What the threads of a block did one after the other is put together: the n-th access of each lane at one
// place is one request of the warp.
void cpu_end_record_of_block(void)
{
    struct cpu_checker *k = cpu_checker;
    if (!k || !k->recorded) return;
    struct cpu_recorded *t = k->record;
    unsigned of_thread[1024] = {0};
    for (unsigned i = 0; k->is_first_block && i < k->recorded && shown_count < MOST_SHOWN; i++)
        if (t[i].thread < 32) shown[shown_count++] = t[i];
    for (unsigned i = 0; i < k->recorded; i++) t[i].turn = k->turns[t[i].site][t[i].thread]++;
    for (unsigned i = 0; i < k->recorded; i++) k->turns[t[i].site][t[i].thread] = 0;
    qsort(t, k->recorded, sizeof *t, by_request);
    pthread_mutex_lock(&lock);
    uintptr_t next = 0; // the first sector that this request has not asked for yet
    for (unsigned i = 0; i < k->recorded; i++) {
        struct cpu_counts *c = &counts[t[i].site];
        bool is_new = i == 0 || !is_one_request(&t[i], &t[i - 1]);
        uintptr_t first = (uintptr_t)t[i].address / SECTOR,
                  end = ((uintptr_t)t[i].address + t[i].bytes - 1) / SECTOR + 1;
        if (is_new || first > next) next = first;
        c->accesses++;
        if (++of_thread[t[i].thread] > most) most = of_thread[t[i].thread];
        c->bytes += t[i].bytes;
        if (end > next) c->sectors += end - next, next = end;
    }
    pthread_mutex_unlock(&lock);
    k->recorded = 0;
}

static int by_place(const void *left, const void *right)
{
    const char *a = cpu_place_at((uint64_t) * (const unsigned *)left << SITE);
    const char *b = cpu_place_at((uint64_t) * (const unsigned *)right << SITE);
    return a < b ? -1 : a > b;
}

static void add_to_seen(const struct cpu_launch *l)
{
    long long blocks = (long long)l->grid.x * l->grid.y * l->grid.z;
    seen->launches++;
    seen->blocks += blocks;
    seen->threads += blocks * l->block.x * l->block.y * l->block.z;
    for (unsigned site = 0; site < SITES; site++) {
        int kind = cpu_kind_at((uint64_t)site << SITE);
        bool is_atomic = (kind & (ATOMIC | VOLATILE)) == ATOMIC;
        long long *count = is_atomic ? &seen->atomics : kind & WRITE ? &seen->writes : &seen->reads;
        *count += (long long)counts[site].accesses;
        seen->sectors += (long long)counts[site].sectors;
    }
    if (most > seen->most) seen->most = most;
}

PUBLIC void cpu_cuda_watch(struct cpu_cuda_seen *to, int blocks)
{
    cpu_lock();
    cpu_finish_all();
    seen = to;
    cpu_is_without_threads = to && blocks == NO_BLOCK;
    cpu_is_last_block_only = to && blocks == LAST_BLOCK;
    cpu_unlock();
}

// As ../picture.py reads it: words with tabs between them.
void cpu_end_record(const struct cpu_launch *l)
{
    static const char *const kind[] = {"read", "write", "atomic", "atomic"};
    const struct cpu_allocation *memory[16] = {NULL};
    unsigned line[SITES], order[SITES], lines = 0;
    if (seen) add_to_seen(l);
    cpu_is_recording = false;
    if (!is_drawn) return;
    if (!report && !(report = open_report())) return;
    char launched[400];
    const char *at = cpu_launched_at(l, launched, sizeof launched), *slash = strrchr(at, '/');
    fprintf(report, "launch\t%s\t%s\t%u %u %u\t%u %u %u\n", l->kernel, slash ? slash + 1 : at,
            l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z);
    for (unsigned site = 0; site < SITES; site++)
        if (counts[site].accesses) order[lines++] = site;
    qsort(order, lines, sizeof *order, by_place); // as they are in the code
    for (unsigned i = 0; i < lines; i++) {
        uint64_t cell = (uint64_t)order[i] << SITE;
        const struct cpu_counts *c = &counts[order[i]];
        char text[400];
        const char *place = cpu_line_of(cpu_place_at(cell), text, sizeof text);
        line[order[i]] = i;
        fprintf(report, "line\t%s\t%s\t%lu\t%lu\t%lu\n", place ? place : "?",
                kind[cpu_kind_at(cell) & (WRITE | ATOMIC)], c->accesses, c->bytes, c->sectors);
    }
    for (unsigned i = 0; i < shown_count; i++) {
        const struct cpu_allocation *a = cpu_find_allocation(shown[i].address);
        unsigned m = 0;
        while (m < 15 && memory[m] && memory[m] != a) m++;
        memory[m] = a;
        fprintf(report, "access\t%u\t%u\t%u\t%zu\t%u\n", line[shown[i].site], shown[i].thread, m,
                (size_t)(shown[i].address - a->base), shown[i].bytes);
    }
}

void cpu_draw_record(void)
{
    if (report) pclose(report);
}
