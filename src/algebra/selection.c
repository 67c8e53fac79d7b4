/* algebra/selection.c: checks of a selection, and what its signed distance needs. */
#include "algebra/selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "algebra/csg.h"

static const char *const kind_names[] = { "box", "obox", "ball", "stroke", "lasso", "half" };
enum { KINDS = sizeof kind_names / sizeof *kind_names };
static const int64_t most_points = 65536;
static const double largest = 1e12, widest = 0.052; /* cosine of 87 degrees */

const char *tsr_selection_name(tsr_selection_kind kind) { return (int)kind >= 0 && (int)kind < KINDS ? kind_names[kind] : NULL; }

tsr_status tsr_selection_parse(const char *name, tsr_selection_kind *kind)
{
    TSR_NEEDS(kind);
    for (int i = 0; i < KINDS; i++)
        if (name && !strcmp(name, kind_names[i])) {
            *kind = (tsr_selection_kind)i;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "'%.40s' is no kind of selection, expected box, obox, ball, stroke, lasso or half", name ? name : "");
}

/* ---- checks --------------------------------------------------------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static void cross(const double a[3], const double b[3], double c[3])
{
    const double r[3] = { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0] };
    memcpy(c, r, sizeof r);
}
/* 0 if the vector has no direction. */
static int normalise(double a[3])
{
    const double most = fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
    if (!(most > 0)) return 0;
    for (int k = 0; k < 3; k++) a[k] /= most;
    const double length = sqrt(dot(a, a));
    for (int k = 0; k < 3; k++) a[k] /= length;
    return 1;
}

static tsr_status check_place(const char *name, const char *field, const double at[3])
{
    for (int k = 0; k < 3; k++)
        if (!(fabs(at[k]) < largest)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s.%c is %g, expected a number below 1e12", name, field, "xyz"[k], at[k]);
    return TSR_OK;
}
static tsr_status check_length(const char *name, const char *field, double value)
{
    if (!(value > 0 && value < largest)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s is %g, expected a positive number below 1e12", name, field, value);
    return TSR_OK;
}
static tsr_status check_points(const tsr_selection *s, const char *name, int64_t least)
{
    if (!(s->count >= least && s->count <= most_points))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %lld points, expected %lld to %lld", name, (long long)s->count, (long long)least, (long long)most_points);
    if (!s->points) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: points is NULL", name);
    for (int64_t i = 0; i < s->count; i++)
        for (int k = 0; k < 3; k++)
            if (!(fabs(s->points[i][k]) < largest))
                TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: point %lld has %c = %g, expected a number below 1e12", name, (long long)i + 1, "xyz"[k],
                         s -> points[i][k]);
    return TSR_OK;
}

static tsr_status take_corners(tsr_selection_plan *plan, const char *name, int64_t count)
{
    plan->corners = (float *)calloc((size_t)count, TSR_CORNER * sizeof(float));
    if (!plan->corners) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld points", name, (long long)count);
    plan->field.corners = plan->corners;
    plan->field.count = (int32_t)count;
    return TSR_OK;
}

static void set_centre(tsr_selection_plan *plan, const double centre[3])
{
    for (int k = 0; k < 3; k++) plan->field.centre[k] = (float)centre[k];
}

/* ---- boxes, balls, planes ------------------------------------------------------------------------------------------------------------------------ */

static tsr_status prepare_box(const tsr_box *box, tsr_selection_plan *plan)
{
    const double low[3] = { box->lower.x, box->lower.y, box->lower.z }, high[3] = { box->upper.x, box->upper.y, box->upper.z };
    plan->field.kind = TSR_SELECTION_BOX;
    for (int k = 0; k < 3; k++) {
        if (!(low[k] < high[k] && fabs(low[k]) < largest && fabs(high[k]) < largest))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "region: %g to %g along %c, expected lower < upper, below 1e12", low[k], high[k], "xyz"[k]);
        plan->field.centre[k] = (float)(0.5 * (low[k] + high[k]));
        plan->field.half[k] = (float)(0.5 * (high[k] - low[k]));
        plan->field.frame[4 * k] = 1;
        plan->low[k] = low[k];
        plan->high[k] = high[k];
    }
    return TSR_OK;
}

