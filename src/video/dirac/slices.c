/* video/dirac/slices.c: where each slice begins is found first, then slices are decoded side by side. */
#include "video/dirac/slices.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "video/dirac/slices_isa.h"

void tsr_dirac_layout_make(const tsr_dirac_transform *t, int32_t width, int32_t height, tsr_dirac_layout *l)
{
    const int32_t levels = t->depth + t->horizontal;
    *l = (tsr_dirac_layout){ .width = width,
                             .height = height,
                             .stride = (int32_t)(tsr_ceil_div(width, (int64_t)1 << levels) << levels),
                             .padded_height = (int32_t)(tsr_ceil_div(height, (int64_t)1 << t->depth) << t->depth) };
    l->band[0][0] = (tsr_dirac_band){ 0, l->stride >> levels, l->padded_height >> t->depth };
    for (int32_t level = 1; level <= levels; level++) {
        const int32_t up = levels - level + 1, w = l->stride >> up, h = l->padded_height >> (up < t->depth ? up : t->depth);
        l->band[level][1] = (tsr_dirac_band){ w, w, h };
        if (level <= t->horizontal) continue;
        l->band[level][2] = (tsr_dirac_band){ (int64_t)h * l->stride, w, h };
        l->band[level][3] = (tsr_dirac_band){ (int64_t)h * l->stride + w, w, h };
    }
}

/* ---- many ---------------------------------------------------------------------------------------------------------------------------------- */

static tsr_code_table codes;
static pthread_once_t codes_once = PTHREAD_ONCE_INIT;

/* Every sequence of TSR_CODE_BITS bits: the whole codes that it begins with. */
static void make_codes(void)
{
    uint8_t bytes[TSR_BITS_SLACK + 4] = { 0 };
    for (uint32_t k = 0; k < 1u << TSR_CODE_BITS; k++) {
        tsr_code_entry *e = &codes.entry[k];
        const uint32_t word = k << (32 - TSR_CODE_BITS);
        tsr_bits bits = { bytes, 0, TSR_CODE_BITS };
        for (int n = 0; n < 4; n++) bytes[n] = (uint8_t)(word >> (24 - 8 * n));
        while (e->count < TSR_CODE_VALUES && bits.at < TSR_CODE_BITS) {
            const int32_t value = tsr_bits_int(&bits);
            if (bits.at > TSR_CODE_BITS) break;
            e->value[e->count++] = (int8_t)value;
            e->bits = (uint8_t)bits.at;
        }
    }
}

static void decode_range(void *user, int64_t begin, int64_t end, int worker)
{
    tsr_slices_job *j = (tsr_slices_job *)user;
    int32_t *buffer = (int32_t *)malloc(2 * (size_t)(j->room + TSR_CODE_SLACK) * sizeof(int32_t));
    (void)worker;
    if (!buffer) {
        __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    if (TSR_ISA_SELECT(tsr_dirac_decode_range)(j, begin, end, buffer)) __atomic_store_n(&j->over, 1, __ATOMIC_RELAXED);
    free(buffer);
}

/* Bits of slice n, which begins at `at`: known beforehand, or read from its length bytes. Where the data end before, what is left. */
static int64_t slice_bits(const tsr_dirac_transform *t, const tsr_bits *bits, int64_t at, int64_t n)
{
    if (!t->high_quality) return 8 * tsr_dirac_slice_bytes(t, n);
    int64_t byte = at / 8 + t->prefix + 1;
    for (int component = 0; component < 3 && byte < bits->end / 8; component++) byte += 1 + (int64_t)bits->data[byte] * t->scaler;
    return 8 * byte - at;
}

static int64_t slice_end(const tsr_dirac_transform *t, const tsr_bits *bits, int64_t at, int64_t n)
{
    return at < bits->end ? at + slice_bits(t, bits, at, n) : at + 8; /* not there: the least a slice has */
}

void tsr_dirac_slices_find(const tsr_dirac_transform *t, const tsr_bits *bits, int64_t first, int64_t count, uint32_t *starts, int64_t *whole)
{
    int64_t at = bits->at;
    *whole = 0;
    starts[0] = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t behind = slice_end(t, bits, at, first + k);
        *whole += behind <= bits->end && at < bits->end;
        at = behind;
        starts[k + 1] = (uint32_t)tsr_min64((at - bits->at) / 8, UINT32_MAX);
    }
}

