/* vision/depth/fusion_surface.c: from bricks to a tile list and a coloured mesh. */
#include <math.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "tessera/surface.h"
#include "vision/depth/fusion.h"

enum { E = TSR_FUSION_EDGE, V = TSR_FUSION_VOXELS, STORED = 1, OUTSIDE = 2 };

struct filling {
    const tsr_fusion_bricks *bricks;
    float band, least;
    int32_t lower[3], size[3]; /* box of the bricks and one more on every side */
    uint8_t *state;            /* [z][y][x]: STORED, OUTSIDE, 0: inside */
    int64_t *number;           /* of stored bricks with a known voxel, else -1: then it counts as absent */
};

static int known(const tsr_fusion_bricks *b, int64_t brick, int32_t voxel, float least)
{
    const float weight = b->parts[(brick * TSR_FUSION_PARTS + 1) * V + voxel];
    return weight > 0.0f && weight >= least;
}

/* Distances of a brick; what is not known has the sign of most of what is known around it, spreading from there. 0: nothing is known. */
static int fill_brick(const struct filling *f, int64_t brick, float *values)
{
    const float *d = f->bricks->parts + brick * TSR_FUSION_PARTS * V;
    int8_t sign[V];
    int32_t left = 0;
    for (int32_t n = 0; n < V; n++) {
        const int have = known(f->bricks, brick, n, f->least);
        values[n] = have ? d[n] < -f->band ? -f->band : d[n] > f->band ? f->band : d[n] : 0.0f;
        sign[n] = (int8_t)(!have ? 0 : d[n] < 0.0f ? -1 : 1);
        left += !have;
    }
    if (left == V) return 0;
    while (left) {
        int8_t next[V];
        memcpy(next, sign, sizeof next);
        for (int32_t n = 0; n < V; n++) {
            if (sign[n]) continue;
            const int32_t at[3] = { n % E, n / E % E, n / E / E }, step[3] = { 1, E, E * E };
            int32_t sum = 0, any = 0;
            for (int k = 0; k < 3; k++) {
                if (at[k] > 0 && sign[n - step[k]]) any = 1, sum += sign[n - step[k]];
                if (at[k] < E - 1 && sign[n + step[k]]) any = 1, sum += sign[n + step[k]];
            }
            if (!any) continue;
            next[n] = (int8_t)(sum < 0 ? -1 : 1);
            values[n] = sum < 0 ? -f->band : f->band;
            left--;
        }
        memcpy(sign, next, sizeof sign);
    }
    return 1;
}

static int64_t place_of(const struct filling *f, const int32_t place[3])
{
    int64_t i = 0;
    for (int k = 2; k >= 0; k--) {
        const int32_t at = place[k] - f->lower[k];
        if (at < 0 || at >= f->size[k]) return -1;
        i = i * f->size[k] + at;
    }
    return i;
}

/* What is outside: reached from the rim of the box without crossing a stored brick, over corners too. */
static tsr_status flood(struct filling *f)
{
    const int64_t count = (int64_t)f->size[0] * f->size[1] * f->size[2];
    int64_t *stack = malloc((size_t)count * sizeof *stack), depth = 0;
    if (!stack) TSR_FAIL(TSR_ERROR_MEMORY, "fusion: out of host memory for a box of %lld bricks", (long long)count);
    f->state[0] = OUTSIDE;
    stack[depth++] = 0;
    while (depth) {
        const int64_t i = stack[--depth];
        const int32_t at[3] = { (int32_t)(i % f->size[0]), (int32_t)(i / f->size[0] % f->size[1]), (int32_t)(i / f->size[0] / f->size[1]) };
        for (int32_t n = 0; n < 27; n++) {
            const int32_t to[3] = { at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1 };
            if (to[0] < 0 || to[1] < 0 || to[2] < 0 || to[0] >= f->size[0] || to[1] >= f->size[1] || to[2] >= f->size[2]) continue;
            const int64_t j = ((int64_t)to[2] * f->size[1] + to[1]) * f->size[0] + to[0];
            if (f->state[j]) continue;
            f->state[j] = OUTSIDE;
            stack[depth++] = j;
        }
    }
    free(stack);
    return TSR_OK;
}

struct contents {
    int64_t count;
    int32_t (*coordinates)[3];
    float *values;
    uint32_t *inside;
};

