/* video/dirac/frames.c: pictures become frames, which go out by picture number where pictures are coded in another order than they are shown. */
#include <stdlib.h>

#include "formats/films/video.h"
#include "video/dirac/decoder.h"

static tsr_status shape_frame(tsr_dirac_decoder *d, tsr_dirac_frame *f)
{
    const tsr_dirac_sequence *s = &d->sequence;
    const int32_t depth = s->luma_depth > s->chroma_depth ? s->luma_depth : s->chroma_depth;
    tsr_video_frame shape = { .format = { .width = s->width,
                                          .height = d->options.pictures ? s->height >> s->fields : s->height,
                                          .chroma = s->chroma,
                                          .bits = depth < 8 ? 8 : depth,
                                          .siting = TSR_SITING_LEFT,
                                          .matrix = s->matrix == 1 ? TSR_MATRIX_BT601 : TSR_MATRIX_BT709,
                                          .range = s->luma_offset ? TSR_RANGE_LIMITED : TSR_RANGE_FULL } };
    TSR_TRY(tsr_video_format_complete(&shape.format));
    tsr_video_frame_lay_out(&shape);
    if (tsr_dirac_on_host(d)) {
        if (!f->shape.bytes || memcmp(&f->shape.format, &shape.format, sizeof shape.format) != 0) {
            tsr_video_frame_destroy(&f->shape);
            TSR_TRY(tsr_video_frame_create(&shape.format, &f->shape));
        }
        f->memory = f->shape.plane[0];
        f->room = shape.bytes;
    } else if (shape.bytes != f->room) {
        tsr_device_release(d->context, f->memory, (size_t)f->room);
        f->memory = NULL;
        f->room = 0;
        TSR_TRY(tsr_device_allocate(d->context, (size_t)shape.bytes, &f->memory));
        f->room = shape.bytes;
    }
    if (!tsr_dirac_on_host(d)) f->shape = shape;
    f->sequence = *s;
    f->info = (tsr_dirac_frame_info)TSR_DIRAC_FRAME_INFO;
    return TSR_OK;
}

void tsr_dirac_frames_free(tsr_dirac_decoder *d)
{
    for (int k = 0; k < TSR_DIRAC_FRAMES; k++)
        if (tsr_dirac_on_host(d)) tsr_video_frame_destroy(&d->frame[k].shape);
        else tsr_device_release(d->context, d->frame[k].memory, (size_t)d->frame[k].room);
    tsr_device_release(d->context, d->jobs, d->jobs ? sizeof *d->jobs : 0);
    for (int k = 0; k < TSR_DIRAC_REFERENCES; k++) {
        tsr_dirac_reference *r = &d->reference[k];
        tsr_device_release(d->context, r->grid, (size_t)(4 * r->elements * r->bytes));
    }
}

static int free_frame(const tsr_dirac_decoder *d)
{
    for (int k = 0; k < d->frames; k++)
        if (!d->frame[k].complete && k != d->current) return k;
    return -1;
}

int tsr_dirac_frames_full(const tsr_dirac_decoder *d) { return d->current < 0 && free_frame(d) < 0; }

static void complete(tsr_dirac_decoder *d)
{
    d->frame[d->current].complete = 1;
    d->current = -1;
}

tsr_status tsr_dirac_finish_frame(tsr_dirac_decoder *d, int64_t offset)
{
    if (d->current < 0) return TSR_OK;
    TSR_TRY(tsr_dirac_damage(d, offset, "picture %u: the other field of its frame is missing", d->frame[d->current].info.number));
    d->frame[d->current].info.damaged = 1;
    d->damaged = 0;
    complete(d);
    return TSR_OK;
}

/* ---- turns --------------------------------------------------------------------------------------------------------------------------------- */

static int comes_before(uint32_t a, uint32_t b) { return a != b && b - a < 0x80000000u; } /* numbers wrap */

