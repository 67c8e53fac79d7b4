/* Two cameras beside a screen see a red light on the viewer's head; the picture on the screen is that of a window for where the head is: head_tracking SHEET.png
 * Here the cameras are made up, so that the places found can be compared with the true ones. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

#define TRY(call)                                         \
    do {                                                  \
        if ((call) != TSR_OK) {                           \
            fprintf(stderr, "%s\n", tsr_error_message()); \
            goto done;                                    \
        }                                                 \
    } while (0)

#define FOCAL 300.0 /* pixels, of both cameras */
enum { CAMERA_W = 320, CAMERA_H = 240, SCREEN_W = 400, ROWS = 3, FRAMES = 36, SHEET_W = 2 * CAMERA_W + SCREEN_W };

/* What a camera sees: a room in grey, and the light. */
static tsr_status expose(const tsr_camera *camera, tsr_vec3 light, tsr_image *image)
{
    double at[2];
    const double radius = FOCAL * 0.012 / light.z;
    const tsr_status status = tsr_camera_project(camera, CAMERA_W, CAMERA_H, light, at, NULL);
    for (int i = 0; i < CAMERA_W * CAMERA_H && status == TSR_OK; i++) {
        const int x = i % CAMERA_W, y = i / CAMERA_W, lit = hypot(x + 0.5 - at[0], y + 0.5 - at[1]) < radius;
        const int grey = 60 + y / 4 + 20 * ((x / 40 + y / 40) & 1);
        image->pixels[3 * i] = (uint8_t)(lit ? 250 : grey);
        image->pixels[3 * i + 1] = (uint8_t)(lit ? 40 : grey);
        image->pixels[3 * i + 2] = (uint8_t)(lit ? 30 : grey + 10);
    }
    return status;
}

/* A triangle of clip coordinates (all before the eye), nearest first. */
static void fill(double (*const v)[4], const uint8_t colour[3], double *depth, tsr_image *image)
{
    double x[3], y[3], z[3];
    for (int k = 0; k < 3; k++) {
        x[k] = (v[k][0] / v[k][3] + 1) * 0.5 * SCREEN_W;
        y[k] = (1 - v[k][1] / v[k][3]) * 0.5 * CAMERA_H;
        z[k] = v[k][2] / v[k][3];
    }
    const double area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
    for (int i = 0; i < SCREEN_W * CAMERA_H && area != 0; i++) {
        const double px = i % SCREEN_W + 0.5, py = i / SCREEN_W + 0.5;
        const double a = ((x[1] - px) * (y[2] - py) - (x[2] - px) * (y[1] - py)) / area,
                     b = ((x[2] - px) * (y[0] - py) - (x[0] - px) * (y[2] - py)) / area;
        const double deep = a * z[0] + b * z[1] + (1 - a - b) * z[2];
        if (a < 0 || b < 0 || a + b > 1 || deep >= depth[i]) continue;
        depth[i] = deep;
        memcpy(image->pixels + 3 * i, colour, 3);
    }
}

/* Blocks that stand behind the screen, one in front of it, as the eye sees them through the screen (0.5 x 0.3 m around the origin, z towards the viewer). */
static tsr_status show(tsr_vec3 eye, double *depth, tsr_image *image)
{
    static const struct {
        double low[3], high[3];
        uint8_t colour[3];
    } block[] = {
        { { -0.25, -0.15, -0.42 }, { 0.25, 0.15, -0.40 }, { 90, 110, 150 } },  { { -0.25, -0.16, -0.40 }, { 0.25, -0.15, 0 }, { 120, 110, 90 } },
        { { -0.20, -0.15, -0.35 }, { -0.12, 0.10, -0.27 }, { 220, 160, 60 } }, { { 0.10, -0.15, -0.30 }, { 0.18, 0.02, -0.22 }, { 90, 190, 110 } },
        { { -0.03, -0.15, -0.20 }, { 0.03, 0.00, -0.14 }, { 200, 90, 90 } },   { { -0.01, 0.03, 0.05 }, { 0.01, 0.05, 0.07 }, { 240, 240, 240 } },
    };
    double projection[16], view[16];
    const tsr_status status = tsr_frustum_off_axis((tsr_vec3){ -0.25, -0.15, 0 }, (tsr_vec3){ 0.25, -0.15, 0 }, (tsr_vec3){ -0.25, 0.15, 0 }, eye,
                                                   0.05, 3, projection, view);
    for (int i = 0; i < SCREEN_W * CAMERA_H; i++) depth[i] = DBL_MAX;
    memset(image->pixels, 25, (size_t)3 * SCREEN_W * CAMERA_H);
    for (size_t n = 0; n < sizeof block / sizeof *block && status == TSR_OK; n++)
        for (int face = 0; face < 6; face++) {
            const int axis = face >> 1, shade = 10 - 2 * axis - (face & 1);
            const uint8_t colour[3] = { (uint8_t)(block[n].colour[0] * shade / 10), (uint8_t)(block[n].colour[1] * shade / 10),
                                        (uint8_t)(block[n].colour[2] * shade / 10) };
            double corner[4][4];
            for (int c = 0; c < 4; c++) {
                double p[4] = { 0, 0, 0, 1 }, q[4] = { 0 };
                p[axis] = face & 1 ? block[n].high[axis] : block[n].low[axis];
                p[(axis + 1) % 3] = c & 1 ? block[n].high[(axis + 1) % 3] : block[n].low[(axis + 1) % 3];
                p[(axis + 2) % 3] = c & 2 ? block[n].high[(axis + 2) % 3] : block[n].low[(axis + 2) % 3];
                for (int k = 0; k < 16; k++) q[k / 4] += view[k] * p[k % 4];
                for (int k = 0; k < 4; k++) corner[c][k] = 0;
                for (int k = 0; k < 16; k++) corner[c][k / 4] += projection[k] * q[k % 4];
            }
            fill(corner, colour, depth, image);
            fill(corner + 1, colour, depth, image);
        }
    return status;
}

