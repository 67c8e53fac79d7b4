/* formats/images/bmp.c: Windows bitmaps: 1, 4 and 8 bits with a palette, plain or run-length coded, 16, 24 and 32 bits, also by masks; rows from the bottom or the top.
 * A palette of greys is read as grey. Written with 8 bits: grey by a palette, RGB, and RGBA by masks. */
#include <stdlib.h>
#include <string.h>

#include "formats/images/rasters.h"
#include "io/little_endian.h"

enum { FILE_HEAD = 14, CORE = 12, INFO = 40, V4 = 108, PLAIN = 0, RLE8 = 1, RLE4 = 2, MASKS = 3, ALPHA_MASKS = 6 };

static int recognise(const tsr_signature *s)
{
    if (s->head_bytes < FILE_HEAD + CORE || memcmp(s->head, "BM", 2) != 0) return TSR_NOT_MINE;
    const uint32_t head = tsr_get_u32(s->head + FILE_HEAD);
    return head == CORE || (head >= INFO && head <= 256) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

typedef struct bmp {
    const char *name;
    const uint8_t *bytes;
    size_t size;
    int64_t width, height, data;
    int down, bits, packing, colours, grey, alpha;
    uint32_t mask[4];
    uint8_t palette[256][3];
} bmp;

static tsr_status take_palette(bmp *b, size_t at, int entry)
{
    if (b->colours > 1 << b->bits) b->colours = 1 << b->bits;
    if (at + (size_t)b->colours * (size_t)entry > b->size)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the BMP palette of %d colours is cut off", b->name, b->colours);
    b->grey = 1;
    for (int k = 0; k < b->colours; k++)
        for (int c = 0; c < 3; c++) {
            b->palette[k][c] = b->bytes[at + (size_t)(k * entry + 2 - c)];
            b->grey &= b->palette[k][c] == b->palette[k][0];
        }
    return TSR_OK;
}

static tsr_status take_header(tsr_input *input, bmp *b)
{
    static const uint32_t fives[4] = { 0x7c00, 0x3e0, 0x1f, 0 }, eights[4] = { 0xff0000, 0xff00, 0xff, 0 };
    b->name = tsr_input_name(input);
    TSR_TRY(tsr_input_all(input, &b->bytes, &b->size));
    const uint8_t *p = b->bytes + FILE_HEAD;
    if (b->size < FILE_HEAD + CORE || memcmp(b->bytes, "BM", 2) != 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no BMP picture, expected 'BM' and a header", b->name);
    const uint32_t head = tsr_get_u32(p);
    if ((head != CORE && (head < INFO || head > 256)) || b->size < FILE_HEAD + head)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: a BMP header of %u bytes, expected 12 or 40 to 256 within the file", b->name, head);
    b->data = tsr_get_u32(b->bytes + 10);
    b->width = head == CORE ? tsr_get_u16(p + 4) : tsr_get_i32(p + 4);
    b->height = head == CORE ? tsr_get_u16(p + 6) : tsr_get_i32(p + 8);
    b->bits = tsr_get_u16(p + (head == CORE ? 10 : 14));
    b->packing = head == CORE ? PLAIN : (int)tsr_get_u32(p + 16);
    b->down = b->height < 0;
    b->height = b->down ? -b->height : b->height;
    if (b->width < 1 || b->height < 1 || b->width > INT32_MAX || b->height > INT32_MAX)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: BMP extents %lld x %lld, expected positive numbers", b->name, (long long)b->width, (long long)b->height);
    if (b->bits != 1 && b->bits != 4 && b->bits != 8 && b->bits != 16 && b->bits != 24 && b->bits != 32)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: BMP of %d bits a pixel, expected 1, 4, 8, 16, 24 or 32", b->name, b->bits);
    if (!(b->packing == PLAIN || (b->packing == RLE8 && b->bits == 8) || (b->packing == RLE4 && b->bits == 4) ||
          ((b->packing == MASKS || b->packing == ALPHA_MASKS) && b->bits != 24 && b->bits >= 16)))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: BMP packing %d of %d bits, expected 0 (none), 1, 2 (run lengths), 3 or 6 (masks)", b->name, b->packing,
                 b->bits);
    if (b->down && (b->packing == RLE8 || b->packing == RLE4))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: BMP run lengths from the top, which the format does not know", b->name);
    memcpy(b->mask, b->bits == 16 ? fives : eights, sizeof b->mask);
    size_t behind = FILE_HEAD + head;
    if (b->packing == MASKS || b->packing == ALPHA_MASKS) { /* in the header from version 2 on, else behind it */
        const int count = b->packing == ALPHA_MASKS || head >= 56 ? 4 : 3;
        if (FILE_HEAD + INFO + 4 * (size_t)count > b->size) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the BMP masks are cut off", b->name);
        for (int k = 0; k < count; k++) b->mask[k] = tsr_get_u32(p + INFO + 4 * k);
        if (head == INFO) behind += 4 * (size_t)count;
    }
    b->alpha = b->mask[3] != 0;
    if (b->bits > 8) return TSR_OK;
    const uint32_t used = head == CORE ? 0 : tsr_get_u32(p + 32);
    b->colours = used && used <= 256 ? (int)used : 1 << b->bits;
    return take_palette(b, behind, head == CORE ? 3 : 4);
}

/* ---- pixels -------------------------------------------------------------------------------------------------------------------------------------- */

static void put_index(const bmp *b, tsr_samples *s, int64_t x, int64_t y, int index)
{
    if (x < b->width && y < b->height) memcpy(s->at + ((b->height - 1 - y) * b->width + x) * s->channels, b->palette[index], (size_t)s->channels);
}

/* Rows come from the bottom. Pixels that no run reaches are the first colour. */
static tsr_status take_runs(const bmp *b, tsr_samples *s)
{
    const uint8_t *at = b->bytes + b->data, *end = b->bytes + b->size;
    const int four = b->packing == RLE4;
    int64_t x = 0, y = 0;
    for (int64_t i = 0; i < b->width * b->height; i++) memcpy(s->at + i * s->channels, b->palette[0], (size_t)s->channels);
    while (y < b->height) {
        if (end - at < 2) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the BMP run lengths end in row %lld from the bottom", b->name, (long long)y);
        const int count = at[0], value = at[1];
        at += 2;
        if (count) {
            for (int k = 0; k < count; k++) put_index(b, s, x++, y, four ? (k & 1 ? value & 15 : value >> 4) : value);
        } else if (value == 0) {
            x = 0;
            y++;
        } else if (value == 1) {
            return TSR_OK;
        } else if (value == 2) {
            if (end - at < 2) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the BMP run lengths end in a jump", b->name);
            x += at[0];
            y += at[1];
            at += 2;
        } else {
            const int bytes = four ? (value + 1) / 2 : value;
            if (end - at < bytes)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the BMP run lengths end in row %lld from the bottom", b->name, (long long)y);
            for (int k = 0; k < value; k++) put_index(b, s, x++, y, four ? (k & 1 ? at[k / 2] & 15 : at[k / 2] >> 4) : at[k]);
            at += bytes + (bytes & 1);
        }
        if (x > b->width + 255) TSR_FAIL(TSR_ERROR_FORMAT, "%s: a BMP run leaves row %lld from the bottom", b->name, (long long)y);
    }
    return TSR_OK;
}

/* The bits of a mask as 8 of them. */
static uint8_t masked(uint32_t pixel, uint32_t mask)
{
    if (!mask) return 255;
    const int shift = __builtin_ctz(mask);
    const uint64_t most = mask >> shift, v = (pixel & mask) >> shift;
    return (uint8_t)((v * 255 + most / 2) / most);
}

static void take_row(const bmp *b, const uint8_t *from, uint8_t *to, int channels)
{
    for (int64_t x = 0; x < b->width; x++, to += channels) {
        if (b->bits <= 8) {
            const int per = 8 / b->bits, index = from[x / per] >> (b->bits * (per - 1 - (int)(x % per))) & ((1 << b->bits) - 1);
            memcpy(to, b->palette[index], (size_t)channels);
        } else if (b->bits == 24) {
            for (int c = 0; c < 3; c++) to[c] = from[3 * x + 2 - c];
        } else {
            const uint32_t pixel = b->bits == 16 ? tsr_get_u16(from + 2 * x) : tsr_get_u32(from + 4 * x);
            for (int c = 0; c < channels; c++) to[c] = masked(pixel, b->mask[c]);
        }
    }
}

static tsr_status read_samples(tsr_input *input, tsr_samples *s)
{
    bmp b = { .name = NULL };
    *s = (tsr_samples){ 0 };
    TSR_TRY(take_header(input, &b));
    const int channels = b.bits <= 8 ? (b.grey ? 1 : 3) : b.alpha ? 4 : 3;
    const int64_t row = (b.width * b.bits + 31) / 32 * 4, left = (int64_t)b.size - b.data;
    const int runs = b.packing == RLE8 || b.packing == RLE4;
    if (b.data < FILE_HEAD || left < 0 || (runs ? b.height > left * 256 || b.width > left * 255 : row > left / b.height))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: BMP of %lld x %lld pixels of %d bits, the file has %lld bytes for them", b.name,
                 (long long)b.width, (long long)b.height, b.bits, (long long)left);
    TSR_TRY(tsr_raster_room(input, b.width, b.height, channels, 8, s));
    tsr_status status = TSR_OK;
    if (runs) status = take_runs(&b, s);
    else
        for (int64_t y = 0; y < b.height; y++)
            take_row(&b, b.bytes + b.data + y * row, s->at + (size_t)(b.down ? y : b.height - 1 - y) * tsr_samples_row(s), channels);
    if (status != TSR_OK) free(s->at);
    return status;
}

