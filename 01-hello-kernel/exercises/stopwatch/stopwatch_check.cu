// A clock of the check's own, which goes on when the GPU has done something: the first runs are slow, others disturbed.
#include "stopwatch.cu"

#include "exercise.cuh"

static volatile double seconds_now;
static double usual; // the kernel's time, in seconds
static int launches;

double now(void)
{
    return seconds_now;
}

static void on_gpu(void *kernel_seconds)
{
    seconds_now = seconds_now + *(double *)kernel_seconds;
}

static void launch(void)
{
    static double takes[1000];
    // Of 24 runs so many are disturbed that the median is as usual only without the first three. So is the last one.
    bool is_disturbed = launches < 20 ? launches > 4 && launches % 2 == 1 : launches % 5 == 3;
    double slower = launches < 3 ? 40 : is_disturbed ? 6 : 1;
    takes[launches % 1000] = usual * slower * (1 + random_number(0, 100) * 1e-4);
    CHECK(cudaLaunchHostFunc(NULL, on_gpu, &takes[launches++ % 1000]));
    seconds_now = seconds_now + 5e-6; // the launch itself
}

int main(void)
{
    for (int call = 0; call < 3; call++) {
        usual = random_number(100, 9000) * 1e-6;
        launches = 0;
        double got = milliseconds(launch), low = 1e3 * usual, high = 1.02 * low + 0.01;
        CHECK(cudaDeviceSynchronize());
        if (launches < 10)
            wrong("one run may be disturbed, so a time is taken from many",
                  "the kernel is launched %d times", launches);
        if (got < low)
            wrong("when does a launch return, and when does the kernel end?",
                  "a kernel takes %.3f ms or a little more: got %.3f ms", low, got);
        if (got > high)
            wrong("the first runs are slow, and others are disturbed: which number of all the "
                  "times is as if there were none of these?",
                  "a kernel mostly takes %.3f to %.3f ms: got %.3f ms", low, high, got);
    }
    return passed();
}
