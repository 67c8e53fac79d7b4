/* tests/formats/tile_lists.h: lists to write and read, and whether two are the same in everything but the ids. */
#ifndef TSR_TESTS_IO_TILE_LISTS_H
#define TSR_TESTS_IO_TILE_LISTS_H

#include <math.h>

#include "tiles/tiles_check.h"

typedef struct list_kind {
    const char *name;
    int32_t edge;
    tsr_tiles_index index;
    int bounded;
    tsr_space space;
    int which; /* 0 ball, 1 everything but a shell (inside touches the border), 2 nothing, 3 all inside, 4 a jump over the band, 5 a hollow ball */
} list_kind;

static const list_kind list_kinds[] = {
    { "ball-8", 8, TSR_TILES_SORTED, 0, TSR_SPACE_RAS, 0 },    { "ball-4", 4, TSR_TILES_SORTED, 0, TSR_SPACE_NONE, 0 },
    { "ball-8b", 8, TSR_TILES_SORTED, 1, TSR_SPACE_LPS, 0 },   { "ball-4p", 4, TSR_TILES_PAGED, 1, TSR_SPACE_NONE, 0 },
    { "shell-8p", 8, TSR_TILES_PAGED, 1, TSR_SPACE_RAS, 1 },   { "shell-4b", 4, TSR_TILES_SORTED, 1, TSR_SPACE_NONE, 1 },
    { "hollow-4", 4, TSR_TILES_SORTED, 0, TSR_SPACE_NONE, 5 }, { "none", 8, TSR_TILES_SORTED, 0, TSR_SPACE_NONE, 2 },
    { "none-p", 4, TSR_TILES_PAGED, 1, TSR_SPACE_NONE, 2 },    { "full-p", 8, TSR_TILES_PAGED, 1, TSR_SPACE_NONE, 3 },
    { "jump-8b", 8, TSR_TILES_SORTED, 1, TSR_SPACE_NONE, 4 },
};
enum { LIST_KINDS = sizeof list_kinds / sizeof *list_kinds };
static const tsr_size3 list_size = { 45, 38, 41 };

/* Oblique axes and spacings that float32 does not hold. */
static inline tsr_geometry list_geometry(tsr_space space)
{
    tsr_geometry g = tsr_geometry_make((tsr_vec3){ 0.7, 0.9, 1.1 }, (tsr_vec3){ 3, -4, 5.25 }, space);
    const double c = cos(0.3), s = sin(0.3);
    for (int k = 0; k < 3; k++) {
        double x = g.affine[0][k], y = g.affine[1][k];
        g.affine[0][k] = c * x - s * y;
        g.affine[1][k] = s * x + c * y;
    }
    return g;
}

static inline float list_value(int which, int64_t x, int64_t y, int64_t z)
{
    const double cx = (double)x - 20.3, cy = (double)y - 19.1, cz = (double)z - 18.7, r = sqrt(cx * cx * 0.49 + cy * cy * 0.81 + cz * cz * 1.21);
    switch (which) {
    case 0: return (float)(r - 12);
    case 1: return (float)(3 - fabs(r - 11));
    case 2: return 1e6f;
    case 3: return -1e6f;
    case 5: return (float)(fabs(r - 10) - 3);
    default: return x + y > 44 ? 100 : -100;
    }
}

static inline tsr_tiles *make_list(tsr_context *context, const list_kind *kind)
{
    const tsr_geometry geometry = list_geometry(kind->space);
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_volume *host, *field;
    tsr_tiles *tiles;
    options.edge = kind->edge;
    options.index = kind->index;
    if (kind->bounded) options.domain = list_size;
    require_ok(tsr_volume_create(NULL, TSR_F32, list_size, &geometry, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int64_t z = 0; z < list_size.z; z++)
        for (int64_t y = 0; y < list_size.y; y++)
            for (int64_t x = 0; x < list_size.x; x++) v[(z * list_size.y + y) * list_size.x + x] = list_value(kind->which, x, y, z);
    require_ok(tsr_volume_copy(host, context, &field));
    require_ok(tsr_tiles_create(context, &geometry, &options, &tiles));
    require_ok(tsr_tiles_load(tiles, field));
    if (kind->which == 0) { /* so that ids are no longer in list order */
        const tsr_tiles_sphere spheres[2] = { { 7, 8, 9, 6, 0 }, { 14, 17, 20, 5, 1 } };
        require_ok(tsr_tiles_paint(tiles, spheres, 2));
    }
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    return tiles;
}

/* Keys, values, neighbours, table, counts, geometry: everything but ids and capacity. `tolerance` 0: the same bits. */
static inline void check_same_list(const tsr_tiles *a, const tsr_tiles *b, float tolerance)
{
    tiles_picture p = picture_of(a), q = picture_of(b);
    const int32_t V = 1 << (3 * p.pool.log2_edge);
    assert_int_equal(p.pool.log2_edge, q.pool.log2_edge);
    assert_int_equal(p.pool.bounded, q.pool.bounded);
    assert_memory_equal(p.pool.domain, q.pool.domain, sizeof p.pool.domain);
    assert_memory_equal(&p.pool.band, &q.pool.band, sizeof p.pool.band);
    assert_memory_equal(p.pool.spacing, q.pool.spacing, sizeof p.pool.spacing);
    assert_memory_equal(a->geometry.affine, b->geometry.affine, sizeof a->geometry.affine);
    assert_int_equal(a->geometry.space, b->geometry.space);
    assert_int_equal(p.pool.table != NULL, q.pool.table != NULL);
    assert_int_equal(p.state.count, q.state.count);
    assert_int_equal(p.state.background, q.state.background);
    assert_true(p.state.inside_absent == q.state.inside_absent);
    assert_true(p.state.active_voxels == q.state.active_voxels);
    assert_true(p.state.inside_voxels == q.state.inside_voxels);
    for (int32_t i = 0; i < p.state.count; i++) {
        assert_true(p.keys[i] == q.keys[i]);
        const float *u = p.phi + (int64_t)p.ids[i] * V, *v = q.phi + (int64_t)q.ids[i] * V;
        if (tolerance == 0) assert_memory_equal(u, v, (size_t)V * sizeof *u);
        for (int32_t k = 0; k < V; k++) assert_true(fabsf(u[k] - v[k]) <= tolerance && (u[k] < 0) == (v[k] < 0));
        const uint32_t *r = p.pool.neighbours + (int64_t)p.ids[i] * TSR_NEIGHBOUR_ROW, *s = q.pool.neighbours + (int64_t)q.ids[i] * TSR_NEIGHBOUR_ROW;
        for (int d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            assert_int_equal(r[d] < TSR_TILE_FIRST, s[d] < TSR_TILE_FIRST);
            if (r[d] < TSR_TILE_FIRST) assert_int_equal(r[d], s[d]);
            else assert_true(p.key_of[r[d]] == q.key_of[s[d]]);
        }
    }
    if (p.pool.table)
        for (int64_t t = 0, n = (int64_t)p.pool.tiles[0] * p.pool.tiles[1] * p.pool.tiles[2]; t < n; t++)
            if (p.pool.table[t] < TSR_TILE_FIRST || q.pool.table[t] < TSR_TILE_FIRST) assert_int_equal(p.pool.table[t], q.pool.table[t]);
    picture_drop(&p);
    picture_drop(&q);
}

#endif
