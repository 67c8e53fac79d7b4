/* wavelet/packed_cuda.cu: x and y of one level together, as march.h, for filters of two steps of eight taps on samples of 16 bits (Fidelity): in registers
 * of 32 bits for each sample the window of 22 rows left room for eight warps on a multiprocessor, and every two taps were an addition and a product.
 * Here words hold two samples of one parity, along x (k and k + 1 of it) or along y, and sums are dot products (packed.h).
 *
 * A warp owns a strip of columns and marches along a segment of rows, four at a time: a lane holds eight samples of a row. A step sets out for word j of
 * its parity along y, of rows 4 j + parity and the second next, and asks for words j - 2 to j + 2 of the other one. The parity that is lifted last comes
 * first: five of its words wait, and five finished ones of the other; they move from register to register. (As rings in a loop of five turns, 60 KB of
 * instructions, it was a tenth to a third slower on an H200.) Rows come by asynchronous copies, a turn or two ahead. */
#include "device/bytes.h"
#include "device/kernel.h"

#include "wavelet/lifting.h"
#include "wavelet/packed.h"

enum {
    WARP = 32,
    WARPS = 4,
    V = 8,          /* samples of a row in a lane */
    HALO_LANES = 2, /* that both steps reach */
    ROWS = 4,       /* of a turn */
    NEAR = TSR_PACKED_NEAR,
    AHEAD = 2, /* turns that rows come before they are needed */
    SHORTEST = 16,
    MOST_WAVES = 4,
    LONGEST = 200, /* rows of a segment; on an H200 400 take 4 to 10 % longer, 784 16 to 25 % */
#ifdef TSR_EMU
    FEWEST = 0 /* the emulator's planes are small */
#else
    FEWEST = 40 /* rows for each warp that is there at once */
#endif
};

typedef struct alignas(16) packed_piece {
    uint32_t v[4];
} packed_piece;
typedef struct alignas(8) packed_part {
    uint32_t v[2];
} packed_part;

typedef struct packed_lane {
    int32_t lane, first;   /* its first sample */
    int32_t own;           /* it writes */
    char *whole, *half[4]; /* the lane's first sample of row 0 */
    packed_piece *coming;
} packed_lane;

/* ---- a word ---------------------------------------------------------------------------------------------------------------------------------- */

/* Sample `high` of the word with the rounding below, a sum's beginning. */
template <int HIGH> TSR_DEVICE_FN int32_t packed_begin(uint32_t word, uint32_t rounding)
{
    return (int32_t)tsr_bytes < HIGH ? 0xb324u : 0x9104u > (word, rounding);
}
/* Of two finished sums a word; what of them leaves 16 bits is seen in *bad, which is 2^24 or more then. */
TSR_DEVICE_FN uint32_t packed_word(int32_t low, int32_t high) { return tsr_bytes<0x6521u>((uint32_t)low, (uint32_t)high); }
TSR_DEVICE_FN void packed_watch(int32_t sum, uint32_t *bad)
{
    const uint32_t v = (uint32_t)sum + (1u << 23);
    *bad = v > *bad ? v : *bad;
}
TSR_DEVICE_FN uint32_t packed_lows(uint32_t a, uint32_t b) { return tsr_bytes<0x5410u>(a, b); }
TSR_DEVICE_FN uint32_t packed_highs(uint32_t a, uint32_t b) { return tsr_bytes<0x7632u>(a, b); }
TSR_DEVICE_FN uint32_t packed_middle(uint32_t a, uint32_t b) { return tsr_bytes<0x5432u>(a, b); } /* high of a, low of b */
TSR_DEVICE_FN uint32_t packed_turned(uint32_t a) { return tsr_bytes<0x1032u>(a, a); }

