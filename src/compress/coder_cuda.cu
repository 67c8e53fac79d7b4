/* compress/coder_cuda.cu: streams of the coder rans on the GPU. A warp decodes a stream, 32 coefficients at a time, or takes the checksums of eight; a block
 * restores a brick in shared memory. Bound: 32 voxels cost a warp about 140 instructions to decode and 130 to restore (H200, chest CT); bytes moved are few. A
 * stream's groups follow each other: volumes of few bricks wait for the longest stream, 0.7 ms for the 28672 finest coefficients of a brick of 32^3. */
#include "device/block_memory.h"
#include "device/kernel.h"

#include "io/xxh64.h"
#include "compress/coder_ops.h"
#include "compress/raw_bricks.h"
#include "compress/restore.h"

/* Threads of a block that decodes: few where there are fewer long streams than warps to hold them, so that each multiprocessor has its share. */
enum { WARP = 32, FEW_BRICKS = 1024, FEW_THREADS = 64, MANY_THREADS = 256, RESTORE_THREADS = 512, QUAD = 4 };

/* Numbers of the file, at even places. */
TSR_DEVICE_FN uint32_t half_at(const uint8_t *p) { return *(const uint16_t *)(const void *)p; }
TSR_DEVICE_FN uint32_t word_at(const uint8_t *p) { return half_at(p) | half_at(p + 2) << 16; }
TSR_DEVICE_FN uint64_t long_at(const uint8_t *p) { return (uint64_t)word_at(p) | (uint64_t)word_at(p + 4) << 32; }

/* ---- checksums ------------------------------------------------------------------------------------------------------------------------------------- */

/* Four lanes take the four lanes of the sum; all of a warp arrive. */
TSR_DEVICE_FN void check_piece(const tsr_coder_job &j, int64_t number)
{
    const int32_t part = (int32_t)threadIdx.x % QUAD;
    const int exists = number < j.count * j.streams;
    tsr_coder_piece p = { 0, 0, 0, 0, 0, 0, 0 };
    if (exists) p = j.piece[number];
    const uint64_t seed = (uint64_t)p.seed_high << 32 | p.seed;
    uint64_t lane = part == 0 ? seed + TSR_XXH_1 + TSR_XXH_2 : part == 1 ? seed + TSR_XXH_2 : part == 2 ? seed : seed - TSR_XXH_1, all[QUAD];
    const uint8_t *at = j.bytes + p.offset, *end = at + (p.there ? p.bytes : 0);
    for (uint32_t k = 0; k < (p.there ? p.bytes / 32 : 0); k++, at += 32) lane = tsr_xxh_round(lane, long_at(at + 8 * part));
    __syncwarp();
    for (int k = 0; k < QUAD; k++) all[k] = __shfl_sync(TSR_WARP_ALL, lane, (int)(threadIdx.x % WARP) / QUAD * QUAD + k);
    if (part || !exists) return;
    uint64_t h = p.bytes >= 32 ? tsr_xxh_join(all) : seed + TSR_XXH_5;
    h += p.bytes;
    for (; end - at >= 8; at += 8) h = tsr_xxh_tail8(h, long_at(at));
    for (; end - at >= 4; at += 4) h = tsr_xxh_tail4(h, word_at(at));
    for (; end - at >= 1; at++) h = tsr_xxh_tail1(h, *at);
    const int good = p.there && (!p.bytes || (uint32_t)tsr_xxh_mix(h) == p.sum);
    j.good[number] = (uint8_t)good;
    if (!good) {
        atomicAdd(&j.report->bad, 1u);
        atomicMin(&j.report->first_bad, (uint32_t)number);
    }
}

/* ---- streams --------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct lane_reader {
    const uint8_t *words;
    uint32_t at, count, state;
    int32_t lane;
} lane_reader;

/* States that are too small take the next words, in the order of their lanes. */
TSR_DEVICE_FN void refill(lane_reader &r, int some)
{
    const int few = some && r.state < TSR_RANS_LEAST;
    const uint32_t all = __ballot_sync(TSR_WARP_ALL, few), i = r.at + (uint32_t)__popc(all & ((1u << r.lane) - 1));
    if (few) r.state = r.state << 16 | (i < r.count ? half_at(r.words + 2 * (int64_t)i) : 0);
    r.at += (uint32_t)__popc(all);
}

TSR_DEVICE_FN uint32_t take_plain(lane_reader &r, int32_t bits)
{
    const uint32_t v = r.state & ((1u << bits) - 1);
    r.state >>= bits;
    return v;
}

