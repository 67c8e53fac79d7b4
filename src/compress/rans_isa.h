/* compress/rans_isa.h: streams of the coder rans on a CPU. Class exact. */
#ifndef TSR_COMPRESS_RANS_ISA_H
#define TSR_COMPRESS_RANS_ISA_H

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

#include "device/isa.h"
#include "compress/fast_planes.h"
#include "compress/rans.h"

enum { TSR_RANS_ROWS = 32 }; /* contexts from the last two on are like these: contexts, and so tables, in a vector of 16-bit words */
typedef struct tsr_rans_lookup {
    uint32_t slot[TSR_RANS_TABLES][TSR_RANS_SLOTS]; /* token | slots since the token's first << 4 | frequency << 16 */
    uint16_t first[TSR_RANS_TOKENS][TSR_RANS_ROWS]; /* slot at which a token begins in the table of a context */
    uint8_t expand[256][8];                         /* for every set bit of a mask the number of those below it */
} tsr_rans_lookup;
void tsr_rans_lookup_fill(const tsr_rans_model *model, tsr_rans_lookup *lookup);

/* ---- contexts of a vector at a time: no compiler makes vectors of a loop over floats and their bits ------------------------------------------------ */

#if defined(__AVX512BW__)
enum { TSR_RANS_CHUNK = 16 };
#else
enum { TSR_RANS_CHUNK = 8 };
#endif
typedef uint32_t tsr_rans_chunk __attribute__((vector_size(4 * TSR_RANS_CHUNK)));

static inline void tsr_rans_widen(const uint16_t *from, tsr_rans_chunk *to)
{
#if defined(__AVX512BW__) /* of which GCC 12 makes two halves */
    *to = (tsr_rans_chunk)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)from));
#else
    typedef uint16_t halves __attribute__((vector_size(2 * TSR_RANS_CHUNK)));
    halves h;
    memcpy(&h, from, sizeof h);
    *to = __builtin_convertvector(h, tsr_rans_chunk);
#endif
}
static inline void tsr_rans_contexts(const tsr_rans_chunk *energy, uint8_t *context)
{
    typedef int32_t ints __attribute__((vector_size(4 * TSR_RANS_CHUNK)));
    typedef float floats __attribute__((vector_size(4 * TSR_RANS_CHUNK)));
    const ints c = TSR_RANS_OCTAVES((ints) __builtin_convertvector((ints)*energy, floats));
#if defined(__AVX512BW__)
    _mm_storeu_si128((void *)context, _mm512_cvtepi32_epi8(_mm512_max_epi32((__m512i)c, _mm512_setzero_si512())));
#else
    typedef uint8_t bytes __attribute__((vector_size(TSR_RANS_CHUNK)));
    const bytes some = __builtin_convertvector(c & (c > 0), bytes);
    memcpy(context, &some, sizeof some);
#endif
}

/* How often each token follows each table, from many streams. */
typedef struct tsr_rans_counts {
    uint64_t count[TSR_RANS_TABLES][TSR_RANS_TOKENS];
} tsr_rans_counts;
void tsr_rans_model_fit(const tsr_rans_counts *counts, tsr_rans_model *model);

/* Details of one resolution to a stream, or, without a model, into counts alone. No stream (size 0) where all are 0. */
tsr_status tsr_rans_encode(const tsr_planes_band *bands, int32_t count, int narrow, const tsr_rans_model *model, tsr_rans_counts *counts,
                           tsr_planes_stream *stream);

/* ---- rows whose contexts somebody else knows ---------------------------------------------------------------------------------------------------------- */

typedef struct tsr_rans_row {
    int32_t *v;
    const uint8_t *context; /* below TSR_RANS_CONTEXTS */
    int32_t n;
} tsr_rans_row;
/* A stream of rows, each a group of its own, or, without a model, into counts alone; `start` stands in it. The bytes are malloc's. */
tsr_status tsr_rans_encode_rows(const tsr_rans_row *rows, int64_t count, int32_t start, const tsr_rans_model *model, tsr_rans_counts *counts,
                                uint8_t **bytes, size_t *size);
/* The way back. row(user, k) says where row k goes, and finds its contexts when those before it are there. Any bytes give coefficients. */
TSR_ISA_DECLARE(void, tsr_rans_decode_rows, const uint8_t *bytes, size_t size, const tsr_rans_lookup *lookup, int64_t rows,
                tsr_rans_row (*row)(void *user, int64_t k), void *user)
static inline int32_t tsr_rans_start_of(const uint8_t *bytes, size_t size) { return size > 1 ? tsr_rans_start(bytes[1]) : 0; }

#endif
