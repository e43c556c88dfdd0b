// Each CUDA call of total_create fails, one by one; then calloc. Then three handles at a time, and one that is too large.
// Built with: -Xlinker --wrap=malloc -Xlinker --wrap=calloc -Xlinker --wrap=free
#include "handle.cu"

#include "exercise.cuh"
#include <errno.h>
#include <malloc.h>

// The linker leads malloc, calloc and free to these.
static bool is_theirs, is_full;     // the learner's function runs; malloc gives NULL
static int on_host;                 // what malloc has given to the learner's functions
static void *last;                  // what they have freed last
extern "C" char __data_start, _end; // between them, the linker puts all that is global or static
extern "C" void *__real_malloc(size_t);
extern "C" void __real_free(void *);

extern "C" __attribute__((visibility("hidden"))) void *__wrap_malloc(size_t bytes)
{
    if (is_theirs && is_full)
        return NULL;
    if (is_theirs && bytes < sizeof(total))
        wrong("sizeof(total) is all of it, sizeof of a pointer is 8",
              "%zu bytes for a handle are too few, a total has %zu", bytes, sizeof(total));
    on_host += is_theirs;
    last = NULL;
    return __real_malloc(bytes);
}

extern "C" __attribute__((visibility("hidden"))) void *__wrap_calloc(size_t n, size_t bytes)
{
    void *p = __wrap_malloc(n * bytes);
    return p ? memset(p, 0, n * bytes) : NULL;
}

extern "C" __attribute__((visibility("hidden"))) void __wrap_free(void *p)
{
    if (is_theirs && p && access((char *)p, F_OK) != 0 &&
        errno == EFAULT) // the host cannot read it
        wrong("cudaFree is for what cudaMalloc has given", "free of memory of the device");
    if (is_theirs && p && p == last)
        wrong("free(handle), once", "a handle is freed twice");
    on_host -= is_theirs && p;
    last = p;
    __real_free(p);
}

static int create(total **handle, int n)
{
    last = NULL;
    is_theirs = is_on_stand_in;
    int error = total_create(handle, n);
    is_theirs = false;
    return error;
}

static void destroy(total *handle, int left, const char *what)
{
    is_theirs = is_on_stand_in;
    total_destroy(handle);
    is_theirs = false;
    if (on_host > left)
        wrong("free(handle), also after an error",
              "%s: handles that are not freed: expected %d, got %d", what, left, on_host);
}

static int create_and_destroy(void)
{
    total *const none = (total *)&is_full, *handle = none;
    const char *k = getenv("CPU_CUDA_FAIL");
    std::string what = is_full ? "calloc gives NULL"
                       : k     ? "CUDA call " + std::string(k) + " of total_create fails"
                               : "no call fails";
    int error = create(&handle, 1000);
    if (error != 0 && handle != none)
        wrong("*handle is written if all went well", "%s: *handle is not as it was", what.c_str());
    if (error == 0 && (handle == none || !handle))
        wrong("*handle becomes the new total", "%s: total_create returns 0, and *handle is %s",
              what.c_str(), handle ? "as it was" : "NULL");
    if (error == 0 && (char *)handle >= &__data_start && (char *)handle < &_end)
        wrong(
            "each handle is of malloc, calloc or new: a static array has room for so many handles, "
            "and a user may make more",
            "%s: the handle is in a global or static variable", what.c_str());
    destroy(error ? NULL : handle, 0, what.c_str());
    return error;
}

// A handle, and the sums that it has to have.
struct User {
    total *handle = NULL;
    std::vector<float> expected;

    User(int n) : expected(n)
    {
        expect_return(0, create(&handle, n), "total_create (all CUDA calls succeed)",
                      "what is returned if all went well?");
    }
    void use()
    {
        std::vector<float> x = random_numbers<float>(4000, -1000, 1000), before(4000, -7777),
                           got = before;
        const char *look_at = "total_create: does it keep n, are the sums 0 at first (cudaMemset), "
                              "and has each handle its own memory?";
        expect_return(0, total_add(handle, x.data()), "total_add", look_at);
        expect_return(0, total_read(handle, got.data()), "total_read", look_at);
        for (size_t i = 0; i < expected.size(); i++)
            expected[i] += x[i];
        expect_elements("sums", expected, got, look_at, before);
    }
};

int main(void)
{
    mallopt(M_PERTURB, 0x66); // memory of malloc is not 0, and what is freed is overwritten
    if (in_a_process([] {
            total_destroy(NULL);
            return 0;
        }) != 0)
        wrong("NULL for a handle: is that asked for before it is used?",
              "total_destroy(NULL): the program has crashed");
    expect_each_failure("total_create", create_and_destroy);
    is_full = is_on_stand_in;
    int got = is_full ? in_a_process(create_and_destroy) : 2;
    if (got != 2 && got != 0) // 0: the handle is of new
        wrong("calloc and malloc give NULL if there is no memory: is that asked for?",
              "calloc gives NULL: expected code 2, cudaErrorMemoryAllocation, got %s",
              got == -1000 ? "the end of the program" : std::to_string(got).c_str());
    is_full = false;

    User one(random_number(1, 1000)), two(random_number(3001, 4000)),
        three(random_number(1001, 3000));
    for (int again = 0; again < 3; again++)
        for (User *user : {&one, &two, &three})
            user->use();
    destroy(two.handle, 2, "one of three handles is destroyed");
    three.use();
    one.use();
    destroy(one.handle, 1, "two of three handles are destroyed");
    destroy(three.handle, 0, "all handles are destroyed");

    size_t left, all; // without room for 2^30 floats, which have more bytes than an int can count
    char *filler;
    CHECK(cudaMemGetInfo(&left, &all));
    if (is_on_stand_in) {
        CHECK(cudaMalloc(&filler, left - (1 << 20)));
        expect_return(
            2, create(&one.handle, 1 << 30), "total_create of 2^30 floats, with memory for fewer",
            "the number of bytes: n * sizeof(float) is a size_t, and too large for an int");
        cudaGetLastError();
        CHECK(cudaFree(filler));
    }
    return passed();
}
