/* Pages of a TIFF file. libtiff reads the bytes of the input alone: nothing else is opened. A strip or tile at a time, pages side by side on all threads. */
#include "formats/volumes/tiff/tiff_pages.h"

#ifdef TSR_HAVE_TIFF

#include "core/parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- libtiff's way to the bytes ---------------------------------------------------------------------------------------------------------------- */

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t size)
{
    tsr_tiff_reader *r = (tsr_tiff_reader *)handle;
    const toff_t left = r->at < r->size ? r->size - r->at : 0;
    const size_t n = size < 0 ? 0 : (toff_t)size < left ? (size_t)size : (size_t)left;
    if (n) memcpy(to, r->bytes + r->at, n);
    r->at += n;
    return (tmsize_t)n;
}
static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t size) { return (void)handle, (void)from, (void)size, 0; }
static toff_t seek_bytes(thandle_t handle, toff_t offset, int from)
{
    tsr_tiff_reader *r = (tsr_tiff_reader *)handle;
    r->at = from == SEEK_SET ? offset : from == SEEK_CUR ? r->at + offset : r->size + offset;
    return r->at;
}
static int close_bytes(thandle_t handle) { return (void)handle, 0; }
static toff_t size_bytes(thandle_t handle) { return ((tsr_tiff_reader *)handle)->size; }
static int map_bytes(thandle_t handle, void **base, toff_t *size)
{
    tsr_tiff_reader *r = (tsr_tiff_reader *)handle;
    *base = (void *)(uintptr_t)r->bytes;
    *size = r->size;
    return 1;
}
static void unmap_bytes(thandle_t handle, void *base, toff_t size) { (void)handle, (void)base, (void)size; }

static int keep_error(TIFF *tif, void *user, const char *module, const char *format, va_list arguments)
{
    tsr_tiff_reader *r = (tsr_tiff_reader *)user;
    (void)tif, (void)module;
    if (!r->error[0]) vsnprintf(r->error, sizeof r->error, format, arguments);
    return 1;
}
static int keep_warning(TIFF *tif, void *user, const char *module, const char *format, va_list arguments)
{
    tsr_tiff_reader *r = (tsr_tiff_reader *)user;
    (void)tif, (void)module;
    if (!r->warning[0] && !strstr(format, "nknown field")) vsnprintf(r->warning, sizeof r->warning, format, arguments); /* tags of other programs */
    return 1;
}

/* In pieces what is packed together must be there, whatever the limit. */
static int64_t memory_of(const tsr_input *input)
{
    const tsr_input_options *o = tsr_input_settings(input);
    return o->memory_limit && !o->place ? o->memory_limit : tsr_physical_memory();
}

tsr_status tsr_tiff_reader_open(tsr_input *input, const uint8_t *bytes, size_t size, tsr_tiff_reader *r)
{
    *r = (tsr_tiff_reader){ .input = input, .bytes = bytes, .size = size, .held = -1 };
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options) {
        TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)tsr_max64(memory_of(input), 1 << 20));
        TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, r);
        TIFFOpenOptionsSetWarningHandlerExtR(options, keep_warning, r);
        r->tif = TIFFClientOpenExt(tsr_input_name(input), "r", r, read_bytes, write_bytes, seek_bytes, close_bytes, size_bytes, map_bytes,
                                   unmap_bytes, options);
        TIFFOpenOptionsFree(options);
    }
    if (!r->tif) TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: %s", tsr_input_name(input), r->error[0] ? r->error : "cannot be opened");
    r->current = TIFFCurrentDirOffset(r->tif);
    return TSR_OK;
}

void tsr_tiff_reader_close(tsr_tiff_reader *r)
{
    if (r->tif) TIFFClose(r->tif);
    r->tif = NULL;
    free(r->strip);
    r->strip = NULL;
}

tsr_status tsr_tiff_fail(tsr_tiff_reader *r, const char *what, int64_t number)
{
    char text[240];
    memcpy(text, r->error, sizeof text);
    r->error[0] = 0;
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: %s %lld: %s", tsr_input_name(r->input), what, (long long)number, text[0] ? text : "cannot be read");
}

