/* fluid/sim_solids.c: what fluids run against, and its mesh. */
#include <math.h>
#include <string.h>

#include "core/vec3.h"
#include "fluid/sim.h"
#include "tessera/voxelize.h"

static int finite3(tsr_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }
static void to_floats(tsr_vec3 v, float to[3])
{
    to[0] = (float)v.x;
    to[1] = (float)v.y;
    to[2] = (float)v.z;
}

float tsr_sim_distance(const tsr_fluid_sim *s, const double place[3])
{
    const float at[3] = { (float)place[0], (float)place[1], (float)place[2] };
    float least = 3.4e38f;
    for (int32_t c = 0; c < s->collider_count; c++) {
        tsr_sim_wall walls[TSR_SIM_WALLS_MOST];
        const int32_t count = tsr_sim_walls(&s->colliders[c], at, walls);
        for (int32_t w = 0; w < count; w++) least = tsr_minf(least, walls[w].d);
    }
    return least;
}

/* Room for one more. */
static tsr_status one_more(tsr_fluid_sim *s, tsr_sim_collider **collider)
{
    if (!s) TSR_FAIL(TSR_ERROR_ARGUMENT, "sim is NULL");
    if (s->collider_count == TSR_SIM_COLLIDERS_MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "more than %d solids", TSR_SIM_COLLIDERS_MOST);
    if (s->count) TSR_FAIL(TSR_ERROR_ARGUMENT, "a solid after the fluid, expected all solids first");
    *collider = &s->colliders[s->collider_count];
    memset(*collider, 0, sizeof **collider);
    s->colliders_ready = 0;
    return TSR_OK;
}

static tsr_status check_corners(const char *what, tsr_vec3 lower, tsr_vec3 upper)
{
    if (!finite3(lower) || !finite3(upper) || !(lower.x < upper.x && lower.y < upper.y && lower.z < upper.z))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s from (%g, %g, %g) to (%g, %g, %g), expected upper above lower", what, lower.x, lower.y, lower.z, upper.x, upper.y,
                 upper.z);
    return TSR_OK;
}

