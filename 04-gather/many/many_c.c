// A gather over MPI in plain C: each rank has a slice, and asks for elements of all of them.
// Build: make many_c
// Run:   mpirun -n 4 ./many_c
#include "gather_mpi.h"
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

int main(int argc, char **argv)
{
    struct gather_plan *plan;
    struct gather_fault fault;
    int rank, ranks, right = 0, all_right;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    // Rank r has 100 * (r + 1) elements, and element i of the whole source is i / 2.
    int length = 100 * (rank + 1), before = 50 * rank * (rank + 1), M = 50 * ranks * (ranks + 1);
    double *slice = malloc(length * sizeof *slice), *result = malloc(N * sizeof *result);
    long long *index = malloc(N * sizeof *index);
    if (!slice || !result || !index)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < length; i++)
        slice[i] = (before + i) / 2.0;
    for (int i = 0; i < N; i++)
        index[i] = (7919LL * i + rank) % M;

    int code = gather_plan_make(&plan, MPI_COMM_WORLD, slice, length, sizeof *slice, &fault);
    if (code == 0)
        code = gather_plan_take(plan, index, N, sizeof *index, GATHER_RAISE, result, &fault);
    if (code == 0) {
        for (int i = 0; i < N; i++)
            right += result[i] == index[i] / 2.0;
        MPI_Reduce(&right, &all_right, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%d of %d right, on %d ranks\n", all_right, N * ranks, ranks);

        index[N - 1] = rank == 1 ? M : 0; // one beyond the end
        code = gather_plan_take(plan, index, N, sizeof *index, GATHER_RAISE, result, &fault);
        if (rank == 0 && code == -1)
            printf("rank %d: index[%lld] = %lld is out of range\n", fault.rank, fault.position,
                   fault.index);
    }
    if (rank == 0 && code > 0)
        fprintf(stderr, "rank %d: CUDA error %d, %s: %s\n", fault.rank, code,
                gather_error_name(code), gather_error_text(code));
    gather_plan_free(plan);
    free(index);
    free(result);
    free(slice);
    MPI_Finalize();
    return right == N && code <= 0 ? 0 : 1;
}
