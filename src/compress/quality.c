/* compress/quality.c: how much of every stream of a compressed volume is kept: by PSNR, by rate, in layers. */
#include "compress/encoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compress/raw_bricks.h"

/* Sizes of the pieces. */
static void set_pieces(struct tsr_encoder *e)
{
    const tsr_tsc *t = &e->t;
    for (int64_t k = 0; k < t->brick_count * t->streams; k++) {
        const tsr_planes_stream *s = &e->stream[k];
        uint32_t at = 0;
        int32_t before = 0;
        for (int32_t l = 0; l < t->layers; l++) {
            const int32_t n = e->passes[k * t->layers + l];
            const uint32_t end = tsr_cut_bytes(s, n);
            t->piece[k * t->layers + l] =
                (tsr_tsc_piece){ .bytes = end - at, .passes = (uint8_t)(s->raw && end > at ? TSR_RAW_PASSES : n - before), .there = 1 };
            if (s->bytes) e->bytes[k * t->layers + l] = s->bytes + at; /* a stream of zeros has none */
            at = end;
            before = n;
        }
    }
}

/* Passes behind the cut that fit into `room` bytes, in the cut's order: all together they are worth less than the first that did not fit. */
static void fill_room(struct tsr_encoder *e, int64_t cut, double room)
{
    enum { LATER = 128, ENTRY = 8 }; /* a pass of the stream was left out; bytes that a piece takes in the directory */
    for (int64_t i = cut; i < e->cut.count && room > ENTRY; i++) {
        const tsr_cut_entry *entry = &e->cut.entry[i];
        const tsr_planes_stream *s = &e->stream[entry->stream];
        uint8_t *kept = &e->kept[entry->stream];
        if (*kept & LATER) continue;
        const double more = (double)tsr_cut_bytes(s, entry->passes) - (double)tsr_cut_bytes(s, *kept) + ENTRY;
        if (more <= room) {
            *kept = (uint8_t)entry->passes;
            room -= more;
        } else *kept |= LATER;
    }
    for (int64_t k = 0; k < e->t.brick_count * e->t.streams; k++) e->kept[k] &= (uint8_t)~LATER;
}

void tsr_encoder_set_cut(struct tsr_encoder *e, int64_t cut, double room)
{
    const tsr_tsc *t = &e->t;
    const int64_t streams = t->brick_count * t->streams;
    const int lossless = t->map != TSR_TSC_REAL;
    int64_t at = 0;
    memset(e->kept, 0, (size_t)streams);
    for (int32_t l = 0; l < t->layers; l++) {
        const int last = l == t->layers - 1;
        const int64_t end = last ? cut : tsr_min64(cut, tsr_cut_by_bytes(&e->cut, ldexp(e->cut.bytes[cut], l + 1 - t->layers)));
        for (; at < end; at++) e->kept[e->cut.entry[at].stream] = (uint8_t)e->cut.entry[at].passes;
        if (last && room > 0) fill_room(e, cut, room);
        for (int64_t k = 0; k < streams; k++) {
            const tsr_planes_stream *s = &e->stream[k];
            /* exceptions: all in the first layer */
            const int whole = t->coder != TSR_COMPRESS_PLANES || s->raw || k % t->streams == t->resolutions;
            int32_t n = whole || (last && lossless) ? s->passes : e->kept[k];
            while (n && n < s->passes && tsr_cut_bytes(s, n + 1) == tsr_cut_bytes(s, n)) n++; /* without bytes a piece could not say so */
            e->passes[k * t->layers + l] = (uint8_t)n;
        }
    }
    set_pieces(e);
}