/* What follows the last token; all of a warp arrive. */
TSR_DEVICE_FN uint32_t escape(lane_reader &r, int mine, uint32_t above)
{
    const int32_t bits = mine ? (int32_t)take_plain(r, TSR_RANS_ESCAPE_BITS) : 0;
    refill(r, mine);
    uint32_t v = mine ? take_plain(r, tsr_mini(bits, 16)) : 0;
    refill(r, mine);
    if (bits > 16) v |= take_plain(r, bits - 16) << 16;
    refill(r, bits > 16);
    return mine ? (v | 1u << bits) + TSR_RANS_ESCAPE - 1 : above;
}

/* A band in work. */
typedef struct band_walk {
    int32_t *to; /* its coefficients */
    uint32_t *sum;
    int32_t s[3], low[3], reach, siblings, start;
    tsr_rans_weights weights[2]; /* where nothing lies before, where something does */
} band_walk;

TSR_DEVICE_FN int32_t context_of(const band_walk &w, int32_t x, int32_t y, int32_t z)
{
    const int before = w.reach == 2 ? z > 0 : w.reach && y > 0;
    if (!before && !w.siblings) return w.start;
    const int32_t nx = w.s[0], ny = w.s[1];
    const int32_t *row = w.to + ((int64_t)z * ny + y) * nx;
    uint32_t sum = 0;
    if (before && w.reach == 1) {
        const uint32_t at = tsr_rans_magnitude(row[x - nx]), left = x ? tsr_rans_magnitude(row[x - 1 - nx]) : at;
        sum = TSR_RANS_ROW_SUM(at, left);
    } else if (before) {
        const int32_t *p = row + x - nx * ny;
        sum = TSR_RANS_SLICE_SUM(tsr_rans_magnitude(p[0]), tsr_rans_magnitude(p[x ? -1 : 0]), tsr_rans_magnitude(p[x + 1 < nx ? 1 : 0]),
                                 tsr_rans_magnitude(p[y ? -nx : 0]), tsr_rans_magnitude(p[y + 1 < ny ? nx : 0]));
    }
    const uint32_t seen = w.siblings ? w.sum[((int64_t)z * w.low[1] + y) * w.low[0] + x] : 0;
    return tsr_rans_context(tsr_rans_energy(w.weights[before], sum, seen));
}

/* A coefficient is seen where it lies, and beyond the last where the low band is longer. */
TSR_DEVICE_FN void see(const band_walk &w, int32_t x, int32_t y, int32_t z, int32_t v)
{
    const int32_t mx = x + 1 == w.s[0] ? w.low[0] - w.s[0] : 0, my = y + 1 == w.s[1] ? w.low[1] - w.s[1] : 0,
                  mz = z + 1 == w.s[2] ? w.low[2] - w.s[2] : 0;
    for (int32_t c = z; c <= z + mz; c++)
        for (int32_t b = y; b <= y + my; b++)
            for (int32_t a = x; a <= x + mx; a++) {
                uint32_t *sum = w.sum + ((int64_t)c * w.low[1] + b) * w.low[0] + a;
                *sum = (w.siblings ? *sum : 0) + tsr_rans_magnitude(v);
            }
}

/* One coefficient of every lane that has one; all of a warp arrive. */
TSR_DEVICE_FN int32_t decode_group(lane_reader &r, int some, int32_t table, int32_t plain, const uint8_t *token, const uint32_t *share)
{
    uint32_t above = 0;
    if (some) {
        const uint32_t slot = r.state & (TSR_RANS_SLOTS - 1);
        above = token[table << TSR_RANS_BITS | (int32_t)slot];
        const uint32_t f = share[table * TSR_RANS_TOKENS + (int32_t)above];
        r.state = tsr_rans_advance(r.state, f & 0xffff, slot - (f >> 16));
    }
    refill(r, some);
    const int far = above == TSR_RANS_ESCAPE;
    if (__any_sync(TSR_WARP_ALL, far)) above = escape(r, far, above);
    const int32_t v = some ? tsr_rans_finish(&r.state, above, plain) : 0;
    refill(r, some);
    return v;
}

