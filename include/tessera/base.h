/* tessera/base.h: version, status codes, error messages, element types, allocators, progress.
 *
 * Ownership words used in every header: a function BORROWS an argument until it returns, KEEPS it until the object
 * dies, COPIES it, ADOPTS it (the object frees it, also when the call fails), RETURNS NEW (the caller destroys it) or
 * RETURNS VIEW (it dies with its parent). Threading: distinct objects may be used by distinct threads at the same time;
 * one object by one thread at a time. Unless a comment says otherwise, calls are synchronous. [Name99] is a publication: docs/references.md.
 * Pointers that no comment calls optional must be given: a NULL is TSR_ERROR_ARGUMENT, and the message names the argument. Options and progress are always
 * optional; destroying NULL does nothing, and of no object what tells about one tells 0 or NULL. What names no version has been there since 0.1.0.
 */
#ifndef TESSERA_BASE_H
#define TESSERA_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TSR_VERSION_MAJOR 0
#define TSR_VERSION_MINOR 1
#define TSR_VERSION_PATCH 0
#define TSR_VERSION_NUMBER (TSR_VERSION_MAJOR * 1000000 + TSR_VERSION_MINOR * 1000 + TSR_VERSION_PATCH) /* for #if: grows with every release */

#if defined(__GNUC__)
#define TSR_API __attribute__((visibility("default")))
#define TSR_CHECKED __attribute__((warn_unused_result))
#define TSR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define TSR_DEPRECATED(instead) __attribute__((deprecated("use " instead))) /* stays until the next change of the second number */
#else
#define TSR_API
#define TSR_CHECKED
#define TSR_PRINTF(text, first)
#define TSR_DEPRECATED(instead)
#endif

/* "0.1.0". Returns a static string. */
TSR_API const char *tsr_version(void);
/* TSR_VERSION_NUMBER of the library that runs, which may be newer than the header. */
TSR_API int32_t tsr_version_number(void);

/* Result of every function that can fail. Values are never reused. A failed call leaves its inputs as they were and sets
 * its outputs to NULL unless its comment says otherwise. */
typedef enum tsr_status {
    TSR_OK = 0,
    TSR_ERROR_ARGUMENT = -1,    /* a value the caller passed is outside what the comment allows */
    TSR_ERROR_MEMORY = -2,      /* host or device memory exhausted; the message names the bytes asked for */
    TSR_ERROR_IO = -3,          /* the operating system refused to open, read, write or rename */
    TSR_ERROR_FORMAT = -4,      /* a file is truncated, damaged or contradicts itself */
    TSR_ERROR_UNSUPPORTED = -5, /* well-formed, but outside what this build can do */
    TSR_ERROR_DEVICE = -6,      /* no such device, no driver, or a kernel failed */
    TSR_ERROR_CANCELLED = -7,   /* the progress callback asked to stop */
    TSR_ERROR_STATE = -8,       /* the object is not in a state that allows the call (no zero crossing, empty surface) */
    TSR_ERROR_CAPACITY = -9,    /* a fixed limit is exhausted; the last valid state is kept */
    TSR_ERROR_INTERNAL = -10    /* a defect of tessera: please report it */
} tsr_status;

/* Short English name of a status ("argument", "io", ...). Returns a static string. */
TSR_API const char *tsr_status_name(tsr_status status);

/* What went wrong in the last failed call of this thread, in one line: what was expected, what came, what to do.
 * RETURNS VIEW, valid until the next failing call of the thread. Empty if nothing failed yet. */
TSR_API const char *tsr_error_message(void);

/* The same followed by the chain of functions that passed the error on ("file.c:88 tsr_volume_read <- ..."). */
TSR_API const char *tsr_error_trace(void);
/* What successful calls of this thread have to say about their input (bytes of a file that were left out), one line each, oldest first, the same line
 * once; 1000 bytes at most are kept. Copies them to `text` (`room` bytes with the final zero) and forgets them; "" if there is nothing. */
TSR_API void tsr_remarks_take(char *text, size_t room);

/* Element types of volumes and arrays. */
typedef enum tsr_dtype {
    TSR_U8 = 0, TSR_I8, TSR_U16, TSR_I16, TSR_U32, TSR_I32, TSR_U64, TSR_I64, TSR_F32, TSR_F64,
    TSR_DTYPE_COUNT
} tsr_dtype;

TSR_API size_t tsr_dtype_size(tsr_dtype dtype);      /* bytes per element, 0 for an invalid value */
TSR_API const char *tsr_dtype_name(tsr_dtype dtype); /* "u8", "i16", "f32", ... */
TSR_API tsr_status tsr_dtype_parse(const char *name, tsr_dtype *dtype) TSR_CHECKED; /* accepts also uint8, short, float, ... */

/* Memory functions a host application may supply. `allocate` returns NULL on failure and memory aligned to at least
 * `alignment`; `release` gets the size back. Both must be callable from any thread. Zero-filled struct = the defaults. */
typedef struct tsr_allocator {
    void *(*allocate)(void *user, size_t bytes, size_t alignment);
    void (*release)(void *user, void *memory, size_t bytes);
    void *user;
} tsr_allocator;

/* Progress and cancellation. `report` is called from the calling thread now and then with fraction in [0,1] (negative:
 * unknown) and a stage name; a non-zero return cancels: the call ends with TSR_ERROR_CANCELLED. NULL report = silent. */
typedef struct tsr_progress {
    int (*report)(void *user, double fraction, const char *stage);
    void *user;
} tsr_progress;

typedef struct tsr_size3 { int64_t x, y, z; } tsr_size3;    /* extents or indices; x runs fastest in memory */
typedef struct tsr_vec3 { double x, y, z; } tsr_vec3;

#ifdef __cplusplus
}
#endif
#endif
