/* vision/picture_sequence.c: pictures of a known scene. Float64 with the elementary functions of deterministic.h. */
#include "tessera/image.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "core/status.h"
#include "volume/deterministic.h"
#include "tessera/lens.h"

enum { LEFT, RIGHT, DISPARITY, BOARD, BALLS, PICTURES };
static const tsr_picture_info pictures[PICTURES] = {
    [LEFT] = { "picture-left", "stereo: a ball before a tilted wall, the left eye", 512, 384, 3, 1 },
    [RIGHT] = { "picture-right", "stereo: the right eye", 512, 384, 3, 1 },
    [DISPARITY] = { "picture-disparity", "stereo: disparities of the left eye in pixels, 256 / z at a width of 512", 512, 384, 1, 1 },
    [BOARD] = { "picture-board", "chessboard seen through a lens that bends its lines (division model, k1 -0.085)", 512, 512, 1, 1 },
    [BALLS] = { "film-balls", "film: a yellow and a red ball on their ways over a textured ground", 320, 240, 3, 24 },
};

static const double BASELINE = 0.5;

void tsr_picture_stereo(int32_t width, double *focal, double *disparity)
{
    if (!focal || !disparity) return;
    *focal = width;
    *disparity = width * BASELINE;
}

const tsr_picture_info *tsr_picture_at(int32_t index) { return index >= 0 && index < PICTURES ? &pictures[index] : NULL; }

/* A wave along one direction of the plane, phase and direction from the seed; 0 to 1. */
static double wave(uint64_t seed, uint64_t i, double x, double y, double turns)
{
    double s, c, direction = tsr_det_uniform(seed, 2 * i), sine, cosine;
    tsr_det_sincos_turns(direction, &s, &c);
    tsr_det_sincos_turns(turns * (c * x + s * y) + tsr_det_uniform(seed, 2 * i + 1), &sine, &cosine);
    return 0.5 + 0.5 * sine;
}

/* A texture without a scale of its own. */
static double texture(uint64_t seed, double x, double y)
{
    double sum = 0, turns = 0.7;
    for (uint64_t i = 0; i < 6; i++, turns *= 1.7) sum += wave(seed, i, x, y, turns);
    return sum / 6;
}

static uint8_t byte_of(double v)
{
    v = v * 255 + 0.5;
    return v >= 255 ? 255 : v > 0 ? (uint8_t)v : 0;
}

/* What the ray from (eye, 0, 0) along (u, v, 1) meets: its depth, colour if wanted. */
static double meet(uint64_t seed, double eye, double u, double v, double color[3])
{
    static const double centre[3] = { 0.25, 0.1, 2.7 }, radius = 0.6, tint[2][3] = { { 0.55, 0.75, 1 }, { 1, 0.7, 0.35 } };
    const double away[3] = { centre[0] - eye, centre[1], centre[2] };
    const double a = (u * u + v * v) + 1, b = (u * away[0] + v * away[1]) + away[2];
    const double c = ((away[0] * away[0] + away[1] * away[1]) + away[2] * away[2]) - radius * radius, root = b * b - a * c;
    const int ball = root > 0;
    const double z = ball ? (b - sqrt(root)) / a : (4.0 + 0.3 * eye) / (1 - 0.3 * u); /* the wall: z = 4 + 0.3 x */
    const double x = eye + u * z, y = v * z;
    if (color) {
        const double t = 0.25 + 0.75 * texture(seed + (uint64_t)ball, ball ? 3 * (x - centre[0]) : x, ball ? 3 * (y - centre[1]) : y);
        for (int k = 0; k < 3; k++) color[k] = t * tint[ball][k];
    }
    return z;
}