/* Place of a coefficient, 32 further from group to group. */
typedef struct place {
    int32_t x, y, z, dx, dy, dz;
} place;
TSR_DEVICE_FN void move_on(place &p, const int32_t *s)
{
    p.x += p.dx;
    const int32_t cx = p.x >= s[0];
    p.x -= cx ? s[0] : 0;
    p.y += p.dy + cx;
    const int32_t cy = p.y >= s[1];
    p.y -= cy ? s[1] : 0;
    p.z += p.dz + cy;
}

/* What is known of a coefficient before its group begins. */
typedef struct outlook {
    int32_t table, plain;
    uint32_t seen;
} outlook;
TSR_DEVICE_FN outlook look_ahead(const band_walk &w, int32_t i, const place &p)
{
    const int32_t nx = w.s[0], ny = w.s[1], before = p.z > 0;
    outlook o = { 0, 0, w.siblings ? w.sum[i] : 0 };
    uint32_t sum = 0;
    if (before) {
        const int32_t *q = w.to + i - nx * ny;
        sum = TSR_RANS_SLICE_SUM(tsr_rans_magnitude(q[0]), tsr_rans_magnitude(q[p.x ? -1 : 0]), tsr_rans_magnitude(q[p.x + 1 < nx ? 1 : 0]),
                                 tsr_rans_magnitude(q[p.y ? -nx : 0]), tsr_rans_magnitude(q[p.y + 1 < ny ? nx : 0]));
    }
    const int32_t context = before || w.siblings ? tsr_rans_context(tsr_rans_energy(w.weights[before], sum, o.seen)) : w.start;
    o.table = tsr_rans_table(context);
    o.plain = tsr_rans_plain(context);
    return o;
}

/* Bands as large as the low one whose slices hold three groups and more: the contexts of the next group are taken while this one is decoded, because a
 * warp waits for memory most of its time. */
TSR_DEVICE_FN void decode_even_band(lane_reader &r, band_walk &w, place p, const uint8_t *token, const uint32_t *share, int narrow, int last)
{
    const int32_t n = w.s[0] * w.s[1] * w.s[2];
    outlook now = { 0, 0, 0 };
    if (r.lane < n) now = look_ahead(w, r.lane, p);
    for (int32_t i = r.lane; i - r.lane < n; i += WARP) {
        outlook next = { 0, 0, 0 };
        move_on(p, w.s);
        if (i + WARP < n) next = look_ahead(w, i + WARP, p);
        int32_t v = decode_group(r, i < n, now.table, now.plain, token, share);
        if (i < n) {
            if (narrow) v = (int16_t)v;
            w.to[i] = v;
            if (!last) w.sum[i] = now.seen + tsr_rans_magnitude(v);
        }
        __syncwarp();
        now = next;
    }
}

TSR_DEVICE_FN void decode_band(lane_reader &r, band_walk &w, const uint8_t *token, const uint32_t *share, int narrow, int last)
{
    const int32_t nx = w.s[0], ny = w.s[1], n = nx * ny * w.s[2];
    place p = { r.lane % nx, r.lane / nx % ny, r.lane / nx / ny, WARP % nx, WARP / nx % ny, WARP / nx / ny };
    w.weights[0] = tsr_rans_weigh(0, w.siblings);
    w.weights[1] = tsr_rans_weigh(1, w.siblings);
    if (nx * (ny - 2) >= 2 * WARP && nx == w.low[0] && ny == w.low[1] && w.s[2] == w.low[2]) {
        decode_even_band(r, w, p, token, share, narrow, last);
        return;
    }
    for (int32_t i = r.lane; i - r.lane < n; i += WARP) {
        const int some = i < n;
        const int32_t context = some ? context_of(w, p.x, p.y, p.z) : 0;
        int32_t v = decode_group(r, some, tsr_rans_table(context), tsr_rans_plain(context), token, share);
        if (some) {
            if (narrow) v = (int16_t)v;
            w.to[i] = v;
            if (!last) see(w, p.x, p.y, p.z, v);
        }
        __syncwarp();
        move_on(p, w.s);
    }
}

