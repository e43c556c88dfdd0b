// The check of exercise 1: a C program that knows no CUDA. It opens the library while it runs.
#include "exercise.h"
#include <dlfcn.h>
#include <string.h>

typedef int raise_all_function(float *x, int n, float by);
typedef const char *name_function(int code);

// The address of a function of the interface. cpp_name: what C++ makes of its name without extern "C".
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

// Only the two functions are visible. Names that begin with _ are the compiler's, but for _Z: a function in C++.
static void expect_no_others(void)
{
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
}

int main(int argc, char **argv)
{
    void *library = dlopen("libinterface.so", RTLD_NOW);
    if (!library)
        wrong("does it need something that is nowhere?", "dlopen: %s", dlerror());
    raise_all_function *raise_all;
    name_function *error_name;
    *(void **)&raise_all = find(library, "raise_all", "_Z9raise_allPfif");
    *(void **)&error_name = find(library, "raise_error_name", "_Z16raise_error_namei");

    if (argc > 1) { // started by this check, without a device: 40 or 41
        float x[3] = {0};
        return 40 + (raise_all(x, 3, 1) != 0);
    }
    expect_no_others();

    const int sizes[] = {1, 256, 1000, random_number(1001, 100000)};
    for (int k = 0; k < 4; k++) {
        int n = sizes[k];
        float by = (float)random_number(1, 100), *x = malloc((n + 1) * sizeof *x);
        for (int i = 0; i <= n; i++)
            x[i] = (float)i;
        int code = raise_all(x, n, by);
        if (code != 0)
            wrong("the functions are as they were given? make reset begins again",
                  "raise_all of %d floats: expected 0, came %d, %s", n, code, error_name(code));
        for (int i = 0; i <= n; i++) {
            float expected = i < n ? (float)i + by : (float)i;
            if (!(x[i] == expected))
                wrong("the functions are as they were given? make reset begins again",
                      "x[%d] of %d: expected %g, came %g", i, n, expected, x[i]);
        }
        free(x);
    }
    if (raise_all(NULL, 3, 1) == 0)
        wrong("a library says what went wrong by its return value",
              "raise_all with the pointer NULL: expected an error, came 0");
    const char *name = error_name(1);
    if (!name || strcmp(name, "cudaErrorInvalidValue") != 0)
        wrong("raise_error_name(code) is cudaGetErrorName of the code",
              "raise_error_name(1): expected cudaErrorInvalidValue, came %s", name ? name : "NULL");

    char command[300];
    snprintf(command, sizeof command, "CUDA_VISIBLE_DEVICES= %s no-device", argv[0]);
    int status = system(command);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 41)
        wrong("a library returns the first error of CUDA's; it does not end the program, and the "
              "CPU does not do the work",
              "raise_all without a device: expected an error, came %s",
              WIFEXITED(status) && WEXITSTATUS(status) == 40 ? "0" : "the end of the program");
    return passed();
}
