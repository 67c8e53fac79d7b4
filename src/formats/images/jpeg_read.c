/* formats/images/jpeg_read.c: JPEG pictures through libjpeg(-turbo): ITU-T T.81, JFIF, Adobe's CMYK; the orientation of EXIF 2.3, 4.6.4. The slow, exact inverse
 * transform, so that a picture has the same bits everywhere. */
#include "formats/images/jpeg.h"

#ifdef TSR_HAVE_JPEG

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "io/byte_order.h"

enum { SCANS_MOST = 200 }; /* a progressive picture has some ten; a hostile one thousands, each as long as the picture */

typedef struct reader {
    struct jpeg_error_mgr errors; /* first: libjpeg gives it back */
    struct jpeg_progress_mgr progress;
    struct jpeg_decompress_struct jpeg;
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
    int damaged; /* warnings that mean that pixels are made up */
    tsr_samples *samples;
    uint8_t *row;
    int orientation;
} reader;

static void on_error(j_common_ptr common)
{
    reader *r = (reader *)common->err;
    common->err->format_message(common, r->message);
    longjmp(r->back, 1);
}

static void on_warning(j_common_ptr common, int level)
{
    reader *r = (reader *)common->err;
    if (level >= 0 || common->err->msg_code == JWRN_EXTRANEOUS_DATA || common->err->msg_code == JWRN_JFIF_MAJOR ||
        common->err->msg_code == JWRN_ADOBE_XFORM)
        return;
    if (!r->damaged++) common->err->format_message(common, r->message);
}

static void on_progress(j_common_ptr common)
{
    reader *r = (reader *)common->err;
    if (!common->is_decompressor || r->jpeg.input_scan_number <= SCANS_MOST) return;
    snprintf(r->message, sizeof r->message, "more than %d scans", (int)SCANS_MOST);
    longjmp(r->back, 1);
}

/* ---- orientation ------------------------------------------------------------------------------------------------------------------ */

/* 1 to 8; 1 where the file does not say. */
static int orientation_of(const struct jpeg_decompress_struct *jpeg)
{
    for (const struct jpeg_marker_struct *m = jpeg->marker_list; m; m = m->next) {
        const uint8_t *tiff = m->data + 6;
        const size_t size = m->data_length < 6 ? 0 : m->data_length - 6;
        if (m->marker != JPEG_APP0 + 1 || size < 8 || memcmp(m->data, "Exif\0", 6) != 0) continue;
        const int swap = (tiff[0] == 'M') != tsr_host_big_endian();
        const size_t first = tsr_read_u32(tiff + 4, swap);
        if (first > size - 2) continue;
        const size_t entries = tsr_read_u16(tiff + first, swap);
        for (size_t k = 0; k < entries && first + 2 + 12 * (k + 1) <= size; k++) {
            const uint8_t *e = tiff + first + 2 + 12 * k;
            if (tsr_read_u16(e, swap) != 0x112) continue;
            const uint16_t value = tsr_read_u16(e + 8, swap);
            return value >= 1 && value <= 8 ? value : 1;
        }
    }
    return 1;
}

/* Where pixel x, y of the file stands in a picture turned by an orientation. */
static void place_of(int orientation, int32_t width, int32_t height, int32_t x, int32_t y, int32_t to[2])
{
    const int32_t left = x, right = width - 1 - x, top = y, bottom = height - 1 - y;
    const int32_t all[9][2] = { { left, top }, { left, top },    { right, top },    { right, bottom }, { left, bottom },
                                { top, left }, { bottom, left }, { bottom, right }, { top, right } };
    memcpy(to, all[orientation], sizeof all[0]);
}

static tsr_status turn(const tsr_input *input, int orientation, tsr_samples *s)
{
    tsr_samples turned;
    const int aside = orientation > 4, n = s->channels;
    TSR_TRY(tsr_raster_room(input, aside ? s->height : s->width, aside ? s->width : s->height, n, 8, &turned));
    for (int32_t y = 0; y < s->height; y++)
        for (int32_t x = 0; x < s->width; x++) {
            int32_t to[2];
            place_of(orientation, s->width, s->height, x, y, to);
            memcpy((uint8_t *)turned.at + ((size_t)to[1] * (size_t)turned.width + (size_t)to[0]) * (size_t)n,
                   (const uint8_t *)s->at + ((size_t)y * (size_t)s->width + (size_t)x) * (size_t)n, (size_t)n);
        }
    free(s->at);
    *s = turned;
    tsr_remark("%s: turned as its EXIF orientation (%d) asks", tsr_input_name(input), orientation);
    return TSR_OK;
}

/* ---- pixels ----------------------------------------------------------------------------------------------------------------------- */