/* Details of resolution r. */
TSR_DEVICE_FN void decode_details(const tsr_coder_job &j, const tsr_coder_brick &b, int64_t brick, int32_t resolution, const tsr_coder_piece &p,
                                  const uint8_t *token, const uint32_t *share)
{
    const uint8_t *from = j.bytes + p.offset;
    const uint32_t head = TSR_RANS_HEADER + TSR_RANS_STATES;
    lane_reader r;
    band_walk w;
    r.lane = (int32_t)threadIdx.x % WARP;
    r.words = from + head;
    r.at = 0;
    r.count = p.bytes > head ? (p.bytes - head) / 2 : 0;
    r.state = p.bytes >= (uint32_t)(TSR_RANS_HEADER + 4 * r.lane + 4) ? word_at(from + TSR_RANS_HEADER + 4 * r.lane) : 0;
    w.to = j.coefficient + brick * j.coefficients + tsr_coder_before(&b, resolution);
    w.sum = j.sum + brick * j.sums + tsr_coder_sums_before(&b, resolution);
    w.siblings = 0;
    w.start = tsr_rans_start(from[1]);
    const int narrow = from[0] == 2;
    for (int k = 1; k < 8; k++) {
        for (int a = 0; a < 3; a++) {
            const int32_t e = tsr_coder_extent(&b, resolution, a);
            w.low[a] = (e + 1) / 2;
            w.s[a] = k >> a & 1 ? e / 2 : w.low[a];
        }
        if (!w.s[0] || !w.s[1] || !w.s[2]) continue;
        w.reach = tsr_rans_reach(w.s[0], w.s[1]);
        decode_band(r, w, token, share, narrow, k == 7);
        w.to += w.s[0] * w.s[1] * w.s[2];
        w.siblings++;
    }
}

/* The approximation, in packed blocks. */
TSR_DEVICE_FN void decode_blocks(const tsr_coder_job &j, const tsr_coder_brick &b, int64_t brick, const tsr_coder_piece &p)
{
    const uint8_t *from = j.bytes + p.offset;
    const int32_t lane = (int32_t)threadIdx.x % WARP, n = (int32_t)tsr_coder_before(&b, 1), blocks = (n + WARP - 1) / WARP, narrow = from[0] == 2;
    int32_t *to = j.coefficient + brick * j.coefficients;
    const int32_t widths = TSR_RANS_HEADER + blocks + (blocks & 1), there = (int32_t)p.bytes >= widths;
    int64_t at = widths;
    for (int32_t k = 0; k < blocks; k++) {
        const int32_t width = there ? tsr_mini(from[TSR_RANS_HEADER + k], narrow ? 16 : 32) : 0;
        uint32_t u = 0;
        if ((int64_t)p.bytes - at < 4 * width) at = p.bytes;
        else {
            for (int32_t i = 0; i < width; i++) u |= (word_at(from + at + 4 * i) >> lane & 1) << i;
            at += 4 * width;
        }
        if (k * WARP + lane < n) to[k * WARP + lane] = (int32_t)(u >> 1 ^ (0u - (u & 1)));
    }
}

/* A stream of samples as they are: in the places of coefficients. */
TSR_DEVICE_FN void copy_raw(const tsr_coder_job &j, const tsr_coder_brick &b, int64_t brick, int32_t resolution, const tsr_coder_piece &p)
{
    const int64_t first = tsr_coder_before(&b, resolution), n = tsr_coder_before(&b, resolution + 1) - first;
    int32_t *to = j.coefficient + brick * j.coefficients + first;
    for (int64_t i = (int64_t)threadIdx.x % WARP; i < n; i += WARP) to[i] = tsr_raw_sample(j.bytes + p.offset, p.bytes, i);
}

TSR_KERNEL(decode_streams)(tsr_coder_job j, int64_t decoders)
{
    TSR_SHARED(uint32_t, token, TSR_RANS_TABLES * TSR_RANS_SLOTS / 4);
    TSR_SHARED(uint32_t, share, TSR_RANS_TABLES * TSR_RANS_TOKENS);
    const int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    const int64_t blocks = (decoders * WARP + blockDim.x - 1) / blockDim.x;
    if ((int64_t)blockIdx.x >= blocks) {
        check_piece(j, (warp - blocks * (blockDim.x / WARP)) * (WARP / QUAD) + threadIdx.x % WARP / QUAD);
        return;
    }
    for (uint32_t i = threadIdx.x; i < TSR_RANS_TABLES * TSR_RANS_SLOTS / 4; i += blockDim.x) token[i] = ((const uint32_t *)(const void *)j.token)[i];
    for (uint32_t i = threadIdx.x; i < TSR_RANS_TABLES * TSR_RANS_TOKENS; i += blockDim.x) share[i] = j.share[i];
    __syncthreads();
    if (warp >= decoders) return;
    /* The finest first: they take longest. */
    const int32_t stream = j.resolutions - 1 - j.reduce - (int32_t)(warp / j.count);
    const int64_t brick = warp % j.count;
    const tsr_coder_brick b = tsr_coder_brick_at(&j, brick);
    const int32_t resolution = stream ? stream - b.absent : 0;
    const tsr_coder_piece p = j.piece[brick * j.streams + stream];
    if (resolution < (stream ? 1 : 0) || !p.there || p.bytes < TSR_RANS_HEADER) return;
    if (tsr_raw_said(j.bytes[p.offset])) copy_raw(j, b, brick, resolution, p);
    else if (stream) decode_details(j, b, brick, resolution, p, (const uint8_t *)(const void *)token, share);
    else decode_blocks(j, b, brick, p);
}

