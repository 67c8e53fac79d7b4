/* formats/meshes/gltf_motion.c: glTF 2.0 scenes that move. Khronos, "glTF 2.0 Specification": 3.7 (meshes, skins, morph targets), 3.11 and appendix C
 * (animations and their interpolation). */
#include "formats/meshes/gltf_motion.h"

#include "core/number.h"
#include "formats/mesh_files.h"

int tsr_gltf_is(const uint8_t *bytes, size_t size)
{
    static const char blank[] = " \t\r\n";
    size_t at = 0;
    if (size >= 4 && !memcmp(bytes, "glTF", 4)) return 1;
    while (at < size && memchr(blank, bytes[at], 4)) at++;
    return at < size && bytes[at] == '{';
}

#ifdef TSR_HAVE_JANSSON

#include <math.h>
#include <stdlib.h>

#include "formats/meshes/gltf_motion_parts.h"

enum { STEP, LINEAR, CUBIC };

/* ---- numbers ------------------------------------------------------------------------------------------------------------------------------------ */

tsr_status tsr_gltf_floats(const gltf *g, int64_t index, int components, int64_t expected, const char *what, float **to, int64_t *count)
{
    gltf_accessor a;
    TSR_TRY(gltf_accessor_open(g, index, &a));
    if (a.components != components || (expected >= 0 && a.count != expected))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF %s: %lld elements of %d numbers, expected %lld of %d", g->file, what, (long long)a.count, a.components,
                 (long long)(expected >= 0 ? expected : a.count), components);
    if (a.count > VERTICES_MOST)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: glTF %s: %lld elements, expected at most %d", g->file, what, (long long)a.count, VERTICES_MOST);
    *to = (float *)malloc((size_t)(a.count + 1) * (size_t)components * sizeof **to);
    if (!*to) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for glTF %s", g->file, what);
    gltf_accessor_floats(&a, components, *to);
    for (int64_t k = 0; k < a.count * components; k++)
        if (!isfinite((*to)[k])) TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF %s: element %lld is not finite", g->file, what, (long long)(k / components));
    if (count) *count = a.count;
    return TSR_OK;
}

