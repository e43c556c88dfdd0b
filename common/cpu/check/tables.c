// Virtual functions: an object holds the address of a table of functions, which is the host's if the host has made it.
#include "check.h"
#include <dlfcn.h>

enum { MOST_TABLES = 64 };
static const char *kernels_tables[MOST_TABLES]; // of the objects that kernels have made

void cpu_note_table(const char *table)
{
    for (int i = 0; i < MOST_TABLES; i++) {
        const char *seen = NULL;
        if (__atomic_load_n(&kernels_tables[i], __ATOMIC_RELAXED) == table ||
            __atomic_compare_exchange_n(&kernels_tables[i], &seen, table, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
    }
}

static bool is_kernels_table(const char *table)
{
    for (int i = 0; i < MOST_TABLES; i++)
        if (kernels_tables[i] == table) return true;
    // a variable of the device may be an object
    for (const struct cpu_allocation *a = cpu_allocations; a; a = a->next)
        for (size_t i = 0; a->kind == VARIABLE && i + 8 <= a->bytes; i += 8)
            if (*(char **)(a->base + i) == table) return true;
    return kernels_tables[MOST_TABLES - 1]; // perhaps
}

// The table in read-only memory that the place is in, or NULL. In front of it is the address of what C++ keeps of the
// class, an object of one of three classes.
static const char *find_table(const struct cpu_checker *k, const char *place)
{
    enum { MOST_BYTES = 1024 };
    static const char *const names[] = {"_ZTVN10__cxxabiv117__class_type_infoE",
                                        "_ZTVN10__cxxabiv120__si_class_type_infoE",
                                        "_ZTVN10__cxxabiv121__vmi_class_type_infoE"};
    static const char *classes[3];
    static bool is_ready;
    for (int i = 0; !is_ready && i < 3; i++) classes[i] = dlsym(RTLD_DEFAULT, names[i]);
    is_ready = true;
    for (const char *t = place; classes[0] && place - t < MOST_BYTES; t -= 8) {
        if (t - 8 < k->constants) break;
        size_t offset = (size_t)(((char **)t)[-1] - k->constants);
        if (offset % 8 || offset + 8 > (size_t)(k->constants_end - k->constants)) continue;
        const char *class = *(char **)(k->constants + offset) - 16;
        if (class == classes[0] || class == classes[1] || class == classes[2]) return t;
    }
    return NULL;
}

// A virtual function is called, if it is read from such a table.
void cpu_check_table(const struct cpu_access *x)
{
    const char *table = find_table(cpu_checker, x->address);
    if (table && !is_kernels_table(table))
        cpu_complain(cudaErrorIllegalAddress, x,
                     "calls a virtual function of an object that the host has made: only objects "
                     "that a kernel makes have the device's functions");
}
