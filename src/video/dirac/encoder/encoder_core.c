/* video/dirac/encoder/encoder_core.c: one picture in core syntax: what it is predicted from, its blocks, the residue's sub-bands, and what a decoder will
 * have of it. */
#include <math.h>
#include <stdlib.h>

#include "video/dirac/encoder/dirac_encoder.h"
#include "video/dirac/filters.h"
#include "video/dirac/encoder/motion_write.h"

/* ---- creation ------------------------------------------------------------------------------------------------------------------------------ */

/* How much coarser (in quantiser indices) a sub-band may be for the eye, by its place in the frequencies at a distance of 3 picture heights: contrast
 * sensitivity of Mannos and Sakrison, flat below its peak. */
static double eye(const tsr_dirac_encoder *e, int inter, int chroma, int level, int band)
{
    const tsr_dirac_transform *t = &e->core->transform[inter];
    const double per_degree = 3 * (double)e->options.format.height * 0.017453292519943295;
    const double up = level ? t->depth - level + 1 : t->depth, middle = level ? 0.75 : 0.25; /* of the band, in halves of its rate */
    const double high = 0.5 * middle * exp2(1 - up) * per_degree / (chroma ? 2 : 1), low = high / 3;
    const double fx = band & 1 ? high : low, fy = band >> 1 ? high : low, f = fmax(sqrt(fx * fx + fy * fy) * (chroma ? 1.5 : 1), 8);
    const double sensitivity = 2.6 * (0.0192 + 0.114 * f) * exp(-pow(0.114 * f, 1.1));
    const double best = 2.6 * (0.0192 + 0.114 * 8) * exp(-pow(0.114 * 8, 1.1));
    return fmin(-4 * log2(fmax(sensitivity / best, 1e-3)), 10) * e->options.perceptual / 100;
}

static void fill_weights(tsr_dirac_encoder *e, int inter)
{
    tsr_dirac_core_coder *c = e->core;
    double norm[TSR_DIRAC_LEVELS + 1][4];
    const tsr_dirac_transform *t = &c->transform[inter];
    tsr_dirac_band_weights(t, norm);
    for (int chroma = 0; chroma < 2; chroma++)
        for (int level = 0; level <= t->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(t, level); band++)
                c->weight[inter][chroma][level][band] = norm[level][band] * exp2(-eye(e, inter, chroma, level, band) / 4);
}

/* Code blocks of 32 x 32 or so: empty ones, of which inter pictures have many, cost a flag. Intra pictures: on the finest levels. */
static void fill_codeblocks(const tsr_dirac_encoder *e, int inter, tsr_dirac_transform *t)
{
    for (int level = 0; level <= t->depth; level++)
        for (int axis = 0; axis < 2; axis++) {
            const int32_t up = level ? t->depth - level + 1 : t->depth;
            const int32_t size = (axis ? e->options.format.height >> e->sequence.fields : e->options.format.width) >> up;
            const int blocks = inter && level && e->options.coding != TSR_DIRAC_CODING_STATISTICS;
            t->codeblocks[level][axis] = blocks ? tsr_dirac_clamp(size / 32, 1, 64) : 1;
        }
}

tsr_status tsr_dirac_core_create(tsr_dirac_encoder *e)
{
    const tsr_dirac_encode_options *o = &e->options;
    tsr_dirac_core_coder *c = (tsr_dirac_core_coder *)calloc(1, sizeof *c);
    if (!c) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for an encoder");
    e->core = c;
    c->last_anchor = c->last_intra = -1;
    for (int inter = 0; inter < 2; inter++) {
        const int32_t wavelet = (inter ? o->inter_wavelet : o->wavelet) - 1;
        c->transform[inter] = (tsr_dirac_transform){ .wavelet = wavelet, .wavelet_horizontal = wavelet, .depth = o->depth };
        fill_codeblocks(e, inter, &c->transform[inter]);
        fill_weights(e, inter);
    }
    e->transform = c->transform[0];
    const int32_t height = o->format.height >> e->sequence.fields;
    c->prediction = (tsr_dirac_prediction){ .length = { o->block[0], o->block[1] },
                                            .separation = { o->block[2], o->block[3] },
                                            .precision = o->precision - 1,
                                            .weight_bits = 1,
                                            .weight = { 1, 1 },
                                            .blocks_x = 4 * (int32_t)tsr_ceil_div(o->format.width, 4 * (int64_t)o->block[2]),
                                            .blocks_y = 4 * (int32_t)tsr_ceil_div(height, 4 * (int64_t)o->block[3]) };
    return TSR_OK;
}

