/* vision/textures/multiview_files.c: models from files: numbered meshes of one topology, and the cameras of a rig. */
#include "vision/textures/multiview_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/format.h"
#include "formats/meshes/gltf_motion.h"
#include "formats/meshes/ply.h"
#include "tessera/mesh.h"
#include "tessera/points.h"
#include "vision/rig/rig.h"
#include "vision/textures/multiview_model.h"
#include "vision/textures/unwrap.h"

enum { FIRST_MOST = 9, GAP_MOST = 100, PATH_ROOM = 4096, NAME_ROOM = 256 };
#define OWN(type, pointer) ((type *)(uintptr_t)(pointer))

/* ---- numbered files -------------------------------------------------------------------------------------------------------------- */

/* The path of a step. *has_number: it has a %d or %04d. */
static tsr_status numbered(const char *pattern, int64_t number, char path[PATH_ROOM], int *has_number)
{
    char next[PATH_ROOM];
    TSR_TRY(tsr_rig_fill_in(pattern, (int32_t)number, path, PATH_ROOM));
    TSR_TRY(tsr_rig_fill_in(pattern, (int32_t)number + 1, next, PATH_ROOM));
    *has_number = strcmp(path, next) != 0;
    return TSR_OK;
}

static int is_there(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0;
}

static int is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* How many follow one another from *first on. */
static tsr_status count_files(const char *pattern, int64_t *first, int32_t most, int32_t *count)
{
    char path[PATH_ROOM];
    int has_number = 0;
    TSR_TRY(numbered(pattern, *first, path, &has_number));
    *count = 1;
    if (!has_number) {
        if (!is_there(path))
            TSR_FAIL(TSR_ERROR_IO, "%.300s: there is no such file%s", path,
                     strpbrk(path, "*?#$") ? ", expected one, or %d or %04d where the numbers of several stand" : "");
        if (is_folder(path)) TSR_FAIL(TSR_ERROR_IO, "%.300s: is a folder, expected numbered files in it, such as %.300s/mesh-%%04d.obj", path, path);
        return TSR_OK;
    }
    for (int64_t n = 0; *first == 0 && n <= FIRST_MOST; n++) {
        TSR_TRY(numbered(pattern, n, path, &has_number));
        if (!is_there(path)) continue;
        *first = n;
        break;
    }
    TSR_TRY(numbered(pattern, *first, path, &has_number));
    if (!is_there(path)) TSR_FAIL(TSR_ERROR_IO, "%.300s: there is no such file, the first of '%.200s'", path, pattern);
    const int32_t limit = most > 0 ? most : TSR_MULTIVIEW_STEPS_MOST;
    while (*count < limit) {
        TSR_TRY(numbered(pattern, *first + *count, path, &has_number));
        if (!is_there(path)) break;
        (*count)++;
    }
    for (int32_t k = 1; *count < limit && k <= GAP_MOST; k++) { /* a hole is no end: what comes after it would be lost in silence */
        char later[PATH_ROOM];
        TSR_TRY(numbered(pattern, *first + *count + k, later, &has_number));
        if (is_there(later))
            TSR_FAIL(TSR_ERROR_FORMAT, "%.300s: there is no such file, but %.300s is there: expected numbers without a gap, or at most %d steps",
                     path, later, (int)*count);
    }
    return TSR_OK;
}

/* ---- meshes ---------------------------------------------------------------------------------------------------------------------- */

/* An atlas may leave its square by so much: rounding of the program that laid it out. */
static const float EXCESS = 1.0f / 512;

/* An atlas that lies in another unit square (a glTF scene's v from 1 to 2) is the same one there: textures repeat. */
static void move_home(tsr_placed_mesh *mesh)
{
    for (int a = 0; a < 2; a++) {
        float least = HUGE_VALF, most = -HUGE_VALF;
        for (int64_t i = 0; i < 3 * mesh->triangles; i++) {
            const float x = mesh->place[2 * (int64_t)mesh->corner[i] + a];
            least = fminf(least, x);
            most = fmaxf(most, x);
        }
        const float by = floorf(least + EXCESS);
        if (!mesh->triangles || !isfinite(least) || !isfinite(most) || (least >= 0 && most <= 1) || most - by > 1 + EXCESS) continue;
        for (int64_t i = 0; i < mesh->places; i++) mesh->place[2 * i + a] = fminf(fmaxf(mesh->place[2 * i + a] - by, 0), 1);
    }
}

