// What the checks of the exercises share, those in C and in CUDA: the lines that say what is wrong.
#pragma once
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Says what is wrong, and ends the program. The format is printf's.
__attribute__((format(printf, 2, 3), noreturn)) static inline void wrong(const char *look_at,
                                                                         const char *format, ...)
{
    va_list values;
    va_start(values, format);
    printf("\n  wrong    ");
    vprintf(format, values);
    va_end(values);
    printf("\n  look at  %s\n", look_at);
    fflush(stdout);
    _exit(1); // no more words about what is still allocated
}

// The last line of a check: exercises.py asks for this word, so that an answer that ends the program early is noticed.
static inline int passed(void)
{
    const char *word = getenv("PASSED");
    if (word && strncmp(word, "refuse ", 7) == 0)
        wrong("make grade tries whether this check can still refuse", "%s", word);
    printf("\n%s\n", word ? word : "passed");
    return 0;
}

// A number from `first` to `last`, another one in each run.
static inline int random_number(int first, int last)
{
    static unsigned long state;
    if (!state) {
        struct timespec now;
        timespec_get(&now, TIME_UTC);
        state = (unsigned long)now.tv_nsec * 2654435761u + (unsigned long)getpid();
    }
    state = state * 6364136223846793005u + 1442695040888963407u;
    return first + (int)((state >> 33) % (unsigned long)(last - first + 1));
}
