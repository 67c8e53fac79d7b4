/* formats/meshes/polygons.c: polygons become triangles by cutting ears off (G. H. Meisters, "Polygons have ears", 1975), in the plane they lie in most nearly.
 *
 * The triangles of any such cutting, each with the sign of its turn, cover every point as often as the polygon winds round it. So a cutting without a
 * triangle that turns the wrong way is right, whichever it is: the fan round the first corner stays where it has none, as in all convex polygons. Whether
 * another corner lies in an ear decides only how well the rest goes on. Corners that are not convex lie in a tree of boxes, which keeps the search
 * for them near O(log n); what is spent on it has a bound. */
#include <math.h>
#include <string.h>

#include "formats/mesh_files.h"

enum { LEAF = 8, CHECKED = 512, VISITS = 1024 };

struct box {
    double low[2], high[2];
    int32_t active; /* corners in it that still count */
};

struct polygon {
    int32_t n, left;
    double (*p)[2];
    int32_t *before, *after; /* corners of what is left */
    int32_t *queue;          /* [n] ring of corners to look at; its bit 31 is not used */
    uint8_t *queued, *inner; /* inner: not convex, in the tree */
    int32_t *order;          /* [inner corners] as the leaves hold them */
    int32_t *leaf;           /* of a corner */
    struct box *box;         /* heap: children of k are 2 k and 2 k + 1 */
    int32_t inner_count, leaves;
    int64_t visits; /* left to spend */
    uint32_t *to;   /* local corners of the next triangle */
};

/* ---- the plane ------------------------------------------------------------------------------------------------------------------------------ */

/* > 0: a, b, c turn to the left. The sign is that of the exact determinant of the differences (Kahan; Jeannerod et al. 2013). */
static double turn(const double a[2], const double b[2], const double c[2])
{
    const double ux = b[0] - a[0], uy = b[1] - a[1], vx = c[0] - a[0], vy = c[1] - a[1], left = ux * vy, right = uy * vx, det = left - right;
    if (fabs(det) > 1e-15 * (fabs(left) + fabs(right))) return det;
    return fma(ux, vy, -right) - fma(uy, vx, -right);
}

/* Twice the area as a vector (Newell), about the first corner. 0 if it has no length. */
static int normal_of(const tsr_mesh *mesh, const uint32_t *corners, int32_t n, double normal[3])
{
    const float *o = mesh->vertices + 3 * (int64_t)corners[0];
    double u[3] = { 0, 0, 0 };
    memset(normal, 0, 3 * sizeof *normal);
    for (int32_t i = 1; i < n; i++) {
        const float *p = mesh->vertices + 3 * (int64_t)corners[i];
        const double v[3] = { (double)p[0] - (double)o[0], (double)p[1] - (double)o[1], (double)p[2] - (double)o[2] };
        for (int k = 0; k < 3; k++) normal[k] += u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        memcpy(u, v, sizeof u);
    }
    return normal[0] != 0 || normal[1] != 0 || normal[2] != 0;
}

/* Along the axis that is nearest to the normal, which keeps the coordinates as they are; or, where that is not enough, along the normal itself. */
static void project(const tsr_mesh *mesh, const uint32_t *corners, int32_t n, const double normal[3], int oblique, double (*to)[2])
{
    int k = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(normal[i]) > fabs(normal[k])) k = i;
    int a = (k + 1) % 3, b = (k + 2) % 3;
    if (normal[k] < 0) {
        const int other = a;
        a = b;
        b = other;
    }
    const float *o = mesh->vertices + 3 * (int64_t)corners[0];
    for (int32_t i = 0; i < n; i++) {
        const float *p = mesh->vertices + 3 * (int64_t)corners[i];
        const double d = oblique ? ((double)p[k] - (double)o[k]) / normal[k] : 0; /* along the normal down to the plane of a and b */
        to[i][0] = (double)p[a] - d * normal[a];
        to[i][1] = (double)p[b] - d * normal[b];
    }
}

static int fan_covers(const double (*p)[2], int32_t n)
{
    for (int32_t i = 1; i + 1 < n; i++)
        if (!(turn(p[0], p[i], p[i + 1]) > 0)) return 0;
    return 1;
}

/* Do the edges a b and c d cross, each in its inside? */
static int edges_cross(const double a[2], const double b[2], const double c[2], const double d[2])
{
    const double s = turn(a, b, c), t = turn(a, b, d), u = turn(c, d, a), v = turn(c, d, b);
    return ((s > 0 && t < 0) || (s < 0 && t > 0)) && ((u > 0 && v < 0) || (u < 0 && v > 0));
}
static int crosses_itself(const double (*p)[2], int32_t n)
{
    if (n > CHECKED) return 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = i + 2; j < n; j++)
            if ((j + 1 < n || i > 0) && edges_cross(p[i], p[i + 1], p[j], p[j + 1 < n ? j + 1 : 0])) return 1;
    return 0;
}

