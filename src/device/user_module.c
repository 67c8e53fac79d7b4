/* device/user_module.c: modules made of a user's own C. They stay loaded until the process ends. */
#include "device/user_module.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The loader maps segments without a look at the size of the file: one that was cut off would kill the process later. */
static tsr_status check_whole(const char *what, const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    ElfW(Ehdr) head = { 0 };
    int whole = 1;
    if (!file) return TSR_OK; /* dlopen says why */
    if (fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode) && fread(&head, sizeof head, 1, file) == 1 &&
        !memcmp(head.e_ident, ELFMAG, SELFMAG)) {
        const uint64_t size = (uint64_t)info.st_size;
        whole = head.e_shoff <= size && (uint64_t)head.e_shnum * head.e_shentsize <= size - head.e_shoff;
        for (int k = 0; k < head.e_phnum && whole; k++) {
            ElfW(Phdr) segment;
            whole = fseek(file, (long)(head.e_phoff + (uint64_t)k * sizeof segment), SEEK_SET) == 0 &&
                    fread(&segment, sizeof segment, 1, file) == 1 && segment.p_offset <= size && segment.p_filesz <= size - segment.p_offset;
        }
    }
    fclose(file);
    if (!whole) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s ends before its contents do: cut off?", what, path);
    return TSR_OK;
}

tsr_status tsr_user_module_path(const char *what, tsr_device_kind kind, const char *path, char file[4096])
{
    const size_t length = strlen(path), bare = length > 3 && strcmp(path + length - 3, ".so") == 0 ? length - 3 : length;
    const char *folder = strchr(path, '/') ? "" : "./", *suffix = kind == TSR_DEVICE_CUDA ? "_cuda" : "";
    if ((size_t)snprintf(file, 4096, "%s%.*s%s.so", folder, (int)bare, path, suffix) >= 4096)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the path has %zu characters, at most %d are possible", what, length, 4096 - 16);
    return TSR_OK;
}

tsr_status tsr_user_module_open(const char *what, const char *file, const char *symbol, int (*good)(const void *module), const char *expected,
                                const void **module)
{
    TSR_TRY(check_whole(what, file));
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) TSR_FAIL(TSR_ERROR_IO, "%s: cannot open the module: %s", what, dlerror());
    const void *found = dlsym(library, symbol);
    if (!found || !good(found)) {
        dlclose(library);
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s is no module made with %s", what, file, expected);
    }
    *module = found;
    return TSR_OK;
}