/* The sum of a sample whose eight neighbours are the words w0 to w3. */
template <int LARGE> TSR_DEVICE_FN int32_t packed_whole(const tsr_packed_step &s, uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3, int32_t sum)
{
    if (LARGE) sum = __dp2a_lo((int)packed_middle(w1, w2), s.rest, sum);
    sum = __dp2a_lo((int)w0, s.whole[0], sum);
    sum = __dp2a_lo((int)w1, s.whole[1], sum);
    sum = __dp2a_lo((int)w2, s.whole[2], sum);
    return __dp2a_lo((int)w3, s.whole[3], sum);
}
/* The same if they begin in the middle of w0 and end in that of w4. */
template <int LARGE>
TSR_DEVICE_FN int32_t packed_broken(const tsr_packed_step &s, uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3, uint32_t w4, int32_t sum)
{
    if (LARGE) sum = __dp2a_lo((int)w2, s.rest, sum);
    sum = __dp2a_lo((int)w0, s.broken[0], sum);
    sum = __dp2a_lo((int)w1, s.broken[1], sum);
    sum = __dp2a_lo((int)w2, s.broken[2], sum);
    sum = __dp2a_lo((int)w3, s.broken[3], sum);
    return __dp2a_lo((int)w4, s.broken[4], sum);
}
/* Both sums of word x of this parity, w0 to w4 being words j - 2 to j + 2 of the other one. Even samples have the larger taps. */
template <int PARITY>
TSR_DEVICE_FN void packed_sums(const tsr_packed_step &s, uint32_t x, uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3, uint32_t w4, int32_t *low,
                               int32_t *high)
{
    const int32_t a = packed_begin<0>(x, s.rounding), b = packed_begin<1>(x, s.rounding);
    if constexpr (PARITY == 0) {
        *low = packed_whole<1>(s, w0, w1, w2, w3, a);
        *high = packed_broken<1>(s, w0, w1, w2, w3, w4, b);
    } else {
        *low = packed_broken<0>(s, w0, w1, w2, w3, w4, a);
        *high = packed_whole<0>(s, w1, w2, w3, w4, b);
    }
}

/* ---- along x --------------------------------------------------------------------------------------------------------------------------------- */

/* A step along x: sums of the lane's four samples of this parity; word[p][0..1]: its samples of parity p. EDGE: the strip reaches beyond the row, and others
 * stand for what is there. */
template <int PARITY, int EDGE>
TSR_DEVICE_FN void packed_step_x(const tsr_packed_pass &p, const packed_lane &l, int step, const uint32_t (*word)[2], int32_t *sum)
{
    const tsr_packed_step &s = p.step[step];
    const uint32_t a = word[1 - PARITY][0], b = word[1 - PARITY][1];
    uint32_t w[6] = { __shfl_up_sync(TSR_WARP_ALL, a, 1),   __shfl_up_sync(TSR_WARP_ALL, b, 1),  a, b,
                      __shfl_down_sync(TSR_WARP_ALL, a, 1), __shfl_down_sync(TSR_WARP_ALL, b, 1) };
    if constexpr (EDGE) {
        const int symmetric = p.boundary == TSR_WAVELET_SYMMETRIC, zero = p.boundary == TSR_WAVELET_ZERO;
        const uint32_t begin = zero ? 0u : packed_lows(a, a), end = zero ? 0u : packed_highs(b, b); /* clamped */
        if (l.first == 0) {
            w[0] = !symmetric ? begin : PARITY ? b : packed_turned(b);
            w[1] = !symmetric ? begin : PARITY ? tsr_bytes<0x3254u>(a, b) : packed_turned(a);
        }
        if (l.first + V == p.width) {
            w[4] = !symmetric ? end : PARITY ? packed_turned(b) : tsr_bytes<0x3254u>(a, b);
            w[5] = !symmetric ? end : PARITY ? packed_turned(a) : a;
        }
    }
#pragma unroll
    for (int k = 0; k < 2; k++) packed_sums<PARITY>(s, word[PARITY][k], w[k], w[k + 1], w[k + 2], w[k + 3], w[k + 4], &sum[2 * k], &sum[2 * k + 1]);
}

/* Both steps along x: sums of the even samples, then of the odd ones. FIRST: the parity of step 0. */
template <int FIRST, int EDGE>
TSR_DEVICE_FN void packed_lift_x(const tsr_packed_pass &p, const packed_lane &l, uint32_t (*word)[2], int32_t *sum, uint32_t *bad)
{
    packed_step_x<FIRST, EDGE>(p, l, 0, word, sum + 4 * FIRST);
#pragma unroll
    for (int k = 0; k < 2; k++) word[FIRST][k] = packed_word(sum[4 * FIRST + 2 * k], sum[4 * FIRST + 2 * k + 1]);
    packed_step_x<1 - FIRST, EDGE>(p, l, 1, word, sum + 4 * (1 - FIRST));
#pragma unroll
    for (int k = 0; k < V; k++) packed_watch(sum[k], bad);
}

