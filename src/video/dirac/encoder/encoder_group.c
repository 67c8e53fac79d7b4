/* video/dirac/encoder/encoder_group.c: groups of pictures. Frames wait until the next forward reference is known: at a distance, where a group ends, or
 * where the scene changes; it is coded first, then those between, which have it and the one before as references. */
#include <string.h>

#include "video/dirac/encoder/dirac_encoder.h"

static const double SCENE = 0.35; /* share of blocks that are new */

static tsr_dirac_waiting *waiting_at(tsr_dirac_encoder *e, int64_t index) { return &e->core->waiting[index % TSR_DIRAC_WAITING]; }

/* The references of a field or frame, newest first; those of the group alone, which begins with the intra frame `since`. */
static int32_t newest(const tsr_dirac_encoder *e, int64_t since, int anchor[2])
{
    const tsr_dirac_core_coder *c = e->core;
    const uint32_t first = (uint32_t)(e->options.first_number + (since << e->sequence.fields));
    int32_t count = 0;
    for (int turn = 0; turn < 2; turn++) {
        int found = -1;
        for (int k = 0; k < TSR_DIRAC_ANCHORS; k++) {
            const tsr_dirac_anchor *a = &c->anchor[k];
            if (!a->used || a->number - first >= 0x80000000u || (turn && k == anchor[0])) continue;
            if (found < 0 || a->turn > c->anchor[found].turn) found = k;
        }
        if (found >= 0) anchor[count++] = found;
    }
    return count;
}

static int find_anchor(const tsr_dirac_encoder *e, int64_t frame, int field)
{
    const uint32_t number = (uint32_t)(e->options.first_number + (frame << e->sequence.fields) + field);
    for (int k = 0; k < TSR_DIRAC_ANCHORS; k++)
        if (e->core->anchor[k].used && e->core->anchor[k].number == number) return k;
    return -1;
}

static tsr_status look(tsr_dirac_encoder *e, tsr_dirac_waiting *w)
{
    const tsr_video_frame *f = &w->frame;
    const int32_t bytes = f->format.bits > 8 ? 2 : 1;
    for (int field = 0; field <= e->sequence.fields; field++) {
        const int bottom = e->sequence.fields && (field ? e->sequence.top_field_first : !e->sequence.top_field_first);
        TSR_TRY(tsr_dirac_seen_make(&w->seen[field], (const char *)f->plane[0] + (int64_t)bottom * f->width[0] * bytes,
                                    (int64_t)f->width[0] << e->sequence.fields, bytes, f->format.bits, f->width[0],
                                    f->height[0] >> e->sequence.fields, 0, e->context->threads));
    }
    return TSR_OK;
}

/* A frame that others are predicted from, or an intra one. */
static tsr_status code_forward(tsr_dirac_encoder *e, int64_t index, int intra, int scene)
{
    tsr_dirac_core_coder *c = e->core;
    tsr_dirac_task t = { .from = waiting_at(e, index), .reference = e->options.group > 1, .scene = scene };
    if (intra) c->last_intra = index;
    for (t.field = 0; t.field <= e->sequence.fields; t.field++) {
        const int predicted = !intra || (t.field && e->options.group > 1);
        t.references = predicted ? newest(e, c->last_intra, t.anchor) : 0;
        if (t.references == 2 && e->options.preset == TSR_DIRAC_FAST) t.references = 1;
        TSR_TRY(tsr_dirac_core_picture(e, &t));
    }
    return TSR_OK;
}

static tsr_status code_between(tsr_dirac_encoder *e, int64_t index, int64_t before, int64_t behind)
{
    tsr_dirac_task t = { .from = waiting_at(e, index), .references = 2 };
    for (t.field = 0; t.field <= e->sequence.fields; t.field++) {
        t.anchor[0] = find_anchor(e, before, t.field);
        t.anchor[1] = find_anchor(e, behind, t.field);
        if (t.anchor[0] < 0 || t.anchor[1] < 0) TSR_FAIL(TSR_ERROR_INTERNAL, "a reference of frame %lld is gone", (long long)index);
        TSR_TRY(tsr_dirac_core_picture(e, &t));
    }
    return TSR_OK;
}

/* Codes the next forward reference and what lies before it, if it can be told which it is. *done 0: more frames are needed. */
static tsr_status code_some(tsr_dirac_encoder *e, int flushing, int *done)
{
    tsr_dirac_core_coder *c = e->core;
    const int64_t next = c->last_anchor + 1;
    *done = 0;
    if (next >= c->given) return TSR_OK;
    int intra = c->last_intra < 0 || next - c->last_intra >= e->options.group, scene = 0;
    int64_t index = next;
    if (!intra && !waiting_at(e, next)->scene) {
        int64_t wanted = tsr_min64(c->last_anchor + e->options.distance, c->last_intra + e->options.group);
        for (int64_t k = next; k < c->given && k <= wanted; k++)
            if (waiting_at(e, k)->scene) wanted = k - 1;
        if (wanted >= c->given) {
            if (!flushing) return TSR_OK;
            wanted = c->given - 1;
        }
        index = wanted;
        intra = index - c->last_intra >= e->options.group;
    } else scene = !intra;
    TSR_TRY(code_forward(e, index, intra || scene, scene));
    for (int64_t k = next; k < index; k++) TSR_TRY(code_between(e, k, c->last_anchor, index));
    c->last_anchor = index;
    *done = 1;
    return TSR_OK;
}

tsr_status tsr_dirac_group_frame(tsr_dirac_encoder *e, const tsr_video_frame *frame)
{
    tsr_dirac_core_coder *c = e->core;
    tsr_dirac_waiting *w = waiting_at(e, c->given);
    int done = 1;
    memcpy(w->frame.plane[0], frame->plane[0], (size_t)w->frame.bytes);
    w->index = c->given;
    w->scene = 0;
    if (e->options.group > 1) {
        TSR_TRY(look(e, w));
        if (c->given && !e->options.no_scenes) w->scene = tsr_dirac_scene_distance(&w->seen[0], &waiting_at(e, c->given - 1)->seen[0]) > SCENE;
    }
    c->given++;
    while (done) TSR_TRY(code_some(e, 0, &done));
    return TSR_OK;
}

tsr_status tsr_dirac_group_end(tsr_dirac_encoder *e)
{
    int done = 1;
    while (done) TSR_TRY(code_some(e, 1, &done));
    return TSR_OK;
}
