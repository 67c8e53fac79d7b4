/* algebra/offset_surface.c: where the lattice crosses a surface, sorted into cells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algebra/csg_labels.h"
#include "algebra/offset.h"
#include "tessera/mapping.h"

#define SHARP 0.3f /* curvature times voxel */

/* A crossing and the Morton number of its cell. */
struct crossing {
    uint64_t cell;
    float at[3], normal[3], bent;
};
struct list {
    struct crossing *item;
    int64_t count, room;
};

/* Of the cell of a voxel; tiles have coordinates of 20 bits and a sign, and 2 cells of edge 4 at most. */
static uint64_t cell_of(const int32_t voxel[3])
{
    uint64_t cell = 0;
    for (int a = 0; a < 3; a++) cell |= tsr_spread3((uint64_t)((voxel[a] >> TSR_OFFSET_CELL) + (1 << 20)) & 0x1fffff) << a;
    return cell;
}

static tsr_status push(struct list *l, const struct crossing *c)
{
    if (l->count == l->room) {
        const int64_t room = l->room ? 2 * l->room : 4096;
        struct crossing *grown = (struct crossing *)realloc(l->item, (size_t)room * sizeof *grown);
        if (!grown || room > INT32_MAX) {
            if (grown) l->item = grown;
            TSR_FAIL(TSR_ERROR_MEMORY, "offset: out of memory for %lld crossings", (long long)room);
        }
        l->item = grown;
        l->room = room;
    }
    l->item[l->count++] = *c;
    return TSR_OK;
}

/* What lies around a voxel and its neighbour along an axis. */
struct around {
    const tsr_csg_window *window;
    int32_t at[3];
    float sign, inverse[3];
};
static float value(const struct around *a, int32_t x, int32_t y, int32_t z)
{
    return a->sign * tsr_csg_seen(a->window, a->at[0] + x, a->at[1] + y, a->at[2] + z);
}

/* Half the sum of the principal curvatures at the voxel; of neither sign to speak of where the field has no normals. */
static float bent_at(const struct around *a, float most)
{
    float cube[27];
    for (int c = 0; c < 27; c++) cube[c] = value(a, c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1);
    return tsr_clampf(0.5f * tsr_curvature(cube + 13, 3, 9, a->inverse), -most, most);
}

/* The second difference across the voxel along `axis`, of a surface that bends there and no more. */
static float second_at(const struct around *a, int axis, float band, float h)
{
    int32_t s[3] = { 0, 0, 0 };
    s[axis] = 1;
    const float before = value(a, -s[0], -s[1], -s[2]), after = value(a, s[0], s[1], s[2]), second = (before - 2 * value(a, 0, 0, 0)) + after;
    return tsr_absf(before) < band && tsr_absf(after) < band && tsr_absf(second) < 0.25f * h ? second : 0;
}

/* The normal at the share t of the way to the voxel `step` further along `axis`. */
static void normal_at(const struct around *a, int axis, int32_t step, float t, float second, float normal[3])
{
    float length = 0;
    for (int b = 0; b < 3; b++) {
        int32_t s[3] = { 0, 0, 0 }, to[3] = { 0, 0, 0 };
        s[b] = 1;
        to[axis] = step;
        if (b == axis) normal[b] = (value(a, to[0], to[1], to[2]) - value(a, 0, 0, 0) + (t - 0.5f) * second) * ((float)step * a->inverse[b]);
        else {
            const float here = value(a, s[0], s[1], s[2]) - value(a, -s[0], -s[1], -s[2]);
            const float there = value(a, to[0] + s[0], to[1] + s[1], to[2] + s[2]) - value(a, to[0] - s[0], to[1] - s[1], to[2] - s[2]);
            normal[b] = (here + (there - here) * t) * 0.5f * a->inverse[b];
        }
        length += normal[b] * normal[b];
    }
    length = sqrtf(length);
    for (int b = 0; b < 3; b++) normal[b] = length > 0 ? normal[b] / length : 0;
}

/* At a sharp convex edge the lattice has crossings only up to a voxel before it: those along the diagonals from a voxel inside come nearer. Without normals; the field is
 * convex there, so none lies beyond the surface. */
