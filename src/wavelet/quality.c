/* wavelet/quality.c: how much of every stream of a compressed volume is kept: by PSNR, by rate, in layers. */
#include "wavelet/encoder.h"

#include <math.h>
#include <stdlib.h>

static const double A_STEP = 1 - 1e-11; /* from a slope that was found to the next one */

/* Bytes of a stream that its first n passes need. */
static uint32_t bytes_needed(const tsr_planes_stream *s, int32_t n) { return !n ? 0 : n == s->passes ? (uint32_t)s->size : s->pass[n - 1].bytes; }

/* Gives the room that is left at `slope` to streams that can use it: many have passes of the next slope. */
static void fill(struct tsr_encoder *e, double slope, double room)
{
    double bytes, error;
    tsr_cut_measure(&e->cut, slope, &bytes, &error);
    for (int64_t k = 0; k < e->cut.streams; k++) {
        const tsr_planes_stream *s = &e->stream[k];
        const double more =
            (double)bytes_needed(s, tsr_cut_passes(&e->cut, k, slope * A_STEP)) - (double)bytes_needed(s, tsr_cut_passes(&e->cut, k, slope));
        e->filled[k] = more > 0 && bytes + more <= room;
        if (e->filled[k]) bytes += more;
    }
}

/* The passes of every layer, for streams cut at `slope` in the end. */
void tsr_encoder_set_layers(struct tsr_encoder *e, double slope)
{
    const tsr_tsc *t = &e->t;
    double all, error;
    tsr_cut_measure(&e->cut, slope, &all, &error);
    for (int32_t l = 0; l < t->layers; l++) {
        const int last = l == t->layers - 1;
        const double at = last ? slope : fmax(slope, tsr_cut_find(&e->cut, ldexp(all, l + 1 - t->layers), -1));
        for (int64_t k = 0; k < t->brick_count * t->streams; k++) {
            const int whole = t->coder != TSR_COMPRESS_PLANES || k % t->streams == t->resolutions; /* exceptions: all in the first layer */
            const int32_t n =
                whole || (last && slope <= 0) ? e->stream[k].passes : tsr_cut_passes(&e->cut, k, last && e->filled[k] ? at * A_STEP : at);
            e->passes[k * t->layers + l] = (uint8_t)n;
        }
    }
}

/* Sizes of the pieces. */
void tsr_encoder_set_pieces(struct tsr_encoder *e)
{
    const tsr_tsc *t = &e->t;
    for (int64_t k = 0; k < t->brick_count * t->streams; k++) {
        const tsr_planes_stream *s = &e->stream[k];
        uint32_t at = 0;
        int32_t before = 0;
        for (int32_t l = 0; l < t->layers; l++) {
            int32_t n = e->passes[k * t->layers + l] > before ? e->passes[k * t->layers + l] : before;
            const uint32_t end = bytes_needed(s, n);
            while (n && n < s->passes && bytes_needed(s, n + 1) == end) n++; /* passes that cost nothing: a piece without bytes could not say so */
            e->passes[k * t->layers + l] = (uint8_t)n;
            tsr_tsc_piece *p = &t->piece[k * t->layers + l];
            *p = (tsr_tsc_piece){ .bytes = end - at, .passes = (uint8_t)(n - before), .there = 1 };
            e->bytes[k * t->layers + l] = s->bytes + at;
            at = end;
            before = n;
        }
    }
}

struct measure {
    struct tsr_encoder *e;
    double *squared; /* [bricks] */
    int64_t first;   /* brick of the range */
};

/* Decodes a brick as a reader would and adds up its error. */
static tsr_status measure_brick(struct tsr_encoder *e, int64_t index, const tsr_poll *poll, double *squared)
{
    const tsr_tsc *t = &e->t;
    const tsr_brick b = tsr_codec_brick(&e->codec, index);
    tsr_brick_stream streams[1][TSR_TSC_STREAMS];
    tsr_status status;
    int32_t failed;
    void *voxels = malloc((size_t)b.count * tsr_dtype_size(t->dtype));
    *squared = 0;
    if (!voxels) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "%s: out of memory for a brick", e->path);
    for (int32_t s = 0; s < t->streams; s++) {
        const int64_t k = index * t->streams + s;
        const int32_t n = e->passes[k * t->layers + t->layers - 1];
        const tsr_planes_stream *from = &e->stream[k];
        streams[0][s] = (tsr_brick_stream){ n ? from->bytes : NULL, bytes_needed(from, n), n };
    }
    const tsr_brick_target packed = tsr_brick_packed(&b, voxels);
    TSR_TRY_GOTO(tsr_bricks_decode(&e->codec, &b, 1, (const tsr_brick_stream(*)[TSR_TSC_STREAMS])streams, &packed, poll, &failed), done);
    for (int32_t z = 0; z < b.size[2]; z++)
        for (int32_t y = 0; y < b.size[1]; y++) {
            const int64_t from = ((b.origin[2] + z) * t->size[1] + b.origin[1] + y) * t->size[0] + b.origin[0];
            const int64_t at = ((int64_t)z * b.size[1] + y) * b.size[0];
            for (int32_t x = 0; x < b.size[0]; x++) {
                const double v = tsr_voxel_load(e->volume->data, t->dtype, from + x), d = tsr_voxel_load(voxels, t->dtype, at + x) - v;
                if (isfinite(v)) *squared += d * d;
            }
        }
    status = TSR_OK;
