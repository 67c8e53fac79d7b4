/* compress/container.c: the container of compressed volumes: header, metadata, directory, pieces. docs/formats/tsc.md. */
#include <math.h>
#include <stdlib.h>

#include "io/xxh64.h"
#include "compress/codec.h"
#include "compress/raw_bricks.h"

enum {
    MAJOR = 1,
    MINOR = 0,
    MINOR_RANS = 1, /* that brought the coder rans */
    MINOR_RAW = 2,  /* and its raw bricks */
    MINOR_WIDE = 3, /* images of u16, or of two channels */
    MINOR_LONG = 4, /* raw bricks of the other coders, and bricks of more than 256 along an axis */
    AT_MAJOR = 8,
    AT_MINOR = 10,
    AT_HEADER = 12,
    AT_DTYPE = 16,
    AT_KIND = 20,
    AT_MAP = 24,
    AT_CODER = 28,
    AT_SIZE = 32,
    AT_AFFINE = 56,
    AT_SPACE = 152,
    AT_LEVELS = 156,
    AT_SLOPE = 160,
    AT_INTERCEPT = 168,
    AT_BASE = 176,
    AT_STEP = 184,
    AT_ERROR = 192,
    AT_EDGE = 200,
    AT_LAYERS = 212,
    AT_ORDER = 216,
    AT_EXCEPTIONS = 220,
    AT_META_COUNT = 224,
    AT_META_BYTES = 228,
    AT_DIRECTORY = 232,
    AT_SUM = 248,
    MOST_META = 65535,
    MOST_PASSES = TSR_PLANES_PASSES
};

void tsr_tsc_clear(tsr_tsc *t)
{
    free(t->piece);
    tsr_volume_destroy(&t->meta);
    t->piece = NULL;
}

tsr_status tsr_tsc_complete(tsr_tsc *t, const char *name)
{
    const int wavelet = t->coder != TSR_COMPRESS_PREDICT;
    int64_t voxels = 1;
    t->brick_count = 1;
    for (int a = 0; a < 3; a++) {
        const int64_t grain = wavelet && !(t->image && a == 2) ? (int64_t)1 << t->levels : 1;
        if (t->edge[a] < 1 || t->edge[a] > TSR_TSC_LONG || (t->edge[a] < t->size[a] && t->edge[a] % grain))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: brick is %d voxels along %c, expected 1 to %d%s", name, t->edge[a], 'x' + a,
                     t->edge[a] > TSR_TSC_EDGE ? TSR_TSC_LONG : TSR_TSC_EDGE, wavelet ? " and a multiple of 2^levels" : "");
        t->bricks[a] = tsr_ceil_div(t->size[a], t->edge[a]);
        voxels *= t->edge[a];
        if (t->bricks[a] > INT32_MAX / t->brick_count) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: more than %d bricks, expected larger ones", name, INT32_MAX);
        t->brick_count *= t->bricks[a];
    }
    const int32_t most = t->coder == TSR_COMPRESS_RANS ? TSR_RANS_BRICK : TSR_TSC_BRICK;
    if (voxels > most) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: bricks of %lld voxels, expected at most %d", name, (long long)voxels, most);
    if (t->coder == TSR_COMPRESS_RANS && t->edge[0] > TSR_TSC_EDGE && t->edge[1] > 2 && t->edge[2] > 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: bricks of %d x %d x %d with coder rans, expected at most %d along x", name, t->edge[0], t->edge[1],
                 t->edge[2], (int)TSR_TSC_EDGE);
    t->resolutions = wavelet ? t->levels + 1 : 1;
    t->streams = t->resolutions + t->exceptions;
    t->pieces = t->brick_count * t->streams * t->layers;
    return TSR_OK;
}

int64_t tsr_tsc_ordered(const tsr_tsc *t, int64_t k)
{
    const int64_t n = t->brick_count;
    int64_t stream, layer, brick;
    if (t->exceptions && k < n * t->layers) return ((k % n) * t->streams + t->resolutions) * t->layers + k / n;
    if (t->exceptions) k -= n * t->layers;
    brick = k % n;
    k /= n;
    if (t->order == TSR_COMPRESS_QUALITY) {
        stream = k % t->resolutions;
        layer = k / t->resolutions;
    } else {
        layer = k % t->layers;
        stream = k / t->layers;
    }
    return (brick * t->streams + stream) * t->layers + layer;
}