static tsr_status take_diagonals(const struct around *a, const int32_t voxel[3], const float spacing[3], struct list *found)
{
    const float from = value(a, 0, 0, 0);
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        const int32_t to[3] = { tsr_direction_x(d), tsr_direction_y(d), tsr_direction_z(d) };
        if (to[0] * to[0] + to[1] * to[1] + to[2] * to[2] < 2) continue;
        if ((to[0] && spacing[0] == 0) || (to[1] && spacing[1] == 0) || (to[2] && spacing[2] == 0)) continue;
        const float next = value(a, to[0], to[1], to[2]), t = from / (from - next);
        if (next < 0) continue;
        struct crossing c = { .cell = cell_of(voxel) };
        for (int k = 0; k < 3; k++) c.at[k] = ((float)voxel[k] + t * (float)to[k]) * spacing[k];
        TSR_TRY(push(found, &c));
    }
    return TSR_OK;
}

static tsr_status take_tile(const tsr_tiles *tiles, int64_t entry, float sign, const float spacing[3], struct list *found)
{
    const tsr_tile_pool *p = &tiles->pool;
    const int32_t E = 1 << p->log2_edge, list = p->state->list;
    const uint64_t key = tsr_pool_key(p, list, entry);
    const int32_t first[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E, tsr_key_z(key) * E };
    const tsr_csg_window w = tsr_csg_window_of(p, key, p->id[list][entry]);
    const float *v = w.phi + ((int64_t)p->id[list][entry] << 3 * p->log2_edge);
    struct around a = { .window = &w, .sign = sign };
    float least = 0;
    for (int k = 0; k < 3; k++) {
        a.inverse[k] = spacing[k] > 0 ? 1 / spacing[k] : 0;
        if (spacing[k] > 0 && (least == 0 || spacing[k] < least)) least = spacing[k];
    }
    for (int32_t i = 0; i < E * E * E; i++, v++) {
        if (tsr_absf(*v) >= p->band) continue; /* one of the two is within the band */
        const int32_t at[3] = { i % E, i / E % E, i / (E * E) };
        memcpy(a.at, at, sizeof at);
        if (at[0] > w.high[0] || at[1] > w.high[1] || at[2] > w.high[2]) continue;
        float bent = 0;
        int known = 0;
        const int32_t voxel[3] = { first[0] + at[0], first[1] + at[1], first[2] + at[2] };
        for (int32_t side = 0; side < 6; side++) {
            const int axis = side >> 1, back = side & 1;
            int32_t to[3] = { 0, 0, 0 };
            to[axis] = back ? -1 : 1;
            if (spacing[axis] == 0) continue;
            const float from = *v, next = tsr_csg_seen(&w, at[0] + to[0], at[1] + to[1], at[2] + to[2]);
            /* towards the voxel before only where that does not see to it: at or beyond the band */
            if ((from < 0) == (next < 0) || (back && tsr_absf(next) < p->band)) continue;
            const float straight = from / (from - next), second = second_at(&a, axis, p->band, spacing[axis]);
            const float t = tsr_clampf(straight - 0.5f * straight * (straight - 1) * second / (sign * (next - from)), 0.0f, 1.0f);
            struct crossing c;
            for (int k = 0; k < 3; k++) c.at[k] = ((float)voxel[k] + (k == axis ? (back ? -t : t) : 0)) * spacing[k];
            if (!known) bent = bent_at(&a, 1 / least);
            known = 1;
            normal_at(&a, axis, to[axis], t, second, c.normal);
            c.bent = bent;
            c.cell = cell_of(voxel);
            TSR_TRY(push(found, &c));
        }
        if (sign * *v < 0 && bent * least > SHARP) TSR_TRY(take_diagonals(&a, voxel, spacing, found));
    }
    return TSR_OK;
}

static int by_cell(const void *a, const void *b)
{
    const struct crossing *x = (const struct crossing *)a, *y = (const struct crossing *)b;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    for (int k = 2; k >= 0; k--)
        if (x->at[k] != y->at[k]) return x->at[k] < y->at[k] ? -1 : 1;
    return 0;
}

/* The slab between planes across the mean normal of a cell's crossings, where they have one. */
static void set_slab(const tsr_offset_surface *s, tsr_offset_node *n)
{
    float length = 0, far = 0;
    for (int k = 0; k < 3; k++) {
        for (int32_t i = n->first; i < n->first + n->count; i++) n->normal[k] += s->normal[k][i];
        n->centre[k] = 0.5f * (n->low[k] + n->high[k]);
        length += n->normal[k] * n->normal[k];
    }
    length = sqrtf(length);
    if (!(length > 0.5f * (float)n->count)) {
        for (int k = 0; k < 3; k++) n->normal[k] = 0;
        return;
    }
    for (int k = 0; k < 3; k++) n->normal[k] /= length;
    n->top = -HUGE_VALF;
    for (int32_t i = n->first; i < n->first + n->count; i++) {
        float along = 0, square = 0;
        for (int k = 0; k < 3; k++) {
            const float d = s->at[k][i] - n->centre[k];
            along += d * n->normal[k];
            square += d * d;
        }
        n->top = fmaxf(n->top, along);
        far = fmaxf(far, square - along * along);
    }
    n->radius = sqrtf(far);
}

