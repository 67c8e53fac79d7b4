/* flow/eigenplanes.c: views along which S = 0 and T = 0 fall together. */
#include <math.h>
#include <stdlib.h>

#include "flow/contours.h"

/* Directions over the half sphere z >= 0, evenly: the golden angle, steps of equal height. */
static tsr_vec3 direction(int32_t k, int32_t count)
{
    double s, c;
    const double z = 1 - ((double)k + 0.5) / count, r = sqrt(1 - z * z);
    tsr_det_sincos_turns((double)k * 0.3819660112501051, &s, &c);
    return (tsr_vec3){ r * c, r * s, z };
}

static tsr_vec3 unit(tsr_vec3 a)
{
    const double length = sqrt(tsr_vec3_dot(a, a));
    return (tsr_vec3){ a.x / length, a.y / length, a.z / length };
}
static tsr_vec3 upward(tsr_vec3 a) { return a.z < 0 || (a.z == 0 && (a.y < 0 || (a.y == 0 && a.x < 0))) ? (tsr_vec3){ -a.x, -a.y, -a.z } : a; }

/* Seeds of a view with a tolerance, and how many stand for coincident faces; 0 where no contours are defined. */
static tsr_status score(tsr_contours *c, tsr_vec3 r, double tolerance, int64_t *seeds, int64_t *coincident)
{
    const double kept = c->options.coincidence, thinning = c->options.thinning;
    tsr_contour_info info = TSR_CONTOUR_INFO;
    c->options.coincidence = tolerance;
    c->options.thinning = 0;
    const tsr_status status = tsr_contours_update(c, &(tsr_contour_view){ .direction = r }, &info);
    c->options.coincidence = kept;
    c->options.thinning = thinning;
    *seeds = *coincident = 0;
    if (status == TSR_ERROR_STATE) return TSR_OK;
    TSR_TRY(status);
    *seeds = info.seeds;
    *coincident = info.coincident;
    return TSR_OK;
}

/* A view that is off the normal by `angle` sees faces coincide in a band of tolerance / angle cells around a line: with this tolerance the band fills
 * about half of the grid. float32 samples allow no less than 10^-3, a wider one than 0.3 would take in everything. */
static double tolerance_of(const tsr_contours *c, double angle)
{
    const tsr_size3 n = c->field->size;
    const double most = (double)tsr_max64(n.x, tsr_max64(n.y, n.z));
    return fmin(0.3, fmax(1e-3, 0.25 * most * angle));
}

/* Looks at eight neighbours at a distance that halves when none is better. */
static tsr_status refine(tsr_contours *c, double angle, int32_t refinements, tsr_eigenplane *plane)
{
    tsr_vec3 r = plane->normal;
    int64_t seeds, best;
    for (int32_t n = 0; n < refinements; n++, angle *= 0.5) {
        const double tolerance = tolerance_of(c, angle);
        TSR_TRY(score(c, r, tolerance, &seeds, &best));
        for (int moves = 0, moved = 1; moved && moves < 6; moves++) {
            const tsr_vec3 axis = fabs(r.x) < 0.6 ? (tsr_vec3){ 1, 0, 0 } : (tsr_vec3){ 0, 1, 0 };
            const double along = tsr_vec3_dot(axis, r);
            const tsr_vec3 u = unit((tsr_vec3){ axis.x - along * r.x, axis.y - along * r.y, axis.z - along * r.z });
            const tsr_vec3 v = { r.y * u.z - r.z * u.y, r.z * u.x - r.x * u.z, r.x * u.y - r.y * u.x };
            tsr_vec3 better = r;
            moved = 0;
            for (int k = 0; k < 8; k++) {
                double s, co;
                int64_t own;
                tsr_det_sincos_turns((double)k / 8, &s, &co);
                const tsr_vec3 d = unit((tsr_vec3){ r.x + angle * (co * u.x + s * v.x), r.y + angle * (co * u.y + s * v.y), r.z + angle * (co * u.z + s * v.z) });
                TSR_TRY(score(c, d, tolerance, &seeds, &own));
                if (own > best) best = own, better = d, moved = 1;
            }
            r = better;
        }
        plane->score = (double)best;
    }
    plane->normal = upward(r);
    return TSR_OK;
}

static tsr_status best_planes(tsr_contours *c, const tsr_eigenplane_options *o, tsr_eigenplanes *found)
{
    const int32_t most = o->planes ? o->planes : 4;
    const double spread = sqrt(2 * 3.14159265358979 / found->views); /* between neighbouring directions */
    const tsr_size3 n = c->field->size;
    const double sheet = 0.1 * (double)tsr_min64(n.x * n.y, tsr_min64(n.y * n.z, n.x * n.z));
    for (int32_t tried = 0; tried < 3 * most && found->count < most; tried++) {
        int32_t best = -1;
        for (int32_t k = 0; k < found->views; k++) {
            int taken = found->scores[k] <= 0;
            for (int32_t p = 0; p < tried && !taken; p++) taken = fabs(tsr_vec3_dot(found->directions[k], found->planes[p].normal)) > cos(4 * spread);
            if (!taken && (best < 0 || found->scores[k] > found->scores[best])) best = k;
        }
        if (best < 0) return TSR_OK;
        /* planes[0 .. count) are found; planes[count .. tried] were looked at */
        tsr_eigenplane plane = { .normal = found->directions[best] };
        TSR_PROGRESS(&o->progress, 0.8 + 0.2 * tried / (3 * most), "refining directions");
        TSR_TRY(refine(c, 0.5 * spread, o->refinements ? o->refinements : 12, &plane));
        TSR_TRY(score(c, plane.normal, c->options.coincidence, &plane.seeds, &plane.coincident));
        const int good = plane.score >= sheet;
        int same = 0;
        for (int32_t p = 0; p < found->count; p++) same |= fabs(tsr_vec3_dot(plane.normal, found->planes[p].normal)) > 1 - 1e-4;
        found->planes[tried] = good && !same ? plane : (tsr_eigenplane){ .normal = found->directions[best] };
        if (good && !same) {
            const tsr_eigenplane first = found->planes[found->count];
            found->planes[found->count++] = plane;
            if (tried >= found->count) found->planes[tried] = first;
        }
    }
    return TSR_OK;
}

