/* Surface records: pictures, whole ones and those of which only what changed is drawn anew. */
#include <math.h>
#include <string.h>

#include "render/records_list.h"

static tsr_status check_options(const tsr_render_options *o)
{
    if (o->mode != TSR_RENDER_AUTO && o->mode != TSR_RENDER_SURFACE)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: render mode %d, expected auto or surface", (int)o->mode);
    static const char hint[] = "draw a scene with the tile list and tsr_scene_set_surface_records";
    if (o->clip) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: clip is set, expected none (%s)", hint);
    if (o->surface_layers < 0 || o->surface_layers > TSR_RECORD_LAYERS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface_layers %d, expected 1 to 64 (0 = 1)", o->surface_layers);
    if (o->ambient_occlusion > 0) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: ambient_occlusion is %g, expected none (%s)", o->ambient_occlusion, hint);
    if (o->transfer || o->surface_transfer) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: a transfer function is set, expected none");
    if (o->pass < 0 || o->pass >= 1 << 20) TSR_FAIL(TSR_ERROR_ARGUMENT, "pass %d, expected 0 to 2^20 - 1", o->pass);
    return TSR_OK;
}

/* World box of the voxels. */
static tsr_box bounds_of(const tsr_records *r)
{
    tsr_box b = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (int i = 0; i < 8; i++) {
        const tsr_vec3 at = { (double)(i & 1 ? r->upper[0] - 1 : r->lower[0]), (double)(i & 2 ? r->upper[1] - 1 : r->lower[1]),
                              (double)(i & 4 ? r->upper[2] - 1 : r->lower[2]) };
        const tsr_vec3 p = tsr_geometry_to_world(&r->geometry, at);
        b.lower = (tsr_vec3){ fmin(b.lower.x, p.x), fmin(b.lower.y, p.y), fmin(b.lower.z, p.z) };
        b.upper = (tsr_vec3){ fmax(b.upper.x, p.x), fmax(b.upper.y, p.y), fmax(b.upper.z, p.z) };
    }
    return b;
}

/* The frame of a picture of the records alone. */
static tsr_status lay_frame(const tsr_records *r, const tsr_camera *camera, const tsr_render_options *o, const tsr_picture *picture, tsr_vec3 *centre,
                            tsr_frame *f)
{
    const tsr_scene_info info = { .bounds = bounds_of(r), .window_high = 1 };
    *centre = tsr_vec3_scale(tsr_vec3_add(info.bounds.lower, info.bounds.upper), 0.5);
    memset(f, 0, sizeof *f);
    f->width = picture->width;
    f->height = picture->height;
    TSR_TRY(tsr_frame_supersampling(o->supersampling, &f->samples));
    TSR_TRY(tsr_frame_set_camera(camera, &info, *centre, f));
    TSR_TRY(tsr_frame_set_look(&info, o, f));
    f->occlusion = 0;
    f->show_surface = 1;
    f->layers = o->surface_layers ? o->surface_layers : 1;
    const tsr_vec3 spacing = tsr_geometry_spacing(&r->geometry);
    f->dt = (float)fmin(spacing.x, fmin(spacing.y, spacing.z));
    f->inverse_dt = 1 / f->dt;
    f->flat = o->flat != 0;
    f->pass = o->pass;
    return TSR_OK;
}

tsr_status tsr_records_belong(const tsr_records *r, const tsr_context *context, const tsr_geometry *geometry)
{
    if (r->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "records: they live in another context than the scene");
    if (r->kept == 0) TSR_FAIL(TSR_ERROR_STATE, "records: there are none to draw, the tile list has no surface");
    for (int k = 0; k < 12; k++)
        if (r->geometry.affine[k / 4][k % 4] != geometry->affine[k / 4][k % 4] || r->geometry.space != geometry->space)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "records: they lie elsewhere than the scene's tile list, expected those of that list");
    return TSR_OK;
}

