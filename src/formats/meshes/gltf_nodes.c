/* formats/meshes/gltf_nodes.c: how nodes of glTF are placed. */
#include "formats/mesh_files.h"

#ifdef TSR_HAVE_JANSSON

#include <math.h>

#include "formats/meshes/gltf.h"

const double gltf_identity[3][4] = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } };

void gltf_multiply(const double a[3][4], const double b[3][4], double to[3][4])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) to[r][c] = a[r][0] * b[0][c] + a[r][1] * b[1][c] + a[r][2] * b[2][c] + (c == 3 ? a[r][3] : 0);
}

int gltf_numbers(const json_t *object, const char *name, double *to, int count)
{
    const json_t *list = json_object_get(object, name);
    if ((int)json_array_size(list) != count) return 0;
    for (int k = 0; k < count; k++) to[k] = json_number_value(json_array_get(list, (size_t)k));
    return 1;
}

tsr_status gltf_optional_index(const gltf *g, const json_t *object, const char *name, int64_t *value)
{
    *value = GLTF_NONE;
    if (json_object_get(object, name)) TSR_TRY(gltf_integer(g, object, name, -1, INT32_MAX, value));
    return TSR_OK;
}

void gltf_placement_of(const json_t *node, gltf_placement *p)
{
    double n[16];
    *p = (gltf_placement){ .rotation = { 0, 0, 0, 1 }, .scale = { 1, 1, 1 } };
    if ((p->fixed = gltf_numbers(node, "matrix", n, 16))) {
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++) p->matrix[r][c] = n[4 * c + r];
        return;
    }
    (void)gltf_numbers(node, "translation", p->translation, 3);
    (void)gltf_numbers(node, "rotation", p->rotation, 4);
    (void)gltf_numbers(node, "scale", p->scale, 3);
}

tsr_status gltf_placement_matrix(const gltf *g, const gltf_placement *p, double m[3][4])
{
    const double x = p->rotation[0], y = p->rotation[1], z = p->rotation[2], w = p->rotation[3];
    const double turn[3][3] = { { 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w) },
                                { 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w) },
                                { 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y) } };
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) m[r][c] = p->fixed ? p->matrix[r][c] : turn[r][c] * p->scale[c];
        m[r][3] = p->fixed ? p->matrix[r][3] : p->translation[r];
    }
    for (int k = 0; k < 12; k++)
        if (!isfinite(m[k / 4][k % 4])) TSR_FAIL(TSR_ERROR_FORMAT, "%s: a glTF node is placed by a number that is not finite", g->file);
    return TSR_OK;
}

#else
typedef int tsr_gltf_nodes_left_out; /* jansson was not found */
#endif
