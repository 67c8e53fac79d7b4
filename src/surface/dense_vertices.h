/* surface/dense_vertices.h: vertices of a dense volume on the CPU, by batches; part of dense_isa.c.
 *
 * The cut edges of some hundred words are listed as codes in the order of their vertices; vector loops then fetch the samples of their ends and
 * make the positions. Same numbers as tsr_vertex. */
#ifndef TSR_SURFACE_DENSE_VERTICES_H
#define TSR_SURFACE_DENSE_VERTICES_H

#include "surface/surface_isa.h"
#include "surface/vertex_store.h"
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

enum { BATCH_WORDS = 128, BATCH_FULL = 512, BATCH_LANES = 16, BATCH_ROOM = BATCH_FULL + 96 + BATCH_LANES };

typedef struct batch {
    int32_t count, words;
    uint32_t code[BATCH_ROOM];                             /* word of the batch << 16 | axis << 8 | sample of the word */
    int64_t at[BATCH_WORDS];                               /* of a word: its first sample in the volume */
    double x[BATCH_WORDS], y[BATCH_WORDS], z[BATCH_WORDS]; /* and the index of that sample */
    double lower[BATCH_ROOM], upper[BATCH_ROOM], share[BATCH_ROOM];
    float px[BATCH_ROOM], py[BATCH_ROOM], pz[BATCH_ROOM], position[3 * BATCH_ROOM], normal[3 * BATCH_ROOM];
} batch;

#define ENDS_OF(name, type)                                                                           \
    static void ends_##name(const type *data, const int64_t step[3], int32_t n, batch *b)             \
    {                                                                                                 \
        const int64_t step_y = step[1], step_z = step[2];                                             \
        _Pragma("omp simd") for (int32_t k = 0; k < n; k++)                                           \
        {                                                                                             \
            int64_t code = b->code[k], at = b->at[code >> 16] + (code & 255), axis = code >> 8 & 255; \
            b->lower[k] = (double)data[at];                                                           \
            b->upper[k] = (double)data[at + (axis == 0 ? 1 : axis == 1 ? step_y : step_z)];           \
        }                                                                                             \
    }
ENDS_OF(u8, uint8_t)
ENDS_OF(i8, int8_t)
ENDS_OF(u16, uint16_t)
ENDS_OF(i16, int16_t)
ENDS_OF(u32, uint32_t)
ENDS_OF(i32, int32_t)
ENDS_OF(u64, uint64_t)
ENDS_OF(i64, int64_t)
ENDS_OF(f32, float)
ENDS_OF(f64, double)

static inline tsr_word_place batch_place(const tsr_surface_grid *g, const batch *b, uint32_t code)
{
    return (tsr_word_place){ .x = (int64_t)b->x[code >> 16] + g->pad,
                             .y = (int64_t)b->y[code >> 16] + g->pad,
                             .z = (int64_t)b->z[code >> 16] + g->pad - g->slab };
}

/* Samples at both ends of every edge; with a pad some lie beyond the volume. */
static void batch_ends(const tsr_surface_grid *g, int32_t n, batch *b)
{
    const int64_t step[3] = { 1, g->stored[0], g->stored[0] * g->stored[1] };
    if (g->pad) {
        for (int32_t k = 0; k < n; k++) {
            uint32_t code = b->code[k], axis = code >> 8 & 255;
            int32_t bit = (int32_t)(code & 255);
            tsr_word_place p = batch_place(g, b, code);
            b->lower[k] = tsr_sample(g, &p, bit, 0, 0);
            b->upper[k] = tsr_sample(g, &p, bit + (axis == 0), axis == 1, axis == 2);
        }
        return;
    }
    switch (g->dtype) {
    case TSR_U8: ends_u8((const uint8_t *)g->data, step, n, b); break;
    case TSR_I8: ends_i8((const int8_t *)g->data, step, n, b); break;
    case TSR_U16: ends_u16((const uint16_t *)g->data, step, n, b); break;
    case TSR_I16: ends_i16((const int16_t *)g->data, step, n, b); break;
    case TSR_U32: ends_u32((const uint32_t *)g->data, step, n, b); break;
    case TSR_I32: ends_i32((const int32_t *)g->data, step, n, b); break;
    case TSR_U64: ends_u64((const uint64_t *)g->data, step, n, b); break;
    case TSR_I64: ends_i64((const int64_t *)g->data, step, n, b); break;
    case TSR_F32: ends_f32((const float *)g->data, step, n, b); break;
    default: ends_f64((const double *)g->data, step, n, b); break;
    }
}

