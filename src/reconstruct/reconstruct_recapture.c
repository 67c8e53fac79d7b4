/* reconstruct/reconstruct_recapture.c: thin parts that a front has passed are put back before it moves on.
 *
 * A limb thinner than about two voxels of a level has no voxel inside, the front runs past its tip and, at rest there, is too far from the samples for a
 * finer level to come back to them. So the samples that the surface leaves outside are looked for; round the voxels that hold them, where they have company
 * (outliers have none), lie balls that overlap, and their union with the surface encloses the limb again. What hangs on no surface goes, what the balls
 * enclose is filled, and the flow shrinks the rest onto the samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "algebra/csg.h"
#include "reconstruct/reconstruct.h"
#include "tessera/primitives.h"

/* A voxel counts if so many missed samples lie within REACH of it: a 16th of what a disc of the surface of that radius holds on average, which thin ends and
 * sparse parts have and outliers do not, and LEAST at any rate. */
enum { REACH = 3, LEAST = 4, SHARE = 16 };
/* Many missed samples are noise if but one in so many lies beyond the band, or one within for so many: a part that is missed lies outside, and farther. */
enum { NOISE = 4 };
enum { LOG2_BLOCK = 3, AT_ONCE = 64 }; /* voxels are looked up by blocks of 8, which REACH does not leave by more than one */

/* Voxels between a ball and the border, and the radius that a ball has at any rate. */
#define CLEAR 1.5
#define SMALLEST 0.5

/* Voxels that hold missed samples, in Morton order. */
struct voxels {
    int64_t count;
    int64_t within; /* samples beyond the band inside the surface */
    double company;
    uint64_t *key;
    uint32_t (*at)[3], *samples;
    uint8_t *kept; /* 1, or 2 where samples are beyond the band */
};

/* ---- candidates on the device ----------------------------------------------------------------------------------------------------------- */

/* Places of the samples that are `least` or more from the surface, their positions and signed distances: host memory in one piece, [5][count] words. */
static tsr_status far_samples(const tsr_tiles *tiles, const tsr_points_tree *samples, int32_t level, const float *distance, double least, uint32_t **words,
                              int64_t *count)
{
    tsr_context *context = tiles->context;
    const tsr_potential_ops *ops = context->backend->potential;
    const tsr_predicate far = { .kind = TSR_KEEP_RANGE, .lower = least, .upper = (double)INFINITY };
    const int64_t n = samples->points;
    int64_t many;
    uint64_t *found = NULL;
    uint32_t *device = NULL;
    size_t select_bytes, bytes = 0;
    tsr_status status;
    *words = NULL;
    *count = 0;
    TSR_TRY(tsr_count_host(context, far, TSR_F32, distance, n, &many));
    if (many < LEAST) return TSR_OK;
    TSR_TRY(tsr_select_workspace(context, n, &select_bytes));
    TSR_TRY(tsr_device_allocate(context, select_bytes + 256, (void **)&found));
    bytes = (size_t)many * 5 * sizeof *device;
    *words = (uint32_t *)malloc(bytes);
    if (!*words) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "reconstruct: out of host memory for %lld missed samples", (long long)many);
    TSR_TRY_GOTO(tsr_device_allocate(context, bytes, (void **)&device), done);
    TSR_TRY_GOTO(tsr_select_indices(context, far, TSR_F32, distance, n, TSR_U32, device, many, found, (char *)found + 256, select_bytes), done);
    uint32_t *own[3];
    for (int k = 0; k < 3; k++) {
        own[k] = device + (k + 1) * many;
        TSR_TRY_GOTO(ops->gather(context->queue, samples->fixed[k], device, many, 1, own[k]), done);
    }
    const tsr_sample_job job = {
        .fixed = { own[0], own[1], own[2] }, .points = many, .level = level, .with_sign = 1, .distance = (float *)(void *)(device + 4 * many)
    };
    TSR_TRY_GOTO(ops->sample(context->queue, &tiles->pool, &job), done);
    TSR_TRY_GOTO(context->backend->download(context->queue, *words, device, bytes), done);
    *count = many;
done:
    if (device) tsr_device_release(context, device, bytes);
    tsr_device_release(context, found, select_bytes + 256);
    if (status != TSR_OK) free(*words);
    return status;
}

/* ---- company ------------------------------------------------------------------------------------------------------------------------------ */

static int has_company(const struct voxels *v, int64_t i)
{
    const uint32_t *own = v->at[i], block[3] = { own[0] >> LOG2_BLOCK, own[1] >> LOG2_BLOCK, own[2] >> LOG2_BLOCK };
    double samples = 0;
    for (uint32_t d = 0; d < 27; d++) {
        uint64_t beside;
        if (!tsr_cell_beside(block, d, (1u << (TSR_TREE_DEPTH_MOST - LOG2_BLOCK)) - 1, &beside)) continue;
        const uint64_t first = beside << (3 * LOG2_BLOCK), end = first + (1u << (3 * LOG2_BLOCK));
        for (int64_t j = tsr_key_lower_bound(v->key, (int32_t)v->count, first); j < v->count && v->key[j] < end; j++) {
            int64_t square = 0;
            for (int k = 0; k < 3; k++) square += ((int64_t)v->at[j][k] - own[k]) * ((int64_t)v->at[j][k] - own[k]);
            if (square <= REACH * REACH) samples += v->samples[j];
            if (samples >= v->company) return 1;
        }
    }
    return 0;
}
static void company_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct voxels *v = (struct voxels *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        if (!has_company(v, i)) v->kept[i] = 0;
}

