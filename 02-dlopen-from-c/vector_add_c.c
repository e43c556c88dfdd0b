// Plain C, no CUDA: calls vector_add() of libvector_add.so, with arguments, and prints its error.
// Build: make vector_add_c libvector_add.so
// Run:   ./vector_add_c, ./vector_add_c 1000, ./vector_add_c -1
#include "vector_add.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// The address of a function of the library. Ends the program if it is not there.
static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "vector_add_c: %s\n", dlerror());
        exit(1);
    }
    return symbol;
}

int main(int argc, char **argv)
{
    char *end = "";
    long wanted = argc > 1 ? strtol(argv[1], &end, 10) : 1 << 20;
    if (*end || (argc > 1 && end == argv[1]) || wanted < -1 || wanted > 1 << 28) {
        fprintf(stderr, "./vector_add_c N: a number from -1 to %d\n", 1 << 28);
        return 2;
    }
    int n = (int)wanted;
    size_t size = n > 0 ? (size_t)n : 1;
    float *a = malloc(size * sizeof *a), *b = malloc(size * sizeof *b);
    if (!a || !b) {
        fprintf(stderr, "vector_add_c: out of memory\n");
        return 1;
    }
    for (int i = 0; i < n; i++) {
        a[i] = 0.5f * (float)(i % 1000);
        b[i] = (float)i;
    }

    void *library = dlopen("libvector_add.so", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "vector_add_c: %s\n", dlerror());
        return 1;
    }
    // The types come from vector_add.h, so the compiler refuses a wrong pointer.
    vector_add_function *add;
    vector_add_text_function *error_name, *error_text;
    *(void **)&add = find(library, "vector_add");
    *(void **)&error_name = find(library, "vector_add_error_name");
    *(void **)&error_text = find(library, "vector_add_error_text");

    int code = add(a, b, n);
    if (code != 0) {
        fprintf(stderr, "vector_add_c: CUDA error %d, %s: %s\n", code, error_name(code),
                error_text(code));
        return 1;
    }
    int right = 0;
    for (int i = 0; i < n; i++)
        right += b[i] == (float)i + 0.5f * (float)(i % 1000);
    printf("%d of %d right\n", right, n);

    dlclose(library);
    free(b);
    free(a);
    return right == n ? 0 : 1;
}
