/* A CUDA module on a machine whose GPUs are too old for it, as device/cuda/backend.cu answers: two GPUs of compute capability 7.0 and 5.2 (mocked), code for 8.0 and 9.0. */
#include <stdio.h>

#include "backend_abi.h"
#include "device/backend.h"
#include "device/capability.h"

static int mocked(int device, int *major, int *minor, char *name, size_t name_bytes)
{
    *major = device ? 5 : 7;
    *minor = device ? 2 : 0;
    snprintf(name, name_bytes, "an old GPU");
    return 1;
}

static int32_t count(char *why, size_t why_bytes)
{
    static const int codes[] = { 900, 800 };
    return tsr_capability_count((tsr_capability_codes){ codes, 2 }, mocked, 2, why, why_bytes);
}

TSR_API const tsr_backend *tsr_backend_open(const tsr_module_host *host);
TSR_API const tsr_backend *tsr_backend_open(const tsr_module_host *host)
{
    static tsr_backend old = { .abi = TSR_BACKEND_ABI, .kind = TSR_DEVICE_CUDA, .device_count = count };
    (void)host;
    return &old;
}
