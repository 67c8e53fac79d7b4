/* vision/textures/multiview_bytes.c: models as bytes: docs/theory/multiview-textures.md 6. Whole numbers are predicted (indices from the one before, positions
 * from the two steps before), what is left is sorted into planes of bytes, and all goes through deflate: exact, and small for meshes that move smoothly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/deflate.h"
#include "io/inflate.h"
#include "io/little_endian.h"
#include "vision/textures/multiview_model.h"

enum { HEAD = 112, VERSION = 1, NO_GRID = -1, GRID_MOST = 30, CAMERA_REALS = 47, CAMERA = 8 * CAMERA_REALS + 8 };
static const char magic[4] = { 'T', 'M', 'V', 'M' };
#define OWN(type, pointer) ((type *)(uintptr_t)(pointer))

/* ---- numbers --------------------------------------------------------------------------------------------------------------------- */

static uint32_t fold(uint32_t difference) { return difference << 1 ^ (0u - (difference >> 31)); } /* small numbers of either sign become small */
static uint32_t unfold(uint32_t v) { return v >> 1 ^ (0u - (v & 1)); }

/* Planes of bytes: number i of n is at i of each. */
static void put_plane(uint8_t *to, int64_t n, int64_t i, uint32_t v)
{
    for (int k = 0; k < 4; k++) to[k * n + i] = (uint8_t)(v >> (8 * k));
}
static uint32_t get_plane(const uint8_t *from, int64_t n, int64_t i)
{
    uint32_t v = 0;
    for (int k = 0; k < 4; k++) v |= (uint32_t)from[k * n + i] << (8 * k);
    return v;
}

/* Numbers predicted from the one `stride` before. */
static uint8_t *put_row(uint8_t *to, const uint32_t *v, int64_t n, int64_t stride)
{
    for (int64_t i = 0; i < n; i++) put_plane(to, n, i, fold(v[i] - (i >= stride ? v[i - stride] : 0u)));
    return to + 4 * n;
}
static const uint8_t *get_row(const uint8_t *from, uint32_t *v, int64_t n, int64_t stride)
{
    for (int64_t i = 0; i < n; i++) v[i] = unfold(get_plane(from, n, i)) + (i >= stride ? v[i - stride] : 0u);
    return from + 4 * n;
}

/* Positions are whole multiples of 2^-grid, or their bits are taken. */
static uint32_t to_whole(float v, int32_t grid)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return grid == NO_GRID ? bits : (uint32_t)(int32_t)ldexp((double)v, grid);
}
static float from_whole(uint32_t v, int32_t grid)
{
    float f;
    memcpy(&f, &v, 4);
    return grid == NO_GRID ? f : (float)ldexp((double)(int32_t)v, -grid);
}
static int32_t find_grid(const float *v, int64_t n)
{
    int32_t grid = 0;
    for (int64_t i = 0; i < n; i++) {
        if (v[i] == 0 && signbit(v[i])) return NO_GRID;
        double scaled = ldexp((double)v[i], grid);
        while (scaled != floor(scaled)) {
            if (++grid > GRID_MOST) return NO_GRID;
            scaled *= 2;
        }
    }
    for (int64_t i = 0; i < n; i++)
        if (fabs(ldexp((double)v[i], grid)) > 0x1p30) return NO_GRID;
    return grid;
}

static uint32_t predicted(const uint32_t *one, const uint32_t *two, int64_t i, uint32_t before)
{
    return two ? 2 * one[i] - two[i] : one ? one[i] : before;
}

/* ---- cameras --------------------------------------------------------------------------------------------------------------------- */

