/* video/multiview/encode_cuda.cu: groups of pictures to streams of syntax planes: docs/theory/multiview.md 3. What each kernel moves at least, of n
 * samples, is said with it; the transforms are bound by memory, the coding by accesses to single coefficients (a sector of 32 bytes each).
 *
 * A step of coding (the pixels of a plane; a generation of sets) is two launches for all streams at once, several blocks a stream: the first one
 * counts what each block's part of the list puts out, and puts the bits of the entries themselves; the second one knows from the counts where all
 * else belongs. What stays goes to the list of the next plane. The bits are those of the serial encoder, since an entry depends on nothing but
 * itself. */
#include "video/multiview/multiview_cuda.h"

enum { THREADS = 256, RUN_LEVELS = 3 };

/* ---- samples ---------------------------------------------------------------------------------------------------------------------------------- */

/* Bound: 1 byte and a bit read, 4 written: 5.1 n. */
TSR_KERNEL(sample_kernel)(tsr_mvv_shape shape, tsr_mvv_source source, int32_t outside, int32_t *sample, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < count) sample[k] = tsr_mvv_take_sample(&shape, &source, outside, (uint32_t)k);
}

/* A level of filling: log2 of extents, coarse and fine; where the children of a cell lie. */
typedef struct halving {
    int32_t coarse[TSR_MVV_AXES], fine[TSR_MVV_AXES];
    int32_t count;
    int64_t offset[TSR_MVV_CHILDREN];
} halving;

static int64_t make_halving(const int32_t *fine, int flat, halving *h)
{
    int32_t shift = 0, all = 0;
    *h = {};
    h->count = 1;
    for (int a = 0; a < TSR_MVV_AXES; a++) {
        const int halved = fine[a] > 0 && !(flat && a > 1);
        h->fine[a] = fine[a];
        h->coarse[a] = fine[a] - halved;
        for (int k = 0; halved && k < h->count; k++) h->offset[h->count + k] = h->offset[k] + ((int64_t)1 << shift);
        h->count *= halved ? 2 : 1;
        shift += fine[a];
        all += h->coarse[a];
    }
    return (int64_t)1 << all;
}

TSR_DEVICE_FN int64_t first_child(const halving *h, int64_t cell)
{
    int64_t at = 0, shift = 0;
    for (int a = 0; a < TSR_MVV_AXES; a++) {
        at += (cell & (((int64_t)1 << h->coarse[a]) - 1)) << (h->fine[a] - h->coarse[a]) << shift;
        cell >>= h->coarse[a];
        shift += h->fine[a];
    }
    return at;
}

/* Bound, all levels: 4 n (1 + 1 / 8) over four axes, 4 n (1 + 1 / 2) within textures. */
TSR_KERNEL(mean_kernel)(halving h, const int32_t *fine, int32_t *coarse, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < count) coarse[k] = tsr_mvv_mean_of(fine + first_child(&h, k), h.offset, h.count);
}

/* Bound, all levels: 4 n read, and what was empty written. */
TSR_KERNEL(inherit_kernel)(halving h, int32_t *fine, const int32_t *coarse, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < count) tsr_mvv_inherit(fine + first_child(&h, k), coarse[k], h.offset, h.count);
}

TSR_KERNEL(nothing_kernel)(int32_t *cell, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < count && cell[k] == TSR_MVV_EMPTY) cell[k] = 0;
}

static void fill(tsr_queue *queue, const tsr_mvv_shape *shape, int flat, int32_t *sample, int32_t *scratch)
{
    halving level[TSR_MVV_LEVELS];
    int32_t *cell[TSR_MVV_LEVELS + 1] = { sample, scratch };
    int64_t count[TSR_MVV_LEVELS + 1] = { (int64_t)1 << shape->all };
    const int32_t *bits = shape->bits;
    int top = 0;
    for (; bits[0] || bits[1] || (!flat && (bits[2] || bits[3])); bits = level[top++].coarse) {
        count[top + 1] = make_halving(bits, flat, &level[top]);
        if (top) cell[top + 1] = cell[top] + count[top];
        TSR_LAUNCH(queue, mean_kernel, tsr_blocks(count[top + 1], THREADS, INT32_MAX), THREADS, 0, level[top], cell[top], cell[top + 1],
                   count[top + 1]);
    }
    TSR_LAUNCH(queue, nothing_kernel, tsr_blocks(count[top], THREADS, INT32_MAX), THREADS, 0, cell[top], count[top]);
    while (top-- > 0)
        TSR_LAUNCH(queue, inherit_kernel, tsr_blocks(count[top + 1], THREADS, INT32_MAX), THREADS, 0, level[top], cell[top], cell[top + 1],
                   count[top + 1]);
}