/* ---- meshes ------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status take_sets(tsr_gltf_motion *m, piece *p)
{
    const json_t *attributes = json_object_get(p->primitive, "attributes");
    char name[16];
    const size_t set = (size_t)(4 * p->vertices);
    for (; p->sets < SETS_MOST; p->sets++) {
        tsr_print(name, sizeof name, "JOINTS_%d", (int)p->sets);
        if (!json_object_get(attributes, name)) break;
    }
    if (!p->sets) return TSR_OK;
    p->joint = (float *)calloc((size_t)p->sets * set + 1, sizeof *p->joint);
    p->weight = (float *)calloc((size_t)p->sets * set + 1, sizeof *p->weight);
    if (!p->joint || !p->weight) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a glTF skin", m->g.file);
    for (int64_t s = 0; s < p->sets; s++)
        for (int k = 0; k < 2; k++) {
            int64_t index;
            float *one = NULL;
            tsr_print(name, sizeof name, k ? "WEIGHTS_%d" : "JOINTS_%d", (int)s);
            TSR_TRY(gltf_integer(&m->g, attributes, name, -1, INT32_MAX, &index));
            const tsr_status status = tsr_gltf_floats(&m->g, index, 4, p->vertices, name, &one, NULL);
            if (status == TSR_OK) memcpy((k ? p->weight : p->joint) + (size_t)s * set, one, set * sizeof *one);
            free(one);
            TSR_TRY(status);
        }
    return TSR_OK;
}

static tsr_status take_targets(tsr_gltf_motion *m, piece *p)
{
    const json_t *list = json_object_get(p->primitive, "targets");
    p->targets = (int64_t)json_array_size(list);
    if (!p->targets) return TSR_OK;
    if (p->targets > VERTICES_MOST / tsr_max64(p->vertices, 1))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld glTF morph targets of %lld vertices are too many", m->g.file, (long long)p->targets,
                 (long long)p->vertices);
    p->target = (float *)calloc((size_t)(3 * p->targets * p->vertices) + 1, sizeof *p->target);
    if (!p->target) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for glTF morph targets", m->g.file);
    for (int64_t t = 0; t < p->targets; t++) {
        int64_t index;
        float *one = NULL;
        TSR_TRY(gltf_optional_index(&m->g, json_array_get(list, (size_t)t), "POSITION", &index));
        if (index == NONE) continue;
        const tsr_status status = tsr_gltf_floats(&m->g, index, 3, p->vertices, "morph target", &one, NULL);
        if (status == TSR_OK) memcpy(p->target + 3 * t * p->vertices, one, (size_t)p->vertices * 3 * sizeof *one);
        free(one);
        TSR_TRY(status);
    }
    return TSR_OK;
}

static tsr_status add_piece(tsr_gltf_motion *m, int64_t number, const char *name, const json_t *primitive)
{
    const gltf *g = &m->g;
    int64_t mode;
    TSR_TRY(gltf_refuse_packed(g, primitive));
    TSR_TRY(gltf_integer(g, primitive, "mode", GLTF_TRIANGLES, 6, &mode));
    if (mode < GLTF_TRIANGLES) {
        m->left_out++;
        return TSR_OK;
    }
    if (m->pieces == m->room) {
        const int64_t room = m->room ? 2 * m->room : 16;
        piece *grown = room > PIECES_MOST ? NULL : (piece *)realloc(m->piece, (size_t)room * sizeof *grown);
        if (!grown)
            TSR_FAIL(TSR_ERROR_MEMORY, "%s: %lld pieces of glTF meshes, out of memory or more than %d", g->file, (long long)room, PIECES_MOST);
        m->piece = grown;
        m->room = room;
    }
    piece *p = &m->piece[m->pieces++];
    *p = (piece){ .node = number, .name = name, .mode = mode, .primitive = primitive, .first = m->vertices };
    TSR_TRY(gltf_integer(g, json_object_get(primitive, "attributes"), "POSITION", -1, INT32_MAX, &p->position));
    TSR_TRY(tsr_gltf_floats(g, p->position, 3, -1, "positions", &p->rest, &p->vertices));
    TSR_TRY(tsr_gltf_piece_shape(g, p));
    TSR_TRY(take_sets(m, p));
    TSR_TRY(take_targets(m, p));
    m->vertices += p->vertices;
    m->triangles += p->triangles;
    if (m->vertices > VERTICES_MOST || m->triangles > VERTICES_MOST)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a glTF scene of %lld vertices and more, expected at most %d", g->file, (long long)m->vertices,
                 VERTICES_MOST);
    return TSR_OK;
}

/* ---- nodes -------------------------------------------------------------------------------------------------------------------------------------- */

/* Weights that morph targets have without an animation: the node's, else the mesh's, else 0. */
static tsr_status take_weights(tsr_gltf_motion *m, node *n, const json_t *item, const json_t *mesh)
{
    const json_t *first = json_array_get(json_object_get(mesh, "primitives"), 0);
    n->targets = (int64_t)json_array_size(json_object_get(first, "targets"));
    n->weights = (double *)calloc(2 * (size_t)n->targets + 1, sizeof *n->weights); /* now, and those of the file */
    if (!n->weights) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for glTF morph targets", m->g.file);
    double *still = n->weights + n->targets;
    if (!gltf_numbers(item, "weights", still, (int)n->targets)) (void)gltf_numbers(mesh, "weights", still, (int)n->targets);
    return TSR_OK;
}

