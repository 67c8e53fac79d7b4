/* What the wheel takes of glibc, in the versions that every Linux since 2018 (glibc 2.28, manylinux_2_28) has, though it is linked where glibc is newer: newer
 * ones have moved threads and dlopen into libc, where they count as new, and mathematics that sets no errno. A function here is the library's own, hidden from
 * others, and calls the old version. auditwheel finds what is missing here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define OLD "GLIBC_2.2.5"
#define STAT_VERSION 1
#elif defined(__aarch64__)
#define OLD "GLIBC_2.17"
#define STAT_VERSION 0
#else
#error "python/wheel/glibc.c: which version of glibc did this machine begin with?"
#endif

/* FUNCTION(type, name, (parameters), (arguments)) */
#define FUNCTION(type, name, parameters, arguments)   \
    extern type old_##name parameters;                \
    __asm__(".symver old_" #name ", " #name "@" OLD); \
    type name parameters;                             \
    type name parameters { return old_##name arguments; }

FUNCTION(double, exp, (double x), (x))
FUNCTION(double, exp2, (double x), (x))
FUNCTION(double, log, (double x), (x))
FUNCTION(double, log2, (double x), (x))
FUNCTION(double, pow, (double x, double y), (x, y))
FUNCTION(double, hypot, (double x, double y), (x, y))

FUNCTION(int, dladdr, (const void *address, Dl_info *info), (address, info))
FUNCTION(int, dlclose, (void *handle), (handle))
FUNCTION(char *, dlerror, (void), ())
FUNCTION(void *, dlopen, (const char *file, int mode), (file, mode))
FUNCTION(void *, dlsym, (void *restrict handle, const char *restrict name), (handle, name))

FUNCTION(int, pthread_create, (pthread_t *restrict made, const pthread_attr_t *restrict how, void *(*start)(void *), void *restrict user),
         (made, how, start, user))
FUNCTION(int, pthread_join, (pthread_t thread, void **result), (thread, result))
FUNCTION(int, pthread_once, (pthread_once_t * once, void (*function)(void)), (once, function))
FUNCTION(int, __pthread_key_create, (pthread_key_t * key, void (*destroy)(void *)), (key, destroy))
FUNCTION(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
FUNCTION(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
FUNCTION(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
FUNCTION(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))
FUNCTION(int, pthread_sigmask, (int how, const sigset_t *restrict set, sigset_t *restrict before), (how, set, before))
FUNCTION(int, pthread_barrier_init, (pthread_barrier_t *restrict barrier, const pthread_barrierattr_t *restrict how, unsigned count),
         (barrier, how, count))
FUNCTION(int, pthread_barrier_destroy, (pthread_barrier_t * barrier), (barrier))
FUNCTION(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))

/* Before 2.33 these were macros over functions that were told the layout of the struct. */
#define STATUS(name, old, first, value)                             \
    extern int old_##name(int version, first, struct stat *status); \
    __asm__(".symver old_" #name ", " #old "@" OLD);                \
    int name(first, struct stat *restrict status) { return old_##name(STAT_VERSION, value, status); }

STATUS(stat, __xstat, const char *restrict path, path)
STATUS(lstat, __lxstat, const char *restrict path, path)
STATUS(fstat, __fxstat, int file, file)

/* Static libraries are compiled for programs, which may address libc's variables directly; a shared object has copies of its own. */
#undef stdin
#undef stdout
#undef stderr
extern FILE *old_stdin, *old_stdout, *old_stderr;
__asm__(".symver old_stdin, stdin@" OLD);
__asm__(".symver old_stdout, stdout@" OLD);
__asm__(".symver old_stderr, stderr@" OLD);
FILE *stdin, *stdout, *stderr;
__attribute__((constructor(101))) static void take_streams(void)
{
    stdin = old_stdin;
    stdout = old_stdout;
    stderr = old_stderr;
}

/* Since 2.32, asked by libstdc++: "there may be other threads" is always right. */
char __libc_single_threaded;