static tsr_status make_blocks(tsr_dirac_encoder *e)
{
    tsr_dirac_core_coder *c = e->core;
    const int64_t count = (int64_t)c->prediction.blocks_x * c->prediction.blocks_y;
    c->block_bytes = count * (int64_t)sizeof(tsr_dirac_block);
    c->motion_room = 2 * tsr_dirac_motion_room(&c->prediction);
    c->blocks = (tsr_dirac_block *)calloc((size_t)count, sizeof *c->blocks);
    c->splits = (uint8_t *)calloc((size_t)count, 1);
    c->motion = (uint8_t *)malloc((size_t)c->motion_room);
    c->motion_scratch = (uint8_t *)malloc((size_t)c->motion_room);
    if (!c->blocks || !c->splits || !c->motion || !c->motion_scratch) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for blocks");
    if (tsr_dirac_encodes_on_host(e)) {
        c->blocks_on_device = c->blocks;
        return TSR_OK;
    }
    c->luma = (int16_t *)malloc((size_t)e->layout[0].width * (size_t)e->layout[0].height * sizeof(int16_t));
    if (!c->luma) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for the search of motion");
    return tsr_device_allocate(e->context, (size_t)c->block_bytes, (void **)&c->blocks_on_device);
}

tsr_status tsr_dirac_core_make_memory(tsr_dirac_encoder *e)
{
    tsr_dirac_core_coder *c = e->core;
    const int long_groups = e->options.group > 1;
    c->on_device = tsr_core_device_usable(e->context, e->options.coding == TSR_DIRAC_CODING_VARIABLE);
    for (int k = 0; k < 3; k++) {
        c->writing.layout[k] = &e->layout[k];
        c->writing.coefficients[k] = e->coefficients[k];
        c->predicted_elements[k] = long_groups ? (int64_t)e->layout[k].width * e->layout[k].height : 0;
        TSR_TRY(tsr_device_allocate(e->context, (size_t)c->predicted_elements[k] * sizeof(int32_t), (void **)&c->predicted[k]));
        if (c->on_device) continue; /* it has them */
        TSR_TRY(tsr_host_allocate(NULL, (size_t)e->elements[k] * sizeof(int32_t), (void **)&c->writing.quantised[k]));
        /* Where the device is the host, what a decoder has is transformed where it lies: in device memory, which is aligned as that must be. */
        if (tsr_dirac_encodes_on_host(e))
            TSR_TRY(tsr_device_allocate(e->context, (size_t)e->elements[k] * sizeof(int32_t), (void **)&c->writing.decoded[k]));
        else TSR_TRY(tsr_host_allocate(NULL, (size_t)e->elements[k] * sizeof(int32_t), (void **)&c->writing.decoded[k]));
    }
    int64_t workspace = e->workspace_bytes;
    for (int inter = 0; inter < 2; inter++)
        for (int k = 0; k < 2; k++) {
            TSR_TRY(tsr_dirac_synthesis_make(e->context, &c->transform[inter], &e->layout[k], TSR_I32, 0, &c->plans[inter][k]));
            workspace = tsr_max64(workspace, c->plans[inter][k].workspace_bytes);
        }
    if (workspace > e->workspace_bytes) {
        tsr_device_release(e->context, e->workspace, (size_t)e->workspace_bytes);
        e->workspace = NULL;
        e->workspace_bytes = 0;
        TSR_TRY(tsr_device_allocate(e->context, (size_t)workspace, &e->workspace));
        e->workspace_bytes = workspace;
    }
    if (e->options.picture || e->options.checksum) {
        TSR_TRY(tsr_video_frame_create(&e->options.format, &c->shown));
        TSR_TRY(tsr_device_allocate(e->context, (size_t)c->shown.bytes, &c->reconstructed));
    }
    for (int k = 0; k < TSR_DIRAC_WAITING; k++) TSR_TRY(tsr_video_frame_create(&e->options.format, &c->waiting[k].frame));
    return long_groups ? make_blocks(e) : TSR_OK;
}

