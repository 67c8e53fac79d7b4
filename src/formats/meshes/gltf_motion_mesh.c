/* formats/meshes/gltf_motion_mesh.c: triangles and texture coordinates of glTF scenes that move. Khronos, "glTF 2.0 Specification", 3.7.2, and the extension
 * KHR_texture_transform. */
#include "formats/mesh_files.h"

#ifdef TSR_HAVE_JANSSON

#include <math.h>
#include <stdlib.h>

#include "core/number.h"
#include "formats/meshes/gltf_motion_parts.h"
#include "formats/meshes/polygons.h"

/* A transformed atlas may leave its square by so much: what quantised numbers are off. */
static const double EXCESS = 1.0 / 512;

/* What the colour's texture says of its coordinates: which set, and how it lies in the picture. */
static tsr_status take_texture(const gltf *g, piece *p, int64_t *set)
{
    const json_t *material;
    int64_t index;
    *set = 0;
    TSR_TRY(gltf_optional_index(g, p->primitive, "material", &index));
    if (index == NONE) return TSR_OK;
    TSR_TRY(gltf_item(g, "materials", index, &material));
    const json_t *texture = json_object_get(json_object_get(material, "pbrMetallicRoughness"), "baseColorTexture");
    const json_t *transform = json_object_get(json_object_get(texture, "extensions"), "KHR_texture_transform");
    TSR_TRY(gltf_integer(g, texture, "texCoord", 0, INT32_MAX, set));
    if (!transform) return TSR_OK;
    TSR_TRY(gltf_integer(g, transform, "texCoord", *set, INT32_MAX, set));
    p->scale[0] = p->scale[1] = 1;
    (void)gltf_numbers(transform, "offset", p->offset, 2);
    (void)gltf_numbers(transform, "scale", p->scale, 2);
    p->rotation = json_number_value(json_object_get(transform, "rotation"));
    if (!isfinite(p->offset[0] + p->offset[1] + p->scale[0] + p->scale[1] + p->rotation)) p->scale[0] = 0;
    return TSR_OK;
}

tsr_status tsr_gltf_piece_shape(const gltf *g, piece *p)
{
    const json_t *attributes = json_object_get(p->primitive, "attributes");
    char name[32];
    gltf_accessor a;
    int64_t set;
    TSR_TRY(take_texture(g, p, &set));
    tsr_print(name, sizeof name, "TEXCOORD_%lld", (long long)set);
    TSR_TRY(gltf_optional_index(g, attributes, name, &p->place));
    if (p->place == NONE) TSR_TRY(gltf_optional_index(g, attributes, "TEXCOORD_0", &p->place));
    TSR_TRY(gltf_optional_index(g, p->primitive, "indices", &p->indices));
    p->corners = p->vertices;
    if (p->indices != NONE) {
        TSR_TRY(gltf_accessor_open(g, p->indices, &a));
        p->corners = a.count;
    }
    p->triangles = p->mode == GLTF_TRIANGLES ? p->corners / 3 : tsr_fan_triangles(p->corners);
    return TSR_OK;
}

/* As the texture's transform has it, where an atlas comes of that: else (textures that repeat) as they are. */
static void transform_places(const piece *p, float *uv)
{
    const double c = cos(p->rotation), s = sin(p->rotation);
    double low[2] = { HUGE_VAL, HUGE_VAL }, high[2] = { -HUGE_VAL, -HUGE_VAL };
    if (p->scale[0] == 0 || p->scale[1] == 0) return;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < p->vertices; i++) {
            const double x = p->scale[0] * (double)uv[2 * i], y = p->scale[1] * (double)uv[2 * i + 1];
            const double to[2] = { c * x - s * y + p->offset[0], s * x + c * y + p->offset[1] };
            for (int k = 0; k < 2; k++) {
                low[k] = fmin(low[k], to[k]);
                high[k] = fmax(high[k], to[k]);
                if (pass) uv[2 * i + k] = (float)to[k];
            }
        }
        if (!(high[0] - low[0] <= 1 + EXCESS) || !(high[1] - low[1] <= 1 + EXCESS)) return;
    }
}

static tsr_status put_places(const tsr_gltf_motion *m, const piece *p, float *place)
{
    float *uv = NULL;
    if (p->place == NONE)
        TSR_FAIL(TSR_ERROR_FORMAT,
                 "%s: the glTF mesh '%.60s' of node %lld has no texture coordinates (TEXCOORD_0): unwrap it, or have it unwrapped here (unwrap)",
                 m->g.file, p->name, (long long)p->node);
    const tsr_status status = tsr_gltf_floats(&m->g, p->place, 2, p->vertices, "texture coordinates", &uv, NULL);
    if (status == TSR_OK) transform_places(p, uv);
    for (int64_t i = 0; status == TSR_OK && i < p->vertices; i++) {
        place[2 * (p->first + i)] = uv[2 * i];
        place[2 * (p->first + i) + 1] = 1 - uv[2 * i + 1]; /* v goes down there */
    }
    free(uv);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status put_triangles(const tsr_gltf_motion *m, const piece *p, uint32_t *triangle)
{
    gltf_accessor a;
    uint32_t *all = (uint32_t *)malloc(((size_t)p->corners + 1) * sizeof *all); /* an index count that is no multiple of three has a rest */
    tsr_status status = TSR_OK;
    if (!all) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld glTF indices", m->g.file, (long long)p->corners);
    for (int64_t i = 0; p->indices == NONE && i < p->corners; i++) all[i] = (uint32_t)i;
    if (p->indices != NONE) status = gltf_accessor_open(&m->g, p->indices, &a);
    if (p->indices != NONE && status == TSR_OK) status = gltf_accessor_indices(&m->g, &a, p->vertices, all);
    for (int64_t t = 0; t < p->triangles && status == TSR_OK; t++, triangle += 3) {
        int64_t k[3] = { 3 * t, 3 * t + 1, 3 * t + 2 };
        if (p->mode == GLTF_STRIP) k[0] = t, k[1] = t + 1 + (t & 1), k[2] = t + 2 - (t & 1);
        if (p->mode == GLTF_FAN) k[0] = 0, k[1] = t + 1, k[2] = t + 2;
        for (int c = 0; c < 3; c++) triangle[c] = (uint32_t)p->first + all[k[p->mirrored && c ? 3 - c : c]];
    }
    free(all);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_gltf_motion_mesh(const tsr_gltf_motion *m, float *place, uint32_t *triangle)
{
    for (int64_t k = 0; k < m->pieces; k++) {
        if (place) TSR_TRY(put_places(m, &m->piece[k], place));
        TSR_TRY(put_triangles(m, &m->piece[k], triangle));
        triangle += 3 * m->piece[k].triangles;
    }
    return TSR_OK;
}

#else
typedef int tsr_gltf_motion_mesh_left_out; /* jansson was not found */
#endif
