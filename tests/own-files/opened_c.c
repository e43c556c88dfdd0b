// A C program of a learner's that opens its library.
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    float x[3] = {2, 4, 6};
    void *library = dlopen("libmine.so", RTLD_NOW);
    int (*half)(float *, int) = NULL;
    if (library)
        *(void **)&half = dlsym(library, "half");
    if (!half) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int code = half(x, 3);
    printf("%d: %g %g %g\n", code, x[0], x[1], x[2]);
    return code;
}
