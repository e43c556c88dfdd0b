// Comes before the stand-in's runtime (LD_PRELOAD), whose calls begin with cpu_: counts who asks where memory is, has
// another current device.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int asked, current, place, pools;

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
    int (*ask)(void *, const void *), code, *type_and_device = attributes;
    *(void **)&ask = dlsym(RTLD_NEXT, "cudaPointerGetAttributes");
    asked++;
    code = ask(attributes, pointer);
    if (type_and_device[0] == 2) // cudaMemoryTypeDevice
        type_and_device[1] = place;
    return code;
}

int cpu_cudaGetDevice(int *device)
{
    *device = current;
    return 0;
}
