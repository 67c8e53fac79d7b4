/* formats/images/radiance.c: Radiance pictures (.hdr, .pic): a text header, then rows of r, g, b, exponent; plain or, for 8 to 32767 columns, each channel of a row
 * run-length coded. A value is (byte + 1/2) 2^(exponent - 136), as Ward, "Real Pixels", Graphics Gems II, 1991 has it; exponent 0 is black. EXPOSURE
 * lines are divided out. Rows as before 1991 are read, too: 1 1 1 n is the pixel before n times more. As a volume: float32, red, green and blue along the third axis. */
#include "formats/images/radiance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/images/rasters.h"
#include "formats/volume_files.h"

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
        for (int64_t x = 0, shift = 0; x < width; c->at += 4) {
            if (c->end - c->at < 4) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends in row %lld", c->name, (long long)y);
            if (c->at[0] == 1 && c->at[1] == 1 && c->at[2] == 1) {
                const int64_t run = shift <= 16 ? (int64_t)c->at[3] << shift : INT64_MAX;
                if (!x || run > width - x)
                    TSR_FAIL(TSR_ERROR_FORMAT, "%s: a run of pixels at column %lld of row %lld does not fit", c->name, (long long)x, (long long)y);
                for (int k = 0; k < 4; k++) memset(row + k * width + x, row[k * width + x - 1], (size_t)run);
                x += run;
                shift += 8;
                continue;
            }
            for (int k = 0; k < 4; k++) row[k * width + x] = c->at[k];
            x++;
            shift = 0;
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
    const int64_t coded = 4 + 8 * ((w + 126) / 127), old = 4 + 4 * ((w + 16777214) / 16777215),
                  least = coded < old && w >= 8 && w <= 32767 ? coded : old;
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

/* ---- as a volume --------------------------------------------------------------------------------------------------------------------------------- */

static int recognise(const tsr_signature *s)
{
    return s->head_bytes >= 10 && (!memcmp(s->head, "#?RADIANCE", 10) || !memcmp(s->head, "#?RGBE", 6)) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    float *rgb = NULL;
    int32_t width, height;
    (void)options;
    TSR_TRY(tsr_radiance_read(input, &rgb, &width, &height));
    const int64_t count = (int64_t)width * height;
    const tsr_status status = tsr_raster_volume(input, width, height, 3, volume);
    if (status == TSR_OK)
        for (int64_t i = 0; i < count; i++)
            for (int k = 0; k < 3; k++) ((float *)(*volume)->data)[k * count + i] = rgb[3 * i + k];
    free(rgb);
    return status;
}

/* The bytes whose value, with the half that readers add, is nearest. */
static void pack(const float light[3], uint8_t rgbe[4])
{
    const float most = fmaxf(light[0], fmaxf(light[1], light[2]));
    int e = 0;
    memset(rgbe, 0, 4);
    if (!(most > 1e-32f)) return;
    (void)frexpf(most, &e);
    if (e > 127) e = 127;
    for (int k = 0; k < 3; k++) {
        const double v = floor(ldexp((double)light[k], 8 - e));
        rgbe[k] = (uint8_t)(v > 255 ? 255 : v > 0 ? v : 0);
    }
    rgbe[3] = (uint8_t)(e + 128);
}

/* One channel of a row: runs of four and more, and what is between them. */
static size_t pack_runs(const uint8_t *from, int64_t width, uint8_t *to)
{
    size_t used = 0;
    for (int64_t x = 0; x < width;) {
        int64_t run = 0, begin = x;
        while (begin < width) { /* the next run worth it */
            for (run = 1; run < 127 && begin + run < width && from[begin + run] == from[begin];) run++;
            if (run >= 4) break;
            begin += run;
        }
        if (run < 4) begin = width;
        while (x < begin) {
            const int64_t n = begin - x < 128 ? begin - x : 128;
            to[used++] = (uint8_t)n;
            memcpy(to + used, from + x, (size_t)n);
            used += (size_t)n;
            x += n;
        }
        if (begin < width) {
            to[used++] = (uint8_t)(128 + run);
            to[used++] = from[begin];
            x += run;
        }
    }
    return used;
}

static tsr_status write_rows(tsr_output *out, const tsr_volume *v, uint8_t *room)
{
    const int64_t width = v->size.x, count = width * v->size.y;
    const float *data = (const float *)v->data;
    for (int64_t y = 0; y < v->size.y; y++) {
        uint8_t *packed = room + 4 * width;
        size_t used = 0;
        for (int64_t x = 0; x < width; x++) {
            const float light[3] = { data[y * width + x], data[count + y * width + x], data[2 * count + y * width + x] };
            uint8_t rgbe[4];
            pack(light, rgbe);
            for (int k = 0; k < 4; k++) room[width < 8 || width > 32767 ? 4 * x + k : k * width + x] = rgbe[k];
        }
        if (width < 8 || width > 32767) {
            TSR_TRY(tsr_output_write(out, room, (size_t)(4 * width)));
            continue;
        }
        const uint8_t head[4] = { 2, 2, (uint8_t)(width >> 8), (uint8_t)width };
        for (int k = 0; k < 4; k++) used += pack_runs(room + k * width, width, packed + used);
        TSR_TRY(tsr_output_write(out, head, 4));
        TSR_TRY(tsr_output_write(out, packed, used));
    }
    return TSR_OK;
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    const tsr_size3 n = volume->size;
    tsr_output *out = NULL;
    TSR_TRY(tsr_require_unscaled(volume, path, "a Radiance picture"));
    if (volume->dtype != TSR_F32 || n.z != 3 || n.x > 1 << 20 || n.y > 1 << 20)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: %lld x %lld x %lld %s, expected f32 with red, green and blue along z in a Radiance picture (convert --dtype f32)", path,
                 (long long)n.x, (long long)n.y, (long long)n.z, tsr_dtype_name(volume->dtype));
    for (int64_t i = 0, count = 3 * n.x * n.y; i < count; i++) {
        const float v = ((const float *)volume->data)[i];
        if (!(v >= 0 && v < 0x1p127f))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: voxel %lld is %g, a Radiance picture holds light from 0 on: expected EXR or PFM", path, (long long)i,
                     (double)v);
    }
    uint8_t *room = (uint8_t *)malloc((size_t)n.x * 10 + 64);
    if (!room) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    tsr_status status = tsr_output_open(path, options, &out);
    if (status == TSR_OK) {
        status = tsr_output_printf(out, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %lld +X %lld\n", (long long)n.y, (long long)n.x);
        if (status == TSR_OK) status = write_rows(out, volume, room);
        status = tsr_output_finish(&out, status);
    }
    free(room);
    return status;
}

const tsr_format tsr_format_radiance = { .name = "radiance",
                                         .kind = TSR_FILE_VOLUME,
                                         .extensions = { ".pic", ".rgbe", ".hdr" },
                                         .recognise = recognise,
                                         .whole = 1,
                                         .place = TSR_PLACE_NONE,
                                         .read_volume = read_volume,
                                         .write_volume = write_volume };