static tsr_status check_direction(const char *what, tsr_vec3 *v)
{
    const double n = tsr_vec3_length(*v);
    if (!(n > 1e-100 && n < 1e100)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is (%g, %g, %g), expected a direction", what, v->x, v->y, v->z);
    *v = tsr_vec3_scale(*v, 1 / n);
    return TSR_OK;
}

static tsr_status check_size(const char *what, double size)
{
    if (!(size > 0 && size < 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is %g, expected above 0, below 10^6 metres", what, size);
    return TSR_OK;
}

tsr_status tsr_fluid_sim_add_plane(tsr_fluid_sim *sim, tsr_vec3 point, tsr_vec3 normal)
{
    TSR_NEEDS(sim);
    tsr_sim_collider *c;
    TSR_TRY(one_more(sim, &c));
    if (!finite3(point)) TSR_FAIL(TSR_ERROR_ARGUMENT, "point of the plane is not finite");
    TSR_TRY(check_direction("normal", &normal));
    c->kind = TSR_SIM_PLANE;
    to_floats(point, c->a);
    to_floats(normal, c->b);
    sim->collider_count++;
    return TSR_OK;
}

static tsr_status add_box(tsr_fluid_sim *sim, int32_t kind, const char *what, tsr_vec3 lower, tsr_vec3 upper)
{
    tsr_sim_collider *c;
    TSR_TRY(one_more(sim, &c));
    TSR_TRY(check_corners(what, lower, upper));
    c->kind = kind;
    to_floats(lower, c->a);
    to_floats(upper, c->b);
    sim->collider_count++;
    return TSR_OK;
}
tsr_status tsr_fluid_sim_add_room(tsr_fluid_sim *sim, tsr_vec3 lower, tsr_vec3 upper) { return add_box(sim, TSR_SIM_ROOM, "room", lower, upper); }
tsr_status tsr_fluid_sim_add_box(tsr_fluid_sim *sim, tsr_vec3 lower, tsr_vec3 upper) { return add_box(sim, TSR_SIM_BLOCK, "box", lower, upper); }

tsr_status tsr_fluid_sim_add_sphere(tsr_fluid_sim *sim, tsr_vec3 centre, double radius)
{
    TSR_NEEDS(sim);
    tsr_sim_collider *c;
    TSR_TRY(one_more(sim, &c));
    if (!finite3(centre)) TSR_FAIL(TSR_ERROR_ARGUMENT, "centre of the sphere is not finite");
    TSR_TRY(check_size("radius", radius));
    c->kind = TSR_SIM_BALL;
    to_floats(centre, c->a);
    c->radius = (float)radius;
    sim->collider_count++;
    return TSR_OK;
}

tsr_status tsr_fluid_sim_add_glass(tsr_fluid_sim *sim, tsr_vec3 bottom, tsr_vec3 axis, double radius, double height, double thickness)
{
    TSR_NEEDS(sim);
    tsr_sim_collider *c;
    TSR_TRY(one_more(sim, &c));
    if (!finite3(bottom)) TSR_FAIL(TSR_ERROR_ARGUMENT, "bottom of the glass is not finite");
    TSR_TRY(check_direction("axis", &axis));
    TSR_TRY(check_size("radius", radius));
    TSR_TRY(check_size("height", height));
    TSR_TRY(check_size("thickness", thickness));
    c->kind = TSR_SIM_CUP;
    to_floats(bottom, c->a);
    to_floats(axis, c->b);
    c->radius = (float)radius;
    c->height = (float)height;
    c->thickness = (float)thickness;
    sim->collider_count++;
    return TSR_OK;
}

/* ---- meshes as fields of distances ------------------------------------------------------------------------------------------------------------ */

static tsr_status field_of(tsr_fluid_sim *s, tsr_context *host, const tsr_mesh *mesh, double voxel, int hollow, tsr_sim_collider *c, tsr_volume **volume)
{
    tsr_voxelize_options v = TSR_VOXELIZE_OPTIONS;
    tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
    v.spacing = (tsr_vec3){ voxel, voxel, voxel };
    v.band = (double)s->kernel.reach + 2 * voxel;
    TSR_TRY(tsr_volume_from_mesh(host, mesh, TSR_F32, &v, volume, &report));
    if (report.boundary_edges)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "the mesh has %lld open edges, expected a closed one", (long long)report.boundary_edges);
    const tsr_size3 size = tsr_volume_size(*volume);
    const tsr_geometry g = *tsr_volume_geometry(*volume);
    const size_t bytes = (size_t)size.x * (size_t)size.y * (size_t)size.z * 4;
    float *field = NULL;
    if (size.x > INT32_MAX || size.y > INT32_MAX || size.z > INT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "the mesh has too many voxels of %g", voxel);
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&field));
    memcpy(field, tsr_volume_data_const(*volume), bytes);
    if (hollow)
        for (size_t i = 0; i < bytes / 4; i++) field[i] = -field[i];
    c->kind = TSR_SIM_FIELD;
    c->field = field;
    c->size[0] = (int32_t)size.x;
    c->size[1] = (int32_t)size.y;
    c->size[2] = (int32_t)size.z;
    c->spacing = (float)voxel;
    c->inverse = (float)(1 / voxel);
    for (int k = 0; k < 3; k++) c->a[k] = (float)g.affine[k][3];
    return TSR_OK;
}

