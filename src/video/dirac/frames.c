/* video/dirac/frames.c: pictures become frames, which go out by picture number where pictures are coded in another order than they are shown. */
#include "formats/video.h"
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
    if (shape.bytes != f->room) {
        tsr_device_release(d->context, f->memory, (size_t)f->room);
        f->memory = NULL;
        f->room = 0;
        TSR_TRY(tsr_device_allocate(d->context, (size_t)shape.bytes, &f->memory));
        f->room = shape.bytes;
    }
    f->shape = shape;
    f->sequence = *s;
    f->info = (tsr_dirac_frame_info)TSR_DIRAC_FRAME_INFO;
    return TSR_OK;
}

void tsr_dirac_frames_free(tsr_dirac_decoder *d)
{
    for (int k = 0; k < TSR_DIRAC_FRAMES; k++) tsr_device_release(d->context, d->frame[k].memory, (size_t)d->frame[k].room);
    for (int k = 0; k < TSR_DIRAC_REFERENCES; k++) {
        tsr_dirac_reference *r = &d->reference[k];
        tsr_device_release(d->context, r->plane, (size_t)r->elements * sizeof(int16_t));
        tsr_device_release(d->context, r->half, r->half ? (size_t)r->elements * 4 * sizeof(int16_t) : 0);
    }
}

static int free_frame(const tsr_dirac_decoder *d)
{
    for (int k = 0; k < TSR_DIRAC_FRAMES; k++)
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
    for (int k = 0; k < TSR_DIRAC_FRAMES; k++) {
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

/* The prediction of component c, rows `width` apart. */
static tsr_status predict(tsr_dirac_decoder *d, int c, int32_t width, int32_t height, int64_t at)
{
    const tsr_dirac_motion *m = &d->motion;
    const tsr_dirac_sequence *s = &d->sequence;
    tsr_dirac_predict_job job = { .p = m->prediction,
                                  .blocks = m->on_device,
                                  .predicted = m->predicted,
                                  .stride = width,
                                  .width = width,
                                  .height = height,
                                  .component = c,
                                  .down = { c && s->chroma != TSR_CHROMA_444, c && s->chroma == TSR_CHROMA_420 } };
    for (int32_t r = 0; r < m->prediction.references; r++) {
        const tsr_dirac_reference *from = &d->reference[m->reference[r]];
        job.reference[r] = m->prediction.precision ? from->half + 4 * at : from->plane + at;
    }
    return d->context->backend->dirac->predict(d->context->queue, &job);
}

/* *narrow 0: samples leave 16 bits; the coefficients are then there in 32. */
static tsr_status synthesise_narrow(tsr_dirac_decoder *d, int c, int *narrow)
{
    tsr_dirac_residue *p = &d->residue;
    const tsr_status status = tsr_dirac_synthesis_run(&p->narrow_synthesis[c > 0], p->narrow[c], p->narrow_samples, p->workspace);
    if (status != TSR_ERROR_CAPACITY) return status;
    *narrow = 0;
    for (int64_t k = 0; k < p->elements[c]; k++) p->on_device[c][k] = p->narrow[c][k];
    return TSR_OK;
}

static tsr_status store_component(tsr_dirac_decoder *d, const tsr_dirac_target *t, tsr_dirac_frame *f, int c, int64_t at_reference, int64_t at_plane)
{
    const tsr_dirac_sequence *s = &d->sequence;
    tsr_dirac_residue *p = &d->residue;
    const int both = s->fields && !d->options.pictures, second = both && (t->number & 1);
    const int bottom = both && (second ? s->top_field_first : !s->top_field_first);
    const int32_t bytes = f->shape.format.bits > 8 ? 2 : 1;
    tsr_dirac_store_job job = { .plane = (char *)f->memory + at_plane + (int64_t)bottom * f->shape.width[c] * bytes,
                                .plane_stride = (int64_t)f->shape.width[c] << both,
                                .reference = t->reference ? t->reference->plane + at_reference : NULL,
                                .bytes = bytes,
                                .depth = c ? s->chroma_depth : s->luma_depth };
    tsr_dirac_component_size(s, c, &job.width, &job.height);
    if (t->residue) {
        if (!tsr_dirac_on_host(d))
            TSR_TRY(d->context->backend->upload(d->context->queue, p->on_device[c], p->coefficients[c], (size_t)p->elements[c] * sizeof(int32_t)));
        int narrow = t->residue == 2;
        if (narrow) TSR_TRY(synthesise_narrow(d, c, &narrow));
        if (narrow) job.narrow = p->narrow_samples;
        else {
            TSR_TRY(tsr_dirac_synthesis_run(&p->synthesis[c > 0], p->on_device[c], p->samples, p->workspace));
            job.residue = p->samples;
        }
        job.stride = p->layout[c].stride;
    }
    if (t->predicted) {
        TSR_TRY(predict(d, c, job.width, job.height, at_reference));
        job.predicted = d->motion.predicted;
        job.predicted_stride = job.width;
    }
    return d->context->backend->dirac->store(d->context->queue, &job);
}

tsr_status tsr_dirac_store_picture(tsr_dirac_decoder *d, const tsr_dirac_target *t)
{
    const int both = d->sequence.fields && !d->options.pictures, second = both && (t->number & 1);
    int64_t at_plane = 0, at_reference = 0;
    if (d->current < 0) {
        const int k = free_frame(d);
        if (k < 0) TSR_FAIL(TSR_ERROR_INTERNAL, "no frame is free");
        TSR_TRY(shape_frame(d, &d->frame[k]));
        d->current = k;
        d->frame[k].info.number = t->number;
        d->frame[k].info.offset = t->offset;
        d->frame[k].filled = 0;
        d->frame[k].in_order = (t->code & 0x88) == 0x88;
        if (both)
            TSR_TRY(d->context->backend->fill(d->context->queue, d->frame[k].memory, 0, (size_t)d->frame[k].room)); /* the other field may not come */
    }
    tsr_dirac_frame *f = &d->frame[d->current];
    for (int c = 0; c < 3; c++) {
        int32_t width, height;
        TSR_TRY(store_component(d, t, f, c, at_reference, at_plane));
        tsr_dirac_component_size(&d->sequence, c, &width, &height);
        at_reference += (int64_t)width * height;
        at_plane += (int64_t)f->shape.width[c] * f->shape.height[c] * (f->shape.format.bits > 8 ? 2 : 1);
    }
    if (t->reference) {
        t->reference->number = t->number;
        t->reference->used = 1;
        t->reference->halved = 0;
    }
    f->info.damaged |= d->damaged;
    f->info.bytes += d->waiting;
    f->info.parse_code = t->code;
    d->damaged = 0;
    d->waiting = 0;
    f->filled |= both ? 1 << second : 3;
    if (f->filled == 3) complete(d);
    return TSR_OK;
}