static tsr_status room_for(const char *path, int64_t places, tsr_placed_mesh *mesh)
{
    const size_t indices = (size_t)mesh->triangles * 3 * sizeof(uint32_t);
    mesh->places = places;
    mesh->position = (float *)malloc((size_t)mesh->vertices * 3 * sizeof(float));
    mesh->triangle = (uint32_t *)malloc(indices);
    mesh->corner = (uint32_t *)malloc(indices);
    mesh->place = (float *)calloc((size_t)places * 2 + 1, sizeof(float));
    if (!mesh->position || !mesh->place || !mesh->triangle || !mesh->corner)
        TSR_FAIL(TSR_ERROR_MEMORY, "%.200s: out of host memory for %lld triangles", path, (long long)mesh->triangles);
    return TSR_OK;
}

/* A scene of glTF where it stands at a time. */
static tsr_status place_scene(const char *path, tsr_gltf_motion *motion, const tsr_multiview_model_options *o, double seconds, tsr_placed_mesh *mesh)
{
    double length;
    tsr_gltf_motion_counts(motion, &mesh->vertices, &mesh->triangles, &length);
    TSR_TRY(room_for(path, mesh->vertices, mesh));
    TSR_TRY(tsr_gltf_motion_mesh(motion, o->unwrap ? NULL : mesh->place, mesh->triangle));
    memcpy(mesh->corner, mesh->triangle, (size_t)mesh->triangles * 3 * sizeof(uint32_t));
    TSR_TRY(tsr_gltf_motion_pose(motion, seconds, mesh->position));
    return TSR_OK;
}

/* Any mesh, its vertices as places. What it holds besides is not wanted: nothing is said of it. */
static tsr_status read_bare(const char *path, const tsr_multiview_model_options *o, tsr_placed_mesh *to)
{
    const tsr_read_options read = { .struct_size = sizeof read, .memory_limit = o->memory_limit };
    char before[2048], forget[2048];
    tsr_mesh *mesh = NULL;
    tsr_remarks_take(before, sizeof before);
    TSR_TRY(tsr_mesh_read_fans(path, &read, &mesh));
    tsr_remarks_take(forget, sizeof forget);
    if (*before) tsr_remark("%s", before);
    to->vertices = tsr_mesh_vertex_count(mesh);
    to->triangles = tsr_mesh_triangle_count(mesh);
    const tsr_status status = room_for(path, to->vertices, to);
    if (status == TSR_OK) {
        memcpy(to->position, tsr_mesh_vertices_const(mesh), (size_t)to->vertices * 3 * sizeof(float));
        memcpy(to->triangle, tsr_mesh_triangles_const(mesh), (size_t)to->triangles * 3 * sizeof(uint32_t));
        memcpy(to->corner, to->triangle, (size_t)to->triangles * 3 * sizeof(uint32_t));
    }
    tsr_mesh_destroy(&mesh);
    TSR_TRY(status);
    return TSR_OK;
}

/* Corners of one vertex with the same u and v share a place. */
static tsr_status share_places(const char *path, const float *wedge, tsr_placed_mesh *mesh)
{
    const int64_t corners = 3 * mesh->triangles;
    float *place = (float *)malloc((size_t)corners * 2 * sizeof(float) + 1);
    int64_t *first = (int64_t *)malloc((size_t)mesh->vertices * sizeof *first + 1), *next = (int64_t *)malloc((size_t)corners * sizeof *next + 1);
    tsr_status status = TSR_OK;
    if (!place || !first || !next) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "%.200s: out of host memory for %lld corners", path, (long long)corners);
    mesh->places = 0;
    for (int64_t v = 0; v < mesh->vertices; v++) first[v] = -1;
    for (int64_t i = 0; i < corners; i++) {
        int64_t *head = &first[mesh->triangle[i]], at = *head;
        while (at >= 0 && memcmp(place + 2 * at, wedge + 2 * i, 2 * sizeof(float)) != 0) at = next[at];
        if (at < 0) {
            at = mesh->places++;
            memcpy(place + 2 * at, wedge + 2 * i, 2 * sizeof(float));
            next[at] = *head;
            *head = at;
        }
        mesh->corner[i] = (uint32_t)at;
    }
    free(mesh->place);
    mesh->place = place;
    place = NULL;
