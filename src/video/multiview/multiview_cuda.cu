/* video/multiview/multiview_cuda.cu: streams of syntax planes to texels. A step of a stream (the pixels of a plane; a generation of sets) takes
 * several blocks and some launches, for all streams at once: how many children, how many of them significant, then each block knows where its part
 * belongs. Bound by accesses to single entries; restoring by memory: 4 n bytes cleared, 16 n an axis, 5 n for texels. Encoding: encode_cuda.cu. */
#include "video/multiview/multiview_cuda.h"

enum { THREADS = 256 };
typedef enum step { PIXELS, CHILDREN, SETS } step;

TSR_DEVICE_FN uint32_t word_of(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }

/* Plane k begins where its directory says; one that was never written begins at the end. */
TSR_DEVICE_FN void check_plane(tsr_mvv_stream *s, const uint8_t *bytes, tsr_mvv_progress *p, int32_t k)
{
    const int64_t place = 8 * (1 + 4 * (int64_t)s->lists.planes + word_of(bytes + 1 + 4 * k));
    if (place == p->at || place >= 8 * s->size) return;
    s->bad_plane = 1 + k;
    p->cut = 1;
}

TSR_KERNEL(begin_stream_kernel)(tsr_mvv_shape shape, const uint8_t *all_bytes, tsr_mvv_stream *streams, int32_t count)
{
    const int32_t k = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
    if (k >= count) return;
    tsr_mvv_stream *s = streams + k;
    const int64_t first = 1 + 4 * (int64_t)s->lists.planes;
    tsr_mvv_progress p = { 8 * first, 0, 0, 0, 0, 0, 0, 0, first > s->size, 0 };
    s->lists.pixel[0][p.pixels++] = 0;
    if (tsr_mvv_has_children(&shape, 0, 0)) s->lists.set[0][p.sets++] = 0;
    s->bad_plane = 0;
    if (s->lists.planes && !p.cut) check_plane(s, all_bytes + s->offset, &p, 0);
    s->lists.state[0] = p;
}

TSR_KERNEL(end_stream_kernel)(tsr_mvv_stream *streams, int32_t count, int32_t slot)
{
    const int32_t k = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
    if (k < count) streams[k].found_count = streams[k].lists.state[slot].found;
}

/* Sets that one which is significant adds. */
TSR_DEVICE_FN int32_t added_by(const tsr_mvv_shape *shape, uint32_t entry)
{
    const uint32_t x = entry & ~TSR_MVV_SET_B;
    const int32_t level = tsr_mvv_level(shape, x);
    if (!(entry & TSR_MVV_SET_B)) return tsr_mvv_has_grandchildren(shape, x, level);
    const uint32_t base = tsr_mvv_base(shape, x, level);
    int32_t more = 0;
    for (int32_t c = tsr_mvv_first_child(x); c < shape->children[level]; c++)
        more += tsr_mvv_has_children(shape, base + shape->child[level][c], level + 1);
    return more;
}
TSR_DEVICE_FN int32_t children_under(const tsr_mvv_shape *shape, uint32_t entry)
{
    return entry & TSR_MVV_SET_B ? 0 : tsr_mvv_children_of(shape, entry, tsr_mvv_level(shape, entry));
}
TSR_DEVICE_FN uint32_t bits_at(const uint8_t *bytes, int64_t at, int32_t many)
{
    uint32_t bits = 0;
    for (int32_t k = 0; k < many; k++) bits |= tsr_mvv_bit_of(bytes, at + k) << k;
    return bits;
}