/* The places of a camera's numbers, in the order of the format. */
static void camera_reals(tsr_camera *c, double *at[CAMERA_REALS])
{
    int n = 0;
    at[n++] = &c->position.x;
    at[n++] = &c->position.y;
    at[n++] = &c->position.z;
    for (int i = 0; i < 9; i++) at[n++] = &c->rotation[i / 3][i % 3];
    at[n++] = &c->fov;
    at[n++] = &c->height;
    at[n++] = &c->aspect;
    for (int i = 0; i < 2; i++) at[n++] = &c->offset[i];
    for (int i = 0; i < 2; i++) at[n++] = &c->clip[i];
    for (int i = 0; i < 16; i++) at[n++] = &c->matrix[i];
    double *lens[] = { &c->lens.k1,       &c->lens.k2, &c->lens.k3, &c->lens.p1, &c->lens.p2,    &c->lens.shift[0],
                       &c->lens.shift[1], &c->lens.k4, &c->lens.k5, &c->lens.k6, &c->lens.focal, &c->lens.pixel_aspect };
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) at[n++] = lens[i];
    TSR_ASSERT(n == CAMERA_REALS);
}
static uint8_t *put_camera(uint8_t *to, const tsr_camera *camera)
{
    tsr_camera c = *camera;
    double *at[CAMERA_REALS];
    camera_reals(&c, at);
    for (int i = 0; i < CAMERA_REALS; i++) {
        uint64_t bits;
        memcpy(&bits, at[i], 8);
        tsr_put_u64(to + 8 * i, bits);
    }
    tsr_put_u32(to + 8 * CAMERA_REALS, (uint32_t)c.projection);
    tsr_put_u32(to + 8 * CAMERA_REALS + 4, (uint32_t)c.lens.model);
    return to + CAMERA;
}
static tsr_status get_camera(const char *name, const uint8_t **from, tsr_camera *camera)
{
    double *at[CAMERA_REALS];
    memset(camera, 0, sizeof *camera);
    camera_reals(camera, at);
    for (int i = 0; i < CAMERA_REALS; i++) *at[i] = tsr_get_f64(*from + 8 * i);
    const uint32_t projection = tsr_get_u32(*from + 8 * CAMERA_REALS), lens = tsr_get_u32(*from + 8 * CAMERA_REALS + 4);
    if (projection > TSR_PROJECTION_MATRIX || lens > TSR_LENS_FISHEYE)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: a camera of projection %u with a lens of model %u, expected 0 to 2 each", name, projection, lens);
    camera->projection = (tsr_projection)projection;
    camera->lens.model = (tsr_lens_model)lens;
    *from += CAMERA;
    return TSR_OK;
}

/* ---- writing --------------------------------------------------------------------------------------------------------------------- */

static int64_t plain_bytes(const tsr_multiview_parts *p)
{
    return 4 * (6 * p->triangles + 2 * p->places + 3 * p->vertices * p->steps) + (int64_t)CAMERA * p->camera_steps * p->cameras + 8ll * p->cameras;
}

static void put_plain(const tsr_multiview_parts *p, int32_t grid, uint32_t *whole, uint8_t *to)
{
    to = put_row(to, p->triangle, 3 * p->triangles, 3);
    to = put_row(to, p->corner, 3 * p->triangles, 3);
    for (int64_t i = 0; i < 2 * p->places; i++) put_plane(to, 2 * p->places, i, to_whole(p->place[i], NO_GRID));
    to += 8 * p->places;
    const int64_t n = 3 * p->vertices;
    for (int32_t t = 0; t < p->steps; t++) { /* three steps' numbers in turn */
        uint32_t *own = whole + (t % 3) * n, *one = t > 0 ? whole + ((t + 2) % 3) * n : NULL, *two = t > 1 ? whole + ((t + 1) % 3) * n : NULL;
        for (int64_t i = 0; i < n; i++) {
            own[i] = to_whole(p->position[t * n + i], grid);
            put_plane(to, n, i, fold(own[i] - predicted(one, two, i, i >= 3 ? own[i - 3] : 0)));
        }
        to += 4 * n;
    }
    for (int64_t i = 0; i < (int64_t)p->camera_steps * p->cameras; i++) to = put_camera(to, &p->camera[i]);
    for (int32_t i = 0; i < 2 * p->cameras; i++) tsr_put_u32(to + 4 * i, (uint32_t)p->picture[i]);
}

static void put_head(const tsr_multiview_parts *p, int32_t grid, uint8_t *to)
{
    const int32_t whole[9] = { VERSION, p->width, p->height, p->cameras, p->steps, p->camera_steps, p->rules.scale, p->rules.vote, grid };
    const int64_t counts[3] = { p->vertices, p->places, p->triangles };
    const double rules[4] = { p->rules.bias, p->rules.slope, p->rules.slope_most, p->rules.cos_min };
    memset(to, 0, HEAD);
    memcpy(to, magic, 4);
    for (int i = 0; i < 9; i++) tsr_put_u32(to + 4 + 4 * i, (uint32_t)whole[i]);
    for (int i = 0; i < 3; i++) tsr_put_u64(to + 40 + 8 * i, (uint64_t)counts[i]);
    for (int i = 0; i < 4; i++) {
        uint64_t bits;
        memcpy(&bits, &rules[i], 8);
        tsr_put_u64(to + 64 + 8 * i, bits);
    }
}