/* ---- bricks ---------------------------------------------------------------------------------------------------------------------------------------- */

TSR_DEVICE_FN int32_t restored_even(int32_t v, int32_t before, int32_t after) { return tsr_restore_even32(v, before, after); }
TSR_DEVICE_FN int16_t restored_even(int16_t v, int16_t before, int16_t after) { return tsr_restore_even16(v, before, after); }
TSR_DEVICE_FN int32_t restored_odd(int32_t v, int32_t before, int32_t after) { return tsr_restore_odd32(v, before, after); }
TSR_DEVICE_FN int16_t restored_odd(int16_t v, int16_t before, int16_t after) { return tsr_restore_odd16(v, before, after); }

/* Of the samples in shared memory: rows of a place that differs from bank to bank. */
TSR_HD int32_t pitch_of(int32_t nx) { return nx < 8 ? nx : nx | 1; }

/* One axis of one level, in place: its samples are 1 << shift apart; a thread takes lines, 8 samples at a time. */
template <int A, class T> TSR_DEVICE_FN void lift(T *d, const int32_t *full, const int32_t *e, int32_t shift)
{
    const int32_t n = e[A], pitch = pitch_of(full[0]), by[3] = { 1 << shift, pitch << shift, pitch * full[1] << shift };
    const int32_t step = by[A], u = A ? 0 : 1, v = A == 2 ? 1 : 2, lines = e[u] * e[v];
    if (n < 2) return;
    for (int32_t line = (int32_t)threadIdx.x; line < lines; line += RESTORE_THREADS) {
        T *p = d + (line % e[u] * by[u] + line / e[u] * by[v]);
        T odd = p[step], even = 0; /* those before */
        int32_t i = 0;
        for (; i + 8 <= n; i += 8, p += 8 * step) {
            T in[8];
#pragma unroll
            for (int k = 0; k < 8; k++) in[k] = p[k * step];
#pragma unroll
            for (int k = 0; k < 8; k += 2) {
                const T next = restored_even(in[k], odd, in[k + 1]);
                p[k * step] = next;
                if (k || i) p[(k - 1) * step] = restored_odd(odd, even, next);
                odd = in[k + 1];
                even = next;
            }
        }
        for (; i < n; i += 2, p += 2 * step) {
            const T after = i + 1 < n ? p[step] : odd, next = restored_even(*p, odd, after);
            *p = next;
            if (i) p[-step] = restored_odd(odd, even, next);
            odd = after;
            even = next;
        }
        if (n % 2 == 0) p[-step] = restored_odd(odd, even, even);
    }
    __syncthreads();
}

/* Coefficients of one stream to the places that the inverse wants, `shift` apart; those that are not there are 0. A thread takes the same place of all its
 * bands. */
template <class T> TSR_DEVICE_FN void load_details(const tsr_coder_brick &b, const int32_t *from, int there, int32_t r, T *d)
{
    const int32_t shift = b.levels - r, pitch = pitch_of(b.reduced[0]);
    const int32_t by[3] = { 1 << shift, pitch << shift, pitch * b.reduced[1] << shift };
    int32_t low[3], high[3];
    for (int a = 0; a < 3; a++) {
        const int32_t e = tsr_coder_extent(&b, r, a);
        low[a] = (e + 1) / 2;
        high[a] = e / 2;
    }
    const int32_t n = low[0] * low[1] * low[2], threads = RESTORE_THREADS;
    int32_t i = (int32_t)threadIdx.x;
    if (i >= n) return;
    const int32_t dx = threads % low[0], dy = threads / low[0] % low[1], dz = threads / low[0] / low[1];
    int32_t x = i % low[0], y = i / low[0] % low[1], z = i / low[0] / low[1];
    for (; i < n; i += threads) {
        const int32_t *band = from;
        T *to = d + 2 * (x * by[0] + y * by[1] + z * by[2]);
#pragma unroll
        for (int k = 1; k < 8; k++) {
            const int32_t sx = k & 1 ? high[0] : low[0], sy = k & 2 ? high[1] : low[1], sz = k & 4 ? high[2] : low[2];
            if (x < sx && y < sy && z < sz)
                to[(k & 1 ? by[0] : 0) + (k & 2 ? by[1] : 0) + (k & 4 ? by[2] : 0)] = there ? (T)band[(z * sy + y) * sx + x] : (T)0;
            band += sx * sy * sz;
        }
        x += dx;
        const int32_t cx = x >= low[0];
        x -= cx ? low[0] : 0;
        y += dy + cx;
        const int32_t cy = y >= low[1];
        y -= cy ? low[1] : 0;
        z += dz + cy;
    }
}

