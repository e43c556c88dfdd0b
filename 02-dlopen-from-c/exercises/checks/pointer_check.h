// The check of exercise 3: a library and a function that are not there, then calls. Between the answer and the library
// stands a function of the check's: it sees what arrives there.
#include "exercise.h"
#include <dlfcn.h>
#include <signal.h>
#include <string.h>

int call(const char *library_name, const char *name, const float *x, size_t n, double weight,
         double *result);

typedef double weighted_sum_function(const float *x, size_t n, double weight, int *error);

static struct {
    const char *now;             // what is done just now
    int opened;                  // libraries
    weighted_sum_function *real; // the library's function
    int calls;                   // of it, in this run

    // What is given to call().
    const float *x;
    size_t n;
    double weight;

    int wanted_error; // this error is given back, and the library is not called; 0: it is
} seen;

// Stands for weighted_sum of the library.
static double seen_weighted_sum(const float *x, size_t n, double weight, int *error)
{
    const char *look_at =
        "the type of the pointer: has it the arguments of weighted_sum, each with "
        "its type?";
    if (seen.opened == 0)
        wrong("dlclose comes after the last call", "the library is closed when it is called");
    if (x != seen.x)
        wrong(look_at, "argument 1 has not arrived: given x = %p, came %p", (void *)seen.x,
              (void *)x);
    if (n != seen.n)
        wrong(look_at, "argument 2 has not arrived: given n = %zu, came %zu", seen.n, n);
    if (weight != seen.weight)
        wrong(look_at, "argument 3 has not arrived: given weight = %.9g, came %.9g", seen.weight,
              weight);
    if (!error)
        wrong(look_at, "argument 4 has not arrived: came NULL for int *error");
    seen.calls++;
    if (seen.wanted_error) {
        *error = seen.wanted_error;
        return -1;
    }
    return seen.real(x, n, weight, error);
}

static void *seen_dlopen(const char *name, int mode)
{
    void *library = dlopen(name, mode);
    seen.opened += library != NULL;
    return library;
}

static void *seen_dlsym(void *library, const char *name)
{
    if (!library)
        wrong("dlopen returns NULL if it has found no library: is that looked at?",
              "%s: dlsym is called with NULL for the library", seen.now);
    void *symbol = dlsym(library, name);
    if (!symbol || strcmp(name, "weighted_sum") != 0)
        return symbol;
    *(void **)&seen.real = symbol;
    weighted_sum_function *function = seen_weighted_sum;
    return *(void **)&function;
}

static int seen_dlclose(void *library)
{
    if (!library || --seen.opened < 0)
        wrong("what was opened is closed, once", "%s: dlclose of what is not open", seen.now);
    return dlclose(library);
}

static void crashed(int signal)
{
    wrong(seen.calls ? "the last argument: is the address of an int given for the error?"
                     : "is NULL asked for, after dlopen and after dlsym, before the call?",
          "%s: the program crashed, signal %d", seen.now, signal);
}

// Calls the answer, and compares what it returns.
static void run(const char *now, const char *look_at, const char *library, const char *name,
                int expected)
{
    size_t n = seen.n;
    double sum = 0, result = -7777;
    seen.now = now;
    seen.calls = 0;
    for (size_t i = 0; i < n && !seen.wanted_error; i++)
        sum += seen.x[i];
    int code = call(library, name, seen.x, n, seen.weight, &result);
    if (code != expected)
        wrong(look_at, "%s: expected that call() returns %d, came %d", now, expected, code);
    if (seen.opened)
        wrong("every dlopen needs its dlclose, also after an error",
              "%s: the library is still open", now);
    if (expected != 0 && result != -7777)
        wrong("*result is written only if there was no error", "%s: *result has become %g", now,
              result);
    if ((expected == 0 || seen.wanted_error) && seen.calls != 1)
        wrong(seen.calls ? "call it once, and keep what it returns in a variable"
                         : "who has computed this?",
              "%s: the library's function was called %d times", now, seen.calls);
    if (expected == 0 && !(result == seen.weight * sum))
        wrong("the type of the pointer: what does the function return? Is that kept in *result?",
              "%s: expected %.15g, came %.15g", now, seen.weight * sum, result);
}

int main(void)
{
    const char *null = "is NULL asked for, after dlopen and after dlsym, before the call?";
    const char *error = "*error says whether it went well: is it looked at, and returned?";
    int sizes[] = {1, 1000, random_number(1001, 9999)};
    float x[10000];
    for (int i = 0; i < 10000; i++)
        x[i] = (float)random_number(-100, 100);
    signal(SIGSEGV, crashed);
    signal(SIGBUS, crashed);
    signal(SIGILL, crashed);
    seen.x = x;
    seen.n = 10;
    seen.weight = 0.5 * random_number(3, 99);

    run("there is no library libnothing.so", null, "libnothing.so", "weighted_sum", -1);
    run("the library has no function weighted_product", null, "libpointer.so", "weighted_product",
        -2);
    for (int k = 0; k < 3; k++) {
        char now[100];
        seen.n = (size_t)sizes[k];
        seen.weight = random_number(-99, 99) + 1.0 / (1 << 20); // has no place in a float
        snprintf(now, sizeof now, "a call with %zu floats and the weight %.9g", seen.n,
                 seen.weight);
        run(now, error, "libpointer.so", "weighted_sum", 0);
    }
    seen.wanted_error = random_number(2, 900);
    run("the library's *error is not 0", error, "libpointer.so", "weighted_sum", seen.wanted_error);
    seen.n = ((size_t)1 << 32) + 5; // more than an int holds
    run("the library's *error is not 0", error, "libpointer.so", "weighted_sum", seen.wanted_error);
    return passed();
}

#define dlopen(name, mode) seen_dlopen(name, mode)
#define dlsym(library, name) seen_dlsym(library, name)
#define dlclose(library) seen_dlclose(library)
#define exit(status) \
    wrong("call() returns a code, also after an error", "%s: call() ends the program", seen.now)
#define _exit(status) exit(status)
