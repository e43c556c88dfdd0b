// Comes before the stand-in's runtime (LD_PRELOAD): counts who asks where memory is, has another current device.
#define _GNU_SOURCE
#include <dlfcn.h>

static int asked, current;

int asked_so_far(void)
{
    return asked;
}

void make_current(int device)
{
    current = device;
}

int cudaPointerGetAttributes(void *attributes, const void *pointer)
{
    int (*ask)(void *, const void *);
    *(void **)&ask = dlsym(RTLD_NEXT, "cudaPointerGetAttributes");
    asked++;
    return ask(attributes, pointer);
}

int cudaGetDevice(int *device)
{
    *device = current;
    return 0;
}
