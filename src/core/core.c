#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/status.h"

#define TSR_TEXT_(x) #x
#define TSR_TEXT(x) TSR_TEXT_(x)

const char *tsr_version(void)
{
    return TSR_TEXT(TSR_VERSION_MAJOR) "." TSR_TEXT(TSR_VERSION_MINOR) "." TSR_TEXT(TSR_VERSION_PATCH);
}

int32_t tsr_version_number(void) { return TSR_VERSION_NUMBER; }

static const struct { const char *name, *aliases[3]; size_t size; } dtypes[TSR_DTYPE_COUNT] = {
    [TSR_U8] = { "u8", { "uint8", "uchar", "byte" }, 1 },     [TSR_I8] = { "i8", { "int8", "schar", "char" }, 1 },
    [TSR_U16] = { "u16", { "uint16", "ushort", NULL }, 2 },   [TSR_I16] = { "i16", { "int16", "short", NULL }, 2 },
    [TSR_U32] = { "u32", { "uint32", "uint", NULL }, 4 },     [TSR_I32] = { "i32", { "int32", "int", NULL }, 4 },
    [TSR_U64] = { "u64", { "uint64", "ulonglong", NULL }, 8 }, [TSR_I64] = { "i64", { "int64", "longlong", NULL }, 8 },
    [TSR_F32] = { "f32", { "float32", "float", NULL }, 4 },   [TSR_F64] = { "f64", { "float64", "double", NULL }, 8 },
};

static int dtype_valid(tsr_dtype dtype) { return (int)dtype >= 0 && dtype < TSR_DTYPE_COUNT; }

size_t tsr_dtype_size(tsr_dtype dtype) { return dtype_valid(dtype) ? dtypes[dtype].size : 0; }

const char *tsr_dtype_name(tsr_dtype dtype) { return dtype_valid(dtype) ? dtypes[dtype].name : "invalid"; }

tsr_status tsr_dtype_parse(const char *name, tsr_dtype *dtype)
{
    TSR_NEEDS(dtype);
    for (int i = 0; name && i < TSR_DTYPE_COUNT; i++) {
        if (!strcasecmp(name, dtypes[i].name)) { *dtype = (tsr_dtype)i; return TSR_OK; }
        for (int a = 0; a < 3; a++)
            if (dtypes[i].aliases[a] && !strcasecmp(name, dtypes[i].aliases[a])) { *dtype = (tsr_dtype)i; return TSR_OK; }
    }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "element type '%s': expected one of u8 i8 u16 i16 u32 i32 u64 i64 f32 f64", name ? name : "(null)");
}

/* Large arrays ask for large pages: the first touch of a page costs as much as all later work on it, and a large one costs a third per byte. */
enum { LARGE_PAGE = 2 << 20 };

static void *default_allocate(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    void *memory = NULL;
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
#if defined(MADV_HUGEPAGE)
    if (bytes >= 2 * (size_t)LARGE_PAGE && alignment < LARGE_PAGE) alignment = LARGE_PAGE;
#endif
    if (posix_memalign(&memory, alignment, bytes ? bytes : 1)) return NULL;
#if defined(MADV_HUGEPAGE)
    if (alignment >= LARGE_PAGE && bytes >= LARGE_PAGE) (void)madvise(memory, bytes & ~(size_t)(LARGE_PAGE - 1), MADV_HUGEPAGE); /* a wish */
#endif
    return memory;
}

static void default_release(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

const tsr_allocator tsr_default_allocator = { default_allocate, default_release, NULL };

tsr_status tsr_host_allocate(const tsr_allocator *allocator, size_t bytes, void **memory)
{
    if (!allocator || !allocator->allocate) allocator = &tsr_default_allocator;
    *memory = allocator->allocate(allocator->user, bytes, TSR_HOST_ALIGNMENT);
    if (!*memory) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory: %zu bytes asked for", bytes);
    return TSR_OK;
}

void tsr_host_release(const tsr_allocator *allocator, void *memory, size_t bytes)
{
    if (!memory) return;
    if (!allocator || !allocator->release) allocator = &tsr_default_allocator;
    allocator->release(allocator->user, memory, bytes);
}

tsr_status tsr_size_bytes(tsr_size3 size, size_t element, const char *what, int64_t *bytes)
{
    int64_t product = (int64_t)element;
    const int64_t extents[3] = { size.x, size.y, size.z };
    for (int axis = 0; axis < 3; axis++) {
        if (extents[axis] <= 0)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: extent %c is %lld, expected a positive number", what, "xyz"[axis], (long long)extents[axis]);
        if (__builtin_mul_overflow(product, extents[axis], &product))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %lld x %lld x %lld elements of %zu bytes overflow 64 bits", what, (long long)size.x,
                     (long long)size.y, (long long)size.z, element);
    }
    *bytes = product;
    return TSR_OK;
}

void tsr_free(void *memory) { free(memory); }

double tsr_seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int64_t tsr_physical_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (int64_t)pages * page : INT64_MAX;
}