/* ---- pages ------------------------------------------------------------------------------------------------------------------------------------- */

static int is_native(const tsr_tiff_page *p) { return p->bits == 8 || p->bits == 16 || p->bits == 32 || p->bits == 64; }

/* Where the voxels lie, if they do so plainly. */
static int64_t plain_offset(TIFF *tif, const tsr_tiff_page *p, uint64_t file_bytes)
{
    if (p->compression != COMPRESSION_NONE || TIFFIsTiled(tif) || !is_native(p) || (p->kind == SAMPLEFORMAT_IEEEFP && p->bits < 32) ||
        p->samples != 1)
        return -1;
    const uint64_t bytes = (uint64_t)p->width * p->height * (p->bits / 8);
    const uint32_t strips = TIFFNumberOfStrips(tif);
    const uint64_t first = TIFFGetStrileOffset(tif, 0);
    uint64_t end = first;
    if (strips > 65536) return -1;
    for (uint32_t s = 0; s < strips; s++) {
        if (s && TIFFGetStrileOffset(tif, s) != end) return -1;
        end += TIFFGetStrileByteCount(tif, s);
    }
    if (strips == 1 && end - first < bytes) return -1; /* its count is wrong: libtiff says it */
    return end - first >= bytes && first && first + bytes <= file_bytes ? (int64_t)first : -1;
}

void tsr_tiff_look(TIFF *tif, tsr_tiff_page *p, uint64_t file_bytes)
{
    uint32_t subfile = 0;
    *p = (tsr_tiff_page){ .offset = TIFFCurrentDirOffset(tif), .plain = -1 };
    TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &p->width);
    TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &p->height);
    TIFFGetFieldDefaulted(tif, TIFFTAG_IMAGEDEPTH, &p->depth);
    TIFFGetFieldDefaulted(tif, TIFFTAG_BITSPERSAMPLE, &p->bits);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLESPERPIXEL, &p->samples);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLEFORMAT, &p->kind);
    TIFFGetFieldDefaulted(tif, TIFFTAG_PLANARCONFIG, &p->planar);
    TIFFGetFieldDefaulted(tif, TIFFTAG_COMPRESSION, &p->compression);
    TIFFGetFieldDefaulted(tif, TIFFTAG_SUBFILETYPE, &subfile);
    if (!TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &p->photometric)) p->photometric = PHOTOMETRIC_MINISBLACK;
    if (p->compression == COMPRESSION_JPEG && p->photometric == PHOTOMETRIC_YCBCR) p->photometric = PHOTOMETRIC_RGB; /* as it is decoded */
    p->reduced = (subfile & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
    p->plain = plain_offset(tif, p, file_bytes);
}

tsr_status tsr_tiff_pages(tsr_tiff *t)
{
    tsr_tiff_reader *r = &t->main;
    int64_t room = 0;
    do {
        if (t->pages == room) {
            room = room ? 2 * room : 64;
            tsr_tiff_page *grown = (tsr_tiff_page *)realloc(t->page, (size_t)room * sizeof *grown);
            if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the headers of %lld pages", tsr_input_name(r->input), (long long)room);
            t->page = grown;
        }
        tsr_tiff_look(r->tif, &t->page[t->pages++], r->size);
        if (t->pages % 256 == 0) TSR_PROGRESS(tsr_input_settings(r->input)->progress, -1, "reading headers");
    } while (TIFFReadDirectory(r->tif));
    if (r->error[0]) return tsr_tiff_fail(r, "page", t->pages);
    r->current = 0;
    return TSR_OK;
}

int tsr_tiff_same_kind(const tsr_tiff_page *a, const tsr_tiff_page *b)
{
    return a->width == b->width && a->height == b->height && a->bits == b->bits && a->samples == b->samples && a->kind == b->kind;
}