/* Records, or ids of those that follow a list, between two reports. The pixels decide on processors: a few records may cover a large picture. */
static int64_t piece_of(const tsr_context *c, const tsr_records_draw_job *job, const tsr_progress *progress)
{
    const int64_t items = tsr_record_items(job);
    if (!progress->report) return items;
    if (c->device.kind == TSR_DEVICE_CUDA) return (int64_t)1 << 24;
    const int64_t work = 4 * tsr_record_sheet(&job->frame) + 64 * job->view.count,
                  pieces = 1 + work / (c->device.kind == TSR_DEVICE_EMU ? (int64_t)1 << 20 : (int64_t)c->threads << 21);
    return tsr_max64(1, items / pieces);
}

static int whole(const tsr_records_draw_job *job)
{
    return job->window[0] == 0 && job->window[1] == 0 && job->window[2] == job->frame.width && job->window[3] == job->frame.height;
}

/* No hit anywhere in one layer. */
static tsr_status clear(const tsr_context *c, const tsr_records_draw_job *job, const tsr_progress *progress)
{
    uint64_t *hits = job->hits + job->layer * tsr_record_sheet(&job->frame);
    const int64_t count = tsr_record_sheet(&job->frame), piece = progress->report ? (int64_t)1 << 22 : count;
    if (!whole(job)) {
        TSR_TRY(c->backend->render->records->clear(c->queue, job));
        return TSR_OK;
    }
    for (int64_t from = 0; from < count; from += piece) {
        TSR_TRY(c->backend->fill(c->queue, hits + from, 0xff, (size_t)tsr_min64(piece, count - from) * sizeof *hits));
        TSR_PROGRESS(progress, (double)job->layer / (2.0 * job->layers), "records");
    }
    return TSR_OK;
}

/* The hits of one layer; a report after each piece. */
static tsr_status splat(const tsr_context *c, tsr_records_draw_job *job, const tsr_progress *progress)
{
    const double layers = 2.0 * job->layers;
    const int64_t piece = piece_of(c, job, progress), items = tsr_record_items(job);
    TSR_TRY(clear(c, job, progress));
    for (job->from = 0; job->from < items; job->from = job->to) {
        job->to = tsr_min64(items, job->from + piece);
        TSR_TRY(c->backend->render->records->splat(c->queue, job));
        if (!progress->report) continue;
        TSR_TRY(c->backend->synchronize(c->queue));
        TSR_PROGRESS(progress, ((double)job->layer + (double)job->to / (double)items) / layers, "records");
    }
    return TSR_OK;
}

/* The whole picture of a frame, as a job without memory for its hits; *bytes: that it needs. */
static tsr_status lay_job(const tsr_records *r, tsr_vec3 centre, const tsr_frame *frame, int cull, tsr_records_draw_job *job, size_t *bytes)
{
    memset(job, 0, sizeof *job);
    job->frame = *frame;
    if (frame->opacity >= 1) job->frame.layers = 1; /* nothing shows through */
    job->layers = job->frame.layers;
    job->cull = cull != 0;
    tsr_records_view_of(r, centre, 0, &job->view);
    job->window[2] = frame->width;
    job->window[3] = frame->height;
    job->runs = r->runs;
    job->keys = r->keys;
    job->ids = r->ids;
    job->edge = 1 << r->log2_edge;
    for (int k = 0; k < 3; k++) job->origin[k] = r->origin[k];
    for (int n = 0; n < 4; n++) { /* half a diagonal of a tile's cells, the longest */
        const double h = 0.5 * (job->edge + 1), d[3] = { h, n & 1 ? -h : h, n & 2 ? -h : h };
        double square = 0;
        for (int k = 0; k < 3; k++) {
            const double *m = job->view.affine[k], along = (m[0] * d[0] + m[1] * d[1]) + m[2] * d[2];
            square += along * along;
        }
        job->reach = tsr_maxf(job->reach, (float)(1.0001 * sqrt(square)));
    }
    const double size = (double)tsr_record_sheet(&job->frame) * job->layers * (double)sizeof *job->hits;
    if (size > (double)((int64_t)1 << 40))
        TSR_FAIL(TSR_ERROR_MEMORY, "records: %.3g bytes for the hits of %d layers, expected fewer layers or a smaller picture", size,
                 (int)job->layers);
    *bytes = (size_t)size;
    return TSR_OK;
}

