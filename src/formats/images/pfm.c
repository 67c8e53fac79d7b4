/* formats/images/pfm.c: Portable Float Map: "Pf" (one number a pixel) or "PF" (three), width, height, a scale whose sign says the byte order (negative: little endian), then
 * float32 rows from the BOTTOM up. Read as a volume of float32; three numbers a pixel become three slices (a channel axis). Written from one slice, or three. */
#include <math.h>
#include <string.h>

#include "core/hd.h"
#include "formats/images/rasters.h"
#include "formats/volume_files.h"

enum { HEAD_MOST = 256 };

static int recognise(const tsr_signature *s)
{
    return s->head_bytes >= 3 && s->head[0] == 'P' && (s->head[1] == 'f' || s->head[1] == 'F') &&
                   (s->head[2] == '\n' || s->head[2] == ' ' || s->head[2] == '\r')
               ? TSR_SURELY_MINE
               : TSR_NOT_MINE;
}

typedef struct pfm_header {
    int64_t width, height, data;
    int channels, swap;
} pfm_header;

static tsr_status parse(tsr_input *input, pfm_header *h)
{
    const uint8_t *bytes;
    size_t size;
    tsr_word word;
    double scale;
    TSR_TRY(tsr_input_head(input, HEAD_MOST, &bytes, &size));
    tsr_text text = tsr_text_make(bytes, size);
    if (!tsr_text_word(&text, &word) || (!tsr_word_is(word, "Pf") && !tsr_word_is(word, "PF")))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: not a PFM file, expected Pf or PF at its start", tsr_input_name(input));
    h->channels = word.text[1] == 'F' ? 3 : 1;
    if (tsr_text_integer(&text, &h->width) != TSR_TEXT_OK || tsr_text_integer(&text, &h->height) != TSR_TEXT_OK || h->width < 1 || h->height < 1 ||
        h->width > INT32_MAX || h->height > INT32_MAX)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: PFM header, expected a width and a height from 1", tsr_input_name(input));
    if (tsr_text_double(&text, &scale) != TSR_TEXT_OK || !(scale < 0 || scale > 0))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: PFM header, expected a scale that is not 0", tsr_input_name(input));
    if (text.at >= text.end) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends within the PFM header", tsr_input_name(input));
    h->swap = (scale > 0) != tsr_host_big_endian();
    h->data = (int64_t)(text.at + 1 - (const char *)bytes); /* one blank behind the scale */
    return TSR_OK;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    pfm_header h = { .width = 0 };
    tsr_block rows = { NULL, NULL, NULL };
    int64_t bytes;
    (void)options;
    TSR_TRY(parse(input, &h));
    TSR_TRY(tsr_voxel_bytes(input, TSR_F32, (tsr_size3){ h.width, h.height, h.channels }, &bytes));
    TSR_TRY(tsr_input_check(input, h.data, bytes, "voxels"));
    if (tsr_input_size(input) >= 0 && tsr_input_size(input) - h.data > bytes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld bytes behind the pixels, expected none", tsr_input_name(input),
                 (long long)(tsr_input_size(input) - h.data - bytes));
    TSR_TRY(tsr_input_take(input, h.data, bytes, 4, h.swap, "voxels", &rows));
    const tsr_status status = tsr_raster_volume(input, h.width, h.height, h.channels, volume);
    const uint8_t *from = (const uint8_t *)rows.data; /* not aligned where the file is mapped */
    for (int64_t y = 0; y < h.height && status == TSR_OK; y++)
        for (int64_t x = 0; x < h.width; x++)
            for (int c = 0; c < h.channels; c++)
                memcpy((float *)(*volume)->data + (c * h.height + h.height - 1 - y) * h.width + x, from + 4 * ((y * h.width + x) * h.channels + c), 4);
    tsr_block_release(&rows);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    const tsr_size3 n = volume->size;
    tsr_output *out = NULL;
    tsr_status status = TSR_OK;
    TSR_TRY(tsr_require_unscaled(volume, path, "a .pfm file"));
    if (volume->dtype != TSR_F32 || (n.z != 1 && n.z != 3))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld x %lld x %lld %s, expected f32 of one slice or three in a .pfm file (convert --dtype f32)", path,
                 (long long)n.x, (long long)n.y, (long long)n.z, tsr_dtype_name(volume->dtype));
    TSR_TRY(tsr_output_open(path, options, &out));
    tsr_output_printf(out, "P%c\n%lld %lld\n%s\n", n.z == 3 ? 'F' : 'f', (long long)n.x, (long long)n.y, options->big_endian ? "1.0" : "-1.0");
    const int swap = !!options->big_endian != tsr_host_big_endian();
    const float *data = (const float *)volume->data;
    for (int64_t y = n.y; y-- > 0 && status == TSR_OK;) {
        if (n.z == 1) {
            status = tsr_output_elements(out, data + y * n.x, n.x, 4, swap);
            continue;
        }
        for (int64_t x = 0; x < n.x && status == TSR_OK; x++) {
            const float pixel[3] = { data[y * n.x + x], data[(n.y + y) * n.x + x], data[(2 * n.y + y) * n.x + x] };
            status = tsr_output_elements(out, pixel, 3, 4, swap);
        }
    }
    return tsr_output_finish(&out, status);
}

const tsr_format tsr_format_pfm = { .name = "pfm",
                                    .kind = TSR_FILE_VOLUME,
                                    .extensions = { ".pfm" },
                                    .recognise = recognise,
                                    .whole = 1,
                                    .place = TSR_PLACE_NONE,
                                    .read_volume = read_volume,
                                    .write_volume = write_volume };
