/* The part of GCC's OpenMP runtime that the library uses, for the wheel: `parallel for` with a dynamic schedule, on a team of threads that stays. GCC's own is
 * no static library for shared objects, and a copy of it beside the copies of other packages in one process is a known source of trouble. Unlike it, this
 * one works on in a process that was forked (multiprocessing): the child makes a team of its own.
 *
 * The names and their arguments are those that GCC calls (libgomp's manual, "The libgomp ABI"). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 256 };

/* One parallel region. Its loop is the only one in it: GCC makes of `parallel for` a region that asks for ranges until there are none. */
struct region {
    void (*body)(void *);
    void *data;
    long next, end, step; /* in iterations of the loop */
    int started;          /* the loop's bounds stand */
    int threads;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct region *region; /* what the team works on */
    unsigned long number;  /* counts regions */
    int threads, wanted, left;
    pthread_mutex_t owner; /* of the team: one region at a time, a second thread of the host works alone */
} team = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER, .owner = PTHREAD_MUTEX_INITIALIZER
};

static __thread struct region *inside;
static __thread int number;

static void run(struct region *region, int which)
{
    struct region *outer = inside;
    const int was = number;
    inside = region;
    number = which;
    region->body(region->data);
    inside = outer;
    number = was;
}

/* Regions often follow each other closely: some microseconds of looking are cheaper than sleep. Returns when *place is no longer `value`, or then. */
static void linger(const unsigned long *place, unsigned long value)
{
    for (int k = 0; k < 2000 && __atomic_load_n(place, __ATOMIC_RELAXED) == value; k++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#else
        sched_yield();
#endif
    }
}

static void *member(void *argument)
{
    const int which = (int)(long)argument;
    unsigned long seen = 0;
    pthread_mutex_lock(&team.lock);
    for (;;) {
        while (team.number == seen || which > team.wanted) {
            if (which > team.wanted) seen = team.number;
            pthread_mutex_unlock(&team.lock);
            linger(&team.number, seen);
            pthread_mutex_lock(&team.lock);
            if (team.number == seen) pthread_cond_wait(&team.work, &team.lock);
        }
        seen = team.number;
        struct region *region = team.region;
        pthread_mutex_unlock(&team.lock);
        run(region, which);
        pthread_mutex_lock(&team.lock);
        if (--team.left == 0) pthread_cond_signal(&team.done);
    }
    return NULL;
}

static void in_child(void) /* the threads are gone, and whoever held a lock with them */
{
    pthread_mutex_init(&team.lock, NULL);
    pthread_mutex_init(&team.owner, NULL);
    pthread_cond_init(&team.work, NULL);
    pthread_cond_init(&team.done, NULL);
    team.threads = team.wanted = team.left = 0;
    team.region = NULL;
}

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }

static void grow(int threads) /* the lock is held; the caller is one of them */
{
    pthread_attr_t attributes;
    sigset_t all, before; /* signals are for the threads of the host */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (pthread_t made; team.threads < threads - 1; team.threads++)
        if (pthread_create(&made, &attributes, member, (void *)(long)(team.threads + 1))) break;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags)
{
    (void)flags;
    struct region region = { .body = body, .data = data };
    if (threads > MOST) threads = MOST;
    if (threads < 2 || inside || pthread_mutex_trylock(&team.owner)) { /* alone; a team that works for another thread is not waited for */
        region.threads = 1;
        run(&region, 0);
        return;
    }
    pthread_mutex_lock(&team.lock);
    if (team.threads < (int)threads - 1) grow((int)threads);
    team.wanted = team.left = team.threads < (int)threads - 1 ? team.threads : (int)threads - 1;
    region.threads = team.wanted + 1;
    team.region = &region;
    __atomic_store_n(&team.number, team.number + 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&team.work);
    pthread_mutex_unlock(&team.lock);
    run(&region, 0);
    pthread_mutex_lock(&team.lock);
    while (team.left) pthread_cond_wait(&team.done, &team.lock);
    team.region = NULL;
    pthread_mutex_unlock(&team.lock);
    pthread_mutex_unlock(&team.owner);
}

bool GOMP_loop_nonmonotonic_dynamic_next(long *begin, long *end)
{
    struct region *r = inside;
    const long from = __atomic_fetch_add(&r->next, r->step, __ATOMIC_RELAXED);
    if (from >= r->end) return false;
    *begin = from;
    *end = from + r->step < r->end ? from + r->step : r->end;
    return true;
}

bool GOMP_loop_nonmonotonic_dynamic_start(long start, long stop, long increment, long chunk, long *begin, long *end)
{
    struct region *r = inside;
    if (increment != 1) abort(); /* the library has no such loop */
    int fresh = 0;
    /* The first one writes the bounds, the others wait for that: a few stores. */
    if (__atomic_compare_exchange_n(&r->started, &fresh, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        r->next = start;
        r->end = stop;
        r->step = chunk;
        __atomic_store_n(&r->started, 2, __ATOMIC_RELEASE);
    } else
        while (__atomic_load_n(&r->started, __ATOMIC_ACQUIRE) != 2) sched_yield();
    return GOMP_loop_nonmonotonic_dynamic_next(begin, end);
}

void GOMP_loop_end_nowait(void) {}

int omp_get_thread_num(void) { return number; }
int omp_in_parallel(void) { return inside && inside->threads > 1; }

int omp_get_max_threads(void)
{
    const char *wanted = getenv("OMP_NUM_THREADS");
    const int asked = wanted ? atoi(wanted) : 0;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    int there = sched_getaffinity(0, sizeof cpus, &cpus) ? (int)sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&cpus);
    if (asked > 0) there = asked;
    return there < 1 ? 1 : there > MOST ? MOST : there;
}
