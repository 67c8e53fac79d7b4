/* vision/depth/sweep_camera.c: matrices of the sweep: from a pixel of the depth camera and t to the places in the views. */
#include <math.h>
#include <stdio.h>

#include "vision/depth/sweep.h"

/* The projection of the depth camera with the range as its clip distances. */
static tsr_status depth_projection(const tsr_camera *camera, const tsr_plane_sweep_options *o, double projection[16], double view[16])
{
    tsr_camera c = *camera;
    double n = o->nearest, f = o->farthest;
    c.lens = (tsr_lens){ 0 };
    if (c.projection == TSR_PROJECTION_MATRIX) {
        if (n != 0 || f != 0)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: nearest and farthest are %g and %g, expected 0 and 0: the depth camera's 16 numbers have the range in them", n, f);
        TSR_TRY(tsr_camera_matrices(&c, o->width, o->height, view, projection));
        return TSR_OK;
    }
    if (n == 0 && f == 0) {
        n = c.clip[0];
        f = c.clip[1];
        if (n == 0 && f == 0)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: no range of depths: expected nearest and farthest, or a depth camera with clip distances");
    }
    const int parallel = c.projection == TSR_ORTHOGRAPHIC;
    if (!(n < f) || !isfinite(n) || (!parallel && !(n > 0)) || isnan(f) || (parallel && isinf(f)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: depths from %g to %g, expected %s", n, f,
                 parallel ? "nearest < farthest, both finite" : "0 < nearest < farthest");
    c.clip[0] = n;
    c.clip[1] = isinf(f) ? 2 * n : f;
    TSR_TRY(tsr_camera_matrices(&c, o->width, o->height, view, projection));
    const double share = isinf(f) ? 0 : n / f;
    projection[10] = parallel ? -2 / (f - n) : -(1 + share) / (1 - share);
    projection[14] = parallel ? -(f + n) / (f - n) : -2 * n / (1 - share);
    return TSR_OK;
}

tsr_status tsr_planes_frame_make(const tsr_camera *camera, const tsr_plane_sweep_options *o, tsr_planes_frame *frame)
{
    double projection[16], view[16], all[16], inverse[16];
    /* Pixels and t to normalised coordinates: x = 2 X / W - 1, y = 1 - 2 Y / H, z = 1 - 2 t. */
    double from_pixels[16] = { 0 };
    from_pixels[0] = 2.0 / o->width;
    from_pixels[5] = -2.0 / o->height;
    from_pixels[10] = -2;
    from_pixels[12] = -1;
    from_pixels[13] = from_pixels[14] = from_pixels[15] = 1;
    TSR_TRY(depth_projection(camera, o, projection, view));
    tsr_matrix4_multiply(projection, view, all);
    TSR_TRY(tsr_matrix4_invert("plane sweep: the depth camera", all, inverse));
    tsr_matrix4_multiply(inverse, from_pixels, frame->to_world);
    TSR_TRY(tsr_matrix4_invert("plane sweep: the depth camera's projection", projection, inverse));
    tsr_matrix4_multiply(inverse, from_pixels, all);
    for (int c = 0; c < 4; c++) {
        frame->numerator[c] = -all[4 * c + 2];
        frame->denominator[c] = all[4 * c + 3];
    }
    return TSR_OK;
}

tsr_status tsr_planes_frame_rows(const tsr_planes_frame *frame, const tsr_camera *camera, int32_t width, int32_t height, double row[3][4])
{
    tsr_camera c = *camera;
    double projection[16], view[16], all[16];
    c.lens = (tsr_lens){ 0 };
    TSR_TRY(tsr_camera_matrices(&c, width, height, view, projection));
    tsr_matrix4_multiply(projection, view, all);
    tsr_matrix4_multiply(all, frame->to_world, all);
    double most = 0;
    for (int k = 0; k < 4; k++) {
        const double x = all[4 * k], y = all[4 * k + 1], w = all[4 * k + 3];
        row[0][k] = (x + w) * 0.5 * width - 0.5 * w;
        row[1][k] = (w - y) * 0.5 * height - 0.5 * w;
        row[2][k] = w;
        for (int r = 0; r < 3; r++) most = fmax(most, fabs(row[r][k]));
    }
    if (!(most > 0) || !isfinite(most)) TSR_FAIL(TSR_ERROR_ARGUMENT, "plane sweep: a view's matrix is not finite");
    return TSR_OK;
}

/* Of the places (X, Y, t) of a grid: how many each view sees, and whether `contributors` of them see one in common; and by how many pixels a place moves over
 * the range in the view where it moves most. */
enum { GRID = 7, TURNS = 24 };
tsr_status tsr_planes_cover(const tsr_planes_frame *frame, double (*row)[3][4], const int32_t (*size)[2], int32_t views, const tsr_plane_sweep_options *o, double *pixels)
{
    int64_t common = 0, most = 0;
    *pixels = 0;
    (void)frame;
    for (int32_t g = 0; g < GRID * GRID; g++) {
        const double x = (g % GRID + 0.5) / GRID * o->width, y = (g / GRID + 0.5) / GRID * o->height;
        int32_t seen[TURNS + 1] = { 0 };
        for (int32_t v = 0; v < views; v++) {
            double last[2] = { 0, 0 }, moved = 0;
            int before = 0;
            for (int32_t n = 0; n <= TURNS; n++) {
                double q[3];
                for (int k = 0; k < 3; k++) q[k] = row[v][k][0] * x + row[v][k][1] * y + row[v][k][2] * n / TURNS + row[v][k][3];
                const double u = q[0] / q[2], w = q[1] / q[2];
                const int near = q[2] > 0 && u > -size[v][0] && w > -size[v][1] && u < 2 * size[v][0] && w < 2 * size[v][1];
                if (near && u >= 0 && w >= 0 && u <= size[v][0] - 1 && w <= size[v][1] - 1) seen[n]++;
                if (near && before) moved += hypot(u - last[0], w - last[1]);
                last[0] = u;
                last[1] = w;
                before = near;
            }
            *pixels = fmax(*pixels, moved);
        }
        for (int32_t n = 0; n <= TURNS; n++) {
            common += seen[n] >= o->contributors && seen[n] >= (o->raw ? 1 : 2);
            most = seen[n] > most ? seen[n] : most;
        }
    }
    if (common) return TSR_OK;
    char text[400] = "";
    size_t length = 0;
    for (int32_t v = 0; v < views && length < 300; v++) {
        int64_t seen = 0;
        for (int32_t g = 0; g < GRID * GRID * (TURNS + 1); g++) {
            const double x = (g % GRID + 0.5) / GRID * o->width, y = (g / GRID % GRID + 0.5) / GRID * o->height, t = (double)(g / GRID / GRID) / TURNS;
            double q[3];
            for (int k = 0; k < 3; k++) q[k] = row[v][k][0] * x + row[v][k][1] * y + row[v][k][2] * t + row[v][k][3];
            seen += q[2] > 0 && q[0] >= 0 && q[1] >= 0 && q[0] <= (size[v][0] - 1) * q[2] && q[1] <= (size[v][1] - 1) * q[2];
        }
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%d: %.0f %%", v ? ", " : "", v, 100.0 * (double)seen / (GRID * GRID * (TURNS + 1)));
    }
    TSR_FAIL(TSR_ERROR_STATE,
             "plane sweep: no place within the range of depths is seen by %d views, at most by %lld; of the depth camera's space the views see %s: check the "
             "range, and which way the cameras look",
             o->contributors, (long long)most, text);
}

tsr_status tsr_camera_middle(const tsr_camera *cameras, int32_t count, tsr_camera *middle)
{
    double m[3][3] = { { 0 } };
    tsr_vec3 p = { 0, 0, 0 };
    if (!cameras || !middle) TSR_FAIL(TSR_ERROR_ARGUMENT, "middle camera: %s is NULL", cameras ? "middle" : "cameras");
    if (count < 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "middle camera: %d cameras, expected at least 1", count);
    for (int32_t i = 0; i < count; i++) {
        TSR_TRY(tsr_camera_check(&cameras[i]));
        p = (tsr_vec3){ p.x + cameras[i].position.x / count, p.y + cameras[i].position.y / count, p.z + cameras[i].position.z / count };
        for (int k = 0; k < 9; k++) m[k / 3][k % 3] += cameras[i].rotation[k / 3][k % 3] / count;
    }
    /* The rotation nearest to the mean: Newton's iteration towards the polar factor, m = (m + m^-T) / 2. */
    for (int n = 0; n < 60; n++) {
        double c[3][3], change = 0;
        for (int k = 0; k < 9; k++) {
            const int r = k / 3, s = k % 3, r1 = (r + 1) % 3, r2 = (r + 2) % 3, s1 = (s + 1) % 3, s2 = (s + 2) % 3;
            c[r][s] = m[r1][s1] * m[r2][s2] - m[r1][s2] * m[r2][s1];
        }
        const double determinant = m[0][0] * c[0][0] + m[0][1] * c[0][1] + m[0][2] * c[0][2];
        if (!(determinant > 1e-6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "middle camera: the cameras look in directions that cancel (determinant %g)", determinant);
        for (int k = 0; k < 9; k++) {
            const double next = 0.5 * (m[k / 3][k % 3] + c[k / 3][k % 3] / determinant);
            change = fmax(change, fabs(next - m[k / 3][k % 3]));
            m[k / 3][k % 3] = next;
        }
        if (change < 1e-15) break;
    }
    *middle = cameras[0];
    middle->position = p;
    middle->lens = (tsr_lens){ 0 };
    for (int k = 0; k < 9; k++) middle->rotation[k / 3][k % 3] = m[k / 3][k % 3];
    return TSR_OK;
}
