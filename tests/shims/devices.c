// Comes before the stand-in's runtime (LD_PRELOAD), whose calls begin with cpu_: counts who asks where memory is, has
// another current device.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int asked, current, place, pools, worked_on;

int pools_so_far(void)
{
    return pools;
}

int cpu_cudaMemPoolCreate(void **pool, const void *properties)
{
    int (*create)(void **, const void *);
    if (getenv("NO_POOLS")) return 801; // cudaErrorNotSupported
    *(void **)&create = dlsym(RTLD_NEXT, "cudaMemPoolCreate");
    __atomic_add_fetch(&pools, 1, __ATOMIC_RELAXED);
    usleep(100000); // others come meanwhile
    return create(pool, properties);
}

int asked_so_far(void)
{
    return asked;
}

void make_current(int device)
{
    current = device;
}

void lies_on(int device) // from now on, all arrays on the device do
{
    place = device;
}

int cpu_cudaPointerGetAttributes(void *attributes, const void *pointer)
{
    struct {
        int type, device;
        void *device_pointer;
    } *found = attributes;
    int (*ask)(void *, const void *), code;
    *(void **)&ask = dlsym(RTLD_NEXT, "cudaPointerGetAttributes");
    asked++;
    code = ask(attributes, pointer);
    if (found->type == 2) { // cudaMemoryTypeDevice
        found->device = place;
        if (place != current) found->device_pointer = NULL; // as two H200s say
    }
    return code;
}

int cpu_cudaSetDevice(int device)
{
    current = device;
    return 0;
}

int gpu_of_last_work(void) // which was current when something was last copied, or waited for
{
    return worked_on;
}

int cpu_cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    int (*copy)(void *, const void *, size_t, int, void *);
    *(void **)&copy = dlsym(RTLD_NEXT, "cudaMemcpyAsync");
    worked_on = current;
    return copy(to, from, bytes, kind, stream);
}

int cpu_cudaEventRecord(void *event, void *stream)
{
    int (*record)(void *, void *);
    *(void **)&record = dlsym(RTLD_NEXT, "cudaEventRecord");
    worked_on = current;
    return record(event, stream);
}

int cpu_cudaGetDevice(int *device)
{
    *device = current;
    return 0;
}
