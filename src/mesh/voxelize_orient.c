#include "mesh/voxelize_orient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mix.h"

static void *zeros(size_t count, size_t size) { return calloc(count ? count : 1, size); }

tsr_status tsr_vox_weld(const tsr_vox_grid *g, uint32_t *id)
{
    uint64_t room = 1024;
    while (room < 3 * (uint64_t)g->vertices / 2) room *= 2;
    const uint64_t mask = room - 1;
    uint32_t *slot = (uint32_t *)zeros(room, sizeof *slot);
    if (!slot) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of memory (%llu bytes asked for)", (unsigned long long)(room * sizeof *slot));
    for (int64_t v = 0; v < g->vertices; v++) {
        uint64_t at = tsr_vox_place(g->fixed[v]) & mask;
        while (slot[at] && tsr_vox_compare(g->fixed[slot[at] - 1], g->fixed[v])) at = (at + 1) & mask;
        if (!slot[at]) slot[at] = (uint32_t)v + 1;
        id[v] = slot[at] - 1;
    }
    free(slot);
    return TSR_OK;
}

/* ---- edges -------------------------------------------------------------------------------------------------------------------------- */

struct edge {
    uint64_t key;         /* 0: free */
    uint32_t triangle[2]; /* the first two */
    uint32_t up, down;    /* triangles that run from the smaller to the larger end, and back */
};

struct pieces {
    const tsr_vox_grid *g;
    const uint32_t *id;
    struct edge *edge;
    uint64_t mask;
    uint32_t *parent; /* [triangles] union-find */
    uint8_t *turn;    /* [triangles] against the parent */
    uint8_t *bad;     /* [triangles] of roots: no two sides */
    uint8_t *turned;  /* [triangles] the result */
    int all;          /* pieces that agree within themselves, too */
};

static int corners(const struct pieces *p, int64_t t, uint32_t c[3])
{
    for (int k = 0; k < 3; k++) c[k] = p->id[p->g->corner[3 * t + k]];
    return c[0] != c[1] && c[1] != c[2] && c[2] != c[0];
}

/* ---- triangles that are there more than once ------------------------------------------------------------------------------------------ */

static void in_order(const struct pieces *p, int64_t t, uint32_t c[3])
{
    corners(p, t, c);
    for (int k = 0; k < 3; k++) { /* three exchanges sort three */
        const int a = k == 1 ? 1 : 0, b = a + 1;
        const uint32_t low = c[a] < c[b] ? c[a] : c[b], high = c[a] < c[b] ? c[b] : c[a];
        c[a] = low;
        c[b] = high;
    }
}

/* Marks all but the first of those with the same three corners; returns how many. */
static tsr_status mark_twins(struct pieces *p, int64_t *count)
{
    const int64_t n = p->g->triangles;
    uint64_t mask = 1023;
    while (mask < 3 * (uint64_t)n / 2) mask = 2 * mask + 1;
    uint32_t *slot = (uint32_t *)zeros(mask + 1, sizeof *slot);
    *count = 0;
    if (!slot) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of memory for %lld triangles", (long long)n);
    for (int64_t t = 0; t < n; t++) {
        uint32_t own[3], other[3];
        in_order(p, t, own);
        uint64_t at = tsr_mix64(tsr_mix64((uint64_t)own[0] << 32 | own[1]) ^ own[2]) & mask;
        for (; slot[at]; at = (at + 1) & mask) {
            in_order(p, (int64_t)slot[at] - 1, other);
            if (!memcmp(own, other, sizeof own)) break;
        }
        if (slot[at]) {
            p->turned[t] = TSR_VOX_TWIN;
            ++*count;
        } else {
            slot[at] = (uint32_t)t + 1;
        }
    }
    free(slot);
    return TSR_OK;
}

/* ---- counts ----------------------------------------------------------------------------------------------------------------------------- */

static void enter_edge(struct pieces *p, uint32_t t, uint32_t a, uint32_t b)
{
    const uint64_t key = (a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a) + 1;
    uint64_t at = tsr_mix64(key) & p->mask;
    while (p->edge[at].key && p->edge[at].key != key) at = (at + 1) & p->mask;
    struct edge *e = &p->edge[at];
    e->key = key;
    if (e->up + e->down < 2) e->triangle[e->up + e->down] = t;
    if (a < b) e->up++;
    else e->down++;
}

