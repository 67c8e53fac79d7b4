/* viewer/shows/lines.c: rods in space, a pixel's distance from their axes at a time. */
#include "lines.h"

#include <math.h>
#include <stdlib.h>

static const double near_plane = 1e-3, rim = 0.72, least_pixels = 0.6, most_pixels = 40; /* rim: share of the radius from which on it is dark */

tsr_status viewer_canvas_begin(viewer_canvas *canvas, const tsr_camera *camera, int32_t width, int32_t height, tsr_image *image)
{
    const size_t n = (size_t)width * (size_t)height;
    *canvas = (viewer_canvas){ .image = image, .camera = *camera, .focal = 0.5 * height / tan(camera->fov * (3.14159265358979323846 / 360)) };
    const tsr_status status = tsr_image_create(width, height, 3, image);
    if (status != TSR_OK) return status;
    canvas->depth = (float *)malloc(n * sizeof *canvas->depth);
    if (!canvas->depth) return TSR_ERROR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        const double share = (double)(i / (size_t)width) / height; /* dark above, darker below, as in the other modes */
        canvas->depth[i] = INFINITY;
        image->pixels[3 * i] = (uint8_t)(46 - 20 * share);
        image->pixels[3 * i + 1] = (uint8_t)(48 - 20 * share);
        image->pixels[3 * i + 2] = (uint8_t)(54 - 22 * share);
    }
    return TSR_OK;
}

void viewer_canvas_end(viewer_canvas *canvas)
{
    free(canvas->depth);
    canvas->depth = NULL;
}

static tsr_vec3 to_eye(const tsr_camera *c, tsr_vec3 p)
{
    const double d[3] = { p.x - c->position.x, p.y - c->position.y, p.z - c->position.z };
    double e[3];
    for (int i = 0; i < 3; i++) e[i] = c->rotation[i][0] * d[0] + c->rotation[i][1] * d[1] + c->rotation[i][2] * d[2];
    return (tsr_vec3){ e[0], e[1], -e[2] }; /* z: in front */
}

/* A rod in the picture: from x, y, z to the other end, which lies `length` pixels along a unit vector; 1 / z is linear along it. */
typedef struct rod {
    double x, y, z, u, v, length, end_z, radius;
} rod;

/* The pixels about one place of it. What is said of a pixel is the same from every place. */
static void spot(viewer_canvas *c, const rod *r, double x, double y, double reach, const uint8_t rgb[3])
{
    tsr_image *image = c->image;
    const int32_t x0 = (int32_t)fmax(0, ceil(x - reach)), x1 = (int32_t)fmin(image->width - 1, floor(x + reach)),
                  y0 = (int32_t)fmax(0, ceil(y - reach)), y1 = (int32_t)fmin(image->height - 1, floor(y + reach));
    for (int32_t j = y0; j <= y1; j++)
        for (int32_t i = x0; i <= x1; i++) {
            const double along = fmin(r->length, fmax(0, (i - r->x) * r->u + (j - r->y) * r->v)), t = r->length > 0 ? along / r->length : 0;
            const double away = hypot(i - r->x - along * r->u, j - r->y - along * r->v), z = 1 / ((1 - t) / r->z + t / r->end_z);
            const double thick = fmin(most_pixels, fmax(least_pixels, c->focal * r->radius / z)), cover = fmin(1, thick + 0.5 - away);
            if (cover <= 0) continue;
            const size_t at = (size_t)j * (size_t)image->width + (size_t)i;
            const double q = fmin(1, away * away / (thick * thick)), bulge = sqrt(1 - q);
            const float depth = (float)(z - bulge * thick * z / c->focal); /* a ball: rods that cross do so cleanly */
            if (!(depth < c->depth[at])) continue;
            if (cover >= 0.5) c->depth[at] = depth;
            const int side = along > 0 && along < r->length; /* its ends have no rim: pieces of a line are one rod */
            const double light = side && thick > 1.5 && q > rim * rim ? 0.25 : 0.45 + 0.55 * bulge;
            for (int k = 0; k < 3; k++) {
                uint8_t *to = &image->pixels[3 * at + (size_t)k];
                *to = (uint8_t)(*to + cover * (light * rgb[k] - *to) + 0.5);
            }
        }
}