/* ---- directory ------------------------------------------------------------------------------------------------------------------------------------- */

static size_t put_number(uint8_t *to, uint32_t v)
{
    size_t n = 0;
    for (; v > 127; v >>= 7) to[n++] = (uint8_t)(v | 128);
    to[n++] = (uint8_t)v;
    return n;
}

/* Bytes read, 0 if there is no number. */
static size_t get_number(const uint8_t *from, const uint8_t *end, uint32_t *v)
{
    uint64_t got = 0;
    for (size_t n = 0; n < 5 && from + n < end; n++) {
        got |= (uint64_t)(from[n] & 127) << 7 * n;
        if (from[n] & 128) continue;
        *v = (uint32_t)got;
        return got > UINT32_MAX ? 0 : n + 1;
    }
    return 0;
}

/* An entry is the number of bytes and, if there are any, of passes, and the checksum. */
static size_t put_entry(uint8_t *to, const tsr_tsc_piece *p)
{
    size_t n = put_number(to, p->bytes);
    if (!p->bytes) return n;
    to[n] = p->passes;
    tsr_put_u32(to + n + 1, p->sum);
    return n + 5;
}

static uint32_t piece_sum(const uint8_t *bytes, size_t size, int64_t number) { return (uint32_t)tsr_xxh64(bytes, size, (uint64_t)number); }