/* ---- the tree of the corners that are not convex ---------------------------------------------------------------------------------------------- */

/* Corners [low, high) of `order` so that those before `middle` are not greater along the axis. */
static void part(const struct polygon *g, int32_t low, int32_t high, int32_t middle, int axis)
{
    while (high - low > 1) {
        const double pivot = g->p[g->order[low + (high - low) / 2]][axis];
        int32_t less = low, at = low, more = high;
        while (at < more) {
            const int32_t v = g->order[at];
            const double x = g->p[v][axis];
            const int32_t other = x < pivot ? less++ : x > pivot ? --more : at;
            g->order[at] = g->order[other];
            g->order[other] = v;
            if (!(x > pivot)) at++;
        }
        if (middle < less) high = less;
        else if (middle >= more) low = more;
        else return;
    }
}

static void build(const struct polygon *g, int32_t node, int32_t low, int32_t high)
{
    struct box *b = &g->box[node];
    *b = (struct box){ { INFINITY, INFINITY }, { -INFINITY, -INFINITY }, high - low };
    for (int32_t i = low; i < high; i++)
        for (int k = 0; k < 2; k++) {
            b->low[k] = fmin(b->low[k], g->p[g->order[i]][k]);
            b->high[k] = fmax(b->high[k], g->p[g->order[i]][k]);
        }
    if (node >= g->leaves) {
        for (int32_t i = low; i < high; i++) g->leaf[g->order[i]] = node;
        return;
    }
    const int32_t middle = low + (high - low) / 2;
    part(g, low, high, middle, b->high[1] - b->low[1] > b->high[0] - b->low[0]);
    build(g, 2 * node, low, middle);
    build(g, 2 * node + 1, middle, high);
}

static void drop_inner(struct polygon *g, int32_t v)
{
    if (!g->inner[v]) return;
    g->inner[v] = 0;
    for (int32_t node = g->leaf[v]; node > 0; node >>= 1) g->box[node].active--;
}

/* Is all of the box on the right of a b? */
static int box_beyond(const struct box *b, const double p[2], const double q[2])
{
    const double corner[2] = { q[1] < p[1] ? b->high[0] : b->low[0], q[0] > p[0] ? b->high[1] : b->low[1] }; /* the one most to the left */
    return turn(p, q, corner) < 0;
}

static int same(const double a[2], const double b[2]) { return a[0] == b[0] && a[1] == b[1]; }

/* Does the ear at b, with the neighbours a and c, hold a corner that is not convex? `strict`: within, not on its border. */
static int occupied(struct polygon *g, int32_t node, int32_t low, int32_t high, const double *a, const double *b, const double *c, int strict)
{
    const struct box *box = &g->box[node];
    if (--g->visits < 0) return 1;
    if (box->active == 0 || box_beyond(box, a, b) || box_beyond(box, b, c) || box_beyond(box, c, a)) return 0;
    for (int k = 0; k < 2; k++)
        if (fmax(a[k], fmax(b[k], c[k])) < box->low[k] || fmin(a[k], fmin(b[k], c[k])) > box->high[k]) return 0;
    if (node < g->leaves) {
        const int32_t middle = low + (high - low) / 2;
        return occupied(g, 2 * node, low, middle, a, b, c, strict) || occupied(g, 2 * node + 1, middle, high, a, b, c, strict);
    }
    for (int32_t i = low; i < high; i++) {
        const double *p = g->p[g->order[i]];
        if (!g->inner[g->order[i]] || same(p, a) || same(p, b) || same(p, c)) continue;
        const double r = turn(a, b, p), s = turn(b, c, p), t = turn(c, a, p);
        if (strict ? r > 0 && s > 0 && t > 0 : r >= 0 && s >= 0 && t >= 0) return 1;
    }
    return 0;
}

/* ---- cutting ---------------------------------------------------------------------------------------------------------------------------------- */

static double turn_at(const struct polygon *g, int32_t v) { return turn(g->p[g->before[v]], g->p[v], g->p[g->after[v]]); }

static void cut(struct polygon *g, int32_t v)
{
    const int32_t a = g->before[v], c = g->after[v];
    *g->to++ = (uint32_t)a;
    *g->to++ = (uint32_t)v;
    *g->to++ = (uint32_t)c;
    g->after[a] = c;
    g->before[c] = a;
    g->after[v] = -1;
    g->left--;
    drop_inner(g, v);
    if (turn_at(g, a) > 0) drop_inner(g, a);
    if (turn_at(g, c) > 0) drop_inner(g, c);
}

