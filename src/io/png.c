/* PNG through libpng: 8 bits per channel, gray, RGB or RGBA. Reading reduces every PNG to these. */
#include "io/format.h"

#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct state {
    jmp_buf back; /* where libpng's errors return to */
    char message[128];
    const uint8_t *bytes;
    size_t size, at;
    tsr_output *output;
};

static void on_error(png_structp png, png_const_charp text)
{
    struct state *state = (struct state *)png_get_error_ptr(png);
    snprintf(state->message, sizeof state->message, "%s", text);
    longjmp(state->back, 1);
}
static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}
static void on_read(png_structp png, png_bytep to, size_t size)
{
    struct state *state = (struct state *)png_get_io_ptr(png);
    if (size > state->size - state->at) png_error(png, "the file is truncated");
    memcpy(to, state->bytes + state->at, size);
    state->at += size;
}
static void on_write(png_structp png, png_bytep from, size_t size)
{
    struct state *state = (struct state *)png_get_io_ptr(png);
    if (tsr_output_write(state->output, from, size) != TSR_OK) png_error(png, "write");
}
static void on_flush(png_structp png) { (void)png; }

static int recognise(const tsr_signature *s)
{
    return s->head_bytes >= 8 && !memcmp(s->head, "\x89PNG\r\n\x1a\n", 8) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

/* Everything in here may jump to state->back. */
static void read_header(png_structp png, png_infop info, tsr_image *extents)
{
    png_read_info(png, info);
    png_set_expand(png);   /* palettes, 1 to 4 bits, transparent colours */
    png_set_scale_16(png);
    if ((png_get_color_type(png, info) & (PNG_COLOR_MASK_COLOR | PNG_COLOR_MASK_ALPHA)) == PNG_COLOR_MASK_ALPHA ||
        (png_get_color_type(png, info) == PNG_COLOR_TYPE_GRAY && png_get_valid(png, info, PNG_INFO_tRNS)))
        png_set_gray_to_rgb(png); /* gray with alpha becomes RGBA: there are no two-channel images */
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    extents->width = (int32_t)png_get_image_width(png, info);
    extents->height = (int32_t)png_get_image_height(png, info);
    extents->channels = png_get_channels(png, info);
}

static tsr_status read_image(tsr_input *input, const tsr_read_options *options, tsr_image *image)
{
    struct state state = { .message = "" };
    png_structp png = NULL;
    png_infop info = NULL;
    tsr_image extents = { 0 };
    png_bytep *volatile rows = NULL;
    volatile tsr_status status = TSR_OK;
    TSR_TRY(tsr_input_all(input, &state.bytes, &state.size));
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
    info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_read_struct(&png, NULL, NULL);
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    }
    if (setjmp(state.back)) {
        status = TSR_FAILED(TSR_ERROR_FORMAT, "%s: damaged PNG: %s", tsr_input_name(input), state.message);
        goto done;
    }
    png_set_read_fn(png, &state, on_read);
    png_set_user_limits(png, INT32_MAX, INT32_MAX);
    read_header(png, info, &extents);
    int64_t bytes = 0, limit = options->memory_limit ? options->memory_limit : tsr_physical_memory();
    status = tsr_size_bytes((tsr_size3){ extents.width, extents.height, extents.channels }, 1, tsr_input_name(input), &bytes);
    if (status == TSR_OK && bytes > limit)
        status = TSR_FAILED(TSR_ERROR_MEMORY, "%s: %d x %d pixels need %lld bytes, over the memory limit of %lld", tsr_input_name(input),
                            extents.width, extents.height, (long long)bytes, (long long)limit);
    /* deflate packs at most 1032 to 1, a pixel of 1 bit becomes at most 4 bytes */
    if (status == TSR_OK && bytes / 1032 > (int64_t)state.size * 32)
        status = TSR_FAILED(TSR_ERROR_FORMAT, "%s: truncated: %d x %d pixels do not fit in %zu compressed bytes", tsr_input_name(input),
                            extents.width, extents.height, state.size);
    if (status == TSR_OK) status = tsr_image_create(extents.width, extents.height, extents.channels, image);
    if (status != TSR_OK) goto done;
    rows = (png_bytep *)malloc((size_t)extents.height * sizeof *rows);
    if (!rows) {
        status = TSR_FAILED(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
        goto done;
    }
    for (int32_t y = 0; y < extents.height; y++) rows[y] = image->pixels + (size_t)y * (size_t)extents.width * (size_t)extents.channels;
    png_read_image(png, rows);
    png_read_end(png, NULL);
done:
    free(rows);
    png_destroy_read_struct(&png, &info, NULL);
    return status;
}

static tsr_status write_rows(const tsr_image *image, int level, struct state *state, const char *path)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, state, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_write_struct(&png, NULL);
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    }
    if (setjmp(state->back)) {
        tsr_status failed = tsr_output_write(state->output, "", 0); /* the output's own error, if that was it */
        png_destroy_write_struct(&png, &info);
        if (failed == TSR_OK) TSR_FAIL(TSR_ERROR_INTERNAL, "%s: PNG encoder: %s", path, state->message);
        return failed;
    }
    static const int colours[] = { 0, PNG_COLOR_TYPE_GRAY, 0, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA };
    png_set_write_fn(png, state, on_write, on_flush);
    png_set_user_limits(png, INT32_MAX, INT32_MAX);
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8, colours[image->channels], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, level > 0 ? level : level < 0 ? 0 : 6);
    png_write_info(png, info);
    for (int32_t y = 0; y < image->height; y++)
        png_write_row(png, image->pixels + (size_t)y * (size_t)image->width * (size_t)image->channels);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return TSR_OK;
}

static tsr_status write_image(const tsr_image *image, const char *path, const tsr_write_options *options)
{
    struct state state = { .message = "" };
    TSR_TRY(tsr_output_open(path, options, &state.output));
    tsr_status status = write_rows(image, options->compression, &state, path);
    return tsr_output_finish(&state.output, status);
}

const tsr_format tsr_format_png = { .name = "png", .kind = TSR_FILE_IMAGE, .extensions = { ".png" }, .recognise = recognise, .read_image = read_image,
                                    .write_image = write_image };
