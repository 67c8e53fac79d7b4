/* io/process.h: a child process with its input or its output connected to us, and the beginning of what it says on its error output.
 *
 * No shell; the program is searched in PATH. Nothing of ours is inherited but the three standard streams. The process has a group of its own, so that
 * Ctrl-C reaches us alone, and is gone (waited for) when the object is destroyed. */
#ifndef TSR_IO_PROCESS_H
#define TSR_IO_PROCESS_H

#include "core/core.h"

typedef struct tsr_process tsr_process;

/* Where a program of ours lies: the environment variable names it, or it lies beside this program or library, in ../libexec/tessera or ../lib/tessera of it; else
 * the name alone, for PATH. 0 where it is not found anywhere. */
int tsr_process_find(const char *program, const char *variable, char *path, size_t room);
/* `arguments` ends with NULL; arguments[0] is the program. `writing`: we write to its standard input, else we read its standard output; TSR_PROCESS_BOTH: both. */
enum { TSR_PROCESS_BOTH = 2 };
tsr_status tsr_process_start(const char *const *arguments, int writing, tsr_process **process);
/* Up to `size` bytes of its output, 0 in *got at the end. Waits; `progress` (may be NULL) is asked meanwhile and can cancel. */
tsr_status tsr_process_read(tsr_process *process, void *bytes, size_t size, const tsr_progress *progress, size_t *got);
/* TSR_ERROR_IO if the process has closed its input. */
tsr_status tsr_process_write(tsr_process *process, const void *bytes, size_t size, const tsr_progress *progress);
/* Closes our end and waits for the process. TSR_ERROR_IO if it did not exit with 0. */
tsr_status tsr_process_finish(tsr_process *process, const tsr_progress *progress);
/* What it wrote to its error output so far, the first lines joined by "; ", "" if nothing. RETURNS VIEW. */
const char *tsr_process_said(tsr_process *process);
/* Kills all that run (64 at most); for a signal handler that ends the process. */
void tsr_process_kill_all(void);
/* Kills it if it runs. NULL is fine. */
void tsr_process_destroy(tsr_process **process);

#endif