typedef struct grown {
    uint8_t *bytes;
    size_t size, room;
} grown;
static tsr_status take(void *user, const void *bytes, size_t size)
{
    grown *g = (grown *)user;
    if (g->size + size > g->room) {
        const size_t room = 2 * (g->size + size);
        uint8_t *more = (uint8_t *)realloc(g->bytes, room);
        if (!more) TSR_FAIL(TSR_ERROR_MEMORY, "model: out of host memory for %zu bytes", room);
        g->bytes = more;
        g->room = room;
    }
    memcpy(g->bytes + g->size, bytes, size);
    g->size += size;
    return TSR_OK;
}

tsr_status tsr_multiview_model_pack(const tsr_multiview_model *model, uint8_t **bytes, size_t *size)
{
    TSR_RETURNS(bytes);
    TSR_NEEDS(model);
    tsr_status status;
    uint8_t head[HEAD], *plain = NULL;
    uint32_t *whole = NULL;
    tsr_deflater *deflater = NULL;
    grown out = { NULL, 0, 0 };
    if (!bytes || !size) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", bytes ? "size" : "bytes");
    *size = 0;
    const tsr_multiview_parts *p = &model->parts;
    const int32_t grid = find_grid(p->position, 3 * p->vertices * p->steps);
    const size_t plain_size = (size_t)plain_bytes(p), whole_size = (size_t)p->vertices * 9 * sizeof *whole;
    TSR_TRY_GOTO(tsr_host_allocate(NULL, plain_size, (void **)&plain), end);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, whole_size, (void **)&whole), end);
    put_head(p, grid, head);
    put_plain(p, grid, whole, plain);
    TSR_TRY_GOTO(take(&out, head, HEAD), end);
    TSR_TRY_GOTO(tsr_deflater_create(TSR_WRAPPER_ZLIB, 9, take, &out, &deflater), end);
    TSR_TRY_GOTO(tsr_deflater_write(deflater, plain, plain_size), end);
    TSR_TRY_GOTO(tsr_deflater_end(deflater), end);
    *bytes = out.bytes;
    *size = out.size;
    out.bytes = NULL;
end:
    tsr_deflater_destroy(&deflater);
    tsr_host_release(NULL, whole, whole_size);
    tsr_host_release(NULL, plain, plain_size);
    free(out.bytes);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------------------------------------------- */

