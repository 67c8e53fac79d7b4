/* wavelet/wavelet_blocks.c: x, y and z together: along z the rows of the slide are slices: bundles of rows of one height, which a slide along y made
 * (the inverse: which it takes apart). */
#include "wavelet/wavelet_slide.h"

typedef struct block {
    slide s;
    plane t;
    place where; /* of slice 0, over the axes behind z */
    int64_t rows;
    uint32_t bad;
} block;

static int64_t block_elements(const block *b) { return b->rows * b->s.p->shape.n; }

static void narrow_slice(const block *b, char *slice, uint32_t *bad)
{
    if (b->s.p->rows->narrow) b->s.p->rows->narrow(slice, block_elements(b), bad);
}

static uint32_t block_bands(const block *b, int64_t z, tsr_wavelet_array band[4])
{
    const pass *p = b->s.p;
    const tsr_wavelet_array *bands = p->inverse ? p->from : p->to;
    uint32_t bits = b->where.bits | (uint32_t)(z & 1) << 2;
    place where = b->where;
    where.index[2] = z >> 1;
    for (uint32_t k = 0; k < 4; k++) band[k] = band_at(p, &bands[bits | k], &where);
    return bits;
}

/* The plane in work becomes slice z; its band[] are the bands at that height. */
static void block_place(block *b, int64_t z)
{
    int64_t stride = b->s.p->l->whole.stride[2];
    b->t.whole = b->where.whole + z * stride;
    b->t.next_whole = z + 1 < b->s.n && stride > 0 ? b->t.whole + stride : -1;
    b->t.bits = block_bands(b, z, b->t.band);
}

static void block_load(slide *s, int64_t r)
{
    block *b = (block *)s;
    const pass *p = s->p;
    int64_t z = tsr_lift_index(r, s->n, TSR_WAVELET_PERIODIC);
    b->t.slice = ring_row(s, r);
    block_place(b, z);
    if (!p->inverse) {
        slide_part(&b->t.s);
        narrow_slice(b, b->t.slice, &b->bad);
        return;
    }
    for (int64_t v = b->t.s.window[0]; v < b->t.s.window[1]; v++) {
        int64_t y = tsr_lift_index(v, b->t.s.n, TSR_WAVELET_PERIODIC);
        for (uint32_t high = 0, odd = (uint32_t)(y & 1) << 1; high < 2; high++) {
            const tsr_wavelet_array *band = &b->t.band[odd | high];
            p->rows->load(at(p, band, (y >> 1) * band->stride[1]), band->stride[0], (p->shape.n + 1 - high) / 2, 0,
                          load_scale(p, b->t.bits | odd | high), slice_row(&b->t, v) + (high ? (p->shape.n + 1) / 2 : 0) * (int64_t)p->rows->ring,
                          &b->bad);
        }
    }
    for (int k = 0; k < 4; k++) b->t.next_band[k].data = NULL;
    if (z + 1 < s->n) block_bands(b, z + 1, b->t.next_band);
}

static void block_store(slide *s, int64_t z)
{
    block *b = (block *)s;
    const pass *p = s->p;
    b->t.slice = ring_row(s, z);
    block_place(b, z);
    if (p->inverse) {
        narrow_slice(b, b->t.slice, &b->bad);
        slide_part(&b->t.s);
        return;
    }
    for (int64_t y = b->t.s.begin; y < b->t.s.end; y++)
        for (uint32_t high = 0, odd = (uint32_t)(y & 1) << 1; high < 2; high++) {
            const tsr_wavelet_array *band = &b->t.band[odd | high];
            const uint32_t bits = b->t.bits | odd | high;
            p->rows->store(slice_row(&b->t, y) + (high ? (p->shape.n + 1) / 2 : 0) * (int64_t)p->rows->ring, (p->shape.n + 1 - high) / 2, 0,
                           store_scale(p, bits), at(p, band, (y >> 1) * band->stride[1]), band->stride[0], streams(p, bits), &b->bad);
        }
}

static void block_lift(slide *s, const tsr_lift_step *step, int64_t i)
{
    block *b = (block *)s;
    const void *from[TSR_WAVELET_TAPS];
    for (int32_t k = 0; k < step->count; k++) from[k] = neighbour(s, i + step->first + 2 * k);
    s->p->rows->lift(step, ring_row(s, i), from, block_elements(b), &b->bad);
}