/* Adobe's files have their inks inverted: 255 is none. */
static void rgb_of_inks(const uint8_t *inks, int inverted, int32_t width, uint8_t *to)
{
    for (int32_t x = 0; x < width; x++)
        for (int k = 0; k < 3; k++) {
            const int c = inverted ? inks[4 * x + k] : 255 - inks[4 * x + k], black = inverted ? inks[4 * x + 3] : 255 - inks[4 * x + 3];
            to[3 * x + k] = (uint8_t)((c * black + 127) / 255);
        }
}

/* May jump to the reader's `back`. The samples' room is the caller's to free. */
static tsr_status unpack(const tsr_input *input, reader *r)
{
    struct jpeg_decompress_struct *j = &r->jpeg;
    (void)jpeg_read_header(j, TRUE);
    r->orientation = orientation_of(j); /* markers are gone at the end */
    const int inks = j->jpeg_color_space == JCS_CMYK || j->jpeg_color_space == JCS_YCCK, grey = j->jpeg_color_space == JCS_GRAYSCALE;
    j->out_color_space = inks ? JCS_CMYK : grey ? JCS_GRAYSCALE : JCS_RGB;
    j->dct_method = JDCT_ISLOW;
    TSR_TRY(tsr_raster_room(input, j->image_width, j->image_height, grey ? 1 : 3, 8, r->samples));
    const int64_t limit = tsr_input_settings(input)->memory_limit, kept = 2 * (int64_t)j->image_width * j->image_height * j->num_components;
    if (jpeg_has_multiple_scans(j) && limit > 0 && kept > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: a progressive JPEG picture of %u x %u pixels takes %lld bytes, the memory limit is %lld",
                 tsr_input_name(input), j->image_width, j->image_height, (long long)kept, (long long)limit);
    if (inks) {
        r->row = (uint8_t *)malloc((size_t)j->image_width * 4);
        if (!r->row) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a row of %u pixels", tsr_input_name(input), j->image_width);
    }
    (void)jpeg_start_decompress(j);
    while (j->output_scanline < j->output_height) {
        uint8_t *to = (uint8_t *)r->samples->at + (size_t)j->output_scanline * tsr_samples_row(r->samples), *row = inks ? r->row : to;
        (void)jpeg_read_scanlines(j, &row, 1);
        if (inks) rgb_of_inks(row, j->saw_Adobe_marker, r->samples->width, to);
    }
    (void)jpeg_finish_decompress(j);
    if (inks) tsr_remark("%s: inks (CMYK), read as RGB without their profile", tsr_input_name(input));
    return TSR_OK;
}

static tsr_status decode(tsr_input *input, reader *r)
{
    const uint8_t *bytes;
    size_t size;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    r->jpeg.err = jpeg_std_error(&r->errors);
    r->errors.error_exit = on_error;
    r->errors.emit_message = on_warning;
    if (setjmp(r->back)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: damaged JPEG picture: %s", tsr_input_name(input), r->message);
    jpeg_create_decompress(&r->jpeg);
    r->progress.progress_monitor = on_progress;
    r->jpeg.progress = &r->progress;
    jpeg_mem_src(&r->jpeg, bytes, (unsigned long)size);
    jpeg_save_markers(&r->jpeg, JPEG_APP0 + 1, 0xffff);
    TSR_TRY(unpack(input, r));
    if (r->damaged) TSR_FAIL(TSR_ERROR_FORMAT, "%s: damaged or truncated JPEG picture: %s", tsr_input_name(input), r->message);
    return TSR_OK;
}

/* The camera's pixels are those of the file as they are stored. */
static int is_stored_as(const int32_t camera[2], int orientation, const tsr_samples *s)
{
    return orientation > 4 && camera[0] != camera[1] && camera[0] == s->width && camera[1] == s->height;
}

tsr_status tsr_jpeg_read(tsr_input *input, const tsr_read_options *options, tsr_samples *samples)
{
    *samples = (tsr_samples){ 0 };
    reader *r = (reader *)calloc(1, sizeof *r);
    if (!r) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    r->samples = samples;
    tsr_status status = decode(input, r);
    const int orientation = r->orientation;
    if (r->jpeg.err) jpeg_destroy_decompress(&r->jpeg);
    free(r->row);
    free(r);
    if (status == TSR_OK && is_stored_as(options->camera_size, orientation, samples)) {
        tsr_remark("%s: %d x %d pixels as its camera has, so not turned as its EXIF orientation (%d) asks", tsr_input_name(input),
                   (int)samples->width, (int)samples->height, orientation);
    } else if (status == TSR_OK && orientation > 1) {
        status = turn(input, orientation, samples);
    }
    if (status == TSR_OK) return TSR_OK;
    free(samples->at);
    *samples = (tsr_samples){ 0 };
    return status;
}

#else

tsr_status tsr_jpeg_read(tsr_input *input, const tsr_read_options *options, tsr_samples *samples)
{
    *samples = (tsr_samples){ 0 };
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: this build of tessera has no JPEG (libjpeg-turbo was not found)", tsr_input_name(input));
}

#endif
