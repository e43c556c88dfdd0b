// Which library, and which line of the source, a place in the code is of.
#include "runtime.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// In this library: the driver's calls call those of the runtime.
bool cpu_is_own(const void *place)
{
    Dl_info here, there;
    return dladdr(place, &there) && dladdr((void *)cpu_is_own, &here) &&
           here.dli_fbase == there.dli_fbase;
}

// The line of the source: the innermost that is not in a header of the stand-in or of C++. addr2line comes
// with the assembler, which g++ needs.
const char *cpu_line_of(const void *place, char *text, size_t size)
{
    Dl_info in;
    struct link_map *map = NULL;
    char file[400], command[600], line[400];
    text[0] = '\0';
    if (cpu_is_own(place)) return NULL;
    if (!place || !dladdr1(place, &in, (void **)&map, RTLD_DL_LINKMAP)) return NULL;
    snprintf(file, sizeof file, "%s", map->l_name);
    ssize_t length = file[0] ? 0 : readlink("/proc/self/exe", file, sizeof file - 1); // the program
    if (length > 0) file[length] = '\0';
    snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%lx 2>/dev/null", file,
             (unsigned long)((uintptr_t)place - 1 - map->l_addr));
    FILE *answer = popen(command, "r");
    while (answer && fgets(line, sizeof line, answer)) {
        char *end = strstr(line, " (discriminator");
        line[end ? (size_t)(end - line) : strcspn(line, "\n")] = '\0';
        if (!text[0] && line[0] != '?' && !strstr(line, "/cpu/include/") && !strstr(line, "/c++/"))
            snprintf(text, size, "%s", line);
    }
    if (answer) pclose(answer);
    const char *slash = strrchr(text, '/');
    return text[0] ? slash ? slash + 1 : text : NULL;
}

// The library with this address in it stays, for ever.
void cpu_keep_loaded(const void *address)
{
    Dl_info library;
    if (dladdr(address, &library))
        dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
