// Plain C, no CUDA: loads libhello.so while it runs, finds a function in it by name, and calls it.
// Build: make hello_c libhello_c.so
// Run:   ./hello_c
//        python3 -c "import ctypes; print(ctypes.CDLL('./libhello_c.so').hello_c(None, 0))"
#include <dlfcn.h>
#include <stdio.h>

// Looks `name` up in the library. NULL and the reason in `why`, if it is not there.
static void *find(void *library, const char *name, char *why, size_t size)
{
    dlerror(); // forget older errors: what it says next is of this call
    void *symbol = dlsym(library, name);
    const char *error = dlerror();
    if (error)
        snprintf(why, size, "%s", error);
    else if (!symbol)
        snprintf(why, size, "%s is NULL", name);
    return error ? NULL : symbol;
}

static int call(void *library, char *why, size_t size)
{
    // ISO C has no cast from void * to a function; POSIX promises that this one works.
    int (*hello_from_gpu)(void);
    const char *(*error_name)(int), *(*error_text)(int);
    *(void **)&hello_from_gpu = find(library, "hello_from_gpu", why, size);
    if (!hello_from_gpu)
        return -1;
    *(void **)&error_name = find(library, "hello_error_name", why, size);
    if (!error_name)
        return -1;
    *(void **)&error_text = find(library, "hello_error_text", why, size);
    if (!error_text)
        return -1;

    int code = hello_from_gpu();
    if (code != 0) {
        const char *code_name = error_name(code), *text = error_text(code);
        snprintf(why, size, "CUDA error %d, %s: %s", code, code_name ? code_name : "no name",
                 text ? text : "no text");
    }
    return code;
}

// Prints the greeting by way of libhello.so, which has to lie beside this program or library.
// Returns 0; a CUDA error's code; or -1 if something is wrong with the library. Unless it is 0,
// the reason is in why[size], if that is not NULL.
__attribute__((visibility("default"))) int hello_c(char *why, size_t size)
{
    if (!why)
        size = 0; // then snprintf writes nothing
    // A name without a slash is looked for where the Makefile told the linker: $ORIGIN, beside us.
    void *library = dlopen("libhello.so", RTLD_NOW);
    if (!library) {
        snprintf(why, size, "%s", dlerror());
        return -1;
    }
    int code = call(library, why, size);
    if (dlclose(library) != 0 && code == 0) {
        snprintf(why, size, "%s", dlerror());
        code = -1;
    }
    return code;
}

int main(void)
{
    char why[1024];
    if (hello_c(why, sizeof why) != 0) {
        fprintf(stderr, "hello_c: %s\n", why);
        return 1;
    }
    return 0;
}