/* Coefficients of the largest slice, of both chroma components together where they are interleaved. */
static int64_t room_of(const tsr_dirac_slices *s)
{
    const tsr_dirac_transform *t = s->transform;
    int64_t room = 0;
    for (int c = 0; c < 2; c++) {
        int64_t own = 0;
        for (int level = 0; level <= t->horizontal + t->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(t, level); band++)
                own += tsr_ceil_div(s->layout[c]->band[level][band].width, t->slices_x) *
                       tsr_ceil_div(s->layout[c]->band[level][band].height, t->slices_y);
        room = tsr_max64(room, (1 + c) * own);
    }
    return room;
}

static void find_even(const tsr_dirac_slices *s, tsr_slices_job *job)
{
    const tsr_dirac_transform *t = s->transform;
    for (int kind = 0; kind < 2; kind++) {
        job->even[kind] = 1;
        job->even_bands = job->even_size[kind] = 0;
        for (int level = 0; level <= t->horizontal + t->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
                const tsr_dirac_steps e = job->steps[kind][level][band];
                job->even[kind] &= e.x > 0 && e.y > 0 && (int64_t)e.x * e.y < 1 << 24;
                job->even_band[kind][job->even_bands++] =
                    (tsr_even_band){ s->layout[kind]->band[level][band].offset, e.x, e.y, t->matrix[level][band] };
                if (job->even[kind]) job->even_size[kind] += e.x * e.y;
            }
    }
}

tsr_status tsr_dirac_slices_decode(const tsr_dirac_slices *s, tsr_bits *bits, int64_t first, int64_t count, int64_t *starts, int64_t *whole,
                                   int *fits)
{
    tsr_slices_job job = { .slices = s, .codes = &codes, .data = bits->data, .starts = starts, .first = first, .end = bits->end, .room = room_of(s) };
    *whole = 0;
    starts[0] = bits->at;
    for (int64_t k = 0; k < count; k++) {
        starts[k + 1] = slice_end(s->transform, bits, starts[k], first + k);
        *whole += starts[k + 1] <= bits->end && starts[k] < bits->end;
    }
    bits->at = starts[count];
    pthread_once(&codes_once, make_codes);
    tsr_dirac_slices_steps(s->transform, s->layout, job.steps);
    find_even(s, &job);
    for (int32_t k = 0; k < TSR_SLICE_INDICES; k++) job.quantiser[k] = tsr_quantiser_make(k > 255 ? k - 255 : 0, 0);
    tsr_parallel(s->threads, count, tsr_max64(1, count / (8 * (int64_t)s->threads)), decode_range, &job);
    *fits = !job.over;
    if (job.failed) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for a slice of %lld coefficients", (long long)job.room);
    return TSR_OK;
}

void tsr_dirac_slices_steps(const tsr_dirac_transform *t, const tsr_dirac_layout *const layout[3], tsr_dirac_steps steps[2][TSR_DIRAC_LEVELS + 1][4])
{
    for (int c = 0; c < 2; c++)
        for (int level = 0; level <= t->horizontal + t->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(t, level); band++)
                steps[c][level][band] = tsr_dirac_steps_of(t, &layout[c]->band[level][band]);
}

void tsr_dirac_predict_approximation(int32_t *coefficients, const tsr_dirac_layout *layout)
{
    const tsr_dirac_band *b = &layout->band[0][0];
    for (int32_t y = 0; y < b->height; y++) {
        int32_t *row = coefficients + b->offset + (int64_t)y * layout->stride;
        for (int32_t x = 0; x < b->width; x++) {
            const int32_t prediction = tsr_dirac_neighbours_mean(row + x, layout->stride, x, y);
            row[x] = (int32_t)((uint32_t)row[x] + (uint32_t)prediction);
        }
    }
}
