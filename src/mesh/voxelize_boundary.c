#include "mesh/voxelize_boundary.h"

#include <stdlib.h>
#include <string.h>

#include "tessera/mapping.h"

struct table { /* open addressing, a power of two */
    uint64_t *key;
    int32_t *count;
    uint64_t mask;
};

static void *zeros(size_t count, size_t size) { return calloc(count ? count : 1, size); }

static uint64_t room_for(int64_t entries)
{
    uint64_t room = 1024;
    while (room < 3 * (uint64_t)entries / 2) room *= 2;
    return room;
}

static uint64_t find_edge(const struct table *t, uint32_t a, uint32_t b)
{
    uint64_t key = (a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a) + 1, at = tsr_mix64(key) & t->mask;
    while (t->key[at] && t->key[at] != key) at = (at + 1) & t->mask;
    t->key[at] = key;
    return at;
}

/* ---- which edges are the boundary ---------------------------------------------------------------------------------------------------- */

struct ends {
    uint32_t a, b;
};

/* Net number of triangles along every edge; then the surplus ones, in the order of the triangles. */
static tsr_status surplus(const tsr_vox_grid *g, const uint32_t *id, struct ends **edges, int64_t *count)
{
    struct table t = { .mask = room_for(3 * g->triangles) - 1 };
    int64_t n = 0;
    t.key = (uint64_t *)zeros(t.mask + 1, sizeof *t.key);
    t.count = (int32_t *)zeros(t.mask + 1, sizeof *t.count);
    tsr_status status =
        t.key && t.count ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "mesh: out of memory for the edges of %lld triangles", (long long)g->triangles);
    for (int64_t i = 0; i < 3 * g->triangles && status == TSR_OK; i++) {
        uint32_t a = id[g->faced[i]], b = id[g->faced[i % 3 == 2 ? i - 2 : i + 1]];
        if (a != b) t.count[find_edge(&t, a, b)] += a < b ? 1 : -1;
    }
    for (uint64_t at = 0; at <= t.mask && status == TSR_OK; at++) n += t.count[at] < 0 ? -(int64_t)t.count[at] : t.count[at];
    *edges = status == TSR_OK ? (struct ends *)zeros((size_t)n, sizeof **edges) : NULL;
    *count = 0;
    if (status == TSR_OK && !*edges) status = TSR_FAILED(TSR_ERROR_MEMORY, "mesh: out of memory for %lld boundary edges", (long long)n);
    for (int64_t i = 0; i < 3 * g->triangles && status == TSR_OK && *count < n; i++) {
        uint32_t a = id[g->faced[i]], b = id[g->faced[i % 3 == 2 ? i - 2 : i + 1]];
        if (a == b) continue;
        int32_t *left = &t.count[find_edge(&t, a, b)], one = a < b ? 1 : -1;
        if (*left == 0 || (*left > 0) != (one > 0)) continue;
        *left -= one;
        (*edges)[(*count)++] = (struct ends){ a, b };
    }
    free(t.key);
    free(t.count);
    return status;
}

/* ---- closed curves -------------------------------------------------------------------------------------------------------------------- */