void tsr_dirac_core_destroy(tsr_dirac_encoder *e)
{
    tsr_dirac_core_coder *c = e->core;
    if (!c) return;
    e->core = NULL;
    tsr_dirac_core_writing_free(&c->writing);
    tsr_core_device_free(&c->device);
    for (int k = 0; k < 3; k++) {
        const size_t bytes = (size_t)e->elements[k] * sizeof(int32_t);
        tsr_host_release(NULL, c->writing.quantised[k], c->writing.quantised[k] ? bytes : 0);
        if (tsr_dirac_encodes_on_host(e)) tsr_device_release(e->context, c->writing.decoded[k], c->writing.decoded[k] ? bytes : 0);
        else tsr_host_release(NULL, c->writing.decoded[k], c->writing.decoded[k] ? bytes : 0);
        tsr_device_release(e->context, c->predicted[k], c->predicted[k] ? (size_t)c->predicted_elements[k] * sizeof(int32_t) : 0);
    }
    for (int inter = 0; inter < 2; inter++)
        for (int k = 0; k < 2; k++) tsr_dirac_synthesis_free(&c->plans[inter][k]);
    for (int k = 0; k < TSR_DIRAC_ANCHORS; k++) {
        tsr_dirac_anchor *a = &c->anchor[k];
        tsr_device_release(e->context, a->grid, a->grid ? (size_t)a->elements * 4 * sizeof(int16_t) : 0);
        tsr_dirac_seen_free(&a->seen);
    }
    for (int k = 0; k < TSR_DIRAC_WAITING; k++) {
        tsr_video_frame_destroy(&c->waiting[k].frame);
        for (int f = 0; f < 2; f++) tsr_dirac_seen_free(&c->waiting[k].seen[f]);
    }
    tsr_device_release(e->context, c->reconstructed, c->reconstructed ? (size_t)c->shown.bytes : 0);
    tsr_video_frame_destroy(&c->shown);
    if (!tsr_dirac_encodes_on_host(e)) tsr_device_release(e->context, c->blocks_on_device, c->blocks_on_device ? (size_t)c->block_bytes : 0);
    tsr_dirac_search_free(&c->search);
    free(c->blocks);
    free(c->splits);
    free(c->motion);
    free(c->motion_scratch);
    free(c->luma);
    free(c);
}

/* ---- prediction ---------------------------------------------------------------------------------------------------------------------------- */

static double step_of(const tsr_dirac_encoder *e, double quantiser) { return exp2(quantiser / 4 - (e->options.format.bits - 8)); }

static void set_effort(const tsr_dirac_encoder *e, tsr_dirac_search *s)
{
    const tsr_dirac_preset preset = e->options.preset;
    s->range = preset == TSR_DIRAC_FAST ? 3 : preset == TSR_DIRAC_BEST ? 8 : 5;
    s->steps = preset == TSR_DIRAC_FAST ? 1 : preset == TSR_DIRAC_BEST ? 6 : 2;
    s->around = preset == TSR_DIRAC_FAST ? 4 : 8;
    s->compatible = e->options.compatible;
    s->threads = e->context->threads;
    s->down[0] = e->options.format.chroma != TSR_CHROMA_444;
    s->down[1] = e->options.format.chroma == TSR_CHROMA_420;
}

enum { WEIGHT_BITS = 5 };

