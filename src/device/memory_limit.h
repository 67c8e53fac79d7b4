/* device/memory_limit.h: how much memory work may take that is refused before it begins. */
#ifndef TSR_DEVICE_MEMORY_LIMIT_H
#define TSR_DEVICE_MEMORY_LIMIT_H

#include "core/core.h"
#include "device/backend.h"

/* The caller's limit; 0 = what the machine has. A device says itself, when it is asked for the memory. */
static inline int64_t tsr_memory_most(const tsr_context *context, int64_t limit)
{
    return limit > 0 ? limit : context->device.kind == TSR_DEVICE_CPU ? tsr_physical_memory() : INT64_MAX;
}
/* Whose it is, for messages: "..., WHOSE is N". */
static inline const char *tsr_memory_limit_name(int64_t limit) { return limit > 0 ? "the memory_limit" : "the machine's memory"; }

#endif