void viewer_canvas_line(viewer_canvas *c, tsr_vec3 from, tsr_vec3 to, double radius, const uint8_t rgb[3])
{
    tsr_vec3 a = to_eye(&c->camera, from), b = to_eye(&c->camera, to);
    const double cx = 0.5 * c->image->width - 0.5, cy = 0.5 * c->image->height - 0.5;
    if (!isfinite(a.x + a.y + a.z + b.x + b.y + b.z) || (a.z < near_plane && b.z < near_plane)) return;
    if (a.z < near_plane || b.z < near_plane) { /* what lies before the eye */
        tsr_vec3 *out = a.z < b.z ? &a : &b;
        const tsr_vec3 in = a.z < b.z ? b : a;
        const double t = (near_plane - out->z) / (in.z - out->z);
        *out = (tsr_vec3){ out->x + t * (in.x - out->x), out->y + t * (in.y - out->y), near_plane };
    }
    const double x0 = cx + c->focal * a.x / a.z, y0 = cy - c->focal * a.y / a.z, x1 = cx + c->focal * b.x / b.z, y1 = cy - c->focal * b.y / b.z;
    const double margin = most_pixels, w = c->image->width, h = c->image->height;
    /* The part within the picture: of a line that leaves it far outside few discs are seen. */
    double t0 = 0, t1 = 1;
    const double d[2] = { x1 - x0, y1 - y0 }, o[2] = { x0, y0 }, most[2] = { w + margin, h + margin };
    for (int k = 0; k < 2; k++) {
        if (fabs(d[k]) < 1e-9) {
            if (o[k] < -margin || o[k] > most[k]) return;
            continue;
        }
        const double u = (-margin - o[k]) / d[k], v = (most[k] - o[k]) / d[k];
        t0 = fmax(t0, fmin(u, v));
        t1 = fmin(t1, fmax(u, v));
    }
    if (t0 > t1) return;
    const double whole = hypot(d[0], d[1]), length = whole * (t1 - t0);
    const rod r = { x0, y0, a.z, whole > 0 ? d[0] / whole : 0, whole > 0 ? d[1] / whole : 0, whole, b.z, radius };
    const double thick = fmin(most_pixels, fmax(least_pixels, c->focal * radius / fmin(a.z, b.z))), step = 1 + thick;
    const int steps = (int)fmin(20000, ceil(length / step));
    for (int i = 0; i <= steps; i++) {
        const double t = t0 + (t1 - t0) * (steps ? (double)i / steps : 0);
        spot(c, &r, x0 + t * d[0], y0 + t * d[1], thick + step, rgb);
    }
}

void viewer_canvas_frustum(viewer_canvas *canvas, const tsr_rig_camera *of, double size, double radius, const uint8_t rgb[3])
{
    const tsr_camera *k = &of->camera;
    const double fov = k->fov > 1 && k->fov < 170 ? k->fov : 50, high = size * tan(fov * (3.14159265358979323846 / 360));
    const double aspect = k->aspect > 0 ? k->aspect : of->width > 0 && of->height > 0 ? (double)of->width / of->height : 1;
    static const double at[5][2] = { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 }, { 0, 1.5 } };
    tsr_vec3 p[5];
    for (int i = 0; i < 5; i++) {
        const double x = at[i][0] * high * aspect, y = at[i][1] * high;
        p[i] = (tsr_vec3){ k->position.x + x * k->rotation[0][0] + y * k->rotation[1][0] - size * k->rotation[2][0],
                           k->position.y + x * k->rotation[0][1] + y * k->rotation[1][1] - size * k->rotation[2][1],
                           k->position.z + x * k->rotation[0][2] + y * k->rotation[1][2] - size * k->rotation[2][2] };
    }
    for (int i = 0; i < 4; i++) {
        viewer_canvas_line(canvas, k->position, p[i], radius, rgb);
        viewer_canvas_line(canvas, p[i], p[(i + 1) % 4], radius, rgb);
    }
    viewer_canvas_line(canvas, p[3], p[4], radius, rgb);
    viewer_canvas_line(canvas, p[2], p[4], radius, rgb);
}