/* Weights that describe the picture better than the usual ones, as long as nothing moves. */
static void find_weights(const tsr_dirac_encoder *e, const tsr_dirac_task *t, int *weighted, int32_t weights[2])
{
    const tsr_dirac_core_coder *c = e->core;
    double gain = 1;
    *weighted = 0;
    if (t->references < 2 || e->options.compatible) return;
    const int32_t weight =
        tsr_dirac_best_weight(&t->from->seen[t->field], &c->anchor[t->anchor[0]].seen, &c->anchor[t->anchor[1]].seen, WEIGHT_BITS, &gain);
    *weighted = gain < 0.6 && weight != 1 << WEIGHT_BITS >> 1;
    weights[0] = weight;
    weights[1] = (1 << WEIGHT_BITS) - weight;
}

static void use_weights(tsr_dirac_prediction *p, const int32_t weights[2]) /* NULL: the usual ones */
{
    p->weighted = weights != NULL;
    p->weight_bits = weights ? WEIGHT_BITS : 1;
    for (int r = 0; r < 2; r++) p->weight[r] = weights ? weights[r] : 1;
}

static void source_planes(const tsr_dirac_encoder *e, const tsr_dirac_task *t, int bottom, tsr_dirac_plane plane[3])
{
    const tsr_video_frame *f = &t->from->frame;
    const int32_t bytes = f->format.bits > 8 ? 2 : 1;
    for (int k = 0; k < 3; k++)
        plane[k] = (tsr_dirac_plane){ .samples = (const char *)f->plane[k] + (int64_t)bottom * f->width[k] * bytes,
                                      .stride = (int64_t)f->width[k] << e->sequence.fields,
                                      .bytes = bytes,
                                      .depth = f->format.bits,
                                      .width = e->layout[k].width,
                                      .height = e->layout[k].height };
}

static tsr_status make_half(tsr_dirac_encoder *e, tsr_dirac_anchor *a)
{
    int64_t at = 0;
    if (a->halved || !e->core->prediction.precision) return TSR_OK;
    for (int k = 0; k < 3; k++) {
        const int32_t half = 1 << (e->options.format.bits - 1);
        const tsr_dirac_half_job job = { a->grid + 4 * at, sizeof(int16_t), e->layout[k].width, e->layout[k].height, -half, half - 1 };
        TSR_TRY(e->context->backend->dirac->half(e->context->queue, &job));
        at += (int64_t)job.width * job.height;
    }
    a->halved = 1;
    return TSR_OK;
}

/* Searches, chooses, codes the blocks into c->motion, and makes the prediction of every component. */
static tsr_status predict(tsr_dirac_encoder *e, const tsr_dirac_task *t, int bottom, int32_t quantiser)
{
    tsr_dirac_core_coder *c = e->core;
    const tsr_backend *backend = e->context->backend;
    tsr_dirac_plane plane[3];
    int weighted = 0;
    int32_t weights[2] = { 1, 1 };
    const tsr_dirac_anchor *refs[2] = { &c->anchor[t->anchor[0]], &c->anchor[t->anchor[t->references - 1]] };
    source_planes(e, t, bottom, plane);
    c->prediction.references = t->references;
    c->search.source = &t->from->seen[t->field];
    c->search.p = &c->prediction;
    for (int r = 0; r < 2; r++) c->search.reference[r] = &refs[r]->seen;
    c->search.lambda = tsr_maxi(1, (int32_t)(16 * 0.35 * step_of(e, quantiser)));
    set_effort(e, &c->search);
    if (!c->search.units) TSR_TRY(tsr_dirac_search_make(&c->search, c->search.source, &c->prediction));
    find_weights(e, t, &weighted, weights);
    use_weights(&c->prediction, NULL);
    tsr_dirac_search_run(&c->search);
    const double usual = tsr_dirac_choose_blocks(&c->search, plane, c->blocks, c->splits);
    if (weighted) { /* are they better with motion, too? */
        use_weights(&c->prediction, weights);
        tsr_dirac_search_run(&c->search);
        if (tsr_dirac_choose_blocks(&c->search, plane, c->blocks, c->splits) > 0.95 * usual) {
            use_weights(&c->prediction, NULL);
            tsr_dirac_search_run(&c->search);
            tsr_dirac_choose_blocks(&c->search, plane, c->blocks, c->splits);
        }
    }
    tsr_bits_out out = { .at = c->motion };
    tsr_dirac_prediction_write(&out, &c->prediction);
    tsr_dirac_blocks_write(&out, &c->prediction, c->blocks, c->splits, c->motion_scratch);
    c->motion_bytes = out.at - c->motion;
    if (!tsr_dirac_encodes_on_host(e)) TSR_TRY(backend->upload(e->context->queue, c->blocks_on_device, c->blocks, (size_t)c->block_bytes));
    for (int r = 0; r < t->references; r++) TSR_TRY(make_half(e, &c->anchor[t->anchor[r]]));
    int64_t at = 0;
    for (int k = 0; k < 3; k++) {
        tsr_dirac_predict_job job = { .p = c->prediction,
                                      .blocks = c->blocks_on_device,
                                      .predicted = c->predicted[k],
                                      .stride = e->layout[k].width,
                                      .width = e->layout[k].width,
                                      .height = e->layout[k].height,
                                      .component = k,
                                      .bytes = sizeof(int16_t),
                                      .depth = e->options.format.bits,
                                      .down = { k && c->search.down[0], k && c->search.down[1] } };
        for (int r = 0; r < t->references; r++) job.reference[r] = refs[r]->grid + 4 * at;
        TSR_TRY(backend->dirac->predict(e->context->queue, &job));
        at += (int64_t)job.width * job.height;
    }
    return TSR_OK;
}