/* Totals of the parts: of PIXELS and SETS all but children, of CHILDREN those. Nothing where bits are missing: then no sign is there. */
TSR_KERNEL(__launch_bounds__(TSR_MVV_THREADS) total_kernel)
(tsr_mvv_shape shape_of_all, const uint8_t *all_bytes, tsr_mvv_stream *streams, uint32_t parts, int32_t k, int32_t slot, step kind)
{
    TSR_SHARED(tsr_mvv_shape, shape, 1);
    TSR_SHARED(uint64_t, total, TSR_MVV_WARPS);
    TSR_SHARED(int64_t, before, TSR_MVV_TOTALS);
    TSR_SHARED(int64_t, all, TSR_MVV_TOTALS);
    tsr_mvv_stream *const s = streams + blockIdx.x / parts;
    const tsr_mvv_part p = tsr_mvv_part_of(&s->lists, parts, k, slot, kind != PIXELS);
    const uint8_t *bytes = all_bytes + s->offset;
    const int64_t children_at = p.before.at + p.end - p.begin, last = 8 * s->size;
    if (p.plane < 0 || p.before.cut || p.begin == p.end || children_at > last) return;
    if (threadIdx.x == 0) {
        shape[0] = shape_of_all;
        before[0] = all[0] = 0;
    }
    __syncthreads();
    if (kind == SETS) {
        tsr_mvv_sum_parts(&s->lists, p.number, parts, 0, 1, before, all);
        if (children_at + all[0] > last) return;
    }
    uint64_t first = 0, second = 0, all_first, all_second; /* children and found; new sets and kept */
    int64_t child = children_at + before[0];
    for (int64_t tile = p.from; tile < p.to; tile += TSR_MVV_THREADS) {
        const int64_t at = tile + threadIdx.x;
        const int in = at < p.to;
        const uint32_t entry = in ? p.list[at] : 0u, bit = in ? tsr_mvv_bit_of(bytes, p.before.at + at - p.begin) : 0u;
        const int32_t children = bit && kind != PIXELS ? children_under(shape, entry) : 0;
        uint32_t found = kind == PIXELS ? bit : 0u;
        if (kind == SETS) {
            uint64_t sum;
            const int64_t own = child + (int64_t)tsr_block_before<TSR_MVV_WARPS>((uint64_t)(uint32_t)children, total, &sum);
            found = (uint32_t)__popc(bits_at(bytes, own, children));
            child += (int64_t)sum;
            if (bit) second += (uint64_t)(uint32_t)added_by(shape, entry) << 32;
        }
        first += (uint64_t)(uint32_t)children << 32 | found;
        second += (uint64_t)(in && !bit);
    }
    tsr_block_before<TSR_MVV_WARPS>(first, total, &all_first);
    tsr_block_before<TSR_MVV_WARPS>(second, total, &all_second);
    if (threadIdx.x == 0) {
        int64_t *to = s->lists.total[p.number];
        if (kind != SETS) to[0] = (int64_t)(all_first >> 32);
        to[1] = (int64_t)(all_first & 0xffffffffu);
        to[2] = (int64_t)(all_second >> 32);
        to[3] = (int64_t)(all_second & 0xffffffffu);
    }
}