done:
    free(place);
    free(first);
    free(next);
    return status;
}

/* Texture coordinates that a PLY file has for the corners of its faces, as MeshLab writes them. */
static tsr_status take_wedges(tsr_input *input, tsr_placed_mesh *mesh, int *found)
{
    float *wedge = (float *)calloc((size_t)mesh->triangles * 6 + 1, sizeof(float));
    if (!wedge) TSR_FAIL(TSR_ERROR_MEMORY, "%.200s: out of host memory for %lld triangles", tsr_input_name(input), (long long)mesh->triangles);
    tsr_status status = tsr_ply_read_wedges(input, mesh->triangles, wedge, found);
    if (status == TSR_OK && *found) status = share_places(tsr_input_name(input), wedge, mesh);
    free(wedge);
    return status;
}

/* Those that it has for its vertices, as Blender and others write them. */
static tsr_status take_vertex_places(const char *path, const tsr_multiview_model_options *o, tsr_placed_mesh *mesh, int *found)
{
    static const char *const name[][2] = { { "s", "t" }, { "u", "v" }, { "texture_u", "texture_v" } };
    const tsr_read_options read = { .struct_size = sizeof read, .memory_limit = o->memory_limit };
    const float *place[2] = { NULL, NULL };
    tsr_points *points = NULL;
    TSR_TRY(tsr_points_read(path, &read, &points));
    for (size_t k = 0; k < sizeof name / sizeof *name && !(place[0] && place[1]); k++)
        for (int a = 0; a < 2; a++) {
            int32_t components = 1;
            place[a] = tsr_points_attribute_const(points, name[k][a], &components);
            if (components != 1) place[a] = NULL;
        }
    *found = place[0] && place[1];
    for (int64_t i = 0; *found && i < 2 * mesh->places; i++) mesh->place[i] = place[i & 1][i / 2];
    tsr_points_destroy(&points);
    return TSR_OK;
}

/* A PLY file with texture coordinates. What the reader of meshes says about them is not so here. */
static tsr_status read_ply(tsr_input *input, const char *path, const tsr_multiview_model_options *o, tsr_placed_mesh *to)
{
    char before[2048], forget[2048];
    int found = 0;
    tsr_remarks_take(before, sizeof before);
    tsr_status status = read_bare(path, o, to);
    if (status == TSR_OK) status = take_wedges(input, to, &found);
    if (status == TSR_OK && !found) status = take_vertex_places(path, o, to, &found);
    tsr_remarks_take(forget, sizeof forget);
    if (*before) tsr_remark("%s", before);
    if (status == TSR_OK && !found)
        status =
            TSR_FAILED(TSR_ERROR_FORMAT,
                       "%.200s: its vertices have no texture coordinates (s and t, u and v, or texture_u and texture_v), nor its faces (texcoord): "
                       "expected an atlas too (an OBJ file with v, vt and f lines), or to have one made (unwrap)",
                       path);
    return status;
}

/* What has no texture coordinates that are read says so, rather than being taken for OBJ. */
static tsr_status check_placed(tsr_input *input)
{
    const tsr_read_options read = { .struct_size = sizeof read };
    const tsr_format *format;
    if (tsr_format_of_input(input, &read, TSR_FILE_MESH, &format) != TSR_OK || !strcmp(format->name, "obj")) return TSR_OK;
    TSR_FAIL(TSR_ERROR_FORMAT,
             "%.200s: texture coordinates are read from OBJ, PLY and glTF files, not from %s: expected an atlas too (an OBJ file with v, vt and f "
             "lines), or to "
             "have one made (unwrap)",
             tsr_input_name(input), format->name);
}

