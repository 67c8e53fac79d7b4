/* PNG through libpng: images of 8 bits, gray, RGB or RGBA, to which tsr_image_read reduces every PNG; volumes of 8 or 16 bits and 1 to 4 channels. */
#include "formats/format.h"
#include "volume/image.h"
#include "formats/images/png_notes.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Everything in here may jump to state->back. keep: 16 bits, and gray with alpha. */
static void read_header(png_structp png, png_infop info, int keep, tsr_samples *s, int32_t *file_bits)
{
    png_read_info(png, info);
    const int colour = png_get_color_type(png, info);
    const int alpha = (colour & PNG_COLOR_MASK_ALPHA) || png_get_valid(png, info, PNG_INFO_tRNS);
    *file_bits = colour & PNG_COLOR_MASK_PALETTE ? 8 : png_get_bit_depth(png, info);
    png_set_expand(png); /* palettes, 1 to 4 bits, transparent colours */
    if (!keep) png_set_scale_16(png);
    else if (*file_bits == 16 && !tsr_host_big_endian()) png_set_swap(png);
    if (!keep && alpha && !(colour & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png); /* gray with alpha becomes RGBA: there are no two-channel images */
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    s->width = (int32_t)png_get_image_width(png, info);
    s->height = (int32_t)png_get_image_height(png, info);
    s->channels = png_get_channels(png, info);
    s->bits = png_get_bit_depth(png, info);
}

/* Room for what the header says, if that can be. */
static tsr_status make_room(const tsr_input *input, const tsr_read_options *options, size_t packed, tsr_samples *s)
{
    const char *name = tsr_input_name(input);
    const int64_t limit = options->memory_limit ? options->memory_limit : tsr_physical_memory();
    int64_t bytes = 0;
    TSR_TRY(tsr_size_bytes((tsr_size3){ s->width, s->height, s->channels }, (size_t)(s->bits / 8), name, &bytes));
    if (bytes > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: %d x %d pixels need %lld bytes, over the memory limit of %lld", name, s->width, s->height, (long long)bytes,
                 (long long)limit);
    /* deflate packs at most 1032 to 1, a pixel of 1 bit becomes at most 4 bytes */
    if (bytes / 1032 > (int64_t)packed * 32)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %d x %d pixels do not fit in %zu compressed bytes", name, s->width, s->height, packed);
    TSR_TRY(tsr_samples_create(s->width, s->height, s->channels, s->bits, name, s));
    return TSR_OK;
}

/* volume: NULL, or where the samples go, with what else the file says. */
static tsr_status read_samples(tsr_input *input, const tsr_read_options *options, tsr_samples *samples, int32_t *file_bits, tsr_volume **volume)
{
    struct state state = { .message = "" };
    png_structp png = NULL;
    png_infop info = NULL;
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
    read_header(png, info, volume != NULL, samples, file_bits);
    status = make_room(input, options, state.size, samples);
    if (status != TSR_OK) goto done;
    rows = (png_bytep *)malloc((size_t)samples->height * sizeof *rows);
    if (!rows) {
        status = TSR_FAILED(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
        goto done;
    }
    for (int32_t y = 0; y < samples->height; y++) rows[y] = samples->at + (size_t)y * tsr_samples_row(samples);
    png_read_image(png, rows);
    png_read_end(png, info);
    if (volume) status = tsr_samples_volume(samples, volume);
    if (volume && status == TSR_OK) status = tsr_png_read_notes(png, info, *volume);
done:
    free(rows);
    png_destroy_read_struct(&png, &info, NULL);
    return status;
}

static tsr_status read_image(tsr_input *input, const tsr_read_options *options, tsr_image *image)
{
    tsr_samples s = { 0 };
    int32_t bits = 0;
    const tsr_status status = read_samples(input, options, &s, &bits, NULL);
    if (status == TSR_OK) *image = (tsr_image){ s.width, s.height, s.channels, s.at };
    else free(s.at);
    if (options->image_bits) *options->image_bits = bits;
    return status;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    tsr_samples s = { 0 };
    int32_t bits = 0;
    const tsr_status status = read_samples(input, options, &s, &bits, volume);
    free(s.at);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}

/* volume: NULL, or whose metadata go along. */
static tsr_status write_rows(const tsr_samples *s, const tsr_volume *volume, int level, struct state *state, const char *path)
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
    static const int colours[] = { 0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA };
    png_set_write_fn(png, state, on_write, on_flush);
    png_set_user_limits(png, INT32_MAX, INT32_MAX);
    png_set_IHDR(png, info, (png_uint_32)s->width, (png_uint_32)s->height, s->bits, colours[s->channels], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, level > 0 ? level : level < 0 ? 0 : 6);
    if (volume) tsr_png_write_notes(png, info, volume);
    png_write_info(png, info);
    if (s->bits == 16 && !tsr_host_big_endian()) png_set_swap(png);
    for (int32_t y = 0; y < s->height; y++) png_write_row(png, s->at + (size_t)y * tsr_samples_row(s));
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return TSR_OK;
}

static tsr_status write_samples(const tsr_samples *s, const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    struct state state = { .message = "" };
    TSR_TRY(tsr_output_open(path, options, &state.output));
    tsr_status status = write_rows(s, volume, options->compression, &state, path);
    return tsr_output_finish(&state.output, status);
}

static tsr_status write_image(const tsr_image *image, const char *path, const tsr_write_options *options)
{
    const tsr_samples s = { .width = image->width, .height = image->height, .channels = image->channels, .bits = 8, .at = image->pixels };
    return write_samples(&s, NULL, path, options);
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    tsr_samples s;
    TSR_TRY(tsr_samples_of_volume(volume, 16, path, "PNG", &s));
    const tsr_status status = write_samples(&s, volume, path, options);
    free(s.at);
    return status;
}

const tsr_format tsr_format_png = { .name = "png",
                                    .kind = TSR_FILE_IMAGE,
                                    .extensions = { ".png" },
                                    .recognise = recognise,
                                    .whole = 1,
                                    .read_image = read_image,
                                    .write_image = write_image,
                                    .read_volume = read_volume,
                                    .write_volume = write_volume };