static tsr_status prepare_oriented(const tsr_selection *s, tsr_selection_plan *plan)
{
    const double centre[3] = { s->centre.x, s->centre.y, s->centre.z }, half[3] = { s->half.x, s->half.y, s->half.z };
    const double turn[3] = { s->turn.x, s->turn.y, s->turn.z };
    double m[9];
    TSR_TRY(check_place("obox", "centre", centre));
    TSR_TRY(check_place("obox", "turn", turn));
    TSR_TRY(check_length("obox", "half.x", half[0]));
    TSR_TRY(check_length("obox", "half.y", half[1]));
    TSR_TRY(check_length("obox", "half.z", half[2]));
    tsr_csg_rotation(s->turn, sqrt(dot(turn, turn)), m);
    set_centre(plan, centre);
    for (int i = 0; i < 3; i++) {
        double reach = 0;
        for (int j = 0; j < 3; j++) {
            plan->field.frame[3 * i + j] = (float)m[3 * j + i]; /* the inverse */
            reach += fabs(m[3 * i + j]) * half[j];
        }
        plan->field.half[i] = (float)half[i];
        plan->low[i] = centre[i] - reach;
        plan->high[i] = centre[i] + reach;
    }
    return TSR_OK;
}

static tsr_status prepare_ball(const tsr_selection *s, tsr_selection_plan *plan)
{
    const double centre[3] = { s->centre.x, s->centre.y, s->centre.z };
    TSR_TRY(check_place("ball", "centre", centre));
    TSR_TRY(check_length("ball", "radius", s->radius));
    set_centre(plan, centre);
    plan->field.radius = (float)s->radius;
    for (int k = 0; k < 3; k++) {
        plan->low[k] = centre[k] - s->radius;
        plan->high[k] = centre[k] + s->radius;
    }
    return TSR_OK;
}

/* Two directions beside w that make a right-handed frame with it. */
static void set_frame(tsr_selection_plan *plan, const double w[3], double u[3], double v[3])
{
    const int axis = fabs(w[0]) <= fabs(w[1]) && fabs(w[0]) <= fabs(w[2]) ? 0 : fabs(w[1]) <= fabs(w[2]) ? 1 : 2;
    const double e[3] = { axis == 0, axis == 1, axis == 2 };
    cross(e, w, u);
    normalise(u);
    cross(w, u, v);
    for (int k = 0; k < 3; k++) {
        plan->field.frame[k] = (float)u[k];
        plan->field.frame[3 + k] = (float)v[k];
        plan->field.frame[6 + k] = (float)w[k];
    }
}

static tsr_status prepare_half(const tsr_selection *s, tsr_selection_plan *plan)
{
    const double at[3] = { s->centre.x, s->centre.y, s->centre.z };
    double w[3] = { s->direction.x, s->direction.y, s->direction.z }, u[3], v[3];
    TSR_TRY(check_place("half", "centre", at));
    TSR_TRY(check_place("half", "direction", w));
    if (!normalise(w)) TSR_FAIL(TSR_ERROR_ARGUMENT, "half: direction is (0, 0, 0), expected the outward normal of the plane");
    set_centre(plan, at);
    set_frame(plan, w, u, v);
    return TSR_OK;
}

/* ---- strokes ----------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status prepare_stroke(const tsr_selection *s, tsr_selection_plan *plan)
{
    double middle[3];
    TSR_TRY(check_points(s, "stroke", 1));
    TSR_TRY(check_length("stroke", "radius", s->radius));
    for (int k = 0; k < 3; k++) {
        double low = s->points[0][k], high = low;
        for (int64_t i = 1; i < s->count; i++) {
            low = fmin(low, s->points[i][k]);
            high = fmax(high, s->points[i][k]);
        }
        middle[k] = 0.5 * (low + high);
        plan->low[k] = low - s->radius;
        plan->high[k] = high + s->radius;
    }
    set_centre(plan, middle);
    plan->field.radius = (float)s->radius;
    const int64_t segments = s->count > 1 ? s->count - 1 : 1;
    TSR_TRY(take_corners(plan, "stroke", segments));
    for (int64_t i = 0; i < segments; i++) {
        float *c = plan->corners + i * TSR_CORNER;
        float length2 = 0;
        for (int k = 0; k < 3; k++) {
            c[k] = (float)(s->points[i][k] - middle[k]);
            c[3 + k] = s->count > 1 ? (float)(s->points[i + 1][k] - middle[k]) - c[k] : 0;
            length2 += c[3 + k] * c[3 + k];
        }
        c[6] = length2 > 0 && length2 < 1e30F ? 1 / length2 : 0;
    }
    return TSR_OK;
}

/* ---- lassos -------------------------------------------------------------------------------------------------------------------------------------------- */