struct measure {
    struct tsr_encoder *e;
    int64_t first; /* brick of the range */
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
        streams[0][s] = (tsr_brick_stream){ n ? from->bytes : NULL, tsr_cut_bytes(from, n), n };
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

/* Are the streams those that were measured? From cut to cut few of them change. */
static int is_known(struct tsr_encoder *e, int64_t brick)
{
    const tsr_tsc *t = &e->t;
    int known = 1;
    for (int64_t k = brick * t->streams; k < (brick + 1) * t->streams; k++) {
        const uint8_t n = e->passes[k * t->layers + t->layers - 1];
        known &= e->measured[k] == n;
        e->measured[k] = n;
    }
    return known;
}

static void measure_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct measure *m = (struct measure *)user;
    for (int64_t k = begin; k < end && !tsr_shared_failed(&m->e->failure); k++) {
        const tsr_poll poll = tsr_encoder_poll(m->e, worker);
        const tsr_status status = is_known(m->e, m->first + k) ? TSR_OK : measure_brick(m->e, m->first + k, &poll, &m->e->squared_of[m->first + k]);
        if (status != TSR_OK) tsr_shared_fail(&m->e->failure, status);
        __atomic_fetch_add(&m->e->coded, 1, __ATOMIC_RELAXED);
    }
}

tsr_status tsr_encoder_measure(struct tsr_encoder *e)
{
    struct measure m = { e, 0 };
    const int64_t batch = e->options->memory_limit ? 4 * (int64_t)e->threads : e->t.brick_count;
    int64_t rested = 0;
    e->coded = 0;
    e->to_code = e->t.brick_count;
    e->stage = "measuring";
    for (; !e->failure.failed && m.first < e->t.brick_count; m.first += batch) {
        const int64_t end = tsr_min64(m.first + batch, e->t.brick_count);
        tsr_parallel(e->threads, end - m.first, 1, measure_range, &m);
        tsr_encoder_rest(e, &rested, end);
    }
    e->squared = 0;
    for (int64_t k = 0; k < e->t.brick_count; k++) e->squared += e->squared_of[k];
    TSR_TRY(tsr_shared_status(&e->failure));
    return TSR_OK;
}

double tsr_encoder_psnr(const struct tsr_encoder *e)
{
    if (e->squared == 0) return HUGE_VAL;
    return 20 * log10((e->upper - e->lower) / sqrt(e->squared / (double)e->finite));
}

double tsr_encoder_least(const struct tsr_encoder *e, const int64_t octaves[TSR_CODEC_OCTAVES])
{
    const double range = e->upper - e->lower, steps = (double)e->finite * range * range * pow(10, -e->options->psnr / 10) / (e->t.step * e->t.step);
    const double budget = e->options->rate * (double)tsr_volume_count(e->volume);
    int32_t k = TSR_CODEC_OCTAVES;
    while (k > TSR_CODEC_OCTAVE) {
        /* Coefficients known down to the octave k - 1: their signs and nearly all of their lower bits must be there; and what is left of all of
         * them. */
        const double value = ldexp(1, 2 * (k - 1 - TSR_CODEC_OCTAVE));
        double bits = 0, error = 0;
        for (int32_t i = 0; i < TSR_CODEC_OCTAVES; i++) {
            bits += i < k - 1 ? 0 : (double)octaves[i] * (1 + 0.9 * (i - k + 1));
            error += (double)octaves[i] * (i < k - 1 ? 7.0 / 3 * ldexp(1, 2 * (i - TSR_CODEC_OCTAVE)) : value / 12);
        }
        k--;
        if (e->options->psnr > 0 ? error <= steps / 1.5 : bits > budget) break;
    }
    return k > TSR_CODEC_OCTAVE + 1 ? ldexp(1, k - 1 - TSR_CODEC_OCTAVE) : 0; /* a plane more than that: slopes of the last one are known */
}

/* What was measured of some cuts: `fails` is too little, `reaches` is enough, and so are its bytes. */
struct search {
    int64_t fails, reaches;
    double squared; /* of `reaches` */
};

/* Where to look next: as if errors were those of the coefficients times what was measured last. */
static int64_t next_cut(const struct tsr_encoder *e, const struct search *s, int64_t last, double wanted)
{
    const double estimate = e->cut.error[last];
    int64_t next = e->squared > 0 && estimate > 0 ? tsr_cut_by_error(&e->cut, 0.999 * wanted * estimate / e->squared) : s->fails + 1;
    if (next <= s->fails || next >= s->reaches)
        next = tsr_cut_by_bytes(&e->cut, (e->cut.bytes[tsr_max64(s->fails, 0)] + e->cut.bytes[tsr_min64(s->reaches, e->cut.count)]) / 2);
    if (next <= s->fails) next = s->fails + 1;
    return next;
}

