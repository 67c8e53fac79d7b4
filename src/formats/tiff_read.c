/* TIFF through libtiff, which reads the bytes of the input alone: nothing else is opened. Pages that lie plainly one behind another are mapped like the
 * voxels of any other file; the rest goes through libtiff a strip or tile at a time, pages side by side on all threads. */
#include "formats/tiff.h"

#include "formats/contents.h"

#ifdef TSR_HAVE_TIFF

#include "core/parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

typedef struct page {
    uint64_t offset; /* of its header */
    uint32_t width, height;
    uint16_t bits, samples, kind, planar, compression, photometric;
    int reduced;
    int64_t plain; /* where its voxels lie, one behind another and as they are; -1: they do not */
} page;

/* One handle of libtiff: a thread has its own. */
typedef struct reader {
    tsr_input *input;
    const uint8_t *bytes;
    toff_t size, at;
    TIFF *tif;
    char error[240], warning[240];
    uint64_t current; /* header of the page that is set */
    tsr_block strip;
    int64_t strip_bytes, held; /* held: the strip or tile that `strip` is, -1: none */
} reader;

typedef struct tiff {
    reader main;
    page *page;
    int64_t pages, *list, listed; /* list: the pages of the series */
    tsr_tiff_notes notes;
    tsr_dtype dtype;
    int64_t first, level; /* first: the page that stands for all */
    uint32_t width, height, rows; /* of the level; rows of a strip or tile */
    int64_t page_axes;
    double spacing[2]; /* one over the resolution; 0: unknown */
    uint16_t resolution_unit;
    reader *own; /* of each thread */
    int readers;
} tiff;

/* ---- libtiff's way to the bytes ------------------------------------------------------------------------------------------------------------ */

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t size)
{
    reader *r = (reader *)handle;
    const toff_t left = r->at < r->size ? r->size - r->at : 0;
    const size_t n = size < 0 ? 0 : (toff_t)size < left ? (size_t)size : (size_t)left;
    if (n) memcpy(to, r->bytes + r->at, n);
    r->at += n;
    return (tmsize_t)n;
}
static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t size) { return (void)handle, (void)from, (void)size, 0; }
static toff_t seek_bytes(thandle_t handle, toff_t offset, int from)
{
    reader *r = (reader *)handle;
    r->at = from == SEEK_SET ? offset : from == SEEK_CUR ? r->at + offset : r->size + offset;
    return r->at;
}
static int close_bytes(thandle_t handle) { return (void)handle, 0; }
static toff_t size_bytes(thandle_t handle) { return ((reader *)handle)->size; }
static int map_bytes(thandle_t handle, void **base, toff_t *size)
{
    reader *r = (reader *)handle;
    *base = (void *)(uintptr_t)r->bytes;
    *size = r->size;
    return 1;
}
static void unmap_bytes(thandle_t handle, void *base, toff_t size) { (void)handle, (void)base, (void)size; }

static int keep_error(TIFF *tif, void *user, const char *module, const char *format, va_list arguments)
{
    reader *r = (reader *)user;
    (void)tif, (void)module;
    if (!r->error[0]) vsnprintf(r->error, sizeof r->error, format, arguments);
    return 1;
}
static int keep_warning(TIFF *tif, void *user, const char *module, const char *format, va_list arguments)
{
    reader *r = (reader *)user;
    (void)tif, (void)module;
    if (!r->warning[0] && !strstr(format, "nknown field")) vsnprintf(r->warning, sizeof r->warning, format, arguments); /* tags of other programs */
    return 1;
}

static int64_t memory_of(const tsr_input *input)
{
    const int64_t limit = tsr_input_settings(input)->memory_limit;
    return limit ? limit : tsr_physical_memory();
}

static tsr_status reader_open(tsr_input *input, const uint8_t *bytes, size_t size, reader *r)
{
    *r = (reader){ .input = input, .bytes = bytes, .size = size, .held = -1 };
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options) {
        TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)tsr_max64(memory_of(input), 1 << 20));
        TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, r);
        TIFFOpenOptionsSetWarningHandlerExtR(options, keep_warning, r);
        r->tif = TIFFClientOpenExt(tsr_input_name(input), "r", r, read_bytes, write_bytes, seek_bytes, close_bytes, size_bytes, map_bytes, unmap_bytes,
                                   options);
        TIFFOpenOptionsFree(options);
    }
    if (!r->tif) TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: %s", tsr_input_name(input), r->error[0] ? r->error : "cannot be opened");
    r->current = TIFFCurrentDirOffset(r->tif);
    return TSR_OK;
}

static void reader_close(reader *r)
{
    if (r->tif) TIFFClose(r->tif);
    r->tif = NULL;
    tsr_block_release(&r->strip);
}

static tsr_status fail_read(reader *r, const char *what, int64_t number)
{
    char text[240];
    memcpy(text, r->error, sizeof text);
    r->error[0] = 0;
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: %s %lld: %s", tsr_input_name(r->input), what, (long long)number, text[0] ? text : "cannot be read");
}