/* The pages that belong to series `wanted`: those of one shape and type. The number of series comes back. */
int64_t tsr_tiff_series(const tsr_tiff *t, int64_t wanted, int64_t *list, int64_t *listed, int64_t *first)
{
    int64_t series = 0, heads[64];
    int all_reduced = 1;
    *listed = 0;
    for (int64_t i = 0; i < t->pages; i++) all_reduced &= t->page[i].reduced;
    for (int64_t i = 0; i < t->pages; i++) {
        int64_t k = 0;
        if (t->page[i].reduced && !all_reduced) continue;
        while (k < series && !tsr_tiff_same_kind(&t->page[heads[k]], &t->page[i])) k++;
        if (k == 64) continue;
        if (k == series) heads[series++] = i;
        if (k == wanted && list) list[(*listed)++] = i;
    }
    if (first) *first = wanted < series ? heads[wanted] : 0;
    return series;
}

const char *tsr_tiff_type(const tsr_tiff_page *p, char text[32])
{
    snprintf(text, 32, "%s%u%s",
             p->kind == SAMPLEFORMAT_IEEEFP ? "f"
             : p->kind == SAMPLEFORMAT_INT  ? "i"
                                            : "u",
             p->bits, p->samples > 1 ? " colours" : "");
    return text;
}

tsr_status tsr_tiff_dtype(const tsr_input *input, const tsr_tiff_page *p, tsr_dtype *dtype)
{
    const int bits = p->bits;
    const int odd = bits < 1 || (bits > 32 && bits != 64);
    switch (p->kind) {
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID: *dtype = bits <= 8 ? TSR_U8 : bits <= 16 ? TSR_U16 : bits <= 32 ? TSR_U32 : TSR_U64; break;
    case SAMPLEFORMAT_INT: *dtype = bits <= 8 ? TSR_I8 : bits <= 16 ? TSR_I16 : bits <= 32 ? TSR_I32 : TSR_I64; break;
    case SAMPLEFORMAT_IEEEFP:
        *dtype = bits == 64 ? TSR_F64 : TSR_F32;
        if (bits == 16 || bits == 24 || bits == 32 || bits == 64) return TSR_OK;
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: TIFF: real numbers of %d bits, expected 16, 24, 32 or 64", tsr_input_name(input), bits);
    default:
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: TIFF: samples of format %d (complex numbers), expected whole or real ones", tsr_input_name(input),
                 p->kind);
    }
    if (odd) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: TIFF: samples of %d bits, expected 1 to 32, or 64", tsr_input_name(input), bits);
    return TSR_OK;
}

/* ---- voxels of a page -------------------------------------------------------------------------------------------------------------------------- */

static uint32_t take_bits(const uint8_t *line, int64_t at, int bits)
{
    uint64_t value = 0;
    const int64_t end = (at + bits + 7) / 8;
    for (int64_t b = at / 8; b < end; b++) value = value << 8 | line[b];
    return (uint32_t)(value >> (end * 8 - at - bits) & (((uint64_t)1 << bits) - 1));
}

