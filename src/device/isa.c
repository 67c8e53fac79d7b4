#include "device/isa.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[TSR_ISA_COUNT] = { "base", "avx2", "avx512" };
static tsr_isa detected;
static int forced = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

const char *tsr_isa_name(tsr_isa isa) { return names[isa]; }

static void detect(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) detected = TSR_ISA_AVX2;
    if (detected == TSR_ISA_AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        detected = TSR_ISA_AVX512;
#endif
    const char *wish = getenv("TESSERA_ISA");
    for (int i = 0; wish && i < TSR_ISA_COUNT; i++)
        if (!strcmp(wish, names[i]) && i < (int)detected) detected = (tsr_isa)i;
}

tsr_isa tsr_isa_current(void)
{
    pthread_once(&once, detect);
    int wish = __atomic_load_n(&forced, __ATOMIC_RELAXED);
    return wish >= 0 && wish < (int)detected ? (tsr_isa)wish : detected;
}

void tsr_isa_force(int isa) { __atomic_store_n(&forced, isa, __ATOMIC_RELAXED); }
