// NVRTC: the source goes to ../nvcc. What it calls PTX is C++ that the driver compiles when it loads
// it; what it calls a cubin is a shared library.
#include "nvrtc.h"
#include "../runtime/runtime.h"
#include "nvrtc_images.h"
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct text {
    char *start;
    size_t bytes; // a NUL follows
};
enum { LOG, PTX, CUBIN, LOWERED, OUTPUTS };
static const char *const output_file[OUTPUTS] = {"log", "ptx.ii", "cubin.so", "lowered"};
// Several texts in one are parted by NULs: a source and the name and text of each header, name
// expressions, and the lowered name of each.
struct _nvrtcProgram {
    char *name;
    struct text sources, expressions, output[OUTPUTS];
    bool is_compiled; // whether it has been tried
};

static bool append(struct text *text, const char *word)
{
    size_t more = strlen(word) + 1;
    char *longer = realloc(text->start, text->bytes + more);
    if (!longer) return false;
    text->start = longer;
    memcpy(longer + text->bytes, word, more);
    text->bytes += more;
    return true;
}

// ---- A folder for files that ../nvcc reads and writes

static char *path_in(const char *folder, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static struct text read_file(const char *folder, const char *name)
{
    struct text text = {NULL, 0};
    char *path = path_in(folder, name);
    FILE *from = path ? fopen(path, "r") : NULL, *to = open_memstream(&text.start, &text.bytes);
    for (int c; from && to && (c = getc(from)) != EOF;) putc(c, to);
    if (to) fclose(to);
    if (from) fclose(from);
    free(path);
    return text;
}

static bool write_file(const char *folder, const char *name, struct text text)
{
    char *path = path_in(folder, name);
    FILE *file = path ? fopen(path, "w") : NULL;
    bool is_written = file && fwrite(text.start, 1, text.bytes, file) == text.bytes;
    if (file && fclose(file)) is_written = false;
    free(path);
    return is_written;
}

static char *new_folder(void)
{
    char *folder = path_in(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", "cpu-cuda-XXXXXX");
    return folder ? mkdtemp(folder) : NULL;
}

static void remove_folder(char *folder)
{
    DIR *files = opendir(folder);
    for (const struct dirent *file; files && (file = readdir(files));) {
        char *path = path_in(folder, file->d_name);
        if (path) unlink(path);
        free(path);
    }
    if (files) closedir(files);
    rmdir(folder);
    free(folder);
}

// Runs ../nvcc, its messages going to the file "log". Returns its exit status.
static int run_nvcc(const char *folder, char *const arguments[])
{
    extern char **environ;
    Dl_info here;
    char library[PATH_MAX];
    if (!dladdr((void *)nvrtcVersion, &here) || !realpath(here.dli_fname, library)) return -1;
    *strrchr(library, '/') = '\0';
    char *nvcc = path_in(library, "bin/nvcc"), *log = path_in(folder, "log");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT, 0600);
    pid_t child;
    int status = -1;
    if (posix_spawn(&child, nvcc, &actions, NULL, arguments, environ) == 0)
        waitpid(child, &status, 0);
    posix_spawn_file_actions_destroy(&actions);
    free(nvcc);
    free(log);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// For the driver: a file in memory, which stays, so that check/ can find the lines of the source.
void *cpu_open_cubin(const char *image, size_t bytes)
{
    char name[40];
    int file = memfd_create("cubin", 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    bool is_there = file >= 0 && write(file, image, bytes) == (ssize_t)bytes;
    return is_there ? dlopen(name, RTLD_NOW) : NULL;
}

void *cpu_open_ptx(const char *text)
{
    char *folder = new_folder();
    if (!folder) return NULL;
    char *ptx = path_in(folder, "ptx.ii"), *cubin = path_in(folder, "cubin.so");
    char *arguments[] = {"nvcc", "-shared", "-O2", "-Xcompiler", "-fPIC", "-o", cubin, ptx, NULL};
    struct text library = {NULL, 0};
    if (ptx && cubin && write_file(folder, "ptx.ii", (struct text){(char *)text, strlen(text)}) &&
        run_nvcc(folder, arguments) == 0)
        library = read_file(folder, "cubin.so");
    remove_folder(folder);
    void *opened = library.bytes ? cpu_open_cubin(library.start, library.bytes) : NULL;
    free(library.start);
    free(ptx);
    free(cubin);
    return opened;
}

// ---- Programs

static void forget_output(nvrtcProgram program)
{
    for (int i = 0; i < OUTPUTS; i++) free(program->output[i].start);
    memset(program->output, 0, sizeof program->output);
}

PUBLIC nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options)
{
    enum { MOST = 64 };
    if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
    if (count < 0 || count > MOST || (count && !options)) return NVRTC_ERROR_INVALID_INPUT;
    char *folder = new_folder();
    if (!folder) return NVRTC_ERROR_INTERNAL_ERROR;
    char *arguments[MOST + 5] = {"nvcc", "--nvrtc", folder, program->name};
    for (int i = 0; i < count; i++) arguments[4 + i] = (char *)options[i];
    bool is_written = write_file(folder, "sources", program->sources) &&
                      write_file(folder, "expressions", program->expressions);
    int status = is_written ? run_nvcc(folder, arguments) : -1;
    forget_output(program);
    program->is_compiled |= status != NVRTC_ERROR_INVALID_OPTION;
    for (int i = 0; i < (status == NVRTC_SUCCESS ? OUTPUTS : PTX); i++)
        program->output[i] = read_file(folder, output_file[i]);
    remove_folder(folder);
    return status == NVRTC_SUCCESS || status == NVRTC_ERROR_COMPILATION ||
                   status == NVRTC_ERROR_INVALID_OPTION
               ? (nvrtcResult)status
               : NVRTC_ERROR_INTERNAL_ERROR;
}

PUBLIC nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name,
                                      int headers, const char *const *texts,
                                      const char *const *names)
{
    if (!program || !source || headers < 0 || (headers && (!texts || !names)))
        return NVRTC_ERROR_INVALID_INPUT;
    nvrtcProgram new = *program = calloc(1, sizeof **program);
    if (!new) return NVRTC_ERROR_OUT_OF_MEMORY;
    new->name = strdup(name ? name : "default_program");
    bool is_there = new->name &&append(&new->sources, source);
    for (int i = 0; is_there && i < headers; i++)
        is_there = append(&new->sources, names[i]) && append(&new->sources, texts[i]);
    return is_there ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}

PUBLIC nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression)
{
    if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
    if (!expression) return NVRTC_ERROR_INVALID_INPUT;
    if (program->is_compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    bool is_added = append(&program->expressions, expression);
    return is_added ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}

PUBLIC nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression,
                                       const char **lowered)
{
    if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
    if (!expression || !lowered) return NVRTC_ERROR_INVALID_INPUT;
    *lowered = NULL;
    if (!program->output[PTX].bytes) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    const char *name = program->output[LOWERED].start, *one = program->expressions.start;
    const char *end = one + program->expressions.bytes;
    for (; one < end && strcmp(one, expression) != 0; one += strlen(one) + 1)
        name += strlen(name) + 1;
    if (one == end) return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    *lowered = name;
    return NVRTC_SUCCESS;
}

