/* levelset/term.c: modules with a term in the caller's own C (tessera/levelset_term.h). They stay loaded until the process ends. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "device/backend.h"
#include "tessera/levelset_term.h"

/* The loader maps segments without a look at the size of the file: one that was cut off would kill the process later. */
static tsr_status check_whole(const char *path)
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
    if (!whole) TSR_FAIL(TSR_ERROR_FORMAT, "term: %s ends before its contents do: cut off?", path);
    return TSR_OK;
}

static tsr_status open_term(const char *path, const tsr_term_module **module)
{
    TSR_TRY(check_whole(path));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) TSR_FAIL(TSR_ERROR_IO, "term: cannot open the module: %s", dlerror());
    const tsr_term_module *found = (const tsr_term_module *)dlsym(library, "tsr_term_module_1");
    const uint32_t known = TSR_TERM_SPEED | TSR_TERM_VELOCITY | TSR_TERM_CURVATURE;
    if (!found || found->abi != TSR_TERM_ABI || !found->evaluate || found->gives == 0 || (found->gives & ~known)) {
        dlclose(library);
        TSR_FAIL(TSR_ERROR_FORMAT, "term: %s is no module made with TSR_TERM of this version of tessera/levelset_term.h", path);
    }
    *module = found;
    return TSR_OK;
}

tsr_status tsr_term_load(const tsr_context *context, const char *path, size_t data_bytes, tsr_flow_user *user)
{
    char file[4096];
    const tsr_term_module *module = NULL;
    memset(user, 0, sizeof *user);
    if (!context || !path) TSR_FAIL(TSR_ERROR_ARGUMENT, "term: context or path is NULL");
    const size_t length = strlen(path), bare = length > 3 && strcmp(path + length - 3, ".so") == 0 ? length - 3 : length;
    const char *folder = strchr(path, '/') ? "" : "./", *kind = context->device.kind == TSR_DEVICE_CUDA ? "_cuda" : "";
    if ((size_t)snprintf(file, sizeof file, "%s%.*s%s.so", folder, (int)bare, path, kind) >= sizeof file)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "term: the path has %zu characters, at most %zu are possible", length, sizeof file - 16);
    TSR_TRY(open_term(file, &module));
    if (context->device.kind == TSR_DEVICE_CUDA && !module->launch) TSR_FAIL(TSR_ERROR_FORMAT, "term: %s was not made by a CUDA compiler", file);
    if (module->data_bytes != data_bytes)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "term: %s works on %llu bytes of data, given are %zu", file, (unsigned long long)module->data_bytes, data_bytes);
    user->evaluate = module->evaluate;
    user->module = module;
    return TSR_OK;
}
