/* vision/views/analytic_solids.c: rays and solids in closed form, united and cut along the ray. */
#include "vision/views/analytic_solids.h"

#include <math.h>
#include <string.h>

static double component(tsr_vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
static tsr_vec3 divide(tsr_vec3 a, tsr_vec3 b) { return (tsr_vec3){ a.x / b.x, a.y / b.y, a.z / b.z }; }
static tsr_vec3 place(tsr_vec3 o, tsr_vec3 d, double t) { return tsr_vec3_add(o, tsr_vec3_scale(d, t)); }

/* Both roots of a t^2 + 2 b t + c, without cancellation. */
static int quadratic(double a, double b, double c, double t[2])
{
    const double d = b * b - a * c;
    if (!(d > 0) || !(a > 0)) return 0;
    const double q = -(b + copysign(sqrt(d), b)), x = q / a, y = q != 0 ? c / q : 0;
    t[0] = fmin(x, y);
    t[1] = fmax(x, y);
    return 1;
}

static int ellipsoid(const tsr_solid *s, tsr_vec3 o, tsr_vec3 d, tsr_span *span)
{
    const tsr_vec3 p = divide(o, s->size), q = divide(d, s->size);
    if (!quadratic(tsr_vec3_dot(q, q), tsr_vec3_dot(p, q), tsr_vec3_dot(p, p) - 1, span->t)) return 0;
    for (int e = 0; e < 2; e++) span->normal[e] = tsr_vec3_unit(divide(divide(place(o, d, span->t[e]), s->size), s->size));
    return 1;
}

/* Narrows a span to the slab -half <= x <= half along an axis; 0: nothing is left. */
static int slab(double o, double d, double half, tsr_vec3 axis, tsr_span *span)
{
    if (d == 0) return fabs(o) <= half;
    const double sign = d > 0 ? 1 : -1, enter = (-sign * half - o) / d, leave = (sign * half - o) / d;
    if (enter > span->t[0]) {
        span->t[0] = enter;
        span->normal[0] = tsr_vec3_scale(axis, -sign);
    }
    if (leave < span->t[1]) {
        span->t[1] = leave;
        span->normal[1] = tsr_vec3_scale(axis, sign);
    }
    return span->t[0] < span->t[1];
}
static const tsr_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };

static int box(const tsr_solid *s, tsr_vec3 o, tsr_vec3 d, tsr_span *span)
{
    span->t[0] = -(double)INFINITY;
    span->t[1] = (double)INFINITY;
    for (int a = 0; a < 3; a++)
        if (!slab(component(o, a), component(d, a), component(s->size, a), axes[a], span)) return 0;
    return isfinite(span->t[0]);
}

static int cylinder(const tsr_solid *s, tsr_vec3 o, tsr_vec3 d, tsr_span *span)
{
    const int axis = (int)s->size.z, u = (axis + 1) % 3, v = (axis + 2) % 3;
    const double ou = component(o, u), ov = component(o, v), du = component(d, u), dv = component(d, v), r = s->size.x;
    if (du == 0 && dv == 0) {
        if (ou * ou + ov * ov > r * r) return 0;
        span->t[0] = -(double)INFINITY;
        span->t[1] = (double)INFINITY;
    } else {
        if (!quadratic(du * du + dv * dv, ou * du + ov * dv, ou * ou + ov * ov - r * r, span->t)) return 0;
        for (int e = 0; e < 2; e++)
            span->normal[e] = tsr_vec3_unit(
                tsr_vec3_add(tsr_vec3_scale(axes[u], ou + span->t[e] * du), tsr_vec3_scale(axes[v], ov + span->t[e] * dv)));
    }
    return slab(component(o, axis), component(d, axis), s->size.y, axes[axis], span);
}

static double horner(const double *c, int degree, double t)
{
    double sum = c[degree];
    for (int i = degree; i-- > 0;) sum = sum * t + c[i];
    return sum;
}
/* Roots of a polynomial within [low, high], in order: between those of its slope it runs one way. */
static int roots(const double *c, int degree, double low, double high, double *root)
{
    double slope[4], turn[4], ends[6];
    int turns = 0, count = 0;
    for (int i = 0; i < degree; i++) slope[i] = c[i + 1] * (i + 1);
    if (degree > 1) turns = roots(slope, degree - 1, low, high, turn);
    ends[0] = low;
    for (int i = 0; i < turns; i++) ends[i + 1] = turn[i];
    ends[turns + 1] = high;
    for (int i = 0; i <= turns; i++) {
        double a = ends[i], b = ends[i + 1];
        const double fa = horner(c, degree, a), fb = horner(c, degree, b);
        if ((fa < 0) == (fb < 0)) continue;
        for (int n = 0; n < 200; n++) {
            const double m = 0.5 * (a + b);
            if (!(m > a && m < b)) break;
            if ((horner(c, degree, m) < 0) == (fa < 0)) a = m;
            else b = m;
        }
        root[count++] = 0.5 * (a + b);
    }
    return count;
}

