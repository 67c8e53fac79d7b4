/* tessera/base.h: version, status codes, error messages, element types, allocators, progress.
 * Ownership words used in every header: a function BORROWS an argument until it returns, KEEPS it until the object
 * dies, COPIES it, ADOPTS it (the object frees it, also when the call fails), RETURNS NEW (the caller destroys it) or
 * RETURNS VIEW (it dies with its parent). Threading: distinct objects may be used by distinct threads at the same time;
 * one object by one thread at a time, or, of no context, by several that take it as const. Unless a comment says
 * otherwise, calls are synchronous. [Name99] is a publication: docs/references.md.
 * Pointers that no comment calls optional must be given: a NULL is TSR_ERROR_ARGUMENT, and the message names the argument. Options and progress are
 * always optional; destroying NULL does nothing, and of no object what tells about one tells 0 or NULL. What names no version has been there since 0.1.0.
 */
#ifndef TESSERA_BASE_H
#define TESSERA_BASE_H

#include <stddef.h>
#include <stdint.h>

/* What a struct that may grow begins as: all zero but struct_size, its first field, by which the library knows what the caller was compiled with. The
 * macro of a struct says it: tsr_surface_options options = TSR_SURFACE_OPTIONS; this holds for options and for what the library fills, reports and
 * descriptions. A struct that is only seen as a VIEW may grow without. Plain values do not grow: points, cameras and lenses, elements of arrays and
 * what lies in device memory. */
#ifdef __cplusplus
template <class T> inline T tsr_sized_()
{
    T made = T();
    made.struct_size = sizeof(T);
    return made;
}
#define TSR_SIZED(type) tsr_sized_<type>()
#else
#define TSR_SIZED(type) { .struct_size = sizeof(type) }
#endif

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

/* Tells `log` what the library has to say at the moment it says it, with `user`: a remark (TSR_OK) or an error (its status) where it begins, also one
 * that the library itself then deals with. One line, valid during the call, which comes from the thread that works, now and then from several at the
 * same time; it must not call the library. For the whole process; NULL: nobody, as at first. Returns when no call of the log before is under way. */
typedef void (*tsr_log)(void *user, tsr_status status, const char *text);
TSR_API void tsr_log_set(tsr_log log, void *user);

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

/* Frees what a comment says is for it: bytes and numbers that a call RETURNS NEW without an object round them. NULL is fine. The library may have another
 * free() than the program. */
TSR_API void tsr_free(void *memory);

/* Progress and cancellation. `report` is called from the calling thread now and then with fraction in [0,1] (negative:
 * unknown) and a stage name; a non-zero return cancels: the call ends with TSR_ERROR_CANCELLED. NULL report = silent. */
typedef struct tsr_progress {
    int (*report)(void *user, double fraction, const char *stage);
    void *user;
} tsr_progress;

/* CPU threads of the calls that are given no context (readers, writers, generators, calls on host objects) from the calling thread; 0, as at first:
 * OMP_NUM_THREADS, or all. A context has its own number, tsr_context_options.threads, which is 0 for this one. Results do not depend on either. */
TSR_API void tsr_threads_set(int32_t threads);

typedef struct tsr_size3 { int64_t x, y, z; } tsr_size3;    /* extents or indices; x runs fastest in memory */
typedef struct tsr_vec3 { double x, y, z; } tsr_vec3;
typedef struct tsr_box { tsr_vec3 lower, upper; } tsr_box;  /* along the axes, its sides included (boxes of voxels are two tsr_size3, the second one past) */

#ifdef __cplusplus
}
#endif
#endif