/* Voxels of `level` that hold samples outside the surface; the samples come in Morton order, so do the voxels. */
static void collect(const uint32_t *words, int64_t count, int32_t level, float band, struct voxels *v)
{
    const int32_t shift = TSR_FIXED_BITS - level;
    for (int64_t i = 0; i < count; i++) {
        float phi;
        memcpy(&phi, words + 4 * count + i, sizeof phi);
        v->within += phi <= -0.999999f * band;
        if (!(phi > 0)) continue;
        const uint32_t at[3] = { words[count + i] >> shift, words[2 * count + i] >> shift, words[3 * count + i] >> shift };
        const uint64_t key = tsr_morton(at[0], at[1], at[2]);
        if (v->count == 0 || v->key[v->count - 1] != key) {
            v->key[v->count] = key;
            v->samples[v->count] = 0;
            v->kept[v->count] = 1;
            memcpy(v->at[v->count++], at, sizeof at);
        }
        v->samples[v->count - 1]++;
        if (phi >= 0.999999f * band) v->kept[v->count - 1] = 2;
    }
}

/* Of a ball round the middle of a voxel: as wished, but clear of the border of the grid. */
static double radius_at(const uint32_t at[3], int32_t level, double wished)
{
    double room = wished + CLEAR;
    for (int k = 0; k < 3; k++) room = fmin(room, fmin((double)at[k], ldexp(1, level) - 1 - (double)at[k]) + 0.5);
    return fmax(room - CLEAR, SMALLEST);
}

/* Balls round the middles of the voxels that are kept, on the device. NULL if fewer than `worth` of the samples there are in voxels that hold some beyond the
 * band: what is missed by less the front reaches by itself; or if more than `most` are and look like noise, whose outer half no surface encloses. */
static tsr_status balls_round(const struct voxels *v, const tsr_points_frame *frame, const tsr_recapture_rule *rule, tsr_context *context, tsr_points **points)
{
    const double h = ldexp(frame->side, -rule->level);
    int64_t n = 0, beyond = 0, missed = 0;
    tsr_points *host;
    for (int64_t i = 0; i < v->count; i++) {
        n += v->kept[i] > 0;
        missed += v->kept[i] ? v->samples[i] : 0;
        beyond += v->kept[i] == 2 ? v->samples[i] : 0;
    }
    const int noise = missed > rule->most && (NOISE * beyond < missed || NOISE * v->within > missed);
    if (beyond < rule->worth || noise) return TSR_OK;
    TSR_TRY(tsr_points_create(NULL, n, TSR_POINTS_RADII, &host));
    n = 0;
    for (int64_t i = 0; i < v->count; i++) {
        if (!v->kept[i]) continue;
        for (int k = 0; k < 3; k++) host->positions[3 * n + k] = (float)(frame->lower[k] + h * ((double)v->at[i][k] + 0.5));
        host->radii[n++] = (float)(h * radius_at(v->at[i], rule->level, rule->radius));
    }
    tsr_status status = tsr_points_copy(host, context, points);
    tsr_points_destroy(&host);
    return status;
}

tsr_status tsr_recapture_find(const tsr_tiles *tiles, const tsr_points_tree *samples, const tsr_points_frame *frame, const tsr_reconstruct_level *at,
                              const tsr_recapture_rule *rule, const float *distance, tsr_points **missed)
{
    uint32_t *words;
    int64_t count;
    *missed = NULL;
    TSR_TRY(far_samples(tiles, samples, at->level, distance, rule->least, &words, &count));
    if (count == 0) return TSR_OK;
    const double surface = ldexp((double)at->active_voxels * at->voxel / (2 * (double)tiles->pool.band), 2 * (rule->level - at->level)); /* its voxels */
    const double disc = 3.14159265358979 * REACH * REACH * (double)samples->points / fmax(surface, 1);
    struct voxels v = { .company = fmax(LEAST, disc / SHARE) };
    const size_t each = sizeof *v.key + sizeof *v.at + sizeof *v.samples + 1;
    void *memory = malloc((size_t)count * each);
    tsr_status status = memory ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "reconstruct: out of host memory for %lld missed samples", (long long)count);
    if (memory) {
        v.key = (uint64_t *)memory;
        v.at = (uint32_t(*)[3])(void *)(v.key + count);
        v.samples = (uint32_t *)(void *)(v.at + count);
        v.kept = (uint8_t *)(void *)(v.samples + count);
        collect(words, count, rule->level, tiles->pool.band, &v);
        tsr_parallel(tiles->context->threads, v.count, AT_ONCE, company_range, &v);
        status = balls_round(&v, frame, rule, tiles->context, missed);
    }
    free(memory);
    free(words);
    return status;
}

/* ---- union -------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_recapture_unite(const tsr_tiles *tiles, const tsr_points_frame *frame, int32_t level, const tsr_points *missed, tsr_tiles **united)
{
    tsr_tiles *balls;
    *united = NULL;
    TSR_TRY(tsr_particles_join(tiles, frame, level, missed, &balls));
    tsr_status status = tsr_tiles_combine(tiles, balls, TSR_CSG_UNION, 0, united);
    tsr_tiles_destroy(&balls);
    if (status == TSR_OK) status = tsr_csg_keep_with(united, tiles);
    if (status != TSR_OK) tsr_tiles_destroy(united);
    return status;
}