static tsr_status read_image(tsr_input *input, const tsr_read_options *options, tsr_image *image)
{
    tsr_samples s;
    TSR_TRY(read_samples(input, &s));
    return tsr_raster_image(&s, 255, 8, options, image);
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    tsr_samples s;
    (void)options;
    TSR_TRY(read_samples(input, &s));
    return tsr_raster_samples_volume(&s, volume);
}

static tsr_status write_rows(const tsr_image *image, tsr_output *out, int64_t row)
{
    uint8_t line[1 << 12];
    const int n = image->channels;
    for (int64_t y = image->height; y-- > 0;) {
        const uint8_t *from = image->pixels + y * image->width * n;
        int64_t used = 0;
        for (int64_t x = 0; x < image->width; x++, from += n) {
            if (used + 4 > (int64_t)sizeof line) {
                TSR_TRY(tsr_output_write(out, line, (size_t)used));
                used = 0;
            }
            if (n == 1) line[used++] = from[0];
            else
                for (int c = 0; c < n; c++) line[used++] = from[c < 3 ? 2 - c : 3];
        }
        TSR_TRY(tsr_output_write(out, line, (size_t)used));
        TSR_TRY(tsr_output_write(out, "\0\0\0", (size_t)(row - (int64_t)image->width * n)));
    }
    return TSR_OK;
}

