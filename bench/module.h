/* bench/module.h: what a bench compares with and loads: a module of the build, or, on another machine than that it was built on, one of TESSERA_MODULES. */
#ifndef TSR_BENCH_MODULE_H
#define TSR_BENCH_MODULE_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* NULL: not there; dlerror() says why. */
static inline void *bench_module(const char *name)
{
    const char *modules = getenv("TESSERA_MODULES");
    char path[4096];
    void *module = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", BENCH_MODULES, name) < sizeof path) module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module && modules && (size_t)snprintf(path, sizeof path, "%s/%s", modules, name) < sizeof path) module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return module;
}

#endif