/* ---- pages ------------------------------------------------------------------------------------------------------------------------------ */

static int is_native(const page *p) { return p->bits == 8 || p->bits == 16 || p->bits == 32 || p->bits == 64; }

/* Where the voxels lie, if they do so plainly. */
static int64_t plain_offset(TIFF *tif, const page *p, uint64_t file_bytes)
{
    if (p->compression != COMPRESSION_NONE || TIFFIsTiled(tif) || !is_native(p) || (p->kind == SAMPLEFORMAT_IEEEFP && p->bits < 32) || p->samples != 1) return -1;
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

static void look_at(TIFF *tif, page *p, uint64_t file_bytes)
{
    uint32_t subfile = 0;
    *p = (page){ .offset = TIFFCurrentDirOffset(tif), .plain = -1 };
    TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &p->width);
    TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &p->height);
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

static tsr_status read_pages(tiff *t)
{
    reader *r = &t->main;
    int64_t room = 0;
    do {
        if (t->pages == room) {
            room = room ? 2 * room : 64;
            page *grown = (page *)realloc(t->page, (size_t)room * sizeof *grown);
            if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the headers of %lld pages", tsr_input_name(r->input), (long long)room);
            t->page = grown;
        }
        look_at(r->tif, &t->page[t->pages++], r->size);
        if (t->pages % 256 == 0) TSR_PROGRESS(tsr_input_settings(r->input)->progress, -1, "reading headers");
    } while (TIFFReadDirectory(r->tif));
    if (r->error[0]) return fail_read(r, "page", t->pages);
    r->current = 0;
    return TSR_OK;
}

static int same_kind(const page *a, const page *b)
{
    return a->width == b->width && a->height == b->height && a->bits == b->bits && a->samples == b->samples && a->kind == b->kind;
}

/* The pages that belong to series `wanted`: those of one shape and type. The number of series comes back. */
static int64_t list_series(const tiff *t, int64_t wanted, int64_t *list, int64_t *listed, int64_t *first)
{
    int64_t series = 0, heads[64];
    int all_reduced = 1;
    *listed = 0;
    for (int64_t i = 0; i < t->pages; i++) all_reduced &= t->page[i].reduced;
    for (int64_t i = 0; i < t->pages; i++) {
        int64_t k = 0;
        if (t->page[i].reduced && !all_reduced) continue;
        while (k < series && !same_kind(&t->page[heads[k]], &t->page[i])) k++;
        if (k == 64) continue;
        if (k == series) heads[series++] = i;
        if (k == wanted && list) list[(*listed)++] = i;
    }
    if (first) *first = wanted < series ? heads[wanted] : 0;
    return series;
}

static const char *type_text(const page *p, char text[32])
{
    snprintf(text, 32, "%s%u%s", p->kind == SAMPLEFORMAT_IEEEFP ? "f" : p->kind == SAMPLEFORMAT_INT ? "i" : "u", p->bits, p->samples > 1 ? " colours" : "");
    return text;
}

static tsr_status dtype_of(const tsr_input *input, const page *p, tsr_dtype *dtype)
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
    default: TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: TIFF: samples of format %d (complex numbers), expected whole or real ones", tsr_input_name(input), p->kind);
    }
    if (odd) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: TIFF: samples of %d bits, expected 1 to 32, or 64", tsr_input_name(input), bits);
    return TSR_OK;
}

/* ---- voxels of a page ----------------------------------------------------------------------------------------------------------------------- */

static uint32_t take_bits(const uint8_t *line, int64_t at, int bits)
{
    uint64_t value = 0;
    const int64_t end = (at + bits + 7) / 8;
    for (int64_t b = at / 8; b < end; b++) value = value << 8 | line[b];
    return (uint32_t)(value >> (end * 8 - at - bits) & (((uint64_t)1 << bits) - 1));
}

/* `count` samples of a line, from sample `first` in steps of `step`. */
static void take_samples(const page *p, tsr_dtype dtype, const uint8_t *line, int64_t first, int64_t step, int64_t count, uint8_t *to, int64_t to_stride)
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
            const uint32_t value = tsr_host_big_endian() ? (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2] : (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
            if (real) { /* 1 sign, 7 bits of exponent, 16 of fraction (TIFF technical note 3) */
                const uint32_t sign = value >> 23, exponent = value >> 16 & 127, fraction = value & 65535;
                const float f = exponent == 127 ? (fraction ? NAN : INFINITY) : ldexpf((float)(exponent ? fraction + 65536 : fraction), (exponent ? (int)exponent : 1) - 63 - 16);
                const float signed_value = sign ? -f : f;
                memcpy(one, &signed_value, 4);
            } else tsr_voxel_store(to + i * to_stride, dtype, 0, p->kind == SAMPLEFORMAT_INT ? (double)((int32_t)(value << 8) >> 8) : (double)value);
        } else {
            const uint32_t value = take_bits(line, at * bits, bits);
            const int32_t negative = p->kind == SAMPLEFORMAT_INT && bits < 32 && value >> (bits - 1);
            tsr_voxel_store(one, dtype, 0, p->kind == SAMPLEFORMAT_INT ? (double)(int32_t)(negative ? value | ~(uint32_t)0 << bits : value) : (double)value);
        }
    }
}