/* OBJ, PLY or glTF, told apart by what is in it; to be unwrapped, any format. */
static tsr_status open_placed(const char *path, const tsr_multiview_model_options *o, tsr_placed_mesh *mesh)
{
    tsr_input *input = NULL;
    tsr_gltf_motion *motion = NULL;
    const tsr_input_options io = { .memory_limit = o->memory_limit };
    const uint8_t *bytes;
    size_t size;
    tsr_status status;
    memset(mesh, 0, sizeof *mesh);
    TSR_TRY(tsr_input_open(path, &io, &input));
    TSR_TRY_GOTO(tsr_input_all(input, &bytes, &size), done);
    if (tsr_gltf_is(bytes, size)) {
        TSR_TRY_GOTO(tsr_gltf_motion_open(input, o->animation, &motion), done);
        TSR_TRY_GOTO(place_scene(path, motion, o, 0, mesh), done);
    } else if (o->unwrap) TSR_TRY_GOTO(read_bare(path, o, mesh), done);
    else if (size > 3 && !memcmp(bytes, "ply", 3)) TSR_TRY_GOTO(read_ply(input, path, o, mesh), done);
    else {
        TSR_TRY_GOTO(check_placed(input), done);
        TSR_TRY_GOTO(tsr_placed_mesh_read(input, mesh), done);
    }
    move_home(mesh);
done:
    tsr_gltf_motion_close(&motion);
    tsr_input_close(&input);
    if (status != TSR_OK) tsr_placed_mesh_free(mesh);
    return status;
}

/* An atlas for the first step, in place of what there is. */
static tsr_status make_atlas(const char *path, const tsr_multiview_model_options *o, tsr_placed_mesh *first)
{
    const tsr_unwrap_mesh mesh = { first->vertices, first->triangles,          first->position,
                                   first->triangle, o->width ? o->width : 512, o->height ? o->height : 512 };
    float *place = NULL;
    uint32_t *corner = NULL;
    if (o->atlas) TSR_FAIL(TSR_ERROR_ARGUMENT, "%.200s: an atlas is given, and one is to be made (unwrap): expected one of them", o->atlas);
    if (mesh.triangles < 1 || mesh.width < 1 || mesh.height < 1) return TSR_OK; /* said with the sizes */
    TSR_TRY(tsr_unwrap(path, &mesh, &o->progress, &place, &first->places, &corner));
    free(first->place);
    free(first->corner);
    first->place = place;
    first->corner = corner;
    return TSR_OK;
}

static tsr_status same_topology(const char *path, const tsr_placed_mesh *first, int64_t vertices, int64_t triangles, const uint32_t *triangle,
                                const tsr_placed_mesh *own)
{
    if (vertices != first->vertices || triangles != first->triangles)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.300s: %lld vertices and %lld triangles, expected the topology of the first step: %lld and %lld", path,
                 (long long)vertices, (long long)triangles, (long long)first->vertices, (long long)first->triangles);
    for (int64_t i = 0; i < 3 * triangles; i++)
        if (triangle[i] != first->triangle[i])
            TSR_FAIL(TSR_ERROR_FORMAT, "%.300s: triangle %lld has vertex %u where the first step has %u: the topology changes", path,
                     (long long)(i / 3), triangle[i], first->triangle[i]);
    if (own && (own->places != first->places || memcmp(own->corner, first->corner, (size_t)triangles * 3 * sizeof(uint32_t)) != 0 ||
                memcmp(own->place, first->place, (size_t)own->places * 2 * sizeof(float)) != 0))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.300s: other texture coordinates than in the first step: the atlas changes", path);
    return TSR_OK;
}

