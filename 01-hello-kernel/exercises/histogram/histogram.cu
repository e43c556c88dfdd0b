// Exercise histogram: many threads write to the same element.
// Check: make exercises EXERCISE=histogram

// counts[c] becomes larger by the number of times that the character c is in the text of n characters.
__global__ void Histogram(const unsigned char *text, int n, int *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // YOUR LINES, about 2: character i is counted, if there is one. Other threads may have the same character.
    if (i < n)
        atomicAdd(&counts[text[i]], 1);
    // END OF YOUR LINES
}
