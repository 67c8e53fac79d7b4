/* surface/sides_cuda.h: on which side of the isovalue a sample lies, one bit each; part of surface_cuda.cu. Bound: the samples are read once. */
#ifndef TSR_SURFACE_SIDES_CUDA_H
#define TSR_SURFACE_SIDES_CUDA_H

#include "device/dependent_launch.h"
#include "surface/cells.h"

TSR_DEVICE_FN int side(const tsr_side &s, uint8_t v) { return TSR_SIDE_INTEGER(v, (uint8_t)s.u, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, int8_t v) { return TSR_SIDE_INTEGER(v, (int8_t)s.i, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, uint16_t v) { return TSR_SIDE_INTEGER(v, (uint16_t)s.u, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, int16_t v) { return TSR_SIDE_INTEGER(v, (int16_t)s.i, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, uint32_t v) { return TSR_SIDE_INTEGER(v, (uint32_t)s.u, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, int32_t v) { return TSR_SIDE_INTEGER(v, (int32_t)s.i, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, uint64_t v) { return TSR_SIDE_INTEGER(v, s.u, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, int64_t v) { return TSR_SIDE_INTEGER(v, s.i, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, float v) { return TSR_SIDE_REAL(v, s.f, s.below); }
TSR_DEVICE_FN int side(const tsr_side &s, double v) { return TSR_SIDE_REAL(v, s.d, s.below); }

TSR_DEVICE_FN void add_total(uint64_t *total, uint32_t own)
{
    uint32_t sum = __reduce_add_sync(TSR_WARP_ALL, own);
    if ((threadIdx.x & 31) == 0 && sum) atomicAdd((unsigned long long *)total, (unsigned long long)sum);
}

/* Of samples that are always numbers: nothing is added to the totals before all words are there, so that their kernel clears them. */
TSR_DEVICE_FN void begin_totals(const tsr_surface_grid &g)
{
    const tsr_surface_totals none = { 0, 0, 0, 0, 0, 0 };
    if (blockIdx.x == 0 && threadIdx.x == 0) *g.totals = none;
}

/* A warp makes 32 words, one ballot each: reads and writes are coalesced. */
template <class T> TSR_KERNEL(rows_kernel)(tsr_surface_grid g)
{
    const T *TSR_RESTRICT data = (const T *)g.data;
    tsr_chained();
    uint32_t lane = threadIdx.x & 31, word_bits = 0, not_a_number = 0;
    int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) - lane;
    if (first >= g.words) return;
    if (!g.pad && g.stored[0] % 32 == 0 && first + 32 <= g.words) {
        const T *from = data + first * 32 + lane;
#pragma unroll 8
        for (uint32_t k = 0; k < 32; k++) {
            T v = from[k * 32];
            uint32_t bits = __ballot_sync(TSR_WARP_ALL, side(g.side, v));
            not_a_number += !(v == v);
            if (lane == k) word_bits = bits;
        }
    } else {
        int64_t row = -1; /* index of the row's first sample, of the word this lane will own */
        int32_t x = 0;
        if (first + lane < g.words) {
            tsr_word_place p;
            tsr_word_locate(&g, first + lane, &p);
            int64_t y = p.y - g.pad, z = p.z - g.pad;
            if (y >= 0 && z >= 0 && y < g.stored[1] && z < g.stored[2]) row = (z * g.stored[1] + y) * g.stored[0];
            x = (int32_t)p.x - g.pad;
        }
#pragma unroll 4
        for (uint32_t k = 0; k < 32; k++) {
            int64_t from = __shfl_sync(TSR_WARP_ALL, row, (int)k), at = __shfl_sync(TSR_WARP_ALL, x, (int)k) + (int64_t)lane;
            int inside = 0;
            if (from >= 0 && at >= 0 && at < g.stored[0]) {
                T v = data[from + at];
                inside = side(g.side, v);
                not_a_number += !(v == v);
            }
            uint32_t bits = __ballot_sync(TSR_WARP_ALL, inside);
            if (lane == k) word_bits = bits;
        }
    }
    if (first + lane < g.words) g.bits[first + lane] = word_bits;
    if ((T)0.5 != (T)0) add_total(&g.totals->not_a_number, not_a_number);
    else begin_totals(g);
}

/* Rows of whole words of bytes, 16-bit numbers or float32: a lane takes 16 bytes at a time, WIDE_LOADS of them ahead, and the lanes that hold the parts of a word
 * put them together: of as many loads as a word has parts every lane ends with one word. */
enum { WIDE_LOADS = 8, WIDE_WARPS = TSR_BLOCK_WORDS / 32 };
template <class T> struct wide_rows {
    enum {
        SAMPLES = 16 / sizeof(T),
        PARTS = 32 / SAMPLES,
        ROUNDS = WIDE_LOADS / PARTS,
        WORDS = 32 * ROUNDS * WIDE_WARPS /* of a block of threads */
    };
};
TSR_DEVICE_FN uint32_t wide_side(const tsr_side_packed &s, const uint4 &v, const uint8_t *)
{
    return (tsr_side_of_bytes(s, v.x) | tsr_side_of_bytes(s, v.y) << 4 | tsr_side_of_bytes(s, v.z) << 8 | tsr_side_of_bytes(s, v.w) << 12) ^ s.invert;
}
TSR_DEVICE_FN uint32_t wide_side(const tsr_side_packed &s, const uint4 &v, const uint16_t *)
{
    return tsr_side_of_halves(s, v.x, v.y, v.z, v.w) ^ s.invert;
}
TSR_DEVICE_FN tsr_side_packed wide_setup(const tsr_side &s, const uint8_t *) { return tsr_side_packed_of((uint32_t)(uint8_t)s.u, 8, 0, s.invert); }
TSR_DEVICE_FN tsr_side_packed wide_setup(const tsr_side &s, const int8_t *) { return tsr_side_packed_of((uint32_t)(s.i + 128), 8, 1, s.invert); }
TSR_DEVICE_FN tsr_side_packed wide_setup(const tsr_side &s, const uint16_t *) { return tsr_side_packed_of((uint32_t)(uint16_t)s.u, 16, 0, s.invert); }
TSR_DEVICE_FN tsr_side_packed wide_setup(const tsr_side &s, const int16_t *) { return tsr_side_packed_of((uint32_t)(s.i + 32768), 16, 1, s.invert); }
TSR_DEVICE_FN uint32_t wide_side(const tsr_side_packed &s, const uint4 &v, const int8_t *) { return wide_side(s, v, (const uint8_t *)0); }
TSR_DEVICE_FN uint32_t wide_side(const tsr_side_packed &s, const uint4 &v, const int16_t *) { return wide_side(s, v, (const uint16_t *)0); }
TSR_DEVICE_FN tsr_side wide_setup(const tsr_side &s, const float *) { return s; }
TSR_DEVICE_FN float as_float(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
TSR_DEVICE_FN uint32_t wide_side(const tsr_side &s, const uint4 &v, const float *)
{
    return (uint32_t)side(s, as_float(v.x)) | (uint32_t)side(s, as_float(v.y)) << 1 | (uint32_t)side(s, as_float(v.z)) << 2 |
           (uint32_t)side(s, as_float(v.w)) << 3;
}
template <class T> TSR_DEVICE_FN uint32_t wide_not_a_number(const uint4 &, const T *) { return 0; }
TSR_DEVICE_FN uint32_t wide_not_a_number(const uint4 &v, const float *)
{
    const float a = as_float(v.x), b = as_float(v.y), c = as_float(v.z), d = as_float(v.w);
    return (uint32_t) !(a == a) + (uint32_t) !(b == b) + (uint32_t) !(c == c) + (uint32_t) !(d == d);
}

template <class T> TSR_KERNEL(__launch_bounds__(TSR_BLOCK_WORDS) rows_wide_kernel)(tsr_surface_grid g)
{
    enum { PARTS = wide_rows<T>::PARTS, ROUNDS = wide_rows<T>::ROUNDS, SAMPLES = wide_rows<T>::SAMPLES };
    const T *const kind = 0;
    const auto s = wide_setup(g.side, kind);
    const uint32_t lane = threadIdx.x & 31, shift = SAMPLES * (lane % PARTS);
    const int64_t first = (int64_t)blockIdx.x * wide_rows<T>::WORDS + (threadIdx.x >> 5) * (32 * ROUNDS), pieces = g.words * PARTS;
    const uint4 *data = (const uint4 *)g.data + first * PARTS;
    uint4 v[WIDE_LOADS];
    uint32_t part[WIDE_LOADS], not_a_number = 0;
    tsr_chained();
    if ((T)0.5 == (T)0) begin_totals(g);
    if (first >= g.words) return;
    if ((first + 32 * ROUNDS) <= g.words) {
#pragma unroll
        for (int k = 0; k < WIDE_LOADS; k++) v[k] = __ldcs(data + 32 * k + lane);
    } else {
#pragma unroll
        for (int k = 0; k < WIDE_LOADS; k++) v[k] = first * PARTS + 32 * k + lane < pieces ? data[32 * k + lane] : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < WIDE_LOADS; k++) {
        part[k] = wide_side(s, v[k], kind) << shift;
        not_a_number += wide_not_a_number(v[k], kind);
    }
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
#pragma unroll
        for (int d = 1; d < PARTS;
             d <<= 1) { /* lanes that differ in d exchange half of what they hold: lane l ends with the word of load l mod PARTS */
            const int up = (lane & (uint32_t)d) != 0;
#pragma unroll
            for (int k = 0; k < PARTS / (2 * d); k++) {
                const uint32_t even = part[r * PARTS + 2 * k], odd = part[r * PARTS + 2 * k + 1];
                part[r * PARTS + k] = (up ? odd : even) | __shfl_xor_sync(TSR_WARP_ALL, up ? even : odd, d);
            }
        }
        const int64_t word = first + 32 * r + (int64_t)(lane % PARTS) * (32 / PARTS) + lane / PARTS;
        if (word < g.words) g.bits[word] = part[r * PARTS];
    }
    if ((T)0.5 != (T)0) add_total(&g.totals->not_a_number, not_a_number);
}
/* launch_rows of the element type: the wide kernel where a lane's 16 bytes never cross a row. */
template <class T> static void launch_rows(tsr_queue *queue, const tsr_surface_grid &g)
{
    TSR_LAUNCH_DEPENDENT(queue, rows_kernel<T>, (uint32_t)g.blocks, TSR_BLOCK_WORDS, 0, g);
}
template <class T> static void launch_wide(tsr_queue *queue, const tsr_surface_grid &g)
{
    if (!g.pad && g.stored[0] % 32 == 0)
        TSR_LAUNCH_DEPENDENT(queue, rows_wide_kernel<T>, tsr_blocks(g.words, wide_rows<T>::WORDS, INT32_MAX), TSR_BLOCK_WORDS, 0, g);
    else launch_rows<T>(queue, g);
}
static void launch_sides(tsr_queue *queue, const tsr_surface_grid &g)
{
    switch (g.dtype) {
    case TSR_U8: launch_wide<uint8_t>(queue, g); break;
    case TSR_I8: launch_wide<int8_t>(queue, g); break;
    case TSR_U16: launch_wide<uint16_t>(queue, g); break;
    case TSR_I16: launch_wide<int16_t>(queue, g); break;
    case TSR_U32: launch_rows<uint32_t>(queue, g); break;
    case TSR_I32: launch_rows<int32_t>(queue, g); break;
    case TSR_U64: launch_rows<uint64_t>(queue, g); break;
    case TSR_I64: launch_rows<int64_t>(queue, g); break;
    case TSR_F32: launch_wide<float>(queue, g); break;
    default: launch_rows<double>(queue, g); break;
    }
}

TSR_KERNEL(slots_kernel)(tsr_surface_grid g, int64_t tiles)
{
    int64_t tile = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (tile < tiles) g.slot_of[g.ids[tile]] = (uint32_t)tile;
}

/* One thread per voxel of the stored tiles; a ballot holds 4 or 8 words. */
TSR_KERNEL(tile_rows_kernel)(tsr_surface_grid g)
{
    int64_t voxel = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, word = voxel >> g.log2_edge;
    int32_t edge = 1 << g.log2_edge;
    int inside = 0, not_a_number = 0;
    if (word < g.words) {
        float v = g.phi[((int64_t)g.ids[voxel >> (3 * g.log2_edge)] << (3 * g.log2_edge)) | (voxel & (edge * edge * edge - 1))];
        inside = side(g.side, v);
        not_a_number = !(v == v);
    }
    uint32_t bits = __ballot_sync(TSR_WARP_ALL, inside);
    if (word < g.words && (voxel & (edge - 1)) == 0) g.bits[word] = bits >> (threadIdx.x & 31) & (uint32_t)tsr_bits_low(edge);
    add_total(&g.totals->not_a_number, (uint32_t)not_a_number);
}

#endif