/* ---- residue ------------------------------------------------------------------------------------------------------------------------------- */

static void set_indices(tsr_dirac_encoder *e, int inter, int32_t quantiser)
{
    tsr_dirac_core_coder *c = e->core;
    const tsr_dirac_transform *t = &c->transform[inter];
    for (int k = 0; k < 3; k++)
        for (int level = 0; level <= t->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(t, level); band++)
                c->writing.index[k][level][band] =
                    e->options.lossless
                        ? 0
                        : tsr_dirac_clamp((int32_t)floor(quantiser - 4 * log2(c->weight[inter][k > 0][level][band]) + 0.5), 0, TSR_RATE_MOST);
}

/* Codes the residue, coarser and coarser until it fits where a buffer says so. */
static tsr_status write_residue(tsr_dirac_encoder *e, int inter, int32_t *quantiser, int64_t other)
{
    tsr_dirac_core_coder *c = e->core;
    c->writing.transform = &c->transform[inter];
    c->writing.inter = inter;
    c->writing.variable = e->options.coding == TSR_DIRAC_CODING_VARIABLE;
    c->writing.statistics = e->options.coding == TSR_DIRAC_CODING_STATISTICS;
    c->writing.threads = e->context->threads;
    for (;;) {
        set_indices(e, inter, *quantiser);
        if (c->on_device) TSR_TRY(tsr_core_device_write(&c->device, e->context, &c->writing, (const int32_t *const *)e->on_device));
        else TSR_TRY(tsr_dirac_core_write(&c->writing));
        const int64_t bytes = tsr_dirac_core_bytes(&c->writing) + other;
        if (!e->rate.on || 8 * (double)bytes <= tsr_dirac_rate_most(&e->rate)) return TSR_OK;
        if (*quantiser >= TSR_RATE_MOST)
            TSR_FAIL(TSR_ERROR_CAPACITY, "bit_rate is %lld: a picture takes %lld bytes even so, more than the decoder's buffer has",
                     (long long)e->options.bit_rate, (long long)bytes);
        *quantiser = tsr_mini(*quantiser + 2, TSR_RATE_MOST);
    }
}

static void put_core_transform(tsr_bits_out *b, const tsr_dirac_transform *t, int inter)
{
    int parts = 0;
    if (inter) tsr_bits_put(b, 0, 1); /* there is a residue */
    tsr_bits_put_uint(b, (uint32_t)t->wavelet);
    tsr_bits_put_uint(b, (uint32_t)t->depth);
    for (int level = 0; level <= t->depth; level++) parts |= t->codeblocks[level][0] > 1 || t->codeblocks[level][1] > 1;
    tsr_bits_put(b, (uint64_t)parts, 1);
    for (int level = 0; level <= t->depth && parts; level++)
        for (int axis = 0; axis < 2; axis++) tsr_bits_put_uint(b, (uint32_t)t->codeblocks[level][axis]);
    if (parts) tsr_bits_put_uint(b, 0);
    tsr_bits_finish(b);
}