/* Of all triangles, or all but the twins. */
static void count_edges(struct pieces *p, int twins, tsr_vox_edges *edges)
{
    memset(edges, 0, sizeof *edges);
    memset(p->edge, 0, (p->mask + 1) * sizeof *p->edge);
    for (int64_t t = 0; t < p->g->triangles; t++) {
        uint32_t c[3];
        if (!corners(p, t, c) || (!twins && p->turned[t] == TSR_VOX_TWIN)) continue;
        for (int k = 0; k < 3; k++) enter_edge(p, (uint32_t)t, c[k], c[(k + 1) % 3]);
    }
    for (uint64_t at = 0; at <= p->mask; at++) {
        const struct edge *e = &p->edge[at];
        const uint32_t n = e->up + e->down;
        edges->boundary += n == 1;
        edges->nonmanifold += n > 2;
        edges->misoriented += n == 2 && e->up != 1;
        edges->odd += n & 1u;
    }
}

/* The root of a triangle; *turn: does it face the other side? */
static uint32_t root_of(struct pieces *p, uint32_t t, uint8_t *turn)
{
    uint32_t root = t;
    uint8_t own = 0, passed = 0;
    while (p->parent[root] != root) {
        own ^= p->turn[root];
        root = p->parent[root];
    }
    while (p->parent[t] != root && t != root) { /* straight to the root from now on */
        const uint32_t next = p->parent[t];
        const uint8_t step = p->turn[t];
        p->parent[t] = root;
        p->turn[t] = own ^ passed;
        passed ^= step;
        t = next;
    }
    *turn = own;
    return root;
}

static void join(struct pieces *p)
{
    for (int64_t t = 0; t < p->g->triangles; t++) p->parent[t] = (uint32_t)t;
    for (uint64_t at = 0; at <= p->mask; at++) {
        const struct edge *e = &p->edge[at];
        uint8_t x, y;
        if (e->up + e->down != 2 || e->triangle[0] == e->triangle[1]) continue;
        const uint32_t a = root_of(p, e->triangle[0], &x), b = root_of(p, e->triangle[1], &y), low = a < b ? a : b, high = a < b ? b : a;
        const uint8_t against = (uint8_t)(x ^ y ^ (e->up != 1));
        if (a == b) {
            p->bad[a] |= against;
            continue;
        }
        p->parent[high] = low;
        p->turn[high] = against;
        p->bad[low] |= p->bad[high];
    }
}

/* ---- which side of a piece is out --------------------------------------------------------------------------------------------------------- */

/* A piece to be repaired, its triangles behind one another in `member`. */
struct piece {
    int64_t first, count;
    uint32_t root;
    int open, turn_all;
    double area[2]; /* of triangles that agree with the root, and of the others */
};

static void place_of(const tsr_vox_grid *g, uint32_t vertex, double p[3])
{
    for (int k = 0; k < 3; k++) p[k] = (double)g->fixed[vertex][k] * g->spacing[k];
}

static void span(const struct pieces *p, uint32_t t, double a[3], double b[3], double c[3], double normal[3])
{
    const uint32_t *corner = p->g->corner + 3 * (int64_t)t;
    double u[3], v[3];
    place_of(p->g, corner[0], a);
    place_of(p->g, corner[1], b);
    place_of(p->g, corner[2], c);
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
    }
    for (int k = 0; k < 3; k++) normal[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
}

/* Six times the volume under the piece, as seen from its first corner, as its root faces. */
static double volume_of(struct pieces *p, const struct piece *piece, const uint32_t *member)
{
    double origin[3], a[3], b[3], c[3], n[3], sum = 0;
    place_of(p->g, p->g->corner[3 * (int64_t)member[piece->first]], origin);
    for (int64_t i = 0; i < piece->count; i++) {
        uint8_t turn;
        const uint32_t t = member[piece->first + i];
        root_of(p, t, &turn);
        span(p, t, a, b, c, n);
        const double own = (a[0] - origin[0]) * n[0] + (a[1] - origin[1]) * n[1] + (a[2] - origin[2]) * n[2];
        sum += turn ? -own : own;
    }
    return sum;
}

