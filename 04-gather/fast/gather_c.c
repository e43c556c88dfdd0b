// Gathers without Python: plain C, linked with libgather.so.
// Build: make gather_c
// Run:   ./gather_c
#include "gather.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 1000000, N = 1000 };

int main(void)
{
    double *source = malloc(M * sizeof *source), *result = malloc(N * sizeof *result);
    int64_t *index = malloc(N * sizeof *index);
    if (!source || !result || !index) {
        fprintf(stderr, "gather_c: out of memory\n");
        return 1;
    }
    for (int j = 0; j < M; j++)
        source[j] = j / 2.0;
    for (int i = 0; i < N; i++)
        index[i] = (int64_t)i * 7919 % M - (i % 2 ? M : 0); // every second one from the end

    struct gather_job job = {.outer = 1,
                             .N = N,
                             .M = M,
                             .element_bytes = sizeof *source,
                             .index_bytes = sizeof *index,
                             .mode = GATHER_RAISE};
    size_t first_bad;
    int right = 0;
    int code = gather_find(&job.source, NULL, source, M * sizeof *source);
    if (code == 0)
        code = gather_find(&job.index, NULL, index, N * sizeof *index);
    if (code == 0)
        code = gather_find(&job.result, NULL, result, N * sizeof *result);
    if (code == 0)
        code = gather(&job, &first_bad);
    if (code == 0) {
        for (int i = 0; i < N; i++)
            right += result[i] == source[index[i] < 0 ? index[i] + M : index[i]];
        printf("%d of %d right\n", right, N);

        index[700] = M; // one beyond the end
        code = gather(&job, &first_bad);
    }
    if (code > 0)
        fprintf(stderr, "gather_c: CUDA error %d, %s: %s\n", code, gather_error_name(code),
                gather_error_text(code));
    if (code < 0)
        printf("index[%zu] = %lld is out of range\n", first_bad, (long long)index[first_bad]);
    free(index);
    free(result);
    free(source);
    return right == N && code == -1 && first_bad == 700 ? 0 : 1;
}
