/* core/parallel.h: the one place where CPU loops become parallel. */
#ifndef TSR_CORE_PARALLEL_H
#define TSR_CORE_PARALLEL_H

#include <stdint.h>

/* Calls body(user, begin, end, worker) for disjoint ranges covering [0, count), each a multiple of `grain` long (but for the last), on up to
 * `threads` workers (0 <= worker < threads). Ranges are handed out as workers become free; results must not depend on which worker gets
 * which. Returns when all are done. Nested calls run serially. */
typedef void (*tsr_parallel_body)(void *user, int64_t begin, int64_t end, int worker);
void tsr_parallel(int threads, int64_t count, int64_t grain, tsr_parallel_body body, void *user);

int tsr_parallel_default_threads(void);

#endif