/* The pixels of the job's window, with hits that it has memory for. */
static tsr_status run(tsr_context *c, tsr_records_draw_job *job, const tsr_transfer_linear *transfer, const tsr_progress *progress,
                      tsr_picture *picture)
{
    const int32_t rows = job->window[3] - job->window[1],
                  band = tsr_band_rows(c, progress, job->window[2] - job->window[0], rows, job->frame.samples);
    TSR_PROGRESS(progress, 0, "records");
    for (job->layer = 0; job->layer < job->layers; job->layer++) TSR_TRY(splat(c, job, progress));
    for (int32_t row = 0; row < rows; row += band) {
        const int32_t end = tsr_mini(rows - row, band) + row;
        TSR_TRY(
            c->backend->render->records->draw(c->queue, job, transfer, job->window[1] + row, job->window[1] + end, picture->rgba, picture->depth));
        TSR_TRY(tsr_band_done(c, progress, rows + end, 2 * rows));
    }
    return TSR_OK;
}

tsr_status tsr_records_paint(const tsr_records *r, tsr_vec3 centre, const tsr_frame *frame, const tsr_transfer_linear *transfer, int cull,
                             const tsr_progress *progress, tsr_picture *picture)
{
    tsr_records_draw_job job;
    size_t bytes;
    TSR_TRY(lay_job(r, centre, frame, cull, &job, &bytes));
    TSR_TRY(tsr_device_allocate(r->context, bytes, (void **)&job.hits));
    const tsr_status status = run(r->context, &job, transfer, progress, picture);
    tsr_device_release(r->context, job.hits, bytes);
    return status;
}

/* ---- parts of a picture ------------------------------------------------------------------------------------------------------------------------- */

