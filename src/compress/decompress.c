/* compress/decompress.c: a .tsc file, or a part of it, into a volume. */
#include <math.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "compress/codec.h"
#include "compress/fast_planes.h"

struct decoder {
    const tsr_tsc *t;
    const tsr_decompress_options *options;
    const char *name;
    const uint8_t *content;
    tsr_codec codec;
    tsr_volume *volume;
    int64_t box[2][3];  /* of the full resolution */
    int64_t origin[3];  /* of the volume, in the reduced resolution */
    int64_t grid[2][3]; /* bricks that meet the box */
    struct task {
        int64_t brick[TSR_FAST_TOGETHER];
        int32_t count;
    } * task;
    int64_t tasks, first, done; /* the first of a batch; how many are done */
    int64_t asked, good;        /* pieces */
    tsr_shared_failure failure;
};

/* Channels of an image stay. */
static int32_t reduce_along(const struct decoder *d, int a) { return a == 2 && d->t->image ? 0 : d->options->reduce; }
static int64_t reduced(int64_t n, int32_t reduce) { return (n + ((int64_t)1 << reduce) - 1) >> reduce; }

/* ---- what is asked for -------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status set_box(struct decoder *d)
{
    const tsr_tsc *t = d->t;
    const tsr_decompress_options *o = d->options;
    const int64_t asked[2][3] = { { o->box[0].x, o->box[0].y, o->box[0].z }, { o->box[1].x, o->box[1].y, o->box[1].z } };
    const int whole = !(asked[0][0] | asked[0][1] | asked[0][2] | asked[1][0] | asked[1][1] | asked[1][2]);
    const int32_t most = t->coder == TSR_COMPRESS_PREDICT ? 0 : t->levels;
    if (o->reduce < 0 || o->reduce > most) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: reduce is %d, expected 0 to %d for this file", d->name, o->reduce, most);
    if (o->layers < 0 || o->layers > t->layers)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: layers is %d, expected 1 to %d for this file", d->name, o->layers, t->layers);
    for (int a = 0; a < 3; a++) {
        d->box[0][a] = whole ? 0 : asked[0][a];
        d->box[1][a] = whole ? t->size[a] : asked[1][a];
        if (d->box[0][a] < 0 || d->box[1][a] <= d->box[0][a] || d->box[1][a] > t->size[a])
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: box is %lld to %lld along %c, expected a part of 0 to %lld", d->name, (long long)d->box[0][a],
                     (long long)d->box[1][a], 'x' + a, (long long)t->size[a]);
        d->grid[0][a] = d->box[0][a] / t->edge[a];
        d->grid[1][a] = tsr_ceil_div(d->box[1][a], t->edge[a]);
    }
    return TSR_OK;
}

/* Extents and place of what comes out. */
static tsr_status set_size(struct decoder *d, tsr_size3 *extents, tsr_geometry *g)
{
    const tsr_tsc *t = d->t;
    int64_t size[3];
    *g = t->geometry;
    for (int a = 0; a < 3; a++) {
        const int32_t r = reduce_along(d, a);
        d->origin[a] = reduced(d->box[0][a], r);
        size[a] = tsr_max64(reduced(d->box[1][a], r) - d->origin[a], 0);
        if (!size[a])
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: no voxel of the reduced resolution lies in the box along %c, expected a wider box", d->name, 'x' + a);
        for (int row = 0; row < 3; row++) g->affine[row][3] += t->geometry.affine[row][a] * (double)(d->origin[a] << r);
        for (int row = 0; row < 3; row++) g->affine[row][a] *= (double)((int64_t)1 << r);
    }
    *extents = (tsr_size3){ size[0], size[1], size[2] };
    return TSR_OK;
}

tsr_status tsr_tsc_create_volume(const tsr_tsc *t, tsr_context *context, tsr_size3 extents, const tsr_geometry *g, void *data, tsr_volume **volume)
{
    const char *key, *value;
    if (data) TSR_TRY(tsr_volume_wrap(NULL, t->dtype, extents, g, data, NULL, NULL, volume));
    else TSR_TRY(tsr_volume_create(context, t->dtype, extents, g, volume));
    (*volume)->slope = t->slope;
    (*volume)->intercept = t->intercept;
    for (int32_t i = 0; t->meta && tsr_volume_meta_at(t->meta, i, &key, &value); i++) TSR_TRY(tsr_volume_set_meta(*volume, key, value));
    if (t->image) TSR_TRY(tsr_volume_set_channels(*volume));
    return TSR_OK;
}