/* The corners in the plane of the picture without those that repeat the one before them; their number, or an error if they enclose nothing. */
static tsr_status clean(double (*flat)[2], int64_t *count)
{
    int64_t n = 0, far = 0;
    double reach = 0, width = 0;
    for (int64_t i = 0; i < *count; i++) {
        if (n > 0 && (float)flat[i][0] == (float)flat[n - 1][0] && (float)flat[i][1] == (float)flat[n - 1][1]) continue;
        memmove(flat[n++], flat[i], sizeof *flat);
    }
    while (n > 1 && (float)flat[0][0] == (float)flat[n - 1][0] && (float)flat[0][1] == (float)flat[n - 1][1]) n--;
    for (int64_t i = 1; i < n; i++) {
        const double d = hypot(flat[i][0] - flat[0][0], flat[i][1] - flat[0][1]);
        if (d > reach) reach = d, far = i;
    }
    for (int64_t i = 1; i < n; i++)
        width = fmax(width,
                     fabs((flat[i][0] - flat[0][0]) * (flat[far][1] - flat[0][1]) - (flat[i][1] - flat[0][1]) * (flat[far][0] - flat[0][0])) / reach);
    if (n < 3 || !(width > 1e-5 * reach))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lasso: its %lld points enclose nothing as they are seen, expected three that are not on one line",
                 (long long)*count);
    *count = n;
    return TSR_OK;
}

static void make_prism(tsr_selection_plan *plan, double (*flat)[2], int64_t n)
{
    plan->field.kind = TSR_SELECTION_PRISM;
    for (int64_t i = 0; i < n; i++) {
        const double *a = flat[i], *b = flat[(i + 1) % n];
        float *c = plan->corners + i * TSR_CORNER;
        c[0] = (float)a[0];
        c[1] = (float)a[1];
        c[2] = (float)b[0];
        c[3] = (float)b[1];
        const float du = c[2] - c[0], dv = c[3] - c[1], length2 = du * du + dv * dv;
        c[4] = length2 > 0 ? 1 / length2 : 0;
    }
}

static void make_cone(tsr_selection_plan *plan, double (*flat)[2], int64_t n)
{
    plan->field.kind = TSR_SELECTION_CONE;
    for (int64_t i = 0; i < n; i++) {
        double a[3] = { flat[i][0], flat[i][1], 1 }, b[3] = { flat[(i + 1) % n][0], flat[(i + 1) % n][1], 1 }, normal[3];
        float *c = plan->corners + i * TSR_CORNER;
        normalise(a);
        normalise(b);
        cross(a, b, normal);
        normalise(normal);
        for (int k = 0; k < 3; k++) {
            c[k] = (float)a[k];
            c[3 + k] = (float)normal[k];
        }
        c[6] = (float)flat[i][0];
        c[7] = (float)flat[i][1];
    }
}

/* Axis and centre of the view: its direction and the mean of the corners, or the mean direction of the corners and the eye. */
static tsr_status look(const tsr_selection *s, int parallel, double w[3], double centre[3])
{
    double sum[3] = { 0 };
    for (int64_t i = 0; i < s->count; i++) {
        double ray[3];
        for (int k = 0; k < 3; k++) ray[k] = s->points[i][k] - (parallel ? 0 : centre[k]);
        if (!parallel && !normalise(ray))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "lasso: point %lld is the eye (%g, %g, %g), expected one in the picture before it", (long long)i + 1,
                     centre[0], centre[1], centre[2]);
        for (int k = 0; k < 3; k++) sum[k] += ray[k];
    }
    if (parallel) {
        for (int k = 0; k < 3; k++) centre[k] = sum[k] / (double)s->count;
        return TSR_OK;
    }
    memcpy(w, sum, sizeof sum);
    if (!(sqrt(dot(sum, sum)) > 1e-6 * (double)s->count) || !normalise(w))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lasso: its points lie all around the eye (%g, %g, %g), expected them before it", centre[0], centre[1],
                 centre[2]);
    return TSR_OK;
}