tsr_dirac_frame *tsr_dirac_next_frame(tsr_dirac_decoder *d)
{
    tsr_dirac_frame *first = NULL;
    int count = 0;
    for (int k = 0; k < d->frames; k++) {
        tsr_dirac_frame *f = &d->frame[k];
        if (!f->complete) continue;
        count++;
        if (!first || comes_before(f->info.number, first->info.number)) first = f;
    }
    const int depth = first && first->sequence.fields && d->options.pictures ? 4 : 2;
    if (!first) return NULL;
    if (!first->in_order && !d->flushing && count <= depth && !(d->has_expected && first->info.number == d->expected)) return NULL;
    return first;
}

/* ---- samples ------------------------------------------------------------------------------------------------------------------------------- */

/* Where component c begins in a reference, of whose grid a plane is. */
static int64_t place_of(const tsr_dirac_decoder *d, int c)
{
    int64_t at = 0;
    for (int k = 0; k < c; k++) {
        int32_t width, height;
        tsr_dirac_component_size(&d->sequence, k, &width, &height);
        at += (int64_t)width * height;
    }
    return at;
}

/* The prediction of component c. On the host its rows are `width` apart, in the memory of the coefficients, which are samples by then: what is predicted from
 * has had some in a picture of these extents. A device stores it at once. */
static tsr_dirac_predict_job predict_job(const tsr_dirac_decoder *d, int c)
{
    const tsr_dirac_motion *m = &d->motion;
    const tsr_dirac_sequence *s = &d->sequence;
    tsr_dirac_predict_job job = { .p = m->prediction,
                                  .blocks = m->on_device,
                                  .component = c,
                                  .bytes = tsr_dirac_reference_bytes(d),
                                  .depth = c ? s->chroma_depth : s->luma_depth,
                                  .down = { c && s->chroma != TSR_CHROMA_444, c && s->chroma == TSR_CHROMA_420 } };
    tsr_dirac_component_size(s, c, &job.width, &job.height);
    if (tsr_dirac_on_host(d)) {
        job.predicted = d->residue.on_device[c];
        job.stride = job.width;
    }
    for (int32_t r = 0; r < m->prediction.references; r++) {
        const tsr_dirac_reference *from = &d->reference[m->reference[r]];
        job.reference[r] = (const char *)from->grid + 4 * place_of(d, c) * from->bytes;
    }
    return job;
}

/* *narrow 0: samples leave 16 bits; the coefficients are then there in 32. `coarse`: without the finest level. */
static tsr_status synthesise_narrow(tsr_dirac_decoder *d, int c, int coarse, int *narrow)
{
    tsr_dirac_residue *p = &d->residue;
    const tsr_dirac_synthesis *s = coarse ? &p->coarse_synthesis[c > 0] : &p->narrow_synthesis[c > 0];
    const tsr_status status = tsr_dirac_synthesis_run(s, p->narrow[c], p->narrow_samples, p->workspace);
    if (status != TSR_ERROR_CAPACITY) return status;
    *narrow = 0;
    for (int64_t k = 0; k < p->elements[c]; k++) p->on_device[c][k] = p->narrow[c][k];
    return TSR_OK;
}

tsr_slice_target tsr_dirac_planes(const tsr_dirac_decoder *d, const tsr_dirac_target *t, const tsr_dirac_frame *f)
{
    const tsr_dirac_sequence *s = &d->sequence;
    const int both = s->fields && !d->options.pictures, second = both && (t->number & 1);
    const int bottom = both && (second ? s->top_field_first : !s->top_field_first);
    tsr_slice_target to = { .bytes = f->shape.format.bits > 8 ? 2 : 1,
                            .depth = { s->luma_depth, s->chroma_depth },
                            .long_length = d->options.long_length };
    char *at = (char *)f->memory;
    for (int c = 0; c < 3; c++) {
        to.plane[c] = at + (int64_t)bottom * f->shape.width[c] * to.bytes;
        to.plane_stride[c] = (int64_t)f->shape.width[c] << both;
        at += (int64_t)f->shape.width[c] * f->shape.height[c] * to.bytes;
    }
    return to;
}