tsr_status tsr_tsc_find_region(const tsr_tsc *t, const tsr_decompress_options *options, const char *name, tsr_tsc_region *region)
{
    struct decoder d = { .t = t, .options = options, .name = name };
    TSR_TRY(set_box(&d));
    TSR_TRY(set_size(&d, &region->size, &region->geometry));
    memcpy(region->origin, d.origin, sizeof d.origin);
    memcpy(region->grid, d.grid, sizeof d.grid);
    return TSR_OK;
}

/* ---- bricks ------------------------------------------------------------------------------------------------------------------------------------------------- */

/* The layers of one stream that are there, joined: up to the first that is not. *joined is malloc'd where there are several. */
static tsr_status gather(struct decoder *d, int64_t brick, int32_t stream, tsr_brick_stream *s, uint8_t **joined)
{
    const tsr_tsc *t = d->t;
    const int64_t first = (brick * t->streams + stream) * t->layers;
    const int32_t layers = d->options->layers ? d->options->layers : t->layers;
    int32_t n = 0, parts = 0;
    int64_t asked = 0, good = 0;
    size_t at = 0;
    *s = (tsr_brick_stream){ 0 };
    for (; n < layers && tsr_tsc_piece_good(t, first + n, d->content); n++) {
        const tsr_tsc_piece *p = &t->piece[first + n];
        if (!p->bytes) continue;
        if (!parts++) s->bytes = d->content + p->offset;
        s->size += p->bytes;
        s->passes += p->passes;
    }
    if (n < layers && !d->options->partial)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: brick %lld, stream %d, layer %d is %s; partial takes what is there", d->name, (long long)brick, stream, n,
                 t->piece[first + n].there ? "damaged" : "missing: the file is cut off");
    asked = layers;
    good = n;
    __atomic_fetch_add(&d->asked, asked, __ATOMIC_RELAXED);
    __atomic_fetch_add(&d->good, good, __ATOMIC_RELAXED);
    if (parts < 2) return TSR_OK;
    *joined = (uint8_t *)malloc(s->size);
    if (!*joined) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a brick", d->name);
    for (int32_t k = 0; k < n; k++) {
        const tsr_tsc_piece *p = &t->piece[first + k];
        if (p->bytes) memcpy(*joined + at, d->content + p->offset, p->bytes);
        at += p->bytes;
    }
    s->bytes = *joined;
    return TSR_OK;
}

/* The part of a decoded brick that lies in the volume. */
static tsr_brick_target target_of(const struct decoder *d, const tsr_brick *b)
{
    const int64_t size[3] = { d->volume->size.x, d->volume->size.y, d->volume->size.z };
    tsr_brick_target t = { .step = { size[0], size[0] * size[1] } };
    int64_t at = 0;
    for (int a = 2; a >= 0; a--) {
        const int64_t origin = (b->origin[a] >> reduce_along(d, a)) - d->origin[a]; /* of the brick, in the volume */
        t.from[a] = tsr_max64(0, -origin);
        t.count[a] = tsr_max64(0, tsr_min64(b->reduced[a], size[a] - origin) - t.from[a]);
        at = at * size[a] + origin + t.from[a];
    }
    t.voxels = (char *)d->volume->data + (t.count[0] && t.count[1] && t.count[2] ? at * (int64_t)tsr_dtype_size(d->t->dtype) : 0);
    return t;
}

