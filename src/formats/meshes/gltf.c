/* formats/meshes/gltf.c: glTF 2.0 scenes (.glb, .gltf) as one mesh: all triangles of the scene, each primitive under the transforms of its nodes, a part of its own. Normals
 * where every primitive has them; colours, which are linear in the file, where any primitive or material has one. Positions stay in the file's axes (y up) and
 * unit. Textures, their coordinates, skins, morph targets, lines and points are left out, with a remark. Written: GLB with one node a part. */
#include "formats/mesh_files.h"

#ifdef TSR_HAVE_JANSSON

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/srgb.h"
#include "formats/meshes/gltf.h"

/* ---- what is drawn ------------------------------------------------------------------------------------------------------------------------------- */

enum { DRAWS_MOST = 1 << 20, NONE = GLTF_NONE };

typedef struct draw {
    const json_t *node; /* NULL without nodes */
    const char *name;
    double place[3][4];
    float factor[4]; /* of the material */
    int64_t mode, position, normal, color, indices, vertices, corners, triangles;
    int64_t first; /* vertex */
    int shared;    /* the vertices of the draw before */
} draw;

typedef struct scene {
    gltf g;
    draw *item;
    int64_t count, room, vertices, triangles;
    int normals, colors;
    int64_t skipped;                          /* lines and points */
    int textures, coordinates, skins, morphs; /* what is left out */
} scene;

static tsr_status node_matrix(const gltf *g, const json_t *node, double m[3][4])
{
    gltf_placement p;
    gltf_placement_of(node, &p);
    return gltf_placement_matrix(g, &p, m);
}

static tsr_status take_material(scene *s, int64_t index, float factor[4])
{
    const json_t *material, *metal;
    double f[4];
    for (int k = 0; k < 4; k++) factor[k] = 1;
    if (index == NONE) return TSR_OK;
    TSR_TRY(gltf_item(&s->g, "materials", index, &material));
    metal = json_object_get(material, "pbrMetallicRoughness");
    s->textures |= json_object_get(metal, "baseColorTexture") != NULL;
    if (!gltf_numbers(metal, "baseColorFactor", f, 4)) return TSR_OK;
    for (int k = 0; k < 4; k++) {
        factor[k] = (float)(f[k] >= 0 && f[k] <= 1 ? f[k] : 1);
        s->colors |= factor[k] != 1;
    }
    return TSR_OK;
}

static tsr_status add_draw(scene *s, const json_t *node, const char *name, const json_t *primitive, const double place[3][4])
{
    const gltf *g = &s->g;
    const json_t *attributes = json_object_get(primitive, "attributes");
    draw d = { .node = node, .name = name };
    gltf_accessor a;
    int64_t material;
    TSR_TRY(gltf_refuse_packed(g, primitive));
    TSR_TRY(gltf_integer(g, primitive, "mode", GLTF_TRIANGLES, 6, &d.mode));
    TSR_TRY(gltf_optional_index(g, primitive, "material", &material));
    TSR_TRY(gltf_optional_index(g, attributes, "POSITION", &d.position));
    TSR_TRY(gltf_optional_index(g, attributes, "NORMAL", &d.normal));
    TSR_TRY(gltf_optional_index(g, attributes, "COLOR_0", &d.color));
    TSR_TRY(gltf_optional_index(g, primitive, "indices", &d.indices));
    if (d.mode < GLTF_TRIANGLES || d.position == NONE) {
        s->skipped++;
        return TSR_OK;
    }
    TSR_TRY(take_material(s, material, d.factor));
    s->coordinates |= json_object_get(attributes, "TEXCOORD_0") != NULL;
    s->skins |= json_object_get(attributes, "JOINTS_0") != NULL;
    s->morphs |= json_array_size(json_object_get(primitive, "targets")) > 0;
    s->colors |= d.color != NONE;
    TSR_TRY(gltf_accessor_open(g, d.position, &a));
    if (a.components != 3) TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF positions of %d numbers, expected VEC3", g->file, a.components);
    d.vertices = d.corners = a.count;
    for (int k = 0; k < 2; k++) {
        const int64_t other = k ? d.color : d.normal;
        if (other == NONE) continue;
        TSR_TRY(gltf_accessor_open(g, other, &a));
        if (a.count != d.vertices || a.components < 3)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld glTF %s of %d numbers for %lld positions", g->file, (long long)a.count, k ? "colours" : "normals",
                     a.components, (long long)d.vertices);
    }
    if (d.indices != NONE) {
        TSR_TRY(gltf_accessor_open(g, d.indices, &a));
        d.corners = a.count;
    }
    d.triangles = d.mode == GLTF_TRIANGLES ? d.corners / 3 : tsr_fan_triangles(d.corners);
    memcpy(d.place, place, sizeof d.place);
    const draw *last = s->count ? &s->item[s->count - 1] : NULL;
    d.shared = last && last->position == d.position && last->normal == d.normal && last->color == d.color &&
               !memcmp(last->place, d.place, sizeof d.place) && !memcmp(last->factor, d.factor, sizeof d.factor);
    d.first = d.shared ? last->first : s->vertices;
    if (!d.shared) s->vertices += d.vertices;
    s->triangles += d.triangles;
    s->normals &= d.normal != NONE;
    if (s->vertices > (int64_t)UINT32_MAX || s->triangles > INT64_MAX / 64)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a glTF scene of more than 4294967295 vertices", g->file);
    if (s->count == s->room) {
        const int64_t room = s->room ? 2 * s->room : 64;
        draw *grown = room > DRAWS_MOST ? NULL : (draw *)realloc(s->item, (size_t)room * sizeof *grown);
        if (!grown)
            TSR_FAIL(TSR_ERROR_MEMORY, "%s: %lld pieces of glTF meshes, out of memory or more than %d", g->file, (long long)room, (int)DRAWS_MOST);
        s->item = grown;
        s->room = room;
    }
    s->item[s->count++] = d;
    return TSR_OK;
}