/* The node around what lies in [first, first + count) of the level below, or of the crossings. */
static tsr_offset_node node_of(const tsr_offset_surface *s, int level, int32_t first, int32_t count)
{
    tsr_offset_node n = { .first = first, .count = count, .top = HUGE_VALF, .radius = HUGE_VALF };
    const int32_t half = first + count / 2;
    for (int k = 0; k < 3; k++) {
        n.low[k] = HUGE_VALF;
        n.high[k] = -HUGE_VALF;
        for (int32_t i = first; i < first + count; i++) {
            n.low[k] = fminf(n.low[k], level ? s->node[level - 1][i].low[k] : s->at[k][i]);
            n.high[k] = fmaxf(n.high[k], level ? s->node[level - 1][i].high[k] : s->at[k][i]);
        }
        n.middle[k] = level ? s->node[level - 1][half].middle[k] : s->at[k][half];
    }
    if (!level) set_slab(s, &n);
    return n;
}

/* Nodes of all levels; cell[i] becomes that of node i of the level above. */
static tsr_status build_nodes(tsr_offset_surface *s, uint64_t *cell)
{
    int64_t below = s->count;
    for (int level = 0; level < TSR_OFFSET_LEVELS; level++) {
        int64_t nodes = 0;
        for (int64_t i = 0; i < below; i++) nodes += !i || cell[i] != cell[i - 1];
        s->node[level] = (tsr_offset_node *)malloc((size_t)tsr_max64(nodes, 1) * sizeof *s->node[level]);
        if (!s->node[level]) TSR_FAIL(TSR_ERROR_MEMORY, "offset: out of memory for %lld cells", (long long)nodes);
        s->nodes[level] = nodes;
        nodes = 0;
        for (int64_t i = 0, end; i < below; i = end) {
            const uint64_t own = cell[i];
            for (end = i + 1; end < below && cell[end] == own; end++) {}
            s->node[level][nodes] = node_of(s, level, (int32_t)i, (int32_t)(end - i));
            cell[nodes++] = own >> 3;
        }
        below = nodes;
    }
    return TSR_OK;
}

static tsr_status keep_sorted(struct list *found, tsr_offset_surface *s)
{
    const size_t n = (size_t)tsr_max64(found->count, 1);
    qsort(found->item, (size_t)found->count, sizeof *found->item, by_cell);
    s->count = found->count;
    uint64_t *cell = (uint64_t *)malloc(n * sizeof *cell);
    s->bent = (float *)malloc(n * sizeof *s->bent);
    int missing = !cell || !s->bent;
    for (int k = 0; k < 3; k++) {
        missing |= !(s->at[k] = (float *)malloc(n * sizeof(float)));
        missing |= !(s->normal[k] = (float *)malloc(n * sizeof(float)));
    }
    tsr_status status = missing ? TSR_FAILED(TSR_ERROR_MEMORY, "offset: out of memory for %zu crossings", n) : TSR_OK;
    for (int64_t i = 0; i < found->count && status == TSR_OK; i++) {
        const struct crossing *c = &found->item[i];
        for (int k = 0; k < 3; k++) {
            s->at[k][i] = c->at[k];
            s->normal[k][i] = c->normal[k];
        }
        s->bent[i] = c->bent;
        cell[i] = c->cell;
    }
    free(found->item);
    found->item = NULL;
    if (status == TSR_OK) status = build_nodes(s, cell);
    free(cell);
    return status;
}

tsr_status tsr_offset_surface_take(const tsr_tiles *tiles, float sign, const float spacing[3], tsr_offset_surface *s)
{
    struct list found = { 0 };
    tsr_status status = TSR_OK;
    memset(s, 0, sizeof *s);
    for (int64_t entry = 0; entry < tiles->pool.state->count && status == TSR_OK; entry++) status = take_tile(tiles, entry, sign, spacing, &found);
    if (status == TSR_OK) status = keep_sorted(&found, s);
    free(found.item);
    if (status != TSR_OK) tsr_offset_surface_drop(s);
    return status;
}

void tsr_offset_surface_drop(tsr_offset_surface *s)
{
    for (int k = 0; k < 3; k++) {
        free(s->at[k]);
        free(s->normal[k]);
    }
    free(s->bent);
    for (int level = 0; level < TSR_OFFSET_LEVELS; level++) free(s->node[level]);
    memset(s, 0, sizeof *s);
}