static tsr_status get_head(const char *name, const uint8_t *at, size_t size, tsr_multiview_parts *p, int32_t *grid)
{
    int32_t whole[9];
    int64_t counts[3];
    double rules[4];
    if (size < HEAD || memcmp(at, magic, 4) != 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: %s", name, size < HEAD ? "a model that ends in its header" : "no model, which begins with 'TMVM'");
    for (int i = 0; i < 9; i++) whole[i] = tsr_get_i32(at + 4 + 4 * i);
    for (int i = 0; i < 3; i++) counts[i] = tsr_get_i64(at + 40 + 8 * i);
    for (int i = 0; i < 4; i++) rules[i] = tsr_get_f64(at + 64 + 8 * i);
    if (whole[0] != VERSION) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: a model of version %d, expected %d", name, whole[0], VERSION);
    for (int i = 96; i < HEAD; i++)
        if (at[i]) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: byte %d of a model's header is %d, expected 0", name, i, at[i]);
    *p = (tsr_multiview_parts){ .struct_size = sizeof *p,
                                .width = whole[1],
                                .height = whole[2],
                                .cameras = whole[3],
                                .steps = whole[4],
                                .camera_steps = whole[5],
                                .vertices = counts[0],
                                .places = counts[1],
                                .triangles = counts[2],
                                .rules = { rules[0], rules[1], rules[2], rules[3], whole[7], whole[6] } };
    *grid = whole[8];
    if (*grid < NO_GRID || *grid > GRID_MOST) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: a grid of 2^-%d, expected 0 to %d, or -1", name, *grid, GRID_MOST);
    TSR_TRY(tsr_multiview_check_sizes(name, TSR_ERROR_FORMAT, p));
    tsr_mask_rules taken;
    if (p->rules.scale < 1 || tsr_mask_rules_take(name, &p->rules, &taken) != TSR_OK || memcmp(&taken, &p->rules, sizeof taken) != 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: rules of masks out of range: bias %g, slope %g, at most %g, cosine %g, vote %d, scale %d", name, rules[0],
                 rules[1], rules[2], rules[3], whole[7], whole[6]);
    return TSR_OK;
}

static tsr_status get_plain(const char *name, const uint8_t *from, int32_t grid, uint32_t *whole, tsr_multiview_model *model)
{
    const tsr_multiview_parts *p = &model->parts;
    from = get_row(from, OWN(uint32_t, p->triangle), 3 * p->triangles, 3);
    from = get_row(from, OWN(uint32_t, p->corner), 3 * p->triangles, 3);
    for (int64_t i = 0; i < 2 * p->places; i++) OWN(float, p->place)[i] = from_whole(get_plane(from, 2 * p->places, i), NO_GRID);
    from += 8 * p->places;
    const int64_t n = 3 * p->vertices;
    for (int32_t t = 0; t < p->steps; t++) {
        uint32_t *own = whole + (t % 3) * n, *one = t > 0 ? whole + ((t + 2) % 3) * n : NULL, *two = t > 1 ? whole + ((t + 1) % 3) * n : NULL;
        for (int64_t i = 0; i < n; i++) {
            own[i] = unfold(get_plane(from, n, i)) + predicted(one, two, i, i >= 3 ? own[i - 3] : 0);
            OWN(float, p->position)[t * n + i] = from_whole(own[i], grid);
        }
        from += 4 * n;
    }
    for (int64_t i = 0; i < (int64_t)p->camera_steps * p->cameras; i++) TSR_TRY(get_camera(name, &from, OWN(tsr_camera, p->camera) + i));
    for (int32_t i = 0; i < 2 * p->cameras; i++) OWN(int32_t, p->picture)[i] = tsr_get_i32(from + 4 * i);
    return tsr_multiview_model_complete(name, TSR_ERROR_FORMAT, model);
}

tsr_status tsr_multiview_model_unpack(const void *bytes, size_t size, const char *name, int64_t memory_limit, tsr_multiview_model **model)
{
    TSR_RETURNS(model);
    tsr_status status;
    tsr_multiview_parts p;
    int32_t grid = NO_GRID;
    uint8_t *plain = NULL;
    uint32_t *whole = NULL;
    if (!bytes || !name) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", bytes ? "name" : "bytes");
    TSR_TRY(get_head(name, (const uint8_t *)bytes, size, &p, &grid));
    const int64_t plain_size = plain_bytes(&p), whole_size = p.vertices * 9 * (int64_t)sizeof *whole;
    if (plain_size / TSR_DEFLATE_MOST_RATIO > (int64_t)(size - HEAD))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: a model of %lld bytes in %zu packed ones, which cannot be", name, (long long)plain_size, size - HEAD);
    if (memory_limit <= 0) memory_limit = tsr_physical_memory();
    if (plain_size > memory_limit / 3)
        TSR_FAIL(TSR_ERROR_MEMORY, "%.200s: a model of %lld bytes, which takes three times as many, over the limit of %lld", name,
                 (long long)plain_size, (long long)memory_limit);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)plain_size, (void **)&plain), end);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)whole_size, (void **)&whole), end);
    size_t stored = 0;
    int over = 0;
    TSR_TRY_GOTO(tsr_inflate_whole(name, (const uint8_t *)bytes + HEAD, size - HEAD, TSR_WRAPPER_ZLIB, plain, (size_t)plain_size, &stored, &over),
                 end);
    if (over || stored != (size_t)plain_size)
        TSR_FAIL_GOTO(TSR_ERROR_FORMAT, end, "%.200s: a model of %s than %lld bytes, expected as many", name, over ? "more" : "fewer",
                      (long long)plain_size);
    TSR_TRY_GOTO(tsr_multiview_model_allocate(&p, model), end);
    TSR_TRY_GOTO(get_plain(name, plain, grid, whole, *model), end);
end:
    tsr_host_release(NULL, whole, (size_t)whole_size);
    tsr_host_release(NULL, plain, (size_t)plain_size);
    if (status != TSR_OK) tsr_multiview_model_destroy(model);
    return status;
}
