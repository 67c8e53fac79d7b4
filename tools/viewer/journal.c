/* viewer/journal.c: when things were done, and how often, in the session file. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include <stdio.h>
#include <time.h>

#include "solver.h"

void solver_journal_note(struct solver *o, viewer_kind kind)
{
    char text[64];
    o->journal.count[kind]++;
    snprintf(text, sizeof text, "%.3f s: %s", viewer_seconds() - o->journal.begun, viewer_kind_name(kind));
    if (tsr_segmentation_note(o->segmentation, text) != TSR_OK) viewer_session_tell(o->s, "error", "%s", tsr_error_message());
}

void solver_journal_summary(const struct solver *o, char text[SOLVER_SUMMARY])
{
    struct tm utc;
    const time_t now = time(NULL);
    char date[32] = "";
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    int at = snprintf(text, SOLVER_SUMMARY, "# saved %s after %.1f s:", date, viewer_seconds() - o->journal.begun);
    for (int k = 0; k < VIEWER_KINDS; k++)
        if (o->journal.count[k] > 0 && at < SOLVER_SUMMARY - 48)
            at += snprintf(text + at, (size_t)(SOLVER_SUMMARY - at), " %lld %s", (long long)o->journal.count[k], viewer_kind_name((viewer_kind)k));
    snprintf(text + at, (size_t)(SOLVER_SUMMARY - at), "\n");
}
