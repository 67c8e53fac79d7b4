/* video/dirac/residue.c: memory and plans of pictures with one transform. */
#include "video/dirac/decoder.h"
#include "video/dirac/filters.h"

static void free_plans(tsr_dirac_decoder *d)
{
    tsr_dirac_residue *p = &d->residue;
    for (int k = 0; k < 3; k++) tsr_picture_graph_free(&d->graph[k]);
    for (int k = 0; k < 2; k++) {
        tsr_dirac_synthesis_free(&p->synthesis[k]);
        tsr_dirac_synthesis_free(&p->narrow_synthesis[k]);
        tsr_dirac_synthesis_free(&p->coarse_synthesis[k]);
    }
}

static void free_narrow(tsr_dirac_decoder *d, int c)
{
    tsr_dirac_residue *p = &d->residue;
    const size_t bytes = p->narrow[c] ? (size_t)p->room[c] * sizeof(int16_t) : 0;
    if (tsr_dirac_on_host(d)) tsr_device_release(d->context, p->narrow[c], bytes);
    else tsr_host_release(NULL, p->narrow[c], bytes);
    p->narrow[c] = NULL;
}

/* The memory of component c, and of the samples that all have in turn, which are as many as luma's. A device's is in one piece. */
static void free_component(tsr_dirac_decoder *d, int c)
{
    tsr_dirac_residue *p = &d->residue;
    const size_t bytes = (size_t)p->room[c] * sizeof(int32_t);
    const int host = tsr_dirac_on_host(d);
    if (host) tsr_device_release(d->context, p->on_device[c], p->on_device[c] ? bytes : 0);
    else tsr_host_release(NULL, p->coefficients[c], (size_t)p->host_room[c] * sizeof(int32_t));
    free_narrow(d, c);
    p->coefficients[c] = p->on_device[c] = NULL;
    p->host_room[c] = 0;
    if (!c && host) {
        tsr_device_release(d->context, p->narrow_samples, p->narrow_samples ? bytes / 2 : 0);
        tsr_device_release(d->context, p->samples[0], p->samples[0] ? bytes : 0);
        p->narrow_samples = NULL;
        memset(p->samples, 0, sizeof p->samples);
    }
    p->room[c] = 0;
}

static void free_piece(tsr_dirac_decoder *d)
{
    tsr_device_release(d->context, d->residue.piece, d->residue.piece ? (size_t)d->residue.piece_room * sizeof(int32_t) : 0);
    d->residue.piece = NULL;
    d->residue.piece_room = 0;
}

static void free_workspace(tsr_dirac_decoder *d)
{
    tsr_device_release(d->context, d->residue.workspace, (size_t)d->residue.workspace_bytes);
    d->residue.workspace = NULL;
    d->residue.workspace_bytes = 0;
}

void tsr_dirac_residue_free(tsr_dirac_decoder *d)
{
    free_plans(d);
    for (int c = 0; c < 3; c++) free_component(d, c);
    free_piece(d);
    free_workspace(d);
    d->residue = (tsr_dirac_residue){ 0 };
}

static tsr_status room_to_work(tsr_dirac_decoder *d, int64_t bytes)
{
    tsr_dirac_residue *p = &d->residue;
    if (bytes <= p->workspace_bytes) return TSR_OK;
    free_workspace(d);
    TSR_TRY(tsr_device_allocate(d->context, (size_t)bytes, &p->workspace));
    p->workspace_bytes = bytes;
    return TSR_OK;
}

tsr_status tsr_dirac_residue_wide(tsr_dirac_decoder *d)
{
    tsr_dirac_residue *p = &d->residue;
    for (int k = 0; k < 2; k++) TSR_TRY(room_to_work(d, p->synthesis[k].workspace_bytes));
    if (p->samples[0]) return TSR_OK;
    TSR_TRY(tsr_device_allocate(d->context, (size_t)p->room[0] * sizeof(int32_t), (void **)&p->samples[0]));
    p->samples[1] = p->samples[2] = p->samples[0];
    return TSR_OK;
}

/* At least `wanted` coefficients of component c in the host's memory, where a device has its own; what is there stays. */
static tsr_status make_host_room(tsr_dirac_decoder *d, int c, int64_t wanted)
{
    tsr_dirac_residue *p = &d->residue;
    void *larger = NULL;
    if (tsr_dirac_on_host(d) || wanted <= p->host_room[c]) return TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)wanted * sizeof(int32_t), &larger));
    if (p->coefficients[c]) memcpy(larger, p->coefficients[c], (size_t)p->host_room[c] * sizeof(int32_t));
    tsr_host_release(NULL, p->coefficients[c], (size_t)p->host_room[c] * sizeof(int32_t));
    p->coefficients[c] = (int32_t *)larger;
    p->host_room[c] = wanted;
    return TSR_OK;
}

tsr_status tsr_dirac_residue_whole(tsr_dirac_decoder *d)
{
    for (int c = 0; c < 3; c++) TSR_TRY(make_host_room(d, c, d->residue.elements[c]));
    return TSR_OK;
}