static tsr_status add_mesh(scene *s, const json_t *node, int64_t index, const double place[3][4])
{
    const json_t *mesh;
    TSR_TRY(gltf_item(&s->g, "meshes", index, &mesh));
    const json_t *list = json_object_get(mesh, "primitives");
    const char *name = json_string_value(json_object_get(node, "name"));
    if (!name) name = json_string_value(json_object_get(mesh, "name"));
    for (size_t k = 0; k < json_array_size(list); k++) TSR_TRY(add_draw(s, node, name, json_array_get(list, k), place));
    return TSR_OK;
}

/* A node and all below it; a node belongs to one parent, so none comes twice. */
static tsr_status add_node(scene *s, int64_t index, const double above[3][4], uint8_t *seen, int depth)
{
    const json_t *node;
    double own[3][4], place[3][4];
    int64_t mesh;
    TSR_TRY(gltf_item(&s->g, "nodes", index, &node));
    if (seen[index] || depth > GLTF_DEPTH_MOST)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF node %lld comes twice, or lies too deep", s->g.file, (long long)index);
    seen[index] = 1;
    TSR_TRY(node_matrix(&s->g, node, own));
    gltf_multiply(above, own, place);
    TSR_TRY(gltf_optional_index(&s->g, node, "mesh", &mesh));
    if (mesh != NONE) TSR_TRY(add_mesh(s, node, mesh, place));
    if (json_object_get(json_object_get(node, "extensions"), "EXT_mesh_gpu_instancing"))
        tsr_remark("%s: copies of node %lld (EXT_mesh_gpu_instancing) are left out", s->g.file, (long long)index);
    const json_t *children = json_object_get(node, "children");
    for (size_t k = 0; k < json_array_size(children); k++) {
        const json_t *child = json_array_get(children, k);
        TSR_TRY(add_node(s, json_is_integer(child) ? json_integer_value(child) : -1, place, seen, depth + 1));
    }
    return TSR_OK;
}

