// A C program that knows no CUDA opens the library. Are the two functions there, and no others?
#define _POSIX_C_SOURCE 200809L // popen
#include "exercise.h"
#include <dlfcn.h>
#include <string.h>

// The address of a function. cpp_name: what C++ makes of its name without extern "C".
static void *find(void *library, const char *name, const char *cpp_name)
{
    void *symbol = dlsym(library, name);
    if (!symbol && dlsym(library, cpp_name))
        wrong("extern \"C\" keeps a name as it is written",
              "the library has no %s: C++ has made %s of the name", name, cpp_name);
    if (!symbol)
        wrong("is it declared extern \"C\" and visibility(\"default\"), with the types of its "
              "definition?",
              "dlsym finds no %s", name);
    return symbol;
}

int main(void)
{
    int (*raise_all)(float *x, int n, float by);
    const char *(*error_name)(int code);
    float x[1000];
    void *library = dlopen("libinterface.so", RTLD_NOW);
    if (!library)
        wrong("does it need something that is nowhere?", "dlopen: %s", dlerror());
    *(void **)&raise_all = find(library, "raise_all", "_Z9raise_allPfif");
    *(void **)&error_name = find(library, "raise_error_name", "_Z16raise_error_namei");

    // Names that begin with _ are the compiler's, but for _Z: a function in C++.
    FILE *nm = popen("nm -D --defined-only libinterface.so", "r");
    char type, name[200];
    while (nm && fscanf(nm, "%*s %c %199s", &type, name) == 2)
        if (strchr("TDBR", type) && strcmp(name, "raise_all") != 0 &&
            strcmp(name, "raise_error_name") != 0 && (name[0] != '_' || name[1] == 'Z'))
            wrong("only the two functions of the interface are visible, each by its own "
                  "declaration",
                  "%s can be found by dlsym, too", name);
    if (!nm || pclose(nm) != 0)
        wrong("nm: it belongs to binutils, as g++ does", "nm cannot list the visible names");

    for (int i = 0; i < 1000; i++)
        x[i] = (float)i;
    int code = raise_all(x, 1000, 2);
    if (code != 0 || x[999] != 1001)
        wrong("the functions are as they were given? make reset begins again",
              "raise_all of 1000 floats: expected code 0 and x[999] = 1001, got %d (%s) and %g",
              code, error_name(code), x[999]);
    return passed();
}