/* What is found goes to its place, and entries to the lists. A stream that is cut off ends with the last coefficient whose sign is there. */
TSR_KERNEL(__launch_bounds__(TSR_MVV_THREADS) find_kernel)
(tsr_mvv_shape shape_of_all, const uint8_t *all_bytes, tsr_mvv_stream *streams, uint32_t parts, int32_t k, int32_t slot, int32_t sets)
{
    TSR_SHARED(tsr_mvv_shape, shape, 1);
    TSR_SHARED(uint64_t, total, TSR_MVV_WARPS);
    TSR_SHARED(int64_t, before, TSR_MVV_TOTALS);
    TSR_SHARED(int64_t, all, TSR_MVV_TOTALS);
    tsr_mvv_stream *const s = streams + blockIdx.x / parts;
    const tsr_mvv_part p = tsr_mvv_part_of(&s->lists, parts, k, slot, sets);
    const uint8_t *bytes = all_bytes + s->offset;
    const int64_t children_at = p.before.at + p.end - p.begin, last = 8 * s->size;
    const int idle = p.plane < 0 || p.before.cut, nothing = idle || p.begin == p.end;
    int missing = !nothing && children_at > last;
    if (nothing && p.number) return;
    if (threadIdx.x == 0) shape[0] = shape_of_all;
    if (!nothing && !missing) {
        tsr_mvv_sum_parts(&s->lists, p.number, parts, 0, TSR_MVV_TOTALS, before, all);
        missing = children_at + all[0] > last;
    }
    if (p.number == 0 && threadIdx.x == 0) {
        const int64_t none[TSR_MVV_TOTALS] = { 0, 0, 0, 0 };
        tsr_mvv_progress after = p.before;
        if (missing) after.cut = 1;
        else if (!idle && sets) tsr_mvv_after_sets(&after, nothing ? none : all);
        else if (!idle) tsr_mvv_after_pixels(&after, nothing ? none : all);
        if (!idle && !missing && after.at > last) {
            after.found -= after.at - last;
            after.cut = 1;
        }
        s->lists.state[!slot] = after;
    }
    if (nothing || missing) return;
    const int64_t signs_at = children_at + all[0];
    uint32_t *const stay = (sets ? s->lists.set : s->lists.pixel)[~k & 1], *const pixels = s->lists.pixel[~k & 1], *const added = s->lists.set[k & 1];
    int64_t child = before[0], found = before[1], more = before[2], kept = (sets ? p.before.kept : 0) + before[3];
    for (int64_t tile = p.from; tile < p.to; tile += TSR_MVV_THREADS) {
        const int64_t at = tile + threadIdx.x;
        const int in = at < p.to;
        const uint32_t entry = in ? p.list[at] : 0u, bit = in ? tsr_mvv_bit_of(bytes, p.before.at + at - p.begin) : 0u;
        const int32_t children = bit && sets ? children_under(shape, entry) : 0, own_more = bit && sets ? added_by(shape, entry) : 0;
        int64_t own_child = child, own_found = found;
        uint64_t sum;
        uint32_t bits = bit; /* a pixel is as the child of a set */
        if (sets) {
            own_child += (int64_t)tsr_block_before<TSR_MVV_WARPS>((uint64_t)(uint32_t)children, total, &sum);
            child += (int64_t)sum;
            bits = bits_at(bytes, children_at + own_child, children);
        }
        const uint64_t mine = (uint64_t)(uint32_t)__popc(bits) | (uint64_t)(uint32_t)own_more << 16 | (uint64_t)(in && !bit) << 32;
        const uint64_t here = tsr_block_before<TSR_MVV_WARPS>(mine, total, &sum);
        own_found += (int64_t)(here & 0xffff);
        if (in && !bit) stay[kept + (int64_t)(here >> 32)] = entry;
        else if (bit) {
            const uint32_t x = entry & ~TSR_MVV_SET_B;
            const int32_t level = tsr_mvv_level(shape, x), skip = sets ? tsr_mvv_first_child(x) : 0;
            const uint32_t base = tsr_mvv_base(shape, x, level);
            uint32_t *to_sets = added + p.before.sets + more + (int64_t)(here >> 16 & 0xffff);
            uint32_t *to_pixels = pixels + p.before.next_pixels + own_child - own_found;
            for (int32_t n = skip; n < (sets ? shape->children[level] : 1); n++) {
                const uint32_t y = sets ? base + shape->child[level][n] : entry;
                if (entry & TSR_MVV_SET_B) {
                    if (tsr_mvv_has_children(shape, y, level + 1)) *to_sets++ = y;
                } else if (!(bits >> (n - skip) & 1u)) *to_pixels++ = y;
                else {
                    if (signs_at + own_found < last) {
                        s->lists.found[p.before.found + own_found] = y;
                        s->value[p.before.found + own_found] = tsr_mvv_first_value(p.plane, tsr_mvv_bit_of(bytes, signs_at + own_found));
                    }
                    own_found++;
                }
            }
            if (sets && !(entry & TSR_MVV_SET_B) && own_more) *to_sets = x | TSR_MVV_SET_B;
        }
        found += (int64_t)(sum & 0xffff);
        more += (int64_t)(sum >> 16 & 0xffff);
        kept += (int64_t)(sum >> 32);
    }
}

/* Refinement, and the beginning of the next plane. */
TSR_KERNEL(__launch_bounds__(TSR_MVV_THREADS) refine_stream_kernel)
(const uint8_t *all_bytes, tsr_mvv_stream *streams, uint32_t parts, int32_t k, int32_t slot)
{
    tsr_mvv_stream *const s = streams + blockIdx.x / parts;
    const tsr_mvv_part p = tsr_mvv_part_of(&s->lists, parts, k, slot, 0);
    const uint8_t *bytes = all_bytes + s->offset;
    const int64_t there = 8 * s->size - p.before.at;
    const int idle = p.plane < 0 || p.before.cut;
    const int64_t count = there >= p.before.before ? p.before.before : there / TSR_MVV_REFINED * TSR_MVV_REFINED;
    if (p.number == 0 && threadIdx.x == 0) {
        tsr_mvv_progress after = p.before;
        if (!idle) {
            tsr_mvv_after_plane(&after);
            after.cut = there < p.before.before;
            if (!after.cut && p.plane > 0) check_plane(s, bytes, &after, k + 1);
        }
        s->lists.state[!slot] = after;
    }
    for (int64_t at = (int64_t)p.number * TSR_MVV_THREADS + threadIdx.x; !idle && at < count; at += (int64_t)parts * TSR_MVV_THREADS)
        s->value[at] = tsr_mvv_refined(s->value[at], p.plane, tsr_mvv_bit_of(bytes, p.before.at + at));
}

TSR_KERNEL(scatter_kernel)(tsr_mvv_shape shape, const tsr_mvv_stream *stream, int lossless, int32_t *coefficient)
{
    for (int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x; k < stream->found_count; k += (int64_t)gridDim.x * THREADS)
        tsr_mvv_scatter(&shape, stream->lists.found[k], stream->value[k], lossless, coefficient);
}

