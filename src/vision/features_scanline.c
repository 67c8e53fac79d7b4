/* vision/features_scanline.c: the tracker that feature clustering is compared with: one pass over the rows; a run of pixels joins the open regions
 * that it touches in the row above, and a region that no run joined is closed. Boxes of runs are exact, where boxes of boxes are not. */
#include <string.h>

#include "vision/features.h"
#include "vision/features_isa.h"

struct open {
    int32_t begin, end, region;
};

struct scan {
    tsr_blob *regions; /* of this row and the one above; a region's number is an index */
    int32_t *parent;   /* regions that became part of another */
    struct open *above, *own;
    int32_t above_count, own_count, used;
    tsr_blob best;
    tsr_blob_rule rule;
};

static int32_t find(const struct scan *s, int32_t r)
{
    while (s->parent[r] != r) r = s->parent[r] = s->parent[s->parent[r]];
    return r;
}

static void add_run(struct scan *s, int32_t begin, int32_t end, int32_t y, int32_t *first)
{
    const int32_t margin = s->rule.connectivity == 8;
    int32_t region = -1;
    while (*first < s->above_count && s->above[*first].end + margin <= begin) (*first)++;
    for (int32_t k = *first; k < s->above_count && s->above[k].begin < end + margin; k++) {
        const int32_t other = find(s, s->above[k].region);
        if (region < 0) region = other;
        else if (other != region) {
            tsr_blob_unite(&s->regions[region], &s->regions[other]);
            s->parent[other] = region;
        }
    }
    if (region < 0) {
        region = s->used++;
        s->parent[region] = region;
        tsr_blob_clear(&s->regions[region]);
    }
    tsr_blob_add_run(&s->regions[region], begin, end, y);
    s->own[s->own_count++] = (struct open){ begin, end, region };
}

static void close_region(struct scan *s, int32_t r)
{
    if (tsr_blob_some(&s->regions[r]) && (!tsr_blob_some(&s->best) || tsr_blob_larger(&s->regions[r], &s->best, s->rule.by_count)))
        s->best = s->regions[r];
}

/* After a row: regions it goes on with are numbered anew from 0, the others are closed. Two roots may be the same region: the first visit moves it. */
static void next_row(struct scan *s, tsr_blob *moved, int32_t *number)
{
    int32_t used = 0;
    for (int32_t r = 0; r < s->used; r++) number[r] = -1;
    for (int32_t k = 0; k < s->own_count; k++) {
        const int32_t r = find(s, s->own[k].region);
        if (number[r] < 0) {
            number[r] = used;
            moved[used++] = s->regions[r];
        }
        s->own[k].region = number[r];
    }
    for (int32_t r = 0; r < s->used; r++)
        if (s->parent[r] == r && number[r] < 0) close_region(s, r);
    for (int32_t r = 0; r < used; r++) {
        s->regions[r] = moved[r];
        s->parent[r] = r;
    }
    s->used = used;
    struct open *swap = s->above;
    s->above = s->own;
    s->own = swap;
    s->above_count = s->own_count;
    s->own_count = 0;
}

static void scan_row(struct scan *s, const tsr_feature_test *test, const tsr_frame_view *v, int32_t y)
{
    int32_t first = 0, begin = -1;
    for (int32_t x = 0; x < v->width; x += 64) {
        const int32_t n = tsr_mini(64, v->width - x);
        const uint64_t bits = TSR_ISA_SELECT(tsr_features_bits)(test, v, x, y, n);
        if (!bits && begin < 0) continue;
        for (int32_t k = 0; k < n; k++) {
            const int set = (int)(bits >> k & 1u);
            if (set && begin < 0) begin = x + k;
            if (!set && begin >= 0) {
                add_run(s, begin, x + k, y, &first);
                begin = -1;
            }
        }
    }
    if (begin >= 0) add_run(s, begin, v->width, y, &first);
}

tsr_status tsr_features_scanline(tsr_features *features, const tsr_volume *frames, const tsr_volume *previous, int32_t image, int32_t index,
                                 tsr_feature *found)
{
    TSR_NEEDS(features, frames, found);
    tsr_features_job job;
    void *memory = NULL;
    *found = (tsr_feature){ 0 };
    TSR_TRY(tsr_features_prepare(features, frames, previous, &job));
    if (index < 0 || index >= features->options.count || image < 0 || image >= features->options.images)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "features: filter %d of image %d, expected up to %d of up to %d", index, image, features->options.count - 1,
                 features->options.images - 1);
    if (features->context->device.kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "features: the scan-line tracker works on the CPU alone: use device cpu");
    const int64_t runs = job.frame.width / 2 + 1; /* of a row; regions of two rows */
    const size_t bytes = (size_t)runs * (4 * sizeof(tsr_blob) + 4 * sizeof(int32_t) + 2 * sizeof(struct open));
    TSR_TRY(tsr_host_allocate(&features->context->host_allocator, bytes, &memory));
    struct scan s = { .regions = (tsr_blob *)memory, .rule = job.rule };
    tsr_blob *moved = s.regions + 2 * runs;
    s.parent = (int32_t *)(void *)(moved + 2 * runs);
    int32_t *number = s.parent + 2 * runs;
    s.above = (struct open *)(void *)(number + 2 * runs);
    s.own = s.above + runs;
    const tsr_frame_view view = tsr_features_view(&job, image);
    for (int32_t y = 0; y < view.height; y++) {
        scan_row(&s, &job.test[index], &view, y);
        next_row(&s, moved, number);
    }
    next_row(&s, moved, number); /* closes what is open */
    *found = tsr_feature_of(&s.best);
    tsr_host_release(&features->context->host_allocator, memory, bytes);
    return TSR_OK;
}
