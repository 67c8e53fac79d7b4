/* core/status.h: how every function of the library fails. TSR_FAIL starts an error, TSR_TRY passes one on with a trace line. */
#ifndef TSR_CORE_STATUS_H
#define TSR_CORE_STATUS_H

#include <assert.h>

#include "tessera/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records status and message for this thread; returns `status`. In a backend module it forwards to the library's own record. */
tsr_status tsr_fail_at(tsr_status status, const char *function, const char *file, int line, const char *format, ...) TSR_PRINTF(5, 6);
/* Appends a frame to the trace; returns `status`. */
tsr_status tsr_frame_at(tsr_status status, const char *function, const char *file, int line);

/* TSR_ERROR_ARGUMENT for a NULL, number `which` of the names that a comma separates. */
tsr_status tsr_missing_at(int which, const char *names, const char *function, const char *file, int line);

/* Keeps a line for tsr_remarks_take: for what is no error, but a user would want to know. Long names are cut. */
void tsr_remark(const char *format, ...) TSR_PRINTF(1, 2);

#define TSR_FAILED(status, ...) tsr_fail_at((status), __func__, __FILE__, __LINE__, __VA_ARGS__)
#define TSR_FAIL(status, ...) return TSR_FAILED(status, __VA_ARGS__)
#define TSR_TRY(call)                                                                          \
    do {                                                                                       \
        tsr_status status_ = (call);                                                           \
        if (status_ != TSR_OK) return tsr_frame_at(status_, __func__, __FILE__, __LINE__);     \
    } while (0)
/* The same where something must be released first; needs a variable `tsr_status status` and a label. */
#define TSR_TRY_GOTO(call, label)                                                              \
    do {                                                                                       \
        status = (call);                                                                       \
        if (status != TSR_OK) {                                                                \
            tsr_frame_at(status, __func__, __FILE__, __LINE__);                                \
            goto label;                                                                        \
        }                                                                                      \
    } while (0)
#define TSR_FAIL_GOTO(code, label, ...)                                                        \
    do {                                                                                       \
        status = TSR_FAILED(code, __VA_ARGS__);                                                \
        goto label;                                                                            \
    } while (0)

/* At the top of every public function: the pointers that the caller must give, each refused by its name if it is NULL ... */
#define TSR_NEEDS(...)                                                                               \
    do {                                                                                             \
        const void *const needed_[] = { __VA_ARGS__ };                                               \
        for (int i_ = 0; i_ < (int)(sizeof needed_ / sizeof *needed_); i_++)                         \
            if (!needed_[i_]) return tsr_missing_at(i_, #__VA_ARGS__, __func__, __FILE__, __LINE__); \
    } while (0)
/* ... and a place for what is returned, which holds NULL until then. */
#define TSR_RETURNS(place) \
    do {                   \
        TSR_NEEDS(place);  \
        *(place) = NULL;   \
    } while (0)

/* Our own mistakes: checked in debug builds only. */
#define TSR_ASSERT(condition) assert(condition)

/* Reads a public options struct of any version: copies min(struct_size, known) bytes over zeros. `options` may be NULL. */
tsr_status tsr_options_take(void *own, size_t own_size, const void *options);
#define TSR_OPTIONS_TAKE(own, options) tsr_options_take((own), sizeof *(own), (options))
/* Fills a public struct of any version that the caller began by its macro: the fields that both know, zeros in those that only a newer caller knows.
 * TSR_ERROR_ARGUMENT where it was not begun; the second asks for that alone, before the work. NULL: it is not wanted. */
tsr_status tsr_struct_give(void *given, const void *own, size_t own_size, const char *name);
tsr_status tsr_struct_begun(const void *given, const char *name);
#define TSR_STRUCT_GIVE(given, own) tsr_struct_give((given), (own), sizeof *(own), #given)
#define TSR_STRUCT_BEGUN(given) tsr_struct_begun((given), #given)

/* 1 when the callback asks to stop. */
static inline int tsr_progress_report(const tsr_progress *progress, double fraction, const char *stage)
{
    return progress && progress->report && progress->report(progress->user, fraction, stage) != 0;
}
#define TSR_PROGRESS(progress, fraction, stage)                                                \
    do {                                                                                       \
        if (tsr_progress_report((progress), (fraction), (stage)))                              \
            TSR_FAIL(TSR_ERROR_CANCELLED, "cancelled during %s", (stage));                     \
    } while (0)

/* A part of a longer work: its progress is `share` of the whole, beginning at `from`, under a name of its own. */
typedef struct tsr_progress_part {
    const tsr_progress *whole;
    const char *stage;
    double from, share;
} tsr_progress_part;
static inline double tsr_progress_at(const tsr_progress_part *part, double fraction)
{
    return part->from + part->share * (fraction > 0 ? fraction < 1 ? fraction : 1 : 0);
}
/* The report of a tsr_progress whose user is a part. */
static inline int tsr_progress_of_part(void *user, double fraction, const char *stage)
{
    const tsr_progress_part *part = (const tsr_progress_part *)user;
    (void)stage;
    return tsr_progress_report(part->whole, tsr_progress_at(part, fraction), part->stage);
}

#ifdef __cplusplus
}
#endif
#endif
