// A C program of a learner's that is linked with its library.
#include "mine.h"
#include <stdio.h>

int main(void)
{
    float x[3] = {2, 4, 6};
    int code = half(x, 3);
    printf("%d: %g %g %g\n", code, x[0], x[1], x[2]);
    return code;
}