/* One brick, or some of the same shape. */
static tsr_status decode_bricks(struct decoder *d, const int64_t *index, int32_t count, const tsr_poll *poll)
{
    const tsr_tsc *t = d->t;
    tsr_brick brick[TSR_FAST_TOGETHER] = { { .count = 0 } };
    tsr_brick_stream stream[TSR_FAST_TOGETHER][TSR_TSC_STREAMS] = { { { 0 } } };
    tsr_brick_target target[TSR_FAST_TOGETHER] = { { .voxels = NULL } };
    uint8_t *joined[TSR_FAST_TOGETHER][TSR_TSC_STREAMS] = { { NULL } };
    int64_t number[TSR_FAST_TOGETHER];
    int32_t there = 0, failed = 0;
    tsr_status status = TSR_OK;
    for (int32_t k = 0; k < count; k++) {
        int any = 0;
        for (int32_t s = 0; s < t->streams; s++) {
            stream[there][s] = (tsr_brick_stream){ 0 };
            if (s < t->resolutions && s >= t->resolutions - d->options->reduce) continue;
            TSR_TRY_GOTO(gather(d, index[k], s, &stream[there][s], &joined[k][s]), done);
            any |= s < t->resolutions && stream[there][s].bytes;
        }
        if (!any && d->options->partial) continue; /* nothing of it is there: 0, and so are voxels without one piece */
        brick[there] = tsr_codec_brick(&d->codec, index[k]);
        target[there] = target_of(d, &brick[there]);
        number[there++] = index[k];
    }
    status = tsr_bricks_decode(&d->codec, brick, there, (const tsr_brick_stream(*)[TSR_TSC_STREAMS])stream, target, poll, &failed);
    if (status == TSR_ERROR_CANCELLED) goto done;
    if (status != TSR_OK) TSR_FAIL_GOTO(status, done, "%s: brick %lld: %s", d->name, (long long)number[failed], tsr_error_message());
done:
    for (int32_t k = 0; k < count; k++)
        for (int32_t s = 0; s < t->streams; s++) free(joined[k][s]);
    return status;
}

static void decode_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct decoder *d = (struct decoder *)user;
    for (int64_t i = d->first + begin; i < d->first + end && !tsr_shared_failed(&d->failure); i++) {
        const double fraction = (double)__atomic_load_n(&d->done, __ATOMIC_RELAXED) / (double)d->tasks;
        const tsr_poll poll = { &d->failure, worker ? NULL : &d->options->progress, "decompressing", fraction };
        const tsr_status status = decode_bricks(d, d->task[i].brick, d->task[i].count, &poll);
        if (status != TSR_OK) tsr_shared_fail(&d->failure, status);
        __atomic_fetch_add(&d->done, 1, __ATOMIC_RELAXED);
    }
}

/* The bricks that meet the box; those of the coders fast and rans by twos of one shape. */
static tsr_status list_tasks(struct decoder *d)
{
    const tsr_tsc *t = d->t;
    const int32_t most = t->coder == TSR_COMPRESS_FAST || t->coder == TSR_COMPRESS_RANS ? TSR_FAST_TOGETHER : 1;
    struct task waiting[8] = { { { 0 }, 0 } };
    const int64_t count = (d->grid[1][0] - d->grid[0][0]) * (d->grid[1][1] - d->grid[0][1]) * (d->grid[1][2] - d->grid[0][2]);
    d->task = (struct task *)malloc((size_t)count * sizeof *d->task);
    d->tasks = 0;
    if (!d->task) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a list of %lld bricks", d->name, (long long)count);
    for (int64_t z = d->grid[0][2]; z < d->grid[1][2]; z++)
        for (int64_t y = d->grid[0][1]; y < d->grid[1][1]; y++)
            for (int64_t x = d->grid[0][0]; x < d->grid[1][0]; x++) {
                const int64_t index = (z * t->bricks[1] + y) * t->bricks[0] + x;
                struct task *w = &waiting[tsr_codec_brick(&d->codec, index).shape];
                w->brick[w->count++] = index;
                if (w->count < most) continue;
                d->task[d->tasks++] = *w;
                w->count = 0;
            }
    for (int k = 0; k < 8; k++)
        if (waiting[k].count) d->task[d->tasks++] = waiting[k];
    return TSR_OK;
}

static tsr_status decode(struct decoder *d)
{
    const int32_t threads = d->options->threads > 0 ? d->options->threads : tsr_parallel_default_threads();
    const int64_t batch = tsr_max64(64, 16 * (int64_t)threads);
    TSR_TRY(list_tasks(d));
    for (d->first = 0; d->first < d->tasks; d->first += batch) {
        TSR_PROGRESS(&d->options->progress, (double)d->first / (double)d->tasks, "decompressing");
        tsr_parallel(threads, tsr_min64(batch, d->tasks - d->first), 1, decode_range, d);
        TSR_TRY(tsr_shared_status(&d->failure));
    }
    return TSR_OK;
}