/* Is the first corner of triangle `which` of the piece inside an odd number of the others? Crossings of the row from there towards -x. */
static int nested(struct pieces *p, const struct piece *piece, const uint32_t *member, int64_t which)
{
    const tsr_vox_grid *g = p->g;
    const int32_t *at = g->fixed[g->corner[3 * (int64_t)member[piece->first + which]]];
    int odd = 0;
    for (int64_t t = 0; t < g->triangles; t++) {
        const uint32_t *corner = g->corner + 3 * t;
        const int32_t *a = g->fixed[corner[0]], *b = g->fixed[corner[1]], *c = g->fixed[corner[2]];
        int64_t ea, eb, ec;
        uint8_t turn;
        if (p->turned[t] == TSR_VOX_TWIN || tsr_mini(a[0], tsr_mini(b[0], c[0])) > at[0]) continue;
        if (!tsr_vox_crosses(a, b, c, at[1], at[2], &ea, &eb, &ec) || root_of(p, (uint32_t)t, &turn) == piece->root) continue;
        const double area = ((double)ea + (double)eb) + (double)ec;
        odd ^= (((double)ea * a[0] + (double)eb * b[0]) + (double)ec * c[0]) / area <= at[0];
    }
    return odd;
}

/* The pieces whose triangles could agree and do not. */
static tsr_status find_pieces(struct pieces *p, struct piece **found, int64_t *count, uint32_t **member)
{
    const int64_t n = p->g->triangles;
    int64_t *place = (int64_t *)zeros((size_t)n, sizeof *place), at = 0; /* of roots: number of the piece, from 1 */
    *member = (uint32_t *)zeros((size_t)n, sizeof **member);
    *found = NULL;
    *count = 0;
    if (!place || !*member) {
        free(place);
        TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of memory for the pieces of %lld triangles", (long long)n);
    }
    for (int64_t t = 0; t < n; t++) {
        uint8_t turn;
        const uint32_t root = root_of(p, (uint32_t)t, &turn);
        if ((turn || p->all) && !p->bad[root] && !place[root]) place[root] = ++*count;
    }
    *found = (struct piece *)zeros((size_t)*count, sizeof **found);
    if (!*found) {
        free(place);
        TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of memory for %lld pieces", (long long)*count);
    }
    for (int64_t t = 0; t < n; t++) {
        uint8_t turn;
        const uint32_t root = root_of(p, (uint32_t)t, &turn);
        if (!place[root]) continue;
        struct piece *own = &(*found)[place[root] - 1];
        own->root = root;
        own->count++;
    }
    for (int64_t i = 0; i < *count; at += (*found)[i++].count) (*found)[i].first = at;
    for (int64_t i = 0; i < *count; i++) (*found)[i].count = 0;
    for (int64_t t = 0; t < n; t++) {
        uint8_t turn;
        double a[3], b[3], c[3], normal[3];
        const uint32_t root = root_of(p, (uint32_t)t, &turn);
        if (!place[root]) continue;
        struct piece *own = &(*found)[place[root] - 1];
        (*member)[own->first + own->count++] = (uint32_t)t;
        span(p, (uint32_t)t, a, b, c, normal);
        own->area[turn] += sqrt(tsr_vox_dot(normal, normal));
    }
    free(place);
    return TSR_OK;
}

/* Looks for pieces within pieces end after so many triangles: what is left counts as not within others. */
#define MOST_LOOKS ((int64_t)1 << 33)

static void repair(struct pieces *p, struct piece *piece, const uint32_t *member, int64_t *looks, int64_t *count)
{
    const double all = piece->area[0] + piece->area[1];
    int turn_all = piece->area[1] > piece->area[0];
    if (piece->area[turn_all] < all * (2.0 / 3.0)) {
        turn_all = (volume_of(p, piece, member) < 0) != (p->g->mirrored != 0);
        if ((*looks += p->g->triangles) < MOST_LOOKS && nested(p, piece, member, 0)) turn_all = !turn_all;
    }
    for (int64_t i = 0; i < piece->count; i++) {
        uint8_t turn;
        const uint32_t t = member[piece->first + i];
        root_of(p, t, &turn);
        p->turned[t] = (uint8_t)(turn != turn_all);
        *count += p->turned[t];
    }
}