tsr_status tsr_fluid_sim_add_mesh(tsr_fluid_sim *sim, const tsr_mesh *mesh, double voxel, int hollow)
{
    TSR_NEEDS(sim, mesh);
    tsr_sim_collider *c;
    tsr_volume *volume = NULL;
    tsr_context *host = NULL;
    tsr_mesh *kept = NULL;
    tsr_status status;
    TSR_TRY(one_more(sim, &c));
    if (tsr_mesh_device(mesh).kind != TSR_DEVICE_CPU) TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh lies on a device, expected a host mesh");
    if (voxel == 0) voxel = sim->options.spacing;
    TSR_TRY(check_size("voxel", voxel));
    const tsr_context_options on_host = { .struct_size = sizeof on_host, .device = "cpu" };
    TSR_TRY(tsr_context_create(&on_host, &host));
    TSR_TRY_GOTO(field_of(sim, host, mesh, voxel, hollow, c, &volume), done);
    TSR_TRY_GOTO(tsr_mesh_copy(mesh, NULL, &kept), done);
    const size_t bytes = (size_t)c->size[0] * (size_t)c->size[1] * (size_t)c->size[2] * 4;
    float *field = NULL;
    TSR_TRY_GOTO(tsr_device_allocate(sim->context, bytes, (void **)&field), done);
    sim->fields[sim->collider_count] = field;
    sim->meshes[sim->collider_count++] = kept; /* from here on tsr_fluid_sim_destroy knows them */
    c = NULL;
    kept = NULL;
    TSR_TRY_GOTO(sim->context->backend->upload(sim->context->queue, field, sim->colliders[sim->collider_count - 1].field, bytes), done);
    TSR_TRY_GOTO(tsr_context_synchronize(sim->context), done);
done:
    if (c && c->field) {
        void *own;
        memcpy(&own, &c->field, sizeof own);
        tsr_host_release(NULL, own, 0);
        c->field = NULL;
    }
    tsr_mesh_destroy(&kept);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&host);
    return status;
}

/* ---- their mesh ------------------------------------------------------------------------------------------------------------------------------- */

typedef struct solid_mesh {
    float *vertices; /* NULL: counting */
    uint32_t *triangles;
    int64_t vertex_count, triangle_count;
} solid_mesh;

static uint32_t put_vertex(solid_mesh *m, double x, double y, double z)
{
    if (m->vertices) {
        m->vertices[3 * m->vertex_count] = (float)x;
        m->vertices[3 * m->vertex_count + 1] = (float)y;
        m->vertices[3 * m->vertex_count + 2] = (float)z;
    }
    return (uint32_t)m->vertex_count++;
}
static void put_triangle(solid_mesh *m, uint32_t a, uint32_t b, uint32_t c)
{
    if (m->triangles) {
        m->triangles[3 * m->triangle_count] = a;
        m->triangles[3 * m->triangle_count + 1] = b;
        m->triangles[3 * m->triangle_count + 2] = c;
    }
    m->triangle_count++;
}
static void put_quad(solid_mesh *m, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    put_triangle(m, a, b, c);
    put_triangle(m, a, c, d);
}

static void put_box(solid_mesh *m, const float lower[3], const float upper[3])
{
    static const uint8_t sides[6][4] = { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 }, { 2, 6, 7, 3 }, { 0, 4, 6, 2 }, { 1, 3, 7, 5 } };
    uint32_t corner[8];
    for (int i = 0; i < 8; i++)
        corner[i] = put_vertex(m, (double)(i & 1 ? upper : lower)[0], (double)(i & 2 ? upper : lower)[1], (double)(i & 4 ? upper : lower)[2]);
    for (int s = 0; s < 6; s++) put_quad(m, corner[sides[s][0]], corner[sides[s][1]], corner[sides[s][2]], corner[sides[s][3]]);
}

enum { ROUND = 64 }; /* parts of a circle */

/* A closed surface of revolution: the profile (radius, height) from the lower pole to the upper one, or to and fro, outside on its right. */
static void put_round(solid_mesh *m, const tsr_sim_collider *c, const double (*profile)[2], int points)
{
    const tsr_vec3 axis = { (double)c->b[0], (double)c->b[1], (double)c->b[2] };
    tsr_vec3 side = fabs(axis.x) < 0.6 ? (tsr_vec3){ 1, 0, 0 } : (tsr_vec3){ 0, 1, 0 };
    side = tsr_vec3_sub(side, tsr_vec3_scale(axis, tsr_vec3_dot(side, axis)));
    side = tsr_vec3_scale(side, 1 / tsr_vec3_length(side));
    const tsr_vec3 other = { axis.y * side.z - axis.z * side.y, axis.z * side.x - axis.x * side.z, axis.x * side.y - axis.y * side.x };
    uint32_t before[ROUND] = { 0 };
    for (int p = 0; p < points; p++) {
        uint32_t ring[ROUND];
        const int pole = profile[p][0] == 0;
        for (int k = 0; k < ROUND; k++) {
            const double angle = 6.28318530717958648 * k / ROUND, x = cos(angle) * profile[p][0], y = sin(angle) * profile[p][0], z = profile[p][1];
            ring[k] = pole && k ? ring[0]
                                : put_vertex(m, (double)c->a[0] + x * side.x + y * other.x + z * axis.x, (double)c->a[1] + x * side.y + y * other.y + z * axis.y,
                                             (double)c->a[2] + x * side.z + y * other.z + z * axis.z);
        }
        for (int k = 0; p && k < ROUND; k++) {
            const int n = (k + 1) % ROUND;
            if (before[0] != before[1]) put_triangle(m, before[k], before[n], ring[n]);
            if (!pole) put_triangle(m, before[k], ring[n], ring[k]);
        }
        memcpy(before, ring, sizeof before);
    }
}