struct curve {
    uint64_t key;
    int64_t first, count;
};
static int curve_order(const void *a, const void *b)
{
    const struct curve *x = (const struct curve *)a, *y = (const struct curve *)b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

struct walk {
    struct ends *edges; /* as found */
    int64_t count;
    int64_t *out, *next; /* edges by their start: out[v] .. out[v + 1), next[v] the first unused */
    int64_t *by_start;
    uint8_t *used;
    int64_t *order; /* edges in walking order */
    struct curve *curves;
    int64_t curve_count;
};

/* As many edges enter a place as leave it, so a walk can only end where it began. */
static void walk_all(const tsr_vox_grid *g, struct walk *w)
{
    int64_t walked = 0;
    for (int64_t e = 0; e < w->count; e++) w->out[w->edges[e].a + 1]++;
    for (int64_t v = 0; v < g->vertices; v++) w->out[v + 1] += w->out[v];
    memcpy(w->next, w->out, (size_t)g->vertices * sizeof *w->next);
    for (int64_t e = 0; e < w->count; e++) w->by_start[w->next[w->edges[e].a]++] = e;
    memcpy(w->next, w->out, (size_t)g->vertices * sizeof *w->next);
    for (int64_t e = 0; e < w->count; e++) {
        if (w->used[e]) continue;
        const int32_t *p = g->fixed[w->edges[e].a];
        struct curve *c = &w->curves[w->curve_count++];
        c->first = walked;
        c->key = tsr_morton3((uint32_t)p[0] >> 9, (uint32_t)p[1] >> 9, (uint32_t)p[2] >> 9);
        int64_t at = e;
        do {
            w->used[at] = 1;
            w->order[walked++] = at;
            uint32_t v = w->edges[at].b;
            while (w->next[v] < w->out[v + 1] && w->used[w->by_start[w->next[v]]]) w->next[v]++;
            at = w->next[v] < w->out[v + 1] ? w->by_start[w->next[v]] : -1;
        } while (at >= 0 && w->edges[at].a != w->edges[e].a);
        c->count = walked - c->first;
    }
    qsort(w->curves, (size_t)w->curve_count, sizeof *w->curves, curve_order);
}

static void set_edge(const int32_t a[3], const int32_t b[3], tsr_vox_edge *e)
{
    memcpy(e->fixed[0], a, sizeof e->fixed[0]);
    memcpy(e->fixed[1], b, sizeof e->fixed[1]);
}
/* In voxels from base. */
static double point(const tsr_vox_grid *g, const tsr_vox_edge *e, int end, int axis) { return ldexp((double)e->fixed[end][axis], -g->fraction); }

static tsr_status curves(const tsr_vox_grid *g, struct ends *edges, int64_t count, tsr_vox_boundary *b)
{
    struct walk w = { .edges = edges, .count = count };
    size_t n = (size_t)count, vertices = (size_t)g->vertices;
    w.out = (int64_t *)zeros(vertices + 1, sizeof *w.out);
    w.next = (int64_t *)zeros(vertices + 1, sizeof *w.next);
    w.by_start = (int64_t *)zeros(n, sizeof *w.by_start);
    w.used = (uint8_t *)zeros(n, 1);
    w.order = (int64_t *)zeros(n, sizeof *w.order);
    w.curves = (struct curve *)zeros(n, sizeof *w.curves);
    b->edge = (tsr_vox_edge *)zeros(n, sizeof *b->edge);
    b->loop = (int64_t *)zeros(n + 1, sizeof *b->loop);
    tsr_status status = TSR_OK;
    if (!w.out || !w.next || !w.by_start || !w.used || !w.order || !w.curves || !b->edge || !b->loop)
        status = TSR_FAILED(TSR_ERROR_MEMORY, "mesh: out of memory for %lld boundary edges", (long long)count);
    if (status == TSR_OK) {
        walk_all(g, &w);
        for (int64_t c = 0; c < w.curve_count; c++) {
            b->loop[c] = b->edges;
            for (int64_t i = 0; i < w.curves[c].count; i++) {
                const struct ends *e = &edges[w.order[w.curves[c].first + i]];
                set_edge(g->fixed[e->a], g->fixed[e->b], &b->edge[b->edges++]);
            }
        }
        b->loops = w.curve_count;
        b->loop[b->loops] = b->edges;
    }
    free(w.out);
    free(w.next);
    free(w.by_start);
    free(w.used);
    free(w.order);
    free(w.curves);
    return status;
}

/* ---- tree ------------------------------------------------------------------------------------------------------------------------------ */

/* Adds half of (a - centre) x (b - centre), world units, times sign. */
static void add_area(const tsr_vox_grid *g, const tsr_vox_edge *e, const double centre[3], double sign, double area[3])
{
    double a[3], b[3];
    for (int k = 0; k < 3; k++) {
        a[k] = (point(g, e, 0, k) - centre[k]) * g->spacing[k];
        b[k] = (point(g, e, 1, k) - centre[k]) * g->spacing[k];
    }
    for (int k = 0; k < 3; k++) area[k] += 0.5 * sign * (a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]);
}

static int64_t loop_of(const tsr_vox_boundary *b, int64_t edge)
{
    int64_t low = 0, high = b->loops - 1;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (b->loop[middle] <= edge) low = middle;
        else high = middle - 1;
    }
    return low;
}

static void chord(tsr_vox_node *n, const int32_t from[3], const int32_t to[3])
{
    if (tsr_vox_compare(from, to)) set_edge(from, to, &n->chord[n->chords++]);
}