static tsr_status take_node(tsr_gltf_motion *m, int64_t number, const json_t *item)
{
    node *n = &m->node[number];
    const json_t *children = json_object_get(item, "children"), *mesh;
    gltf_placement_of(item, &n->still);
    TSR_TRY(gltf_optional_index(&m->g, item, "mesh", &n->mesh));
    TSR_TRY(gltf_optional_index(&m->g, item, "skin", &n->skin));
    for (size_t k = 0; k < json_array_size(children); k++) {
        const json_t *child = json_array_get(children, k);
        const int64_t index = json_is_integer(child) ? json_integer_value(child) : -1;
        if (index < 0 || index >= m->nodes || m->node[index].parent != NONE || index == number)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF node %lld has child %lld, which is none or another's, too", m->g.file, (long long)number,
                     (long long)index);
        m->node[index].parent = number;
    }
    if (n->mesh == NONE) return TSR_OK;
    if (json_object_get(json_object_get(item, "extensions"), "EXT_mesh_gpu_instancing"))
        tsr_remark("%s: copies of node %lld (EXT_mesh_gpu_instancing) are left out", m->g.file, (long long)number);
    TSR_TRY(gltf_item(&m->g, "meshes", n->mesh, &mesh));
    TSR_TRY(take_weights(m, n, item, mesh));
    return TSR_OK;
}

/* The node that a node lies below all others in; nodes that lie in a circle have none. */
static tsr_status root_of(const tsr_gltf_motion *m, int64_t number, int64_t *root)
{
    int depth = 0;
    for (*root = number; m->node[*root].parent != NONE; *root = m->node[*root].parent)
        if (depth++ > GLTF_DEPTH_MOST) TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF node %lld lies too deep, or in a circle", m->g.file, (long long)number);
    return TSR_OK;
}

/* Is the node part of the scene that the file names? Without scenes all are. */
static tsr_status in_scene(const tsr_gltf_motion *m, int64_t number, const json_t *roots, int *in)
{
    int64_t root;
    *in = 0;
    TSR_TRY(root_of(m, number, &root));
    *in = !roots;
    for (size_t k = 0; k < json_array_size(roots); k++) *in |= json_integer_value(json_array_get(roots, k)) == root;
    return TSR_OK;
}

static tsr_status take_nodes(tsr_gltf_motion *m)
{
    const json_t *list = json_object_get(m->g.root, "nodes"), *roots = NULL, *item;
    int64_t scene;
    m->nodes = (int64_t)json_array_size(list);
    m->node = (node *)calloc((size_t)m->nodes + 1, sizeof *m->node);
    if (!m->node) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld glTF nodes", m->g.file, (long long)m->nodes);
    for (int64_t k = 0; k < m->nodes; k++) m->node[k].parent = NONE;
    for (int64_t k = 0; k < m->nodes; k++) TSR_TRY(take_node(m, k, json_array_get(list, (size_t)k)));
    if (json_array_size(json_object_get(m->g.root, "scenes"))) {
        TSR_TRY(gltf_integer(&m->g, m->g.root, "scene", 0, INT32_MAX, &scene));
        TSR_TRY(gltf_item(&m->g, "scenes", scene, &item));
        roots = json_object_get(item, "nodes");
    }
    for (int64_t k = 0; k < m->nodes; k++) {
        int in;
        TSR_TRY(in_scene(m, k, roots, &in));
        if (m->node[k].mesh == NONE || !in) continue;
        TSR_TRY(gltf_item(&m->g, "meshes", m->node[k].mesh, &item));
        const json_t *primitives = json_object_get(item, "primitives");
        const char *name = json_string_value(json_object_get(json_array_get(list, (size_t)k), "name"));
        if (!name) name = json_string_value(json_object_get(item, "name"));
        for (size_t i = 0; i < json_array_size(primitives); i++) TSR_TRY(add_piece(m, k, name ? name : "", json_array_get(primitives, i)));
    }
    if (!m->triangles) TSR_FAIL(TSR_ERROR_FORMAT, "%s: a glTF scene without triangles", m->g.file);
    if (m->left_out) tsr_remark("%s: points and lines of the glTF scene are left out", m->g.file);
    return TSR_OK;
}