/* One step's positions. Without an atlas file each OBJ file is looked at with its places. */
static tsr_status read_step(const char *path, const tsr_multiview_model_options *o, const tsr_placed_mesh *first, float *position)
{
    tsr_status status;
    if (!o->atlas) {
        tsr_placed_mesh own;
        TSR_TRY(open_placed(path, o, &own));
        status = same_topology(path, first, own.vertices, own.triangles, own.triangle, o->unwrap ? NULL : &own);
        if (status == TSR_OK) memcpy(position, own.position, (size_t)own.vertices * 3 * sizeof(float));
        tsr_placed_mesh_free(&own);
    } else {
        tsr_mesh *mesh = NULL;
        const tsr_read_options read = { .struct_size = sizeof read, .memory_limit = o->memory_limit };
        TSR_TRY(tsr_mesh_read_fans(path, &read, &mesh));
        status = same_topology(path, first, tsr_mesh_vertex_count(mesh), tsr_mesh_triangle_count(mesh), tsr_mesh_triangles_const(mesh), NULL);
        if (status == TSR_OK) memcpy(position, tsr_mesh_vertices_const(mesh), (size_t)first->vertices * 3 * sizeof(float));
        tsr_mesh_destroy(&mesh);
    }
    if (status != TSR_OK) return tsr_frame_at(status, __func__, __FILE__, __LINE__);
    return TSR_OK;
}

/* ---- cameras --------------------------------------------------------------------------------------------------------------------- */

typedef struct crew {
    char (*name)[NAME_ROOM];
    int32_t count;
} crew;

static int32_t find(const crew *c, const char *name)
{
    for (int32_t i = 0; i < c->count; i++)
        if (!strncmp(c->name[i], name, NAME_ROOM - 1)) return i;
    return -1;
}

/* Who films: the different names of a rig, in their order. */
static tsr_status gather_names(const char *path, const tsr_rig *rig, crew *c)
{
    for (int64_t i = 0; i < tsr_rig_count(rig); i++) {
        tsr_rig_camera one;
        TSR_TRY(tsr_rig_get(rig, i, &one));
        if (find(c, one.name) >= 0) continue;
        if (c->count == TSR_MULTIVIEW_CAMERAS_MOST) TSR_FAIL(TSR_ERROR_FORMAT, "%.300s: more than %d cameras", path, TSR_MULTIVIEW_CAMERAS_MOST);
        tsr_print(c->name[c->count++], NAME_ROOM, "%s", one.name);
    }
    if (!c->count) TSR_FAIL(TSR_ERROR_FORMAT, "%.300s: no cameras", path);
    return TSR_OK;
}

static int moves(const tsr_rig *rig)
{
    tsr_rig_camera one;
    for (int64_t i = 0; i < tsr_rig_count(rig); i++)
        if (tsr_rig_get(rig, i, &one) == TSR_OK && one.frame != TSR_RIG_STATIC) return 1;
    return 0;
}

/* Entry of the rig for a camera at a frame: its own, or the one that stands still. */
static tsr_status place_cameras(const char *path, const tsr_rig *rig, const crew *c, int32_t step, int64_t frame, const tsr_multiview_parts *p,
                                int *found)
{
    memset(found, 0, (size_t)c->count * sizeof *found);
    for (int64_t i = 0; i < tsr_rig_count(rig); i++) {
        tsr_rig_camera one;
        TSR_TRY(tsr_rig_get(rig, i, &one));
        const int32_t k = find(c, one.name);
        if (k < 0) TSR_FAIL(TSR_ERROR_FORMAT, "%.300s: camera '%.100s' is none of the first step's", path, one.name);
        if (one.frame != TSR_RIG_STATIC && one.frame != frame) continue;
        if (found[k]++) TSR_FAIL(TSR_ERROR_FORMAT, "%.300s: camera '%.100s' is there twice for frame %lld", path, one.name, (long long)frame);
        if (one.width < 1 || one.height < 1)
            TSR_FAIL(TSR_ERROR_FORMAT, "%.300s: camera '%.100s' has no size of its pictures, expected one (--image-size)", path, one.name);
        int32_t *size = OWN(int32_t, p->picture) + 2 * k;
        if (step > 0 && (size[0] != one.width || size[1] != one.height))
            TSR_FAIL(TSR_ERROR_FORMAT, "%.300s: camera '%.100s' has pictures of %d x %d pixels, in the first step %d x %d", path, one.name, one.width,
                     one.height, size[0], size[1]);
        size[0] = one.width;
        size[1] = one.height;
        OWN(tsr_camera, p->camera)[(int64_t)step * p->cameras + k] = one.camera;
    }
    for (int32_t k = 0; k < c->count; k++)
        if (!found[k])
            TSR_FAIL(TSR_ERROR_FORMAT, "%.300s: camera '%.100s' is missing for step %d (frame %lld): expected all %d cameras in every step", path,
                     c->name[k], step, (long long)frame, c->count);
    return TSR_OK;
}

