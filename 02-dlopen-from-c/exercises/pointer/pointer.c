// Exercise pointer: a pointer to a function, found by its name.
// Check: make exercises EXERCISE=pointer
#include <dlfcn.h>
#include <stddef.h>

enum { NO_LIBRARY = -1, NO_FUNCTION = -2 };

// The library has the function weighted_sum. There is no header for it; this is its type:
//     double weighted_sum(const float *x, size_t n, double weight, double start, int *error);
// It returns start + weight * (x[0] + ... + x[n-1]). *error becomes 0, or the code of what failed. Then the number that
// it returns means nothing.

// Opens a library, calls its function `name`, which has the type of weighted_sum, and closes the library. Returns 0;
// then *result is what the function returned. Or it returns NO_LIBRARY or NO_FUNCTION, if there is none of this name,
// or what *error has become; then *result stays as it was.
int call(const char *library_name, const char *name, const float *x, size_t n, double weight,
         double start, double *result)
{
    int error = 0;
    // YOUR LINES, about 13: dlopen, dlsym, the call, dlclose. What is opened is closed, also after an error.
    double (*function)(const float *, size_t, double, double, int *);
    void *library = dlopen(library_name, RTLD_NOW);
    if (!library)
        return NO_LIBRARY;
    *(void **)&function = dlsym(library, name);
    if (function) {
        double sum = function(x, n, weight, start, &error);
        if (error == 0)
            *result = sum;
    } else {
        error = NO_FUNCTION;
    }
    dlclose(library);
    // END OF YOUR LINES
    return error;
}