/* `count` samples of a line, from sample `first` in steps of `step`. */
static void take_samples(const tsr_tiff_page *p, tsr_dtype dtype, const uint8_t *line, int64_t first, int64_t step, int64_t count, uint8_t *to,
                         int64_t to_stride)
{
    const int bits = p->bits, real = p->kind == SAMPLEFORMAT_IEEEFP;
    const size_t element = tsr_dtype_size(dtype);
    if (is_native(p) && !(real && bits == 16)) {
        tsr_stored_copy_line(line + first * (bits / 8), step * (bits / 8), to, to_stride, count, element);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = first + i * step;
        uint8_t *one = to + i * to_stride;
        if (real && bits == 16) {
            uint16_t half;
            memcpy(&half, line + 2 * at, 2);
            const float value = tsr_stored_half(half);
            memcpy(one, &value, 4);
        } else if (bits == 24) { /* three bytes in native order, as libtiff turns them */
            const uint8_t *b = line + 3 * at;
            const uint32_t value =
                tsr_host_big_endian() ? (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2] : (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
            if (real) { /* 1 sign, 7 bits of exponent, 16 of fraction (TIFF technical note 3) */
                const uint32_t sign = value >> 23, exponent = value >> 16 & 127, fraction = value & 65535;
                const float f = exponent == 127 ? (fraction ? NAN : INFINITY)
                                                : ldexpf((float)(exponent ? fraction + 65536 : fraction), (exponent ? (int)exponent : 1) - 63 - 16);
                const float signed_value = sign ? -f : f;
                memcpy(one, &signed_value, 4);
            } else tsr_voxel_store(to + i * to_stride, dtype, 0, p->kind == SAMPLEFORMAT_INT ? (double)((int32_t)(value << 8) >> 8) : (double)value);
        } else {
            const uint32_t value = take_bits(line, at * bits, bits);
            const int32_t negative = p->kind == SAMPLEFORMAT_INT && bits < 32 && value >> (bits - 1);
            tsr_voxel_store(one, dtype, 0,
                            p->kind == SAMPLEFORMAT_INT ? (double)(int32_t)(negative ? value | ~(uint32_t)0 << bits : value) : (double)value);
        }
    }
}

/* A part of a page: samples [s, s + ns) of the pixels [x, x + nx), [y, y + ny), with the strides of where they go. */
typedef struct part {
    int64_t x, y, s, nx, ny, ns, stride_x, stride_y, stride_s;
    uint8_t *to;
} part;

static tsr_status set_page(tsr_tiff *t, tsr_tiff_reader *r, int64_t number)
{
    const tsr_tiff_page *p = &t->page[number];
    uint32_t width = 0, height = 0;
    uint64_t *sub = NULL;
    uint16_t subs = 0;
    if (r->current == p->offset + 1) return TSR_OK;
    r->held = -1;
    r->error[0] = 0;
    if (!TIFFSetSubDirectory(r->tif, p->offset)) return tsr_tiff_fail(r, "page", number);
    if (t->level) {
        if (!TIFFGetField(r->tif, TIFFTAG_SUBIFD, &subs, &sub) || t->level > subs)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: page %lld has no level %lld", tsr_input_name(r->input), (long long)number, (long long)t->level);
        if (!TIFFSetSubDirectory(r->tif, sub[t->level - 1])) return tsr_tiff_fail(r, "a level of page", number);
    }
    tsr_tiff_page now;
    tsr_tiff_look(r->tif, &now, r->size);
    TIFFGetField(r->tif, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(r->tif, TIFFTAG_IMAGELENGTH, &height);
    if (width != t->width || height != t->height || now.bits != p->bits || now.samples != p->samples || now.kind != p->kind ||
        now.planar != p->planar)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: level %lld of page %lld has another shape or type than that of the first", tsr_input_name(r->input),
                 (long long)t->level, (long long)number);
    if (now.compression == COMPRESSION_JPEG && now.photometric == PHOTOMETRIC_RGB && now.samples == 3)
        TIFFSetField(r->tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    r->current = p->offset + 1; /* with the level */
    const tmsize_t bytes = TIFFIsTiled(r->tif) ? TIFFTileSize(r->tif) : TIFFStripSize(r->tif);
    if (bytes <= 0) return tsr_tiff_fail(r, "strips of page", number);
    if (bytes > r->strip_bytes) {
        free(r->strip);
        r->strip_bytes = 0;
        r->strip = bytes <= memory_of(r->input) ? (uint8_t *)malloc((size_t)bytes) : NULL;
        if (!r->strip)
            TSR_FAIL(TSR_ERROR_MEMORY, "%s: %lld bytes of a strip of a TIFF page are over the memory limit", tsr_input_name(r->input),
                     (long long)bytes);
        r->strip_bytes = bytes;
    }
    return TSR_OK;
}

/* Strip or tile `number` into the buffer: `bytes` of it. */
static tsr_status unpack(tsr_tiff_reader *r, uint32_t number, int64_t bytes, int64_t page_number)
{
    if (r->held == (int64_t)number) return TSR_OK;
    r->held = -1;
    r->error[0] = 0;
    if (!TIFFGetStrileByteCount(r->tif, number) && !TIFFGetStrileOffset(r->tif, number)) memset(r->strip, 0, (size_t)bytes); /* sparse */
    else {
        const tmsize_t got = TIFFIsTiled(r->tif) ? TIFFReadEncodedTile(r->tif, number, r->strip, (tmsize_t)bytes)
                                                 : TIFFReadEncodedStrip(r->tif, number, r->strip, (tmsize_t)bytes);
        if (got != (tmsize_t)bytes) return tsr_tiff_fail(r, "voxels of page", page_number);
    }
    r->held = number;
    return TSR_OK;
}

static void copy_part(const tsr_tiff *t, const tsr_tiff_page *p, const part *w, const uint8_t *bytes, int64_t line_bytes, int64_t left, int64_t top,
                      int64_t width, int64_t height, int64_t s0, int64_t s1)
{
    const int64_t x0 = tsr_max64(w->x, left), x1 = tsr_min64(w->x + w->nx, left + width), y0 = tsr_max64(w->y, top),
                  y1 = tsr_min64(w->y + w->ny, top + height), per_pixel = p->planar == PLANARCONFIG_SEPARATE ? 1 : p->samples;
    for (int64_t y = y0; y < y1 && x0 < x1; y++)
        for (int64_t s = s0; s < s1; s++)
            take_samples(p, t->dtype, bytes + (y - top) * line_bytes, (x0 - left) * per_pixel + (per_pixel > 1 ? s : 0), per_pixel, x1 - x0,
                         w->to + (y - w->y) * w->stride_y + (x0 - w->x) * w->stride_x + (s - w->s) * w->stride_s, w->stride_x);
}

static tsr_status read_part(tsr_tiff *t, tsr_tiff_reader *r, int64_t number, const part *w)
{
    const tsr_tiff_page *p = &t->page[number];
    const int planes = p->planar == PLANARCONFIG_SEPARATE;
    const size_t element = tsr_dtype_size(t->dtype);
    uint32_t rows = 0, width = 0, height = 0;
    TSR_TRY(set_page(t, r, number));
    if (TIFFIsTiled(r->tif)) {
        TIFFGetField(r->tif, TIFFTAG_TILEWIDTH, &width);
        TIFFGetField(r->tif, TIFFTAG_TILELENGTH, &height);
        for (int64_t s = planes ? w->s : 0; s < (planes ? w->s + w->ns : 1); s++)
            for (int64_t y = w->y / height * height; y < w->y + w->ny; y += height)
                for (int64_t x = w->x / width * width; x < w->x + w->nx; x += width) {
                    TSR_TRY(unpack(r, TIFFComputeTile(r->tif, (uint32_t)x, (uint32_t)y, 0, (uint16_t)s), TIFFTileSize(r->tif), number));
                    copy_part(t, p, w, r->strip, TIFFTileRowSize(r->tif), x, y, width, height, planes ? s : w->s, planes ? s + 1 : w->s + w->ns);
                }
        return TSR_OK;
    }
    TIFFGetFieldDefaulted(r->tif, TIFFTAG_ROWSPERSTRIP, &rows);
    if (!rows || rows > t->height) rows = t->height;
    const int64_t line = TIFFScanlineSize(r->tif);
    const int direct = is_native(p) && !(p->kind == SAMPLEFORMAT_IEEEFP && p->bits == 16) && p->samples == 1 && w->stride_x == (int64_t)element &&
                       w->stride_y == line && w->nx == t->width;
    for (int64_t s = planes ? w->s : 0; s < (planes ? w->s + w->ns : 1); s++)
        for (int64_t y = w->y / rows * rows; y < w->y + w->ny; y += rows) {
            const int64_t height_here = tsr_min64(rows, t->height - y);
            const uint32_t strip = TIFFComputeStrip(r->tif, (uint32_t)y, (uint16_t)s);
            if (direct && y >= w->y && y + height_here <= w->y + w->ny && TIFFGetStrileByteCount(r->tif, strip)) { /* where it belongs */
                r->error[0] = 0;
                if (TIFFReadEncodedStrip(r->tif, strip, w->to + (y - w->y) * line, (tmsize_t)(height_here * line)) != (tmsize_t)(height_here * line))
                    return tsr_tiff_fail(r, "voxels of page", number);
                continue;
            }
            TSR_TRY(unpack(r, strip, height_here * line, number));
            copy_part(t, p, w, r->strip, line, 0, y, t->width, height_here, planes ? s : w->s, planes ? s + 1 : w->s + w->ns);
        }
    return TSR_OK;
}

/* ---- a box of many pages ----------------------------------------------------------------------------------------------------------------------- */

typedef struct job {
    tsr_tiff *t;
    const int64_t *start, *count, *stride;
    uint8_t *to;
    int64_t first, pages;
    int failed; /* the first failure, which keeps its message */
    tsr_status status;
    char message[512];
} job;

/* Page k of the box: which of the file (-1: a plane that is missing), and the part of it. */
static int64_t page_of(const job *j, int64_t k, part *w)
{
    const tsr_tiff *t = j->t;
    const tsr_tiff_order *order = &t->notes.order;
    const tsr_tiff_page *p = &t->page[t->first];
    const int axes = (int)t->page_axes, planes = p->planar == PLANARCONFIG_SEPARATE && p->samples > 1;
    const int ys = planes ? axes + 1 : axes, xs = ys + 1, ss = planes ? axes : axes + 2;
    int64_t number = 0, below = 1;
    *w = (part){ .x = j->start[xs],
                 .y = j->start[ys],
                 .nx = j->count[xs],
                 .ny = j->count[ys],
                 .stride_x = j->stride[xs],
                 .stride_y = j->stride[ys],
                 .ns = 1,
                 .to = j->to };
    if (p->samples > 1) w->s = j->start[ss], w->ns = j->count[ss], w->stride_s = j->stride[ss];
    for (int a = axes - 1; a >= 0; a--) {
        const int64_t at = k % j->count[a];
        k /= j->count[a];
        number += (j->start[a] + at) * below;
        w->to += at * j->stride[a];
        below *= order->size[axes - 1 - a];
    }
    return order->page ? order->page[number] : t->list[number];
}

static tsr_status read_one(job *j, tsr_tiff_reader *r, int64_t k)
{
    part w;
    const int64_t number = page_of(j, k, &w);
    if (number >= 0) return read_part(j->t, r, number, &w);
    for (int64_t y = 0; y < w.ny; y++)
        for (int64_t x = 0; x < w.nx; x++)
            for (int64_t s = 0; s < w.ns; s++) memset(w.to + y * w.stride_y + x * w.stride_x + s * w.stride_s, 0, tsr_dtype_size(j->t->dtype));
    return TSR_OK;
}

static void read_range(void *user, int64_t begin, int64_t end, int worker)
{
    job *j = (job *)user;
    tsr_tiff *t = j->t;
    tsr_tiff_reader *r = &t->own[worker];
    tsr_status status = r->tif ? TSR_OK : tsr_tiff_reader_open(t->main.input, t->main.bytes, (size_t)t->main.size, r);
    for (int64_t k = begin; k < end && status == TSR_OK && !__atomic_load_n(&j->failed, __ATOMIC_RELAXED); k++) status = read_one(j, r, j->first + k);
    if (status != TSR_OK && !__atomic_exchange_n(&j->failed, 1, __ATOMIC_ACQ_REL)) {
        j->status = status;
        snprintf(j->message, sizeof j->message, "%s", tsr_error_message());
    }
}

tsr_status tsr_tiff_array(void *user, const int64_t *start, const int64_t *count, const int64_t *stride, uint8_t *to)
{
    enum { TOGETHER = 128 };
    tsr_tiff *t = (tsr_tiff *)user;
    job j = { .t = t, .start = start, .count = count, .stride = stride, .to = to, .pages = 1 };
    for (int64_t a = 0; a < t->page_axes; a++) j.pages *= count[a];
    if (j.pages == 1) return read_one(&j, &t->main, 0);
    for (; j.first < j.pages && !j.failed; j.first += TOGETHER) {
        tsr_parallel(t->readers, tsr_min64(TOGETHER, j.pages - j.first), 4, read_range, &j);
        TSR_PROGRESS(tsr_input_settings(t->main.input)->progress, (double)tsr_min64(j.first + TOGETHER, j.pages) / (double)j.pages, "reading");
    }
    if (j.failed) TSR_FAIL(j.status, "%s", j.message);
    return TSR_OK;
}

#endif