/* The cameras of a step's own file join those of the first: entries of the frame, as one file for all steps would have them. */
static tsr_status join_rigs(const char *path, tsr_rig *all, const tsr_rig *own, int64_t frame)
{
    tsr_rig_camera one;
    if (own && strcmp(own->folder, all->folder) != 0)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%.300s: another folder than the first step's, and paths of pictures start there: expected all files of cameras in one", path);
    for (int64_t i = 0; i < tsr_rig_count(own ? own : all); i++) {
        TSR_TRY(tsr_rig_get(own ? own : all, i, &one));
        one.frame = (int32_t)frame;
        TSR_TRY(own ? tsr_rig_add(all, &one) : tsr_rig_set(all, i, &one));
    }
    return TSR_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------------- */

typedef struct gathering {
    const char *meshes, *cameras;
    tsr_multiview_model_options o;
    tsr_placed_mesh first;
    tsr_rig *rig;
    crew crew;
    int64_t first_mesh, first_rig;
    int rigs_numbered, keep_rigs;
    tsr_input *input; /* of a scene that moves by itself, else NULL */
    tsr_gltf_motion *motion;
    int found[TSR_MULTIVIEW_CAMERAS_MOST];
} gathering;

static tsr_status read_steps(gathering *g, tsr_multiview_model *m)
{
    char path[PATH_ROOM];
    int has_number;
    for (int32_t t = 0; t < m->parts.steps; t++) {
        TSR_PROGRESS(&g->o.progress, (double)t / m->parts.steps, "meshes");
        float *position = OWN(float, m->parts.position) + (int64_t)t * g->first.vertices * 3;
        TSR_TRY(numbered(g->meshes, g->first_mesh + t, path, &has_number));
        if (g->motion) TSR_TRY(tsr_gltf_motion_pose(g->motion, (double)(g->first_mesh + t) / g->o.rate, position));
        else TSR_TRY(read_step(path, &g->o, &g->first, position));
    }
    for (int32_t t = 0; t < m->parts.camera_steps; t++) {
        tsr_rig *own = NULL;
        TSR_TRY(numbered(g->cameras, g->first_rig + t, path, &has_number));
        if (g->rigs_numbered && t > 0) TSR_TRY(tsr_rig_read(path, g->o.rig, &own));
        tsr_status status =
            place_cameras(path, own ? own : g->rig, &g->crew, t, g->rigs_numbered ? TSR_RIG_STATIC : g->first_mesh + t, &m->parts, g->found);
        if (status == TSR_OK && g->rigs_numbered && g->keep_rigs) status = join_rigs(path, g->rig, own, g->first_mesh + t);
        tsr_rig_destroy(&own);
        if (status != TSR_OK) return tsr_frame_at(status, __func__, __FILE__, __LINE__);
    }
    return TSR_OK;
}

/* One file that is a glTF scene: its steps are those of its animation. */
static tsr_status open_motion(gathering *g, int32_t *steps)
{
    char path[PATH_ROOM];
    int has_number;
    const tsr_input_options io = { .memory_limit = g->o.memory_limit };
    const uint8_t *bytes;
    size_t size;
    int64_t vertices, triangles;
    double seconds;
    TSR_TRY(numbered(g->meshes, g->first_mesh, path, &has_number));
    if (has_number) return TSR_OK;
    TSR_TRY(tsr_input_open(path, &io, &g->input));
    TSR_TRY(tsr_input_all(g->input, &bytes, &size));
    if (!tsr_gltf_is(bytes, size)) return TSR_OK;
    if (g->o.atlas) TSR_FAIL(TSR_ERROR_ARGUMENT, "%.300s: a glTF scene has texture coordinates of its own, expected no atlas beside it", path);
    TSR_TRY(tsr_gltf_motion_open(g->input, g->o.animation, &g->motion));
    tsr_gltf_motion_counts(g->motion, &vertices, &triangles, &seconds);
    const double last = seconds * g->o.rate + 1e-6, least = (double)g->first_mesh;
    if (!(last < TSR_MULTIVIEW_STEPS_MOST) || least > last)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.300s: an animation of %g s at %g steps a second from step %lld on, expected 1 to %d steps", path, seconds,
                 g->o.rate, (long long)g->first_mesh, TSR_MULTIVIEW_STEPS_MOST);
    *steps = (int32_t)last - (int32_t)g->first_mesh + 1;
    if (g->o.steps > 0 && g->o.steps < *steps) *steps = g->o.steps;
    return TSR_OK;
}