static tsr_status read_directory(tsr_tsc *t, const char *name, const uint8_t *from, size_t size)
{
    const uint8_t *at = from, *end = from + size;
    if (t->pieces > (int64_t)size)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: a directory of %zu bytes, expected at least 1 for each of %lld pieces", name, size, (long long)t->pieces);
    t->piece = (tsr_tsc_piece *)calloc((size_t)t->pieces, sizeof *t->piece);
    if (!t->piece) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld pieces", name, (long long)t->pieces);
    for (int64_t k = 0; k < t->pieces; k++) {
        tsr_tsc_piece *p = &t->piece[k];
        const size_t n = get_number(at, end, &p->bytes);
        at += n;
        if (!n || (p->bytes && end - at < 5)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the directory ends in piece %lld", name, (long long)k);
        if (!p->bytes) continue;
        p->passes = at[0];
        p->sum = tsr_get_u32(at + 1);
        at += 5;
        if (p->passes == TSR_RAW_PASSES && (t->coder == TSR_COMPRESS_PREDICT || t->coder == TSR_COMPRESS_PLANES) && t->map != TSR_TSC_REAL) continue;
        if (p->passes > MOST_PASSES)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: piece %lld has %d passes, expected at most %d", name, (long long)k, p->passes, MOST_PASSES);
        if (t->coder == TSR_COMPRESS_RANS && (p->bytes & 1)) /* devices read numbers of 16 bits, wherever a piece begins */
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: piece %lld has %u bytes, expected an even number with coder rans", name, (long long)k, p->bytes);
    }
    if (at != end) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %zd bytes behind the directory's last piece, expected none", name, (ssize_t)(end - at));
    return TSR_OK;
}

/* Offsets follow from the sizes and the order of the file. */
static void place(tsr_tsc *t)
{
    int64_t at = t->first;
    for (int64_t k = 0; k < t->pieces; k++) {
        tsr_tsc_piece *p = &t->piece[tsr_tsc_ordered(t, k)];
        p->offset = at;
        at += p->bytes;
    }
    t->bytes = at;
}

/* ---- header ---------------------------------------------------------------------------------------------------------------------------------------- */

/* The oldest version that has what the file needs. */
static uint16_t minor_of(const tsr_tsc *t)
{
    const int rans = t->coder == TSR_COMPRESS_RANS;
    for (int a = 0; a < 3; a++)
        if (t->edge[a] > TSR_TSC_EDGE) return MINOR_LONG;
    if (t->raw && !rans) return MINOR_LONG;
    if (t->image && (t->dtype != TSR_U8 || t->size[2] == 2)) return MINOR_WIDE;
    if (t->raw) return MINOR_RAW;
    return rans ? MINOR_RANS : MINOR;
}

static void put_header(const tsr_tsc *t, uint8_t h[TSR_TSC_HEADER], uint32_t header, uint32_t meta_count, uint32_t meta_bytes, uint64_t directory)
{
    memset(h, 0, TSR_TSC_HEADER);
    memcpy(h, TSR_TSC_MAGIC, 8);
    tsr_put_u16(h + AT_MAJOR, MAJOR);
    tsr_put_u16(h + AT_MINOR, minor_of(t));
    tsr_put_u32(h + AT_HEADER, header);
    tsr_put_u32(h + AT_DTYPE, (uint32_t)t->dtype);
    tsr_put_u32(h + AT_KIND, (uint32_t)t->image);
    tsr_put_u32(h + AT_MAP, (uint32_t)t->map);
    tsr_put_u32(h + AT_CODER, (uint32_t)t->coder);
    for (int k = 0; k < 3; k++) tsr_put_u64(h + AT_SIZE + 8 * k, (uint64_t)t->size[k]);
    for (int k = 0; k < 12; k++) tsr_put_f64(h + AT_AFFINE + 8 * k, t->geometry.affine[k / 4][k % 4]);
    tsr_put_u32(h + AT_SPACE, (uint32_t)t->geometry.space);
    tsr_put_u32(h + AT_LEVELS, (uint32_t)t->levels);
    tsr_put_f64(h + AT_SLOPE, t->slope);
    tsr_put_f64(h + AT_INTERCEPT, t->intercept);
    if (t->map == TSR_TSC_REAL || t->dtype >= TSR_F32) tsr_put_f64(h + AT_BASE, t->base_real);
    else tsr_put_u64(h + AT_BASE, (uint64_t)t->base);
    tsr_put_f64(h + AT_STEP, t->step);
    tsr_put_f64(h + AT_ERROR, t->max_error);
    for (int k = 0; k < 3; k++) tsr_put_u32(h + AT_EDGE + 4 * k, (uint32_t)t->edge[k]);
    tsr_put_u32(h + AT_LAYERS, (uint32_t)t->layers);
    tsr_put_u32(h + AT_ORDER, (uint32_t)t->order);
    tsr_put_u32(h + AT_EXCEPTIONS, (uint32_t)t->exceptions);
    tsr_put_u32(h + AT_META_COUNT, meta_count);
    tsr_put_u32(h + AT_META_BYTES, meta_bytes);
    tsr_put_u64(h + AT_DIRECTORY, directory);
}

/* A field that must lie within [least, most]. */
static tsr_status get_field(const char *name, const uint8_t *h, int at, const char *field, uint32_t least, uint32_t most, int32_t *value)
{
    const uint32_t v = tsr_get_u32(h + at);
    if (v < least || v > most) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s is %u, expected %u to %u", name, field, v, least, most);
    *value = (int32_t)v;
    return TSR_OK;
}

/* Bytes of the header of a file that is written: the tables of rans follow the fields that all have. */
static size_t header_size(const tsr_tsc *t) { return TSR_TSC_HEADER + (t->coder == TSR_COMPRESS_RANS ? TSR_RANS_MODEL_BYTES : 0); }

static void put_model(const tsr_rans_model *m, uint8_t *to)
{
    for (int c = 0; c < TSR_RANS_TABLES; c++)
        for (int k = 0; k < TSR_RANS_TOKENS; k++, to += 2) tsr_put_u16(to, m->frequency[c][k]);
}

static tsr_status get_model(const char *name, const uint8_t *h, uint32_t header, tsr_rans_model *m)
{
    const uint8_t *at = h + TSR_TSC_HEADER;
    if (header < TSR_TSC_HEADER + TSR_RANS_MODEL_BYTES)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: header of %u bytes, expected at least %d with coder rans", name, header,
                 TSR_TSC_HEADER + TSR_RANS_MODEL_BYTES);
    for (int c = 0; c < TSR_RANS_TABLES; c++) {
        uint32_t all = 0, least = TSR_RANS_SLOTS;
        for (int k = 0; k < TSR_RANS_TOKENS; k++, at += 2) {
            const uint16_t f = m->frequency[c][k] = tsr_get_u16(at);
            all += f;
            least = f < least ? f : least;
        }
        if (all != TSR_RANS_SLOTS || !least)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: frequencies of table %d add up to %u, the least is %u, expected %d and at least 1", name, c, all, least,
                     (int)TSR_RANS_SLOTS);
    }
    return TSR_OK;
}

