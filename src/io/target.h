/* io/target.h: the file that a new output is until it is complete, and how it gets its name.
 *
 * Where the system has files without a name (O_TMPFILE), it is one of them in the target's folder: nothing is left of it, however the process ends. Else,
 * and where a program must find it by name, it has a random one, which only its owner may open, and which tsr_output_unlink_all takes away. */
#ifndef TSR_IO_TARGET_H
#define TSR_IO_TARGET_H

#include "core/core.h"

typedef struct tsr_target {
    const char *name; /* for messages: what the caller asked for. BORROWS */
    char *path;       /* what gets the name: links followed; NULL: a pipe, a device or standard output, written in place */
    char *beside;     /* its name until then; NULL while it has none */
    int fd, place;    /* place: among the names that tsr_output_unlink_all takes away, or -1 */
    int overwrite;
} tsr_target;

/* The name is `path`, "-" for standard output. `named`: under a name with the target's extension in any case. Closed by tsr_target_close after a failure, too. */
tsr_status tsr_target_open(tsr_target *target, const char *path, int overwrite, int regular_only, int named);
/* What the process opens to write to it by a path; NULL when written in place. RETURNS VIEW of `room` (32 bytes) or of the target. */
const char *tsr_target_place(const tsr_target *target, char room[32]);
/* The targets, of one folder, get their names: all or none. A file that is replaced leaves its mode and, where the system allows it, its owner. */
tsr_status tsr_target_commit(tsr_target *const *targets, int count);
/* Removes what has no name of its own. */
void tsr_target_close(tsr_target *target);

/* `count` finished files get their names: all, or those that had theirs lose them again and what they replaced is back. Files that were replaced lie under
 * `from` afterwards, or are gone. names() makes both names, to be freed, of file k. */
typedef tsr_status (*tsr_rename_names)(void *user, int64_t k, char **from, char **to);
tsr_status tsr_rename_all(int64_t count, tsr_rename_names names, void *user, int overwrite);

/* `name` goes when tsr_output_unlink_all is called, until it is forgotten; one that ends in '/' is a folder of files 0.png, 1.png ... -1: no place left. */
int tsr_pending_note(char *name);
/* 0 if a signal handler has the name by now: then it must not be freed. */
int tsr_pending_forget(int place, char *name);

#endif