static void put_ball(solid_mesh *m, const tsr_sim_collider *c)
{
    double profile[ROUND / 2 + 1][2];
    tsr_sim_collider upright = *c;
    upright.b[0] = upright.b[1] = 0;
    upright.b[2] = 1;
    for (int k = 0; k <= ROUND / 2; k++) {
        const double angle = 3.14159265358979323846 * k / (ROUND / 2);
        profile[k][0] = k == 0 || k == ROUND / 2 ? 0 : (double)c->radius * sin(angle);
        profile[k][1] = -(double)c->radius * cos(angle);
    }
    put_round(m, &upright, (const double (*)[2])profile, ROUND / 2 + 1);
}

static void put_cup(solid_mesh *m, const tsr_sim_collider *c)
{
    const double r = (double)c->radius, t = (double)c->thickness, h = (double)c->height;
    const double profile[6][2] = { { 0, -t }, { r + t, -t }, { r + t, h }, { r, h }, { r, 0 }, { 0, 0 } };
    put_round(m, c, profile, 6);
}

static void put_all(const tsr_fluid_sim *s, solid_mesh *m)
{
    for (int32_t i = 0; i < s->collider_count; i++) {
        const tsr_sim_collider *c = &s->colliders[i];
        if (c->kind == TSR_SIM_BLOCK) put_box(m, c->a, c->b);
        else if (c->kind == TSR_SIM_BALL) put_ball(m, c);
        else if (c->kind == TSR_SIM_CUP) put_cup(m, c);
        else if (c->kind == TSR_SIM_ROOM) {
            uint32_t corner[4];
            for (int k = 0; k < 4; k++) corner[k] = put_vertex(m, (double)(k & 1 ? c->b : c->a)[0], (double)(k & 2 ? c->b : c->a)[1], (double)c->a[2]);
            put_quad(m, corner[0], corner[1], corner[3], corner[2]);
        } else if (c->kind == TSR_SIM_FIELD) {
            const tsr_mesh *own = s->meshes[i];
            const float *v = tsr_mesh_vertices_const(own);
            const uint32_t *t = tsr_mesh_triangles_const(own), first = (uint32_t)m->vertex_count;
            for (int64_t k = 0; k < tsr_mesh_vertex_count(own); k++) put_vertex(m, (double)v[3 * k], (double)v[3 * k + 1], (double)v[3 * k + 2]);
            for (int64_t k = 0; k < tsr_mesh_triangle_count(own); k++) put_triangle(m, first + t[3 * k], first + t[3 * k + 1], first + t[3 * k + 2]);
        }
    }
}

tsr_status tsr_fluid_sim_solids(const tsr_fluid_sim *sim, tsr_mesh **mesh)
{
    TSR_RETURNS(mesh);
    solid_mesh m = { 0 };
    if (!sim || !mesh) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", sim ? "mesh" : "sim");
    put_all(sim, &m);
    TSR_TRY(tsr_mesh_create(NULL, m.vertex_count, m.triangle_count, 0, mesh));
    m = (solid_mesh){ .vertices = tsr_mesh_vertices(*mesh), .triangles = tsr_mesh_triangles(*mesh) };
    put_all(sim, &m);
    return TSR_OK;
}
