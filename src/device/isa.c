#include "device/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[TSR_ISA_COUNT] = { "base", "avx2", "avx512" };
static tsr_isa detected;
static int forced = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

const char *tsr_isa_name(tsr_isa isa) { return names[isa]; }

#if defined(__x86_64__)
/* Not every compiler's __builtin_cpu_supports knows the word. */
static int has_lzcnt(void)
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c >> 5 & 1);
}

/* All that the flags of a variant allow its code (cmake/TesseraRooms.cmake): a virtual machine may hide any one of them. */
static tsr_isa of_this_machine(void)
{
    __builtin_cpu_init();
#define HAS(feature) (__builtin_cpu_supports(feature) != 0)
    const int avx2 = HAS("avx2") && HAS("bmi") && HAS("bmi2") && HAS("popcnt") && has_lzcnt();
    const int avx512 = avx2 && HAS("avx512f") && HAS("avx512bw") && HAS("avx512dq") && HAS("avx512vl") && HAS("avx512cd");
#undef HAS
    return avx512 ? TSR_ISA_AVX512 : avx2 ? TSR_ISA_AVX2 : TSR_ISA_BASE;
}
#else
static tsr_isa of_this_machine(void) { return TSR_ISA_BASE; }
#endif

static void detect(void)
{
    detected = of_this_machine();
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
