/* vision/lens_search.c: host logic of the warp and of the search for a lens. docs/theory/lens.md 1. */
#include <math.h>
#include <stdlib.h>

#include "volume/volume.h"
#include "vision/lens_warp.h"
#include "vision/lens_lines.h"
#include "vision/lens_ops.h"

tsr_status tsr_lens_warp(tsr_context *context, const tsr_volume *frames, const tsr_lens *lens, const tsr_lens_warp_options *options,
                         tsr_volume **warped, tsr_volume **mask)
{
    TSR_RETURNS(warped);
    TSR_NEEDS(context, frames, lens);
    tsr_status status;
    tsr_lens_warp_options o;
    if (mask) *mask = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(tsr_volume_require(context, frames, "frames"));
    o.channels = o.channels ? o.channels : 1;
    o.scale = o.scale == 0 ? 1 : o.scale;
    if (frames->dtype != TSR_U8) TSR_FAIL(TSR_ERROR_ARGUMENT, "frames: element type %s, expected u8", tsr_dtype_name(frames->dtype));
    if (o.channels < 1 || o.channels > 4 || frames->size.x % o.channels)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lens: %d channels, expected 1 to 4 and a divisor of the extent %lld", o.channels, (long long)frames->size.x);
    if ((unsigned)o.sampling > TSR_LENS_NEAREST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lens: sampling is %d, expected 0 to %d", (int)o.sampling, (int)TSR_LENS_NEAREST);
    if (frames->size.x > 1 << 24 || frames->size.y > 1 << 24 || frames->size.z > INT32_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lens: frames of %lld x %lld bytes, expected extents up to 2^24", (long long)frames->size.x,
                 (long long)frames->size.y);
    tsr_warp_job job = { .add = o.add != 0, .sampling = (int32_t)o.sampling, .channels = o.channels, .data = (const uint8_t *)frames->data };
    job.width = (int32_t)(frames->size.x / o.channels);
    job.height = (int32_t)frames->size.y;
    job.images = (int32_t)frames->size.z;
    TSR_TRY(tsr_lens_map_make("lens", lens, job.width, job.height, o.scale, &job.map));
    TSR_TRY(tsr_volume_create(context, TSR_U8, frames->size, &frames->geometry, warped));
    if (mask) TSR_TRY_GOTO(tsr_volume_create(context, TSR_U8, (tsr_size3){ job.width, job.height, job.images }, NULL, mask), fail);
    job.warped = (uint8_t *)(*warped)->data;
    job.mask = mask ? (uint8_t *)(*mask)->data : NULL;
    TSR_TRY_GOTO(context->backend->lens->warp(context->queue, &job), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(warped);
    if (mask) tsr_volume_destroy(mask);
    return status;
}

/* ---- search --------------------------------------------------------------------------------------------------------------------------------- */

enum { MOST_CANDIDATES = 1024, ROUNDS = 3, K2_ROUNDS = 5, ZOOM = 9 /* candidates of a finer grid */ };

#define K1_TOLERANCE 1e-4
#define K2_TOLERANCE 1e-3
#define K2_REACH 0.1
/* Lines stay about as straight along k1 + 1.8 k2 = constant: the k1 that alone straightens a square board seen with k1 and k2. */
#define K1_FOR_K2 1.8
#define SHIFT_TOLERANCE 1e-3

struct search {
    tsr_context *context;
    tsr_votes_job job;
    tsr_lens_criterion criterion;
    int32_t room; /* for candidates */
    void *device; /* votes, maps, histograms */
    size_t bytes, maps_at, histograms_at;
    tsr_lens_map *maps;
    uint64_t *histograms;
    tsr_lens_lines lines; /* on the host */
};

#define LEAST_BEND 1e-3 /* pixels: what is straighter is straight */
enum { FEWEST_LINES = 6 };

static int enough_lines(const tsr_lens_lines *l) { return l->lines >= FEWEST_LINES && l->length >= 2.0 * l->width; }

static void prepare_votes(tsr_lens_votes *v, const tsr_lens_search_options *o, int32_t width, int32_t height)
{
    double weight[TSR_LENS_TAPS], sum = 0, moment = 0;
    const double pi = acos(-1.0);
    *v = (tsr_lens_votes){
        .threshold = (float)o->threshold, .bins = o->bins, .source = o->criterion == TSR_LENS_SOURCE, .width = width, .height = height
    };
    v->margin = o->margin;
    for (int t = 0; t < TSR_LENS_TAPS; t++) {
        weight[t] = exp(-0.5 * (t - TSR_LENS_REACH) * (t - TSR_LENS_REACH));
        sum += weight[t];
        moment += weight[t] * (t - TSR_LENS_REACH) * (t - TSR_LENS_REACH);
    }
    for (int t = 0; t < TSR_LENS_TAPS; t++) {
        v->smooth[t] = (float)(weight[t] / sum);
        v->slope[t] = (float)(weight[t] * (t - TSR_LENS_REACH) / moment);
    }
    for (int b = 0; b < o->bins; b++) {
        v->cosine[b] = (float)cos(pi * b / o->bins);
        v->sine[b] = (float)sin(pi * b / o->bins);
    }
}

static double score_of(const struct search *s, const uint64_t *histogram, uint64_t *votes)
{
    uint64_t total = 0, most = 0, least = UINT64_MAX;
    double sum = 0;
    for (int32_t b = 0; b < s->job.bins; b++) {
        total += histogram[b];
        most = histogram[b] > most ? histogram[b] : most;
        least = histogram[b] < least ? histogram[b] : least;
    }
    *votes = total;
    if (!total) return 0;
    if (s->criterion == TSR_LENS_SOURCE) return (double)(most - least);
    for (int32_t b = 0; b < s->job.bins; b++) { /* of three neighbours, so that a line on the edge of a bin counts as one in its middle does */
        const int32_t before = b ? b - 1 : s->job.bins - 1, after = b + 1 < s->job.bins ? b + 1 : 0;
        const double share = ((double)histogram[before] + 2 * (double)histogram[b] + (double)histogram[after]) / (4 * (double)total);
        sum += share * share;
    }
    return sum;
}

/* Votes under s->maps[0 .. count - 1]: one launch, one wait. */
static tsr_status evaluate(struct search *s, int32_t count)
{
    const tsr_backend *backend = s->context->backend;
    const size_t bytes = (size_t)count * (size_t)s->job.bins * sizeof(uint64_t);
    TSR_TRY(backend->upload(s->context->queue, (char *)s->device + s->maps_at, s->maps, (size_t)count * sizeof *s->maps));
    TSR_TRY(backend->fill(s->context->queue, s->job.histograms, 0, bytes));
    s->job.candidates = count;
    TSR_TRY(backend->lens->votes(s->context->queue, &s->job));
    TSR_TRY(backend->download(s->context->queue, s->histograms, s->job.histograms, bytes));
    return TSR_OK;
}
/* Scores of the first maps, and what they are made of. */
static tsr_status score_maps(struct search *s, int32_t count, double *score, uint64_t *votes)
{
    if (s->criterion != TSR_LENS_LINES) TSR_TRY(evaluate(s, count));
    for (int32_t i = 0; i < count; i++) {
        if (s->criterion != TSR_LENS_LINES) {
            score[i] = score_of(s, s->histograms + (size_t)i * (size_t)s->job.bins, &votes[i]);
            continue;
        }
        const double bend = tsr_lens_lines_bend(&s->lines, &s->maps[i]);
        votes[i] = (uint64_t)s->lines.points;
        score[i] = isfinite(bend) ? 1 / fmax(bend, LEAST_BEND) : 0;
    }
    return TSR_OK;
}
static tsr_status score_at(struct search *s, const tsr_lens *lens, double *score)
{
    uint64_t votes;
    TSR_TRY(tsr_lens_map_make("lens search", lens, s->job.width, s->job.height, 1.0, &s->maps[0]));
    TSR_TRY(score_maps(s, 1, score, &votes));
    return TSR_OK;
}

/* The largest score along one number of the lens, within `reach` of its value and from lower to upper, by grids that shrink: the score has ripples that
 * a golden section would be caught in, and a grid is one launch. Where k2 is moved, k1 moves against it, so that the valley is walked along. */
static tsr_status zoom(struct search *s, tsr_lens *lens, double *number, double reach, double tolerance, double lower, double upper)
{
    const double k1 = lens->k1, k2 = lens->k2;
    for (double step = 2 * reach / (ZOOM - 1), from = *number - reach; step > tolerance; from = *number - step, step *= 2.0 / (ZOOM - 1)) {
        double most = -1, score[ZOOM];
        uint64_t votes[ZOOM];
        int32_t best = 0;
        for (int32_t i = 0; i < ZOOM; i++) {
            *number = fmin(fmax(from + i * step, lower), upper);
            if (number == &lens->k2) lens->k1 = k1 - K1_FOR_K2 * (lens->k2 - k2);
            TSR_TRY(tsr_lens_map_make("lens search", lens, s->job.width, s->job.height, 1.0, &s->maps[i]));
        }
        TSR_TRY(score_maps(s, ZOOM, score, votes));
        for (int32_t i = 0; i < ZOOM; i++) {
            if (score[i] > most) best = i;
            if (score[i] > most) most = score[i];
        }
        *number = fmin(fmax(from + best * step, lower), upper);
        if (number == &lens->k2) lens->k1 = k1 - K1_FOR_K2 * (lens->k2 - k2);
    }
    return TSR_OK;
}

static tsr_status refine(struct search *s, const tsr_lens_search_options *o, tsr_lens *lens)
{
    if (o->no_refinement) return TSR_OK;
    TSR_TRY(zoom(s, lens, &lens->k1, o->step, K1_TOLERANCE, o->lower, o->upper));
    double reach = K2_REACH;
    for (int round = 0; round < K2_ROUNDS && o->quartic; round++, reach *= 0.5) {
        TSR_TRY(zoom(s, lens, &lens->k2, reach, K2_TOLERANCE, -1, 1));
        TSR_TRY(zoom(s, lens, &lens->k1, 0.5 * reach, K1_TOLERANCE, -1, 1));
        TSR_PROGRESS(&o->progress, 0.6 + 0.1 * (round + 1) / K2_ROUNDS, "k2 of the lens");
    }
    reach = 0.06;
    for (int round = 0; round < ROUNDS && o->centre; round++, reach *= 0.5) {
        TSR_TRY(zoom(s, lens, &lens->shift[0], reach, SHIFT_TOLERANCE, -HUGE_VAL, HUGE_VAL));
        TSR_TRY(zoom(s, lens, &lens->shift[1], reach, SHIFT_TOLERANCE, -HUGE_VAL, HUGE_VAL));
        TSR_TRY(zoom(s, lens, &lens->k1, o->step, K1_TOLERANCE, o->quartic ? -1 : o->lower, o->quartic ? 1 : o->upper));
        TSR_PROGRESS(&o->progress, 0.7 + 0.3 * (round + 1) / ROUNDS, "centre of the lens");
    }
    return TSR_OK;
}

static tsr_status take_options(const tsr_lens_search_options *options, tsr_lens_search_options *o, int32_t *candidates)
{
    TSR_TRY(TSR_OPTIONS_TAKE(o, options));
    if ((unsigned)o->criterion > TSR_LENS_LINES) TSR_FAIL(TSR_ERROR_ARGUMENT, "lens search: criterion is %d, expected 0 to 2", (int)o->criterion);
    if (o->lower == 0 && o->upper == 0 && o->step == 0) {
        o->lower = -0.15;
        o->upper = 0.15;
    }
    o->step = o->step == 0 ? 0.005 : o->step;
    if (!(o->lower <= o->upper && o->lower >= -1 && o->upper <= 1 && o->step > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lens search: k1 from %g to %g by %g, expected numbers from -1 to 1 that rise by a positive step", o->lower,
                 o->upper, o->step);
    const double count = floor((o->upper - o->lower) / o->step + 1e-6) + 1;
    if (!(count <= MOST_CANDIDATES)) TSR_FAIL(TSR_ERROR_ARGUMENT, "lens search: %.0f candidates, expected at most %d", count, MOST_CANDIDATES);
    *candidates = (int32_t)count;
    o->bins = o->bins ? o->bins : o->criterion == TSR_LENS_SOURCE ? TSR_LENS_BANK : 90;
    if (o->criterion == TSR_LENS_SOURCE ? o->bins != TSR_LENS_BANK : o->bins < 8 || o->bins > TSR_LENS_BINS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lens search: %d bins, expected %s", o->bins,
                 o->criterion == TSR_LENS_SOURCE ? "16 for this criterion" : "8 to 360");
    o->threshold = o->threshold == 0 ? 8 : o->threshold;
    if (!(o->threshold > 0 && o->threshold <= 255))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lens search: threshold is %g, expected more than 0, at most 255", o->threshold);
    if (o->quartic && (o->lens.model != TSR_LENS_POLY || o->no_refinement))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lens search: quartic looks for k2 by refinement, expected model poly and refinement");
    o->margin = o->margin == 0 ? 4 : o->margin < 0 ? 0 : o->margin;
    return TSR_OK;
}

static tsr_status find_lines(struct search *s, const tsr_volume *image, const tsr_lens_search_options *o)
{
    tsr_volume *host = NULL;
    TSR_TRY(tsr_volume_copy(image, NULL, &host));
    const tsr_status status = tsr_lens_lines_find((const uint8_t *)host->data, s->job.width, s->job.height, o->threshold, &s->lines);
    tsr_volume_destroy(&host);
    TSR_TRY(status);
    if (o->criterion == TSR_LENS_LINES && !enough_lines(&s->lines))
        TSR_FAIL(
            TSR_ERROR_STATE,
            "lens search: %lld lines, together %.0f pixels long, expected at least %d, together twice as long as the picture is wide: the distortion "
            "cannot be determined from lines",
            (long long)s->lines.lines, s->lines.length, (int)FEWEST_LINES);
    return TSR_OK;
}

/* How straight the lines are before and after: the test that no criterion goes round. */
static tsr_status test_lines(const struct search *s, tsr_lens_found *found)
{
    const tsr_lens none = { .model = found->lens.model };
    tsr_lens_map before, after;
    TSR_TRY(tsr_lens_map_make("lens search", &none, s->job.width, s->job.height, 1.0, &before));
    TSR_TRY(tsr_lens_map_make("lens search", &found->lens, s->job.width, s->job.height, 1.0, &after));
    found->lines = s->lines.lines;
    found->line_length = s->lines.length;
    found->bend_before = tsr_lens_lines_bend(&s->lines, &before);
    found->bend = tsr_lens_lines_bend(&s->lines, &after);
    found->straighter = enough_lines(&s->lines) && found->bend <= 0.98 * found->bend_before;
    return TSR_OK;
}

static tsr_status open_search(struct search *s, const tsr_volume *image, const tsr_lens_search_options *o)
{
    const int32_t candidates = s->room;
    tsr_lens_votes votes;
    const tsr_allocator *host = &s->context->host_allocator;
    prepare_votes(&votes, o, s->job.width, s->job.height);
    s->maps_at = (sizeof votes + 255) / 256 * 256;
    s->histograms_at = s->maps_at + ((size_t)candidates * sizeof *s->maps + 255) / 256 * 256;
    s->bytes = s->histograms_at + (size_t)candidates * (size_t)o->bins * sizeof(uint64_t);
    TSR_TRY(tsr_host_allocate(host, (size_t)candidates * sizeof *s->maps, (void **)&s->maps));
    TSR_TRY(find_lines(s, image, o));
    if (o->criterion == TSR_LENS_LINES) return TSR_OK;
    TSR_TRY(tsr_device_allocate(s->context, s->bytes, &s->device));
    TSR_TRY(tsr_host_allocate(host, (size_t)candidates * (size_t)o->bins * sizeof(uint64_t), (void **)&s->histograms));
    s->job.votes = (const tsr_lens_votes *)s->device;
    s->job.maps = (const tsr_lens_map *)(void *)((char *)s->device + s->maps_at);
    s->job.histograms = (uint64_t *)(void *)((char *)s->device + s->histograms_at);
    s->job.image = (const uint8_t *)image->data;
    s->job.bins = o->bins;
    TSR_TRY(s->context->backend->upload(s->context->queue, s->device, &votes, sizeof votes));
    return TSR_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All candidates of the grid; the best of them becomes found->lens. */
static tsr_status scan_grid(struct search *s, const tsr_lens_search_options *o, tsr_lens_found *found)
{
    double scores[MOST_CANDIDATES];
    uint64_t votes[MOST_CANDIDATES];
    int32_t best = -1;
    for (int32_t i = 0; i < found->candidates; i++) {
        tsr_lens lens = o->lens;
        found->candidate[i].k1 = lens.k1 = fmin(o->lower + i * o->step, o->upper);
        TSR_TRY(tsr_lens_map_make("lens search", &lens, s->job.width, s->job.height, 1.0, &s->maps[i]));
    }
    TSR_PROGRESS(&o->progress, 0, "lens search");
    TSR_TRY(score_maps(s, found->candidates, scores, votes));
    TSR_PROGRESS(&o->progress, 0.6, "lens search");
    if (found->histogram) memcpy(found->histogram, s->histograms, (size_t)found->candidates * (size_t)o->bins * sizeof(uint64_t));
    for (int32_t i = 0; i < found->candidates; i++) {
        tsr_lens_candidate *c = &found->candidate[i];
        c->score = scores[i];
        c->votes = votes[i];
        if (c->votes && (best < 0 || c->score > found->candidate[best].score)) best = i;
    }
    if (best < 0)
        TSR_FAIL(TSR_ERROR_STATE, "lens search: no contour is stronger than the threshold %g at any k1: the distortion cannot be determined",
                 o->threshold);
    qsort(scores, (size_t)found->candidates, sizeof *scores, by_value);
    found->lens = o->lens;
    found->lens.k1 = found->candidate[best].k1;
    found->at_edge = best == 0 || best == found->candidates - 1;
    found->peak = scores[found->candidates / 2] > 0 ? found->candidate[best].score / scores[found->candidates / 2] : (double)INFINITY;
    return TSR_OK;
}

tsr_status tsr_lens_search(tsr_context *context, const tsr_volume *image, const tsr_lens_search_options *options, tsr_lens_found *found)
{
    TSR_NEEDS(context, image, found);
    tsr_status status;
    tsr_lens_search_options o;
    int32_t candidates = 0;
    *found = (tsr_lens_found){ 0 };
    TSR_TRY(take_options(options, &o, &candidates));
    TSR_TRY(tsr_volume_require(context, image, "image"));
    if (image->dtype != TSR_U8 || image->size.z != 1 || image->size.x > 65535 || image->size.y > 65535)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lens search: a %s volume of %lld x %lld x %lld, expected a grey u8 image, extents up to 65535, z = 1",
                 tsr_dtype_name(image->dtype), (long long)image->size.x, (long long)image->size.y, (long long)image->size.z);
    struct search s = { .context = context,
                        .criterion = o.criterion,
                        .room = tsr_maxi(candidates, ZOOM),
                        .job = { .width = (int32_t)image->size.x, .height = (int32_t)image->size.y } };
    found->candidates = candidates;
    found->bins = o.criterion == TSR_LENS_LINES ? 0 : o.bins;
    found->candidate = (tsr_lens_candidate *)calloc((size_t)candidates, sizeof *found->candidate);
    found->histogram = found->bins ? (uint64_t *)calloc((size_t)candidates * (size_t)o.bins, sizeof *found->histogram) : NULL;
    if (!found->candidate || (found->bins && !found->histogram)) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "lens search: out of memory");
    TSR_TRY_GOTO(open_search(&s, image, &o), done);
    TSR_TRY_GOTO(scan_grid(&s, &o, found), done);
    TSR_TRY_GOTO(refine(&s, &o, &found->lens), done);
    TSR_TRY_GOTO(score_at(&s, &found->lens, &found->score), done);
    TSR_TRY_GOTO(test_lines(&s, found), done);
done:
    tsr_lens_lines_free(&s.lines);
    tsr_host_release(&context->host_allocator, s.histograms, (size_t)s.room * (size_t)o.bins * sizeof(uint64_t));
    tsr_host_release(&context->host_allocator, s.maps, (size_t)s.room * sizeof *s.maps);
    tsr_device_release(context, s.device, s.device ? s.bytes : 0);
    if (status != TSR_OK) tsr_lens_found_destroy(found);
    return status;
}

void tsr_lens_found_destroy(tsr_lens_found *found)
{
    if (!found) return;
    free(found->candidate);
    free(found->histogram);
    *found = (tsr_lens_found){ 0 };
}
