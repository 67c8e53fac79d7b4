/* video/dirac/residue.c: memory and plans of pictures with one transform. */
#include "video/dirac/decoder.h"

void tsr_dirac_residue_free(tsr_dirac_decoder *d)
{
    tsr_dirac_residue *p = &d->residue;
    for (int k = 0; k < 3; k++) tsr_picture_graph_free(&d->graph[k]);
    for (int c = 0; c < 3; c++) {
        const size_t bytes = (size_t)p->elements[c] * sizeof(int32_t);
        if (!tsr_dirac_on_host(d)) tsr_host_release(NULL, p->coefficients[c], bytes);
        tsr_device_release(d->context, p->on_device[c], bytes);
        tsr_device_release(d->context, p->narrow[c], p->narrow[c] ? bytes / 2 : 0);
    }
    tsr_device_release(d->context, p->narrow_samples, p->narrow_samples ? (size_t)p->elements[0] * sizeof(int16_t) : 0);
    tsr_device_release(d->context, p->samples, (size_t)p->elements[0] * sizeof(int32_t));
    tsr_device_release(d->context, p->workspace, (size_t)p->workspace_bytes);
    for (int k = 0; k < 2; k++) {
        tsr_dirac_synthesis_free(&p->synthesis[k]);
        tsr_dirac_synthesis_free(&p->narrow_synthesis[k]);
    }
    *p = (tsr_dirac_residue){ 0 };
}

static tsr_status make_memory(tsr_dirac_decoder *d)
{
    tsr_dirac_residue *p = &d->residue;
    int64_t workspace = 0;
    for (int c = 0; c < 3; c++) {
        const int64_t elements = tsr_dirac_layout_elements(&p->layout[c]);
        const size_t bytes = (size_t)elements * sizeof(int32_t);
        TSR_TRY(tsr_device_allocate(d->context, bytes, (void **)&p->on_device[c]));
        p->elements[c] = elements;
        if (tsr_dirac_on_host(d)) p->coefficients[c] = p->on_device[c];
        else TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&p->coefficients[c]));
    }
    for (int k = 0; k < 2; k++) {
        TSR_TRY(tsr_dirac_synthesis_make(d->context, &p->transform, &p->layout[k], TSR_I32, 0, &p->synthesis[k]));
        workspace = tsr_max64(workspace, p->synthesis[k].workspace_bytes);
    }
    const int narrow = tsr_dirac_on_host(d) && tsr_dirac_synthesis_narrow(&p->transform, 8);
    for (int c = 0; c < 3 && narrow; c++) {
        TSR_TRY(tsr_device_allocate(d->context, (size_t)p->elements[c] * sizeof(int16_t), (void **)&p->narrow[c]));
        if (c == 2) continue;
        TSR_TRY(tsr_dirac_synthesis_make(d->context, &p->transform, &p->layout[c], TSR_I16, 0, &p->narrow_synthesis[c]));
        workspace = tsr_max64(workspace, p->narrow_synthesis[c].workspace_bytes);
    }
    if (narrow) TSR_TRY(tsr_device_allocate(d->context, (size_t)p->elements[0] * sizeof(int16_t), (void **)&p->narrow_samples));
    TSR_TRY(tsr_device_allocate(d->context, (size_t)p->elements[0] * sizeof(int32_t), (void **)&p->samples));
    TSR_TRY(tsr_device_allocate(d->context, (size_t)workspace, &p->workspace));
    p->workspace_bytes = workspace;
    return TSR_OK;
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
    if (!same) {
        tsr_dirac_residue_free(d);
        memcpy(p->layout, layout, sizeof layout);
    }
    p->transform = *t;
    if (!same) TSR_TRY(make_memory(d));
    p->made = 1;
    return TSR_OK;
}
