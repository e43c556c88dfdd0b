// printf in a kernel is kept until a synchronisation, as on a GPU; on the host it prints at once.
#define _GNU_SOURCE
#include "runtime.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__thread bool cpu_in_kernel;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *kept;
static size_t kept_bytes;

static void keep(const char *text, size_t bytes)
{
    pthread_mutex_lock(&lock);
    char *larger = realloc(kept, kept_bytes + bytes);
    if (larger) {
        memcpy(larger + kept_bytes, text, bytes);
        kept = larger;
        kept_bytes += bytes;
    }
    pthread_mutex_unlock(&lock);
}

PUBLIC int cpu_cuda_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length;
    if (cpu_in_kernel) {
        char *text = NULL;
        length = vasprintf(&text, format, arguments);
        if (length > 0)
            keep(text, (size_t)length);
        if (length >= 0)
            free(text);
    } else {
        length = vprintf(format, arguments);
    }
    va_end(arguments);
    return length;
}

void cpu_flush_prints(void)
{
    if (kept)
        fwrite(kept, 1, kept_bytes, stdout);
    free(kept);
    kept = NULL;
    kept_bytes = 0;
}