/* A part of a page: samples [s, s + ns) of the pixels [x, x + nx), [y, y + ny), with the strides of where they go. */
typedef struct part {
    int64_t x, y, s, nx, ny, ns, stride_x, stride_y, stride_s;
    uint8_t *to;
} part;

static tsr_status set_page(tiff *t, reader *r, int64_t number)
{
    const page *p = &t->page[number];
    uint32_t width = 0, height = 0;
    uint64_t *sub = NULL;
    uint16_t subs = 0;
    if (r->current == p->offset + 1) return TSR_OK;
    r->held = -1;
    r->error[0] = 0;
    if (!TIFFSetSubDirectory(r->tif, p->offset)) return fail_read(r, "page", number);
    if (t->level) {
        if (!TIFFGetField(r->tif, TIFFTAG_SUBIFD, &subs, &sub) || t->level > subs)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: page %lld has no level %lld", tsr_input_name(r->input), (long long)number, (long long)t->level);
        if (!TIFFSetSubDirectory(r->tif, sub[t->level - 1])) return fail_read(r, "a level of page", number);
    }
    page now;
    look_at(r->tif, &now, r->size);
    TIFFGetField(r->tif, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(r->tif, TIFFTAG_IMAGELENGTH, &height);
    if (width != t->width || height != t->height || now.bits != p->bits || now.samples != p->samples || now.kind != p->kind || now.planar != p->planar)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: level %lld of page %lld has another shape or type than that of the first", tsr_input_name(r->input),
                 (long long)t->level, (long long)number);
    if (now.compression == COMPRESSION_JPEG && now.photometric == PHOTOMETRIC_RGB && now.samples == 3) TIFFSetField(r->tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    r->current = p->offset + 1; /* with the level */
    const tmsize_t bytes = TIFFIsTiled(r->tif) ? TIFFTileSize(r->tif) : TIFFStripSize(r->tif);
    if (bytes <= 0) return fail_read(r, "strips of page", number);
    if (bytes > r->strip_bytes) {
        tsr_block_release(&r->strip);
        r->strip_bytes = 0;
        TSR_TRY(tsr_input_allocate(r->input, bytes, "a strip of a TIFF page", &r->strip));
        r->strip_bytes = bytes;
    }
    return TSR_OK;
}

/* Strip or tile `number` into the buffer: `bytes` of it. */
static tsr_status unpack(reader *r, uint32_t number, int64_t bytes, int64_t page_number)
{
    if (r->held == (int64_t)number) return TSR_OK;
    r->held = -1;
    r->error[0] = 0;
    if (!TIFFGetStrileByteCount(r->tif, number) && !TIFFGetStrileOffset(r->tif, number)) memset(r->strip.data, 0, (size_t)bytes); /* sparse */
    else {
        const tmsize_t got = TIFFIsTiled(r->tif) ? TIFFReadEncodedTile(r->tif, number, r->strip.data, (tmsize_t)bytes)
                                                 : TIFFReadEncodedStrip(r->tif, number, r->strip.data, (tmsize_t)bytes);
        if (got != (tmsize_t)bytes) return fail_read(r, "voxels of page", page_number);
    }
    r->held = number;
    return TSR_OK;
}

static void copy_part(const tiff *t, const page *p, const part *w, const uint8_t *bytes, int64_t line_bytes, int64_t left, int64_t top, int64_t width,
                      int64_t height, int64_t s0, int64_t s1)
{
    const int64_t x0 = tsr_max64(w->x, left), x1 = tsr_min64(w->x + w->nx, left + width), y0 = tsr_max64(w->y, top),
                  y1 = tsr_min64(w->y + w->ny, top + height), per_pixel = p->planar == PLANARCONFIG_SEPARATE ? 1 : p->samples;
    for (int64_t y = y0; y < y1 && x0 < x1; y++)
        for (int64_t s = s0; s < s1; s++)
            take_samples(p, t->dtype, bytes + (y - top) * line_bytes, (x0 - left) * per_pixel + (per_pixel > 1 ? s : 0), per_pixel, x1 - x0,
                         w->to + (y - w->y) * w->stride_y + (x0 - w->x) * w->stride_x + (s - w->s) * w->stride_s, w->stride_x);
}

static tsr_status read_part(tiff *t, reader *r, int64_t number, const part *w)
{
    const page *p = &t->page[number];
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
                    copy_part(t, p, w, (const uint8_t *)r->strip.data, TIFFTileRowSize(r->tif), x, y, width, height, planes ? s : w->s,
                              planes ? s + 1 : w->s + w->ns);
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
                    return fail_read(r, "voxels of page", number);
                continue;
            }
            TSR_TRY(unpack(r, strip, height_here * line, number));
            copy_part(t, p, w, (const uint8_t *)r->strip.data, line, 0, y, t->width, height_here, planes ? s : w->s, planes ? s + 1 : w->s + w->ns);
        }
    return TSR_OK;
}