static tsr_dirac_store_job store_job(const tsr_dirac_decoder *d, const tsr_dirac_target *t, const tsr_slice_target *to, int c)
{
    tsr_dirac_store_job job = { .plane = to->plane[c],
                                .plane_stride = to->plane_stride[c],
                                .reference = t->reference ? (char *)t->reference->grid + 4 * place_of(d, c) * t->reference->bytes : NULL,
                                .reference_bytes = t->reference ? t->reference->bytes : 0,
                                .bytes = to->bytes,
                                .depth = to->depth[c > 0] };
    tsr_dirac_component_size(&d->sequence, c, &job.width, &job.height);
    if (t->residue) {
        job.residue = d->residue.samples[c];
        job.stride = d->residue.layout[c].stride;
    }
    if (t->predicted && tsr_dirac_on_host(d)) {
        job.predicted = d->residue.on_device[c];
        job.predicted_stride = job.width;
    }
    return job;
}

/* Elements of narrow[c] up to the last row that a sub-band has which is not 0. */
static int64_t filled_elements(const tsr_dirac_residue *p, int c)
{
    int64_t rows = p->layout[c].band[0][0].height;
    for (int level = 1; level <= p->transform.horizontal + p->transform.depth; level++)
        for (int band = 1; band < tsr_dirac_bands(&p->transform, level); band++) {
            const tsr_dirac_band *b = &p->layout[c].band[level][band];
            if (!p->empty[c][level][band]) rows = tsr_max64(rows, b->offset / p->layout[c].stride + b->height);
        }
    return rows * p->layout[c].stride;
}

static tsr_status upload_residue(tsr_dirac_decoder *d, const tsr_dirac_target *t, int c)
{
    tsr_dirac_residue *p = &d->residue;
    const tsr_backend *backend = d->context->backend;
    if (!t->residue || tsr_dirac_on_host(d) || t->residue == TSR_DIRAC_RESIDUE_THERE) return TSR_OK;
    if (t->residue == TSR_DIRAC_RESIDUE_NARROW) {
        const int64_t there = filled_elements(p, c);
        TSR_TRY(backend->upload(d->context->queue, p->upload, p->narrow[c], (size_t)there * sizeof(int16_t)));
        return backend->dirac->widen(d->context->queue, (const int16_t *)(const void *)p->upload, there, p->on_device[c], p->elements[c]);
    }
    return d->context->backend->upload(d->context->queue, p->on_device[c], p->coefficients[c], (size_t)p->elements[c] * sizeof(int32_t));
}

/* Components [c, c + count), whose memory lies behind one another, from coefficients to samples. */
static tsr_status transform_components(tsr_dirac_decoder *d, const tsr_dirac_target *t, int c, int count, tsr_dirac_store_job *job)
{
    tsr_dirac_residue *p = &d->residue;
    const uint8_t *empty = p->empty[c][p->transform.depth];
    const int coarse = t->predicted && p->coarse_synthesis[c > 0].count && empty[1] && empty[2] && empty[3];
    int narrow = t->residue == TSR_DIRAC_RESIDUE_NARROW && tsr_dirac_on_host(d);
    tsr_dirac_enter(d, TSR_DIRAC_RESIDUAL_DECODE);
    for (int k = c; k < c + count; k++) TSR_TRY(upload_residue(d, t, k));
    tsr_dirac_enter(d, TSR_DIRAC_WAVELET_TRANSFORM);
    if (narrow) TSR_TRY(synthesise_narrow(d, c, coarse, &narrow));
    if (narrow) job->narrow = p->narrow_samples;
    else {
        TSR_TRY(tsr_dirac_residue_wide(d));
        TSR_TRY(tsr_dirac_synthesis_run(&p->synthesis[c > 0], p->on_device[c], p->samples[c], p->workspace));
        job->residue = p->samples[c];
    }
    if (narrow && coarse) {
        job->doubled[0] = p->layout[c].stride / 2;
        job->doubled[1] = p->layout[c].padded_height / 2;
    }
    return TSR_OK;
}