static tsr_status prepare_corners(const tsr_selection *s, int parallel, double (*flat)[2], tsr_selection_plan *plan)
{
    double w[3] = { s->direction.x, s->direction.y, s->direction.z }, centre[3] = { s->eye.x, s->eye.y, s->eye.z }, u[3], v[3];
    int64_t n = s->count;
    if (parallel) normalise(w);
    TSR_TRY(look(s, parallel, w, centre));
    set_centre(plan, centre);
    set_frame(plan, w, u, v);
    for (int64_t i = 0; i < n; i++) {
        double p[3] = { s->points[i][0] - centre[0], s->points[i][1] - centre[1], s->points[i][2] - centre[2] }, depth = 1;
        if (!parallel) {
            normalise(p);
            depth = dot(p, w);
            if (!(depth > widest))
                TSR_FAIL(TSR_ERROR_ARGUMENT, "lasso: point %lld is %.0f degrees off the middle of the view, expected less than 87", (long long)i + 1,
                         acos(fmax(-1, fmin(1, depth))) * 57.29577951308232);
        }
        flat[i][0] = dot(p, u) / depth;
        flat[i][1] = dot(p, v) / depth;
    }
    TSR_TRY(clean(flat, &n));
    TSR_TRY(take_corners(plan, "lasso", n));
    if (parallel) make_prism(plan, flat, n);
    else make_cone(plan, flat, n);
    return TSR_OK;
}

static tsr_status prepare_lasso(const tsr_selection *s, tsr_selection_plan *plan)
{
    const double eye[3] = { s->eye.x, s->eye.y, s->eye.z }, direction[3] = { s->direction.x, s->direction.y, s->direction.z };
    TSR_TRY(check_points(s, "lasso", 3));
    TSR_TRY(check_place("lasso", "direction", direction));
    const int parallel = dot(direction, direction) > 0;
    if (!parallel) TSR_TRY(check_place("lasso", "eye", eye));
    double(*flat)[2] = (double(*)[2])malloc((size_t)s->count * sizeof *flat);
    tsr_status status = flat ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "lasso: out of memory for %lld points", (long long)s->count);
    if (status == TSR_OK) status = prepare_corners(s, parallel, flat, plan);
    free(flat);
    return status;
}

/* ---- at a place -------------------------------------------------------------------------------------------------------------------------------- */

static const double most_voxels = 1048576; /* 2^20: float32 tells about a tenth of a voxel there */

static tsr_status check_extent(const char *name, const char *what, double value, const tsr_selection_place *place)
{
    if (!(value <= most_voxels * place->voxel))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s is %g, expected at most %g (%.0f voxels)", name, what, value, most_voxels * place->voxel, most_voxels);
    return TSR_OK;
}

/* A box whose faces far beyond the place are moved there. */
static tsr_status cut_box(tsr_box *box, const tsr_selection_place *place)
{
    double *low[3] = { &box->lower.x, &box->lower.y, &box->lower.z }, *high[3] = { &box->upper.x, &box->upper.y, &box->upper.z };
    for (int k = 0; k < 3; k++) {
        if (*high[k] - *low[k] <= 4096 * place->voxel) continue;
        if (place->bounded && *low[k] < *high[k] && *low[k] < place->high[k] && *high[k] > place->low[k]) {
            *low[k] = fmax(*low[k], place->low[k]);
            *high[k] = fmin(*high[k], place->high[k]);
        }
        TSR_TRY(check_extent("region", "length", *high[k] - *low[k], place));
    }
    return TSR_OK;
}

/* Moves the centre along `w`, which does not change the selection: in a plane to its foot, or along a line, nearest to the middle of the place. */
static void come_near(double centre[3], const double w[3], int along, const tsr_selection_place *place)
{
    double off[3], middle[3], far = 0;
    for (int k = 0; k < 3; k++) {
        middle[k] = 0.5 * (place->low[k] + place->high[k]);
        off[k] = middle[k] - centre[k];
        far = fmax(far, fabs(off[k]));
    }
    if (far <= 4096 * place->voxel) return;
    const double t = dot(off, w);
    for (int k = 0; k < 3; k++) centre[k] = along ? centre[k] + t * w[k] : middle[k] - t * w[k];
}