/* How an ear may be: free; free but for corners on its border; without area. */
enum { FREE, TOUCHED, FLAT, WAYS };
static int may_cut(struct polygon *g, int32_t v, int way)
{
    const double t = turn_at(g, v);
    if (way == FLAT) return t == 0;
    return t > 0 && !occupied(g, 1, 0, g->inner_count, g->p[g->before[v]], g->p[v], g->p[g->after[v]], way == TOUCHED);
}

/* Cuts one ear in a way that is not FREE, from `from` on. */
static int cut_one(struct polygon *g, int32_t from, int32_t *next)
{
    for (int way = TOUCHED; way < WAYS; way++) {
        int32_t v = from;
        for (int32_t i = 0; i < g->left && g->visits-- > 0; i++, v = g->after[v]) {
            if (!may_cut(g, v, way)) continue;
            *next = g->after[v];
            cut(g, v);
            return 1;
        }
    }
    return 0;
}

/* 1 if all of the polygon was cut into triangles that do not turn the wrong way. Ears are taken in turns round the polygon: taken one beside the other they would be
 * thin. */
static int cut_all(struct polygon *g)
{
    int32_t head = 0, waiting = g->n, some = 0;
    for (int32_t i = 0; i < g->n; i++) {
        g->before[i] = i ? i - 1 : g->n - 1;
        g->after[i] = i + 1 < g->n ? i + 1 : 0;
        g->queue[i] = i;
        g->queued[i] = 1;
    }
    g->left = g->n;
    g->inner_count = 0;
    for (int32_t i = 0; i < g->n; i++) {
        g->inner[i] = !(turn_at(g, i) > 0);
        if (g->inner[i]) g->order[g->inner_count++] = i;
    }
    for (g->leaves = 1; g->leaves * LEAF < g->inner_count; g->leaves *= 2) {}
    build(g, 1, 0, g->inner_count);
    while (g->left > 2) {
        if (g->visits <= 0) return 0;
        if (waiting == 0) {
            while (g->after[some] < 0) some++;
            int32_t next = some;
            if (!cut_one(g, some, &next)) return 0;
            const int32_t ends[2] = { next, g->before[next] };
            for (int k = 0; k < 2; k++) {
                g->queue[(head + waiting++) % g->n] = ends[k];
                g->queued[ends[k]] = 1;
            }
            continue;
        }
        const int32_t v = g->queue[head];
        head = head + 1 < g->n ? head + 1 : 0;
        waiting--;
        g->queued[v] = 0;
        if (g->after[v] < 0 || !may_cut(g, v, FREE)) continue;
        const int32_t ends[2] = { g->before[v], g->after[v] };
        cut(g, v);
        for (int k = 0; k < 2; k++) {
            if (g->queued[ends[k]]) continue;
            g->queue[(head + waiting++) % g->n] = ends[k];
            g->queued[ends[k]] = 1;
        }
    }
    return 1;
}

/* Room for a polygon of n corners in one piece of memory. */
static size_t room_of(int32_t n)
{
    const size_t m = (size_t)n, boxes = 4 * (m / LEAF + 2);
    return m * 2 * sizeof(double) + boxes * sizeof(struct box) + m * (5 + 1 + 3) * sizeof(int32_t) + 2 * m + 64;
}
static void lay_out(struct polygon *g, void *memory, int32_t n, uint32_t **cuts, uint32_t **corners)
{
    const size_t m = (size_t)n;
    *g = (struct polygon){ .n = n, .p = (double(*)[2])memory };
    g->box = (struct box *)(void *)(g->p + m);
    g->before = (int32_t *)(void *)(g->box + 4 * (m / LEAF + 2));
    g->after = g->before + m;
    g->queue = g->after + m;
    g->order = g->queue + m;
    g->leaf = g->order + m;
    *corners = (uint32_t *)(void *)(g->leaf + m);
    *cuts = *corners + m;
    g->queued = (uint8_t *)(*cuts + 3 * m);
    g->inner = g->queued + m;
}

