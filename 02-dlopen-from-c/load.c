// The loader by hand: opens a library, finds a function in it, calls it, and says how far it came.
// Build: make load
// Run:   ./load now ./libhello.so hello_from_gpu
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc != 4 || (strcmp(argv[1], "now") != 0 && strcmp(argv[1], "lazy") != 0)) {
        fprintf(stderr, "./load now|lazy LIBRARY FUNCTION\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); // each line at once, also into a pipe

    // now: all that the library itself needs is looked up here. lazy: when it is first called.
    void *library = dlopen(argv[2], strcmp(argv[1], "now") == 0 ? RTLD_NOW : RTLD_LAZY);
    if (!library) {
        fprintf(stderr, "dlopen: %s\n", dlerror());
        return 1;
    }
    printf("opened %s\n", argv[2]);

    dlerror(); // forget older errors
    int (*function)(void);
    *(void **)&function = dlsym(library, argv[3]);
    const char *error = dlerror();
    if (error || !function) {
        fprintf(stderr, "dlsym: %s\n", error ? error : "the symbol is NULL");
        return 1;
    }
    printf("found %s\n", argv[3]);

    printf("it returned %d\n", function());
    return dlclose(library) ? 1 : 0;
}