/* ---- memory ---------------------------------------------------------------------------------------------------------------------------------- */

/* The row that is read for row y. */
TSR_DEVICE_FN int32_t packed_row(const tsr_packed_pass &p, int32_t y)
{
    if (p.boundary == TSR_WAVELET_PERIODIC) return y < 0 ? y + p.height : y >= p.height ? y - p.height : y;
    return tsr_maxi(0, tsr_mini(y, p.height - 1)); /* beyond the ends any: no sum asks for it */
}
/* Asks for row y, of this parity. CALM: it is there. */
template <int SPLIT, int PARITY, int CALM> TSR_DEVICE_FN void packed_ask(const tsr_packed_pass &p, const packed_lane &l, int32_t y, packed_piece *to)
{
    if (!CALM) y = packed_row(p, y);
    if constexpr (!SPLIT) {
        tsr_copy_async<16>(to, l.whole + (int64_t)y * p.whole_row, 16);
    } else {
        const int odd = CALM ? PARITY : y & 1; /* the last row stands for those beyond it */
        tsr_copy_async<8>(to, (odd ? l.half[2] : l.half[0]) + (int64_t)(y >> 1) * p.half_row[odd ? 2 : 0], 8);
        tsr_copy_async<8>((char *)to + 8, (odd ? l.half[3] : l.half[1]) + (int64_t)(y >> 1) * p.half_row[odd ? 3 : 1], 8);
    }
}
/* A row as it came to words of even and odd samples. */
template <int SPLIT> TSR_DEVICE_FN void packed_take(const packed_piece *from, uint32_t (*word)[2])
{
    const packed_piece r = *from;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        word[0][k] = SPLIT ? r.v[k] : packed_lows(r.v[2 * k], r.v[2 * k + 1]);
        word[1][k] = SPLIT ? r.v[2 + k] : packed_highs(r.v[2 * k], r.v[2 * k + 1]);
    }
}
/* Writes row y, of this parity, with these sums, of the even samples, then of the odd ones. */
template <int SPLIT, int PARITY> TSR_DEVICE_FN void packed_put(const tsr_packed_pass &p, const packed_lane &l, int32_t y, const int32_t *sum)
{
    if constexpr (SPLIT) {
#pragma unroll
        for (int b = 0; b < 2; b++) {
            packed_part part;
#pragma unroll
            for (int k = 0; k < 2; k++) part.v[k] = packed_word(sum[4 * b + 2 * k], sum[4 * b + 2 * k + 1]);
            *(packed_part *)(l.half[2 * PARITY + b] + (int64_t)(y >> 1) * p.half_row[2 * PARITY + b]) = part;
        }
    } else {
        packed_piece r;
#pragma unroll
        for (int k = 0; k < 4; k++) r.v[k] = packed_word(sum[k], sum[4 + k]);
        *(packed_piece *)(l.whole + (int64_t)y * p.whole_row) = r;
    }
}

/* ---- along y --------------------------------------------------------------------------------------------------------------------------------- */

/* What stands for the neighbours of row y beyond the ends: its four words in each column, of near[0..4][column]. */
TSR_DEVICE_FN void packed_beyond(const tsr_packed_pass &p, int32_t j, int32_t y, const uint32_t (*near)[V], uint32_t (*w)[V])
{
#pragma unroll 1
    for (int t = 0; t < TSR_PACKED_TAPS; t++) {
        const int32_t i = tsr_lift_index_near(y + 1 - TSR_PACKED_TAPS + 2 * t, p.height, p.boundary);
        const int32_t k = tsr_maxi(0, tsr_mini((i >> 1) - 2 * (j - 2), 2 * NEAR - 1)); /* of near's samples */
#pragma unroll 1
        for (int c = 0; c < V; c++) {
            const uint32_t v = i < 0 ? 0u : near[k >> 1][c] >> (k & 1) * 16 & 0xffffu;
            w[t >> 1][c] = t & 1 ? w[t >> 1][c] | v << 16 : v;
        }
    }
}

