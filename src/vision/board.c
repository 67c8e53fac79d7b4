/* vision/board.c: checkerboards as a lens sees them. */
#include <math.h>

#include "core/mix.h"
#include "vision/lens_warp.h"

/* A number in (0, 1) of its own for every index. */
static double uniform(uint64_t seed, uint64_t index) { return ((double)(tsr_mix64(seed + (index + 1) * TSR_GOLDEN_STEP) >> 11) + 0.5) * 0x1p-53; }

tsr_status tsr_board_make(const tsr_board_options *options, tsr_image *image)
{
    TSR_NEEDS(image);
    enum { SAMPLES = 4 };
    const double pi = acos(-1.0);
    tsr_board_options o;
    tsr_lens_map map;
    *image = (tsr_image){ 0 };
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    o.width = o.width ? o.width : 512;
    o.height = o.height ? o.height : 512;
    o.square = o.square == 0 ? 48 : o.square;
    if (o.width < 1 || o.height < 1 || o.width > 16384 || o.height > 16384)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "board: %d x %d pixels, expected 1 to 16384", o.width, o.height);
    if (!(o.square >= 1 && o.square <= 16384)) TSR_FAIL(TSR_ERROR_ARGUMENT, "board: squares of %g pixels, expected 1 to 16384", o.square);
    if (!(fabs(o.degrees) <= 360)) TSR_FAIL(TSR_ERROR_ARGUMENT, "board: turned by %g degrees, expected -360 to 360", o.degrees);
    if (!(o.noise >= 0 && o.noise <= 255)) TSR_FAIL(TSR_ERROR_ARGUMENT, "board: noise of %g grey values, expected 0 to 255", o.noise);
    TSR_TRY(tsr_lens_map_make("board", &o.lens, o.width, o.height, 1.0, &map));
    TSR_TRY(tsr_image_create(o.width, o.height, 1, image));
    const double c = cos(o.degrees * pi / 180) / o.square, s = sin(o.degrees * pi / 180) / o.square;
    for (int64_t i = 0; i < (int64_t)o.width * o.height; i++) {
        double sum = 0;
        for (int k = 0; k < SAMPLES * SAMPLES; k++) {
            double at[2];
            const double x = (double)(i % o.width) + (k % SAMPLES + 0.5) / SAMPLES - 0.5,
                         y = (double)(i / o.width) + (k / SAMPLES + 0.5) / SAMPLES - 0.5;
            if (!tsr_lens_place(&map, 1, x, y, at)) {
                sum += 127.5; /* nothing is seen there */
                continue;
            }
            const double u = at[0] + 0.5 - map.centre[0], v = at[1] + 0.5 - map.centre[1];
            sum += (int64_t)(floor(u * c + v * s) + floor(v * c - u * s)) & 1 ? 215 : 40;
        }
        sum /= SAMPLES * SAMPLES;
        if (o.noise > 0) sum += o.noise * sqrt(-2 * log(uniform(o.seed, 2 * (uint64_t)i))) * cos(2 * pi * uniform(o.seed, 2 * (uint64_t)i + 1));
        image->pixels[i] = (uint8_t)fmin(255, fmax(0, sum + 0.5));
    }
    return TSR_OK;
}