template <class T> TSR_DEVICE_FN void load_brick(const tsr_coder_job &j, const tsr_coder_brick &b, int64_t brick, T *d)
{
    const int32_t pitch = pitch_of(b.reduced[0]);
    for (int32_t r = b.levels; r >= 0; r--) {
        const int64_t number = brick * j.streams + (r ? r + b.absent : 0);
        const int there = j.good[number] && j.piece[number].bytes;
        const int32_t *from = j.coefficient + brick * j.coefficients + tsr_coder_before(&b, r);
        if (r) {
            load_details(b, from, there, r, d);
            continue;
        }
        const int32_t sx = tsr_coder_extent(&b, 0, 0), sy = tsr_coder_extent(&b, 0, 1), n = (int32_t)tsr_coder_before(&b, 1), shift = b.levels;
        for (int32_t i = (int32_t)threadIdx.x; i < n; i += RESTORE_THREADS)
            d[((i / sx / sy * b.reduced[1] + i / sx % sy) * pitch + i % sx) << shift] = there ? (T)from[i] : (T)0;
    }
}

/* Place of a voxel of a brick in the volume, -1: outside. */
TSR_DEVICE_FN int64_t place_of(const tsr_coder_job &j, const tsr_coder_brick &b, int32_t x, int32_t y, int32_t z)
{
    const int32_t i[3] = { x, y, z };
    int64_t at[3];
    for (int a = 0; a < 3; a++) {
        at[a] = (b.origin[a] >> (a == 2 && j.image ? 0 : j.reduce)) + i[a] - j.origin[a];
        if (at[a] < 0 || at[a] >= j.out_size[a]) return -1;
    }
    return (at[2] * j.out_size[1] + at[1]) * j.out_size[0] + at[0];
}

struct put_any {
    const tsr_code_map *map;
    void *voxels;
};
TSR_DEVICE_FN void put_voxel(const put_any &to, int32_t v, int64_t i) { tsr_sample_voxel(to.map, v, to.voxels, i); }
/* Integers of 8 or 16 bits: without 64-bit arithmetic. */
template <class V> struct put_small {
    int32_t base;
    tsr_sample_range range;
    V *voxels;
};
template <class V> TSR_DEVICE_FN void put_voxel(const put_small<V> &to, int32_t v, int64_t i)
{
    to.voxels[i] = (V)tsr_mini(tsr_maxi(to.base + v, to.range.least), to.range.most);
}
struct put_nothing {
    int32_t element;
    char *voxels;
};
TSR_DEVICE_FN void put_voxel(const put_nothing &to, int32_t, int64_t i) { memset(to.voxels + i * to.element, 0, (size_t)to.element); }

/* Rows of a brick to the volume; a warp takes rows. `put` says how a sample becomes voxel i. */
template <class T, class Put> TSR_DEVICE_FN void store_rows(const tsr_coder_job &j, const tsr_coder_brick &b, const T *d, const Put &put)
{
    const int32_t lane = (int32_t)threadIdx.x % WARP, warp = (int32_t)threadIdx.x / WARP, warps = RESTORE_THREADS / WARP, ny = b.reduced[1];
    const int32_t dy = warps % ny, dz = warps / ny, pitch = pitch_of(b.reduced[0]);
    int64_t off[3];
    for (int a = 0; a < 3; a++) off[a] = (b.origin[a] >> (a == 2 && j.image ? 0 : j.reduce)) - j.origin[a];
    const int32_t first = (int32_t)tsr_maxl(0, -off[0]), end = (int32_t)tsr_minl(b.reduced[0], j.out_size[0] - off[0]);
    int32_t y = warp % ny, z = warp / ny;
    while (z < b.reduced[2]) {
        const int64_t oy = off[1] + y, oz = off[2] + z;
        if (oy >= 0 && oy < j.out_size[1] && oz >= 0 && oz < j.out_size[2]) {
            const int64_t to = (oz * j.out_size[1] + oy) * j.out_size[0] + off[0];
            const T *row = d + (z * ny + y) * pitch;
            for (int32_t x = first + lane; x < end; x += WARP) put_voxel(put, row[x], to + x);
        }
        y += dy;
        z += dz;
        if (y >= ny) {
            y -= ny;
            z++;
        }
    }
}

