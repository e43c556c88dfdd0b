// printf in a kernel is kept until a synchronisation, as on a GPU; and assert.
#include "runtime.h"
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *kept;
static size_t kept_bytes;
size_t cpu_printf_bytes = 8650752;
bool cpu_has_printed;
static const struct cpu_launch *printing;
static size_t records; // in bytes, about as a GPU keeps them: formats and arguments, of one launch
static bool is_too_much, has_said;

static void keep(const char *text, size_t bytes, const char *format)
{
    pthread_mutex_lock(&lock);
    if (printing != cpu_running) records = 0;
    printing = cpu_running;
    records += 40;
    cpu_has_printed = true;
    while ((format = strchr(format, '%'))) format++, records += 8;
    is_too_much = is_too_much || records > cpu_printf_bytes;
    char *larger = realloc(kept, kept_bytes + bytes);
    if (larger) {
        memcpy(larger + kept_bytes, text, bytes);
        kept = larger;
        kept_bytes += bytes;
    }
    pthread_mutex_unlock(&lock);
}

static void check_text(const char *text, size_t most, const void *place)
{
    for (size_t i = 0; text && i < most; i++) {
        CHECKS(read, &text[i], 1, place);
        if (!text[i]) return;
    }
}

// The texts that a kernel prints, by %s, have to be the device's. Returns how many arguments there are.
static int check_texts(const char *format, va_list arguments, const void *place)
{
    int count = 0;
    check_text(format, SIZE_MAX, place);
    for (const char *f = format; (f = strchr(f, '%')); f++) {
        long width_precision[] = {-1, -1};
        f += 1 + strspn(f + 1, "-+ #0");
        for (int i = 0; i < 2 && (i == 0 || *f == '.'); i++) {
            f += i;
            bool is_given = *f == '*';
            count += is_given;
            width_precision[i] = is_given ? va_arg(arguments, int) : strtol(f, NULL, 10);
            f += is_given ? 1 : strspn(f, "0123456789");
        }
        bool is_long = strchr("lLjzt", *f);
        f += strspn(f, "hlLjzt");
        if (!*f) break;
        count += *f != '%';
        if (*f == 's')
            check_text(va_arg(arguments, const char *), (size_t)width_precision[1], place);
        else if (strchr("aAeEfFgG", *f))
            (void)va_arg(arguments, double);
        else if (is_long || *f == 'p')
            (void)va_arg(arguments, long);
        else if (*f != '%')
            (void)va_arg(arguments, int);
    }
    return count;
}

PUBLIC int cpu_cuda_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result;
    if (cpu_running) {
        char *text = NULL;
        va_list again;
        va_copy(again, arguments);
        result = check_texts(format, again, __builtin_return_address(0)); // as on a GPU
        va_end(again);
        int length = vasprintf(&text, format, arguments);
        if (length > 0) keep(text, (size_t)length, format);
        if (length >= 0) free(text);
    } else {
        result = vprintf(format, arguments);
    }
    va_end(arguments);
    return result;
}

void cpu_flush_prints(void)
{
    if (kept && !cpu_context_is_broken()) { // what a kernel printed before it failed is lost
        fwrite(kept, 1, kept_bytes, stdout);
        fflush(stdout); // as the driver does
    }
    if (is_too_much && !has_said)
        cpu_say("a kernel prints more than there is room for (cudaLimitPrintfFifoSize, %zu bytes): "
                "on a GPU lines may be lost, with no error",
                cpu_printf_bytes);
    has_said = is_too_much;
    printing = NULL;
    free(kept);
    kept = NULL;
    kept_bytes = 0;
}

// What assert() calls. On a GPU it prints this line and ends the kernel.
PUBLIC void cpu_cuda_assert_fail(const char *text, const char *file, unsigned line,
                                 const char *function)
{
    if (!cpu_running) __assert_fail(text, file, line, function);
    const char *end = strstr(function, "::<lambda"); // what ../nvcc put the kernel's body into
    if (!end) end = strstr(function, "::(anonymous class)"); // clang's word for it
    function += strncmp(function, "auto ", 5) == 0 ? 5 : 0;
    int length = end ? (int)(end - function) : (int)strlen(function);
    if (cpu_break_context(cudaErrorAssert))
        fprintf(stderr,
                "%s:%u: %s%.*s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                file, line, end ? "void " : "", length, function, blockIdx.x, blockIdx.y,
                blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, text);
    cpu_leave_kernel();
}
