/* Meshes written as PLY: text or binary of either byte order. */
#include <stdlib.h>
#include <string.h>

#include "formats/meshes/ply.h"

/* What the vertices and faces of a mesh are written as. */
typedef struct ply_layout {
    int far, colors; /* bytes of the colour: 0, 3, 4 */
    ply_type label;  /* PLY_TYPES: none */
} ply_layout;

static ply_layout layout_of(const tsr_mesh *mesh)
{
    ply_layout l = { tsr_has_origin(mesh->origin), mesh->colors ? 3 : 0, mesh->part_count ? PLY_I32 : PLY_TYPES };
    for (int64_t v = 0; v < mesh->vertex_count && l.colors == 3; v++)
        if (mesh->colors[4 * v + 3] != 255) l.colors = 4;
    for (int32_t i = 0; i < mesh->part_count; i++)
        if (mesh->parts[i].value < INT32_MIN || mesh->parts[i].value > INT32_MAX) l.label = PLY_F64;
    return l;
}

static tsr_status write_header(tsr_output *out, const tsr_mesh *mesh, const ply_layout *layout, const tsr_write_options *options)
{
    static const char *const colors[] = { "red", "green", "blue", "alpha" };
    const char *real = layout->far ? "double" : "float";
    tsr_output_printf(out, "ply\nformat %s 1.0\ncomment tessera\n",
                      options->ascii        ? "ascii"
                      : options->big_endian ? "binary_big_endian"
                                            : "binary_little_endian");
    if (mesh->space != TSR_SPACE_NONE) tsr_output_printf(out, "comment %s\n", tsr_space_comment(mesh->space));
    for (int32_t i = 0; i < mesh->part_count; i++) {
        const tsr_mesh_part *p = &mesh->parts[i];
        if (p->name && *p->name && !strpbrk(p->name, "\r\n")) tsr_output_printf(out, "comment label %lld %s\n", (long long)p->value, p->name);
    }
    tsr_output_printf(out, "element vertex %lld\nproperty %s x\nproperty %s y\nproperty %s z\n", (long long)mesh->vertex_count, real, real, real);
    if (mesh->normals) tsr_output_printf(out, "property float nx\nproperty float ny\nproperty float nz\n");
    for (int k = 0; k < layout->colors; k++) tsr_output_printf(out, "property uchar %s\n", colors[k]);
    tsr_output_printf(out, "element face %lld\nproperty list uchar %s vertex_indices\n", (long long)mesh->triangle_count,
                      mesh->vertex_count > INT32_MAX ? "uint" : "int");
    if (layout->label != PLY_TYPES) tsr_output_printf(out, "property %s label\n", tsr_ply_type_names[layout->label][0]);
    return tsr_output_printf(out, "end_header\n");
}

/* What the threads need of a mesh. */
typedef struct ply_items {
    const tsr_mesh *mesh;
    const ply_layout *layout;
    const int64_t *ends; /* of the parts: their triangles and those before */
    int swap;
} ply_items;

/* The label of triangle t: that of the first part that ends behind it. */
static int64_t label_of(const ply_items *p, int64_t t)
{
    int32_t low = 0, count = p->mesh->part_count;
    while (count > 0) {
        const int32_t half = count / 2, behind = p->ends[low + half] <= t;
        low += behind ? half + 1 : 0;
        count = behind ? count - half - 1 : half;
    }
    return p->mesh->parts[low].value;
}

static char *put_vertex_text(const void *user, int64_t v, char *at)
{
    const ply_items *p = (const ply_items *)user;
    const tsr_mesh *mesh = p->mesh;
    const int colors = p->layout->colors;
    at = tsr_put_position(at, "", mesh->vertices + 3 * v, mesh->origin, mesh->normals || colors ? " " : "\n");
    if (mesh->normals) at = tsr_put_floats(at, "", mesh->normals + 3 * v, colors ? " " : "\n");
    for (int k = 0; k < colors; k++) at = tsr_put_text(tsr_put_integer(at, mesh->colors[4 * v + k]), k + 1 < colors ? " " : "\n");
    return at;
}