/* ---- a box of many pages ---------------------------------------------------------------------------------------------------------------------- */

typedef struct job {
    tiff *t;
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
    const tiff *t = j->t;
    const tsr_tiff_order *order = &t->notes.order;
    const page *p = &t->page[t->first];
    const int axes = (int)t->page_axes, planes = p->planar == PLANARCONFIG_SEPARATE && p->samples > 1;
    const int ys = planes ? axes + 1 : axes, xs = ys + 1, ss = planes ? axes : axes + 2;
    int64_t number = 0, below = 1;
    *w = (part){ .x = j->start[xs], .y = j->start[ys], .nx = j->count[xs], .ny = j->count[ys], .stride_x = j->stride[xs], .stride_y = j->stride[ys], .ns = 1, .to = j->to };
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

static tsr_status read_one(job *j, reader *r, int64_t k)
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
    tiff *t = j->t;
    reader *r = &t->own[worker];
    tsr_status status = r->tif ? TSR_OK : reader_open(t->main.input, t->main.bytes, (size_t)t->main.size, r);
    for (int64_t k = begin; k < end && status == TSR_OK && !__atomic_load_n(&j->failed, __ATOMIC_RELAXED); k++) status = read_one(j, r, j->first + k);
    if (status != TSR_OK && !__atomic_exchange_n(&j->failed, 1, __ATOMIC_ACQ_REL)) {
        j->status = status;
        snprintf(j->message, sizeof j->message, "%s", tsr_error_message());
    }
}

static tsr_status read_array(void *user, const int64_t *start, const int64_t *count, const int64_t *stride, uint8_t *to)
{
    enum { TOGETHER = 128 };
    tiff *t = (tiff *)user;
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

static void tiff_close(void *user)
{
    tiff *t = (tiff *)user;
    if (!t) return;
    for (int i = 0; i < t->readers; i++) reader_close(&t->own[i]);
    reader_close(&t->main);
    tsr_tiff_notes_free(&t->notes);
    free(t->own);
    free(t->page);
    free(t->list);
    free(t);
}

/* ---- a file ------------------------------------------------------------------------------------------------------------------------------------- */

static uint64_t number_at(const reader *r, uint64_t at, int bytes)
{
    uint64_t value = 0;
    if (r->size < (uint64_t)bytes || at > r->size - (uint64_t)bytes) return 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | r->bytes[at + (uint64_t)(TIFFIsBigEndian(r->tif) ? i : bytes - 1 - i)];
    return value;
}

/* One over the resolution of the page that is set, to the last bit: libtiff gives it in float32. 0: it has none. */
static double exact_spacing(const reader *r, uint32_t tag)
{
    const int big = number_at(r, 2, 2) == 43;
    const uint64_t offset = TIFFCurrentDirOffset(r->tif), count = number_at(r, offset, big ? 8 : 2);
    for (uint64_t i = 0; i < count && i < 4096; i++) {
        const uint64_t entry = offset + (big ? 8 + 20 * i : 2 + 12 * i);
        if (number_at(r, entry, 2) != tag || number_at(r, entry + 2, 2) != 5) continue;
        const uint64_t at = big ? entry + 12 : number_at(r, entry + 8, 4);
        const double numerator = (double)number_at(r, at, 4), denominator = (double)number_at(r, at + 4, 4);
        return numerator > 0 && denominator > 0 ? denominator / numerator : 0;
    }
    return 0;
}

/* Headers and description. *text is the description's, within libtiff's memory until another page is set. */
static tsr_status tiff_open(tsr_input *input, tiff **opened, char **text)
{
    const uint8_t *bytes;
    size_t size;
    const char *description = NULL;
    tsr_status status;
    *opened = NULL;
    *text = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    tiff *t = (tiff *)calloc(1, sizeof *t);
    if (!t) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    TSR_TRY_GOTO(reader_open(input, bytes, size, &t->main), fail);
    if (TIFFGetField(t->main.tif, TIFFTAG_IMAGEDESCRIPTION, &description) && description && !(*text = strdup(description)))
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "%s: out of memory", tsr_input_name(input));
    for (int k = 0; k < 2; k++) t->spacing[k] = exact_spacing(&t->main, k ? TIFFTAG_YRESOLUTION : TIFFTAG_XRESOLUTION);
    TIFFGetFieldDefaulted(t->main.tif, TIFFTAG_RESOLUTIONUNIT, &t->resolution_unit);
    TSR_TRY_GOTO(read_pages(t), fail);
    *opened = t;
    return TSR_OK;
fail:
    free(*text);
    *text = NULL;
    tiff_close(t);
    return status;
}

