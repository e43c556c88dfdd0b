// What rank 1 gives makes no sense, one argument at a time: both ranks get the same code, and it names rank 1.
#include "gather_mpi.h"
#include <stdio.h>

static int rank;
static double slice[4] = {1, 2, 3, 4};
static long long index_[2] = {0, 5};

static void make(const char *what, const void *from, size_t elements, int bytes)
{
    struct gather_plan *plan = (struct gather_plan *)slice;
    struct gather_fault fault = {9, 9, 9};
    int code = rank == 1 ? gather_plan_make(&plan, MPI_COMM_WORLD, from, elements, bytes, &fault)
                         : gather_plan_make(&plan, MPI_COMM_WORLD, slice, 4, 8, &fault);
    printf("make, %s: %d of rank %d%s\n", what, code, fault.rank, plan ? ", and a plan" : "");
    gather_plan_free(plan);
}

static void take(const char *what, struct gather_plan *plan, const void *index, size_t N, int bytes, int mode, void *result)
{
    double right[2] = {0, 0};
    struct gather_fault fault = {9, 9, 9};
    int code = rank == 1 ? gather_plan_take(plan, index, N, bytes, mode, result, &fault)
                         : gather_plan_take(plan, index_, 2, 8, GATHER_RAISE, right, &fault);
    printf("take, %s: %d of rank %d\n", what, code, fault.rank);
}

int main(int argc, char **argv)
{
    struct gather_plan *plan;
    struct gather_fault fault;
    double result[2] = {0, 0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make("no slice", NULL, 4, 8);
    make("3 bytes", slice, 4, 3);
    make("2^61 elements", slice, (size_t)1 << 61, 8);
    if (gather_plan_make(&plan, MPI_COMM_WORLD, slice, 4, 8, &fault) != 0)
        return 1;
    take("no index", plan, NULL, 2, 8, GATHER_RAISE, result);
    take("no result", plan, index_, 2, 8, GATHER_RAISE, NULL);
    take("5 bytes", plan, index_, 2, 5, GATHER_RAISE, result);
    take("2^61 indices", plan, index_, (size_t)1 << 61, 8, GATHER_RAISE, result);
    take("mode 7", plan, index_, 2, 8, 7, result);
    take("mode -1", plan, index_, 2, 8, -1, result);
    int code = gather_plan_take(plan, index_, 2, 8, GATHER_RAISE, result, &fault);
    printf("then: %d, %g %g\n", code, result[0], result[1]);
    gather_plan_free(plan);
    gather_plan_free(NULL);
    MPI_Finalize();
    return 0;
}
