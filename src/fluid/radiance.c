/* fluid/radiance.c: Radiance .hdr files: a text header, then rows of r, g, b, exponent; plain or, for 8 to 32767 columns, each channel of a row
 * run-length coded. A value is (byte + 1/2) 2^(exponent - 136), as Ward, "Real Pixels", Graphics Gems II, 1991 has it; exponent 0 is black. EXPOSURE
 * lines are divided out. */
#include "fluid/radiance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/fluid.h"

typedef struct cursor {
    const uint8_t *at, *end;
    const char *name;
} cursor;

static tsr_status take_line(cursor *c, char line[256])
{
    const uint8_t *stop = memchr(c->at, '\n', (size_t)(c->end - c->at));
    if (!stop) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the header does not end, expected an empty line and one such as '-Y 512 +X 1024'", c->name);
    const size_t length = (size_t)(stop - c->at);
    if (length >= 256) TSR_FAIL(TSR_ERROR_FORMAT, "%s: a header line of %zu bytes, expected at most 255", c->name, length);
    memcpy(line, c->at, length);
    line[length] = 0;
    if (length && line[length - 1] == '\r') line[length - 1] = 0;
    c->at = stop + 1;
    return TSR_OK;
}

static tsr_status take_header(cursor *c, int64_t *width, int64_t *height, double *exposure)
{
    char line[256], y, x, more;
    long long h, w;
    char ys, xs;
    TSR_TRY(take_line(c, line));
    if (strncmp(line, "#?", 2)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no Radiance picture, expected '#?RADIANCE' in the first line", c->name);
    for (;;) {
        TSR_TRY(take_line(c, line));
        if (!line[0]) break;
        if (!strncmp(line, "FORMAT=", 7) && strcmp(line + 7, "32-bit_rle_rgbe"))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: FORMAT is '%s', expected 32-bit_rle_rgbe", c->name, line + 7);
        if (!strncmp(line, "EXPOSURE=", 9)) {
            const double e = strtod(line + 9, NULL);
            if (!(e > 1e-12 && e < 1e12)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: EXPOSURE is '%s', expected a number above 0", c->name, line + 9);
            *exposure *= e;
        }
    }
    TSR_TRY(take_line(c, line));
    if (sscanf(line, "%c%c %lld %c%c %lld %c", &ys, &y, &h, &xs, &x, &w, &more) != 6 || y != 'Y' || x != 'X')
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: resolution line '%s', expected such as '-Y 512 +X 1024'", c->name, line);
    if (ys != '-' || xs != '+')
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: rows run as '%s', expected from the top and from the left ('-Y +X')", c->name, line);
    if (h < 1 || w < 1 || h > 1 << 20 || w > 1 << 20)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: a picture of %lld x %lld pixels, expected 1 to 1048576 each", c->name, w, h);
    *width = w;
    *height = h;
    return TSR_OK;
}

/* One row of r, g, b, e by channels into row[4][width]. */
static tsr_status take_row(cursor *c, int64_t width, int64_t y, uint8_t *row)
{
    const int64_t left = c->end - c->at;
    if (width < 8 || width > 32767 || left < 4 || c->at[0] != 2 || c->at[1] != 2 || c->at[2] & 0x80) {
        if (left < 4 * width) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends in row %lld", c->name, (long long)y);
        for (int64_t x = 0; x < width; x++, c->at += 4) {
            if (c->at[0] == 1 && c->at[1] == 1 && c->at[2] == 1)
                TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: row %lld is coded as Radiance did before 1991, expected today's coding (write it again)",
                         c->name, (long long)y);
            for (int k = 0; k < 4; k++) row[k * width + x] = c->at[k];
        }
        return TSR_OK;
    }
    if (((int64_t)c->at[2] << 8 | c->at[3]) != width)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: row %lld says %lld columns, expected %lld", c->name, (long long)y, (long long)c->at[2] << 8 | c->at[3],
                 (long long)width);
    c->at += 4;
    for (int k = 0; k < 4; k++)
        for (int64_t x = 0; x < width;) {
            if (c->end - c->at < 2) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends in row %lld", c->name, (long long)y);
            const int64_t code = *c->at++, count = code > 128 ? code - 128 : code;
            if (count < 1 || count > width - x || (code <= 128 && c->end - c->at < count))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: a run of %lld at column %lld of row %lld does not fit", c->name, (long long)count, (long long)x,
                         (long long)y);
            if (code > 128) memset(row + k * width + x, *c->at++, (size_t)count);
            else {
                memcpy(row + k * width + x, c->at, (size_t)count);
                c->at += count;
            }
            x += count;
        }
    return TSR_OK;
}

tsr_status tsr_radiance_read(tsr_input *input, float **rgb, int32_t *width, int32_t *height)
{
    tsr_status status;
    const uint8_t *bytes;
    size_t size;
    int64_t w = 0, h = 0;
    double exposure = 1;
    *rgb = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    cursor c = { bytes, bytes + size, tsr_input_name(input) };
    TSR_TRY(take_header(&c, &w, &h, &exposure));
    /* the fewest bytes that such rows take */
    const int64_t coded = 4 + 8 * ((w + 126) / 127), least = w < 8 || w > 32767 || 4 * w < coded ? 4 * w : coded;
    if ((c.end - c.at) / least < h)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld bytes after the header, expected at least %lld for %lld x %lld pixels", c.name,
                 (long long)(c.end - c.at), (long long)(least * h), (long long)w, (long long)h);
    const int64_t limit = tsr_input_settings(input)->memory_limit > 0 ? tsr_input_settings(input)->memory_limit : tsr_physical_memory();
    if (limit > 0 && w * h > limit / 12)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: %lld x %lld pixels need %lld bytes, the limit is %lld", c.name, (long long)w, (long long)h,
                 (long long)(12 * w * h), (long long)limit);
    uint8_t *row = malloc((size_t)(4 * w));
    float *to = malloc((size_t)(w * h) * 12);
    if (!row || !to) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "%s: no memory for %lld x %lld pixels", c.name, (long long)w, (long long)h);
    for (int64_t y = 0; y < h; y++) {
        TSR_TRY_GOTO(take_row(&c, w, y, row), fail);
        for (int64_t x = 0; x < w; x++) {
            const int e = row[3 * w + x];
            const double unit = e ? ldexp(1.0, e - 136) / exposure : 0;
            for (int k = 0; k < 3; k++) to[3 * (y * w + x) + k] = (float)((row[k * w + x] + (e ? 0.5 : 0)) * unit);
        }
    }
    free(row);
    *rgb = to;
    *width = (int32_t)w;
    *height = (int32_t)h;
    return TSR_OK;
fail:
    free(row);
    free(to);
    return status;
}

tsr_status tsr_panorama_read(const char *path, const tsr_read_options *options, float **rgb, int32_t *width, int32_t *height)
{
    TSR_RETURNS(rgb);
    TSR_NEEDS(path);
    tsr_read_options read = { 0 };
    tsr_input *input = NULL;
    if (!rgb || !width || !height) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !rgb ? "rgb" : !width ? "width" : "height");
    TSR_TRY(tsr_options_take(&read, sizeof read, options, "tsr_read_options"));
    const tsr_input_options settings = { .memory_limit = read.memory_limit, .progress = &read.progress, .same_folder = read.same_folder };
    TSR_TRY(tsr_input_open(path, &settings, &input));
    const tsr_status status = tsr_radiance_read(input, rgb, width, height);
    tsr_input_close(&input);
    if (status != TSR_OK) return tsr_frame_at(status, __func__, __FILE__, __LINE__);
    return TSR_OK;
}