template <class T> TSR_DEVICE_FN void store_brick(const tsr_coder_job &j, const tsr_coder_brick &b, const T *d, int any)
{
    const int32_t element = j.map.dtype <= TSR_I8 ? 1 : j.map.dtype <= TSR_I16 ? 2 : j.map.dtype <= TSR_I32 || j.map.dtype == TSR_F32 ? 4 : 8;
    const int small = sizeof(T) == 2 && j.map.map == TSR_TSC_INTEGER && element <= 2 && j.map.base >= -(1 << 30) && j.map.base <= 1 << 30;
    if (!any) store_rows(j, b, d, put_nothing{ element, (char *)j.voxels });
    else if (small && element == 1)
        store_rows(j, b, d, put_small<uint8_t>{ (int32_t)j.map.base, tsr_sample_range_of(j.map.dtype), (uint8_t *)j.voxels });
    else if (small) store_rows(j, b, d, put_small<uint16_t>{ (int32_t)j.map.base, tsr_sample_range_of(j.map.dtype), (uint16_t *)j.voxels });
    else store_rows(j, b, d, put_any{ &j.map, j.voxels });
}

TSR_DEVICE_FN void put_exception(const tsr_coder_job &j, const tsr_coder_brick &b, const uint8_t *entry, int32_t element)
{
    const int32_t at = (int32_t)word_at(entry), kept = (1 << j.reduce) - 1;
    const int32_t x = at % b.size[0], y = at / b.size[0] % b.size[1], z = at / b.size[0] / b.size[1];
    if ((x | y | z) & kept) return;
    const int64_t to = place_of(j, b, x >> j.reduce, y >> j.reduce, z >> j.reduce);
    if (to < 0) return;
    if (element == 4) ((uint32_t *)j.voxels)[to] = word_at(entry + 4);
    else ((uint64_t *)j.voxels)[to] = long_at(entry + 4);
}

/* Voxels that stand in a list. Writers give them in order; of those of other files the last of a place counts. */
TSR_DEVICE_FN void put_exceptions(const tsr_coder_job &j, const tsr_coder_brick &b, int64_t brick)
{
    const tsr_coder_piece p = j.piece[brick * j.streams + j.resolutions];
    const uint8_t *list = j.bytes + p.offset;
    const int32_t real = j.map.dtype == TSR_F32 || j.map.dtype == TSR_F64, element = j.map.dtype == TSR_F32 ? 4 : 8, entry = 4 + element;
    const uint32_t most = (uint32_t)b.size[0] * (uint32_t)b.size[1] * (uint32_t)b.size[2];
    if (!j.good[brick * j.streams + j.resolutions] || !p.bytes) return;
    int wrong = !real || p.bytes < 4 || (p.bytes - 4) % (uint32_t)entry || (p.bytes - 4) / (uint32_t)entry != word_at(list), ordered = 1;
    const uint32_t n = wrong ? 0 : (p.bytes - 4) / (uint32_t)entry;
    for (uint32_t k = threadIdx.x; k < n; k += blockDim.x) {
        const uint32_t at = word_at(list + 4 + (int64_t)k * entry);
        wrong |= at >= most;
        ordered &= !k || at > word_at(list + 4 + (int64_t)(k - 1) * entry);
    }
    wrong = __syncthreads_or(wrong);
    ordered = __syncthreads_and(ordered);
    if (wrong) {
        if (!threadIdx.x) atomicMin(&j.report->wrong_exception, (uint32_t)brick);
        return;
    }
    if (ordered)
        for (uint32_t k = threadIdx.x; k < n; k += blockDim.x) put_exception(j, b, list + 4 + (int64_t)k * entry, element);
    else if (!threadIdx.x)
        for (uint32_t k = 0; k < n; k++) put_exception(j, b, list + 4 + (int64_t)k * entry, element);
}

