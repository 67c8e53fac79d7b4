#include "core/parallel.h"
#include "tessera/base.h"

#ifndef TSR_THREADS_POSIX

#include <omp.h>
#include <pthread.h>
#include <sys/resource.h>

/* The runtime of OpenMP ends the process where the system makes no thread. So it is asked before, by threads that only wait, for as many as are new: with
 * a bounded address space whenever the team grows, else once for every size. Half of what could be made is taken, the rest is for the work. */
enum { MOST_PROBED = 4096 };

static void *wait_at_gate(void *user)
{
    pthread_mutex_t *gate = (pthread_mutex_t *)user;
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* Can `count` threads be there at once? The number that can. */
static int probe_threads(int count)
{
    pthread_t thread[MOST_PROBED];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int made = 0;
    if (count > MOST_PROBED) count = MOST_PROBED;
    pthread_mutex_lock(&gate);
    while (made < count && !pthread_create(&thread[made], NULL, wait_at_gate, &gate)) made++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < made; i++) pthread_join(thread[i], NULL);
    return made;
}

static int team_of(int threads)
{
    static _Thread_local int proven = 1, last = 1, most = MOST_PROBED; /* each thread of the host program has a team of its own */
    struct rlimit space;
    if (threads > most) threads = most;
    if (threads <= last) return last = threads; /* they are there */
    const int bounded = !getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY;
    if (threads > proven || bounded) {
        const int made = probe_threads(threads - last);
        if (made < threads - last) return last = most = last + made / 2;
        if (threads > proven) proven = threads;
    }
    return last = threads;
}

static int threads_of_machine(void) { return omp_get_max_threads(); }

void tsr_parallel(int threads, int64_t count, int64_t grain, tsr_parallel_body body, void *user)
{
    if (grain < 1) grain = 1;
    int64_t chunks = (count + grain - 1) / grain;
    if (threads > chunks) threads = (int)chunks;
    if (threads <= 1 || omp_in_parallel()) {
        if (count > 0) body(user, 0, count, 0);
        return;
    }
    threads = team_of(threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t c = 0; c < chunks; c++) {
        int64_t begin = c * grain, end = begin + grain < count ? begin + grain : count;
        body(user, begin, end, omp_get_thread_num());
    }
}

#else /* plain threads, for sanitizers: they understand them, not the runtimes of OpenMP */

#include <pthread.h>
#include <unistd.h>

static int threads_of_machine(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

struct job {
    int64_t count, grain, next;
    tsr_parallel_body body;
    void *user;
};
struct worker {
    struct job *job;
    int index;
    pthread_t thread;
};

static _Thread_local int inside;

static void *work(void *argument)
{
    struct worker *worker = (struct worker *)argument;
    struct job *job = worker->job;
    inside = 1;
    for (;;) {
        int64_t begin = __atomic_fetch_add(&job->next, job->grain, __ATOMIC_RELAXED);
        if (begin >= job->count) break;
        int64_t end = begin + job->grain < job->count ? begin + job->grain : job->count;
        job->body(job->user, begin, end, worker->index);
    }
    inside = 0;
    return 0;
}

void tsr_parallel(int threads, int64_t count, int64_t grain, tsr_parallel_body body, void *user)
{
    enum { MOST = 64 };
    if (grain < 1) grain = 1;
    int64_t chunks = (count + grain - 1) / grain;
    if (threads > chunks) threads = (int)chunks;
    if (threads > MOST) threads = MOST;
    if (threads <= 1 || inside) {
        if (count > 0) body(user, 0, count, 0);
        return;
    }
    struct job job = { count, grain, 0, body, user };
    struct worker workers[MOST];
    int started = 0;
    for (int i = 1; i < threads; i++) {
        workers[i] = (struct worker){ &job, i, 0 };
        if (pthread_create(&workers[i].thread, 0, work, &workers[i])) break;
        started = i;
    }
    workers[0] = (struct worker){ &job, 0, 0 };
    work(&workers[0]);
    for (int i = 1; i <= started; i++) pthread_join(workers[i].thread, 0);
}

#endif

static _Thread_local int32_t asked;

void tsr_threads_set(int32_t threads) { asked = threads > 0 ? threads : 0; }
int tsr_parallel_default_threads(void) { return asked > 0 ? asked : threads_of_machine(); }