/* What the map needs, and what decoding computes with. */
static tsr_status check_map(const tsr_tsc *t, const char *name)
{
    const int real = t->dtype >= TSR_F32;
    const int fits = t->map == TSR_TSC_INTEGER ? !real : t->map == TSR_TSC_ORDERED ? t->dtype == TSR_F32 : 1;
    if (!fits || (t->map == TSR_TSC_REAL && t->coder != TSR_COMPRESS_PLANES))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: map %d with voxels of %s and coder %d, expected one that fits", name, t->map, tsr_dtype_name(t->dtype),
                 t->coder);
    if (t->exceptions && (!real || (t->map != TSR_TSC_STEPS && t->map != TSR_TSC_REAL)))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: exceptions with map %d and voxels of %s, expected them with map 2 or 3 and f32 or f64 only", name, t->map,
                 tsr_dtype_name(t->dtype));
    if (!(t->step > 0) || !(t->step < 1e300) || !isfinite(t->base_real) || !(t->max_error >= 0) || t->slope == 0 || !isfinite(t->slope) ||
        !isfinite(t->intercept))
        TSR_FAIL(TSR_ERROR_FORMAT,
                 "%s: step %g, base %g, largest error %g, slope %g, intercept %g: expected finite numbers, step above 0, slope not 0", name, t->step,
                 t->base_real, t->max_error, t->slope, t->intercept);
    if (t->map == TSR_TSC_STEPS && !real && (t->step != floor(t->step) || !(t->step < 0x1p62)))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: step is %g, expected a whole number for integers", name, t->step);
    return TSR_OK;
}