/* The polygon whose fan lies at `triangles`, of n corners. Returns 0 if it is none: it crosses itself or has no area; then the fan stays. */
static int cut_polygon(const tsr_mesh *mesh, uint32_t *triangles, int32_t n, void *memory)
{
    struct polygon g;
    uint32_t *cuts, *corners;
    double normal[3];
    lay_out(&g, memory, n, &cuts, &corners);
    corners[0] = triangles[0];
    for (int32_t i = 1; i < n; i++) corners[i] = i == 1 ? triangles[1] : triangles[3 * (int64_t)(i - 2) + 2];
    if (!normal_of(mesh, corners, n, normal)) return 0;
    for (int oblique = 0; oblique < 2; oblique++) {
        project(mesh, corners, n, normal, oblique, g.p);
        if (fan_covers((const double(*)[2])g.p, n)) return 1;
        if (crosses_itself((const double(*)[2])g.p, n)) continue;
        g.to = cuts;
        g.visits = (int64_t)VISITS * n;
        if (!cut_all(&g)) continue;
        for (int64_t i = 0; i < 3 * ((int64_t)n - 2); i++) triangles[i] = corners[cuts[i]];
        return 1;
    }
    return 0;
}

/* ---- all polygons of a mesh ------------------------------------------------------------------------------------------------------------------- */

static size_t bits_of(const tsr_mesh *mesh) { return (size_t)(mesh->triangle_count / 8 + 1); }

tsr_status tsr_fan_open(const tsr_input *input, tsr_mesh *mesh, tsr_fan *fan)
{
    *fan = (tsr_fan){ .next = mesh->triangles, .triangles = mesh->triangles };
    TSR_TRY(tsr_scratch_for_input(input, (int64_t)bits_of(mesh), 1, "polygons", (void **)&fan->joined));
    memset(fan->joined, 0, bits_of(mesh));
    return TSR_OK;
}

static tsr_status cut_mesh(const tsr_input *input, tsr_mesh *mesh, const tsr_fan *fan, const tsr_progress *progress)
{
    void *memory = NULL;
    int32_t room = 0;
    int64_t polygons = 0;
    tsr_status status = TSR_OK;
    for (int64_t t = 0, end; t < mesh->triangle_count && status == TSR_OK; t = end) {
        for (end = t + 1; end < mesh->triangle_count && fan->joined[end >> 3] >> (end & 7) & 1; end++) {}
        if (end - t == 1) continue;
        if (end - t > 1 << 28) {
            status = TSR_FAILED(TSR_ERROR_UNSUPPORTED, "%s: a face of %lld corners, expected at most %d", tsr_input_name(input),
                                (long long)(end - t + 2), 1 << 28);
            break;
        }
        const int32_t n = (int32_t)(end - t) + 2;
        if (n > room) {
            tsr_host_release(NULL, memory, room_of(room));
            memory = NULL;
            room = n < 64 ? 64 : n + n / 4;
            status = tsr_scratch_for_input(input, (int64_t)room_of(room), 1, "polygons", &memory);
        }
        if (status == TSR_OK && !cut_polygon(mesh, mesh->triangles + 3 * t, n, memory)) mesh->odd_faces++;
        if ((polygons++ & 0xfff) == 0xfff && tsr_progress_report(progress, (double)end / (double)mesh->triangle_count, "cutting polygons"))
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during cutting polygons");
    }
    tsr_host_release(NULL, memory, room_of(room));
    return status;
}

tsr_status tsr_fan_close(const tsr_input *input, tsr_mesh *mesh, tsr_fan *fan, const tsr_progress *progress, tsr_status status)
{
    if (status == TSR_OK && !tsr_input_settings(input)->keep_fans) status = cut_mesh(input, mesh, fan, progress);
    tsr_host_release(NULL, fan->joined, fan->joined ? bits_of(mesh) : 0);
    fan->joined = NULL;
    return status;
}

int64_t tsr_fan_cells_triangles(const tsr_fan_cells *c)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < c->count; k++) sum += tsr_fan_triangles(c->offset[k] - (k ? c->offset[k - 1] : 0));
    return sum;
}

void tsr_fan_put_cells(tsr_fan *fan, const tsr_fan_cells *c, int strips, int64_t first)
{
    for (int64_t k = 0, at = 0; k < c->count; at = c->offset[k++]) {
        const int64_t n = c->offset[k] - at;
        if (!strips && n >= 3) {
            tsr_fan_begin(fan);
            for (int64_t i = 0; i < n; i++) tsr_fan_corner(fan, (uint32_t)(first + c->corner[at + i]));
        }
        for (int64_t i = 0; strips && i + 2 < n; i++) { /* every other triangle runs the other way */
            tsr_fan_begin(fan);
            tsr_fan_corner(fan, (uint32_t)(first + c->corner[at + i + (i & 1)]));
            tsr_fan_corner(fan, (uint32_t)(first + c->corner[at + i + !(i & 1)]));
            tsr_fan_corner(fan, (uint32_t)(first + c->corner[at + i + 2]));
        }
    }
}