static int by_score(const void *a, const void *b)
{
    const tsr_eigenplane *x = (const tsr_eigenplane *)a, *y = (const tsr_eigenplane *)b;
    return (x->score < y->score) - (x->score > y->score);
}

tsr_status tsr_contours_eigenplanes(tsr_contours *contours, const tsr_eigenplane_options *options, tsr_eigenplanes *found)
{
    TSR_NEEDS(contours, found);
    tsr_eigenplane_options o;
    tsr_status status;
    void *memory = NULL;
    *found = (tsr_eigenplanes){ .count = 0 };
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (o.views < 0 || o.views > 1000000) TSR_FAIL(TSR_ERROR_ARGUMENT, "views is %d, expected 1 to 1000000", o.views);
    if (o.planes < 0 || o.planes > 1000) TSR_FAIL(TSR_ERROR_ARGUMENT, "planes is %d, expected 1 to 1000", o.planes);
    if (o.refinements < 0 || o.refinements > 60) TSR_FAIL(TSR_ERROR_ARGUMENT, "refinements is %d, expected 1 to 60", o.refinements);
    found->views = o.views ? o.views : 1000;
    const size_t planes = (size_t)(o.planes ? o.planes : 4) * 3;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)found->views * (sizeof(tsr_vec3) + 2 * sizeof(double)) + planes * sizeof(tsr_eigenplane), &memory));
    found->directions = (tsr_vec3 *)memory;
    found->scores = (double *)(void *)(found->directions + found->views);
    found->lengths = o.lengths ? found->scores + found->views : NULL;
    found->planes = (tsr_eigenplane *)(void *)(found->scores + 2 * found->views);
    const double wide = tolerance_of(contours, 0.5 * sqrt(2 * 3.14159265358979 / found->views));
    for (int32_t k = 0; k < found->views; k++) {
        int64_t seeds, coincident;
        if (tsr_progress_report(&o.progress, 0.8 * k / found->views, "trying directions"))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, fail, "cancelled during trying directions");
        found->directions[k] = direction(k, found->views);
        TSR_TRY_GOTO(score(contours, found->directions[k], wide, &seeds, &coincident), fail);
        found->scores[k] = (double)coincident;
        if (!o.lengths) continue;
        tsr_streamlines *lines = NULL;
        TSR_TRY_GOTO(tsr_contours_trace(contours, NULL, o.lines, &lines), fail);
        status = tsr_streamlines_length(lines, &found->lengths[k]);
        tsr_streamlines_destroy(&lines);
        TSR_TRY_GOTO(status, fail);
    }
    TSR_TRY_GOTO(best_planes(contours, &o, found), fail);
    qsort(found->planes, (size_t)found->count, sizeof *found->planes, by_score);
    contours->count = 0;
    return TSR_OK;
fail:
    contours->count = 0;
    tsr_eigenplanes_destroy(found);
    return status;
}

void tsr_eigenplanes_destroy(tsr_eigenplanes *found)
{
    if (!found) return;
    tsr_host_release(NULL, found->directions, 0);
    *found = (tsr_eigenplanes){ .count = 0 };
}

/* Lambert's equal-area view of the half sphere from +z; each pixel has the nearest direction's value. */
tsr_status tsr_eigenplanes_picture(const tsr_eigenplanes *found, int lengths, int32_t size, tsr_image *image)
{
    if (!found || !image || !found->views) TSR_FAIL(TSR_ERROR_ARGUMENT, "found or image is NULL, or nothing was tried");
    if (lengths && !found->lengths) TSR_FAIL(TSR_ERROR_ARGUMENT, "lengths were not asked for in the search");
    if (size < 16 || size > 8192) TSR_FAIL(TSR_ERROR_ARGUMENT, "size is %d pixels, expected 16 to 8192", size);
    TSR_TRY(tsr_image_create(size, size, 3, image));
    const double *values = lengths ? found->lengths : found->scores;
    double most = 0;
    for (int32_t k = 0; k < found->views; k++) most = fmax(most, values[k]);
    for (int32_t y = 0; y < size; y++)
        for (int32_t x = 0; x < size; x++) {
            const double px = (2 * (x + 0.5) / size - 1) * 1.05, py = (1 - 2 * (y + 0.5) / size) * 1.05, square = px * px + py * py;
            uint8_t *to = image->pixels + 3 * ((int64_t)y * size + x);
            to[0] = to[1] = to[2] = 24;
            if (square > 1) continue;
            const double z = 1 - square, r = sqrt(2 - square);
            const tsr_vec3 d = { px * r, py * r, z };
            double nearest = -2, value = 0;
            for (int32_t k = 0; k < found->views; k++) {
                const double near = fabs(tsr_vec3_dot(d, found->directions[k]));
                if (near > nearest) nearest = near, value = values[k];
            }
            tsr_stream_color(most > 0 ? value / most : 0, to);
            for (int32_t p = 0; p < found->count; p++) {
                const double angle = acos(fmin(1, fabs(tsr_vec3_dot(d, found->planes[p].normal))));
                if (angle > 0.05 && angle < 0.065) to[0] = to[1] = to[2] = 255;
            }
        }
    return TSR_OK;
}
