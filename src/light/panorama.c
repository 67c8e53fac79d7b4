/* light/panorama.c: surroundings from a file: Radiance's RGBE pictures, and ordinary images. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/stream.h"
#include "light/panorama.h"

enum { MOST = 16384 };

typedef struct rgbe_bytes { const uint8_t *at, *end; } rgbe_bytes;

/* A line of text up to its end, at most `room` - 1 letters. */
static int text_line(rgbe_bytes *b, char *to, size_t room)
{
    size_t n = 0;
    while (b->at < b->end && *b->at != '\n') {
        if (n + 1 < room) to[n++] = (char)*b->at;
        b->at++;
    }
    to[n] = '\0';
    if (b->at == b->end) return 0;
    b->at++;
    return 1;
}

/* One row of pixels, RGBE, in whichever of the two packings. */
static int row(rgbe_bytes *b, int32_t width, uint8_t *to)
{
    if (b->end - b->at < 4) return 0;
    if (width < 8 || width > 32767 || b->at[0] != 2 || b->at[1] != 2 || (b->at[2] & 0x80)) { /* plain, with runs of the pixel before */
        int shift = 0;
        for (int32_t x = 0; x < width;) {
            if (b->end - b->at < 4) return 0;
            if (b->at[0] == 1 && b->at[1] == 1 && b->at[2] == 1) {
                if (!x || shift > 16) return 0;
                int32_t n = b->at[3] << shift;
                for (; n > 0 && x < width; n--, x++) memcpy(to + 4 * x, to + 4 * (x - 1), 4);
                if (n) return 0;
                shift += 8;
            } else {
                memcpy(to + 4 * x++, b->at, 4);
                shift = 0;
            }
            b->at += 4;
        }
        return 1;
    }
    if ((b->at[2] << 8 | b->at[3]) != width) return 0;
    b->at += 4;
    for (int c = 0; c < 4; c++)
        for (int32_t x = 0; x < width;) {
            if (b->end - b->at < 2) return 0;
            int n = *b->at++;
            const int run = n > 128;
            if (run) n -= 128;
            if (!n || x + n > width || (!run && b->end - b->at < n)) return 0;
            for (int i = 0; i < n; i++, x++) to[4 * x + c] = run ? *b->at : b->at[i];
            b->at += run ? 1 : n;
        }
    return 1;
}

tsr_status tsr_panorama_parse(const uint8_t *bytes, size_t size, const char *name, tsr_volume **map)
{
    rgbe_bytes b = { bytes, bytes + size };
    char line[256];
    int32_t width = 0, height = 0;
    tsr_status status;
    *map = NULL;
    if (!text_line(&b, line, sizeof line) || (strncmp(line, "#?RADIANCE", 10) != 0 && strncmp(line, "#?RGBE", 6) != 0))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no Radiance picture, expected '#?RADIANCE' at its start", name);
    double exposure = 1;
    do {
        if (!text_line(&b, line, sizeof line)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: ends in its header", name);
        double e;
        if (!strncmp(line, "FORMAT=", 7) && strcmp(line + 7, "32-bit_rle_rgbe") != 0)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: FORMAT is '%.60s', expected 32-bit_rle_rgbe", name, line + 7);
        if (sscanf(line, "EXPOSURE=%lf", &e) == 1 && e > 1e-12 && e < 1e12) exposure *= e;
    } while (*line);
    if (!text_line(&b, line, sizeof line) || sscanf(line, "-Y %d +X %d", &height, &width) != 2)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: its size is '%.60s', expected '-Y HEIGHT +X WIDTH'", name, line);
    if (width < 2 || height < 2 || width > MOST || height > MOST)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %d x %d pixels, expected 2 to %d each way", name, width, height, MOST);
    if ((b.end - b.at) < (int64_t)height * 4) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld bytes for %d rows: it is cut off", name, (long long)(b.end - b.at), height);
    uint8_t *pixels = malloc((size_t)width * 4);
    if (!pixels) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for a row of %d pixels", width);
    TSR_TRY_GOTO(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ width, height, 3 }, NULL, map), fail);
    TSR_TRY_GOTO(tsr_volume_set_channels(*map), fail);
    float *to = (float *)tsr_volume_data(*map);
    for (int32_t y = 0; y < height; y++) {
        if (!row(&b, width, pixels)) TSR_FAIL_GOTO(TSR_ERROR_FORMAT, fail, "%s: row %d of %d is damaged or missing", name, y, height);
        for (int32_t x = 0; x < width; x++) {
            const uint8_t *p = pixels + 4 * x;
            const double scale = p[3] ? ldexp(1, p[3] - 136) / exposure : 0;
            for (int k = 0; k < 3; k++) to[(int64_t)k * width * height + (int64_t)y * width + x] = (float)((p[k] + 0.5) * scale);
        }
    }
    free(pixels);
    return TSR_OK;
fail:
    free(pixels);
    tsr_volume_destroy(map);
    return status;
}

static tsr_status from_image(const tsr_image *image, tsr_volume **map)
{
    const int64_t count = (int64_t)image->width * image->height;
    if (image->width < 2 || image->height < 2) TSR_FAIL(TSR_ERROR_FORMAT, "a panorama of %d x %d pixels, expected 2 or more each way", image->width, image->height);
    TSR_TRY(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ image->width, image->height, 3 }, NULL, map));
    float *to = (float *)tsr_volume_data(*map);
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            const double v = image->pixels[i * image->channels + (image->channels > 1 ? k : 0)] / 255.0;
            to[k * count + i] = (float)(v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
        }
    tsr_status status = tsr_volume_set_channels(*map);
    if (status != TSR_OK) tsr_volume_destroy(map);
    return status;
}

tsr_status tsr_light_panorama_read(const char *path, const tsr_read_options *options, tsr_volume **map)
{
    TSR_RETURNS(map);
    TSR_NEEDS(path);
    const tsr_input_options settings = { .memory_limit = (int64_t)1 << 31 };
    tsr_input *input = NULL;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    TSR_TRY(tsr_input_open(path, &settings, &input));
    tsr_status status = tsr_input_all(input, &bytes, &size);
    const int radiance = status == TSR_OK && size > 2 && !memcmp(bytes, "#?", 2);
    if (radiance) status = tsr_panorama_parse(bytes, size, path, map);
    tsr_input_close(&input);
    TSR_TRY(status);
    if (radiance) return TSR_OK;
    tsr_image image = { 0 };
    TSR_TRY(tsr_image_read(path, options, &image));
    status = from_image(&image, map);
    tsr_image_destroy(&image);
    return status == TSR_OK ? TSR_OK : tsr_frame_at(status, __func__, __FILE__, __LINE__);
}