/* ---- animations --------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status take_channel(tsr_gltf_motion *m, const json_t *animation, const json_t *item, channel *c)
{
    static const char *const paths[PATHS] = { "translation", "rotation", "scale", "weights" };
    static const int widths[PATHS] = { 3, 4, 3, 1 };
    const json_t *target = json_object_get(item, "target"), *samplers = json_object_get(animation, "samplers");
    const char *path = json_string_value(json_object_get(target, "path"));
    int64_t sampler, input, output, values;
    c->path = PATHS;
    for (int k = 0; k < PATHS; k++)
        if (path && !strcmp(path, paths[k])) c->path = k;
    TSR_TRY(gltf_optional_index(&m->g, target, "node", &c->node));
    if (c->path == PATHS || c->node == NONE) {
        c->node = NONE;
        tsr_remark("%s: a glTF channel of '%.40s' is left out", m->g.file, path ? path : "nothing");
        return TSR_OK;
    }
    if (c->node >= m->nodes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: a glTF channel of node %lld, there are %lld", m->g.file, (long long)c->node, (long long)m->nodes);
    TSR_TRY(gltf_integer(&m->g, item, "sampler", -1, (int64_t)json_array_size(samplers) - 1, &sampler));
    const json_t *s = json_array_get(samplers, (size_t)sampler);
    const char *how = json_string_value(json_object_get(s, "interpolation"));
    c->how = !how || !strcmp(how, "LINEAR") ? LINEAR : !strcmp(how, "STEP") ? STEP : CUBIC;
    if (c->how == CUBIC && strcmp(how, "CUBICSPLINE") != 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF interpolation '%.40s', expected LINEAR, STEP or CUBICSPLINE", m->g.file, how);
    TSR_TRY(gltf_integer(&m->g, s, "input", -1, INT32_MAX, &input));
    TSR_TRY(gltf_integer(&m->g, s, "output", -1, INT32_MAX, &output));
    TSR_TRY(tsr_gltf_floats(&m->g, input, 1, -1, "times of an animation", &c->time, &c->keys));
    c->width = widths[c->path];
    const int64_t each = (c->how == CUBIC ? 3 : 1) * (c->path == PATH_WEIGHTS ? m->node[c->node].targets : 1);
    if (c->keys < 1 || each < 1 || c->keys > VERTICES_MOST / each)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: a glTF channel of %lld keys and %lld values each", m->g.file, (long long)c->keys, (long long)each);
    for (int64_t k = 1; k < c->keys; k++)
        if (!(c->time[k] > c->time[k - 1]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: the times of a glTF animation do not rise: %g s after %g s", m->g.file, (double)c->time[k],
                     (double)c->time[k - 1]);
    TSR_TRY(tsr_gltf_floats(&m->g, output, c->width, each * c->keys, "values of an animation", &c->value, &values));
    if (c->path == PATH_WEIGHTS) c->width = (int)m->node[c->node].targets;
    m->seconds = fmax(m->seconds, (double)c->time[c->keys - 1]);
    return TSR_OK;
}

static tsr_status take_animation(tsr_gltf_motion *m, const char *wanted)
{
    const json_t *list = json_object_get(m->g.root, "animations"), *found = NULL;
    const size_t count = json_array_size(list);
    char names[400] = "none";
    for (size_t k = 0, size = 0; k < count && !found; k++) {
        const json_t *item = json_array_get(list, k);
        const char *name = json_string_value(json_object_get(item, "name"));
        if (!wanted || (name && !strcmp(name, wanted))) found = item;
        if (name && size < sizeof names) size += (size_t)snprintf(names + size, sizeof names - size, "%s'%.60s'", size ? ", " : "", name);
    }
    if (wanted && !found) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: no glTF animation '%.100s' among its %zu: %s", m->g.file, wanted, count, names);
    if (!wanted && count > 1) tsr_remark("%s: of %zu glTF animations the first is taken", m->g.file, count);
    const json_t *channels = json_object_get(found, "channels");
    m->channel = (channel *)calloc(json_array_size(channels) + 1, sizeof *m->channel);
    if (!m->channel) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a glTF animation", m->g.file);
    for (size_t k = 0; k < json_array_size(channels); k++) {
        m->channels++;
        TSR_TRY(take_channel(m, found, json_array_get(channels, k), &m->channel[k]));
    }
    return TSR_OK;
}

/* Between the quaternions a and b, the shorter way, at constant speed. */
static void turn_between(const float *a, const float *b, double share, double *to)
{
    double dot = 0, from = 1 - share, towards = share;
    for (int k = 0; k < 4; k++) dot += (double)a[k] * (double)b[k];
    const double sign = dot < 0 ? -1 : 1, angle = acos(fmin(1, fabs(dot)));
    if (angle > 1e-6) {
        from = sin((1 - share) * angle) / sin(angle);
        towards = sin(share * angle) / sin(angle);
    }
    for (int k = 0; k < 4; k++) to[k] = from * (double)a[k] + sign * towards * (double)b[k];
}