static int is_close(const struct tsr_encoder *e, const struct search *s, double wanted)
{
    if (s->reaches > e->cut.count) return 0;
    if (s->reaches - s->fails <= 1 || (s->squared <= wanted && s->squared > 0.998 * wanted)) return 1;
    return e->cut.bytes[s->reaches] - e->cut.bytes[tsr_max64(s->fails, 0)] <= 0.001 * e->cut.bytes[s->reaches];
}

/* The cheapest cut that is measured to reach the PSNR: estimates are off by what the filters lack in orthogonality, and by the rounding of
 * integers. */
tsr_status tsr_encoder_cut_by_psnr(struct tsr_encoder *e, int *short_of)
{
    enum { MOST = 24 };
    const double range = e->upper - e->lower;
    const double wanted = (double)e->finite * range * range * pow(10, -e->options->psnr / 10);
    struct search s = { -1, e->cut.count + 1, 0 };
    int64_t cut = tsr_cut_by_error(&e->cut, 0.999 * wanted / (e->t.step * e->t.step));
    *short_of = 0;
    for (int k = 0; k < MOST; k++) {
        TSR_PROGRESS(&e->options->progress, 1 - ldexp(0.5, -k), "measuring");
        tsr_encoder_set_cut(e, cut, 0);
        TSR_TRY(tsr_encoder_measure(e));
        if (tsr_encoder_psnr(e) >= e->options->psnr) {
            s.reaches = cut;
            s.squared = e->squared;
        } else s.fails = cut;
        if (s.fails == e->cut.count || is_close(e, &s, wanted)) break;
        cut = next_cut(e, &s, cut, wanted);
    }
    *short_of = s.reaches > e->cut.count && e->codec.least > 0;
    if (*short_of) return TSR_OK;
    if (s.reaches > e->cut.count)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: psnr is %g dB, expected less: all there is to store of voxels from %g to %g gives %.2f dB", e->path,
                 e->options->psnr, e->lower, e->upper, tsr_encoder_psnr(e));
    tsr_encoder_set_cut(e, s.reaches, 0);
    e->squared = s.squared;
    return TSR_OK;
}

/* The whole file within the rate, directory included: the last cut that fits of those that halving meets. More room never finds an earlier one. */
tsr_status tsr_encoder_cut_by_rate(struct tsr_encoder *e, int *short_of)
{
    enum { BACK = 4 };
    const double budget = floor(e->options->rate * (double)tsr_volume_count(e->volume) / 8);
    int64_t fits = -1, over = e->cut.count + 1, bytes = 0;
    while (over - fits > 1) {
        const int64_t cut = fits < 0 ? 0 : fits + (over - fits) / 2;
        tsr_encoder_set_cut(e, cut, 0);
        bytes = tsr_tsc_measure(&e->t, e->volume);
        if ((double)bytes <= budget) fits = cut;
        else over = cut;
        if (!over) break;
    }
    if (fits < 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: rate is %g bits per voxel, expected more: header, metadata and directory alone need %lld bytes", e->path,
                 e->options->rate, (long long)bytes);
    *short_of = fits == e->cut.count && e->codec.least > 0;
    if (*short_of) return TSR_OK;
    tsr_encoder_set_cut(e, fits, 0);
    const double room = budget - (double)tsr_tsc_measure(&e->t, e->volume);
    tsr_encoder_set_cut(e, fits, room);
    TSR_TRY(tsr_encoder_measure(e));
    double least = (double)tsr_tsc_measure(&e->t, e->volume) <= budget ? e->squared : HUGE_VAL; /* numbers of the directory grow */
    int64_t best = least < HUGE_VAL ? -1 : fits;
    for (int64_t cut = fits; cut >= tsr_max64(0, fits - BACK); cut--) { /* of the worst pictures a pass more may be worse */
        tsr_encoder_set_cut(e, cut, 0);
        TSR_TRY(tsr_encoder_measure(e));
        if (e->squared >= least) continue;
        least = e->squared;
        best = cut;
    }
    tsr_encoder_set_cut(e, best < 0 ? fits : best, best < 0 ? room : 0);
    e->squared = least;
    return TSR_OK;
}