static tsr_status write_image(const tsr_image *image, const char *path, const tsr_write_options *options)
{
    const int n = image->channels, info = n == 4 ? V4 : INFO;
    const int64_t row = ((int64_t)image->width * n + 3) / 4 * 4, palette = n == 1 ? 1024 : 0, data = FILE_HEAD + info + palette,
                  bytes = data + row * image->height;
    uint8_t head[FILE_HEAD + V4 + 1024] = { 'B', 'M' };
    tsr_output *out = NULL;
    tsr_status status;
    if (bytes > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld bytes, BMP counts up to 4294967295: expected a PNG file", path, (long long)bytes);
    tsr_put_u32(head + 2, (uint32_t)bytes);
    tsr_put_u32(head + 10, (uint32_t)data);
    tsr_put_u32(head + 14, (uint32_t)info);
    tsr_put_i32(head + 18, image->width);
    tsr_put_i32(head + 22, image->height);
    tsr_put_u16(head + 26, 1);
    tsr_put_u16(head + 28, (uint16_t)(8 * n));
    tsr_put_u32(head + 30, n == 4 ? MASKS : PLAIN);
    tsr_put_u32(head + 34, (uint32_t)(row * image->height));
    tsr_put_i32(head + 38, 2835); /* 72 dots an inch */
    tsr_put_i32(head + 42, 2835);
    if (n == 4) {
        for (int k = 0; k < 4; k++) tsr_put_u32(head + FILE_HEAD + INFO + 4 * k, k < 3 ? 0xff0000u >> 8 * k : 0xff000000u);
        memcpy(head + FILE_HEAD + 56, "BGRs", 4); /* sRGB */
    }
    for (int k = 0; k < 256 && n == 1; k++) memset(head + FILE_HEAD + INFO + 4 * k, k, 3);
    TSR_TRY(tsr_output_open(path, options, &out));
    status = tsr_output_write(out, head, (size_t)data);
    if (status == TSR_OK) status = write_rows(image, out, row);
    return tsr_output_finish(&out, status);
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    tsr_image image;
    TSR_TRY(tsr_raster_of_volume(volume, path, "BMP", &image));
    const tsr_status status = write_image(&image, path, options);
    tsr_image_destroy(&image);
    return status;
}

const tsr_format tsr_format_bmp = { .name = "bmp",
                                    .kind = TSR_FILE_IMAGE,
                                    .extensions = { ".bmp" },
                                    .recognise = recognise,
                                    .whole = 1,
                                    .read_image = read_image,
                                    .write_image = write_image,
                                    .read_volume = read_volume,
                                    .write_volume = write_volume };