/* The curves that [first, last) cuts are closed with chords: from where they enter to where they leave. */
static void set_chords(const tsr_vox_boundary *b, tsr_vox_node *n)
{
    int64_t head = loop_of(b, n->first), tail = loop_of(b, n->last - 1);
    const int32_t *begin = b->edge[n->first].fixed[0], *end = b->edge[n->last - 1].fixed[1];
    if (head == tail) {
        chord(n, begin, end);
        return;
    }
    if (b->loop[head] < n->first) chord(n, begin, b->edge[b->loop[head]].fixed[0]);
    if (b->loop[tail + 1] > n->last) chord(n, b->edge[b->loop[tail]].fixed[0], end);
}

static void set_node(const tsr_vox_grid *g, const tsr_vox_boundary *b, tsr_vox_node *n)
{
    double centre[3], area[3] = { 0, 0, 0 }, length = 0, square = 0;
    for (int k = 0; k < 3; k++) {
        n->lower[k] = n->upper[k] = (float)point(g, &b->edge[n->first], 0, k);
        for (int64_t e = n->first; e < n->last; e++)
            for (int end = 0; end < 2; end++) {
                float v = (float)point(g, &b->edge[e], end, k);
                if (v < n->lower[k]) n->lower[k] = v;
                if (v > n->upper[k]) n->upper[k] = v;
            }
        n->centre[k] = 0.5f * (n->lower[k] + n->upper[k]);
        centre[k] = (double)n->centre[k];
        double half = ((double)n->upper[k] - (double)n->lower[k]) * 0.5 * g->spacing[k];
        square += half * half;
    }
    set_chords(b, n);
    for (int64_t e = n->first; e < n->last; e++) {
        double d = 0;
        add_area(g, &b->edge[e], centre, 1, area);
        for (int k = 0; k < 3; k++) {
            double s = (point(g, &b->edge[e], 1, k) - point(g, &b->edge[e], 0, k)) * g->spacing[k];
            d += s * s;
        }
        length += sqrt(d);
    }
    for (int32_t c = 0; c < n->chords; c++) add_area(g, &n->chord[c], centre, -1, area);
    for (int k = 0; k < 3; k++) n->area[k] = (float)area[k];
    n->length = (float)(length * 1.00001);
    n->radius = (float)(sqrt(square) * 1.00001);
}

enum { LEAF = 2 };

/* The tree over [first, last), its root in the next free node. */
static void grow(const tsr_vox_grid *g, tsr_vox_boundary *b, int64_t first, int64_t last)
{
    int64_t own = b->nodes++;
    b->node[own] = (tsr_vox_node){ .first = (int32_t)first, .last = (int32_t)last };
    set_node(g, b, &b->node[own]);
    if (last - first <= LEAF) return;
    int64_t middle = (first + last) / 2, near = b->loop[loop_of(b, middle)]; /* where a curve begins, if that divides well enough */
    if (near - first > (last - first) / 4) middle = near;
    grow(g, b, first, middle);
    b->node[own].right = (int32_t)b->nodes;
    grow(g, b, middle, last);
}

tsr_status tsr_vox_boundary_make(const tsr_vox_grid *g, const uint32_t *id, tsr_vox_boundary *b)
{
    struct ends *edges = NULL;
    int64_t count = 0;
    memset(b, 0, sizeof *b);
    tsr_status status = surplus(g, id, &edges, &count);
    if (status == TSR_OK && count > INT32_MAX / 2)
        status = TSR_FAILED(TSR_ERROR_UNSUPPORTED, "mesh: %lld boundary edges, expected fewer than 2^30", (long long)count);
    if (status == TSR_OK && count) status = curves(g, edges, count, b);
    if (status == TSR_OK && count) {
        b->node = (tsr_vox_node *)zeros(2 * (size_t)count, sizeof *b->node);
        if (b->node) grow(g, b, 0, b->edges);
        else status = TSR_FAILED(TSR_ERROR_MEMORY, "mesh: out of memory for %lld boundary edges", (long long)count);
    }
    free(edges);
    if (status != TSR_OK) tsr_vox_boundary_free(b);
    return status;
}

void tsr_vox_boundary_free(tsr_vox_boundary *b)
{
    free(b->edge);
    free(b->node);
    free(b->loop);
    memset(b, 0, sizeof *b);
}

/* ---- tiles across holes ---------------------------------------------------------------------------------------------------------------- */

struct search {
    const tsr_vox_grid *g;
    int32_t lower[3], upper[3]; /* tiles, inclusive */
    uint64_t *keys;
    int64_t count, room, most;
};