/* Stored bricks and their absent neighbours, constants, in the order of the list. */
static tsr_status collect(struct filling *f, struct contents *c)
{
    const tsr_fusion_bricks *b = f->bricks;
    const int64_t box = (int64_t)f->size[0] * f->size[1] * f->size[2];
    uint8_t *near = calloc((size_t)box, 1);
    int64_t *brick = malloc((size_t)box * sizeof *brick), n = 0;
    if (!near || !brick) {
        free(near);
        free(brick);
        TSR_FAIL(TSR_ERROR_MEMORY, "fusion: out of host memory for a box of %lld bricks", (long long)box);
    }
    for (int64_t i = 0; i < b->count; i++) {
        int32_t place[3];
        tsr_fusion_place(b->keys[i], place);
        if (f->state[place_of(f, place)] != STORED) continue;
        brick[place_of(f, place)] = i;
        for (int32_t k = 0; k < 27; k++) {
            const int32_t to[3] = { place[0] + k % 3 - 1, place[1] + k / 3 % 3 - 1, place[2] + k / 9 - 1 };
            near[place_of(f, to)] = 1;
        }
    }
    for (int64_t i = 0; i < box; i++) c->count += near[i];
    c->coordinates = malloc((size_t)c->count * sizeof *c->coordinates);
    c->values = malloc((size_t)c->count * V * sizeof *c->values);
    c->inside = calloc((size_t)c->count, sizeof *c->inside);
    tsr_status status = TSR_OK;
    if (!c->coordinates || !c->values || !c->inside) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "fusion: out of host memory for %lld tiles", (long long)c->count);
    for (int64_t i = 0; i < box; i++) {
        if (!near[i]) continue;
        const int32_t at[3] = { (int32_t)(i % f->size[0]) + f->lower[0], (int32_t)(i / f->size[0] % f->size[1]) + f->lower[1],
                                (int32_t)(i / f->size[0] / f->size[1]) + f->lower[2] };
        float *values = c->values + n * V;
        for (int k = 0; k < 3; k++) c->coordinates[n][k] = at[k];
        if (f->state[i] == STORED) (void)fill_brick(f, brick[i], values);
        else
            for (int32_t v = 0; v < V; v++) values[v] = f->state[i] == OUTSIDE ? f->band : -f->band;
        for (int32_t k = 0; k < 27; k++) {
            const int32_t to[3] = { at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1 };
            const int64_t j = place_of(f, to);
            if (k != 13 && j >= 0 && !near[j] && f->state[j] == 0) c->inside[n] |= 1u << k;
        }
        n++;
    }
done:
    free(near);
    free(brick);
    return status;
}

static tsr_status make_tiles(tsr_fusion *fusion, const tsr_fusion_bricks *b, double least_weight, tsr_tiles **tiles)
{
    struct filling f = { .bricks = b, .band = (float)fusion->o.truncation, .least = (float)least_weight };
    struct contents c = { 0 };
    int32_t upper[3];
    tsr_status status;
    int64_t stored = 0;
    float room[V];
    for (int64_t i = 0; i < b->count; i++) {
        int32_t place[3];
        tsr_fusion_place(b->keys[i], place);
        for (int k = 0; k < 3; k++) {
            if (!i || place[k] - 2 < f.lower[k]) f.lower[k] = place[k] - 2;
            if (!i || place[k] + 2 > upper[k]) upper[k] = place[k] + 2;
        }
    }
    double box = 1;
    for (int k = 0; k < 3; k++) {
        f.size[k] = upper[k] - f.lower[k] + 1;
        box *= f.size[k];
    }
    if (box > 2e9) TSR_FAIL(TSR_ERROR_CAPACITY, "fusion: the bricks lie in a box of %d x %d x %d, expected at most 2e9: larger voxels, or a farthest depth", f.size[0], f.size[1], f.size[2]);
    f.state = calloc((size_t)box, 1);
    if (!f.state) TSR_FAIL(TSR_ERROR_MEMORY, "fusion: out of host memory for a box of %g bricks", box);
    for (int64_t i = 0; i < b->count; i++) {
        int32_t place[3];
        tsr_fusion_place(b->keys[i], place);
        if (!fill_brick(&f, i, room)) continue;
        f.state[place_of(&f, place)] = STORED;
        stored++;
    }
    if (!stored) TSR_FAIL_GOTO(TSR_ERROR_STATE, done, "fusion: no voxel has a weight of %g", least_weight);
    TSR_TRY_GOTO(flood(&f), done);
    TSR_TRY_GOTO(collect(&f, &c), done);
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles_contents contents = TSR_TILES_CONTENTS;
    const double h = fusion->o.voxel;
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ h, h, h }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    options.edge = E;
    options.band = fusion->o.truncation;
    contents.count = c.count;
    contents.coordinates = (const int32_t (*)[3])c.coordinates;
    contents.values = c.values;
    contents.inside = c.inside;
    contents.keep = 1;
    TSR_TRY_GOTO(tsr_tiles_assemble(fusion->context, &geometry, &options, &contents, tiles), done);