static tsr_status store_components(tsr_dirac_decoder *d, const tsr_dirac_target *t, const tsr_slice_target *to, int c, int count)
{
    const tsr_dirac_ops *ops = d->context->backend->dirac;
    tsr_dirac_store_job job[2];
    for (int k = 0; k < count; k++) job[k] = store_job(d, t, to, c + k);
    if (t->residue) TSR_TRY(transform_components(d, t, c, count, job));
    for (int k = 0; k < count && t->predicted; k++) {
        tsr_dirac_predict_job predict = predict_job(d, c + k);
        tsr_dirac_enter(d, TSR_DIRAC_MOTION_RENDER);
        if (!tsr_dirac_on_host(d) || !d->options.profile) predict.store = &job[k]; /* profiles of the host have both stages */
        TSR_TRY(ops->predict(d->context->queue, &predict));
        if (!predict.store) {
            tsr_dirac_enter(d, TSR_DIRAC_COMBINE);
            TSR_TRY(ops->store(d->context->queue, &job[k]));
        }
    }
    if (t->predicted) return TSR_OK;
    tsr_dirac_enter(d, TSR_DIRAC_COMBINE);
    for (int k = 0; k < count; k++) TSR_TRY(ops->store(d->context->queue, &job[k]));
    return TSR_OK;
}

/* ---- the same as a graph ------------------------------------------------------------------------------------------------------------------- */

/* A picture whose jobs and coefficients are on the device. */
typedef struct launching {
    tsr_dirac_decoder *decoder;
    const tsr_dirac_target *target;
    const tsr_dirac_component_jobs *jobs; /* what d->jobs are */
} launching;

static tsr_status launch_components(void *user)
{
    const launching *l = (const launching *)user;
    tsr_dirac_decoder *d = l->decoder;
    tsr_dirac_residue *p = &d->residue;
    const tsr_dirac_ops *ops = d->context->backend->dirac;
    for (int k = 0; k < 2; k++) {
        const int c = k ? !p->first : p->first, count = 1 + c; /* luma, or both of chroma */
        int32_t width, height;
        tsr_dirac_component_size(&d->sequence, c, &width, &height);
        if (l->target->residue) TSR_TRY(tsr_dirac_synthesis_run(&p->synthesis[c], p->on_device[c], p->samples[c], p->workspace));
        if (l->target->predicted)
            TSR_TRY(ops->predict_there(d->context->queue, &d->jobs->predict[c], &d->jobs->store[c], &l->jobs->predict[c], count));
        else TSR_TRY(ops->store_there(d->context->queue, &d->jobs->store[c], width, height, count));
    }
    return TSR_OK;
}

/* All components of a core picture, with one launch where its type has come before. */
static tsr_status launch_picture(tsr_dirac_decoder *d, const tsr_dirac_target *t, const tsr_slice_target *to)
{
    tsr_dirac_component_jobs jobs = { 0 };
    launching l = { d, t, &jobs };
    int64_t key[13] = { t->residue != 0 };
    if (!d->jobs) TSR_TRY(tsr_device_allocate(d->context, sizeof *d->jobs, (void **)&d->jobs));
    for (int c = 0; c < 3; c++) {
        int32_t width, height;
        tsr_dirac_component_size(&d->sequence, c, &width, &height);
        jobs.store[c] = store_job(d, t, to, c);
        if (t->predicted) jobs.predict[c] = predict_job(d, c);
        TSR_TRY(upload_residue(d, t, c));
        key[1 + 2 * c] = width;
        key[2 + 2 * c] = height;
    }
    for (int axis = 0; axis < 2 && t->predicted; axis++) { /* how predictions are parted into regions */
        key[7 + axis] = jobs.predict[0].p.length[axis];
        key[9 + axis] = jobs.predict[0].p.separation[axis];
        key[11 + axis] = jobs.predict[1].down[axis];
    }
    TSR_TRY(d->context->backend->upload(d->context->queue, d->jobs, &jobs, sizeof jobs));
    return tsr_picture_graph_run(&d->graph[t->predicted ? t->code & 3 : 0], d->context, key, 13, launch_components, &l);
}