static tsr_status add_series(tsr_contents *contents, int64_t number, const page *p, int64_t pages)
{
    char name[24], type[32];
    snprintf(name, sizeof name, "%lld", (long long)number);
    const tsr_contents_entry entry = { "series", name, type_text(p, type), 3, { pages, p->height, p->width } };
    TSR_TRY(tsr_contents_add(contents, &entry));
    return TSR_OK;
}

/* The levels of the pyramid of page `number`: the page itself, and the smaller ones that it names. */
static int64_t count_levels(tiff *t, int64_t number)
{
    uint64_t *sub = NULL;
    uint16_t subs = 0;
    if (!TIFFSetSubDirectory(t->main.tif, t->page[number].offset)) return 1;
    t->main.current = 0;
    return TIFFGetField(t->main.tif, TIFFTAG_SUBIFD, &subs, &sub) ? 1 + (int64_t)subs : 1;
}

/* Series of pages of one shape, and the levels of the first. OME-XML counts its own. */
static tsr_status list_contents(tiff *t, tsr_contents *contents)
{
    int64_t count = 0, first = 0;
    int64_t *list = (int64_t *)malloc((size_t)t->pages * sizeof *list);
    tsr_status status = TSR_OK;
    if (!list) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(t->main.input));
    const int64_t series = list_series(t, 0, list, &count, &first), head = first;
    for (int64_t k = 0; k < series && series > 1 && status == TSR_OK; k++) {
        list_series(t, k, list, &count, &first);
        status = add_series(contents, k, &t->page[first], count);
    }
    free(list);
    TSR_TRY(status);
    const int64_t levels = count_levels(t, head);
    for (int64_t k = 0; k < levels && levels > 1; k++) {
        uint64_t *sub = NULL;
        uint16_t subs = 0;
        page p = t->page[head];
        char name[24], type[32];
        if (k && TIFFSetSubDirectory(t->main.tif, t->page[head].offset) && TIFFGetField(t->main.tif, TIFFTAG_SUBIFD, &subs, &sub) && k <= subs &&
            TIFFSetSubDirectory(t->main.tif, sub[k - 1]))
            look_at(t->main.tif, &p, t->main.size);
        snprintf(name, sizeof name, "%lld", (long long)k);
        const tsr_contents_entry entry = { "level", name, type_text(&p, type), 2, { p.height, p.width } };
        TSR_TRY(tsr_contents_add(contents, &entry));
    }
    return TSR_OK;
}

tsr_status tsr_tiff_list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    tiff *t;
    char *text;
    (void)options;
    TSR_TRY(tiff_open(input, &t, &text));
    tsr_tiff_notes notes;
    tsr_status status = tsr_tiff_describe(input, text, t->pages, 0, &notes);
    if (status == TSR_OK && notes.series > 1) {
        for (int64_t k = 0; k < notes.series && status == TSR_OK; k++) {
            tsr_tiff_notes one;
            status = tsr_tiff_describe(input, text, t->pages, k, &one);
            if (status != TSR_OK) break;
            const int64_t first = one.order.page && one.order.page[0] >= 0 ? one.order.page[0] : 0;
            status = add_series(contents, k, &t->page[first], one.order.pages);
            tsr_tiff_notes_free(&one);
        }
        tsr_tiff_notes_free(&notes);
    } else if (status == TSR_OK) {
        tsr_tiff_notes_free(&notes);
        status = list_contents(t, contents);
    }
    free(text);
    tiff_close(t);
    return status;
}

static tsr_status choose_series(tiff *t, const char *text, const tsr_read_options *options)
{
    const char *name = tsr_input_name(t->main.input);
    const int64_t wanted = options->series_given ? options->series : 0;
    tsr_tiff_notes *n = &t->notes;
    int64_t count = 0;
    if (wanted < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.series is %lld, expected 0 or more", name, (long long)wanted);
    TSR_TRY(tsr_tiff_describe(t->main.input, text, t->pages, wanted, n));
    t->list = (int64_t *)malloc((size_t)t->pages * sizeof *t->list);
    if (!t->list) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the numbers of %lld pages", name, (long long)t->pages);
    const int own = n->series > 0; /* OME-XML: every page counts */
    count = own ? n->series : list_series(t, n->contiguous ? 0 : wanted, t->list, &t->listed, &t->first);
    if (wanted >= count)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.series is %lld, expected 0 to %lld", name, (long long)wanted, (long long)count - 1);
    if (count > 1 && !options->series_given) {
        tsr_contents *contents;
        char shown[400];
        TSR_TRY(tsr_contents_create(&contents));
        tsr_status status = TSR_OK;
        int64_t first = 0, listed = 0;
        int64_t *list = (int64_t *)malloc((size_t)t->pages * sizeof *list);
        for (int64_t k = 0; k < count && !own && list && status == TSR_OK; k++) {
            list_series(t, k, list, &listed, &first);
            status = add_series(contents, k, &t->page[first], listed);
        }
        free(list);
        tsr_contents_show(contents, "series", shown, sizeof shown);
        tsr_contents_destroy(&contents);
        TSR_TRY(status);
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: holds %lld images%s%s: options.series 0 to %lld says which", name, (long long)count, *shown ? ": " : "", shown,
                 (long long)count - 1);
    }
    if (own) {
        for (int64_t i = 0; i < t->pages; i++) t->list[i] = i;
        t->listed = t->pages;
        for (int64_t i = n->order.pages - 1; i >= 0; i--)
            if (n->order.page[i] >= 0) t->first = n->order.page[i];
    }
    if (!n->order.axes || (!n->order.page && n->order.pages != t->listed && !(n->contiguous && t->pages == 1)))
        n->order = (tsr_tiff_order){ .axes = 1, .role = { 'z' }, .size = { t->listed }, .pages = t->listed };
    t->page_axes = n->order.axes;
    return TSR_OK;
}

