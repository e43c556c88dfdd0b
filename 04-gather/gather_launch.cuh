// What gather.cu and gather_anywhere.cu share.
#pragma once
#include "gather.cuh"

// False if the job cannot be run: a null pointer, no source, a size or a mode that there is not.
bool gather_is_valid(const gather_job *job);

// Launches for a part of the source: elements first to first + count - 1 are at job->source.
int gather_launch_part(const gather_job *job, size_t first, size_t count,
                       unsigned long long *first_bad);