TSR_KERNEL(pair_kernel)(tsr_mvv_shape shape, int a, int64_t half, int64_t pairs, int lossless, const int32_t *low, const int32_t *high, int32_t *to)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < pairs) tsr_mvv_restore_pair(&shape, a, half, k, lossless, low, high, to);
}

TSR_KERNEL(texel_kernel)(tsr_mvv_shape shape, tsr_mvv_target target, int lossless, const int32_t *sample, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < count) tsr_mvv_put_texel(&shape, &target, lossless, sample, k);
}

TSR_KERNEL(blank_kernel)(uint8_t *texel, const uint64_t *mask, int32_t width, int64_t words, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < count && !(mask[k / width * words + k % width / 64] >> (k % width & 63) & 1)) texel[k] = 0;
}

static tsr_status cuda_streams(tsr_queue *queue, const tsr_mvv_shape *shape, const uint8_t *bytes, tsr_mvv_stream *streams, int32_t count,
                               int32_t planes)
{
    const uint32_t parts = tsr_mvv_parts(queue, count), blocks = (uint32_t)count * parts, some = tsr_blocks(count, THREADS, INT32_MAX);
    const int32_t generations = tsr_mvv_generations(shape);
    int32_t slot = 0;
    TSR_LAUNCH(queue, begin_stream_kernel, some, THREADS, 0, *shape, bytes, streams, count);
    for (int32_t k = 0; k < planes; k++) {
        for (int32_t g = 0; g <= generations; g++, slot = !slot) { /* pixels come first */
            if (g) TSR_LAUNCH(queue, total_kernel, blocks, TSR_MVV_THREADS, 0, *shape, bytes, streams, parts, k, slot, CHILDREN);
            TSR_LAUNCH(queue, total_kernel, blocks, TSR_MVV_THREADS, 0, *shape, bytes, streams, parts, k, slot, g ? SETS : PIXELS);
            TSR_LAUNCH(queue, find_kernel, blocks, TSR_MVV_THREADS, 0, *shape, bytes, streams, parts, k, slot, g > 0);
        }
        TSR_LAUNCH(queue, refine_stream_kernel, blocks, TSR_MVV_THREADS, 0, bytes, streams, parts, k, slot);
        slot = !slot;
    }
    TSR_LAUNCH(queue, end_stream_kernel, some, THREADS, 0, streams, count, slot);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_restore(tsr_queue *queue, const tsr_mvv_shape *shape, const tsr_mvv_stream *stream, int lossless, int32_t *work[3],
                               const tsr_mvv_target *target)
{
    const int64_t all = (int64_t)1 << shape->all, texels = (int64_t)target->width * target->height * target->cameras * target->steps;
    int now = 0; /* which of the three holds the samples so far */
    TSR_TRY(tsr_queue_fill(queue, work[0], 0, (size_t)all * 4));
    TSR_LAUNCH(queue, scatter_kernel, tsr_blocks(all, THREADS, 4096), THREADS, 0, *shape, stream, lossless, work[0]);
    for (int a = 0; a < TSR_MVV_AXES; a++) {
        int low = now, next = 1;
        for (int64_t half = 1; half < (int64_t)1 << shape->bits[a]; half *= 2, low = next) {
            next = 0;
            while (next == now || next == low) next++;
            const int64_t pairs = half << (shape->all - shape->bits[a]);
            TSR_LAUNCH(queue, pair_kernel, tsr_blocks(pairs, THREADS, INT32_MAX), THREADS, 0, *shape, a, half, pairs, lossless, work[low], work[now],
                       work[next]);
        }
        now = low;
    }
    TSR_LAUNCH(queue, texel_kernel, tsr_blocks(texels, THREADS, INT32_MAX), THREADS, 0, *shape, *target, lossless, work[now], texels);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_blank(tsr_queue *queue, uint8_t *texel, const uint64_t *mask, int32_t width, int64_t rows)
{
    const int64_t count = rows * width;
    TSR_LAUNCH(queue, blank_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, texel, mask, width, ((int64_t)width + 63) / 64, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_multiview_ops tsr_multiview_cuda = { cuda_streams,
                                                          cuda_restore,
                                                          cuda_blank,
                                                          tsr_cuda_mvv_prepare,
                                                          tsr_cuda_mvv_encode,
                                                          tsr_cuda_mvv_sheets,
                                                          tsr_cuda_mvv_sum,
                                                          tsr_cuda_mvv_averages,
                                                          tsr_cuda_mvv_add_averages,
                                                          tsr_cuda_mvv_mean,
                                                          tsr_cuda_mvv_coefficients };