/* 2 x 2 samples of a pixel. */
static void stereo_pixel(uint64_t seed, int which, const tsr_image *image, int32_t x, int32_t y, uint8_t *to)
{
    double focal, product, sum[3] = { 0, 0, 0 };
    tsr_picture_stereo(image->width, &focal, &product);
    const double eye = (which == RIGHT ? 0.5 : -0.5) * BASELINE;
    for (int k = 0; k < 4; k++) {
        double color[3];
        const double u = (x + 0.25 + 0.5 * (k & 1) - 0.5 * image->width) / focal, v = (y + 0.25 + 0.5 * (k >> 1) - 0.5 * image->height) / focal;
        meet(seed, eye, u, v, color);
        for (int i = 0; i < 3; i++) sum[i] += 0.25 * color[i];
    }
    if (which == DISPARITY)
        to[0] = byte_of(product / meet(seed, eye, (x + 0.5 - 0.5 * image->width) / focal, (y + 0.5 - 0.5 * image->height) / focal, NULL) / 255);
    else
        for (int i = 0; i < 3; i++) to[i] = byte_of(sum[i]);
}

/* Two balls on circles; lengths in halves of the height. */
static void ball_pixel(uint64_t seed, double turn, const tsr_image *image, int32_t x, int32_t y, uint8_t *to)
{
    static const double paint[2][3] = { { 0.91, 0.816, 0.125 }, { 0.85, 0.1, 0.1 } };
    const double half = 0.5 * image->height, px = (x + 0.5 - 0.5 * image->width) / half, py = (y + 0.5) / half - 1;
    double color[3], ground = 0.2 + 0.25 * texture(seed, px, py);
    for (int k = 0; k < 3; k++) color[k] = ground * (k == 1 ? 1.0 : 0.8);
    for (int k = 0; k < 2; k++) {
        double s, c;
        tsr_det_sincos_turns(turn * (k ? -1 : 1) + 0.25 * k, &s, &c);
        const double dx = px - (k ? 0.9 : 0.6) * c, dy = py - (k ? 0.3 : 0.5) * s, r = k ? 0.16 : 0.25, d = sqrt(dx * dx + dy * dy);
        if (d >= r) continue;
        const double shade = 1 - 0.35 * (d / r) * (d / r);
        for (int i = 0; i < 3; i++) color[i] = paint[k][i] * shade;
    }
    for (int i = 0; i < 3; i++) to[i] = byte_of(color[i]);
}

static tsr_status find(const char *name, int *which)
{
    char list[256] = "";
    for (*which = 0; *which < PICTURES; ++*which)
        if (name && !strcmp(name, pictures[*which].name)) return TSR_OK;
    for (int i = 0; i < PICTURES; i++) snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", pictures[i].name);
    TSR_FAIL(TSR_ERROR_ARGUMENT, "picture '%.40s' is not known, expected one of %s", name ? name : "", list);
}

tsr_status tsr_picture_make(const char *name, const tsr_picture_options *options, tsr_image *image)
{
    TSR_NEEDS(name, image);
    tsr_picture_options own = TSR_PICTURE_OPTIONS;
    int which;
    *image = (tsr_image){ 0 };
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(find(name, &which));
    const tsr_picture_info *info = &pictures[which];
    const int32_t width = own.width ? own.width : info->width, height = own.height  ? own.height
                                                                        : own.width ? own.width * info->height / info->width
                                                                                    : info->height;
    const int32_t frames = own.frames ? own.frames : info->frames;
    if (width < 16 || width > 16384 || height < 16 || height > 16384)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %d x %d pixels, expected 16 to 16384", name, (int)width, (int)height);
    if (frames < 1 || own.frame < 0 || own.frame >= frames) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: frame %d of %d", name, (int)own.frame, (int)frames);
    if (which == BOARD) {
        tsr_board_options board = TSR_BOARD_OPTIONS;
        board.width = width;
        board.height = height;
        board.lens.k1 = -0.085;
        board.degrees = 20;
        board.noise = 3;
        board.seed = own.seed;
        TSR_TRY(tsr_board_make(&board, image));
        return TSR_OK;
    }
    TSR_TRY(tsr_image_create(width, height, info->channels, image));
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            uint8_t *to = image->pixels + ((int64_t)y * width + x) * info->channels;
            if (which == BALLS) ball_pixel(own.seed, (double)own.frame / frames, image, x, y, to);
            else stereo_pixel(own.seed, which, image, x, y, to);
        }
    return TSR_OK;
}
