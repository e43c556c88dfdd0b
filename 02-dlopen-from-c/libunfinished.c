// A library that is not complete: `elsewhere` is in none of the files that it was linked with.
// Build: make libunfinished.so
// Run:   ./load now ./libunfinished.so stay, ./load lazy ./libunfinished.so stay
int elsewhere(void);

int stay(void)
{
    return 0;
}

int leave(void)
{
    return elsewhere();
}