static tsr_status check_page(const tiff *t, const tsr_input *input)
{
    const page *p = &t->page[t->first];
    const tsr_tiff_order *o = &t->notes.order;
    if (!p->width || !p->height || !p->samples)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: page %lld has %u x %u pixels of %u samples, expected 1 or more", tsr_input_name(input), (long long)t->first,
                 p->width, p->height, p->samples);
    if (p->compression == COMPRESSION_OJPEG || !TIFFIsCODECConfigured(p->compression))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: TIFF: packed by method %u, which this libtiff does not unpack: tifffile (imagecodecs) or bfconvert do",
                 tsr_input_name(input), p->compression);
    if (p->photometric == PHOTOMETRIC_YCBCR)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: TIFF: colours as luminance and chrominance (YCbCr), expected RGB or grey", tsr_input_name(input));
    for (int64_t i = 0; i < o->pages && t->page_axes; i++) {
        const int64_t number = o->page ? o->page[i] : i < t->listed ? t->list[i] : -1;
        const page *q = number >= 0 ? &t->page[number] : p;
        if (!same_kind(p, q) || q->planar != p->planar)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: page %lld is %u x %u of %u bits, page %lld of the same image %u x %u of %u bits", tsr_input_name(input),
                     (long long)number, q->width, q->height, q->bits, (long long)t->first, p->width, p->height, p->bits);
    }
    return TSR_OK;
}

/* Before memory is taken: could the file hold so much? */
static tsr_status check_size(const tiff *t, const tsr_input *input)
{
    const page *p = &t->page[t->first];
    const uint64_t most = p->compression == COMPRESSION_NONE ? 1 : p->compression == COMPRESSION_PACKBITS ? 64 : p->compression == COMPRESSION_ADOBE_DEFLATE || p->compression == COMPRESSION_DEFLATE ? 1040 : p->compression == COMPRESSION_LZW ? 4096 : 0;
    const uint64_t bits = (uint64_t)p->bits * p->samples * p->width; /* at most 2^64 / 2^16 */
    uint64_t bytes;
    if (__builtin_mul_overflow(bits / 8, (uint64_t)p->height, &bytes) || (most && t->level == 0 && bytes / most > t->main.size))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: TIFF page %lld asks for %u x %u x %u samples of %u bits, the file has %llu bytes", tsr_input_name(input),
                 (long long)t->first, p->width, p->height, p->samples, p->bits, (unsigned long long)t->main.size);
    return TSR_OK;
}

static tsr_status choose_level(tiff *t, const tsr_read_options *options)
{
    const int64_t levels = count_levels(t, t->first);
    const page *p = &t->page[t->first];
    uint64_t *sub = NULL;
    uint16_t subs = 0;
    page small = *p;
    t->level = options->level_given ? options->level : 0;
    if (t->level < 0 || t->level >= levels)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.level is %lld, expected 0%s: the file has %lld level%s", tsr_input_name(t->main.input), (long long)t->level,
                 levels > 1 ? " to the last of them" : "", (long long)levels, levels > 1 ? "s" : "");
    if (t->level) {
        if (!TIFFGetField(t->main.tif, TIFFTAG_SUBIFD, &subs, &sub) || t->level > subs || !TIFFSetSubDirectory(t->main.tif, sub[t->level - 1]))
            return fail_read(&t->main, "level", t->level);
        look_at(t->main.tif, &small, t->main.size);
    }
    t->width = small.width;
    t->height = small.height;
    if (!t->width || !t->height) TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: level %lld has no pixels", tsr_input_name(t->main.input), (long long)t->level);
    return TSR_OK;
}