static void paste(const tsr_image *from, int x, int y, tsr_image *sheet)
{
    for (int row = 0; row < from->height; row++)
        memcpy(sheet->pixels + 3 * ((size_t)(y + row) * SHEET_W + (size_t)x), from->pixels + (size_t)row * 3 * (size_t)from->width,
               3 * (size_t)from->width);
}

int main(int argc, char **argv)
{
    tsr_context *context = NULL;
    tsr_features *features = NULL;
    tsr_volume *frame = NULL;
    tsr_image pair[2] = { { 0 }, { 0 } }, screen = { 0 }, sheet = { 0 };
    double *depth = (double *)malloc(sizeof(double) * SCREEN_W * CAMERA_H), worst = 0;
    tsr_camera camera[2];
    int code = 1;
    if (argc != 2 || !depth) {
        fprintf(stderr, "usage: %s SHEET.png\n", argv[0]);
        return 2;
    }
    for (int c = 0; c < 2; c++) { /* on the screen's upper edge, looking at the viewer; their lenses bend what they see */
        camera[c] = (tsr_camera){ .fov = atan(0.5 * CAMERA_H / FOCAL) * 360 / 3.14159265358979, .lens = { .k1 = c ? -0.06 : -0.04 } };
        const tsr_vec3 place = { c ? -0.12 : 0.12, 0.17, 0 }, ahead = { place.x, place.y, 1 }, up = { 0, 1, 0 };
        TRY(tsr_camera_look_at(&camera[c], place, ahead, up));
        TRY(tsr_image_create(CAMERA_W, CAMERA_H, 3, &pair[c]));
    }
    TRY(tsr_image_create(SCREEN_W, CAMERA_H, 3, &screen));
    TRY(tsr_image_create(SHEET_W, ROWS * CAMERA_H, 3, &sheet));
    TRY(tsr_context_create(NULL, &context));
    tsr_features_options options = TSR_FEATURES_OPTIONS;
    options.width = CAMERA_W;
    options.height = CAMERA_H;
    options.channels = 3;
    options.images = 2;
    options.count = 1;
    TRY(tsr_feature_filter_parse("distance=#ff2010:60", &options.filter[0]));
    TRY(tsr_features_create(context, &options, &features));

    for (int n = 0; n < FRAMES; n++) {
        const double t = 6.2831853 * n / FRAMES;
        const tsr_vec3 head = { 0.16 * sin(t), 0.02 + 0.05 * cos(2 * t), 0.6 + 0.1 * cos(t) };
        tsr_feature light[2];
        tsr_vec3 ray[2], eye;
        double gap;
        for (int c = 0; c < 2; c++) TRY(expose(&camera[c], head, &pair[c]));
        tsr_volume_destroy(&frame);
        TRY(tsr_frames_upload(context, pair, 2, &frame)); /* both pictures in one sweep */
        TRY(tsr_features_detect(features, frame, NULL));
        TRY(tsr_features_results(features, light));
        if (!light[0].count || !light[1].count) continue; /* out of sight: the window stays as it was */
        for (int c = 0; c < 2; c++) {
            const double pixel[2] = { light[c].centroid[0] + 0.5, light[c].centroid[1] + 0.5 };
            TRY(tsr_camera_ray(&camera[c], CAMERA_W, CAMERA_H, pixel, NULL, &ray[c]));
        }
        TRY(tsr_rays_nearest(camera[0].position, ray[0], camera[1].position, ray[1], &eye, &gap));
        const double error = sqrt((eye.x - head.x) * (eye.x - head.x) + (eye.y - head.y) * (eye.y - head.y) + (eye.z - head.z) * (eye.z - head.z));
        if (error > worst) worst = error;
        if (n % (FRAMES / ROWS)) continue;
        printf("head at %6.3f %6.3f %6.3f, found at %6.3f %6.3f %6.3f, rays pass at %.1f mm\n", head.x, head.y, head.z, eye.x, eye.y, eye.z,
               1e3 * gap);
        TRY(show(eye, depth, &screen));
        const int y = n / (FRAMES / ROWS) * CAMERA_H;
        paste(&pair[0], 0, y, &sheet);
        paste(&pair[1], CAMERA_W, y, &sheet);
        paste(&screen, 2 * CAMERA_W, y, &sheet);
    }
    printf("%d frames, off by %.1f mm at most\n", FRAMES, 1e3 * worst);
    TRY(tsr_image_write(&sheet, argv[1], NULL));
    code = worst > 0.01; /* a pixel is 2 mm across there, and 5 mm deep */
done:
    tsr_volume_destroy(&frame);
    tsr_features_destroy(&features);
    tsr_context_destroy(&context);
    for (int c = 0; c < 2; c++) tsr_image_destroy(&pair[c]);
    tsr_image_destroy(&screen);
    tsr_image_destroy(&sheet);
    free(depth);
    return code;
}