static void sample(const channel *c, double seconds, double *to)
{
    const int64_t w = c->width;
    const int64_t stride = c->how == CUBIC ? 3 * w : w, middle = c->how == CUBIC ? w : 0;
    int64_t k = 0;
    while (k + 1 < c->keys && (double)c->time[k + 1] <= seconds) k++;
    const float *a = c->value + k * stride + middle;
    const double here = (double)c->time[k];
    if (c->how == STEP || k + 1 == c->keys || seconds <= here) {
        for (int64_t i = 0; i < w; i++) to[i] = (double)a[i];
    } else {
        const float *b = a + stride;
        const double span = (double)c->time[k + 1] - here, s = (seconds - here) / span, s2 = s * s, s3 = s2 * s;
        if (c->how == LINEAR && c->path == PATH_ROTATION) turn_between(a, b, s, to);
        for (int64_t i = 0; i < w && c->how == LINEAR && c->path != PATH_ROTATION; i++) to[i] = (1 - s) * (double)a[i] + s * (double)b[i];
        for (int64_t i = 0; i < w && c->how == CUBIC; i++)
            to[i] = (2 * s3 - 3 * s2 + 1) * (double)a[i] + span * (s3 - 2 * s2 + s) * (double)a[i + w] + (3 * s2 - 2 * s3) * (double)b[i] +
                    span * (s3 - s2) * (double)b[i - w];
    }
    if (c->path != PATH_ROTATION) return;
    const double length = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2] + to[3] * to[3]);
    for (int i = 0; i < 4 && length > 0; i++) to[i] /= length;
}

/* ---- a moment ----------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status place_node(tsr_gltf_motion *m, int64_t number)
{
    node *n = &m->node[number];
    double own[3][4];
    if (n->placed) return TSR_OK;
    TSR_TRY(gltf_placement_matrix(&m->g, &n->now, own));
    if (n->parent != NONE) TSR_TRY(place_node(m, n->parent)); /* not deeper than GLTF_DEPTH_MOST: root_of has asked */
    gltf_multiply(n->parent == NONE ? gltf_identity : (const double(*)[4])m->node[n->parent].place, (const double(*)[4])own, n->place);
    n->placed = 1;
    return TSR_OK;
}

/* Pieces whose nodes mirror them, as the file places them; a skin has no place of its own. */
static tsr_status find_mirrors(tsr_gltf_motion *m)
{
    for (int64_t k = 0; k < m->nodes; k++) m->node[k].now = m->node[k].still;
    for (int64_t k = 0; k < m->pieces; k++) {
        const node *n = &m->node[m->piece[k].node];
        const double(*a)[4] = n->place;
        TSR_TRY(place_node(m, m->piece[k].node));
        const double volume = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                              a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
        m->piece[k].mirrored = volume < 0 && (n->skin == NONE || !m->piece[k].sets);
    }
    return TSR_OK;
}