/* Pieces with edges of other numbers than two triangles have no side of their own. */
static void leave_open(struct pieces *p)
{
    for (int64_t t = 0; t < p->g->triangles; t++) {
        uint32_t c[3];
        uint8_t turn;
        if (!corners(p, t, c)) continue;
        for (int k = 0; k < 3; k++) {
            const uint32_t a = c[k], b = c[(k + 1) % 3];
            const uint64_t key = (a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a) + 1;
            uint64_t at = tsr_mix64(key) & p->mask;
            while (p->edge[at].key != key) at = (at + 1) & p->mask;
            if (p->edge[at].up + p->edge[at].down != 2) p->bad[root_of(p, (uint32_t)t, &turn)] = 1;
        }
    }
}

/* A closed piece that faces inwards is a cavity if it lies within an odd number of others: places all over it are asked. Else it is a body inside out. */
static void face_outwards(struct pieces *p, const struct piece *piece, const uint32_t *member, int64_t *looks, int64_t *count)
{
    enum { PLACES = 9 };
    int cavity = 1;
    if ((volume_of(p, piece, member) < 0) == (p->g->mirrored != 0)) return;
    for (int64_t k = 0; k < PLACES && cavity && *looks < MOST_LOOKS; k++) {
        *looks += p->g->triangles;
        cavity = nested(p, piece, member, k * (piece->count - 1) / (PLACES - 1));
    }
    if (cavity) return;
    for (int64_t i = 0; i < piece->count; i++) p->turned[member[piece->first + i]] = 1;
    *count += piece->count;
}

static tsr_status turn_pieces(struct pieces *p, int64_t *count)
{
    struct piece *found = NULL;
    uint32_t *member = NULL;
    int64_t pieces = 0, looks = 0;
    const size_t n = (size_t)p->g->triangles;
    tsr_status status = TSR_OK;
    p->parent = (uint32_t *)zeros(n, sizeof *p->parent);
    p->turn = (uint8_t *)zeros(n, 1);
    p->bad = (uint8_t *)zeros(n, 1);
    if (!p->parent || !p->turn || !p->bad)
        status = TSR_FAILED(TSR_ERROR_MEMORY, "mesh: out of memory for the pieces of %lld triangles", (long long)p->g->triangles);
    if (status == TSR_OK) {
        join(p);
        if (p->all) leave_open(p);
        status = find_pieces(p, &found, &pieces, &member);
    }
    for (int64_t i = 0; i < pieces && status == TSR_OK; i++)
        if (p->all) face_outwards(p, &found[i], member, &looks, count);
        else repair(p, &found[i], member, &looks, count);
    free(found);
    free(member);
    free(p->parent);
    free(p->turn);
    free(p->bad);
    return status;
}

tsr_status tsr_vox_orient(const tsr_vox_grid *g, const uint32_t *id, int all, tsr_vox_edges *edges, uint8_t *turned, int64_t *count)
{
    struct pieces p = { .g = g, .id = id, .mask = 1023, .turned = turned, .all = all };
    int64_t twins = 0;
    memset(turned, 0, (size_t)g->triangles);
    *count = 0;
    if (!all) TSR_TRY(mark_twins(&p, &twins));
    while (p.mask < 3 * (uint64_t)g->triangles + (uint64_t)g->triangles / 2) p.mask = 2 * p.mask + 1;
    p.edge = (struct edge *)malloc((p.mask + 1) * sizeof *p.edge);
    if (!p.edge) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of memory for the edges of %lld triangles", (long long)g->triangles);
    count_edges(&p, 1, edges);
    if (twins) {
        tsr_vox_edges own;
        count_edges(&p, 0, &own);
        edges->odd = own.odd;
    }
    tsr_status status = turn_pieces(&p, count);
    free(p.edge);
    return status;
}