/* ---- wavelets --------------------------------------------------------------------------------------------------------------------------------- */

/* Levels of pairs along an axis: 2^bits means of each line so far. Samples are integers before the first axis, coefficients after the last one. */
typedef struct pass {
    int32_t axis, bits, lossless, first, last;
} pass;

TSR_DEVICE_FN int32_t mean_of_pair(const pass *p, int32_t a, int32_t b)
{
    if (p->lossless) return tsr_mvv_turned_low(a, b);
    return (int32_t)tsr_float_bits(tsr_mvv_haar_low(tsr_bits_float((uint32_t)a), tsr_bits_float((uint32_t)b)));
}
TSR_DEVICE_FN int32_t coefficient_of(const pass *p, int32_t x) { return p->last && !p->lossless ? tsr_mvv_round(tsr_bits_float((uint32_t)x)) : x; }
TSR_DEVICE_FN int32_t difference_of_pair(const pass *p, int32_t a, int32_t b)
{
    if (p->lossless) return tsr_mvv_turned_high(a, b);
    return coefficient_of(p, (int32_t)tsr_float_bits(tsr_mvv_haar_high(tsr_bits_float((uint32_t)a), tsr_bits_float((uint32_t)b))));
}

/* LEVELS levels of a run of 2^LEVELS samples, in registers: differences go where they belong, the mean to the next pass. Bound, an axis:
 * 8 n (1 + 1 / 7) where it takes several passes. */
template <int LEVELS> TSR_KERNEL(run_kernel)(tsr_mvv_shape s, pass p, const int32_t *from, int32_t *difference, int32_t *mean, int64_t runs)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x, stride = (int64_t)1 << s.shift[p.axis];
    const int64_t inner = k & (stride - 1), line = k >> s.shift[p.axis], i = line & (((int64_t)1 << (p.bits - LEVELS)) - 1);
    const int64_t at = (line >> (p.bits - LEVELS)) * (stride << s.bits[p.axis]) + inner;
    int32_t x[1 << LEVELS];
    if (k >= runs) return;
    for (int j = 0; j < 1 << LEVELS; j++) {
        const int32_t v = from[at + (i << LEVELS | j) * stride];
        x[j] = p.first && !p.lossless ? (int32_t)tsr_float_bits((float)v) : v;
    }
    for (int l = LEVELS - 1; l >= 0; l--)
        for (int j = 0; j < 1 << l; j++) {
            const int32_t a = x[2 * j], b = x[2 * j + 1];
            difference[at + (((int64_t)1 << (p.bits - LEVELS + l)) + (i << l) + j) * stride] = difference_of_pair(&p, a, b);
            x[j] = mean_of_pair(&p, a, b);
        }
    if (p.bits == LEVELS) difference[at] = coefficient_of(&p, x[0]);
    else mean[at + i * stride] = x[0];
}

static void run(tsr_queue *queue, const tsr_mvv_shape *s, const pass *p, int levels, const int32_t *from, int32_t *difference, int32_t *mean)
{
    const int64_t runs = (int64_t)1 << (s->all - s->bits[p->axis] + p->bits - levels);
    const uint32_t blocks = tsr_blocks(runs, THREADS, INT32_MAX);
    if (levels == 3) TSR_LAUNCH(queue, run_kernel<3>, blocks, THREADS, 0, *s, *p, from, difference, mean, runs);
    else if (levels == 2) TSR_LAUNCH(queue, run_kernel<2>, blocks, THREADS, 0, *s, *p, from, difference, mean, runs);
    else TSR_LAUNCH(queue, run_kernel<1>, blocks, THREADS, 0, *s, *p, from, difference, mean, runs);
}