/* The march. EDGE: the strip reaches beyond the rows. */
template <int INVERSE, int EDGE> struct packed_march {
    static constexpr int FIRST = INVERSE; /* the parity that is lifted first */
    const tsr_packed_pass &p;
    const packed_lane &l;
    int32_t begin, end, last;               /* words of the segment, along y; the last turn */
    uint32_t early[NEAR][V], late[NEAR][V]; /* of the other parity, and of this one when it is lifted; the newest last */
    int32_t slot;                           /* of the rows that came first */
    uint32_t bad;

    /* Asks for what turn q wants: rows of word q that are lifted last, of word q - 2 that are lifted first. */
    template <int CALM> TSR_INSIDE void ask(int32_t q)
    {
        packed_piece *to = l.coming + slot * (ROWS * WARP);
        if (CALM || q <= last) {
#pragma unroll
            for (int h = 0; h < 2; h++) packed_ask<INVERSE, 1 - FIRST, CALM>(p, l, 4 * q + 1 - FIRST + 2 * h, to + h * WARP);
            if (CALM || q >= begin) {
#pragma unroll
                for (int h = 0; h < 2; h++) packed_ask<INVERSE, FIRST, CALM>(p, l, 4 * (q - 2) + FIRST + 2 * h, to + (2 + h) * WARP);
            }
        }
        tsr_copy_async_close();
        slot = slot + 1 == AHEAD ? 0 : slot + 1;
    }
    /* Two rows that came, as words along y. */
    TSR_INSIDE void take(const packed_piece *from, uint32_t *to)
    {
        uint32_t word[2][2][2];
        int32_t sum[2][V];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            packed_take<INVERSE>(from + h * WARP, word[h]);
            if (!INVERSE) packed_lift_x<FIRST, EDGE>(p, l, word[h], sum[h], &bad);
        }
#pragma unroll
        for (int c = 0; c < V; c++) {
            const uint32_t a = word[0][c / 4][c % 4 / 2], b = word[1][c / 4][c % 4 / 2];
            to[c] = !INVERSE ? packed_word(sum[0][c], sum[1][c]) : c % 2 ? packed_highs(a, b) : packed_lows(a, b);
        }
    }
    /* Step K on word j along y; x becomes what is finished. CALM: all neighbours are there, and so are the rows, which the segment owns. */
    template <int K, int CALM>
    TSR_INSIDE void lift(int32_t j, uint32_t *x, const uint32_t *w0, const uint32_t *w1, const uint32_t *w2, const uint32_t *w3, const uint32_t *w4)
    {
        constexpr int PARITY = K ? 1 - FIRST : FIRST;
        const tsr_packed_step &s = p.step[K];
        const int32_t y = 4 * j + PARITY;
        int32_t sum[2][V];
        if (CALM || p.boundary == TSR_WAVELET_PERIODIC || (y >= TSR_PACKED_TAPS - 1 && y + 2 + TSR_PACKED_TAPS - 1 < p.height)) {
#pragma unroll
            for (int c = 0; c < V; c++) packed_sums<PARITY>(s, x[c], w0[c], w1[c], w2[c], w3[c], w4[c], &sum[0][c], &sum[1][c]);
        } else {
            uint32_t near[NEAR][V], w[4][V];
#pragma unroll
            for (int c = 0; c < V; c++) {
                near[0][c] = w0[c];
                near[1][c] = w1[c];
                near[2][c] = w2[c];
                near[3][c] = w3[c];
                near[4][c] = w4[c];
            }
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int there = y + 2 * h >= 0 && y + 2 * h < p.height;
                if (there) packed_beyond(p, j, y + 2 * h, near, w);
#pragma unroll
                for (int c = 0; c < V; c++) {
                    sum[h][c] = h ? packed_begin<1>(x[c], s.rounding) : packed_begin<0>(x[c], s.rounding);
                    if (there) sum[h][c] = packed_whole<1>(s, w[0][c], w[1][c], w[2][c], w[3][c], sum[h][c]);
                }
            }
        }
