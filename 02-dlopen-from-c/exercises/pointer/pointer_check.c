// No library; no function; calls that go well; an error of the library. Is the library closed after each of them?
// The loader is the real one. Only libpointer.so is this program itself, so that it sees what arrives.
// Built with: -rdynamic -Wl,--wrap=dlopen,--wrap=dlclose,--wrap=dlsym
#include "pointer.c"

#include "exercise.h"
#include <signal.h>
#include <string.h>

void *__real_dlopen(const char *name, int mode);
int __real_dlclose(void *library);
void *__real_dlsym(void *library, const char *name);

static const char *now = ""; // what is done
static void *last;           // what the last dlopen has returned
static int opened, calls;    // libraries; calls of weighted_sum
static float x[1];
static struct {
    size_t n;
    double weight, start;
} given;                // the arguments that have to come
static double returned; // by the last call

void *__wrap_dlopen(const char *name, int mode)
{
    last = __real_dlopen(name && strstr(name, "libpointer.so") ? NULL : name, mode);
    opened += last != NULL;
    return last;
}

int __wrap_dlclose(void *library)
{
    if (!library)
        wrong("dlopen returns NULL if it finds no library", "%s: dlclose(NULL)", now);
    if (--opened < 0)
        wrong("one dlclose for one dlopen", "%s: dlclose of what is closed already", now);
    return __real_dlclose(library);
}

void *__wrap_dlsym(void *library, const char *name)
{
    if (last && library != last)
        wrong("the first argument of dlsym is what dlopen has returned",
              "%s: dlsym does not look into this library", now);
    return __real_dlsym(library, name);
}

double weighted_sum(const float *a, size_t n, double weight, double start, int *error)
{
    if (!last)
        wrong("dlopen returns NULL if it finds no library: is that looked at?",
              "%s: and then a function is called", now);
    if (opened == 0)
        wrong("dlclose comes after the call", "%s: the library is closed when it is called", now);
    calls++;
    if (a != x || n != given.n || weight != given.weight || start != given.start || !error)
        wrong("the type of the pointer, and the call: are there all arguments of weighted_sum, in "
              "their order, each with its type?",
              "%s: expected weighted_sum(x, %zu, %.10g, %.10g, &error), got weighted_sum(%s, "
              "%zu, %.10g, %.10g, %s)",
              now, given.n, given.weight, given.start,
              a == x ? "x"
              : a    ? "not x"
                     : "NULL",
              n, weight, start, error ? "&error" : "NULL");
    *error = n > 10000 ? (n % 2 ? 77 : -77) : 0;
    return returned = random_number(-1000, 1000) + 1.0 / 3;
}

static void crashed(int signal)
{
    wrong("is NULL asked for, after dlopen and after dlsym, before the call?",
          "%s: the program crashed, signal %d", now, signal);
}

static void run(const char *what, const char *library, const char *name, size_t n, int expected)
{
    const double too_long_for_a_float = 1.0 / (1 << 20);
    double result = -7777;
    now = what;
    calls = 0;
    given.n = n;
    given.weight = random_number(1, 99) + too_long_for_a_float;
    given.start = random_number(-99, -1) + too_long_for_a_float;
    int code = call(library, name, x, n, given.weight, given.start, &result);
    if (calls != (expected >= 0 || expected == -77))
        wrong(calls ? "call it once, and keep what it returns in a variable"
                    : "who has computed this?",
              "%s: the library's function was called %d times", what, calls);
    if (code != expected)
        wrong(expected < 0 ? "which code belongs to this? Is NULL asked for?"
                           : "*error says whether it went well: is it looked at, and returned?",
              "%s: expected that call() returns %d, got %d", what, expected, code);
    if (opened)
        wrong("every dlopen needs its dlclose, also after an error",
              "%s: the library is still open", what);
    double kept = expected ? -7777 : returned;
    if (result != kept)
        wrong(expected ? "*result is written only if there was no error"
                       : "what the function returns: is it a double in the type of the pointer, "
                         "and is it kept in *result?",
              "%s: *result: expected %.15g, got %.15g%s", what, kept, result,
              result == -7777 ? ", as it was" : "");
}

int main(void)
{
    const char *library = "libpointer.so", *name = "weighted_sum";
    signal(SIGSEGV, crashed);
    run("there is no library libnothing.so", "libnothing.so", name, 10, -1);
    run("the library has no function weighted_product", library, "weighted_product", 10, -2);
    run("a call with 10 floats", library, name, 10, 0);
    run("a call with many floats", library, name, (size_t)random_number(100, 9999), 0);
    run("2^32 + 5 floats are too many for the library, and *error is 77", library, name,
        ((size_t)1 << 32) + 5, 77);
    run("2^32 + 6 floats are too many, too, and *error is -77", library, name,
        ((size_t)1 << 32) + 6, -77);
    return passed();
}
