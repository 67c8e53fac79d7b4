#include "picture.h"

#include <math.h>
#include <string.h>

static tsr_vec3 add(tsr_vec3 a, tsr_vec3 b, double s) { return (tsr_vec3){ a.x + s * b.x, a.y + s * b.y, a.z + s * b.z }; }
static double dot(tsr_vec3 a, tsr_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static tsr_vec3 cross(tsr_vec3 a, tsr_vec3 b) { return (tsr_vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x }; }
static tsr_vec3 unit(tsr_vec3 a)
{
    double n = sqrt(dot(a, a));
    return n > 0 ? (tsr_vec3){ a.x / n, a.y / n, a.z / n } : a;
}
static tsr_vec3 column(const tsr_geometry *g, int k) { return (tsr_vec3){ g->affine[0][k], g->affine[1][k], g->affine[2][k] }; }

/* The column of the matrix, other than `not_a` and `not_b`, closest to a wanted direction, turned to point that way. */
static int closest(const tsr_geometry *g, tsr_vec3 wanted, int not_a, int not_b, tsr_vec3 *direction)
{
    int best = -1;
    double most = -1;
    for (int k = 0; k < 3; k++) {
        double along = fabs(dot(unit(column(g, k)), wanted));
        if (k == not_a || k == not_b || along <= most) continue;
        most = along;
        best = k;
    }
    *direction = unit(column(g, best));
    if (dot(*direction, wanted) < 0) *direction = (tsr_vec3){ -direction->x, -direction->y, -direction->z };
    return best;
}

/* The assignment of index to world axes, of the six there are, whose cosines have the largest product. */
int viewer_world_axis(const tsr_geometry *g, int axis)
{
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    int best = 0;
    double most = -1;
    for (int i = 0; i < 6; i++) {
        double product = 1;
        for (int k = 0; k < 3; k++) {
            const tsr_vec3 v = unit(column(g, k));
            product *= fabs(orders[i][k] == 0 ? v.x : orders[i][k] == 1 ? v.y : v.z);
        }
        if (product <= most) continue;
        most = product;
        best = i;
    }
    return orders[best][axis];
}

void viewer_slice_plane(const viewer_image *image, const viewer_look *look, viewer_plane *plane)
{
    const tsr_geometry *g = &image->geometry;
    const int64_t size[3] = { image->size.x, image->size.y, image->size.z };
    const double spacing[3] = { image->spacing.x, image->spacing.y, image->spacing.z };
    double at[3] = { 0.5 * (double)(size[0] - 1), 0.5 * (double)(size[1] - 1), 0.5 * (double)(size[2] - 1) };
    /* What the wanted directions are depends on where the slice's own axis points in the world, not on its number in the file. */
    int world = viewer_world_axis(g, look->axis);
    double turn = g->space == TSR_SPACE_RAS ? -1 : 1, front = g->space == TSR_SPACE_LPS ? -1 : 1;
    tsr_vec3 right = world == 0 ? (tsr_vec3){ 0, turn, 0 } : (tsr_vec3){ turn, 0, 0 },
             up = world == 2 ? (tsr_vec3){ 0, front, 0 } : (tsr_vec3){ 0, 0, 1 };
    at[look->axis] = look->position;
    int b = closest(g, up, look->axis, -1, &plane->up);
    int a = closest(g, right, look->axis, b, &plane->right);
    double fit = fmax((double)size[a] * spacing[a] / look->width, (double)size[b] * spacing[b] / look->height);
    plane->pixel = fit / look->zoom;
    plane->centre = tsr_geometry_to_world(g, (tsr_vec3){ at[0], at[1], at[2] });
    plane->centre = add(add(plane->centre, plane->right, -look->pan[0]), plane->up, look->pan[1]);
}

int viewer_slice_options(const viewer_image *image, const viewer_plane *p, const viewer_look *look, int32_t width, int32_t height,
                         tsr_slice_options *o, viewer_frame *frame)
{
    double pixel = p->pixel * look->height / height;
    o->axis = 3;
    o->position = 0; /* a number: the centre is meant, also where it is the world's origin */
    o->normal = cross(p->right, p->up);
    o->up = p->up;
    o->centre = p->centre;
    o->height = pixel * height;
    tsr_vec3 corner = add(add(p->centre, p->right, -0.5 * pixel * width), p->up, 0.5 * pixel * height), at[3];
    const tsr_vec3 world[3] = { add(add(corner, p->right, 0.5 * pixel), p->up, -0.5 * pixel), add(corner, p->right, pixel),
                                add(corner, p->up, -pixel) };
    tsr_vec3 origin;
    if (tsr_geometry_to_index(&image->geometry, corner, &origin) != TSR_OK) return -1;
    for (int i = 0; i < 3; i++)
        if (tsr_geometry_to_index(&image->geometry, world[i], &at[i]) != TSR_OK) return -1;
    const tsr_vec3 u = add(at[1], origin, -1), v = add(at[2], origin, -1);
    memcpy(frame->origin, (float[3]){ (float)origin.x, (float)origin.y, (float)origin.z }, sizeof frame->origin);
    memcpy(frame->right, (float[3]){ (float)u.x, (float)u.y, (float)u.z }, sizeof frame->right);
    memcpy(frame->down, (float[3]){ (float)v.x, (float)v.y, (float)v.z }, sizeof frame->down);
    frame->pixel = (float)pixel;
    frame->zoom = (float)look->zoom;
    return 0;
}

/* What cameras are fitted to, and an axis of the eye: right, up, backward. */
static tsr_vec3 middle_of(const tsr_scene_info *info)
{
    return (tsr_vec3){ 0.5 * (info->bounds.lower.x + info->bounds.upper.x), 0.5 * (info->bounds.lower.y + info->bounds.upper.y),
                       0.5 * (info->bounds.lower.z + info->bounds.upper.z) };
}
static tsr_vec3 row(const tsr_camera *camera, int i) { return (tsr_vec3){ camera->rotation[i][0], camera->rotation[i][1], camera->rotation[i][2] }; }

tsr_status viewer_camera(const tsr_scene_info *info, const viewer_look *look, tsr_camera *camera)
{
    double aspect = (double)look->width / look->height;
    tsr_status status = tsr_camera_orbit(&info->bounds, info->space, look->azimuth, look->elevation, TSR_PERSPECTIVE, aspect, camera);
    if (status != TSR_OK) return status;
    const tsr_vec3 middle = middle_of(info), back = add(camera->position, middle, -1);
    camera->position = add(middle, back, 1 / look->zoom);
    camera->position = add(add(camera->position, row(camera, 0), -look->pan[0]), row(camera, 1), look->pan[1]);
    return TSR_OK;
}

double viewer_camera_distance(const tsr_scene_info *info, const tsr_camera *camera)
{
    return dot(add(camera->position, middle_of(info), -1), row(camera, 2));
}

double viewer_camera_pixel(const tsr_scene_info *info, const tsr_camera *camera, int32_t height)
{
    return 2 * viewer_camera_distance(info, camera) * tan(camera->fov * (3.14159265358979323846 / 360)) / height;
}

tsr_status viewer_clip(const tsr_scene_info *info, const viewer_look *look, tsr_vec3 *normal, double *offset)
{
    tsr_camera from;
    tsr_status status = tsr_camera_orbit(&info->bounds, info->space, look->clip_azimuth, look->clip_elevation, TSR_ORTHOGRAPHIC, 1, &from);
    if (status != TSR_OK) return status;
    *normal = row(&from, 2);
    tsr_vec3 half = add(info->bounds.upper, info->bounds.lower, -1);
    double reach = 0.5 * (fabs(normal->x * half.x) + fabs(normal->y * half.y) + fabs(normal->z * half.z));
    *offset = dot(*normal, middle_of(info)) + look->clip_offset * reach;
    return TSR_OK;
}

static tsr_vec3 ray_of(const tsr_camera *c, double aspect, double x, double y)
{
    const double slope = tan(c->fov * (3.14159265358979323846 / 360));
    return unit(add(add(add((tsr_vec3){ 0, 0, 0 }, row(c, 2), -1), row(c, 0), (2 * x - 1) * slope * aspect), row(c, 1), (1 - 2 * y) * slope));
}

tsr_vec3 viewer_on_ray(const tsr_camera *camera, double aspect, double x, double y, double distance)
{
    return add(camera->position, ray_of(camera, aspect, x, y), distance);
}

int viewer_pick_point(const viewer_image *image, const tsr_camera *c, double aspect, double x, double y, double distance, int clip, tsr_vec3 normal,
                      double offset, tsr_vec3 *index)
{
    const tsr_vec3 ray = ray_of(c, aspect, x, y);
    double along = dot(ray, normal), plane = clip && fabs(along) > 1e-9 ? (offset - dot(c->position, normal)) / along : HUGE_VAL;
    const double candidates[2] = { fmin(plane > 0 ? plane : HUGE_VAL, distance), distance };
    for (int i = 0; i < 2; i++) {
        if (!isfinite(candidates[i])) continue;
        if (tsr_geometry_to_index(&image->geometry, add(c->position, ray, candidates[i]), index) != TSR_OK) return -1;
        if (index->x >= -0.5 && index->y >= -0.5 && index->z >= -0.5 && index->x <= (double)image->size.x - 0.5 &&
            index->y <= (double)image->size.y - 0.5 && index->z <= (double)image->size.z - 0.5)
            return 0;
    }
    return -1;
}