static tsr_status get_header(const char *name, const uint8_t *h, tsr_tsc *t)
{
    int32_t dtype = 0, space = 0, major = tsr_get_u16(h + AT_MAJOR);
    if (major != MAJOR) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: version is %d.%d, expected 1.x", name, major, tsr_get_u16(h + AT_MINOR));
    TSR_TRY(get_field(name, h, AT_DTYPE, "type", 0, TSR_DTYPE_COUNT - 1, &dtype));
    TSR_TRY(get_field(name, h, AT_KIND, "kind", 0, 1, &t->image));
    TSR_TRY(get_field(name, h, AT_MAP, "map", 0, TSR_TSC_MAPS - 1, &t->map));
    TSR_TRY(get_field(name, h, AT_CODER, "coder", TSR_COMPRESS_PREDICT, TSR_COMPRESS_CODERS - 1, &t->coder));
    TSR_TRY(get_field(name, h, AT_SPACE, "space", 0, TSR_SPACE_LPS, &space));
    TSR_TRY(get_field(name, h, AT_LEVELS, "levels", 0, TSR_TSC_LEVELS, &t->levels));
    TSR_TRY(get_field(name, h, AT_LAYERS, "layers", 1, TSR_TSC_LAYERS, &t->layers));
    if (t->layers != 1 && t->coder != TSR_COMPRESS_PLANES)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: layers is %d with coder %s, expected 1", name, t->layers,
                 tsr_compress_coder_name((tsr_compress_coder)t->coder));
    TSR_TRY(get_field(name, h, AT_ORDER, "order", 0, TSR_COMPRESS_ORDERS - 1, &t->order));
    TSR_TRY(get_field(name, h, AT_EXCEPTIONS, "exceptions", 0, 1, &t->exceptions));
    for (int k = 0; k < 3; k++) {
        TSR_TRY(get_field(name, h, AT_EDGE + 4 * k, "brick", 1, TSR_TSC_LONG, &t->edge[k]));
        t->size[k] = tsr_get_i64(h + AT_SIZE + 8 * k);
        if (t->size[k] < 1) TSR_FAIL(TSR_ERROR_FORMAT, "%s: size along %c is %lld, expected at least 1", name, 'x' + k, (long long)t->size[k]);
    }
    t->dtype = (tsr_dtype)dtype;
    for (int k = 0; k < 12; k++) t->geometry.affine[k / 4][k % 4] = tsr_get_f64(h + AT_AFFINE + 8 * k);
    t->geometry.space = (tsr_space)space;
    t->slope = tsr_get_f64(h + AT_SLOPE);
    t->intercept = tsr_get_f64(h + AT_INTERCEPT);
    if (t->map == TSR_TSC_REAL || t->dtype >= TSR_F32) t->base_real = tsr_get_f64(h + AT_BASE);
    else t->base = tsr_get_i64(h + AT_BASE);
    t->step = tsr_get_f64(h + AT_STEP);
    t->max_error = tsr_get_f64(h + AT_ERROR);
    TSR_TRY(check_map(t, name));
    if (t->image && (!tsr_tsc_takes_image(t->dtype) || t->size[2] > 4 || t->size[0] > INT32_MAX || t->size[1] > INT32_MAX))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: an image of %lld channels of %s, expected 1 to 4 of u8 or u16", name, (long long)t->size[2],
                 tsr_dtype_name(t->dtype));
    if (t->image && t->coder != TSR_COMPRESS_PREDICT && t->edge[2] != 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: bricks of %d channels of an image, expected 1 with wavelets", name, t->edge[2]);
    if (tsr_geometry_check(&t->geometry) != TSR_OK) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s", name, tsr_error_message());
    int64_t bytes;
    if (tsr_size_bytes((tsr_size3){ t->size[0], t->size[1], t->size[2] }, tsr_dtype_size(t->dtype), name, &bytes) != TSR_OK ||
        tsr_tsc_complete(t, name) != TSR_OK)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s", tsr_error_message());
    return TSR_OK;
}

static tsr_status read_meta(const char *name, const uint8_t *at, size_t size, uint32_t count, tsr_volume *holder)
{
    const uint8_t *end = at + size;
    for (uint32_t k = 0; k < count; k++) {
        char *text[2];
        if (end - at < 8) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the metadata end in entry %u of %u", name, k, count);
        const uint32_t length[2] = { tsr_get_u32(at), tsr_get_u32(at + 4) };
        at += 8;
        if (!length[0] || length[0] > MOST_META || length[1] > MOST_META || (ptrdiff_t)length[0] + (ptrdiff_t)length[1] > end - at)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: metadata %u: %u and %u bytes, expected 1 to %d, to %d, and no more than there are", name, k, length[0],
                     length[1], (int)MOST_META, (int)MOST_META);
        for (int i = 0; i < 2; i++) {
            if (memchr(at, 0, length[i])) {
                if (i) free(text[0]);
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: metadata %u holds a zero byte", name, k);
            }
            text[i] = (char *)malloc((size_t)length[i] + 1);
            if (!text[i]) {
                if (i) free(text[0]);
                TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for metadata", name);
            }
            memcpy(text[i], at, length[i]);
            text[i][length[i]] = 0;
            at += length[i];
        }
        const tsr_status status = tsr_volume_set_meta(holder, text[0], text[1]);
        free(text[0]);
        free(text[1]);
        TSR_TRY(status);
    }
    if (at != end) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %zd bytes behind the metadata, expected none", name, (ssize_t)(end - at));
    return TSR_OK;
}

int tsr_tsc_piece_good(const tsr_tsc *t, int64_t k, const uint8_t *content)
{
    const tsr_tsc_piece *p = &t->piece[k];
    return p->there && (!p->bytes || piece_sum(content + p->offset, p->bytes, k) == p->sum);
}