static char *put_face_text(const void *user, int64_t t, char *at)
{
    const ply_items *p = (const ply_items *)user;
    at = tsr_put_triangle(at, "3", p->mesh->triangles + 3 * t, 0, 0);
    if (p->layout->label == PLY_TYPES) return at;
    const int64_t label = label_of(p, t);
    at[-1] = ' ';
    if (label < 0) *at++ = '-';
    at = tsr_put_integer(at, label < 0 ? 0 - (uint64_t)label : (uint64_t)label);
    *at++ = '\n';
    return at;
}

static char *store4(char *to, const void *value, int swap)
{
    uint32_t bits;
    memcpy(&bits, value, 4);
    if (swap) bits = __builtin_bswap32(bits);
    memcpy(to, &bits, 4);
    return to + 4;
}
static char *store8(char *to, double value, int swap)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    if (swap) bits = __builtin_bswap64(bits);
    memcpy(to, &bits, 8);
    return to + 8;
}

static char *put_vertex(const void *user, int64_t v, char *at)
{
    const ply_items *p = (const ply_items *)user;
    const tsr_mesh *mesh = p->mesh;
    const float *x = mesh->vertices + 3 * v;
    for (int k = 0; k < 3; k++) at = p->layout->far ? store8(at, mesh->origin[k] + (double)x[k], p->swap) : store4(at, x + k, p->swap);
    for (int k = 0; mesh->normals && k < 3; k++) at = store4(at, mesh->normals + 3 * v + k, p->swap);
    if (p->layout->colors) memcpy(at, mesh->colors + 4 * v, (size_t)p->layout->colors);
    return at + p->layout->colors;
}

static char *put_face(const void *user, int64_t t, char *at)
{
    const ply_items *p = (const ply_items *)user;
    *at++ = 3;
    for (int k = 0; k < 3; k++) at = store4(at, p->mesh->triangles + 3 * t + k, p->swap);
    if (p->layout->label == PLY_TYPES) return at;
    const int64_t label = label_of(p, t);
    const int32_t narrow = (int32_t)label;
    return p->layout->label == PLY_I32 ? store4(at, &narrow, p->swap) : store8(at, (double)label, p->swap);
}

static tsr_status write_body(tsr_output *out, const tsr_mesh *mesh, const ply_layout *layout, const tsr_write_options *options)
{
    enum { TEXT_VERTEX = TSR_TEXT_PLACES + TSR_TEXT_FLOATS + 4 * 4, BYTES_VERTEX = 3 * 8 + 3 * 4 + 4 };
    int64_t *ends = (int64_t *)malloc((size_t)(mesh->part_count + 1) * sizeof *ends), end = 0;
    if (!ends) TSR_FAIL(TSR_ERROR_MEMORY, "PLY: out of memory for %d parts", mesh->part_count);
    for (int32_t i = 0; i < mesh->part_count; i++) ends[i] = end += mesh->parts[i].triangles;
    const ply_items items = { mesh, layout, ends, options->big_endian != tsr_host_big_endian() };
    const int64_t all = mesh->vertex_count + mesh->triangle_count;
    const tsr_item_writer vertices = { options->ascii ? put_vertex_text : put_vertex, &items, options->ascii ? TEXT_VERTEX : BYTES_VERTEX, 0, all };
    const tsr_item_writer faces = { options->ascii ? put_face_text : put_face, &items, options->ascii ? TSR_TEXT_TRIANGLE + 24 : 1 + 3 * 4 + 8,
                                    mesh->vertex_count, all };
    tsr_status status = tsr_write_items(out, mesh, &vertices, 0, mesh->vertex_count, &options->progress);
    if (status == TSR_OK) status = tsr_write_items(out, mesh, &faces, 0, mesh->triangle_count, &options->progress);
    free(ends);
    return status;
}

tsr_status tsr_ply_write(const tsr_mesh *mesh, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    tsr_status status;
    TSR_TRY(tsr_output_open(path, options, &out));
    const ply_layout layout = layout_of(mesh);
    TSR_TRY_GOTO(write_header(out, mesh, &layout, options), done);
    TSR_TRY_GOTO(write_body(out, mesh, &layout, options), done);
done:
    return tsr_output_finish(&out, status);
}