static tsr_status add_key(struct search *s, const int32_t tile[3])
{
    if (s->count == s->most)
        TSR_FAIL(TSR_ERROR_CAPACITY, "mesh: its holes need more than %lld tiles at this spacing: close them or use a larger spacing",
                 (long long)s->most);
    if (s->count == s->room) {
        int64_t room = 2 * s->room + 1024;
        void *more = realloc(s->keys, (size_t)room * sizeof *s->keys);
        if (!more) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of memory for %lld tiles across holes", (long long)room);
        s->keys = (uint64_t *)more;
        s->room = room;
    }
    s->keys[s->count++] = tsr_key_make(tile[0], tile[1], tile[2]);
    return TSR_OK;
}

/* Boxes of `size` tiles from tile (x, y, z) on in which the boundary may add a half turn: halved down to tiles. The box is one voxel larger
 * all round, so that a change between two tiles is found in both. */
static tsr_status descend(struct search *s, const int32_t at[3], int32_t size)
{
    const int32_t edge = 1 << s->g->log2_edge;
    tsr_vox_view view;
    int64_t first[3];
    for (int k = 0; k < 3; k++) {
        if (at[k] > s->upper[k] || at[k] + size - 1 < s->lower[k]) return TSR_OK;
        first[k] = (int64_t)at[k] * edge - 1;
    }
    tsr_vox_set_box(s->g, first, (int64_t)size * edge + 2, &view);
    if (tsr_vox_vary(s->g, &view)) {
        tsr_vox_look(s->g, &view);
        double part = view.turns - floor(view.turns);
        if (fabs(part - 0.5) > view.change + fabs(s->g->slack)) return TSR_OK;
    }
    if (size == 1) {
        TSR_TRY(add_key(s, at));
        return TSR_OK;
    }
    for (int k = 0; k < 8; k++) {
        const int32_t half = size / 2, child[3] = { at[0] + (k & 1 ? half : 0), at[1] + (k & 2 ? half : 0), at[2] + (k & 4 ? half : 0) };
        TSR_TRY(descend(s, child, half));
    }
    return TSR_OK;
}

/* Around one curve: its box, and half its size beyond, within the tiles the mesh touches. */
static tsr_status around(struct search *s, const tsr_vox_boundary *b, int64_t loop, const int32_t limit[3])
{
    const tsr_vox_grid *g = s->g;
    double lower[3] = { 1e30, 1e30, 1e30 }, upper[3] = { -1e30, -1e30, -1e30 }, largest = 0;
    for (int64_t e = b->loop[loop]; e < b->loop[loop + 1]; e++)
        for (int k = 0; k < 3; k++) {
            lower[k] = fmin(lower[k], point(g, &b->edge[e], 0, k));
            upper[k] = fmax(upper[k], point(g, &b->edge[e], 0, k));
        }
    for (int k = 0; k < 3; k++) largest = fmax(largest, (upper[k] - lower[k]) * g->spacing[k]);
    if (largest * 0.5 <= (double)g->touch) return TSR_OK; /* the triangles around the hole reach across it */
    int32_t size = 1, begin[3];
    for (int k = 0; k < 3; k++) {
        double beyond = 0.5 * largest / g->spacing[k] + 1;
        int64_t a = (int64_t)floor(lower[k] - beyond) + g->base[k], z = (int64_t)ceil(upper[k] + beyond) + g->base[k];
        s->lower[k] = (int32_t)tsr_max64(a >> g->log2_edge, g->first[k]);
        s->upper[k] = (int32_t)tsr_min64(z >> g->log2_edge, limit[k]);
        begin[k] = s->lower[k];
        while (s->upper[k] >= s->lower[k] && size < s->upper[k] - s->lower[k] + 1) size *= 2;
    }
    return descend(s, begin, size);
}

tsr_status tsr_vox_hole_tiles(const tsr_vox_grid *g, const tsr_vox_boundary *b, int64_t most, uint64_t **keys, int64_t *count)
{
    struct search s = { .g = g, .most = most };
    int32_t limit[3];
    tsr_status status = TSR_OK;
    for (int k = 0; k < 3; k++) limit[k] = g->last[k];
    for (int64_t loop = 0; loop < b->loops && status == TSR_OK; loop++) status = around(&s, b, loop, limit);
    *keys = s.keys;
    *count = s.count;
    if (status != TSR_OK) {
        free(s.keys);
        *keys = NULL;
        *count = 0;
    }
    return status;
}
