/* video/multiview/multiview_cuda.cu: a block decodes a stream: the bits of a pass or of a generation of sets all at once, a thread an entry, and
 * sums over the block say where what they add belongs. Encoding: encode_cuda.cu. */
#include "video/multiview/multiview_cuda.h"

#ifdef TSR_EMU
enum { STREAM_THREADS = 64 }; /* the emulator runs them one after another */
#else
enum { STREAM_THREADS = 1024 };
#endif
enum { STREAM_WARPS = STREAM_THREADS / 32, THREADS = 256 };

/* A stream that is cut off ends with the last coefficient whose sign is there; nobody asks for the lists again. `ones` of a group are significant. */
TSR_DEVICE_FN void end_group(tsr_mvv_state *s, int64_t first, int64_t signs, int64_t ones)
{
    s->cut = signs + ones > s->end;
    s->found_count = first + (s->cut ? s->end - signs : ones);
    s->at[0] = signs + ones;
}

/* Pixels whose bits are all there. */
TSR_DEVICE_FN void pixels_at_once(tsr_mvv_state *s, uint64_t *total)
{
    const int64_t count = s->pixel_count, bits = s->at[0], signs = bits + count;
    int64_t kept = 0, found = 0, first = s->found_count;
    for (int64_t tile = 0; tile < count; tile += STREAM_THREADS) {
        const int64_t k = tile + threadIdx.x;
        const int in = k < count;
        const uint32_t x = in ? s->pixels[k] : 0u, bit = in ? tsr_mvv_bit_of(s->bytes, bits + k) : 0u;
        uint64_t all;
        const uint64_t before = tsr_block_before<STREAM_WARPS>(bit | (uint64_t)(in && !bit) << 16, total, &all);
        const int64_t f = found + (int64_t)(before & 0xffff);
        if (bit && signs + f < s->end) {
            s->found[first + f] = x;
            s->value[first + f] = tsr_mvv_first_value(s->plane, tsr_mvv_bit_of(s->bytes, signs + f));
        } else if (in && !bit) s->pixels[kept + (int64_t)(before >> 16 & 0xffff)] = x;
        found += (int64_t)(all & 0xffff);
        kept += (int64_t)(all >> 16 & 0xffff);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        s->pixel_count = kept;
        end_group(s, first, signs, found);
    }
    __syncthreads();
}

/* Children of all sets of a generation that are significant; bits behind the end are none. */
TSR_DEVICE_FN int64_t count_children(const tsr_mvv_state *s, int64_t begin, int64_t end, uint64_t *total)
{
    uint64_t own = 0, all;
    for (int64_t k = begin + threadIdx.x; k < end; k += STREAM_THREADS) {
        const int64_t at = s->at[0] + k - begin;
        const uint32_t x = s->sets[k];
        if (at < s->end && tsr_mvv_bit_of(s->bytes, at) && !(x & TSR_MVV_SET_B))
            own += (uint64_t)tsr_mvv_children_of(s->shape, x, tsr_mvv_level(s->shape, x));
    }
    tsr_block_before<STREAM_WARPS>(own, total, &all);
    return (int64_t)all;
}

/* A generation whose bits of sets and children are all there: each thread opens a set as a decoder of its own, whose lists begin where the sums say. */
TSR_DEVICE_FN void sets_at_once(tsr_mvv_state *s, int64_t begin, int64_t end, int64_t *kept, uint64_t *total)
{
    const int64_t bits = s->at[0], first = s->found_count, signs = s->at[2];
    int64_t child = s->at[1], sign = signs, pixels = s->pixel_count, sets = s->set_count, found = s->found_count, stay = *kept;
    for (int64_t tile = begin; tile < end; tile += STREAM_THREADS) {
        const int64_t k = tile + threadIdx.x;
        const int in = k < end;
        const uint32_t entry = in ? s->sets[k] : 0u, x = entry & ~TSR_MVV_SET_B, bit = in ? tsr_mvv_bit_of(s->bytes, bits + k - begin) : 0u;
        const int is_b = (entry & TSR_MVV_SET_B) != 0;
        const int32_t level = tsr_mvv_level(s->shape, x), children = bit && !is_b ? tsr_mvv_children_of(s->shape, x, level) : 0;
        uint64_t all, ones = 0, more = 0;
        const int64_t own_child = child + (int64_t)tsr_block_before<STREAM_WARPS>((uint64_t)children, total, &all);
        child += (int64_t)all;
        for (int32_t c = 0; c < children; c++) ones += tsr_mvv_bit_of(s->bytes, own_child + c);
        if (bit && !is_b) more = tsr_mvv_has_grandchildren(s->shape, x, level) ? 1 : 0;
        else if (bit) {
            const uint32_t base = tsr_mvv_base(s->shape, x, level);
            for (int32_t c = tsr_mvv_first_child(x); c < s->shape->children[level]; c++)
                more += tsr_mvv_has_children(s->shape, base + s->shape->child[level][c], level + 1) ? 1 : 0;
        }
        const uint64_t before =
            tsr_block_before<STREAM_WARPS>(ones | ((uint64_t)children - ones) << 16 | more << 32 | (uint64_t)(in && !bit) << 48, total, &all);
        tsr_mvv_state own = *s;
        own.at[1] = own_child;
        own.at[2] = sign + (int64_t)(before & 0xffff);
        own.found_count = found + (int64_t)(before & 0xffff);
        own.pixel_count = pixels + (int64_t)(before >> 16 & 0xffff);
        own.set_count = sets + (int64_t)(before >> 32 & 0xffff);
        __syncthreads(); /* what stays overwrites entries that this tile has read */
        if (bit) tsr_mvv_open_set(&own, entry);
        else if (in) s->sets[stay + (int64_t)(before >> 48)] = entry;
        sign += (int64_t)(all & 0xffff);
        found += (int64_t)(all & 0xffff);
        pixels += (int64_t)(all >> 16 & 0xffff);
        sets += (int64_t)(all >> 32 & 0xffff);
        stay += (int64_t)(all >> 48);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        s->pixel_count = pixels;
        s->set_count = sets;
        end_group(s, first, signs, found - first);
    }
    *kept = stay;
    __syncthreads();
}