/* x0 y0 z0 x1 y1 z1 ... */
static void batch_interleave(int32_t n, const batch *b, float *to)
{
#if defined(__AVX512BW__)
    _Alignas(64) static const int32_t from[3][2][16] = {
        /* [vector of the result][x and y, then z] */
        { { 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5 }, { 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15 } },
        { { 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26 }, { 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15 } },
        { { 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0 }, { 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31 } }
    };
    for (int32_t k = 0; k < n; k += 16) {
        const __m512 x = _mm512_loadu_ps(b->px + k), y = _mm512_loadu_ps(b->py + k), z = _mm512_loadu_ps(b->pz + k);
        for (int32_t v = 0; v < 3; v++) {
            const __m512 xy = _mm512_permutex2var_ps(x, _mm512_load_si512(from[v][0]), y);
            _mm512_storeu_ps(to + 3 * k + 16 * v, _mm512_permutex2var_ps(xy, _mm512_load_si512(from[v][1]), z));
        }
    }
#else
    for (int32_t k = 0; k < n; k++) {
        to[3 * k] = b->px[k];
        to[3 * k + 1] = b->py[k];
        to[3 * k + 2] = b->pz[k];
    }
#endif
}

static void batch_flush(const tsr_surface_grid *g, batch *b, tsr_vertex_arena *arena)
{
    const double isovalue = g->cut;
    const int32_t count = b->count, n = (count + BATCH_LANES - 1) / BATCH_LANES * BATCH_LANES; /* no remainders: the last vectors repeat a vertex */
    if (!count) return;
    for (int32_t k = count; k < n; k++) b->code[k] = b->code[0];
    batch_ends(g, n, b);
#pragma omp simd
    for (int32_t k = 0; k < n; k++) {
        int64_t code = b->code[k], word = code >> 16, axis = code >> 8 & 255;
        double t = tsr_vertex_share(isovalue, b->lower[k], b->upper[k]);
        double i = b->x[word] + (double)(code & 255) + (axis == 0 ? t : 0.0), j = b->y[word] + (axis == 1 ? t : 0.0),
               l = b->z[word] + (axis == 2 ? t : 0.0);
        b->share[k] = t;
        b->px[k] = tsr_vertex_coordinate(g, 0, i, j, l);
        b->py[k] = tsr_vertex_coordinate(g, 1, i, j, l);
        b->pz[k] = tsr_vertex_coordinate(g, 2, i, j, l);
    }
    float *room = g->normals ? NULL : tsr_store_room(arena, n);
    batch_interleave(n, b, room ? room : b->position);
    for (int32_t k = 0; k < count && g->normals; k++) {
        tsr_word_place p = batch_place(g, b, b->code[k]);
        tsr_vertex_normal(g, &p, (int32_t)(b->code[k] & 255), (int32_t)(b->code[k] >> 8 & 255), b->lower[k], b->upper[k], b->share[k],
                          b->normal + 3 * k);
    }
    if (room) arena->count += count;
    else tsr_store_append(arena, b->position, g->normals ? b->normal : NULL, count);
    b->count = b->words = 0;
}

/* Lists the cut edges that the word at (x, y, z), padded coordinates, owns: by sample, then axis. */
static inline void batch_list(const tsr_surface_grid *g, int64_t x, int64_t y, int64_t z, tsr_edge_bits e, batch *b, tsr_vertex_arena *arena)
{
    if (b->count > BATCH_FULL || b->words == BATCH_WORDS) batch_flush(g, b, arena);
    const int32_t word = b->words++;
    uint32_t ex = (uint32_t)e.x, ey = (uint32_t)e.y, ez = (uint32_t)e.z, *code = b->code + b->count;
    b->at[word] = ((z - g->pad) * g->stored[1] + y - g->pad) * g->stored[0] + x - g->pad;
    b->x[word] = (double)(x - g->pad);
    b->y[word] = (double)(y - g->pad);
    b->z[word] = (double)(z + g->slab - g->pad);
    for (uint32_t m = ex | ey | ez; m; m &= m - 1) { /* without a branch on the axis: all three are written, the cut ones are kept */
        uint32_t bit = (uint32_t)tsr_bits_first(m), at = (uint32_t)word << 16 | bit;
        *code = at;
        code += ex >> bit & 1;
        *code = at | 1u << 8;
        code += ey >> bit & 1;
        *code = at | 2u << 8;
        code += ez >> bit & 1;
    }
    b->count = (int32_t)(code - b->code);
}

#endif