done:
    free(voxels);
    return status;
}

static void measure_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct measure *m = (struct measure *)user;
    for (int64_t k = begin; k < end && !tsr_shared_failed(&m->e->failure); k++) {
        const tsr_poll poll = tsr_encoder_poll(m->e, worker);
        const tsr_status status = measure_brick(m->e, m->first + k, &poll, &m->squared[m->first + k]);
        if (status != TSR_OK) tsr_shared_fail(&m->e->failure, status);
        __atomic_fetch_add(&m->e->coded, 1, __ATOMIC_RELAXED);
    }
}

tsr_status tsr_encoder_measure(struct tsr_encoder *e)
{
    struct measure m = { e, (double *)malloc((size_t)e->t.brick_count * sizeof(double)), 0 };
    if (!m.squared) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", e->path);
    const int64_t batch = e->options->memory_limit ? 4 * (int64_t)e->threads : e->t.brick_count;
    int64_t rested = 0;
    e->coded = 0;
    e->to_code = e->t.brick_count;
    e->stage = "measuring";
    for (m.first = 0; !e->failure.failed && m.first < e->t.brick_count; m.first += batch) {
        const int64_t end = tsr_min64(m.first + batch, e->t.brick_count);
        tsr_parallel(e->threads, end - m.first, 1, measure_range, &m);
        tsr_encoder_rest(e, &rested, end);
    }
    e->squared = 0;
    for (int64_t k = 0; k < e->t.brick_count; k++) e->squared += m.squared[k];
    free(m.squared);
    TSR_TRY(tsr_shared_status(&e->failure));
    return TSR_OK;
}

double tsr_encoder_psnr(const struct tsr_encoder *e)
{
    if (e->squared == 0) return HUGE_VAL;
    return 20 * log10((e->upper - e->lower) / sqrt(e->squared / (double)e->finite));
}

/* The cheapest cut that is measured to reach the PSNR: estimates are off by what the filters lack in orthogonality. */
tsr_status tsr_encoder_cut_by_psnr(struct tsr_encoder *e)
{
    const double range = e->upper - e->lower;
    const double wanted = (double)e->finite * range * range * pow(10, -e->options->psnr / 10);
    double aim = wanted / (e->t.step * e->t.step), best = 0;
    for (int k = 0; k < 5; k++) {
        const double slope = tsr_cut_find(&e->cut, -1, aim);
        TSR_PROGRESS(&e->options->progress, 0.5 + 0.1 * k, "measuring");
        tsr_encoder_set_layers(e, slope);
        TSR_TRY(tsr_encoder_measure(e));
        if (e->squared <= wanted) best = fmax(best, slope);
        if (e->squared <= wanted && e->squared > 0.995 * wanted) break;
        if (!(e->squared > 0)) break;
        aim *= 0.999 * wanted / e->squared;
    }
    tsr_encoder_set_layers(e, best);
    TSR_TRY(tsr_encoder_measure(e));
    if (!(tsr_encoder_psnr(e) >= e->options->psnr))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: psnr is %g dB, expected less: all there is to store of voxels from %g to %g gives %.2f dB", e->path,
                 e->options->psnr, e->lower, e->upper, tsr_encoder_psnr(e));
    return TSR_OK;
}

/* Bytes of the whole file when streams are cut to about `room` bytes. */
static double cut_to(struct tsr_encoder *e, double room)
{
    const double slope = tsr_cut_find(&e->cut, room, -1);
    fill(e, slope, room);
    tsr_encoder_set_layers(e, slope);
    tsr_encoder_set_pieces(e);
    return (double)tsr_tsc_measure(&e->t, e->volume);
}

/* The whole file within the rate, directory included. What the directory needs depends on the cut: `fits` and `over` enclose the room sought. */
tsr_status tsr_encoder_cut_by_rate(struct tsr_encoder *e)
{
    const double budget = floor(e->options->rate * (double)tsr_volume_count(e->volume) / 8);
    double room = budget, fits = 0, over = HUGE_VAL, last = 0, most = 0;
    for (int k = 0; k < 16; k++) {
        const double bytes = cut_to(e, last = room);
        if (bytes <= budget && bytes >= most) {
            fits = room;
            most = bytes;
        } else if (bytes > budget) over = fmin(over, room);
        if (bytes <= budget && (bytes > 0.998 * budget || k > 4)) break;
        room = fmax(0, room + 0.999 * (budget - bytes));
        if (room <= fits || room >= over) room = over < HUGE_VAL ? (fits + over) / 2 : fits; /* what was seen bounds what is tried */
        if (room == last) break;
    }
    if (last != fits || !(most > 0)) most = cut_to(e, fits);
    if (most <= budget) return tsr_encoder_measure(e);
    TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: rate is %g bits per voxel, expected more: header, metadata and directory alone need %lld bytes", e->path,
             e->options->rate, (long long)most);
}
