/* The samples of a frame: as they lie in the file, run-length packed (PS3.5 annex G), or unpacked by the helper; then colours and lookup tables. */
#include "formats/dicom/dicom.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int32_t tsr_dicom_channels(const tsr_dicom_file *f) { return f->color == TSR_DICOM_PALETTE ? 3 : f->samples; }

tsr_dtype tsr_dicom_dtype(const tsr_dicom_file *f)
{
    if (f->real) return f->real == 4 ? TSR_F32 : TSR_F64;
    if (f->table_kind) return f->table_kind == 1 && f->table_bits == 8 ? TSR_U8 : TSR_U16;
    const int bits = f->allocated <= 8 ? 8 : f->allocated;
    return bits == 8 ? f->is_signed ? TSR_I8 : TSR_U8 : bits == 16 ? f->is_signed ? TSR_I16 : TSR_U16 : f->is_signed ? TSR_I32 : TSR_U32;
}

/* ---- run-length packed -------------------------------------------------------------------------------------------------------------------------------- */

static uint32_t little32(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }

/* One segment: a byte of each sample of a channel. */
static int unpack_runs(const uint8_t *from, const uint8_t *end, uint8_t *to, int64_t count, int64_t stride)
{
    int64_t done = 0;
    while (done < count) {
        if (from >= end) return 0;
        const int code = *from++;
        if (code == 128) continue;
        const int64_t n = tsr_min64(code < 128 ? code + 1 : 257 - code, count - done);
        if (end - from < (code < 128 ? n : 1)) return 0;
        uint8_t *at = to + done * stride;
        for (int64_t i = 0; i < n; i++) at[i * stride] = code < 128 ? from[i] : *from;
        from += code < 128 ? code + 1 : 1;
        done += n;
    }
    return 1;
}

/* Interleaved samples in native byte order. */
static tsr_status unpack_rle(const tsr_dicom_file *f, const char *name, const uint8_t *packed, int64_t size, uint8_t *to)
{
    const int bytes = f->allocated / 8, planes = bytes * f->samples;
    const int64_t count = (int64_t)f->rows * f->columns;
    if (size < 64 || f->allocated < 8)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: DICOM: run-length packed pixels of %lld bytes", name, (long long)size);
    const uint32_t segments = little32(packed);
    if (segments != (uint32_t)planes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: run-length packed pixels of %u segments, expected %d", name, segments, planes);
    for (int k = 0; k < planes; k++) {
        const uint32_t from = little32(packed + 4 + 4 * k),
                       end = k + 1 < planes ? little32(packed + 8 + 4 * k) : (uint32_t)tsr_min64(size, UINT32_MAX);
        const int channel = k / bytes, byte = k % bytes, place = tsr_host_big_endian() ? byte : bytes - 1 - byte; /* the high byte comes first */
        if (from < 64 || from > end || (int64_t)end > size ||
            !unpack_runs(packed + from, packed + end, to + (int64_t)channel * bytes + place, count, planes))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: segment %d of the run-length packed pixels is damaged (bytes %u to %u of %lld)", name, k, from,
                     end, (long long)size);
    }
    return TSR_OK;
}

/* ---- plain ------------------------------------------------------------------------------------------------------------------------------------------------ */

static void take_bits(const uint8_t *from, int64_t first, int64_t count, uint8_t *to)
{
    for (int64_t i = 0; i < count; i++) to[i] = from[(first + i) >> 3] >> ((first + i) & 7) & 1;
}

/* Y Y Cb Cr for two pixels: every pixel its own. */
static void widen_422(const uint8_t *from, int64_t pixels, uint8_t *to)
{
    for (int64_t i = 0; i + 1 < pixels; i += 2, from += 4, to += 6) {
        to[0] = from[0], to[1] = to[4] = from[2], to[2] = to[5] = from[3];
        to[3] = from[1];
    }
}

static void join_planes(const uint8_t *from, int64_t pixels, size_t element, uint8_t *to)
{
    for (int c = 0; c < 3; c++)
        tsr_stored_copy_line(from + (size_t)c * (size_t)pixels * element, (int64_t)element, to + (size_t)c * element, 3 * (int64_t)element, pixels,
                             element);
}