static tsr_status read_all(tsr_input *input, tsr_tsc *t)
{
    const char *name = tsr_input_name(input);
    const uint8_t *content;
    size_t size;
    TSR_TRY(tsr_input_all(input, &content, &size));
    if (size < TSR_TSC_HEADER || memcmp(content, TSR_TSC_MAGIC, 8)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: not the header of a .tsc file", name);
    const uint32_t header = tsr_get_u32(content + AT_HEADER), meta_bytes = tsr_get_u32(content + AT_META_BYTES);
    const uint64_t directory = tsr_get_u64(content + AT_DIRECTORY);
    if (header < TSR_TSC_HEADER || header > 65536) TSR_FAIL(TSR_ERROR_FORMAT, "%s: header of %u bytes, expected 256 to 65536", name, header);
    if (header > size || meta_bytes > size - header || directory > size - header - meta_bytes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file has %zu bytes, expected a header of %u, metadata of %u and a directory of %llu", name, size, header,
                 meta_bytes, (unsigned long long)directory);
    const uint64_t sum = tsr_xxh64(content + TSR_TSC_HEADER, header - TSR_TSC_HEADER + meta_bytes + (size_t)directory, tsr_xxh64(content, AT_SUM, 0)),
                   said = tsr_get_u64(content + AT_SUM);
    if (sum != said)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: checksum of header and directory %016llx, expected %016llx: the file is damaged", name,
                 (unsigned long long)sum, (unsigned long long)said);
    TSR_TRY(get_header(name, content, t));
    if (t->coder == TSR_COMPRESS_RANS) TSR_TRY(get_model(name, content, header, &t->model));
    TSR_TRY(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 1, 1, 1 }, NULL, &t->meta));
    TSR_TRY(read_meta(name, content + header, meta_bytes, tsr_get_u32(content + AT_META_COUNT), t->meta));
    TSR_TRY(read_directory(t, name, content + header + meta_bytes, (size_t)directory));
    t->first = (int64_t)header + meta_bytes + (int64_t)directory;
    place(t);
    if ((int64_t)size > t->bytes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld bytes behind the last piece, expected none: the file has %zu, its directory accounts for %lld", name,
                 (long long)((int64_t)size - t->bytes), size, (long long)t->bytes);
    for (int64_t k = 0; k < t->pieces; k++) t->piece[k].there = t->piece[k].offset + t->piece[k].bytes <= (int64_t)size;
    return TSR_OK;
}

tsr_status tsr_tsc_read(tsr_input *input, tsr_tsc *t)
{
    memset(t, 0, sizeof *t);
    const tsr_status status = read_all(input, t);
    if (status != TSR_OK) tsr_tsc_clear(t);
    return status == TSR_OK ? TSR_OK : tsr_frame_at(status, __func__, __FILE__, __LINE__);
}

/* ---- writing --------------------------------------------------------------------------------------------------------------------------------------- */

static size_t meta_size(const tsr_volume *v)
{
    size_t size = 0;
    const char *key, *value;
    for (int32_t i = 0; v && tsr_volume_meta_at(v, i, &key, &value); i++) size += 8 + strlen(key) + strlen(value);
    return size;
}

int64_t tsr_tsc_measure(const tsr_tsc *t, const tsr_volume *volume)
{
    int64_t bytes = (int64_t)header_size(t) + (int64_t)meta_size(volume);
    uint8_t entry[16];
    for (int64_t k = 0; k < t->pieces; k++) bytes += (int64_t)put_entry(entry, &t->piece[k]) + t->piece[k].bytes;
    return bytes;
}

static int is_raw(const tsr_tsc *t, int64_t k, const uint8_t *bytes)
{
    const int said = t->coder == TSR_COMPRESS_RANS || t->coder == TSR_COMPRESS_FAST;
    if (said && t->layers == 1 && k % t->streams < t->resolutions) return tsr_raw_said(bytes[0]);
    return t->piece[k].passes == TSR_RAW_PASSES;
}

/* Pieces of a spool that were read need no memory: it is given back from time to time. */
static void rest_pieces(tsr_spool *spool, uint32_t bytes, int64_t *read)
{
    *read += bytes;
    if (!spool || *read < (int64_t)32 << 20) return;
    tsr_spool_rest(spool);
    *read = 0;
}