/* Cameras whose frames are as many as there are meshes, counted from another number on (0 here, 1 there): they are the same steps. Pictures by number, and a first
 * mesh that was asked for, say themselves which is which. */
static tsr_status meet_frames(const gathering *g, const char *path, int32_t steps)
{
    int64_t least = INT64_MAX, most = -1;
    tsr_rig_camera one;
    for (int64_t i = 0; i < tsr_rig_count(g->rig); i++) {
        TSR_TRY(tsr_rig_get(g->rig, i, &one));
        if (one.frame == TSR_RIG_STATIC || strchr(one.image, '%')) return TSR_OK;
        if (one.frame < least) least = one.frame;
        if (one.frame > most) most = one.frame;
    }
    if (g->rigs_numbered || g->o.first || g->o.steps || g->motion || least == g->first_mesh || most - least + 1 != steps) return TSR_OK;
    tsr_remark("%.200s: its frames %lld to %lld are taken for the meshes %lld to %lld, which are as many", path, (long long)least, (long long)most,
               (long long)g->first_mesh, (long long)g->first_mesh + steps - 1);
    for (int64_t i = 0; i < tsr_rig_count(g->rig); i++) {
        TSR_TRY(tsr_rig_get(g->rig, i, &one));
        one.frame = (int32_t)(one.frame - least + g->first_mesh);
        TSR_TRY(tsr_rig_set(g->rig, i, &one));
    }
    return TSR_OK;
}