static tsr_status add_scene(scene *s)
{
    const json_t *nodes = json_object_get(s->g.root, "nodes"), *list = NULL, *item;
    const size_t count = json_array_size(nodes);
    int64_t number;
    tsr_status status = TSR_OK;
    if (!count) { /* a library of meshes */
        for (size_t k = 0; k < json_array_size(json_object_get(s->g.root, "meshes")); k++) TSR_TRY(add_mesh(s, NULL, (int64_t)k, gltf_identity));
        return TSR_OK;
    }
    TSR_TRY(gltf_integer(&s->g, s->g.root, "scene", 0, INT32_MAX, &number));
    const size_t scenes = json_array_size(json_object_get(s->g.root, "scenes"));
    if (scenes) {
        TSR_TRY(gltf_item(&s->g, "scenes", number, &item));
        list = json_object_get(item, "nodes");
        if (scenes > 1) tsr_remark("%s: of %zu glTF scenes the one that the file names, %lld, is read", s->g.file, scenes, (long long)number);
    }
    uint8_t *seen = (uint8_t *)calloc(2 * count, 1), *below = seen + count;
    if (!seen) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %zu nodes", s->g.file, count);
    for (size_t k = 0; k < json_array_size(list) && status == TSR_OK; k++) {
        const json_t *root = json_array_get(list, k);
        status = add_node(s, json_is_integer(root) ? json_integer_value(root) : -1, gltf_identity, seen, 0);
    }
    if (!scenes) { /* those that are no child of another */
        for (size_t k = 0; k < count; k++) {
            const json_t *children = json_object_get(json_array_get(nodes, k), "children");
            for (size_t c = 0; c < json_array_size(children); c++) {
                const int64_t child = json_integer_value(json_array_get(children, c));
                if (child >= 0 && child < (int64_t)count) below[child] = 1;
            }
        }
        for (size_t k = 0; k < count && status == TSR_OK; k++)
            if (!below[k]) status = add_node(s, (int64_t)k, gltf_identity, seen, 0);
    }
    free(seen);
    return status;
}

/* ---- vertices and triangles ---------------------------------------------------------------------------------------------------------------------- */

static uint8_t display(float linear)
{
    const double c = tsr_srgb_of_linear((double)linear);
    return c >= 1 ? 255 : c > 0 ? (uint8_t)(c * 255 + 0.5) : 0;
}

static tsr_status fill_vertices(const scene *s, const draw *d, tsr_places *places, float *scratch, tsr_mesh *mesh)
{
    const double(*m)[4] = d->place;
    gltf_accessor a;
    TSR_TRY(gltf_accessor_open(&s->g, d->position, &a));
    gltf_accessor_floats(&a, 3, scratch);
    const int plain = !memcmp(m, gltf_identity, sizeof gltf_identity);
    float *to = mesh->vertices + 3 * d->first;
    for (int64_t i = 0; i < d->vertices; i++, to += 3) {
        const float *p = scratch + 3 * i;
        for (int r = 0; r < 3; r++)
            to[r] = tsr_place(places, r, plain ? (double)p[r] : m[r][0] * (double)p[0] + m[r][1] * (double)p[1] + m[r][2] * (double)p[2] + m[r][3]);
    }
    return TSR_OK;
}

/* Normals turn by the inverse transpose, whose rows are the cross products of the matrix's. */
static tsr_status fill_normals(const scene *s, const draw *d, float *scratch, tsr_mesh *mesh)
{
    const double(*m)[4] = d->place;
    double n[3][3];
    gltf_accessor a;
    TSR_TRY(gltf_accessor_open(&s->g, d->normal, &a));
    gltf_accessor_floats(&a, 3, scratch);
    float *to = mesh->normals + 3 * d->first;
    if (!memcmp(m, gltf_identity, sizeof gltf_identity)) {
        memcpy(to, scratch, (size_t)d->vertices * 3 * sizeof *to);
        return TSR_OK;
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            n[r][c] = m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1];
        }
    const double sign = m[0][0] * n[0][0] + m[0][1] * n[0][1] + m[0][2] * n[0][2] < 0 ? -1 : 1;
    for (int64_t i = 0; i < d->vertices; i++, to += 3) {
        const float *p = scratch + 3 * i;
        double v[3], length = 0;
        for (int r = 0; r < 3; r++) {
            v[r] = sign * (n[r][0] * (double)p[0] + n[r][1] * (double)p[1] + n[r][2] * (double)p[2]);
            length += v[r] * v[r];
        }
        length = sqrt(length);
        for (int r = 0; r < 3; r++) to[r] = length > 0 ? (float)(v[r] / length) : 0;
    }
    return TSR_OK;
}

