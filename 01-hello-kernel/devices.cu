// Which devices are there? Lists them; with a number on the command line, chooses that one and uses it.
// Build: make devices
// Run:   ./devices, ./devices 0
#include "check.h"
#include <stdlib.h>

__global__ void Nothing(void) {}

static void print_device(int device)
{
    cudaDeviceProp p;
    char bus[32];
    CHECK(cudaGetDeviceProperties(&p, device));
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, device));
    printf("device %d: %s, PCI bus %s\n", device, p.name, bus);
    printf("  compute capability %d.%d, %d multiprocessors, %.1f GB of memory\n", p.major, p.minor,
           p.multiProcessorCount, (double)p.totalGlobalMem / 1e9);
}

// A number and nothing else, or -1.
static int parse(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    return *text && !*end && number >= 0 && number < 1000000 ? (int)number : -1;
}

int main(int argc, char **argv)
{
    int count;
    CHECK(cudaGetDeviceCount(&count));
    for (int device = 0; device < count; device++)
        print_device(device);
    if (argc < 2)
        return 0;

    int chosen = parse(argv[1]);
    if (chosen < 0 || chosen >= count) {
        fprintf(stderr, "there is no device %s: they are numbered 0 to %d\n", argv[1], count - 1);
        return 1;
    }
    CHECK(cudaSetDevice(chosen)); // from here on, every call of this thread is for that device
    Nothing<<<1, 1>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    printf("a kernel ran on device %d\n", chosen);
    return 0;
}