/* Resolution, unit and origin become the geometry. */
static tsr_status place(tiff *t)
{
    tsr_tiff_notes *n = &t->notes;
    tsr_volume *holder = n->holder;
    double(*a)[4] = holder->geometry.affine;
    const page *p = &t->page[t->first];
    if (!n->placed && !n->has_xy) {
        const int named = tsr_volume_unit(holder) > 0 || n->contiguous;
        const double per = named ? 1 : t->resolution_unit == RESUNIT_CENTIMETER ? 10 : t->resolution_unit == RESUNIT_INCH ? 25.4 : 1;
        int known = 0;
        for (int k = 0; k < 2; k++) {
            if (t->spacing[k] == 0) continue;
            a[k][k] = per * t->spacing[k];
            known = 1;
        }
        if (known && !named && t->resolution_unit != RESUNIT_NONE && t->resolution_unit) TSR_TRY(tsr_volume_set_unit(holder, "mm"));
    }
    if (!n->placed && !n->has_z) a[2][2] = a[0][0]; /* nothing says it: as far as along x */
    for (int k = 0; k < 3 && !n->placed; k++) a[k][3] -= n->origin[k] * a[k][k];
    if (t->level) {
        const double fx = (double)p->width / (double)t->width, fy = (double)p->height / (double)t->height;
        for (int r = 0; r < 3; r++) {
            a[r][3] += a[r][0] * (fx - 1) / 2 + a[r][1] * (fy - 1) / 2; /* the centre of the first pixel of the level */
            a[r][0] *= fx;
            a[r][1] *= fy;
        }
    }
    return TSR_OK;
}

static void make_array(tiff *t, tsr_stored *a)
{
    const page *p = &t->page[t->first];
    const tsr_tiff_order *o = &t->notes.order;
    const int planes = p->planar == PLANARCONFIG_SEPARATE;
    *a = (tsr_stored){ .dtype = t->dtype, .field = "the TIFF pages", .user = t, .read = read_array, .close = tiff_close };
    for (int k = o->axes - 1; k >= 0; k--) {
        a->role[a->axes] = o->role[k];
        a->size[a->axes] = o->size[k];
        a->chunk[a->axes++] = 1;
    }
    const char roles[4] = { 'c', 'y', 'x', 'c' };
    const int64_t size[4] = { p->samples, t->height, t->width, p->samples };
    for (int k = 0; k < 4; k++) {
        if ((k == 0 || k == 3) && (p->samples == 1 || planes != (k == 0))) continue;
        a->role[a->axes] = roles[k];
        a->size[a->axes] = size[k];
        a->chunk[a->axes++] = k == 1 ? tsr_max64(t->rows, 1) : size[k];
    }
}

/* Pages of channels whose pixels have samples, too: one number for both. */
static tsr_status join_channels(tiff *t, const tsr_read_options *options, tsr_stored *a)
{
    int pages = -1, samples = -1;
    for (int k = 0; k < a->axes; k++)
        if (a->role[k] == 'c' && a->size[k] > 1) *(k < (int)t->page_axes ? &pages : &samples) = k;
    a->color = samples >= 0 && pages < 0 && a->size[samples] <= 4;
    for (int k = 0; k < (int)t->page_axes; k++) a->color &= a->size[k] == 1;
    if (pages < 0 || samples < 0) return TSR_OK;
    const int64_t per = a->size[samples], all = a->size[pages] * per, wanted = options->channel;
    if (!options->channel_given)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: holds %lld channels (%lld of %lld samples), a volume is one of them: options.channel 0 to %lld says which",
                 tsr_input_name(t->main.input), (long long)all, (long long)a->size[pages], (long long)per, (long long)all - 1);
    if (wanted < 0 || wanted >= all)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.channel is %lld, expected 0 to %lld", tsr_input_name(t->main.input), (long long)wanted, (long long)all - 1);
    a->role[pages] = a->role[samples] = '.';
    a->pick[pages] = wanted / per;
    a->pick[samples] = wanted % per;
    a->parts[TSR_PART_CHANNEL] = all;
    return TSR_OK;
}

/* Where the pages lie, if they do so plainly one behind another; -1: they do not. */
static int64_t plain_pages(const tiff *t)
{
    const page *p = &t->page[t->first];
    const tsr_tiff_order *o = &t->notes.order;
    const int64_t bytes = (int64_t)p->width * p->height * (p->bits / 8);
    if (p->plain < 0 || t->level) return -1;
    if (t->notes.contiguous && t->pages == 1) return p->plain; /* ImageJ writes one header for many, too */
    for (int64_t i = 0; i < o->pages; i++) {
        const int64_t number = o->page ? o->page[i] : t->list[i];
        if (number < 0 || t->page[number].plain != t->page[o->page ? o->page[0] : t->list[0]].plain + i * bytes) return -1;
    }
    return t->page[o->page ? o->page[0] : t->list[0]].plain;
}

