// In place of libgather.so: functions that fail, with code 1, if their caller holds the GIL.
#include "gather.cuh"
#include <stdio.h>
#include <unistd.h>

int PyGILState_Check(void);
static long long memory[1000], *unused = memory;

int gather(const struct gather_job *job, size_t *first_bad)
{
    *first_bad = 0;
    return PyGILState_Check() ? 1 : job->M == 3 ? 0 : -1;
}
int gather_launch(const struct gather_job *job, unsigned long long *first_bad)
{
    return PyGILState_Check();
}
int gather_find(struct gather_memory *found, int *number, const void *pointer, size_t bytes)
{
    found->host = (void *)pointer;
    found->device = NULL;
    *number = -1;
    return PyGILState_Check();
}
int gather_device_allocate(void **pointer, size_t bytes)
{
    *pointer = unused;
    unused += 8; // its arrays are small
    return PyGILState_Check();
}
int gather_device_free(void *pointer)
{
    return PyGILState_Check() ? fprintf(stderr, "held\n") : 0;
}
int gather_pinned_allocate(void **pointer, size_t bytes)
{
    *pointer = memory;
    return PyGILState_Check();
}
int gather_pinned_free(void *pointer)
{
    return PyGILState_Check() ? fprintf(stderr, "held\n") : 0;
}
int gather_pin(void *pointer, size_t bytes)
{
    return PyGILState_Check();
}
int gather_unpin(void *pointer)
{
    return PyGILState_Check();
}
int gather_copy(void *to, const void *from, size_t bytes, void *stream)
{
    if (stream)
        sleep(1); // a copy that takes long
    return PyGILState_Check();
}
int gather_current_device(int *number)
{
    *number = 0;
    return PyGILState_Check();
}
int gather_wait_for(void *stream, void *other)
{
    return PyGILState_Check();
}
const char *gather_error_name(int code)
{
    return "held";
}
const char *gather_error_text(int code)
{
    return "the GIL is held";
}