/* Bytes of a coefficient that the streams of a brick say: 2, 4, those of a raw brick, 0 where there is none, -1 where they contradict each other. */
TSR_DEVICE_FN int32_t width_of(const tsr_coder_job &j, const tsr_coder_brick &b, int64_t brick)
{
    int32_t width = 0;
    for (int32_t r = 0; r <= b.levels; r++) {
        const int64_t number = brick * j.streams + (r ? r + b.absent : 0);
        const tsr_coder_piece p = j.piece[number];
        if (!j.good[number] || !p.bytes) continue;
        const int32_t says = j.bytes[p.offset];
        if ((says != 2 && says != 4 && !tsr_raw_said(says)) || (width && says != width)) return -1;
        width = says;
    }
    return width;
}

template <class T> TSR_DEVICE_FN void restore_brick(const tsr_coder_job &j, T *d)
{
    const int64_t brick = blockIdx.x;
    const tsr_coder_brick b = tsr_coder_brick_at(&j, brick);
    const int32_t width = width_of(j, b, brick);
    if (width < 0 && !threadIdx.x) atomicMin(&j.report->wrong_stream, (uint32_t)brick);
    if (tsr_raw_is_wide(width) != (sizeof(T) == 4) || width < 0) return; /* the other kernel's */
    int any = 0; /* as the host: streams that this resolution does not want do not count, those that the brick lacks are empty */
    for (int32_t s = 0; s < j.resolutions - j.reduce; s++) any |= j.good[brick * j.streams + s] && j.piece[brick * j.streams + s].bytes;
    load_brick(j, b, brick, d);
    __syncthreads();
    for (int32_t r = 1; r <= b.levels && !tsr_raw_said(width); r++) {
        int32_t e[3];
        for (int a = 0; a < 3; a++) e[a] = tsr_coder_extent(&b, r, a);
        lift<2>(d, b.reduced, e, b.levels - r);
        lift<1>(d, b.reduced, e, b.levels - r);
        lift<0>(d, b.reduced, e, b.levels - r);
    }
    any |= !j.partial;
    store_brick(j, b, d, any);
    __syncthreads();
    if (j.exceptions && any) put_exceptions(j, b, brick);
}

TSR_KERNEL(__launch_bounds__(RESTORE_THREADS, 2) restore_narrow)(tsr_coder_job j)
{
    TSR_SHARED_DYNAMIC(int16_t, d);
    restore_brick(j, d);
}
TSR_KERNEL(restore_wide)(tsr_coder_job j)
{
    TSR_SHARED_DYNAMIC(int32_t, d);
    restore_brick(j, d);
}

static tsr_status cuda_decode(tsr_queue *queue, const tsr_coder_job *j)
{
    const int64_t decoders = j->count * (j->resolutions - j->reduce), threads = j->count < FEW_BRICKS ? FEW_THREADS : MANY_THREADS,
                  per_block = threads / WARP;
    const int64_t checkers = (j->count * j->streams + WARP / QUAD - 1) / (WARP / QUAD);
    const int64_t blocks = (decoders + per_block - 1) / per_block + (checkers + per_block - 1) / per_block;
    size_t room = 1, most = 0;
    for (int a = 0; a < 3; a++) {
        const int32_t n = tsr_coder_shrink(j->edge[a], j->reduce);
        room *= (size_t)(a ? n : pitch_of(n));
    }
    const size_t wanted = room * (j->wide ? 4 : 2);
    TSR_TRY(tsr_block_memory(queue, &most));
    if (wanted > most)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "bricks of %d x %d x %d with coefficients of %d bytes: %zu bytes of shared memory, this device has %zu; expected device cpu",
                 j->edge[0], j->edge[1], j->edge[2], j->wide ? 4 : 2, wanted, most);
    TSR_LAUNCH(queue, decode_streams, (uint32_t)blocks, (uint32_t)threads, 0, *j, decoders);
    TSR_LAUNCH_ALLOW_SHARED(queue, restore_narrow, room * 2);
    TSR_LAUNCH(queue, restore_narrow, (uint32_t)j->count, RESTORE_THREADS, room * 2, *j);
    if (j->wide) {
        TSR_LAUNCH_ALLOW_SHARED(queue, restore_wide, room * 4);
        TSR_LAUNCH(queue, restore_wide, (uint32_t)j->count, RESTORE_THREADS, room * 4, *j);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_coder_ops tsr_coder_cuda = { cuda_decode };