/* Samples of `stored` bits below others that mean something else. */
static void trim(const tsr_dicom_file *f, uint8_t *samples, int64_t count)
{
    const int shift = f->high + 1 - f->stored, up = f->allocated - 1 - f->high;
    if (f->real || f->allocated == 1 || f->stored == f->allocated) return;
    for (int64_t i = 0; i < count; i++) {
        if (f->allocated == 8) {
            const uint8_t v = (uint8_t)(samples[i] << up);
            samples[i] = f->is_signed ? (uint8_t)((int8_t)v >> (up + shift)) : (uint8_t)(v >> (up + shift));
        } else if (f->allocated == 16) {
            uint16_t v;
            memcpy(&v, samples + 2 * i, 2);
            v = (uint16_t)(v << up);
            v = f->is_signed ? (uint16_t)((int16_t)v >> (up + shift)) : (uint16_t)(v >> (up + shift));
            memcpy(samples + 2 * i, &v, 2);
        } else {
            uint32_t v;
            memcpy(&v, samples + 4 * i, 4);
            v <<= up;
            v = f->is_signed ? (uint32_t)((int32_t)v >> (up + shift)) : v >> (up + shift);
            memcpy(samples + 4 * i, &v, 4);
        }
    }
}

/* ---- colours -------------------------------------------------------------------------------------------------------------------------------------------- */

static uint8_t byte_of(double v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : floor(v + 0.5)); }

/* PS3.3 C.7.6.3.1.2: full range, as JPEG has it. */
static void ybr_to_rgb(uint8_t *p, int64_t pixels)
{
    for (int64_t i = 0; i < pixels; i++, p += 3) {
        const double y = p[0], b = p[1] - 128.0, r = p[2] - 128.0;
        p[0] = byte_of(y + 1.402 * r);
        p[1] = byte_of(y - 0.344136 * b - 0.714136 * r);
        p[2] = byte_of(y + 1.772 * b);
    }
}

static int64_t sample_at(const tsr_dicom_file *f, const uint8_t *samples, int64_t i)
{
    if (f->allocated <= 8) return f->is_signed ? (int64_t)(int8_t)samples[i] : (int64_t)samples[i];
    if (f->allocated == 16) {
        uint16_t v;
        memcpy(&v, samples + 2 * i, 2);
        return f->is_signed ? (int64_t)(int16_t)v : (int64_t)v;
    }
    uint32_t v;
    memcpy(&v, samples + 4 * i, 4);
    return f->is_signed ? (int64_t)(int32_t)v : (int64_t)v;
}

static void look_up(const tsr_dicom_file *f, const uint8_t *samples, int64_t pixels, uint8_t *to)
{
    const int tables = f->table_kind == 1 ? 3 : 1, wide = tsr_dicom_dtype(f) == TSR_U16;
    for (int64_t i = 0; i < pixels; i++) {
        const int64_t place = tsr_min64(tsr_max64(sample_at(f, samples, i) - f->first, 0), f->entries - 1);
        for (int c = 0; c < tables; c++) {
            const uint16_t v = f->table[(int64_t)c * f->entries + place];
            if (wide) memcpy(to + 2 * (i * tables + c), &v, 2);
            else to[i * tables + c] = (uint8_t)v;
        }
    }
}

/* ---- a frame ---------------------------------------------------------------------------------------------------------------------------------------------- */

/* The content of the items in [from, end), one behind another; a view where there is one. */
static tsr_status gather(const char *name, const uint8_t *bytes, int64_t from, int64_t end, uint8_t **made, const uint8_t **packed, int64_t *size)
{
    int64_t all = 0;
    int items = 0;
    *made = NULL;
    for (int64_t at = from; at + 8 <= end; items++) {
        const int64_t n = little32(bytes + at + 4);
        if (n > end - at - 8) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: DICOM: a piece of packed pixels of %lld bytes", name, (long long)n);
        all += n;
        at += 8 + n;
    }
    *size = all;
    *packed = bytes + from + 8;
    if (items < 2) return TSR_OK;
    uint8_t *to = *made = (uint8_t *)malloc((size_t)all + 1);
    if (!to) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld bytes of packed pixels", name, (long long)all);
    for (int64_t at = from; at + 8 <= end;) {
        const int64_t n = little32(bytes + at + 4);
        memcpy(to, bytes + at + 8, (size_t)n);
        to += n;
        at += 8 + n;
    }
    *packed = *made;
    return TSR_OK;
}

