// What gather.cu and gather_anywhere.cu share.
#pragma once
#include "gather.cuh"

// False if the job cannot be run: a null pointer, no source, a size or a mode that there is not.
bool gather_is_valid(const gather_job *job);

// Launches for a part of the source: elements first to first + count - 1 are at job->source.
// over_bus: index or result are in the host's memory, and the bus needs fewer threads than the device.
int gather_launch_part(const gather_job *job, size_t first, size_t count, bool over_bus,
                       unsigned long long *first_bad);