/* A matrix each joint of a skin: where it is now, times the inverse of where the mesh was bound to it. RETURNS NEW. */
static tsr_status joints_of(tsr_gltf_motion *m, int64_t skin, double (**matrix)[3][4], int64_t *count)
{
    const json_t *item;
    int64_t inverse;
    float *bind = NULL;
    tsr_status status;
    TSR_TRY(gltf_item(&m->g, "skins", skin, &item));
    const json_t *joints = json_object_get(item, "joints");
    *count = (int64_t)json_array_size(joints);
    TSR_TRY(gltf_optional_index(&m->g, item, "inverseBindMatrices", &inverse));
    *matrix = (double(*)[3][4])calloc((size_t)*count + 1, sizeof **matrix);
    if (!*matrix) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a glTF skin", m->g.file);
    if (inverse != NONE) TSR_TRY_GOTO(tsr_gltf_floats(&m->g, inverse, 16, *count, "inverse bind matrices", &bind, NULL), done);
    for (int64_t k = 0; k < *count; k++) {
        const json_t *joint = json_array_get(joints, (size_t)k);
        const int64_t number = json_is_integer(joint) ? json_integer_value(joint) : -1;
        double b[3][4];
        if (number < 0 || number >= m->nodes)
            TSR_FAIL_GOTO(TSR_ERROR_FORMAT, done, "%s: a glTF joint is node %lld, there are %lld", m->g.file, (long long)number, (long long)m->nodes);
        TSR_TRY_GOTO(place_node(m, number), done);
        for (int i = 0; i < 12; i++) b[i / 4][i % 4] = bind ? (double)bind[16 * k + 4 * (i % 4) + i / 4] : gltf_identity[i / 4][i % 4];
        gltf_multiply((const double(*)[4])m->node[number].place, (const double(*)[4])b, (*matrix)[k]);
    }
    status = TSR_OK;
done:
    free(bind);
    return status;
}

/* The matrix of vertex i: of its node, or the weighted mean of its joints'. */
static tsr_status matrix_of(const tsr_gltf_motion *m, const piece *p, int64_t i, const double (*joint)[3][4], int64_t joints, double to[3][4])
{
    double sum = 0;
    memset(to, 0, 12 * sizeof(double));
    for (int64_t s = 0; s < p->sets; s++)
        for (int k = 0; k < 4; k++) {
            const int64_t at = (s * p->vertices + i) * 4 + k, j = (int64_t)p->joint[at];
            const double w = (double)p->weight[at];
            if (w == 0) continue;
            if (j < 0 || j >= joints)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF vertex %lld has joint %lld, the skin has %lld", m->g.file, (long long)i, (long long)j,
                         (long long)joints);
            for (int e = 0; e < 12; e++) to[e / 4][e % 4] += w * joint[j][e / 4][e % 4];
            sum += w;
        }
    for (int e = 0; e < 12 && sum > 0; e++) to[e / 4][e % 4] /= sum;
    if (!(sum > 0)) memcpy(to, m->node[p->node].place, 12 * sizeof(double));
    return TSR_OK;
}

static tsr_status pose_piece(tsr_gltf_motion *m, const piece *p, float *position)
{
    const node *n = &m->node[p->node];
    double(*joint)[3][4] = NULL, a[3][4];
    int64_t joints = 0;
    tsr_status status = TSR_OK;
    const int skinned = n->skin != NONE && p->sets;
    TSR_TRY(place_node(m, p->node));
    if (skinned) TSR_TRY_GOTO(joints_of(m, n->skin, &joint, &joints), done);
    memcpy(a, n->place, sizeof a);
    for (int64_t i = 0; i < p->vertices; i++) {
        double v[3];
        for (int c = 0; c < 3; c++) {
            v[c] = (double)p->rest[3 * i + c];
            for (int64_t t = 0; t < p->targets && t < n->targets; t++) v[c] += n->weights[t] * (double)p->target[3 * (t * p->vertices + i) + c];
        }
        if (skinned) TSR_TRY_GOTO(matrix_of(m, p, i, (const double(*)[3][4])joint, joints, a), done);
        for (int r = 0; r < 3; r++) position[3 * i + r] = (float)(a[r][0] * v[0] + a[r][1] * v[1] + a[r][2] * v[2] + a[r][3]);
    }
done:
    free(joint);
    return status;
}