/* ---- references ---------------------------------------------------------------------------------------------------------------------------- */

/* How many references a decoder must keep: those of three frames. */
static int most_anchors(const tsr_dirac_encoder *e) { return e->sequence.fields ? 6 : 3; }

/* The reference that this one takes the place of in a decoder; NULL: there is room. */
static tsr_dirac_anchor *retired(tsr_dirac_encoder *e)
{
    tsr_dirac_anchor *oldest = NULL;
    int count = 0;
    for (int k = 0; k < TSR_DIRAC_ANCHORS; k++) {
        tsr_dirac_anchor *a = &e->core->anchor[k];
        if (!a->used) continue;
        count++;
        if (!oldest || a->turn < oldest->turn) oldest = a;
    }
    return count >= most_anchors(e) ? oldest : NULL;
}

static tsr_status new_anchor(tsr_dirac_encoder *e, uint32_t number, tsr_dirac_anchor **anchor)
{
    tsr_dirac_anchor *a = NULL;
    for (int k = 0; k < TSR_DIRAC_ANCHORS && !a; k++)
        if (!e->core->anchor[k].used) a = &e->core->anchor[k];
    if (!a) TSR_FAIL(TSR_ERROR_INTERNAL, "no reference is free");
    if (!a->grid) {
        for (int k = 0; k < 3; k++) a->elements += (int64_t)e->layout[k].width * e->layout[k].height;
        TSR_TRY(tsr_device_allocate(e->context, (size_t)a->elements * 4 * sizeof(int16_t), (void **)&a->grid));
    }
    a->number = number;
    a->halved = 0;
    a->used = 1;
    a->turn = e->core->turn++;
    *anchor = a;
    return TSR_OK;
}

/* What a decoder makes of the picture: a reference (NULL: none), and what is shown to who asked. */
static tsr_status reconstruct(tsr_dirac_encoder *e, const tsr_dirac_task *t, int bottom, tsr_dirac_anchor *anchor)
{
    tsr_dirac_core_coder *c = e->core;
    const tsr_backend *backend = e->context->backend;
    const int inter = t->references > 0, bytes = e->options.format.bits > 8 ? 2 : 1;
    int64_t at_reference = 0, at_plane = 0;
    if (!anchor && !c->reconstructed) return TSR_OK;
    for (int k = 0; k < 3; k++) {
        const tsr_dirac_layout *l = &e->layout[k];
        int32_t *coefficients = c->writing.decoded[k];
        if (c->on_device) coefficients = c->device.decoded[k];
        else if (!tsr_dirac_encodes_on_host(e)) {
            TSR_TRY(backend->upload(e->context->queue, e->on_device[k], c->writing.decoded[k], (size_t)e->elements[k] * sizeof(int32_t)));
            coefficients = e->on_device[k];
        }
        TSR_TRY(tsr_dirac_synthesis_run(&c->plans[inter][k > 0], coefficients, e->samples, e->workspace));
        tsr_dirac_store_job job = { .residue = e->samples,
                                    .stride = l->stride,
                                    .predicted = inter ? c->predicted[k] : NULL,
                                    .predicted_stride = l->width,
                                    .reference = anchor ? anchor->grid + 4 * at_reference : NULL,
                                    .reference_bytes = sizeof(int16_t),
                                    .width = l->width,
                                    .height = l->height,
                                    .bytes = bytes,
                                    .depth = e->options.format.bits };
        if (c->reconstructed) {
            job.plane = (char *)c->reconstructed + at_plane + (int64_t)bottom * c->shown.width[k] * bytes;
            job.plane_stride = (int64_t)c->shown.width[k] << e->sequence.fields;
            at_plane += (int64_t)c->shown.width[k] * c->shown.height[k] * bytes;
        }
        TSR_TRY(backend->dirac->store(e->context->queue, &job));
        at_reference += (int64_t)l->width * l->height;
    }
    if (!anchor || e->options.group == 1) return TSR_OK;
    const int16_t *luma = anchor->grid;
    if (!tsr_dirac_encodes_on_host(e)) {
        TSR_TRY(
            backend->download(e->context->queue, c->luma, anchor->grid, (size_t)e->layout[0].width * (size_t)e->layout[0].height * sizeof(int16_t)));
        luma = c->luma;
    }
    return tsr_dirac_seen_make(&anchor->seen, luma, e->layout[0].width, -2, e->options.format.bits, e->layout[0].width, e->layout[0].height, 1,
                               e->context->threads);
}