tsr_status tsr_tsc_write(tsr_tsc *t, const tsr_volume *volume, const uint8_t *const *bytes, tsr_spool *spool, const char *path,
                         const tsr_write_options *options, int64_t *file_bytes)
{
    int64_t read = 0;
    uint8_t h[TSR_TSC_HEADER];
    tsr_output *out = NULL;
    const char *key, *value;
    const size_t meta = meta_size(volume), header = header_size(t), more = header - TSR_TSC_HEADER;
    uint32_t count = 0;
    if (meta > UINT32_MAX) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %zu bytes of metadata, expected at most %u", path, meta, UINT32_MAX);
    uint8_t *block = (uint8_t *)malloc(more + meta + (size_t)t->pieces * 10 + 1), *at = block;
    if (!block) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the directory of %lld pieces", path, (long long)t->pieces);
    if (more) put_model(&t->model, block);
    at += more;
    for (int32_t i = 0; volume && tsr_volume_meta_at(volume, i, &key, &value); i++, count++) {
        const size_t k = strlen(key), v = strlen(value);
        if (k > MOST_META || v > MOST_META) {
            free(block);
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: metadata '%.40s' of %zu bytes, expected at most %d", path, key, v, (int)MOST_META);
        }
        tsr_put_u32(at, (uint32_t)k);
        tsr_put_u32(at + 4, (uint32_t)v);
        memcpy(at + 8, key, k);
        memcpy(at + 8 + k, value, v);
        at += 8 + k + v;
    }
    for (int64_t k = 0; k < t->pieces; k++) {
        if (t->piece[k].bytes) t->piece[k].sum = piece_sum(bytes[k], t->piece[k].bytes, k);
        if (t->piece[k].bytes) t->raw |= is_raw(t, k, bytes[k]);
        at += put_entry(at, &t->piece[k]);
        rest_pieces(spool, t->piece[k].bytes, &read);
    }
    put_header(t, h, (uint32_t)header, count, (uint32_t)meta, (uint64_t)(at - block) - meta - more);
    tsr_put_u64(h + AT_SUM, tsr_xxh64(block, (size_t)(at - block), tsr_xxh64(h, AT_SUM, 0)));
    t->first = TSR_TSC_HEADER + (at - block);
    place(t);
    tsr_status status = tsr_output_open(path, options, &out);
    if (status == TSR_OK) {
        tsr_output_write(out, h, sizeof h);
        status = tsr_output_write(out, block, (size_t)(at - block));
        for (int64_t k = 0; k < t->pieces && status == TSR_OK; k++) {
            const int64_t i = tsr_tsc_ordered(t, k);
            if (t->piece[i].bytes) status = tsr_output_write(out, bytes[i], t->piece[i].bytes);
            rest_pieces(spool, t->piece[i].bytes, &read);
        }
        status = tsr_output_finish(&out, status);
    }
    free(block);
    *file_bytes = t->bytes;
    TSR_TRY(status);
    return TSR_OK;
}

tsr_compress_info tsr_tsc_describe(const tsr_tsc *t)
{
    const int exact = t->map == TSR_TSC_INTEGER || t->map == TSR_TSC_ORDERED;
    return (tsr_compress_info){ .image = t->image,
                                 .dtype = t->dtype,
                                 .size = { t->size[0], t->size[1], t->size[2] },
                                 .brick = { t->edge[0], t->edge[1], t->edge[2] },
                                 .bricks = { t->bricks[0], t->bricks[1], t->bricks[2] },
                                 .coder = (tsr_compress_coder)t->coder,
                                 .order = (tsr_compress_order)t->order,
                                 .levels = t->levels,
                                 .layers = t->layers,
                                 .lossless = exact,
                                 .max_error = exact                     ? 0
                                              : t->map == TSR_TSC_STEPS ? t->max_error * fabs(t->slope)
                                                                        : HUGE_VAL,
                                 .psnr = (double)NAN,
                                 .whole_bytes = t->bytes,
                                 .pieces = t->pieces };
}
