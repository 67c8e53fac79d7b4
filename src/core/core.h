/* core/core.h: host memory, checked sizes, small helpers every room uses. */
#ifndef TSR_CORE_CORE_H
#define TSR_CORE_CORE_H

#include "core/status.h"

enum { TSR_HOST_ALIGNMENT = 64 };

extern const tsr_allocator tsr_default_allocator;

/* Uninitialised host memory, 64-byte aligned. `allocator` NULL or zero-filled = the default. */
tsr_status tsr_host_allocate(const tsr_allocator *allocator, size_t bytes, void **memory);
void tsr_host_release(const tsr_allocator *allocator, void *memory, size_t bytes);

/* size.x * size.y * size.z * element in *bytes, or TSR_ERROR_ARGUMENT for an extent <= 0 or an overflow. */
tsr_status tsr_size_bytes(tsr_size3 size, size_t element, const char *what, int64_t *bytes);

int64_t tsr_physical_memory(void);
/* Of a clock that only goes forward; from when, nobody says. */
double tsr_seconds_now(void);

static inline int64_t tsr_min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tsr_max64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t tsr_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

#endif
