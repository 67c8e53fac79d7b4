/* device/user_module.h: modules made of a user's own C (tessera/levelset_term.h, tessera/map.h). */
#ifndef TSR_DEVICE_USER_MODULE_H
#define TSR_DEVICE_USER_MODULE_H

#include "device/backend.h"

/* Path of the module of `kind` of device: PATH.so or PATH_cuda.so; a bare name is looked for in the working directory. `what` begins messages. */
tsr_status tsr_user_module_path(const char *what, tsr_device_kind kind, const char *path, char file[4096]);
/* The symbol of a module, which stays loaded until the process ends, if `good` says so of it; else TSR_ERROR_FORMAT: `expected` is what it should be. */
tsr_status tsr_user_module_open(const char *what, const char *file, const char *symbol, int (*good)(const void *module), const char *expected,
                                const void **module);

#endif
