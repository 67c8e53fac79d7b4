/* compress/compress.c: a volume into a .tsc file. */
#include <math.h>
#include <stdlib.h>

#include "io/stream.h"
#include "compress/encoder.h"

const char *tsr_compress_coder_name(tsr_compress_coder coder)
{
    static const char *const names[] = { NULL, "predict", "planes", "fast", "rans" };
    return coder > TSR_COMPRESS_AUTO && coder < TSR_COMPRESS_CODERS ? names[coder] : NULL;
}

/* ---- what the volume and the options ask for ------------------------------------------------------------------------------------------------------ */

/* Voxels [begin, end) will not be looked at soon: those of a mapped file need no memory, where that is limited. */
static void rest(const struct tsr_encoder *e, int64_t begin, int64_t end)
{
    const size_t element = tsr_dtype_size(e->volume->dtype);
    if (e->options->memory_limit)
        tsr_block_rest(e->volume->release, (const char *)e->volume->data + begin * (int64_t)element, (size_t)(end - begin) * element);
}

#define RANGE(type)                                                                                               \
    do {                                                                                                          \
        const type *v = (const type *)e->volume->data;                                                            \
        type least = at ? (type)e->lower_whole : v[0], most = at ? (type)e->upper_whole : v[0];                   \
        for (int64_t i = at; i < end; i++) least = v[i] < least ? v[i] : least, most = v[i] > most ? v[i] : most; \
        e->lower_whole = (int64_t)least;                                                                          \
        e->upper_whole = (int64_t)most;                                                                           \
        e->lower = (double)least;                                                                                 \
        e->upper = (double)most;                                                                                  \
        e->finite = end;                                                                                          \
    } while (0)
#define RANGE_REAL(type)                                \
    do {                                                \
        const type *v = (const type *)e->volume->data;  \
        for (int64_t i = at; i < end; i++) {            \
            const double x = (double)v[i];              \
            if (isfinite(x)) {                          \
                e->finite++;                            \
                e->lower = x < e->lower ? x : e->lower; \
                e->upper = x > e->upper ? x : e->upper; \
            }                                           \
        }                                               \
    } while (0)

static void find_range(struct tsr_encoder *e)
{
    const int64_t n = tsr_volume_count(e->volume), step = 1 << 20;
    e->lower = HUGE_VAL;
    e->upper = -HUGE_VAL;
    for (int64_t at = 0; at < n; at += step) {
        const int64_t end = tsr_min64(at + step, n);
        switch (e->volume->dtype) {
        case TSR_U8: RANGE(uint8_t); break;
        case TSR_I8: RANGE(int8_t); break;
        case TSR_U16: RANGE(uint16_t); break;
        case TSR_I16: RANGE(int16_t); break;
        case TSR_U32: RANGE(uint32_t); break;
        case TSR_I32: RANGE(int32_t); break;
        case TSR_U64: RANGE(uint64_t); break;
        case TSR_I64: RANGE(int64_t); break;
        case TSR_F32: RANGE_REAL(float); break;
        default: RANGE_REAL(double); break;
        }
        rest(e, at, end);
    }
    if (e->lower > e->upper) e->lower = e->upper = 0; /* no finite voxel */
}