/* Samples in work[0] to coefficients in `value`; work[1] is free. Time, camera, v, u. */
static tsr_status forward(tsr_queue *queue, const tsr_mvv_shape *s, int lossless, int32_t *work[2], int32_t *value)
{
    int now = 0, first = 1, left = 0;
    for (int a = 0; a < TSR_MVV_AXES; a++) left += s->bits[a] > 0;
    for (int a = TSR_MVV_AXES - 1; a >= 0; a--) {
        if (!s->bits[a]) continue;
        pass p = { a, s->bits[a], lossless, first, --left == 0 };
        int32_t *from = work[now], *to = p.last ? value : work[!now], *means = p.last ? work[!now] : value, *free = from;
        while (p.bits > 0) {
            const int levels = p.bits < RUN_LEVELS ? p.bits : RUN_LEVELS;
            run(queue, s, &p, levels, from, to, means);
            from = means;
            means = free;
            free = from;
            p.bits -= levels;
            p.first = 0;
        }
        first = 0;
        now = !now;
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- sets ------------------------------------------------------------------------------------------------------------------------------------- */

/* Number k among the coefficients whose scales are at most `level`. Bound: 4 n read of coefficients, 2 bytes written for each that has children. */
TSR_KERNEL(sets_kernel)(tsr_mvv_shape shape, const int32_t *value, tsr_mvv_sets sets, int32_t level, int64_t count)
{
    int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    uint32_t x = 0;
    if (k >= count) return;
    for (int a = 0; a < TSR_MVV_AXES; a++) {
        const int32_t bits = tsr_mini(level, shape.bits[a]);
        x |= (uint32_t)(k & (((int64_t)1 << bits) - 1)) << shape.shift[a];
        k >>= bits;
    }
    if (tsr_mvv_level(&shape, x) == level) tsr_mvv_measure_sets(&shape, value, &sets, x, level);
}

TSR_KERNEL(begin_kernel)(tsr_mvv_shape shape, tsr_mvv_coding *c)
{
    const int32_t own = tsr_mvv_scale(tsr_mvv_size_of(c->value[0]));
    tsr_mvv_progress p = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    c->lists.planes = own;
    c->lists.pixel[0][p.pixels++] = 0;
    if (tsr_mvv_has_children(&shape, 0, 0)) {
        c->lists.planes = tsr_maxi(own, c->sets.all[0]);
        c->lists.set[0][p.sets++] = 0;
    }
    c->lists.state[0] = p;
}

tsr_status tsr_cuda_mvv_prepare(tsr_queue *queue, const tsr_mvv_shape *shape, const tsr_mvv_source *source, int32_t *work[2],
                                const tsr_mvv_coding *coding, tsr_mvv_coding *there)
{
    const int64_t all = (int64_t)1 << shape->all;
    int32_t *sample = shape->all ? work[0] : coding->value; /* one sample is its own coefficient */
    TSR_LAUNCH(queue, sample_kernel, tsr_blocks(all, THREADS, INT32_MAX), THREADS, 0, *shape, *source, source->filled ? TSR_MVV_EMPTY : 0, sample,
               all);
    if (source->filled) fill(queue, shape, source->flat, sample, work[1]);
    TSR_TRY(forward(queue, shape, source->lossless, work, coding->value));
    for (int32_t level = shape->levels - 1; level >= 0; level--) {
        int32_t bits = 0;
        for (int a = 0; a < TSR_MVV_AXES; a++) bits += tsr_mini(level, shape->bits[a]);
        const int64_t count = (int64_t)1 << bits;
        TSR_LAUNCH(queue, sets_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *shape, coding->value, coding->sets, level, count);
    }
    TSR_LAUNCH(queue, begin_kernel, 1, 1, 0, *shape, there);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- coding ----------------------------------------------------------------------------------------------------------------------------------- */

/* `many` bits (at most 32) to their place; what is not enough any more may be lost. */
TSR_DEVICE_FN void put_bits(const tsr_mvv_coding *c, int64_t at, uint32_t bits, int32_t many)
{
    const uint32_t by = (uint32_t)(at & 31);
    if (!bits || at >= c->enough) return;
    atomicOr(c->bits + (at >> 5), bits << by);
    if ((int32_t)by + many > 32) atomicOr(c->bits + (at >> 5) + 1, bits >> (32u - by));
}
TSR_DEVICE_FN uint32_t bit_at(const tsr_mvv_coding *c, int64_t at) { return c->bits[at >> 5] >> (at & 31) & 1u; }

/* The threads' bits, in their order; all threads of a warp come along. */
TSR_DEVICE_FN void put_bit_each(const tsr_mvv_coding *c, int64_t at, uint32_t bit)
{
    const uint32_t warp = __ballot_sync(TSR_WARP_ALL, (int)bit);
    if (!(threadIdx.x & 31u)) put_bits(c, at, warp, 32);
}

/* Is there nothing more to do? */
TSR_DEVICE_FN int is_idle(const tsr_mvv_coding *c, const tsr_mvv_part *p) { return p->plane < 0 || p->before.at >= c->enough; }

/* Bound: an entry and what it is asked for (a coefficient; a set's byte, and its children's coefficients if it opens), a bit written. */
TSR_KERNEL(__launch_bounds__(TSR_MVV_THREADS) count_kernel)
(tsr_mvv_shape shape_of_all, tsr_mvv_coding *codings, uint32_t parts, int32_t k, int32_t slot, int32_t sets)
{
    TSR_SHARED(tsr_mvv_shape, shape, 1);
    TSR_SHARED(uint64_t, total, TSR_MVV_WARPS);
    tsr_mvv_coding *const c = codings + blockIdx.x / parts;
    const tsr_mvv_part p = tsr_mvv_part_of(&c->lists, parts, k, slot, sets);
    if (is_idle(c, &p) || p.begin == p.end) return;
    if (threadIdx.x == 0) shape[0] = shape_of_all;
    __syncthreads();
    uint64_t first = 0, second = 0, all_first, all_second; /* children and found; new sets and kept */
    for (int64_t tile = p.from; tile < p.to; tile += TSR_MVV_THREADS) {
        const int64_t at = tile + threadIdx.x;
        const int in = at < p.to;
        const uint32_t entry = in ? p.list[at] : 0u;
        uint32_t bit = 0;
        if (in && sets) {
            bit = tsr_mvv_is_significant(&c->sets, entry, p.plane);
            if (bit) {
                const tsr_mvv_opening o = tsr_mvv_opening_of(shape, c->value, entry, p.plane);
                first += (uint64_t)o.children << 32 | (uint32_t)o.found;
                second += (uint64_t)o.more << 32;
            }
        } else if (in) {
            bit = tsr_mvv_size_of(c->value[entry]) >> p.plane & 1u;
            first += bit;
        }
        second += (uint64_t)(in && !bit);
        put_bit_each(c, p.before.at + tile - p.begin + (threadIdx.x & ~31u), bit);
    }
    tsr_block_before<TSR_MVV_WARPS>(first, total, &all_first);
    tsr_block_before<TSR_MVV_WARPS>(second, total, &all_second);
    if (threadIdx.x == 0) {
        int64_t *to = c->lists.total[p.number];
        to[0] = (int64_t)(all_first >> 32);
        to[1] = (int64_t)(all_first & 0xffffffffu);
        to[2] = (int64_t)(all_second >> 32);
        to[3] = (int64_t)(all_second & 0xffffffffu);
    }
}

/* Bound: the entries again, and what is put out. */
TSR_KERNEL(__launch_bounds__(TSR_MVV_THREADS) put_kernel)
(tsr_mvv_shape shape_of_all, tsr_mvv_coding *codings, uint32_t parts, int32_t k, int32_t slot, int32_t sets)
{
    TSR_SHARED(tsr_mvv_shape, shape, 1);
    TSR_SHARED(uint64_t, total, TSR_MVV_WARPS);
    TSR_SHARED(int64_t, before, TSR_MVV_TOTALS);
    TSR_SHARED(int64_t, all, TSR_MVV_TOTALS);
    tsr_mvv_coding *const c = codings + blockIdx.x / parts;
    const tsr_mvv_part p = tsr_mvv_part_of(&c->lists, parts, k, slot, sets);
    const int idle = is_idle(c, &p), nothing = idle || p.begin == p.end;
    if (nothing && p.number) return;
    if (threadIdx.x == 0) shape[0] = shape_of_all;
    if (!nothing) tsr_mvv_sum_parts(&c->lists, p.number, parts, 0, TSR_MVV_TOTALS, before, all);
    if (p.number == 0 && threadIdx.x == 0) {
        const int64_t none[TSR_MVV_TOTALS] = { 0, 0, 0, 0 };
        tsr_mvv_progress after = p.before;
        if (!idle && sets) tsr_mvv_after_sets(&after, nothing ? none : all);
        else if (!idle) tsr_mvv_after_pixels(&after, nothing ? none : all);
        c->lists.state[!slot] = after;
    }
    if (nothing) return;
    const int64_t children_at = p.before.at + p.end - p.begin, signs_at = children_at + all[0];
    if (children_at >= c->enough) return; /* nothing that follows counts */
    uint32_t *const stay = (sets ? c->lists.set : c->lists.pixel)[~k & 1], *const pixels = c->lists.pixel[~k & 1], *const added = c->lists.set[k & 1];
    int64_t child = before[0], found = before[1], more = before[2], kept = (sets ? p.before.kept : 0) + before[3];
    for (int64_t tile = p.from; tile < p.to; tile += TSR_MVV_THREADS) {
        const int64_t at = tile + threadIdx.x;
        const int in = at < p.to;
        const uint32_t entry = in ? p.list[at] : 0u, bit = in ? bit_at(c, p.before.at + at - p.begin) : 0u;
        tsr_mvv_opening o = { 0, 0, 0, 0, 0 };
        if (bit && sets) o = tsr_mvv_opening_of(shape, c->value, entry, p.plane);
        else if (bit) {
            o.found = 1;
            o.signs = c->value[entry] < 0;
        }
        uint64_t sums;
        const uint64_t mine =
            (uint64_t)(uint32_t)o.children | (uint64_t)(uint32_t)o.found << 16 | (uint64_t)(uint32_t)o.more << 32 | (uint64_t)(in && !bit) << 48;
        const uint64_t here = tsr_block_before<TSR_MVV_WARPS>(mine, total, &sums);
        const int64_t own_child = child + (int64_t)(here & 0xffff), own_found = found + (int64_t)(here >> 16 & 0xffff);
        const int64_t own_more = more + (int64_t)(here >> 32 & 0xffff);
        if (in && !bit) stay[kept + (int64_t)(here >> 48)] = entry;
        put_bits(c, children_at + own_child, o.bits, o.children);
        put_bits(c, signs_at + own_found, o.signs, o.found);
        if (bit && !sets) c->lists.found[p.before.found + own_found] = entry;
        else if (bit) {
            const uint32_t x = entry & ~TSR_MVV_SET_B;
            const int32_t level = tsr_mvv_level(shape, x), skip = tsr_mvv_first_child(x);
            const uint32_t base = tsr_mvv_base(shape, x, level);
            uint32_t *to_found = c->lists.found + p.before.found + own_found, *to_pixels = pixels + p.before.next_pixels + own_child - own_found;
            uint32_t *to_sets = added + p.before.sets + own_more;
            for (int32_t n = skip; n < shape->children[level]; n++) {
                const uint32_t y = base + shape->child[level][n];
                if (!(entry & TSR_MVV_SET_B)) *(o.bits >> (n - skip) & 1u ? to_found++ : to_pixels++) = y;
                else if (tsr_mvv_has_children(shape, y, level + 1)) *to_sets++ = y;
            }
            if (!(entry & TSR_MVV_SET_B) && o.more) *to_sets = x | TSR_MVV_SET_B;
        }
        child += (int64_t)(sums & 0xffff);
        found += (int64_t)(sums >> 16 & 0xffff);
        more += (int64_t)(sums >> 32 & 0xffff);
        kept += (int64_t)(sums >> 48);
    }
}

/* Refinement, and the beginning of the next plane. Bound: an entry and its coefficient. */
TSR_KERNEL(__launch_bounds__(TSR_MVV_THREADS) refine_kernel)(tsr_mvv_coding *codings, uint32_t parts, int32_t k, int32_t slot)
{
    tsr_mvv_coding *const c = codings + blockIdx.x / parts;
    const tsr_mvv_part p = tsr_mvv_part_of(&c->lists, parts, k, slot, 0);
    const int idle = is_idle(c, &p);
    if (p.number == 0 && threadIdx.x == 0) {
        tsr_mvv_progress after = p.before;
        if (!idle) tsr_mvv_after_plane(&after);
        if (!idle && p.plane > 0) c->offset[k + 1] = (uint32_t)(tsr_minl(after.at, c->enough) / 8);
        c->lists.state[!slot] = after;
    }
    if (idle) return;
    for (int64_t tile = (int64_t)p.number * TSR_MVV_THREADS; tile < p.before.before; tile += (int64_t)parts * TSR_MVV_THREADS) {
        const int64_t at = tile + threadIdx.x;
        const uint32_t bit = at < p.before.before ? tsr_mvv_size_of(c->value[c->lists.found[at]]) >> p.plane & 1u : 0u;
        put_bit_each(c, p.before.at + tile + (threadIdx.x & ~31u), bit);
    }
}

tsr_status tsr_cuda_mvv_encode(tsr_queue *queue, const tsr_mvv_shape *shape, tsr_mvv_coding *codings, int32_t count, int32_t planes, int32_t *slot)
{
    const uint32_t parts = tsr_mvv_parts(queue, count), blocks = (uint32_t)count * parts;
    const int32_t generations = tsr_mvv_generations(shape);
    *slot = 0;
    for (int32_t k = 0; k < planes; k++) {
        for (int32_t step = 0; step <= generations; step++, *slot = !*slot) { /* pixels come first */
            TSR_LAUNCH(queue, count_kernel, blocks, TSR_MVV_THREADS, 0, *shape, codings, parts, k, *slot, step > 0);
            TSR_LAUNCH(queue, put_kernel, blocks, TSR_MVV_THREADS, 0, *shape, codings, parts, k, *slot, step > 0);
        }
        TSR_LAUNCH(queue, refine_kernel, blocks, TSR_MVV_THREADS, 0, codings, parts, k, *slot);
        *slot = !*slot;
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