#pragma unroll
        for (int c = 0; c < V; c++) {
#pragma unroll
            for (int h = 0; h < 2; h++) packed_watch(sum[h][c], &bad);
            if (K == 0) x[c] = packed_word(sum[0][c], sum[1][c]); /* what is finished last is not asked for again */
        }
        if (!CALM && (j < begin || j >= end)) return;
        uint32_t word[2][2][2];
#pragma unroll
        for (int c = 0; c < V && INVERSE; c += 2) {
#pragma unroll
            for (int h = 0; h < 2; h++) word[h][c / 4][c % 4 / 2] = packed_word(sum[h][c], sum[h][c + 1]);
        }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            if (!CALM && y + 2 * h >= p.height) continue;
            if constexpr (INVERSE) packed_lift_x<FIRST, EDGE>(p, l, word[h], sum[h], &bad);
            if (l.own) packed_put<!INVERSE, PARITY>(p, l, y + 2 * h, sum[h]);
        }
    }
    /* Turn q, its words the last ones of both. */
    template <int CALM> TSR_INSIDE void turn(int32_t q)
    {
        const packed_piece *from = l.coming + slot * (ROWS * WARP);
        tsr_copy_async_wait<AHEAD - 1>();
        take(from, early[4]);
        if (CALM || q >= begin) take(from + 2 * WARP, late[4]);
        ask<CALM>(q + AHEAD);
        if (!CALM && q < begin) return;
        lift<0, CALM>(q - 2, late[4], early[0], early[1], early[2], early[3], early[4]);
        if (!CALM && q < begin + 4) return;
        lift<1, CALM>(q - 4, early[0], late[0], late[1], late[2], late[3], late[4]);
    }
    /* Makes room for the newest words. */
    TSR_INSIDE void move_on(void)
    {
#pragma unroll
        for (int k = 0; k + 1 < NEAR; k++) {
#pragma unroll
            for (int c = 0; c < V; c++) {
                early[k][c] = early[k + 1][c];
                late[k][c] = late[k + 1][c];
            }
        }
    }
    TSR_INSIDE void run(void)
    {
        /* Turns that look beyond no end and write all they finish, and whose rows to come are there. */
        const int32_t calm_from = tsr_maxi(begin + 4, 6), calm_to = tsr_mini(last - AHEAD, (p.height - ROWS) / ROWS - AHEAD);
        int32_t q = begin - 4;
#pragma unroll
        for (int k = 0; k < AHEAD; k++) ask<0>(q + k);
#pragma unroll 1
        while (q <= last) {
            if (q >= calm_from) {
#pragma unroll 1
                for (; q <= calm_to; q++) {
                    move_on();
                    turn<1>(q);
                }
            }
            if (q > last) break;
            move_on();
            turn<0>(q++);
        }
        if (bad >> 24 && l.own && p.lost) atomicOr(p.lost, 1u);
    }
};

/* Blocks a multiprocessor that registers leave room for. */
template <int INVERSE> struct packed_blocks {
    static constexpr int COUNT = INVERSE ? 4 : 3;
};