tsr_status tsr_dirac_begin_picture(tsr_dirac_decoder *d, const tsr_dirac_target *t, tsr_dirac_frame **frame)
{
    if (d->current < 0) {
        const int k = free_frame(d);
        if (k < 0) TSR_FAIL(TSR_ERROR_INTERNAL, "no frame is free");
        TSR_TRY(shape_frame(d, &d->frame[k]));
        d->current = k;
        d->frame[k].info.number = t->number;
        d->frame[k].info.offset = t->offset;
        d->frame[k].filled = 0;
        d->frame[k].in_flight = 0;
        d->frame[k].in_order = (t->code & 0x88) == 0x88;
        if (d->sequence.fields && !d->options.pictures) /* the other field may not come */
            TSR_TRY(d->context->backend->fill(d->context->queue, d->frame[k].memory, 0, (size_t)d->frame[k].room));
    }
    *frame = &d->frame[d->current];
    return TSR_OK;
}

tsr_status tsr_dirac_check_digest(tsr_dirac_decoder *d, const tsr_dirac_target *t, const tsr_dirac_frame *f)
{
    const tsr_slice_target at = tsr_dirac_planes(d, t, f);
    const char *host = (const char *)f->memory;
    char *copy = NULL;
    uint8_t digest[TSR_DIRAC_DIGEST];
    tsr_dirac_md5 md5;
    if (!d->has_digest || d->damaged) return TSR_OK;
    d->has_digest = 0;
    if (!tsr_dirac_on_host(d)) {
        host = copy = (char *)malloc((size_t)f->shape.bytes);
        if (!copy) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for %lld bytes of a picture", (long long)f->shape.bytes);
        const tsr_status status = d->context->backend->download(d->context->queue, copy, f->memory, (size_t)f->shape.bytes);
        if (status != TSR_OK) {
            free(copy);
            return status;
        }
    }
    tsr_dirac_md5_begin(&md5);
    for (int c = 0; c < 3; c++) {
        int32_t width, height;
        tsr_dirac_component_size(&d->sequence, c, &width, &height);
        tsr_dirac_md5_rows(&md5, host + ((const char *)at.plane[c] - (const char *)f->memory), at.plane_stride[c] * at.bytes,
                           (int64_t)width * at.bytes, height);
    }
    free(copy);
    tsr_dirac_md5_digest(&md5, digest);
    if (memcmp(digest, d->digest, sizeof digest) == 0) return TSR_OK;
    return tsr_dirac_damage(d, t->offset, "picture %u: its samples are not those whose MD5 the stream has", t->number);
}

void tsr_dirac_end_picture(tsr_dirac_decoder *d, const tsr_dirac_target *t, tsr_dirac_frame *f)
{
    const int both = d->sequence.fields && !d->options.pictures;
    f->info.damaged |= d->damaged;
    f->info.bytes += d->waiting;
    f->info.parse_code = t->code;
    d->damaged = 0;
    d->waiting = 0;
    f->filled |= both ? 1 << (t->number & 1) : 3;
    if (d->options.profile) d->options.profile->pictures[d->kind]++;
    if (f->filled == 3) complete(d);
}

tsr_status tsr_dirac_store_picture(tsr_dirac_decoder *d, const tsr_dirac_target *t)
{
    tsr_dirac_frame *f = NULL;
    TSR_TRY(tsr_dirac_begin_picture(d, t, &f));
    const tsr_slice_target to = tsr_dirac_planes(d, t, f);
    const int together = d->context->backend->dirac->record && !d->options.profile;
    const int first = d->residue.first;
    if (together) TSR_TRY(launch_picture(d, t, &to));
    else if (tsr_dirac_on_host(d))
        for (int c = 0; c < 3; c++) TSR_TRY(store_components(d, t, &to, c, 1));
    else
        for (int k = 0; k < 2; k++) TSR_TRY(store_components(d, t, &to, k ? !first : first, 1 + (k ? !first : first)));
    tsr_dirac_enter(d, -1);
    if (t->reference) {
        t->reference->number = t->number;
        t->reference->used = 1;
        t->reference->halved = 0;
    }
    TSR_TRY(tsr_dirac_check_digest(d, t, f));
    tsr_dirac_end_picture(d, t, f);
    return TSR_OK;
}

tsr_status tsr_dirac_land(tsr_dirac_decoder *d)
{
    TSR_TRY(tsr_slice_flight_run(&d->flight));
    for (int k = 0; k < d->frames; k++) d->frame[k].in_flight = 0;
    return TSR_OK;
}
