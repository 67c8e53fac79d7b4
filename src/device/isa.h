/* device/isa.h: SIMD variants of CPU loops, built from one template source and chosen at run time.
 *
 * A file NAME_isa.c is compiled once per variant with TSR_ISA = base, avx2, avx512; TSR_ISA_NAME(f) gives f_base, f_avx2, f_avx512.
 * TSR_ISA_DECLARE / TSR_ISA_SELECT declare the three and pick the one of this machine. All variants must give the same bits. */
#ifndef TSR_DEVICE_ISA_H
#define TSR_DEVICE_ISA_H

typedef enum tsr_isa { TSR_ISA_BASE = 0, TSR_ISA_AVX2, TSR_ISA_AVX512, TSR_ISA_COUNT } tsr_isa;

/* Best variant of this machine; environment TESSERA_ISA = base | avx2 | avx512 asks for a lower one. tsr_isa_force is for tests (-1 undoes). */
tsr_isa tsr_isa_current(void);
void tsr_isa_force(int isa);
const char *tsr_isa_name(tsr_isa isa);

#define TSR_ISA_GLUE_(name, isa) name##_##isa
#define TSR_ISA_GLUE(name, isa) TSR_ISA_GLUE_(name, isa)
#define TSR_ISA_NAME(name) TSR_ISA_GLUE(name, TSR_ISA)

#if defined(__x86_64__)
#define TSR_ISA_DECLARE(result, name, ...) result name##_base(__VA_ARGS__); result name##_avx2(__VA_ARGS__); result name##_avx512(__VA_ARGS__);
#define TSR_ISA_SELECT(name) (tsr_isa_current() == TSR_ISA_AVX512 ? name##_avx512 : tsr_isa_current() == TSR_ISA_AVX2 ? name##_avx2 : name##_base)
#else
#define TSR_ISA_DECLARE(result, name, ...) result name##_base(__VA_ARGS__);
#define TSR_ISA_SELECT(name) (name##_base)
#endif

#endif
