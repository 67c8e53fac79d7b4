/* primitives/arguments.h: checks of arguments that the calls of this room share. `what` is the call, for the message. */
#ifndef TSR_PRIMITIVES_ARGUMENTS_H
#define TSR_PRIMITIVES_ARGUMENTS_H

#include "primitives/primitives_ops.h"

static inline const tsr_primitives_ops *tsr_primitives_of(const tsr_context *context) { return context->backend->primitives; }

tsr_status tsr_check_count(const tsr_context *context, const char *what, int64_t count);
/* An array that holds `count` elements of `size` bytes. */
tsr_status tsr_check_array(const char *what, const char *name, const void *array, int64_t count, size_t size);
tsr_status tsr_check_workspace(const char *what, const void *workspace, size_t given, size_t needed);
/* `allowed` has bit TSR_ALLOW(type) for each type that is. */
tsr_status tsr_check_type(const char *what, const char *name, tsr_dtype dtype, unsigned allowed, const char *expected);
#define TSR_ALLOW(type) (1u << (type))

#endif