done:
    free(f.state);
    free(c.coordinates);
    free(c.values);
    free(c.inside);
    return status;
}

tsr_status tsr_fusion_tiles(tsr_fusion *fusion, double least_weight, tsr_tiles **tiles)
{
    TSR_RETURNS(tiles);
    TSR_NEEDS(fusion);
    tsr_fusion_bricks bricks;
    tsr_status status;
    if (!(least_weight >= 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: least_weight is %g, expected 0 or more", least_weight);
    TSR_TRY(tsr_fusion_download(fusion, &bricks));
    TSR_TRY_GOTO(make_tiles(fusion, &bricks, least_weight, tiles), done);
done:
    tsr_fusion_bricks_free(&bricks);
    return status;
}

/* ---- mesh ---------------------------------------------------------------------------------------------------------------------- */

struct painting {
    const tsr_fusion_bricks *bricks;
    const float *vertices;
    double voxel;
    float least;
    uint8_t *seen;   /* of each vertex: all voxels round it are known */
    uint8_t *colors; /* [vertices][4], or NULL */
};

/* Vertices lie between two voxels: of the eight around those count whose share is not 0. */
static void paint(void *user, int64_t begin, int64_t end, int worker)
{
    const struct painting *p = (const struct painting *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int32_t base[3];
        double part[3], sum[3] = { 0, 0, 0 }, weights = 0;
        p->seen[i] = 1;
        for (int k = 0; k < 3; k++) {
            const double at = (double)p->vertices[3 * i + k] / p->voxel;
            base[k] = (int32_t)floor(at + 2e-3);
            part[k] = at - base[k] > 2e-3 ? at - base[k] : 0;
        }
        for (int n = 0; n < 8; n++) {
            double share = 1;
            int32_t brick_at[3], voxel = 0;
            for (int k = 2; k >= 0; k--) {
                const int up = n >> k & 1;
                const int32_t c = base[k] + up;
                share *= up ? part[k] : 1 - part[k];
                brick_at[k] = c >= 0 ? c / E : -((E - 1 - c) / E);
                voxel = voxel * E + (c - brick_at[k] * E);
            }
            if (!(share > 0)) continue;
            const int64_t brick = tsr_fusion_find(p->bricks, brick_at);
            if (brick < 0 || !known(p->bricks, brick, voxel, p->least)) {
                p->seen[i] = 0;
                continue;
            }
            const float *c = p->bricks->parts + (brick * TSR_FUSION_PARTS + 2) * V + voxel;
            if (!(c[0] >= 0.0f)) continue;
            for (int k = 0; k < 3; k++) sum[k] += share * (double)c[k * V];
            weights += share;
        }
        if (!p->colors) continue;
        for (int k = 0; k < 3; k++) p->colors[4 * i + k] = weights > 0 ? (uint8_t)(sum[k] / weights + 0.5) : 128;
        p->colors[4 * i + 3] = 255;
    }
}

static int64_t root_of(int64_t *parent, int64_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* The triangles that stay, with the vertices they use. */
static tsr_status select_triangles(const tsr_fusion *fusion, const tsr_fusion_mesh_options *o, const tsr_fusion_bricks *bricks, const tsr_mesh *from, tsr_mesh **to)
{
    const int64_t vertices = tsr_mesh_vertex_count(from), triangles = tsr_mesh_triangle_count(from);
    const uint32_t *t = tsr_mesh_triangles_const(from);
    const int colored = fusion->colored && !o->no_colors;
    struct painting p = { .bricks = bricks, .vertices = tsr_mesh_vertices_const(from), .voxel = fusion->o.voxel, .least = (float)o->least_weight };
    int64_t *parent = NULL, *size = NULL, *number = NULL, kept = 0, used = 0;
    tsr_status status = TSR_OK;
    p.seen = malloc((size_t)vertices + 1);
    p.colors = colored ? malloc((size_t)vertices * 4 + 4) : NULL;
    parent = malloc((size_t)(vertices + 1) * sizeof *parent);
    size = calloc((size_t)vertices + 1, sizeof *size);
    number = malloc((size_t)(vertices + 1) * sizeof *number);
    if (!p.seen || (colored && !p.colors) || !parent || !size || !number)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "fusion: out of host memory for %lld vertices", (long long)vertices);
    tsr_parallel(tsr_parallel_default_threads(), vertices, 4096, paint, &p);
    if (o->closed) memset(p.seen, 1, (size_t)vertices);
    for (int64_t i = 0; i < vertices; i++) parent[i] = i, number[i] = -1;
    for (int64_t k = 0; k < triangles; k++) {
        const uint32_t *c = t + 3 * k;
        if (!p.seen[c[0]] || !p.seen[c[1]] || !p.seen[c[2]]) continue;
        const int64_t a = root_of(parent, c[0]), b = root_of(parent, c[1]);
        parent[a] = b;
        parent[root_of(parent, c[2])] = b;
    }
    for (int64_t k = 0; k < triangles; k++)
        if (p.seen[t[3 * k]] && p.seen[t[3 * k + 1]] && p.seen[t[3 * k + 2]]) size[root_of(parent, t[3 * k])]++;
    for (int turn = 0; turn < 2; turn++) {
        uint32_t *out = turn ? tsr_mesh_triangles(*to) : NULL;
        kept = 0;
        for (int64_t k = 0; k < triangles; k++) {
            const uint32_t *c = t + 3 * k;
            if (!p.seen[c[0]] || !p.seen[c[1]] || !p.seen[c[2]] || size[root_of(parent, c[0])] < o->least_triangles) continue;
            for (int v = 0; v < 3; v++) {
                if (number[c[v]] < 0) number[c[v]] = used++;
                if (out) out[3 * kept + v] = (uint32_t)number[c[v]];
            }
            kept++;
        }
        if (turn) break;
        if (!kept) TSR_FAIL_GOTO(TSR_ERROR_STATE, done, "fusion: no surface: no place has been seen from both sides of it with a weight of %g", o->least_weight);
        TSR_TRY_GOTO(tsr_mesh_create(NULL, used, kept, 1, to), done);
        if (colored) TSR_TRY_GOTO(tsr_mesh_add_colors(*to), done);
    }
    for (int64_t i = 0; i < vertices; i++) {
        if (number[i] < 0) continue;
        memcpy(tsr_mesh_vertices(*to) + 3 * number[i], p.vertices + 3 * i, 12);
        memcpy(tsr_mesh_normals(*to) + 3 * number[i], tsr_mesh_normals_const(from) + 3 * i, 12);
        if (colored) memcpy(tsr_mesh_colors(*to) + 4 * number[i], p.colors + 4 * i, 4);
    }
done:
    free(p.seen);
    free(p.colors);
    free(parent);
    free(size);
    free(number);
    if (status != TSR_OK) tsr_mesh_destroy(to);
    return status;
}

tsr_status tsr_fusion_mesh(tsr_fusion *fusion, const tsr_fusion_mesh_options *options, tsr_mesh **mesh)
{
    TSR_RETURNS(mesh);
    TSR_NEEDS(fusion);
    tsr_fusion_mesh_options o;
    tsr_fusion_bricks bricks = { 0 };
    tsr_tiles *tiles = NULL;
    tsr_mesh *whole = NULL, *host = NULL;
    tsr_surface_options surface = TSR_SURFACE_OPTIONS;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (!(o.least_weight >= 0) || o.least_triangles < 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "fusion: least_weight %g and least_triangles %lld, expected 0 or more", o.least_weight, (long long)o.least_triangles);
    TSR_TRY(tsr_fusion_download(fusion, &bricks));
    surface.normals = TSR_SURFACE_NORMALS_CENTRAL;
    TSR_TRY_GOTO(make_tiles(fusion, &bricks, o.least_weight, &tiles), done);
    if (tsr_progress_report(&o.progress, 0.4, "surface")) TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled during surface");
    TSR_TRY_GOTO(tsr_surface_extract_tiles(fusion->context, tiles, &surface, &whole, NULL), done);
    tsr_tiles_destroy(&tiles);
    TSR_TRY_GOTO(tsr_mesh_copy(whole, NULL, &host), done);
    if (tsr_progress_report(&o.progress, 0.7, "colours")) TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled during colours");
    TSR_TRY_GOTO(select_triangles(fusion, &o, &bricks, host, mesh), done);
done:
    tsr_fusion_bricks_free(&bricks);
    tsr_tiles_destroy(&tiles);
    tsr_mesh_destroy(&whole);
    tsr_mesh_destroy(&host);
    return status;
}
