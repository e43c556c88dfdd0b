// For a library, in C and in CUDA C: keeps the code of a call in `error`, and jumps to the function's label `cleanup` if it is
// not 0. It is CHECK_GOTO of common/check.h for these two names, and does not need CUDA's headers.
#pragma once

#define TRY(call) \
    do { \
        error = (call); \
        if (error != 0) \
            goto cleanup; \
    } while (0)