static tsr_status gather(gathering *g, tsr_multiview_model **model)
{
    char path[PATH_ROOM];
    int has_number;
    int32_t steps, rigs = 1;
    TSR_TRY(count_files(g->meshes, &g->first_mesh, g->o.steps, &steps));
    TSR_TRY(open_motion(g, &steps));
    TSR_TRY(numbered(g->cameras, 0, path, &g->rigs_numbered));
    if (g->rigs_numbered) TSR_TRY(count_files(g->cameras, &g->first_rig, steps, &rigs));
    if (g->rigs_numbered && rigs < steps)
        TSR_FAIL(TSR_ERROR_FORMAT, "'%.300s': files of cameras for %d steps, but meshes for %d", g->cameras, rigs, steps);
    TSR_TRY(numbered(g->cameras, g->first_rig, path, &has_number));
    TSR_TRY(tsr_rig_read(path, g->o.rig, &g->rig));
    if (!g->rigs_numbered) TSR_TRY(tsr_rig_take_numbers(path, g->rig, g->first_mesh, steps));
    TSR_TRY(meet_frames(g, path, steps));
    TSR_TRY(gather_names(path, g->rig, &g->crew));
    TSR_TRY(numbered(g->meshes, g->first_mesh, path, &has_number));
    if (g->motion) {
        TSR_TRY(place_scene(path, g->motion, &g->o, (double)g->first_mesh / g->o.rate, &g->first));
        move_home(&g->first);
    } else TSR_TRY(open_placed(g->o.atlas && !g->o.unwrap ? g->o.atlas : path, &g->o, &g->first));
    if (g->o.unwrap) TSR_TRY(make_atlas(path, &g->o, &g->first));
    tsr_multiview_parts p = { .struct_size = sizeof p,
                              .width = g->o.width ? g->o.width : 512,
                              .height = g->o.height ? g->o.height : 512,
                              .cameras = g->crew.count,
                              .steps = steps,
                              .camera_steps = g->rigs_numbered || moves(g->rig) ? steps : 1,
                              .vertices = g->first.vertices,
                              .places = g->first.places,
                              .triangles = g->first.triangles };
    TSR_TRY(tsr_multiview_check_sizes("model", TSR_ERROR_ARGUMENT, &p));
    TSR_TRY(tsr_mask_rules_take("model", &g->o.rules, &p.rules));
    const int64_t limit = g->o.memory_limit > 0 ? g->o.memory_limit : tsr_physical_memory();
    if (p.vertices * p.steps > limit / 12)
        TSR_FAIL(TSR_ERROR_MEMORY, "%.300s: %lld vertices in %d steps are over the memory limit of %lld bytes", g->meshes, (long long)p.vertices,
                 p.steps, (long long)limit);
    TSR_TRY(tsr_multiview_model_allocate(&p, model));
    memcpy(OWN(uint32_t, (*model)->parts.triangle), g->first.triangle, (size_t)p.triangles * 3 * sizeof(uint32_t));
    memcpy(OWN(uint32_t, (*model)->parts.corner), g->first.corner, (size_t)p.triangles * 3 * sizeof(uint32_t));
    memcpy(OWN(float, (*model)->parts.place), g->first.place, (size_t)p.places * 2 * sizeof(float));
    TSR_TRY(read_steps(g, *model));
    TSR_TRY(tsr_multiview_model_complete(g->meshes, TSR_ERROR_FORMAT, *model));
    return TSR_OK;
}

tsr_status tsr_multiview_model_read(const char *meshes, const char *cameras, const tsr_multiview_model_options *options, tsr_multiview_model **model,
                                    tsr_rig **rig)
{
    TSR_RETURNS(model);
    gathering g = { .meshes = meshes, .cameras = cameras, .keep_rigs = rig != NULL };
    if (rig) *rig = NULL;
    if (!meshes || !cameras) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s are NULL", meshes ? "cameras" : "meshes");
    TSR_TRY(TSR_OPTIONS_TAKE(&g.o, options));
    if (g.o.steps < 0 || g.o.first < 0 || g.o.first > INT32_MAX / 2)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "model: %d steps from %lld on, expected 0 to 10^9", g.o.steps, (long long)g.o.first);
    if (g.o.rate == 0) g.o.rate = 25;
    if (!(g.o.rate > 0) || !isfinite(g.o.rate)) TSR_FAIL(TSR_ERROR_ARGUMENT, "model: %g steps a second, expected a number above 0", g.o.rate);
    g.first_mesh = g.o.first;
    g.crew.name = (char(*)[NAME_ROOM])calloc(TSR_MULTIVIEW_CAMERAS_MOST, NAME_ROOM);
    if (!g.crew.name) TSR_FAIL(TSR_ERROR_MEMORY, "model: out of host memory");
    const tsr_status status = gather(&g, model);
    if (status == TSR_OK && rig) {
        tsr_rig_set_sequence(g.rig, (int32_t)g.first_mesh, (int32_t)g.first_mesh + (*model)->parts.steps - 1);
        *rig = g.rig;
        g.rig = NULL;
    }
    tsr_rig_destroy(&g.rig);
    tsr_placed_mesh_free(&g.first);
    tsr_gltf_motion_close(&g.motion);
    tsr_input_close(&g.input);
    free(g.crew.name);
    if (status == TSR_OK) return TSR_OK;
    tsr_multiview_model_destroy(model);
    return tsr_frame_at(status, __func__, __FILE__, __LINE__);
}