/* Memory that is large enough stays: intra and predicted pictures, whose transforms differ, come by turns. */
static tsr_status make_component(tsr_dirac_decoder *d, int c, int narrow)
{
    tsr_dirac_residue *p = &d->residue;
    p->elements[c] = tsr_dirac_layout_elements(&p->layout[c]);
    if (p->elements[c] > p->room[c]) {
        const size_t bytes = (size_t)p->elements[c] * sizeof(int32_t);
        free_component(d, c);
        p->room[c] = p->elements[c];
        if (tsr_dirac_on_host(d)) TSR_TRY(tsr_device_allocate(d->context, bytes, (void **)&p->on_device[c]));
        if (tsr_dirac_on_host(d)) p->coefficients[c] = p->on_device[c];
    }
    const tsr_dirac_band *b = &p->layout[c].band[0][0];
    const int host = tsr_dirac_on_host(d);
    TSR_TRY(make_host_room(d, c, narrow ? b->offset + (int64_t)b->height * p->layout[c].stride : p->elements[c]));
    const size_t half = (size_t)p->room[c] * sizeof(int16_t);
    if (narrow && !p->narrow[c])
        TSR_TRY(host ? tsr_device_allocate(d->context, half, (void **)&p->narrow[c]) : tsr_host_allocate(NULL, half, (void **)&p->narrow[c]));
    if (narrow && host && !c && !p->narrow_samples) TSR_TRY(tsr_device_allocate(d->context, half, (void **)&p->narrow_samples));
    if (!narrow) free_narrow(d, c);
    return TSR_OK;
}

/* A device's coefficients and samples. Luma and both of chroma are transformed and stored one after the other, the smaller of them first; samples
 * of the second lie where the first has been. What is uploaded in 16 bits lies where samples of the first will be: that is half of the second's,
 * or more. */
static tsr_status make_piece(tsr_dirac_decoder *d)
{
    enum { ALIGNED = 64 };
    tsr_dirac_residue *p = &d->residue;
    const int64_t all[2] = { tsr_ceil_div(p->elements[0], ALIGNED) * ALIGNED, tsr_ceil_div(2 * p->elements[1], ALIGNED) * ALIGNED };
    const int first = all[1] < all[0], second = !first; /* 0: luma, 1: chroma */
    const int64_t wanted = all[second] + tsr_max64(2 * all[first], all[second]);
    if (wanted > p->piece_room) {
        free_piece(d);
        TSR_TRY(tsr_device_allocate(d->context, (size_t)wanted * sizeof(int32_t), (void **)&p->piece));
        p->piece_room = wanted;
    }
    p->first = first;
    p->on_device[second] = p->piece;
    p->on_device[first] = p->samples[second] = p->piece + all[second];
    p->samples[first] = p->upload = p->samples[second] + all[first];
    p->on_device[2] = p->on_device[1] + p->elements[1];
    p->samples[2] = p->samples[1] + p->elements[1];
    return TSR_OK;
}

static tsr_status make_plans(tsr_dirac_decoder *d, int narrow)
{
    tsr_dirac_residue *p = &d->residue;
    for (int k = 0; k < 2; k++) {
        const int32_t together = k && !tsr_dirac_on_host(d) ? 2 : 1;
        TSR_TRY(tsr_dirac_synthesis_make_many(d->context, &p->transform, &p->layout[k], TSR_I32, 0, together, &p->synthesis[k]));
        if (!narrow) continue;
        TSR_TRY(tsr_dirac_synthesis_make(d->context, &p->transform, &p->layout[k], TSR_I16, 0, &p->narrow_synthesis[k]));
        TSR_TRY(room_to_work(d, p->narrow_synthesis[k].workspace_bytes));
        if (p->transform.wavelet != TSR_DIRAC_LEGALL || p->transform.depth < 2) continue;
        TSR_TRY(tsr_dirac_synthesis_make_coarse(d->context, &p->transform, &p->layout[k], TSR_I16, &p->coarse_synthesis[k]));
        TSR_TRY(room_to_work(d, p->coarse_synthesis[k].workspace_bytes));
    }
    return narrow ? TSR_OK : tsr_dirac_residue_wide(d);
}

static tsr_status make_all(tsr_dirac_decoder *d)
{
    const int host = tsr_dirac_on_host(d), narrow = !host || tsr_dirac_synthesis_narrow(&d->residue.transform, 8); /* a device has them in 32 bits */
    memset(d->residue.empty, 0, sizeof d->residue.empty);
    for (int c = 0; c < 3; c++) TSR_TRY(make_component(d, c, narrow));
    if (!host) TSR_TRY(make_piece(d));
    return make_plans(d, narrow && host);
}

tsr_status tsr_dirac_within_limit(const tsr_dirac_decoder *d, int64_t bytes)
{
    if (bytes <= d->options.memory_limit) return TSR_OK;
    TSR_FAIL(TSR_ERROR_MEMORY, "pictures of %d x %d take %lld bytes, more than the limit of %lld", d->sequence.width, d->sequence.height,
             (long long)bytes, (long long)d->options.memory_limit);
}

tsr_status tsr_dirac_residue_make(tsr_dirac_decoder *d, const tsr_dirac_transform *t)
{
    tsr_dirac_residue *p = &d->residue;
    tsr_dirac_layout layout[3];
    int64_t bytes = 0;
    for (int c = 0; c < 3; c++) {
        int32_t width, height;
        tsr_dirac_component_size(&d->sequence, c, &width, &height);
        tsr_dirac_layout_make(t, width, height, &layout[c]);
        bytes += 3 * tsr_dirac_layout_elements(&layout[c]) * (int64_t)sizeof(int32_t);
    }
    TSR_TRY(tsr_dirac_within_limit(d, bytes));
    const int same = p->made && !memcmp(layout, p->layout, sizeof layout) && t->wavelet == p->transform.wavelet &&
                     t->wavelet_horizontal == p->transform.wavelet_horizontal && t->depth == p->transform.depth &&
                     t->horizontal == p->transform.horizontal && !t->slices_x == !p->transform.slices_x;
    p->transform = *t;
    if (same) return TSR_OK;
    p->made = 0;
    free_plans(d);
    memcpy(p->layout, layout, sizeof layout);
    TSR_TRY(make_all(d));
    p->made = 1;
    return TSR_OK;
}
