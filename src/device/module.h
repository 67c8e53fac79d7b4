/* device/module.h: what the entry point of a backend module calls first. */
#ifndef TSR_DEVICE_MODULE_H
#define TSR_DEVICE_MODULE_H

#include "device/backend.h"

#ifdef __cplusplus
extern "C"
#endif
void tsr_module_attach(const tsr_module_host *host);

#endif
