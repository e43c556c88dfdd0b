// Exercise 3, pointer: a pointer to a function, found by its name.
// Check: make exercises EXERCISE=pointer
#include "pointer_check.h"
#include <dlfcn.h>

enum { NO_LIBRARY = -1, NO_FUNCTION = -2 };

// The library has the function weighted_sum. There is no header for it; this is its type:
//     double weighted_sum(const float *x, size_t n, double weight, int *error);
// It returns weight * (x[0] + ... + x[n-1]), computed by the GPU. *error becomes 0, or the code of the CUDA call that
// failed. Then the number that it returns means nothing.

// Opens a library, calls its function `name`, which has the type of weighted_sum, and closes the library. Returns 0;
// then *result is what the function returned. Or it returns NO_LIBRARY or NO_FUNCTION, if there is none of this name,
// or the code of the CUDA call that failed; then *result stays as it was.
int call(const char *library_name, const char *name, const float *x, size_t n, double weight,
         double *result)
{
    int error = 0;
    // YOUR LINES, about 13: dlopen, dlsym, the call, dlclose. What is opened is closed, also after an error.
    double (*function)(const float *, size_t, double, int *);
    void *library = dlopen(library_name, RTLD_NOW);
    if (!library)
        return NO_LIBRARY;
    *(void **)&function = dlsym(library, name);
    if (function) {
        double sum = function(x, n, weight, &error);
        if (error == 0)
            *result = sum;
    } else {
        error = NO_FUNCTION;
    }
    dlclose(library);
    // END OF YOUR LINES
    return error;
}