tsr_status tsr_tsc_decode(tsr_input *input, const tsr_tsc *t, const tsr_decompress_options *options, tsr_volume **volume, tsr_compress_info *info)
{
    struct decoder d = { .t = t, .options = options, .name = tsr_input_name(input) };
    tsr_status status;
    tsr_size3 extents;
    tsr_geometry geometry;
    size_t size;
    int64_t bytes;
    *volume = NULL;
    TSR_TRY(tsr_input_all(input, &d.content, &size));
    TSR_TRY(set_box(&d));
    TSR_TRY(set_size(&d, &extents, &geometry));
    TSR_TRY(tsr_size_bytes(extents, tsr_dtype_size(t->dtype), d.name, &bytes));
    const int64_t limit = options->memory_limit > 0 ? options->memory_limit : tsr_physical_memory();
    if (bytes > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: %lld bytes of voxels, expected at most %lld (memory_limit)", d.name, (long long)bytes, (long long)limit);
    TSR_TRY_GOTO(tsr_tsc_create_volume(t, NULL, extents, &geometry, NULL, &d.volume), done);
    TSR_TRY_GOTO(tsr_codec_create(t, options->reduce, 0, &d.codec), done);
    TSR_TRY_GOTO(decode(&d), done);
    if (info) {
        tsr_compress_info found = tsr_tsc_describe(t);
        found.file_bytes = (int64_t)size;
        found.pieces = d.asked;
        found.pieces_whole = d.good;
        status = TSR_STRUCT_GIVE(info, &found);
    }
done:
    free(d.task);
    tsr_codec_destroy(&d.codec);
    if (status == TSR_OK) *volume = d.volume;
    else tsr_volume_destroy(&d.volume);
    return status;
}

/* ---- more than memory holds ----------------------------------------------------------------------------------------------------------------------- */

/* Which part of the box is decoded at a time: boxes of whole bricks, all of x, as much of y as fits, and if that is all of it, of z. */
struct parts {
    struct decoder whole;
    tsr_size3 size;
    int64_t step[3]; /* bricks */
    tsr_spool *spool;
};

static tsr_status choose_parts(struct parts *p)
{
    const struct decoder *d = &p->whole;
    const tsr_tsc *t = d->t;
    const int32_t threads = d->options->threads > 0 ? d->options->threads : tsr_parallel_default_threads();
    const int64_t element = (int64_t)tsr_dtype_size(t->dtype), in_work = threads * t->edge[0] * t->edge[1] * t->edge[2] * (4 + element);
    const int64_t limit = d->options->memory_limit > 0 ? d->options->memory_limit : tsr_physical_memory();
    int64_t bytes = p->size.x * element, bricks[3];
    for (int a = 0; a < 3; a++) {
        bricks[a] = d->grid[1][a] - d->grid[0][a];
        p->step[a] = a ? 1 : bricks[a];
    }
    for (int a = 1; a < 3; a++) bytes *= t->edge[a] >> reduce_along(d, a);
    if (bytes + in_work > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: memory_limit is %lld, expected at least %lld bytes for a row of bricks", d->name, (long long)limit,
                 (long long)(bytes + in_work));
    const int64_t rows = (limit - in_work) / tsr_max64(bytes, 1);
    p->step[1] = tsr_min64(rows, bricks[1]);
    if (p->step[1] == bricks[1]) p->step[2] = tsr_min64(rows / bricks[1], bricks[2]);
    return TSR_OK;
}

static tsr_status spool_box(struct parts *p, tsr_input *input, const int64_t from[3], const int64_t to[3])
{
    const struct decoder *d = &p->whole;
    tsr_decompress_options o = *d->options;
    tsr_compress_info info = TSR_COMPRESS_INFO;
    tsr_volume *part;
    int64_t origin[3];
    o.memory_limit = 0;
    o.progress = (tsr_progress){ 0 };
    o.box[0] = (tsr_size3){ from[0], from[1], from[2] };
    o.box[1] = (tsr_size3){ to[0], to[1], to[2] };
    for (int a = 0; a < 3; a++) {
        origin[a] = reduced(from[a], reduce_along(d, a)) - d->origin[a];
        if (reduced(to[a], reduce_along(d, a)) == origin[a] + d->origin[a]) return TSR_OK; /* between two voxels of the resolution */
    }
    TSR_TRY(tsr_tsc_decode(input, d->t, &o, &part, &info));
    p->whole.asked += info.pieces;
    p->whole.good += info.pieces_whole;
    const int64_t run = part->size.x * part->size.y * (int64_t)tsr_dtype_size(part->dtype); /* all of x: the rows of a slice lie side by side */
    tsr_status status = TSR_OK;
    for (int64_t z = 0; z < part->size.z && status == TSR_OK; z++)
        status = tsr_spool_put(p->spool, ((origin[2] + z) * p->size.y + origin[1]) * p->size.x * (int64_t)tsr_dtype_size(part->dtype),
                               (const char *)part->data + z * run, (size_t)run);
    tsr_volume_destroy(&part);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_tsc_decode_spool(tsr_input *input, const tsr_tsc *t, const tsr_decompress_options *options, const char *beside, tsr_spool **spool,
                                tsr_volume **header, tsr_compress_info *info)
{
    struct parts p = { .whole = { .t = t, .options = options, .name = tsr_input_name(input) } };
    struct decoder *d = &p.whole;
    tsr_geometry geometry;
    tsr_status status;
    size_t size;
    int64_t bytes;
    *header = NULL;
    *spool = NULL;
    TSR_TRY(tsr_input_all(input, &d->content, &size));
    TSR_TRY(set_box(d));
    TSR_TRY(set_size(d, &p.size, &geometry));
    TSR_TRY(tsr_size_bytes(p.size, tsr_dtype_size(t->dtype), d->name, &bytes));
    TSR_TRY(choose_parts(&p));
    TSR_TRY(tsr_spool_open(beside, &p.spool));
    TSR_TRY_GOTO(tsr_tsc_create_volume(t, NULL, p.size, &geometry, p.spool, header), done); /* its voxels are not there */
    for (int64_t z = d->grid[0][2]; z < d->grid[1][2]; z += p.step[2])
        for (int64_t y = d->grid[0][1]; y < d->grid[1][1]; y += p.step[1]) {
            const int64_t at[3] = { d->grid[0][0], y, z };
            int64_t from[3], to[3];
            for (int a = 0; a < 3; a++) {
                from[a] = tsr_max64(d->box[0][a], at[a] * t->edge[a]);
                to[a] = tsr_min64(d->box[1][a], (at[a] + p.step[a]) * t->edge[a]);
            }
            if (tsr_progress_report(&options->progress, (double)(from[2] - d->box[0][2]) / (double)(d->box[1][2] - d->box[0][2]), "decompressing"))
                TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled during decompressing");
            TSR_TRY_GOTO(spool_box(&p, input, from, to), done);
            tsr_input_forget(input);
        }
    TSR_TRY_GOTO(tsr_spool_reserve(p.spool, bytes), done);
    if (info) {
        tsr_compress_info found = tsr_tsc_describe(t);
        found.file_bytes = (int64_t)size;
        found.pieces = d->asked;
        found.pieces_whole = d->good;
        status = TSR_STRUCT_GIVE(info, &found);
    }
done:
    if (status == TSR_OK) *spool = p.spool;
    else {
        tsr_spool_close(&p.spool);
        tsr_volume_destroy(header);
    }
    return status;
}

/* ---- files ---------------------------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_tsc_open(const char *path, int64_t memory_limit, const tsr_progress *progress, tsr_input **input, tsr_tsc *t)
{
    const tsr_input_options settings = { .memory_limit = memory_limit, .progress = progress };
    TSR_TRY(tsr_input_open(path, &settings, input));
    const tsr_status status = tsr_tsc_read(*input, t);
    if (status != TSR_OK) tsr_input_close(input);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_volume_decompress(const char *path, const tsr_decompress_options *options, tsr_volume **volume, tsr_compress_info *info)
{
    TSR_RETURNS(volume);
    tsr_decompress_options own;
    tsr_input *input = NULL;
    tsr_tsc t;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_tsc_open(path, own.memory_limit, &own.progress, &input, &t));
    const tsr_status status = tsr_tsc_decode(input, &t, &own, volume, info);
    tsr_tsc_clear(&t);
    tsr_input_close(&input);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_compress_describe(const char *path, tsr_compress_info *info)
{
    TSR_NEEDS(path, info);
    tsr_input *input = NULL;
    tsr_tsc t;
    const uint8_t *content;
    size_t size;
    TSR_TRY(tsr_tsc_open(path, 0, NULL, &input, &t));
    tsr_status status = tsr_input_all(input, &content, &size);
    if (status == TSR_OK) {
        tsr_compress_info found = tsr_tsc_describe(&t);
        found.file_bytes = (int64_t)size;
        for (int64_t k = 0; k < t.pieces; k++) {
            found.pieces_whole += tsr_tsc_piece_good(&t, k, content);
            if (k % 1024 == 1023) tsr_input_forget(input); /* every byte is looked at once */
        }
        status = TSR_STRUCT_GIVE(info, &found);
    }
    tsr_tsc_clear(&t);
    tsr_input_close(&input);
    TSR_TRY(status);
    return TSR_OK;
}

