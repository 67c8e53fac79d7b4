/* wavelet/poll.h: cancelling within a brick: workers that code bricks ask now and then whether to stop. */
#ifndef TSR_WAVELET_POLL_H
#define TSR_WAVELET_POLL_H

#include <stdio.h>

#include "core/core.h"

/* The first failure among parallel workers, for the thread that started them: messages belong to threads. */
typedef struct tsr_shared_failure {
    int failed;
    tsr_status status;
    char message[600];
} tsr_shared_failure;
static inline int tsr_shared_failed(tsr_shared_failure *f) { return __atomic_load_n(&f->failed, __ATOMIC_RELAXED); }
static inline void tsr_shared_fail(tsr_shared_failure *f, tsr_status status)
{
    if (__atomic_exchange_n(&f->failed, 1, __ATOMIC_RELAXED)) return;
    f->status = status;
    snprintf(f->message, sizeof f->message, "%s", tsr_error_message());
}
/* When the workers have ended. */
static inline tsr_status tsr_shared_status(const tsr_shared_failure *f)
{
    if (f->failed) TSR_FAIL(f->status, "%s", f->message);
    return TSR_OK;
}

/* Of one worker. */
typedef struct tsr_poll {
    tsr_shared_failure *failure;
    const tsr_progress *progress; /* only in the thread that was called: progress is not reported from others. Else NULL */
    const char *stage;
    double fraction;
} tsr_poll;

/* TSR_ERROR_CANCELLED where this or another worker shall end. `poll` may be NULL. */
static inline tsr_status tsr_poll_status(const tsr_poll *poll)
{
    if (!poll) return TSR_OK;
    if (poll->progress) TSR_PROGRESS(poll->progress, poll->fraction, poll->stage);
    if (tsr_shared_failed(poll->failure)) TSR_FAIL(TSR_ERROR_CANCELLED, "cancelled during %s", poll->stage);
    return TSR_OK;
}

#endif