static int same_point(tsr_vec3 a, tsr_vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
static int same_color(tsr_color a, tsr_color b) { return a.r == b.r && a.g == b.g && a.b == b.b; }

/* Would an unchanged surface give the same picture, ray by ray? */
static int same_view(const tsr_records_canvas *old, const tsr_records *r, const tsr_camera *b, const tsr_render_options *q, int cull)
{
    const tsr_camera *a = &old->camera;
    const tsr_render_options *p = &old->options;
    int same = same_point(a->position, b->position) && a->projection == b->projection && a->fov == b->fov && a->height == b->height &&
               a->aspect == b->aspect && a->offset[0] == b->offset[0] && a->offset[1] == b->offset[1];
    for (int i = 0; i < 9; i++) same = same && a->rotation[i / 3][i % 3] == b->rotation[i / 3][i % 3];
    same = same && p->supersampling == q->supersampling && same_color(p->background[0], q->background[0]) &&
           same_color(p->background[1], q->background[1]) && p->transparent == q->transparent && same_color(p->surface_color, q->surface_color) &&
           p->surface_opacity == q->surface_opacity && p->specular == q->specular && p->surface_layers == q->surface_layers && p->flat == q->flat &&
           p->given == q->given && p->pass == 0 && q->pass == 0 && old->cull == (cull != 0);
    for (int k = 0; k < 3 && same; k++) {
        same = old->box.lower[k] == r->lower[k] && old->box.upper[k] == r->upper[k] && old->box.origin[k] == r->origin[k];
        for (int c = 0; c < 4; c++) same = same && old->box.geometry.affine[k][c] == r->geometry.affine[k][c];
    }
    return same;
}

/* Pixels that the records of these tiles can lie in; the whole picture where one reaches behind the eye. Returns how many. */
static int64_t window_of(const tsr_records_canvas *canvas, tsr_records_draw_job *job)
{
    float box[4] = { TSR_FLOAT_BIG, TSR_FLOAT_BIG, -TSR_FLOAT_BIG, -TSR_FLOAT_BIG };
    int32_t *w = job->window;
    for (int64_t i = 0; i < canvas->count; i++) {
        float tile[4];
        if (!tsr_record_shadow(job, canvas->keys[i], tile)) return (int64_t)job->frame.width * job->frame.height;
        for (int k = 0; k < 2; k++) {
            box[k] = tsr_minf(box[k], tile[k]);
            box[k + 2] = tsr_maxf(box[k + 2], tile[k + 2]);
        }
    }
    for (int k = 0; k < 2; k++) {
        const float size = (float)(k ? job->frame.height : job->frame.width);
        w[k] = tsr_floor_int(tsr_clampf(box[k], 0.0f, size));
        w[k + 2] = tsr_ceil_int(tsr_clampf(box[k + 2], 0.0f, size));
    }
    return (int64_t)tsr_maxi(w[2] - w[0], 0) * tsr_maxi(w[3] - w[1], 0);
}

/* Room for hits that stay; kept if it is enough. */
static tsr_status keep_hits(tsr_context *c, tsr_records_canvas *canvas, size_t bytes)
{
    if (canvas->bytes == bytes) return TSR_OK;
    tsr_device_release(c, canvas->hits, canvas->bytes);
    canvas->hits = NULL;
    canvas->bytes = 0;
    TSR_TRY(tsr_device_allocate(c, bytes, (void **)&canvas->hits));
    canvas->bytes = bytes;
    return TSR_OK;
}

static tsr_status draw_on_canvas(const tsr_records *r, const tsr_camera *camera, const tsr_render_options *o, int cull, tsr_picture *picture,
                                 tsr_records_canvas *canvas, tsr_records_draw_job *job, size_t bytes, int64_t *pixels)
{
    tsr_transfer_linear none;
    memset(&none, 0, sizeof none);
    const int part = canvas->valid && !canvas->all && picture->drawn_by == canvas && picture->turn == canvas->turn && canvas->bytes == bytes &&
                     same_view(canvas, r, camera, o, cull);
    *pixels = part ? window_of(canvas, job) : (int64_t)picture->width * picture->height;
    canvas->valid = 0;
    picture->drawn_by = NULL;
    TSR_TRY(keep_hits(r->context, canvas, bytes));
    job->hits = canvas->hits;
    if (*pixels) TSR_TRY(run(r->context, job, &none, &o->progress, picture));
    canvas->camera = *camera;
    canvas->options = *o;
    canvas->cull = cull != 0;
    for (int k = 0; k < 3; k++) {
        canvas->box.lower[k] = r->lower[k];
        canvas->box.upper[k] = r->upper[k];
        canvas->box.origin[k] = r->origin[k];
    }
    canvas->box.geometry = r->geometry;
    canvas->valid = 1;
    canvas->all = 0;
    canvas->count = 0;
    picture->drawn_by = canvas;
    picture->turn = ++canvas->turn;
    return TSR_OK;
}

tsr_status tsr_records_draw_on(const tsr_records *r, const tsr_camera *camera, const tsr_render_options *options, int cull, tsr_picture *picture,
                               tsr_records_canvas *canvas, int64_t *pixels)
{
    tsr_render_options o;
    tsr_frame frame;
    tsr_vec3 centre;
    tsr_records_draw_job job;
    tsr_transfer_linear none;
    size_t bytes;
    int64_t drawn;
    if (!r) TSR_FAIL(TSR_ERROR_ARGUMENT, "records is NULL");
    if (!picture) TSR_FAIL(TSR_ERROR_ARGUMENT, "picture is NULL");
    if (picture->context != r->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "the picture belongs to another context than the records");
    if (r->kept == 0) TSR_FAIL(TSR_ERROR_STATE, "records: there are none to draw, the tile list has no surface");
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check_options(&o));
    TSR_TRY(lay_frame(r, camera, &o, picture, &centre, &frame));
    memset(&none, 0, sizeof none);
    if (!canvas) {
        picture->drawn_by = NULL;
        TSR_TRY(tsr_records_paint(r, centre, &frame, &none, cull, &o.progress, picture));
        return TSR_OK;
    }
    TSR_TRY(lay_job(r, centre, &frame, cull, &job, &bytes));
    TSR_TRY(draw_on_canvas(r, camera, &o, cull, picture, canvas, &job, bytes, &drawn));
    if (pixels) *pixels = drawn;
    return TSR_OK;
}

tsr_status tsr_records_draw(const tsr_records *r, const tsr_camera *camera, const tsr_render_options *options, int cull, tsr_picture *picture)
{
    TSR_TRY(tsr_records_draw_on(r, camera, options, cull, picture, NULL, NULL));
    return TSR_OK;
}
