/* What the suites of the primitives share: arrays on the device of their context. */
#ifndef TSR_TESTS_ON_DEVICE_H
#define TSR_TESTS_ON_DEVICE_H

#include "context.h"

#include "device/backend.h"

static void *take(size_t bytes, const void *from)
{
    void *memory;
    require_ok(tsr_device_allocate(context, bytes, &memory));
    if (from) require_ok(tsr_device_move(context, memory, NULL, from, bytes));
    return memory;
}

#endif