static tsr_status fill_colors(const scene *s, const draw *d, float *scratch, tsr_mesh *mesh)
{
    gltf_accessor a;
    uint8_t *to = mesh->colors + 4 * d->first, one[4];
    for (int k = 0; k < 4; k++) one[k] = k < 3 ? display(d->factor[k]) : (uint8_t)(d->factor[3] * 255.0f + 0.5f);
    if (d->color == NONE) {
        for (int64_t i = 0; i < d->vertices; i++) memcpy(to + 4 * i, one, 4);
        return TSR_OK;
    }
    TSR_TRY(gltf_accessor_open(&s->g, d->color, &a));
    gltf_accessor_floats(&a, 4, scratch);
    for (int64_t i = 0; i < d->vertices; i++) {
        const float *c = scratch + 4 * i, alpha = c[3] * d->factor[3];
        for (int k = 0; k < 3; k++) to[4 * i + k] = display(c[k] * d->factor[k]);
        to[4 * i + 3] = alpha >= 1 ? 255 : alpha > 0 ? (uint8_t)(alpha * 255.0f + 0.5f) : 0;
    }
    return TSR_OK;
}

static tsr_status fill_triangles(const scene *s, const draw *d, uint32_t *corners, uint32_t *to)
{
    gltf_accessor a;
    const double(*m)[4] = d->place;
    const double volume = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                          m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    if (d->indices == NONE)
        for (int64_t i = 0; i < d->corners; i++) corners[i] = (uint32_t)i;
    else {
        TSR_TRY(gltf_accessor_open(&s->g, d->indices, &a));
        TSR_TRY(gltf_accessor_indices(&s->g, &a, d->vertices, corners));
    }
    for (int64_t t = 0; t < d->triangles; t++, to += 3) {
        int64_t k[3] = { 3 * t, 3 * t + 1, 3 * t + 2 };
        if (d->mode == GLTF_STRIP) k[0] = t, k[1] = t + 1 + (t & 1), k[2] = t + 2 - (t & 1);
        if (d->mode == GLTF_FAN) k[0] = 0, k[1] = t + 1, k[2] = t + 2;
        for (int c = 0; c < 3; c++) to[c] = (uint32_t)(d->first + (int64_t)corners[k[c]]);
        if (volume < 0) { /* a mirror turns what is outside */
            const uint32_t last = to[2];
            to[2] = to[1];
            to[1] = last;
        }
    }
    return TSR_OK;
}

static tsr_status add_part(const draw *d, int64_t number, tsr_part_list *parts)
{
    const json_t *label = json_object_get(json_object_get(d->node, "extras"), "label"); /* as it is written here */
    const tsr_word name = { d->name, d->name ? strlen(d->name) : 0 };
    return tsr_part_list_add(parts, json_is_integer(label) ? json_integer_value(label) : number, name, d->triangles);
}

static tsr_status fill(scene *s, const tsr_read_options *options, tsr_mesh *mesh)
{
    int64_t most = 1, triangle = 0;
    float *scratch = NULL;
    tsr_part_list parts = { 0 };
    tsr_status status = TSR_OK;
    for (int64_t k = 0; k < s->count; k++) most = tsr_max64(most, tsr_max64(s->item[k].corners, 4 * s->item[k].vertices));
    TSR_TRY(tsr_scratch_for_input(s->g.input, most, sizeof *scratch, "the numbers of a glTF mesh", (void **)&scratch));
    tsr_places places = tsr_places_begin();
    do
        for (int64_t k = 0; k < s->count; k++)
            if (!s->item[k].shared) TSR_TRY_GOTO(fill_vertices(s, &s->item[k], &places, scratch, mesh), done);
    while (tsr_places_again(&places, options));
    memcpy(mesh->origin, places.origin, sizeof places.origin);
    for (int64_t k = 0; k < s->count; k++) {
        const draw *d = &s->item[k];
        TSR_READING(&options->progress, k << 16, (double)k / (double)s->count);
        if (mesh->normals && !d->shared) TSR_TRY_GOTO(fill_normals(s, d, scratch, mesh), done);
        if (mesh->colors && !d->shared) TSR_TRY_GOTO(fill_colors(s, d, scratch, mesh), done);
        if (d->triangles) TSR_TRY_GOTO(fill_triangles(s, d, (uint32_t *)(void *)scratch, mesh->triangles + 3 * triangle), done);
        triangle += d->triangles;
        TSR_TRY_GOTO(add_part(d, k, &parts), done);
    }
    TSR_TRY_GOTO(tsr_part_list_set(&parts, NULL, 2, mesh), done);
done:
    tsr_part_list_free(&parts);
    tsr_host_release(NULL, scratch, 0);
    return status;
}