static tsr_status check_options(struct tsr_encoder *e)
{
    const tsr_compress_options *o = e->options;
    const int goals = (o->max_error != 0) + (o->psnr != 0) + (o->rate != 0);
    const char *path = e->path;
    if ((int)o->coder < 0 || o->coder >= TSR_COMPRESS_CODERS) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: coder is %d, expected 0 to 4", path, (int)o->coder);
    if ((int)o->order < 0 || o->order >= TSR_COMPRESS_ORDERS) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: order is %d, expected 0 or 1", path, (int)o->order);
    if (goals > 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: max_error %g, psnr %g, rate %g: expected at most one of them", path, o->max_error, o->psnr, o->rate);
    if (!(o->max_error >= 0) || !isfinite(o->max_error))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: max_error is %g, expected a positive finite number", path, o->max_error);
    if (!(o->psnr >= 0) || !(o->psnr <= 140)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: psnr is %g, expected up to 140 dB", path, o->psnr);
    if (!(o->rate >= 0) || !(o->rate <= 64)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: rate is %g, expected up to 64 bits per voxel", path, o->rate);
    if ((o->psnr > 0 || o->rate > 0) && o->coder != TSR_COMPRESS_AUTO && o->coder != TSR_COMPRESS_PLANES)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: coder %s with %s, expected planes", path, tsr_compress_coder_name(o->coder), o->psnr > 0 ? "psnr" : "rate");
    if (o->memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: memory_limit is %lld, expected 0 or more bytes", path, (long long)o->memory_limit);
    if (o->levels < 0 || o->levels > TSR_TSC_LEVELS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: levels is %d, expected 1 to %d", path, o->levels, (int)TSR_TSC_LEVELS);
    if (o->layers < 0 || o->layers > TSR_TSC_LAYERS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: layers is %d, expected 1 to %d", path, o->layers, (int)TSR_TSC_LAYERS);
    return TSR_OK;
}

/* The map, its base and step. */
static tsr_status choose_map(struct tsr_encoder *e)
{
    tsr_tsc *t = &e->t;
    const tsr_compress_options *o = e->options;
    const int real = t->dtype >= TSR_F32;
    const double range = e->upper - e->lower;
    const double error = fmin(o->max_error / fabs(t->slope), 1e299); /* stored units; readers want steps below 1e300 */
    t->step = 1;
    if (o->psnr > 0 || o->rate > 0) {
        /* One step for all that can be asked of a volume, so that what less asks for is the beginning of what more does: the finest with which
         * approximations, which grow by the root of 2 with each split, fit into 31 bits. */
        const double finest = range * ldexp(0.75, -30) * exp2(1.5 * t->levels);
        const double needed = o->psnr > 0 ? sqrt(12.0) * range * pow(10, -o->psnr / 20) / 8 : range / 16384;
        if (!(range < 1e30)) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: voxels from %g to %g, expected a range below 1e30", e->path, e->lower, e->upper);
        t->map = TSR_TSC_REAL;
        t->base_real = e->lower + range / 2;
        if (range > 0 && needed < 1e-36) /* its inverse and its multiples are float32 */
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: voxels from %g to %g, expected a range of 0 or above %g", e->path, e->lower, e->upper,
                     1e-36 * range / needed);
        t->step = range > 0 ? fmax(finest, 1e-36) : 1;
        t->exceptions = real && (e->finite < tsr_volume_count(e->volume) || range > 1e29);
        return TSR_OK;
    }
    if (real && o->max_error > 0) {
        t->map = TSR_TSC_STEPS;
        t->max_error = error;
        t->step = 2 * error * (1 - 1e-6); /* room for rounding */
        t->exceptions = 1;
        /* Steps are counted from 0 unless that is too far away for all voxels: one outlier shall not make exceptions of the others. */
        if (range / t->step < 0x1p30 && (fabs(e->lower) / t->step > 0x1p29 || fabs(e->upper) / t->step > 0x1p29)) t->base_real = e->lower + range / 2;
        if (!(t->step > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: max_error is %g, expected more", e->path, o->max_error);
        return TSR_OK;
    }
    if (t->dtype == TSR_F64)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: f64 voxels without loss, expected max_error, psnr or rate, or another type", e->path);
    if (t->dtype == TSR_F32) {
        t->map = TSR_TSC_ORDERED;
        return TSR_OK;
    }
    const uint64_t spread = (uint64_t)e->upper_whole - (uint64_t)e->lower_whole;
    const double whole = fmin(floor(error), 0x1p60); /* errors between integers are integers */
    const double enough = ((double)spread / 0x1p32 + 2) * 1.00001 * fabs(t->slope);
    t->base = e->lower_whole;
    if (whole >= 1) {
        t->map = TSR_TSC_STEPS;
        t->max_error = whole;
        t->step = whole < 0x1p52 ? 2 * whole + 1 : 2 * whole; /* an odd one would be rounded up */
    }
    if (t->map == TSR_TSC_STEPS && spread / (uint64_t)t->step >= INT32_MAX) /* below, for the last may be rounded up */
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: max_error is %g for %s voxels from %.17g to %.17g, expected at least %g: fewer than 2^31 steps", e->path,
                 o->max_error, tsr_dtype_name(t->dtype), e->lower, e->upper, enough);
    if (t->map == TSR_TSC_INTEGER && spread > UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %s voxels from %.17g to %.17g, expected a range of 32 bits, or max_error of at least %g", e->path,
                 tsr_dtype_name(t->dtype), e->lower, e->upper, enough);
    if (t->map == TSR_TSC_INTEGER && spread > INT32_MAX) t->base = (int64_t)((uint64_t)t->base + 0x80000000u); /* samples of both signs */
    return TSR_OK;
}

/* Bricks of a volume that is thin along some axis are longer along the others: they shall have as many samples as others have, for each costs
 * some bytes. */
static tsr_status choose_bricks(struct tsr_encoder *e)
{
    static const int32_t edges[][3] = { { 0, 0, 0 }, { 28, 28, 28 }, { 64, 64, 64 }, { 128, 64, 32 }, { 32, 32, 32 } };
    tsr_tsc *t = &e->t;
    const int64_t asked[3] = { e->options->brick.x, e->options->brick.y, e->options->brick.z };
    const int rans = t->coder == TSR_COMPRESS_RANS;
    const int64_t enough = rans ? TSR_RANS_BRICK : t->coder == TSR_COMPRESS_PREDICT ? 28 * 28 * 28 : 64000;
    int64_t samples = 1;
    for (int a = 0; a < 3; a++) {
        if (asked[a] < 0 || asked[a] > TSR_TSC_EDGE)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: brick is %lld along %c, expected 1 to %d", e->path, (long long)asked[a], 'x' + a, (int)TSR_TSC_EDGE);
        t->edge[a] = asked[a] ? (int32_t)asked[a] : edges[t->coder][a];
        if ((t->size[2] == 1 || t->image) && a < 2 && !asked[a]) t->edge[a] = rans && a ? TSR_RANS_BRICK / TSR_TSC_EDGE : TSR_TSC_EDGE; /* slices */
        if (t->image && a == 2 && t->coder != TSR_COMPRESS_PREDICT) t->edge[a] = 1; /* channels are no axis to be reduced */
        if (t->edge[a] > t->size[a]) t->edge[a] = (int32_t)t->size[a];
        samples *= t->edge[a];
    }
    while (2 * samples <= enough) {
        int least = -1;
        for (int a = 0; a < (t->image ? 2 : 3); a++)
            if (!asked[a] && t->edge[a] < t->size[a] && (least < 0 || t->edge[a] < t->edge[least])) least = a;
        if (least < 0) return TSR_OK;
        const int32_t longer = (int32_t)tsr_min64(2 * (int64_t)t->edge[least], t->size[least]);
        samples = samples / t->edge[least] * longer;
        if (rans && longer > TSR_TSC_EDGE && t->edge[(least + 1) % 3] > 1 && t->edge[(least + 2) % 3] > 1) return TSR_OK;
        t->edge[least] = longer;
    }
    return TSR_OK;
}

static tsr_status choose(struct tsr_encoder *e)
{
    const tsr_compress_options *o = e->options;
    const tsr_volume *v = e->volume;
    tsr_tsc *t = &e->t;
    TSR_TRY(check_options(e));
    *t = (tsr_tsc){ .dtype = v->dtype,
                    .size = { v->size.x, v->size.y, v->size.z },
                    .geometry = v->geometry,
                    .slope = v->slope,
                    .intercept = v->intercept,
                    .order = (int32_t)o->order,
                    .image = e->t.image };
    find_range(e);
    t->coder = o->coder ? (int32_t)o->coder : o->psnr > 0 || o->rate > 0 ? TSR_COMPRESS_PLANES : TSR_COMPRESS_PREDICT;
    t->levels = t->coder == TSR_COMPRESS_PREDICT ? 0 : o->levels ? o->levels : t->coder == TSR_COMPRESS_PLANES ? 4 : 3;
    TSR_TRY(choose_map(e));
    t->layers = t->coder != TSR_COMPRESS_PLANES ? 1 : o->layers ? o->layers : 8;
    TSR_TRY(choose_bricks(e));
    TSR_TRY(tsr_tsc_complete(t, e->path));
    return TSR_OK;
}

/* ---- bricks ------------------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status encode_brick(struct tsr_encoder *e, int64_t index, const tsr_poll *poll)
{
    const tsr_brick b = tsr_codec_brick(&e->codec, index);
    tsr_planes_stream *stream = e->stream + index * e->t.streams;
    uint8_t *exceptions;
    size_t bytes;
    tsr_status status;
    void *samples = malloc((size_t)b.count * 4);
    if (!samples) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a brick", e->path);
    TSR_TRY_GOTO(tsr_map_forward(&e->t, e->volume, &b, samples, &exceptions, &bytes), done);
    if (exceptions)
        stream[e->t.resolutions] = (tsr_planes_stream){ .bytes = exceptions, .size = bytes, .passes = 1, .pass = { { (uint32_t)bytes, 0 } } };
    TSR_TRY_GOTO(tsr_brick_encode(&e->codec, &b, samples, poll, stream), done);
done:
    free(samples);
    return status;
}

static void encode_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct tsr_encoder *e = (struct tsr_encoder *)user;
    for (int64_t k = begin; k < end && !tsr_shared_failed(&e->failure); k++) {
        const tsr_poll poll = tsr_encoder_poll(e, worker);
        const tsr_status status = encode_brick(e, e->first + k * e->stride, &poll);
        if (status != TSR_OK) tsr_shared_fail(&e->failure, status);
        __atomic_fetch_add(&e->coded, 1, __ATOMIC_RELAXED);
    }
}

static void free_streams(struct tsr_encoder *e)
{
    for (int64_t k = 0; e->stream && k < e->t.brick_count * e->t.streams; k++) {
        if (!e->spooled || !e->spooled[k]) free(e->stream[k].bytes);
        if (e->spooled) e->spooled[k] = 0;
        memset(&e->stream[k], 0, sizeof e->stream[k]);
    }
}

/* Streams of the bricks before `end` leave memory. */
static tsr_status spool_streams(struct tsr_encoder *e, int64_t end)
{
    if (!e->spool) TSR_TRY(tsr_spool_open(e->path, &e->spool));
    for (; e->kept_in_spool < end * e->t.streams; e->kept_in_spool++) {
        tsr_planes_stream *s = &e->stream[e->kept_in_spool];
        int64_t offset;
        if (!s->bytes) continue;
        TSR_TRY(tsr_spool_write(e->spool, s->bytes, s->size, &offset));
        free(s->bytes);
        s->bytes = NULL;
        e->spooled[e->kept_in_spool] = offset + 1;
    }
    e->held = 0;
    return TSR_OK;
}

/* What was spooled is memory again, of a kind that can be taken away. */
static tsr_status map_streams(struct tsr_encoder *e)
{
    const uint8_t *bytes;
    if (!e->spool) return TSR_OK;
    TSR_TRY(tsr_spool_map(e->spool, &bytes));
    for (int64_t k = 0; k < e->kept_in_spool; k++)
        if (e->spooled[k]) e->stream[k].bytes = (uint8_t *)(uintptr_t)(bytes + e->spooled[k] - 1); /* read only from here on */
    return TSR_OK;
}

static tsr_status limit_memory(struct tsr_encoder *e, int64_t begin, int64_t end)
{
    for (int64_t k = begin * e->t.streams; k < end * e->t.streams; k++) e->held += (int64_t)e->stream[k].size;
    if (e->held > e->options->memory_limit) TSR_TRY(spool_streams(e, end));
    return TSR_OK;
}

/* The voxels of bricks before `end` rest, from the *rested-th one on, by whole rows of bricks. */
void tsr_encoder_rest(const struct tsr_encoder *e, int64_t *rested, int64_t end)
{
    const tsr_tsc *t = &e->t;
    for (; e->options->memory_limit && *rested + t->bricks[0] <= end; *rested += t->bricks[0]) {
        const tsr_brick b = tsr_codec_brick(&e->codec, *rested);
        for (int32_t z = 0; z < b.size[2]; z++) {
            const int64_t row = (b.origin[2] + z) * t->size[1] + b.origin[1];
            rest(e, row * t->size[0], (row + b.size[1]) * t->size[0]);
        }
    }
}

/* Bricks first, first + stride, ...: the calling thread reports between batches. */
static tsr_status encode_bricks(struct tsr_encoder *e, int64_t first, int64_t stride, const char *stage)
{
    const int64_t count = tsr_ceil_div(e->t.brick_count - first, stride), batch = 4 * (int64_t)e->threads;
    int64_t rested = 0;
    e->stride = stride;
    e->coded = 0;
    e->to_code = count;
    e->stage = stage;
    for (int64_t k = 0; k < count; k += batch) {
        TSR_PROGRESS(&e->options->progress, (double)k / (double)count, stage);
        e->first = first + k * stride;
        tsr_parallel(e->threads, tsr_min64(batch, count - k), 1, encode_range, e);
        TSR_TRY(tsr_shared_status(&e->failure));
        if (e->spooled && stride == 1) TSR_TRY(limit_memory(e, k, tsr_min64(k + batch, count)));
        if (stride == 1) tsr_encoder_rest(e, &rested, tsr_min64(k + batch, count));
    }
    TSR_PROGRESS(&e->options->progress, 1, stage); /* one batch may have been all there was */
    return TSR_OK;
}

/* ---- quality ------------------------------------------------------------------------------------------------------------------------------------------- */

struct look {
    struct tsr_encoder *e;
    int64_t (*octaves)[TSR_CODEC_OCTAVES]; /* [threads] */
    int64_t first;
};

static tsr_status look_at_brick(struct tsr_encoder *e, int64_t index, int64_t octaves[TSR_CODEC_OCTAVES])
{
    const tsr_brick b = tsr_codec_brick(&e->codec, index);
    uint8_t *exceptions;
    size_t bytes;
    tsr_status status;
    float *samples = (float *)malloc((size_t)b.count * sizeof *samples);
    if (!samples) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a brick", e->path);
    TSR_TRY_GOTO(tsr_map_forward(&e->t, e->volume, &b, samples, &exceptions, &bytes), done);
    free(exceptions);
    TSR_TRY_GOTO(tsr_brick_look(&e->codec, &b, samples, octaves), done);
done:
    free(samples);
    return status;
}

static void look_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct look *l = (struct look *)user;
    for (int64_t k = begin; k < end && !tsr_shared_failed(&l->e->failure); k++) {
        const tsr_status status = look_at_brick(l->e, l->first + k, l->octaves[worker]);
        if (status != TSR_OK) tsr_shared_fail(&l->e->failure, status);
    }
}

/* What planes need not be coded, by the sizes of all coefficients: most of the time goes into those that are noise. */
static tsr_status choose_least(struct tsr_encoder *e)
{
    const int64_t n = e->t.brick_count, batch = 16 * (int64_t)e->threads;
    struct look l = { .e = e };
    tsr_status status = TSR_OK;
    int64_t rested = 0;
    l.octaves = (int64_t(*)[TSR_CODEC_OCTAVES])calloc((size_t)e->threads, sizeof *l.octaves);
    if (!l.octaves) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", e->path);
    for (; l.first < n; l.first += batch) {
        if (tsr_progress_report(&e->options->progress, (double)l.first / (double)n, "looking"))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled during looking");
        tsr_parallel(e->threads, tsr_min64(batch, n - l.first), 1, look_range, &l);
        TSR_TRY_GOTO(tsr_shared_status(&e->failure), done);
        tsr_encoder_rest(e, &rested, tsr_min64(l.first + batch, n));
    }
    for (int32_t t = 1; t < e->threads; t++)
        for (int k = 0; k < TSR_CODEC_OCTAVES; k++) l.octaves[0][k] += l.octaves[t][k];
    e->codec.least = tsr_encoder_least(e, l.octaves[0]);
done:
    free(l.octaves);
    return status;
}

/* One coding of all streams; then where they end. Planes that were left out although they were needed are rare: estimates of bits are bounds. */
static tsr_status encode_and_cut(struct tsr_encoder *e)
{
    for (int short_of = 1; short_of; e->codec.least = e->codec.least > 4 ? e->codec.least / 4 : 0) {
        short_of = 0;
        tsr_cut_destroy(&e->cut);
        free_streams(e);
        tsr_spool_close(&e->spool);
        e->held = e->kept_in_spool = 0;
        TSR_TRY(encode_bricks(e, 0, 1, "compressing"));
        TSR_TRY(map_streams(e));
        TSR_TRY(tsr_cut_create(e->stream, e->t.brick_count * e->t.streams, &e->cut));
        if (e->options->psnr > 0) TSR_TRY(tsr_encoder_cut_by_psnr(e, &short_of));
        else if (e->options->rate > 0) TSR_TRY(tsr_encoder_cut_by_rate(e, &short_of));
        else tsr_encoder_set_cut(e, e->cut.count, 0);
    }
    return TSR_OK;
}

/* Frequencies of tokens, from as many bricks as tell them well enough. */
static tsr_status choose_model(struct tsr_encoder *e)
{
    enum { SOME = 128 };
    const int64_t stride = tsr_max64(1, e->t.brick_count / SOME);
    tsr_rans_counts counts = { { { 0 } } };
    e->codec.counts = &counts;
    const tsr_status status = encode_bricks(e, stride / 2, stride, "looking");
    e->codec.counts = NULL;
    TSR_TRY(status);
    free_streams(e);
    tsr_rans_model_fit(&counts, &e->t.model);
    return TSR_OK;
}

/* ---- all together ----------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status prepare(struct tsr_encoder *e)
{
    tsr_tsc *t = &e->t;
    TSR_TRY(choose(e));
    TSR_TRY(tsr_codec_create(t, 0, 1, &e->codec));
    e->stream = (tsr_planes_stream *)calloc((size_t)(t->brick_count * t->streams), sizeof *e->stream);
    e->passes = (uint8_t *)calloc((size_t)t->pieces, 1);
    e->kept = (uint8_t *)calloc((size_t)(t->brick_count * t->streams), 1);
    e->bytes = (const uint8_t **)calloc((size_t)t->pieces, sizeof *e->bytes);
    t->piece = (tsr_tsc_piece *)calloc((size_t)t->pieces, sizeof *t->piece);
    e->squared_of = (double *)calloc((size_t)t->brick_count, sizeof *e->squared_of);
    e->measured = (uint8_t *)malloc((size_t)(t->brick_count * t->streams));
    if (e->options->memory_limit) e->spooled = (int64_t *)calloc((size_t)(t->brick_count * t->streams), sizeof *e->spooled);
    if (!e->stream || !e->passes || !e->kept || !e->squared_of || !e->measured || !e->bytes || !t->piece || (e->options->memory_limit && !e->spooled))
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld bricks", e->path, (long long)t->brick_count);
    memset(e->measured, 255, (size_t)(t->brick_count * t->streams));
    return TSR_OK;
}

static tsr_status encode(struct tsr_encoder *e)
{
    TSR_TRY(prepare(e));
    if (e->t.map == TSR_TSC_REAL) TSR_TRY(choose_least(e));
    if (e->t.coder == TSR_COMPRESS_RANS) TSR_TRY(choose_model(e));
    TSR_TRY(encode_and_cut(e));
    return TSR_OK;
}

static void release(struct tsr_encoder *e)
{
    free_streams(e);
    tsr_spool_close(&e->spool);
    free(e->spooled);
    free(e->stream);
    free(e->passes);
    free(e->kept);
    free(e->squared_of);
    free(e->measured);
    free(e->bytes);
    tsr_cut_destroy(&e->cut);
    tsr_codec_destroy(&e->codec);
    tsr_tsc_clear(&e->t);
}

/* Some bricks tell whether the file could be one of `most` bytes. */
static tsr_status try_some(struct tsr_encoder *e, int64_t most, int *hopeless)
{
    enum { SOME = 8 };
    const int64_t n = e->t.brick_count, stride = n / SOME;
    double voxels = 0, bytes = 0;
    *hopeless = 0;
    if (n < 2 * SOME) return TSR_OK;
    TSR_TRY(encode_bricks(e, stride / 2, stride, "looking"));
    for (int64_t k = stride / 2; k < n; k += stride) {
        voxels += (double)tsr_codec_brick(&e->codec, k).count;
        for (int64_t i = 0; i < e->t.streams; i++) bytes += (double)e->stream[k * e->t.streams + i].size;
    }
    *hopeless = bytes * (double)tsr_volume_count(e->volume) > 1.5 * (double)most * voxels;
    return TSR_OK;
}

/* Integers so exact that all of them may cost less: coefficients of reals spend bits on what lies between the integers. *e becomes the file without
 * loss where that is no larger. */
static tsr_status prefer_lossless(struct tsr_encoder *e)
{
    const double rms = e->finite ? sqrt(e->squared / (double)e->finite) : 0;
    if (e->t.map != TSR_TSC_REAL || tsr_dtype_size(e->t.dtype) > 2 || rms >= 1) return TSR_OK;
    tsr_compress_options o = *e->options;
    o.psnr = o.rate = 0;
    o.coder = TSR_COMPRESS_PLANES; /* as cutting and lower resolutions are what was asked for */
    struct tsr_encoder other = { .volume = e->volume, .options = &o, .path = e->path, .threads = e->threads, .t = { .image = e->t.image } };
    const int64_t most = tsr_tsc_measure(&e->t, e->volume);
    int hopeless = 0;
    tsr_status status = prepare(&other);
    if (status == TSR_OK) status = try_some(&other, most, &hopeless);
    if (status == TSR_OK && !hopeless) status = encode_and_cut(&other);
    if (status == TSR_OK && !hopeless && tsr_tsc_measure(&other.t, e->volume) <= most) {
        const struct tsr_encoder lossy = *e;
        *e = other;
        e->options = lossy.options;
        e->codec.t = &e->t;
        other = lossy;
    }
    release(&other);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status compress(const tsr_volume *volume, const char *path, const tsr_compress_options *options, tsr_compress_info *info)
{
    tsr_compress_options o;
    struct tsr_encoder e = { .volume = volume, .options = &o, .path = path };
    int64_t file_bytes = 0;
    TSR_TRY(TSR_STRUCT_BEGUN(info));
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (!path) TSR_FAIL(TSR_ERROR_ARGUMENT, "path is NULL");
    if (!volume || (volume->context && volume->context->device.kind != TSR_DEVICE_CPU))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: expected a host volume", path);
    e.t.image = tsr_volume_channels(volume) && tsr_tsc_takes_image(volume->dtype);
    e.threads = o.threads > 0 ? o.threads : tsr_parallel_default_threads();
    const tsr_write_options write = { .struct_size = sizeof write, .overwrite = o.overwrite, .regular_only = o.regular_only, .progress = o.progress };
    tsr_status status = encode(&e);
    if (status == TSR_OK) status = prefer_lossless(&e);
    if (status == TSR_OK && tsr_progress_report(&o.progress, 1, "compressing"))
        status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during compressing");
    if (status == TSR_OK) status = tsr_tsc_write(&e.t, volume, e.bytes, e.spool, path, &write, &file_bytes);
    if (status == TSR_OK && info) {
        tsr_compress_info found = tsr_tsc_describe(&e.t);
        found.file_bytes = found.whole_bytes = file_bytes;
        found.pieces_whole = found.pieces;
        if (found.lossless) found.psnr = HUGE_VAL;
        if (e.t.map == TSR_TSC_REAL) found.psnr = tsr_encoder_psnr(&e);
        status = TSR_STRUCT_GIVE(info, &found);
    }
    release(&e);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_volume_compress(const tsr_volume *volume, const char *path, const tsr_compress_options *options, tsr_compress_info *info)
{
    return compress(volume, path, options, info);
}

tsr_status tsr_image_compress(const tsr_image *image, const char *path, const tsr_compress_options *options, tsr_compress_info *info)
{
    tsr_volume *volume = NULL;
    if (!image || !image->pixels) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: image is NULL", path ? path : "");
    TSR_TRY(tsr_volume_from_image(image, &volume));
    const tsr_status status = compress(volume, path, options, info);
    tsr_volume_destroy(&volume);
    return status == TSR_OK ? TSR_OK : tsr_frame_at(status, __func__, __FILE__, __LINE__);
}