TSR_DEVICE_FN void decode_plane(tsr_mvv_state *s, uint64_t *total)
{
    const int64_t before = s->found_count;
    int64_t kept = 0, begin = 0;
    if (s->at[0] + s->pixel_count <= s->end) pixels_at_once(s, total);
    else if (threadIdx.x == 0) s->cut = 1; /* no sign can be there */
    __syncthreads();
    for (int64_t end = s->set_count; begin < end && !s->cut; begin = end, end = s->set_count) {
        const int64_t first_child = s->at[0] + end - begin, first_sign = first_child + count_children(s, begin, end, total);
        __syncthreads();
        if (threadIdx.x == 0) {
            s->at[1] = first_child;
            s->at[2] = first_sign;
            s->cut = first_sign > s->end;
        }
        __syncthreads();
        if (first_sign <= s->end) sets_at_once(s, begin, end, &kept, total);
        __syncthreads();
    }
    if (s->cut) return;
    const int64_t refinements = s->at[0];
    __syncthreads();
    if (threadIdx.x == 0) {
        s->set_count = kept;
        s->at[0] += tsr_mvv_refined_count(s, before);
    }
    __syncthreads();
    for (int64_t k = threadIdx.x; k < s->at[0] - refinements; k += STREAM_THREADS)
        s->value[k] = tsr_mvv_refined(s->value[k], s->plane, tsr_mvv_bit_of(s->bytes, refinements + k));
    __syncthreads();
}

TSR_DEVICE_FN uint32_t word_of(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }

TSR_KERNEL(__launch_bounds__(STREAM_THREADS) streams_kernel)(tsr_mvv_shape shape_of_all, const uint8_t *all_bytes, tsr_mvv_stream *streams)
{
    TSR_SHARED(tsr_mvv_state, state, 1);
    TSR_SHARED(tsr_mvv_shape, shape, 1);
    TSR_SHARED(uint64_t, total, STREAM_WARPS);
    TSR_SHARED(int32_t, bad, 1);
    tsr_mvv_stream *stream = streams + blockIdx.x;
    const uint8_t *bytes = all_bytes + stream->offset;
    const int32_t planes = stream->size ? bytes[0] : 0;
    const int64_t first = 1 + 4 * (int64_t)planes;
    if (threadIdx.x == 0) {
        shape[0] = shape_of_all;
        bad[0] = 0;
        tsr_mvv_state s;
        memset(&s, 0, sizeof s);
        s.shape = shape;
        s.bytes = bytes;
        s.end = 8 * stream->size;
        s.child = 1;
        s.sign = 2;
        s.pixels = stream->pixels;
        s.sets = stream->sets;
        s.found = stream->found;
        s.value = stream->value;
        s.at[0] = 8 * first;
        s.cut = first > stream->size;
        s.pixels[s.pixel_count++] = 0;
        if (tsr_mvv_has_children(shape, 0, 0)) s.sets[s.set_count++] = 0;
        state[0] = s;
    }
    __syncthreads();
    for (int32_t k = 0; k < planes; k++) {
        if (state[0].cut || bad[0]) break;
        __syncthreads();
        if (threadIdx.x == 0) {
            const int64_t place = 8 * (first + (int64_t)word_of(bytes + 1 + 4 * k)), here = (state[0].at[0] + 7) / 8 * 8;
            if (place != here && place < state[0].end) bad[0] = 1 + k;
            state[0].at[0] = here;
            state[0].plane = planes - 1 - k;
        }
        __syncthreads();
        if (!bad[0]) decode_plane(state, total);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        stream->found_count = planes ? state[0].found_count : 0;
        stream->bad_plane = bad[0];
    }
}

TSR_KERNEL(scatter_kernel)(tsr_mvv_shape shape, const tsr_mvv_stream *stream, int lossless, int32_t *coefficient)
{
    for (int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x; k < stream->found_count; k += (int64_t)gridDim.x * THREADS)
        tsr_mvv_scatter(&shape, stream->found[k], stream->value[k], lossless, coefficient);
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

static tsr_status cuda_streams(tsr_queue *queue, const tsr_mvv_shape *shape, const uint8_t *bytes, tsr_mvv_stream *streams, int32_t count)
{
    TSR_LAUNCH(queue, streams_kernel, (uint32_t)count, STREAM_THREADS, 0, *shape, bytes, streams);
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