static void remark_rest(const scene *s)
{
    char list[256] = "";
    const struct {
        int is;
        const char *name;
    } left[] = { { s->textures, "textures" },
                 { s->coordinates, "texture coordinates" },
                 { s->skins, "skins" },
                 { s->morphs, "morph targets" },
                 { s->skipped > 0, "lines and points" } };
    size_t used = 0;
    for (size_t k = 0; k < sizeof left / sizeof *left; k++)
        if (left[k].is) used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", left[k].name);
    if (used) tsr_remark("%s: a mesh has no place for what the scene holds besides, which is left out: %s", s->g.file, list);
}

static tsr_status read_scene(scene *s, const tsr_read_options *options, tsr_mesh **mesh)
{
    tsr_status status;
    const char *space;
    TSR_TRY(gltf_open(s->g.input, &s->g));
    TSR_TRY(add_scene(s));
    if (!s->count && !s->skipped) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no mesh in the glTF scene", s->g.file);
    TSR_TRY(tsr_mesh_for_input(s->g.input, s->vertices, s->triangles, s->normals && s->count, mesh));
    if (s->colors) TSR_TRY_GOTO(tsr_mesh_add_colors(*mesh), fail);
    TSR_TRY_GOTO(fill(s, options, *mesh), fail);
    TSR_TRY_GOTO(tsr_mesh_check_positions(s->g.input, *mesh), fail);
    space = json_string_value(json_object_get(json_object_get(json_object_get(s->g.root, "asset"), "extras"), "space"));
    if (space) (*mesh)->space = tsr_space_from_comment(space, strlen(space), TSR_SPACE_NONE);
    remark_rest(s);
    return TSR_OK;
fail:
    tsr_mesh_destroy(mesh);
    return status;
}

static tsr_status read_mesh(tsr_input *input, const tsr_read_options *options, tsr_mesh **mesh)
{
    scene s = { .g.input = input, .normals = 1 };
    *mesh = NULL;
    const tsr_status status = read_scene(&s, options, mesh);
    free(s.item);
    gltf_close(&s.g);
    TSR_TRY(status);
    return TSR_OK;
}

#else

static tsr_status read_mesh(tsr_input *input, const tsr_read_options *options, tsr_mesh **mesh)
{
    (void)options;
    *mesh = NULL;
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: this build of tessera has no glTF (libjansson-dev was not found)", tsr_input_name(input));
}
tsr_status gltf_write_mesh(const tsr_mesh *mesh, const char *path, const tsr_write_options *options);
tsr_status gltf_write_mesh(const tsr_mesh *mesh, const char *path, const tsr_write_options *options)
{
    (void)mesh, (void)options;
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: this build of tessera has no glTF (libjansson-dev was not found)", path);
}

#endif

static int contains(const tsr_signature *s, const char *text)
{
    const size_t n = strlen(text);
    for (size_t k = 0; k + n <= s->head_bytes; k++)
        if (!memcmp(s->head + k, text, n)) return 1;
    return 0;
}

static int recognise(const tsr_signature *s)
{
    size_t at = 0;
    if (s->head_bytes >= 4 && !memcmp(s->head, "glTF", 4)) return TSR_SURELY_MINE;
    while (at < s->head_bytes && (s->head[at] == ' ' || s->head[at] == '\n' || s->head[at] == '\r' || s->head[at] == '\t')) at++;
    if (at == s->head_bytes || s->head[at] != '{') return TSR_NOT_MINE;
    if (contains(s, "\"asset\"")) return TSR_SURELY_MINE;
    return contains(s, "\"accessors\"") || contains(s, "\"bufferViews\"") || contains(s, "\"meshes\"") ? TSR_MAYBE_MINE : TSR_NOT_MINE;
}

const tsr_format tsr_format_gltf = { .name = "gltf",
                                     .kind = TSR_FILE_MESH,
                                     .extensions = { ".glb", ".gltf" },
                                     .recognise = recognise,
                                     .mesh_extras = TSR_MESH_COLORS | TSR_MESH_PARTS | TSR_MESH_ORIGIN,
                                     .read_mesh = read_mesh,
                                     .write_mesh = gltf_write_mesh };