static tsr_status read_packed(const tsr_dicom_file *f, const char *name, const uint8_t *bytes, int32_t frame, tsr_dicom_helper **helper, uint8_t *to,
                              int64_t room, int *ybr, int *by_planes)
{
    uint8_t *made = NULL;
    const uint8_t *packed = NULL;
    int64_t size = 0;
    TSR_TRY(gather(name, bytes, f->fragment[frame], f->fragment[frame + 1], &made, &packed, &size));
    const tsr_status status = f->syntax == TSR_DICOM_RLE ? unpack_rle(f, name, packed, size, to)
                                                         : tsr_dicom_unpack(f, name, packed, size, helper, to, room, ybr, by_planes);
    free(made);
    TSR_TRY(status);
    return TSR_OK;
}

static void read_plain(const tsr_dicom_file *f, const uint8_t *bytes, int32_t frame, uint8_t *to)
{
    const int64_t pixels = (int64_t)f->rows * f->columns, count = pixels * f->samples;
    const size_t element = (size_t)f->allocated / 8;
    const uint8_t *from = bytes + f->pixels;
    if (f->allocated == 1) take_bits(from, frame * pixels, pixels, to);
    else if (f->color == TSR_DICOM_YBR_422) widen_422(from + 2 * frame * pixels, pixels, to);
    else if (f->words)
        for (int64_t i = 0; i < count; i++) {
            const int64_t at = frame * count + i, other = at ^ 1;
            to[i] = from[other < f->pixel_bytes ? other : at];
        }
    else {
        memcpy(to, from + (size_t)(frame * count) * element, (size_t)count * element);
        if (element > 1 && f->big_endian != tsr_host_big_endian()) tsr_swap_elements(to, count, element);
    }
}

tsr_status tsr_dicom_frame_read(const tsr_dicom_file *f, const char *name, const uint8_t *bytes, int64_t size, int32_t frame,
                                tsr_dicom_helper **helper, uint8_t *to)
{
    const int64_t pixels = (int64_t)f->rows * f->columns, count = pixels * f->samples;
    const size_t element = f->allocated < 8 ? 1 : (size_t)f->allocated / 8;
    const int64_t room = count * (int64_t)element;
    int ybr = f->color == TSR_DICOM_YBR || f->color == TSR_DICOM_YBR_422, by_planes = f->samples == 3 && f->planar && f->syntax == TSR_DICOM_NATIVE;
    uint8_t *other = NULL, *samples = to;
    tsr_status status;
    if (f->pixels + f->pixel_bytes > size || (f->fragment && f->fragment[f->frames] > size))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: DICOM: the file became shorter", name);
    if (f->color == TSR_DICOM_YBR_422) by_planes = 0;
    if (f->table_kind || by_planes || f->syntax == TSR_DICOM_PACKED) {
        samples = other = (uint8_t *)malloc((size_t)room);
        if (!other) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a frame of %lld bytes", name, (long long)room);
    }
    if (f->syntax == TSR_DICOM_NATIVE) read_plain(f, bytes, frame, samples);
    else TSR_TRY_GOTO(read_packed(f, name, bytes, frame, helper, samples, room, &ybr, &by_planes), done);
    trim(f, samples, count);
    if (f->table_kind) look_up(f, samples, pixels, to);
    else if (by_planes) join_planes(samples, pixels, element, to);
    else if (samples != to) memcpy(to, samples, (size_t)room);
    if (ybr && f->samples == 3 && element > 1)
        TSR_FAIL_GOTO(TSR_ERROR_UNSUPPORTED, done, "%s: DICOM: Y, Cb, Cr of %d bits, expected 8", name, f->allocated);
    if (ybr && f->samples == 3) ybr_to_rgb(to, pixels);
    status = TSR_OK;
done:
    free(other);
    return status;
}