PUBLIC nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    if (!program || !*program) return NVRTC_ERROR_INVALID_PROGRAM;
    forget_output(*program);
    free((*program)->sources.start);
    free((*program)->expressions.start);
    free((*program)->name);
    free(*program);
    *program = NULL;
    return NVRTC_SUCCESS;
}

PUBLIC nvrtcResult nvrtcVersion(int *major, int *minor)
{
    if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
    *major = CUDART_VERSION / 1000;
    *minor = CUDART_VERSION % 1000 / 10;
    return NVRTC_SUCCESS;
}

PUBLIC const char *nvrtcGetErrorString(nvrtcResult result)
{
    switch (result) {
#define NAME(name, value) \
    case value: \
        return #name;
        CPU_CUDA_NVRTC_ERRORS(NAME)
    }
    return "NVRTC_ERROR unknown";
}

// What came of a program. A text's size counts its NUL; a cubin has none.
#define OUTPUT(what, nul, get_size, get) \
    PUBLIC nvrtcResult get_size(nvrtcProgram program, size_t *bytes) \
    { \
        if (!program || !bytes) return NVRTC_ERROR_INVALID_INPUT; \
        *bytes = program->output[what].bytes + nul; \
        return NVRTC_SUCCESS; \
    } \
    PUBLIC nvrtcResult get(nvrtcProgram program, char *to) \
    { \
        if (!program || !to) return NVRTC_ERROR_INVALID_INPUT; \
        const struct text *from = &program->output[what]; \
        memcpy(to, from->start ? from->start : "", from->bytes + nul); \
        return NVRTC_SUCCESS; \
    }
OUTPUT(LOG, 1, nvrtcGetProgramLogSize, nvrtcGetProgramLog)
OUTPUT(PTX, 1, nvrtcGetPTXSize, nvrtcGetPTX)
OUTPUT(CUBIN, 0, nvrtcGetCUBINSize, nvrtcGetCUBIN)