tsr_status tsr_gltf_motion_pose(tsr_gltf_motion *m, double seconds, float *position)
{
    for (int64_t k = 0; k < m->nodes; k++) {
        node *n = &m->node[k];
        n->now = n->still;
        n->placed = 0;
        if (n->targets) memcpy(n->weights, n->weights + n->targets, (size_t)n->targets * sizeof *n->weights);
    }
    for (int64_t k = 0; k < m->channels; k++) {
        const channel *c = &m->channel[k];
        if (c->node == NONE) continue;
        node *n = &m->node[c->node];
        double *const to[PATHS] = { n->now.translation, n->now.rotation, n->now.scale, n->weights };
        if (c->path != PATH_WEIGHTS) n->now.fixed = 0;
        sample(c, seconds, to[c->path]);
    }
    for (int64_t k = 0; k < m->pieces; k++) TSR_TRY(pose_piece(m, &m->piece[k], position + 3 * m->piece[k].first));
    return TSR_OK;
}

/* ---- all of it ---------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_gltf_motion_open(tsr_input *input, const char *animation, tsr_gltf_motion **motion)
{
    tsr_status status;
    *motion = NULL;
    tsr_gltf_motion *m = (tsr_gltf_motion *)calloc(1, sizeof *m);
    if (!m) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    TSR_TRY_GOTO(gltf_open(input, &m->g), fail);
    TSR_TRY_GOTO(take_nodes(m), fail);
    TSR_TRY_GOTO(take_animation(m, animation), fail);
    TSR_TRY_GOTO(find_mirrors(m), fail);
    *motion = m;
    return TSR_OK;
fail:
    tsr_gltf_motion_close(&m);
    return status;
}

void tsr_gltf_motion_close(tsr_gltf_motion **motion)
{
    tsr_gltf_motion *m = *motion;
    if (!m) return;
    for (int64_t k = 0; k < m->pieces; k++) {
        free(m->piece[k].rest);
        free(m->piece[k].target);
        free(m->piece[k].joint);
        free(m->piece[k].weight);
    }
    for (int64_t k = 0; m->node && k < m->nodes; k++) free(m->node[k].weights);
    for (int64_t k = 0; k < m->channels; k++) {
        free(m->channel[k].time);
        free(m->channel[k].value);
    }
    free(m->piece);
    free(m->node);
    free(m->channel);
    gltf_close(&m->g);
    free(m);
    *motion = NULL;
}

void tsr_gltf_motion_counts(const tsr_gltf_motion *m, int64_t *vertices, int64_t *triangles, double *seconds)
{
    *vertices = m->vertices;
    *triangles = m->triangles;
    *seconds = m->seconds;
}

#else

tsr_status tsr_gltf_motion_open(tsr_input *input, const char *animation, tsr_gltf_motion **motion)
{
    (void)animation;
    *motion = NULL;
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: this build reads no glTF: jansson was not found when it was configured", tsr_input_name(input));
}
void tsr_gltf_motion_close(tsr_gltf_motion **motion) { (void)motion; }
void tsr_gltf_motion_counts(const tsr_gltf_motion *motion, int64_t *vertices, int64_t *triangles, double *seconds)
{
    (void)motion;
    *vertices = *triangles = 0;
    *seconds = 0;
}
tsr_status tsr_gltf_motion_mesh(const tsr_gltf_motion *motion, float *place, uint32_t *triangle)
{
    (void)motion, (void)place, (void)triangle;
    return TSR_OK;
}
tsr_status tsr_gltf_motion_pose(tsr_gltf_motion *motion, double seconds, float *position)
{
    (void)motion, (void)seconds, (void)position;
    return TSR_OK;
}

#endif
