/* JPEG through libjpeg(-turbo): writing, and the table of the format; reading: jpeg_read.c. */
#include "formats/images/jpeg.h"
#include "formats/images/rasters.h"
#include "volume/image.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tsr_status check(const tsr_image *image, int32_t quality)
{
    if (!image || !image->pixels) TSR_FAIL(TSR_ERROR_ARGUMENT, "JPEG: the image has no pixels");
    if (image->width < 1 || image->height < 1 || image->width > 65535 || image->height > 65535)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "JPEG: %d x %d pixels, expected 1 to 65535 each way", image->width, image->height);
    if (image->channels != 1 && image->channels != 3 && image->channels != 4)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "JPEG: %d channels, expected 1, 3 or 4", image->channels);
    if (quality < 1 || quality > 100) TSR_FAIL(TSR_ERROR_ARGUMENT, "JPEG: quality %d, expected 1 to 100", quality);
    return TSR_OK;
}

#ifdef TSR_HAVE_JPEG

#include <jpeglib.h>

struct state {
    struct jpeg_error_mgr errors; /* first: libjpeg gives it back */
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
};

static void on_error(j_common_ptr common)
{
    struct state *state = (struct state *)common->err;
    common->err->format_message(common, state->message);
    longjmp(state->back, 1);
}
static void on_message(j_common_ptr common) { (void)common; }

/* One row without alpha; libjpeg takes rows that are not const. */
static void copy_row(const tsr_image *image, int32_t y, uint8_t *row)
{
    const uint8_t *from = image->pixels + (size_t)y * (size_t)image->width * (size_t)image->channels;
    if (image->channels != 4) {
        memcpy(row, from, (size_t)image->width * (size_t)image->channels);
        return;
    }
    for (int32_t x = 0; x < image->width; x++) memcpy(row + 3 * (size_t)x, from + 4 * (size_t)x, 3);
}

/* May jump to the state's `back`. */
static void pack(struct jpeg_compress_struct *jpeg, const tsr_image *image, int32_t quality, int subsampled, uint8_t *row)
{
    jpeg->image_width = (JDIMENSION)image->width;
    jpeg->image_height = (JDIMENSION)image->height;
    jpeg->input_components = image->channels == 1 ? 1 : 3;
    jpeg->in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, quality, TRUE);
    if (image->channels != 1 && !subsampled)
        for (int i = 0; i < 3; i++) jpeg->comp_info[i].h_samp_factor = jpeg->comp_info[i].v_samp_factor = 1;
    jpeg_start_compress(jpeg, TRUE);
    for (int32_t y = 0; y < image->height; y++) {
        copy_row(image, y, row);
        jpeg_write_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_compress(jpeg);
}

tsr_status tsr_image_pack_jpeg(const tsr_image *image, int32_t quality, int subsampled, uint8_t **bytes, size_t *size)
{
    TSR_RETURNS(bytes);
    TSR_NEEDS(image, size);
    struct jpeg_compress_struct jpeg;
    struct state state;
    unsigned char *packed = NULL;
    unsigned long packed_size = 0;
    *size = 0;
    TSR_TRY(check(image, quality));
    uint8_t *row = (uint8_t *)malloc((size_t)image->width * 3);
    if (!row) TSR_FAIL(TSR_ERROR_MEMORY, "JPEG: out of memory for a row of %d pixels", image->width);
    memset(&jpeg, 0, sizeof jpeg);
    jpeg.err = jpeg_std_error(&state.errors);
    state.errors.error_exit = on_error;
    state.errors.output_message = on_message;
    if (setjmp(state.back)) { /* packed and packed_size are libjpeg's until jpeg_finish_compress: nothing to read here */
        jpeg_destroy_compress(&jpeg);
        free(row);
        TSR_FAIL(TSR_ERROR_INTERNAL, "JPEG encoder: %s", state.message);
    }
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &packed, &packed_size);
    pack(&jpeg, image, quality, subsampled, row);
    jpeg_destroy_compress(&jpeg);
    free(row);
    *bytes = packed;
    *size = (size_t)packed_size;
    return TSR_OK;
}

#else

tsr_status tsr_image_pack_jpeg(const tsr_image *image, int32_t quality, int subsampled, uint8_t **bytes, size_t *size)
{
    TSR_RETURNS(bytes);
    TSR_NEEDS(image, size);
    (void)subsampled;
    *size = 0;
    TSR_TRY(check(image, quality));
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "this build of tessera has no JPEG (libjpeg-turbo was not found)");
}

#endif

static tsr_status write_packed(const tsr_image *image, const char *path, const tsr_write_options *options)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    tsr_output *output = NULL;
    TSR_TRY(tsr_image_pack_jpeg(image, 92, 0, &bytes, &size));
    tsr_status status = tsr_output_open(path, options, &output);
    if (status == TSR_OK) {
        status = tsr_output_write(output, bytes, size);
        status = tsr_output_finish(&output, status);
    }
    free(bytes);
    return status;
}

/* What would be lost. */
static tsr_status check_opaque(const tsr_image *image, const char *path)
{
    const int64_t pixels = (int64_t)image->width * image->height;
    for (int64_t i = 0; image->channels == 4 && i < pixels; i++)
        if (image->pixels[4 * i + 3] != 255)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: JPEG holds no transparency, which pixel %lld %lld has: expected a PNG file", path,
                     (long long)(i % image->width), (long long)(i / image->width));
    return TSR_OK;
}

static tsr_status write_image(const tsr_image *image, const char *path, const tsr_write_options *options)
{
    TSR_TRY(check_opaque(image, path));
    return write_packed(image, path, options);
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    tsr_image image;
    TSR_TRY(tsr_raster_of_volume(volume, path, "JPEG", &image));
    const tsr_status status = write_image(&image, path, options);
    tsr_image_destroy(&image);
    return status;
}

static tsr_status read_image(tsr_input *input, const tsr_read_options *options, tsr_image *image)
{
    tsr_samples s;
    TSR_TRY(tsr_jpeg_read(input, options, &s));
    return tsr_raster_image(&s, 255, 8, options, image);
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    tsr_samples s;
    TSR_TRY(tsr_jpeg_read(input, options, &s));
    return tsr_raster_samples_volume(&s, volume);
}

static int recognise(const tsr_signature *s) { return s->head_bytes >= 3 && !memcmp(s->head, "\xff\xd8\xff", 3) ? TSR_SURELY_MINE : TSR_NOT_MINE; }

const tsr_format tsr_format_jpeg = { .name = "jpeg",
                                     .kind = TSR_FILE_IMAGE,
                                     .extensions = { ".jpg", ".jpeg" },
                                     .recognise = recognise,
                                     .whole = 1,
                                     .read_image = read_image,
                                     .write_image = write_image,
                                     .read_volume = read_volume,
                                     .write_volume = write_volume };