template <int INVERSE> TSR_KERNEL(__launch_bounds__(WARPS *WARP, packed_blocks<INVERSE>::COUNT) packed_kernel)(const tsr_packed_pass p)
{
    TSR_SHARED(packed_piece, coming, WARPS * AHEAD * ROWS * WARP);
    const int32_t warp = __shfl_sync(TSR_WARP_ALL, (int32_t)threadIdx.x / WARP, 0); /* the same for all lanes */
    const uint32_t task = blockIdx.x * WARPS + (uint32_t)warp, rest = task / (uint32_t)p.strips;
    const int32_t nth = (int32_t)(rest % (uint32_t)p.segments), strip = (int32_t)(task % (uint32_t)p.strips);
    /* The last segment comes second: those at the ends take longest, and nothing should wait for them in the end. */
    const int32_t segment = nth == 0 ? 0 : nth == 1 ? p.segments - 1 : nth - 1;
    uint32_t plane = rest / (uint32_t)p.segments;
    packed_lane l;
    l.lane = (int32_t)threadIdx.x % WARP;
    const int32_t left = (strip * (WARP - 2 * HALO_LANES) - HALO_LANES) * V;
    l.first = left + l.lane * V;
    l.own = l.lane >= HALO_LANES && l.lane < WARP - HALO_LANES && l.first < p.width;
    int32_t at = l.first % p.width; /* beyond the row come its samples from the other end; only the periodic boundary asks for them */
    if (at < 0) at += p.width;
    l.whole = (char *)p.whole.data + at * 2;
#pragma unroll
    for (int b = 0; b < 4; b++) l.half[b] = (char *)p.half[b].data + at;
#pragma unroll
    for (int a = 2; a < TSR_WAVELET_DIMENSIONS; a++) {
        const int64_t index = plane % (uint32_t)p.size[a];
        plane /= (uint32_t)p.size[a];
        l.whole += index * p.whole.stride[a] * 2;
#pragma unroll
        for (int b = 0; b < 4; b++) l.half[b] += index * p.half[b].stride[a] * 2;
    }
    l.coming = coming + warp * (AHEAD * ROWS * WARP) + l.lane;
    if (plane) return; /* all lanes of the warp */
    const int32_t begin = segment * (p.segment / ROWS), end = tsr_mini(begin + p.segment / ROWS, (p.height + ROWS - 1) / ROWS);
    if (p.boundary != TSR_WAVELET_PERIODIC && (left < 0 || left + WARP * V > p.width)) {
        packed_march<INVERSE, 1> march = { p, l, begin, end, end + 3, {}, {}, 0, 0 };
        march.run();
    } else {
        packed_march<INVERSE, 0> march = { p, l, begin, end, end + 3, {}, {}, 0, 0 };
        march.run();
    }
}

static int64_t packed_warps(tsr_queue *queue, int inverse)
{
    return WARPS * (inverse ? packed_blocks<1>::COUNT : packed_blocks<0>::COUNT) * (int64_t)tsr_queue_processors(queue);
}
static int32_t packed_strips(const tsr_packed_pass *p) { return (p->width + (WARP - 2 * HALO_LANES) * V - 1) / ((WARP - 2 * HALO_LANES) * V); }
static int64_t packed_planes(const tsr_packed_pass *p)
{
    int64_t planes = 1;
    for (int32_t a = 2; a < TSR_WAVELET_DIMENSIONS; a++) planes *= p->size[a];
    return planes;
}

extern "C" int tsr_packed_wants_cuda(tsr_queue *queue, const tsr_packed_pass *p)
{
    return p->height * packed_planes(p) * packed_strips(p) >= FEWEST * packed_warps(queue, 0);
}

extern "C" tsr_status tsr_packed_run_cuda(tsr_queue *queue, tsr_packed_pass *p, int inverse)
{
    const int64_t planes = packed_planes(p), warps = packed_warps(queue, inverse);
    int64_t parts = 1;
    p->strips = packed_strips(p);
    /* As many segments as there is room for at once, or twice as many and so on where they were too long: so that no few come last. */
    for (int32_t waves = 1; waves <= MOST_WAVES; waves++) {
        parts = tsr_maxl(1, waves * warps / (p->strips * planes));
        if (p->height / parts <= LONGEST) break;
    }
    const int64_t wanted = (p->height + parts - 1) / parts;
    p->segment = (int32_t)tsr_maxl(SHORTEST, tsr_minl((wanted + ROWS - 1) / ROWS * ROWS, LONGEST));
    p->segments = (p->height + p->segment - 1) / p->segment;
    const int64_t blocks = ((int64_t)p->strips * p->segments * planes + WARPS - 1) / WARPS;
    if (blocks > INT32_MAX / WARPS) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "wavelet: %lld strips, a GPU takes at most 2^29", (long long)blocks);
    if (inverse) TSR_LAUNCH(queue, packed_kernel<1>, dim3((uint32_t)blocks), WARPS * WARP, 0, *p);
    else TSR_LAUNCH(queue, packed_kernel<0>, dim3((uint32_t)blocks), WARPS * WARP, 0, *p);
    return TSR_OK;
}