/* What float32 cannot tell is moved or refused; the selection is checked. */
static tsr_status settle(const tsr_selection *s, const tsr_selection_place *place, tsr_selection_plan *plan)
{
    double centre[3] = { s->centre.x, s->centre.y, s->centre.z }, w[3] = { s->direction.x, s->direction.y, s->direction.z }, most = 0;
    tsr_box box = s->box;
    switch (plan->field.kind) {
    case TSR_SELECTION_BOX:
        TSR_TRY(cut_box(&box, place));
        TSR_TRY(prepare_box(&box, plan));
        return TSR_OK;
    case TSR_SELECTION_OBOX: TSR_TRY(check_extent("obox", "half", fmax(s->half.x, fmax(s->half.y, s->half.z)), place)); return TSR_OK;
    case TSR_SELECTION_BALL: TSR_TRY(check_extent("ball", "radius", s->radius, place)); return TSR_OK;
    case TSR_SELECTION_STROKE:
        for (int k = 0; k < 3; k++) most = fmax(most, 0.5 * (plan->high[k] - plan->low[k]));
        TSR_TRY(check_extent("stroke", "half its extent", most, place));
        return TSR_OK;
    case TSR_SELECTION_HALF:
        normalise(w);
        come_near(centre, w, 0, place);
        break;
    case TSR_SELECTION_PRISM:
        normalise(w);
        TSR_TRY(look(s, 1, w, centre));
        come_near(centre, w, 1, place);
        for (int64_t i = 0; i < plan->field.count; i++)
            for (int k = 0; k < 2; k++) most = fmax(most, fabs((double)plan->corners[i * TSR_CORNER + k]));
        TSR_TRY(check_extent("lasso", "the distance of a corner from their middle", most, place));
        break;
    default: /* CONE */
        for (int k = 0; k < 3; k++)
            most = fmax(most, fabs(0.5 * (place->low[k] + place->high[k]) - (k == 0 ? s->eye.x : k == 1 ? s->eye.y : s->eye.z)));
        TSR_TRY(check_extent("lasso", "the distance of the eye", most, place));
        return TSR_OK;
    }
    set_centre(plan, centre);
    return TSR_OK;
}

/* ---- all ------------------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status prepare(const tsr_selection *s, tsr_selection_plan *plan)
{
    plan->field.kind = (int32_t)s->kind;
    switch (s->kind) {
    case TSR_SELECTION_BOX: return prepare_box(&s->box, plan);
    case TSR_SELECTION_OBOX: return prepare_oriented(s, plan);
    case TSR_SELECTION_BALL: return prepare_ball(s, plan);
    case TSR_SELECTION_STROKE: return prepare_stroke(s, plan);
    case TSR_SELECTION_LASSO: return prepare_lasso(s, plan);
    case TSR_SELECTION_HALF: return prepare_half(s, plan);
    }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "selection: kind is %d, expected BOX to HALF", (int)s->kind);
}

static double largest_number(const tsr_selection *s)
{
    const double at[] = { s->box.lower.x, s->box.lower.y, s->box.lower.z, s->box.upper.x, s->box.upper.y, s->box.upper.z, s->centre.x, s->centre.y,
                          s->centre.z,    s->half.x,      s->half.y,      s->half.z,      s->radius,      s->eye.x,       s->eye.y,    s->eye.z };
    double most = 0;
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) most = fmax(most, fabs(at[k]));
    if (s->kind != TSR_SELECTION_STROKE && s->kind != TSR_SELECTION_LASSO) return most;
    for (int64_t i = 0; i < 3 * s->count; i++) most = fmax(most, fabs(s->points[i / 3][i % 3]));
    return most;
}

tsr_status tsr_selection_prepare(const tsr_selection *selection, const tsr_selection_place *place, tsr_selection_plan *plan)
{
    tsr_selection own;
    memset(plan, 0, sizeof *plan);
    for (int k = 0; k < 3; k++) {
        plan->low[k] = -HUGE_VAL;
        plan->high[k] = HUGE_VAL;
    }
    if (!selection) TSR_FAIL(TSR_ERROR_ARGUMENT, "selection is NULL");
    TSR_TRY(TSR_OPTIONS_TAKE(&own, selection));
    tsr_status status = prepare(&own, plan);
    if (status == TSR_OK) plan->most = largest_number(&own);
    if (status == TSR_OK && place) status = settle(&own, place, plan);
    if (status != TSR_OK) tsr_selection_drop(plan);
    return status;
}

void tsr_selection_drop(tsr_selection_plan *plan)
{
    free(plan->corners);
    memset(plan, 0, sizeof *plan);
}