/* ---- picture --------------------------------------------------------------------------------------------------------------------------------------------------- */

/* Column `part` of the strip, by the grey range of the complete slice. */
static void paint(const tsr_volume *slice, int32_t part, double lower, double upper, tsr_image *image)
{
    const tsr_size3 size = slice->size;
    for (int64_t y = 0; y < size.y; y++)
        for (int64_t x = 0; x < size.x; x++) {
            const double v = tsr_voxel_load(slice->data, slice->dtype, y * size.x + x), t = upper > lower ? (v - lower) / (upper - lower) : 0.5;
            image->pixels[y * image->width + part * size.x + x] = (uint8_t)(255 * (t > 0 ? t < 1 ? t : 1 : 0) + 0.5);
        }
}

tsr_status tsr_compress_strip(const char *path, int64_t z, tsr_image *image)
{
    TSR_NEEDS(path, image);
    enum { MOST = 8 };
    tsr_input *input = NULL;
    tsr_tsc t;
    tsr_volume *slice = NULL;
    tsr_status status;
    double lower = HUGE_VAL, upper = -HUGE_VAL;
    memset(image, 0, sizeof *image);
    TSR_TRY(tsr_tsc_open(path, 0, NULL, &input, &t));
    const int32_t parts = t.layers < MOST ? t.layers : MOST;
    tsr_decompress_options o = { .struct_size = sizeof o, .box = { { 0, 0, z }, { t.size[0], t.size[1], z + 1 } }, .partial = 1 };
    if (t.coder != TSR_COMPRESS_PLANES || t.size[0] * parts > INT32_MAX || t.size[1] > INT32_MAX)
        TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "%s: strip of coder %s, expected planes, and a picture narrower than 2^31", path,
                      tsr_compress_coder_name((tsr_compress_coder)t.coder));
    TSR_TRY_GOTO(tsr_image_create((int32_t)t.size[0] * parts, (int32_t)t.size[1], 1, image), done);
    for (int32_t k = parts - 1; k >= 0; k--) { /* the complete one first: it has the range */
        o.layers = t.layers - (parts - 1 - k);
        TSR_TRY_GOTO(tsr_tsc_decode(input, &t, &o, &slice, NULL), done);
        for (int64_t i = 0; k == parts - 1 && i < tsr_volume_count(slice); i++) {
            const double v = tsr_voxel_load(slice->data, slice->dtype, i);
            if (!isfinite(v)) continue;
            lower = fmin(lower, v);
            upper = fmax(upper, v);
        }
        paint(slice, k, lower, upper, image);
        tsr_volume_destroy(&slice);
    }
done:
    if (status != TSR_OK) tsr_image_destroy(image);
    tsr_volume_destroy(&slice);
    tsr_tsc_clear(&t);
    tsr_input_close(&input);
    return status;
}