/* (|p|^2 + R^2 - r^2)^2 = 4 R^2 (x^2 + y^2), along a ray of unit length that begins where it is nearest to the centre. */
static int torus(const tsr_solid *s, tsr_vec3 o, tsr_vec3 d, tsr_span *span)
{
    const double length = tsr_vec3_length(d), big = s->size.x, small = s->size.y, reach = big + small;
    const tsr_vec3 u = tsr_vec3_scale(d, 1 / length);
    const double start = -tsr_vec3_dot(o, u);
    const tsr_vec3 p = place(o, u, start);
    const double k = tsr_vec3_dot(p, p) + big * big - small * small, four = 4 * big * big;
    const double c[5] = { k * k - four * (p.x * p.x + p.y * p.y), -2 * four * (p.x * u.x + p.y * u.y), 2 * k - four * (u.x * u.x + u.y * u.y), 0, 1 };
    double t[4];
    if (tsr_vec3_dot(p, p) > reach * reach) return 0;
    const int count = roots(c, 4, -2 * reach, 2 * reach, t) & ~1;
    for (int i = 0; i < count; i++) {
        tsr_span *to = &span[i / 2];
        const tsr_vec3 q = place(p, u, t[i]);
        const double ring = hypot(q.x, q.y), scale = ring > 0 ? 1 - big / ring : 0;
        to->t[i & 1] = (start + t[i]) / length;
        to->normal[i & 1] = tsr_vec3_unit((tsr_vec3){ q.x * scale, q.y * scale, q.z });
    }
    return count / 2;
}

int tsr_solid_spans(const tsr_solid *s, tsr_vec3 origin, tsr_vec3 d, tsr_span span[2])
{
    const tsr_vec3 o = tsr_vec3_sub(origin, s->centre);
    int count = 0;
    memset(span, 0, 2 * sizeof *span);
    switch (s->kind) {
    case TSR_SOLID_HALF_SPACE: {
        const double along = tsr_vec3_dot(d, s->size), t = -tsr_vec3_dot(o, s->size) / along;
        if (along == 0) break;
        span->t[0] = along < 0 ? t : -(double)INFINITY;
        span->t[1] = along < 0 ? (double)INFINITY : t;
        span->normal[0] = span->normal[1] = tsr_vec3_unit(s->size);
        count = 1;
        break;
    }
    case TSR_SOLID_ELLIPSOID: count = ellipsoid(s, o, d, span); break;
    case TSR_SOLID_BOX: count = box(s, o, d, span); break;
    case TSR_SOLID_CYLINDER: count = cylinder(s, o, d, span); break;
    case TSR_SOLID_TORUS: count = torus(s, o, d, span); break;
    }
    for (int i = 0; i < count; i++) span[i].of[0] = span[i].of[1] = s;
    return count;
}

/* What of the spans lies in [low, high], whose ends belong to `by` (sides: which end of it, -1 = none of its own), added to `to`. */
static void keep(const tsr_span *spans, int count, double low, double high, const tsr_span *at_low, int low_end, const tsr_span *at_high, int high_end,
                 double sign, tsr_span *to, int *kept)
{
    for (int i = 0; i < count && *kept < TSR_SPANS_MOST; i++) {
        tsr_span s = spans[i];
        if (low > s.t[0] && at_low) {
            s.t[0] = low;
            s.normal[0] = tsr_vec3_scale(at_low->normal[low_end], sign);
            s.of[0] = at_low->of[low_end];
        }
        if (high < s.t[1] && at_high) {
            s.t[1] = high;
            s.normal[1] = tsr_vec3_scale(at_high->normal[high_end], sign);
            s.of[1] = at_high->of[high_end];
        }
        if (s.t[0] < s.t[1]) to[(*kept)++] = s;
    }
}

static int combine(tsr_span *spans, int count, const tsr_span *other, int others, tsr_solid_join join)
{
    tsr_span result[TSR_SPANS_MOST];
    int kept = 0;
    if (join == TSR_JOIN_AND) {
        for (int i = 0; i < others; i++) keep(spans, count, other[i].t[0], other[i].t[1], &other[i], 0, &other[i], 1, 1, result, &kept);
    } else {
        double low = -(double)INFINITY;
        for (int i = 0; i <= others; i++) {
            const double high = i < others ? other[i].t[0] : (double)INFINITY;
            keep(spans, count, low, high, i ? &other[i - 1] : NULL, 1, i < others ? &other[i] : NULL, 0, -1, result, &kept);
            if (i < others) low = other[i].t[1];
        }
    }
    memcpy(spans, result, (size_t)kept * sizeof *result);
    return kept;
}

static void nearest(const tsr_span *spans, int count, int room, double t_least, tsr_span *hit)
{
    for (int i = 0; i < count; i++) {
        const double t = spans[i].t[room];
        if (!(t > t_least) || !(t < hit->t[0])) continue;
        hit->t[0] = t;
        hit->normal[0] = room ? tsr_vec3_scale(spans[i].normal[1], -1) : spans[i].normal[0];
        hit->of[0] = spans[i].of[room];
    }
}

int tsr_solids_hit(const tsr_solid *solids, int count, tsr_vec3 origin, tsr_vec3 direction, double t_least, tsr_span *hit)
{
    tsr_span spans[TSR_SPANS_MOST], other[2];
    int had = 0, room = 0;
    *hit = (tsr_span){ .t = { (double)INFINITY, (double)INFINITY } };
    for (int i = 0; i < count; i++) {
        const int found = tsr_solid_spans(&solids[i], origin, direction, other);
        if (solids[i].join == TSR_JOIN_NEW || solids[i].join == TSR_JOIN_ROOM) {
            nearest(spans, had, room, t_least, hit);
            memcpy(spans, other, (size_t)found * sizeof *other);
            had = found;
            room = solids[i].join == TSR_JOIN_ROOM;
        } else {
            had = combine(spans, had, other, found, solids[i].join);
        }
    }
    nearest(spans, had, room, t_least, hit);
    return isfinite(hit->t[0]);
}
