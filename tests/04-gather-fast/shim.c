// Comes before the stand-in's runtime (LD_PRELOAD): counts who asks where memory is, has another current device.
#define _GNU_SOURCE
#include <dlfcn.h>

static int asked, current, place;

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

int cudaPointerGetAttributes(void *attributes, const void *pointer)
{
    int (*ask)(void *, const void *), code, *type_and_device = attributes;
    *(void **)&ask = dlsym(RTLD_NEXT, "cudaPointerGetAttributes");
    asked++;
    code = ask(attributes, pointer);
    if (type_and_device[0] == 2) // cudaMemoryTypeDevice
        type_and_device[1] = place;
    return code;
}

int cudaGetDevice(int *device)
{
    *device = current;
    return 0;
}