static int block_pair(slide *s, int64_t i)
{
    block *b = (block *)s;
    const pass *p = s->p;
    const int64_t n = p->shape.n, first = (n + 1) / 2, ring = (int64_t)p->rows->ring;
    char *x = ring_row(s, i), *behind = ring_row(s, i - 1);
    const char *before = neighbour(s, i - 2), *after = neighbour(s, i + 1);
    tsr_wavelet_array band[2][4]; /* of slice i and of slice i-1 */
    uint32_t bits[2];
    if (p->inverse || i >= s->end) goto in_place;
    for (int k = 0; k < 2; k++) {
        bits[k] = block_bands(b, i - k, band[k]);
        for (int of = 0; of < 4; of++) {
            const tsr_wavelet_array *a = &band[k][of];
            const int aligned = a->stride[1] * (int64_t)p->rows->element % 64 == 0;
            if (!is_plain(p, a, bits[k] | (uint32_t)of, (const char *)a->data) || (p->stream && !aligned)) goto in_place;
        }
    }
    for (int64_t y = b->t.s.begin; y < b->t.s.end; y++)
        for (int high = 0; high < 2; high++) {
            const int64_t offset = ((y - b->t.slice_first) * n + high * first) * ring;
            const uint32_t of = (uint32_t)(y & 1) << 1 | (uint32_t)high;
            char *to[2];
            for (int k = 0; k < 2; k++) to[k] = at(p, &band[k][of], (y >> 1) * band[k][of].stride[1]);
            const int past = (streams(p, bits[1] | of) ? TSR_ROWS_STREAM_OUT : 0) | (streams(p, bits[0] | of) ? TSR_ROWS_STREAM_COPY : 0);
            p->rows->pair(p->filter, before + offset, behind + offset, x + offset, after + offset, high ? n / 2 : first, to[1], to[0], past, &b->bad);
        }
    return 3;
in_place:
    p->rows->pair(p->filter, before, behind, x, after, block_elements(b), behind, NULL, 0, &b->bad);
    return 0;
}

static int64_t slice_bytes(const tsr_wavelet_level *l, const tsr_wavelet_rows *rows, int64_t height)
{
    return round64(height * l->size[0] * (int64_t)rows->ring);
}

/* Rows of a block, so that the ring of its slices fits the cache. */
static int64_t block_height(const tsr_wavelet_level *l, const tsr_wavelet_rows *rows, const tsr_lift_filter *f)
{
    int64_t height = BLOCK_BYTES / (ring_rows(f) * l->size[0] * (int64_t)rows->ring);
    return tsr_min64(height / 2 * 2, (l->size[1] + 1) / 2 * 2);
}

static void blocks_range(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    char *work = p->work + worker * p->per_worker;
    block b = { .s = { .p = p, .n = p->l->size[2], .load = block_load, .lift = block_lift, .store = block_store, .pair = block_pair } };
    b.t = tsr_wavelet_plane_make(p, work);
    b.s.zero = work + (1 + p->ring_rows) * p->shape.bytes;
    b.s.row_bytes = slice_bytes(p->l, p->rows, p->part + (p->inverse ? 2 * p->filter->reach : 0));
    b.s.ring = b.s.zero + b.s.row_bytes;
    memset(b.s.zero, 0, (size_t)b.s.row_bytes);
    for (int64_t task = begin; task < end; task++) {
        b.where = place_of(p->l, task / p->parts, 3);
        b.t.s.begin = task % p->parts * p->part;
        b.t.s.end = tsr_min64(b.t.s.begin + p->part, b.t.s.n);
        set_window(&b.t.s);
        b.t.slice_first = p->inverse ? b.t.s.window[0] : b.t.s.begin;
        b.rows = p->inverse ? b.t.s.window[1] - b.t.s.window[0] : b.t.s.end - b.t.s.begin;
        b.s.begin = 0;
        b.s.end = b.s.n;
        set_window(&b.s);
        slide_part(&b.s);
    }
    if (p->stream) p->rows->drain();
    report_lost(p, b.bad | b.t.bad);
}

void tsr_wavelet_run_blocks(pass *p)
{
    int64_t volumes = row_count(p->l, 3);
    prepare_planes(p, volumes);
    p->part = tsr_min64(p->part, block_height(p->l, p->rows, p->filter));
    run_parts(p, volumes, blocks_range);
}

/* Blocks repeat the rows around them: at least half of the work is to be new. */
int tsr_wavelet_has_blocks(const tsr_wavelet_level *l, const tsr_wavelet_rows *rows, const tsr_lift_filter *filter)
{
    return l->axes == 7 && !l->inplace && block_height(l, rows, filter) >= tsr_min64(4 * filter->reach, l->size[1]);
}

int64_t tsr_wavelet_planes_bytes(const tsr_wavelet_level *l, const tsr_wavelet_rows *rows, const tsr_lift_filter *filter)
{
    const int64_t ring = ring_rows(filter), bytes = (2 + ring) * shape_of(l->size[0], rows->ring).bytes; /* one more where they go two by two */
    if (tsr_wavelet_has_blocks(l, rows, filter)) return bytes + (1 + ring) * slice_bytes(l, rows, block_height(l, rows, filter) + 2 * filter->reach);
    return bytes + (l->axes > 3 ? l->size[0] * l->size[1] * (int64_t)rows->element : 0);
}
