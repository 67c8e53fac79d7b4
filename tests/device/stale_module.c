/* A backend module that was built from other headers: its number differs, its tables must never be called. */
#include "backend_abi.h"
#include "device/backend.h"

TSR_API const tsr_backend *tsr_backend_open(const tsr_module_host *host);
TSR_API const tsr_backend *tsr_backend_open(const tsr_module_host *host)
{
    static tsr_backend stale = { .abi = TSR_BACKEND_ABI ^ 1u, .kind = TSR_DEVICE_EMU };
    (void)host;
    return &stale;
}