static tsr_status read_plain(tiff *t, tsr_input *input, const tsr_read_options *options, int64_t offset, tsr_volume **volume)
{
    const page *p = &t->page[t->first];
    const tsr_tiff_order *o = &t->notes.order;
    static const char *const names[] = { "the TIFF pages", "channels" };
    tsr_axes axes = { 0 };
    tsr_layout layout = { .dtype = t->dtype, .swap = p->bits > 8 && TIFFIsByteSwapped(t->main.tif) };
    tsr_block block;
    tsr_axes_space(&axes, p->width);
    tsr_axes_space(&axes, p->height);
    for (int k = 0; k < o->axes; k++) {
        if (o->role[k] == 'z') tsr_axes_space(&axes, o->size[k]);
        else TSR_TRY(tsr_axes_part(&axes, o->role[k] == 't' ? TSR_PART_FRAME : TSR_PART_CHANNEL, o->size[k], names[o->role[k] == 'c'], input, options));
    }
    TSR_TRY(tsr_axes_read(&axes, input, offset, NULL, &layout, &block));
    TSR_TRY(tsr_volume_of_block(input, &layout, &t->notes.holder->geometry, &block, volume));
    memcpy((*volume)->parts, axes.parts, sizeof axes.parts);
    return TSR_OK;
}

static tsr_status keep_texts(tiff *t)
{
    static const struct { uint32_t tag; const char *key; } texts[] = { { TIFFTAG_SOFTWARE, "tiff.software" }, { TIFFTAG_DATETIME, "tiff.datetime" }, { TIFFTAG_ARTIST, "tiff.artist" } };
    const page *p = &t->page[t->first];
    const char *value;
    if (!TIFFSetSubDirectory(t->main.tif, t->page[0].offset)) return fail_read(&t->main, "page", 0);
    t->main.current = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (TIFFGetField(t->main.tif, texts[i].tag, &value) && value && *value && strncmp(value, "tessera", 7))
            TSR_TRY(tsr_volume_set_meta(t->notes.holder, texts[i].key, value));
    if (p->photometric == PHOTOMETRIC_MINISWHITE) TSR_TRY(tsr_volume_set_meta(t->notes.holder, "tiff.photometric", "0 is white"));
    if (p->photometric == PHOTOMETRIC_PALETTE) TSR_TRY(tsr_volume_set_meta(t->notes.holder, "tiff.photometric", "numbers of a palette"));
    if (t->main.warning[0]) TSR_TRY(tsr_volume_set_meta(t->notes.holder, "tiff.warning", t->main.warning));
    return TSR_OK;
}

static tsr_status build(tiff *t, tsr_input *input, const char *text, const tsr_read_options *options, tsr_stored *a)
{
    uint32_t rows = 0;
    TSR_TRY(choose_series(t, text, options));
    TSR_TRY(check_page(t, input));
    TSR_TRY(dtype_of(input, &t->page[t->first], &t->dtype));
    TSR_TRY(keep_texts(t));
    TSR_TRY(choose_level(t, options));
    TSR_TRY(check_size(t, input));
    TSR_TRY(place(t));
    if (TIFFIsTiled(t->main.tif)) TIFFGetField(t->main.tif, TIFFTAG_TILELENGTH, &rows);
    else TIFFGetFieldDefaulted(t->main.tif, TIFFTAG_ROWSPERSTRIP, &rows);
    t->rows = rows && rows < t->height ? rows : t->height;
    t->readers = tsr_parallel_default_threads();
    t->own = (reader *)calloc((size_t)t->readers, sizeof *t->own);
    if (!t->own) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    make_array(t, a);
    TSR_TRY(join_channels(t, options, a));
    return TSR_OK;
}

tsr_status tsr_tiff_read(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    tiff *t;
    char *text;
    tsr_stored array;
    tsr_volume *holder = NULL;
    *volume = NULL;
    TSR_TRY(tiff_open(input, &t, &text));
    tsr_status status = build(t, input, text, options, &array);
    free(text);
    if (status != TSR_OK) {
        tiff_close(t);
        return status;
    }
    holder = t->notes.holder;
    t->notes.holder = NULL;
    const int64_t plain = plain_pages(t);
    if (plain >= 0 && !options->box_given && !array.parts[TSR_PART_CHANNEL]) {
        t->notes.holder = holder;
        status = read_plain(t, input, options, plain, volume);
        t->notes.holder = NULL;
        tiff_close(t);
    } else if (t->notes.contiguous && t->pages == 1 && t->notes.order.pages > 1) {
        tiff_close(t);
        status = TSR_FAILED(TSR_ERROR_UNSUPPORTED, "%s: TIFF: many images of ImageJ behind one header, of which no box can be read", tsr_input_name(input));
    } else status = tsr_stored_volume(&array, input, options, &holder->geometry, volume);
    if (status == TSR_OK) status = tsr_volume_take_header(*volume, holder);
    tsr_volume_destroy(&holder);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    TSR_TRY(status);
    return TSR_OK;
}

#else

static tsr_status left_out(const tsr_input *input)
{
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: is a TIFF image, which this build does not read: it has no libtiff; package libtiff-dev", tsr_input_name(input));
}

tsr_status tsr_tiff_read(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    (void)options;
    *volume = NULL;
    return left_out(input);
}

tsr_status tsr_tiff_list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    (void)options, (void)contents;
    return left_out(input);
}

#endif