/* ---- together ------------------------------------------------------------------------------------------------------------------------------ */

static int32_t choose_quantiser(tsr_dirac_encoder *e, int kind)
{
    int64_t samples = 0;
    for (int k = 0; k < 3; k++) samples += (int64_t)e->layout[k].width * e->layout[k].height;
    if (e->options.lossless) return 0;
    if (e->rate.on) return tsr_dirac_rate_choose(&e->rate, kind, samples);
    return tsr_mini(e->options.quantiser - 1 + tsr_dirac_kind_offset(kind), TSR_RATE_MOST);
}

/* Mean squared errors of the field or frame. */
static void errors_of(const tsr_dirac_encoder *e, const tsr_dirac_task *t, int bottom, double error[3])
{
    const tsr_video_frame *a = &t->from->frame, *b = &e->core->shown;
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int32_t y = bottom; y < a->height[k]; y += 1 << e->sequence.fields)
            for (int32_t x = 0; x < a->width[k]; x++) {
                const int64_t at = (int64_t)y * a->width[k] + x;
                const double d = a->format.bits > 8 ? (double)((const uint16_t *)a->plane[k])[at] - ((const uint16_t *)b->plane[k])[at]
                                                    : (double)((const uint8_t *)a->plane[k])[at] - ((const uint8_t *)b->plane[k])[at];
                sum += d * d;
            }
        error[k] = sum / ((double)e->layout[k].width * e->layout[k].height);
    }
}

static uint32_t number_of(const tsr_dirac_encoder *e, const tsr_dirac_task *t)
{
    return (uint32_t)(e->options.first_number + (t->from->index << e->sequence.fields) + t->field);
}

/* The header: number, references, and what is retired. */
static void put_picture_header(tsr_dirac_encoder *e, const tsr_dirac_task *t, const tsr_dirac_anchor *gone, tsr_bits_out *out)
{
    const uint32_t number = number_of(e, t);
    tsr_bits_put(out, number, 32);
    for (int r = 0; r < t->references; r++) tsr_bits_put_int(out, (int32_t)(e->core->anchor[t->anchor[r]].number - number));
    if (t->reference) tsr_bits_put_int(out, gone ? (int32_t)(gone->number - number) : 0);
    tsr_bits_finish(out);
}

static int32_t code_of(const tsr_dirac_encoder *e, const tsr_dirac_task *t)
{
    const int32_t coding = e->options.coding == TSR_DIRAC_CODING_VARIABLE     ? 0x40
                           : e->options.coding == TSR_DIRAC_CODING_STATISTICS ? TSR_DIRAC_STATISTICS
                                                                              : 0;
    return 0x08 | (t->reference ? 0x04 : 0) | coding | t->references;
}

static tsr_status write_picture(tsr_dirac_encoder *e, const tsr_dirac_task *t, const tsr_dirac_anchor *gone)
{
    const int inter = t->references > 0;
    uint8_t head[64], transform[1024];
    tsr_bits_out out = { .at = head }, second = { .at = transform };
    put_picture_header(e, t, gone, &out);
    put_core_transform(&second, &e->core->transform[inter], inter);
    const int64_t heads = out.at - head, motion = inter ? e->core->motion_bytes : 0, seconds = second.at - transform,
                  bands = tsr_dirac_core_bytes(&e->core->writing);
    TSR_TRY(tsr_dirac_begin_unit(e, code_of(e, t), heads + motion + seconds + bands));
    tsr_dirac_append(e, head, heads);
    if (motion) tsr_dirac_append(e, e->core->motion, motion);
    tsr_dirac_append(e, transform, seconds);
    tsr_dirac_core_put(&e->core->writing, e->out + e->size);
    e->size += bands;
    return TSR_OK;
}

