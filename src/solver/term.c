/* solver/term.c: modules with a term in the caller's own C (tessera/levelset_term.h). */
#include <string.h>

#include "device/user_module.h"
#include "tessera/levelset_term.h"

static int good_term(const void *module)
{
    const tsr_term_module *m = (const tsr_term_module *)module;
    const uint32_t known = TSR_TERM_SPEED | TSR_TERM_VELOCITY | TSR_TERM_CURVATURE;
    return m->abi == TSR_TERM_ABI && m->evaluate && m->gives != 0 && !(m->gives & ~known);
}

tsr_status tsr_term_load(const tsr_context *context, const char *path, size_t data_bytes, tsr_levelset_user *user)
{
    TSR_NEEDS(context, path);
    char file[4096];
    const void *found = NULL;
    memset(user, 0, sizeof *user);
    TSR_TRY(tsr_user_module_path("term", context->device.kind, path, file));
    TSR_TRY(tsr_user_module_open("term", file, "tsr_term_module_1", good_term, "TSR_TERM of this version of tessera/levelset_term.h", &found));
    const tsr_term_module *module = (const tsr_term_module *)found;
    if (context->device.kind == TSR_DEVICE_CUDA && !module->launch) TSR_FAIL(TSR_ERROR_FORMAT, "term: %s was not made by a CUDA compiler", file);
    if (module->data_bytes != data_bytes)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "term: %s works on %llu bytes of data, given are %zu", file, (unsigned long long)module->data_bytes, data_bytes);
    user->evaluate = module->evaluate;
    user->module = module;
    return TSR_OK;
}