/* `digest`: where the MD5 of the picture goes in the bytes, 0: nowhere. */
static tsr_status report(tsr_dirac_encoder *e, const tsr_dirac_task *t, int bottom, int32_t quantiser, int64_t before, int64_t digest)
{
    tsr_dirac_core_coder *c = e->core;
    tsr_dirac_picture info = TSR_DIRAC_PICTURE;
    const int last = !e->sequence.fields || t->field;
    int64_t padding = 0;
    info.number = number_of(e, t);
    info.parse_code = code_of(e, t);
    info.references = t->references;
    info.quantiser = quantiser;
    info.scene = t->scene;
    info.bytes = e->size - before;
    info.motion_bytes = t->references ? c->motion_bytes : 0;
    info.error[0] = info.error[1] = info.error[2] = -1;
    if (t->references && c->prediction.weighted) {
        info.weight[0] = c->prediction.weight[0];
        info.weight[1] = c->prediction.weight[1];
        info.weight[2] = c->prediction.weight_bits;
    }
    if (e->rate.on) padding = tsr_dirac_rate_update(&e->rate, !t->references ? 0 : t->reference ? 1 : 2, quantiser, info.bytes);
    if (padding) TSR_TRY(tsr_dirac_put_padding(e, padding));
    if (c->reconstructed) {
        TSR_TRY(e->context->backend->download(e->context->queue, c->shown.plane[0], c->reconstructed, (size_t)c->shown.bytes));
        errors_of(e, t, bottom, info.error);
        if (digest) tsr_dirac_digest_of(e, &c->shown, bottom, e->out + digest);
    }
    return tsr_dirac_picture_done(e, &info, c->reconstructed && last ? &c->shown : NULL);
}

tsr_status tsr_dirac_core_picture(tsr_dirac_encoder *e, const tsr_dirac_task *t)
{
    tsr_dirac_core_coder *c = e->core;
    const int inter = t->references > 0;
    const int bottom = e->sequence.fields && (t->field ? e->sequence.top_field_first : !e->sequence.top_field_first);
    const int64_t before = e->size;
    int64_t digest = 0;
    tsr_dirac_anchor *anchor = NULL, *gone = t->reference ? retired(e) : NULL;
    int32_t quantiser = choose_quantiser(e, !inter ? 0 : t->reference ? 1 : 2);
    if (!inter && !t->field) TSR_TRY(tsr_dirac_put_header(e));
    if (e->options.checksum) {
        TSR_TRY(tsr_dirac_put_digest(e, e->digest[0]));
        digest = e->size - TSR_DIRAC_DIGEST;
    }
    e->source = tsr_dirac_encodes_on_host(e) ? t->from->frame.plane[0] : e->plane;
    if (!t->field && !tsr_dirac_encodes_on_host(e))
        TSR_TRY(e->context->backend->upload(e->context->queue, e->plane, t->from->frame.plane[0], (size_t)e->plane_bytes));
    if (inter) TSR_TRY(predict(e, t, bottom, quantiser));
    TSR_TRY(tsr_dirac_analyse(e, bottom, inter ? c->predicted : NULL, c->plans[inter]));
    TSR_TRY(e->context->backend->synchronize(e->context->queue));
    TSR_TRY(write_residue(e, inter, &quantiser, e->size - before + 200 + (inter ? c->motion_bytes : 0)));
    TSR_TRY(write_picture(e, t, gone));
    if (t->reference) {
        TSR_TRY(new_anchor(e, number_of(e, t), &anchor));
        if (gone) gone->used = 0;
    }
    TSR_TRY(reconstruct(e, t, bottom, anchor));
    return report(e, t, bottom, quantiser, before, digest);
}
