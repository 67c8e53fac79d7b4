/* Frames of films: their shape, and the way between planes and images. */
#include "core/parallel.h"
#include "formats/films/video.h"
#include "formats/films/ycbcr.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const chroma_names[] = { "default", "420", "422", "444", "411", "mono" };

const char *tsr_chroma_name(tsr_chroma chroma) { return (unsigned)chroma <= TSR_CHROMA_MONO ? chroma_names[chroma] : "?"; }

tsr_status tsr_chroma_parse(const char *name, tsr_chroma *chroma)
{
    TSR_NEEDS(name, chroma);
    for (int i = TSR_CHROMA_420; i <= TSR_CHROMA_MONO; i++)
        if (!strcasecmp(name, chroma_names[i])) {
            *chroma = (tsr_chroma)i;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "chroma '%.40s', expected one of 420, 422, 444, 411, mono", name);
}

tsr_status tsr_video_format_complete(tsr_video_format *f)
{
    if (f->width < 1 || f->height < 1 || f->width > TSR_VIDEO_EXTENT || f->height > TSR_VIDEO_EXTENT)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "frames of %d x %d pixels, expected 1 to %d", f->width, f->height, TSR_VIDEO_EXTENT);
    if ((unsigned)f->chroma > TSR_CHROMA_MONO) TSR_FAIL(TSR_ERROR_ARGUMENT, "chroma is %d, expected a tsr_chroma", (int)f->chroma);
    if (f->bits && (f->bits < 8 || f->bits > 16)) TSR_FAIL(TSR_ERROR_ARGUMENT, "bits is %d, expected 8 to 16", f->bits);
    if ((unsigned)f->siting > TSR_SITING_TOP_LEFT) TSR_FAIL(TSR_ERROR_ARGUMENT, "siting is %d, expected a tsr_siting", (int)f->siting);
    if ((unsigned)f->matrix > TSR_MATRIX_BT709) TSR_FAIL(TSR_ERROR_ARGUMENT, "matrix is %d, expected a tsr_video_matrix", (int)f->matrix);
    if ((unsigned)f->range > TSR_RANGE_FULL) TSR_FAIL(TSR_ERROR_ARGUMENT, "range is %d, expected a tsr_video_range", (int)f->range);
    if (!f->bits) f->bits = 8;
    if (f->chroma == TSR_CHROMA_DEFAULT) f->chroma = TSR_CHROMA_420;
    if (f->matrix == TSR_MATRIX_DEFAULT) f->matrix = TSR_MATRIX_BT601;
    if (f->range == TSR_RANGE_DEFAULT) f->range = TSR_RANGE_LIMITED;
    return TSR_OK;
}

static int32_t group_x(tsr_chroma c) { return c == TSR_CHROMA_444 ? 1 : c == TSR_CHROMA_411 ? 4 : 2; }
static int32_t group_y(tsr_chroma c) { return c == TSR_CHROMA_420 ? 2 : 1; }
static int between_x(const tsr_video_format *f) { return f->chroma == TSR_CHROMA_420 && f->siting == TSR_SITING_CENTRE; }
static int between_y(const tsr_video_format *f) { return f->chroma == TSR_CHROMA_420 && f->siting != TSR_SITING_TOP_LEFT; }

void tsr_video_frame_lay_out(tsr_video_frame *frame)
{
    const tsr_video_format *f = &frame->format;
    const int64_t sample = f->bits > 8 ? 2 : 1;
    frame->planes = f->chroma == TSR_CHROMA_MONO ? 1 : 3;
    frame->bytes = 0;
    for (int p = 0; p < 3; p++) {
        const int32_t gx = p ? group_x(f->chroma) : 1, gy = p ? group_y(f->chroma) : 1;
        frame->width[p] = p < frame->planes ? (f->width + gx - 1) / gx : 0;
        frame->height[p] = p < frame->planes ? (f->height + gy - 1) / gy : 0;
        frame->bytes += sample * frame->width[p] * frame->height[p];
    }
}

static void point_planes(tsr_video_frame *frame, void *memory)
{
    uint8_t *at = (uint8_t *)memory;
    for (int p = 0; p < frame->planes; p++) {
        frame->plane[p] = at;
        at += (frame->format.bits > 8 ? 2 : 1) * (int64_t)frame->width[p] * frame->height[p];
    }
}

tsr_status tsr_video_frame_create(const tsr_video_format *format, tsr_video_frame *frame)
{
    TSR_NEEDS(format, frame);
    *frame = (tsr_video_frame){ 0 };
    tsr_video_frame made = { .format = *format };
    TSR_TRY(tsr_video_format_complete(&made.format));
    tsr_video_frame_lay_out(&made);
    void *memory = calloc((size_t)made.bytes, 1);
    if (!memory)
        TSR_FAIL(TSR_ERROR_MEMORY, "frame of %d x %d pixels: out of host memory (%lld bytes asked for)", format->width, format->height,
                 (long long)made.bytes);
    point_planes(&made, memory);
    *frame = made;
    return TSR_OK;
}

void tsr_video_frame_destroy(tsr_video_frame *frame)
{
    if (!frame) return;
    free(frame->plane[0]);
    *frame = (tsr_video_frame){ 0 };
}

int tsr_video_same_format(const tsr_video_format *a, const tsr_video_format *b)
{
    return a->width == b->width && a->height == b->height && a->chroma == b->chroma && a->bits == b->bits && a->siting == b->siting &&
           a->matrix == b->matrix && a->range == b->range;
}

tsr_status tsr_video_image_reuse(int32_t width, int32_t height, int32_t channels, tsr_image *image)
{
    if (image->pixels && image->width == width && image->height == height && image->channels == channels) return TSR_OK;
    tsr_image_destroy(image);
    return tsr_image_create(width, height, channels, image);
}

static tsr_status require_frame(const tsr_video_frame *frame)
{
    if (!frame || !frame->plane[0]) TSR_FAIL(TSR_ERROR_ARGUMENT, "frame is NULL or has no planes");
    tsr_video_frame expected = { .format = frame->format };
    TSR_TRY(tsr_video_format_complete(&expected.format));
    tsr_video_frame_lay_out(&expected);
    if (!tsr_video_same_format(&expected.format, &frame->format) || expected.planes != frame->planes || expected.bytes != frame->bytes)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "frame was not made by tsr_video_frame_create");
    return TSR_OK;
}

static inline int32_t sample_at(const void *plane, int64_t at, int32_t bits)
{
    return bits > 8 ? ((const uint16_t *)plane)[at] : ((const uint8_t *)plane)[at];
}
static inline void sample_put(void *plane, int64_t at, int32_t bits, int32_t value)
{
    if (bits > 8) ((uint16_t *)plane)[at] = (uint16_t)value;
    else ((uint8_t *)plane)[at] = (uint8_t)value;
}

/* A row of chroma at every pixel of image row y. `column`: for each pixel the two samples and the weight. */
static void chroma_row(const tsr_video_frame *frame, int p, int32_t y, const int32_t (*column)[3], float *row)
{
    const tsr_video_format *f = &frame->format;
    int32_t upper, lower, v;
    tsr_chroma_between(y, group_y(f->chroma), between_y(f), frame->height[p], &upper, &lower, &v);
    const int64_t a = (int64_t)upper * frame->width[p], b = (int64_t)lower * frame->width[p];
    for (int32_t x = 0; x < f->width; x++) { /* in 64ths: exact in integers and in a float */
        const int32_t i = column[x][0], j = column[x][1], u = column[x][2];
        const int32_t top = (8 - u) * sample_at(frame->plane[p], a + i, f->bits) + u * sample_at(frame->plane[p], a + j, f->bits);
        const int32_t bottom = (8 - u) * sample_at(frame->plane[p], b + i, f->bits) + u * sample_at(frame->plane[p], b + j, f->bits);
        row[x] = (float)((8 - v) * top + v * bottom) / 64.0f;
    }
}

/* What the rows of a conversion share; rows are independent. */
struct conversion {
    tsr_ycbcr constants;
    const tsr_video_frame *from;
    tsr_video_frame *to;
    const tsr_image *source;
    tsr_image *target;
    const int32_t (*column)[3];
    float *signal[3]; /* chroma: of the pixels (from an image), or two rows for each worker (to an image) */
    int plane;
};

enum { ROWS = 16 }; /* that a thread takes at a time */

static void rows_to_image(void *user, int64_t begin, int64_t end, int worker)
{
    const struct conversion *job = (const struct conversion *)user;
    const tsr_video_format *f = &job->from->format;
    const tsr_image *image = job->target;
    float *blue = job->signal[1] + (int64_t)worker * 2 * f->width, *red = blue + f->width;
    for (int32_t y = (int32_t)begin; y < (int32_t)end; y++) {
        const int64_t at = (int64_t)y * f->width;
        uint8_t *to = image->pixels + at * image->channels;
        if (image->channels == 3) {
            chroma_row(job->from, 1, y, job->column, blue);
            chroma_row(job->from, 2, y, job->column, red);
        }
        for (int32_t x = 0; x < f->width; x++) {
            const float luma = (float)sample_at(job->from->plane[0], at + x, f->bits);
            if (image->channels == 1) to[x] = tsr_ycbcr_grey(&job->constants, luma);
            else tsr_ycbcr_rgb(&job->constants, luma, blue[x], red[x], to + 3 * x);
        }
    }
}

tsr_status tsr_video_frame_to_image(const tsr_video_frame *frame, tsr_image *image)
{
    TSR_NEEDS(frame, image);
    TSR_TRY(require_frame(frame));
    const tsr_video_format *f = &frame->format;
    TSR_TRY(tsr_video_image_reuse(f->width, f->height, frame->planes, image));
    const int threads = tsr_parallel_default_threads();
    int32_t(*column)[3] = malloc((size_t)f->width * (sizeof *column + 2 * sizeof(float) * (size_t)threads));
    if (!column) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for rows of %d pixels", f->width);
    for (int32_t x = 0; x < f->width && frame->planes == 3; x++)
        tsr_chroma_between(x, group_x(f->chroma), between_x(f), frame->width[1], &column[x][0], &column[x][1], &column[x][2]);
    struct conversion job = { .constants = tsr_ycbcr_of(f),
                              .from = frame,
                              .target = image,
                              .column = (const int32_t(*)[3])column,
                              .signal = { NULL, (float *)(column + f->width), NULL } };
    tsr_parallel(threads, f->height, ROWS, rows_to_image, &job);
    free(column);
    return TSR_OK;
}

/* Luma of a row into its plane, chroma signals of every pixel into `blue` and `red`. */
static void row_to_signals(tsr_video_frame *frame, const tsr_ycbcr *c, const tsr_image *image, int32_t y, float *blue, float *red)
{
    const int64_t at = (int64_t)y * image->width;
    for (int32_t x = 0; x < image->width; x++) {
        const uint8_t *p = image->pixels + (at + x) * image->channels;
        const uint8_t grey[3] = { p[0], p[0], p[0] };
        float luma, cb, cr;
        tsr_ycbcr_signal(c, image->channels == 1 ? grey : p, &luma, &cb, &cr);
        sample_put(frame->plane[0], at + x, frame->format.bits, tsr_ycbcr_luma(c, luma));
        if (blue) blue[at + x] = image->channels == 1 ? 0.0f : cb; /* a grey pixel has none, whatever rounding says */
        if (red) red[at + x] = image->channels == 1 ? 0.0f : cr;
    }
}

static float average(const float *signal, const tsr_video_format *f, int32_t first_x, int32_t nx, const float *wx, int32_t first_y, int32_t ny,
                     const float *wy)
{
    float sum = 0;
    for (int32_t j = 0; j < ny; j++) {
        const int32_t y = tsr_mini(tsr_maxi(first_y + j, 0), f->height - 1);
        float line = 0;
        for (int32_t i = 0; i < nx; i++) line += wx[i] * signal[(int64_t)y * f->width + tsr_mini(tsr_maxi(first_x + i, 0), f->width - 1)];
        sum += wy[j] * line;
    }
    return sum;
}

static void rows_to_signals(void *user, int64_t begin, int64_t end, int worker)
{
    const struct conversion *job = (const struct conversion *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++) row_to_signals(job->to, &job->constants, job->source, (int32_t)y, job->signal[1], job->signal[2]);
}

static void rows_to_plane(void *user, int64_t begin, int64_t end, int worker)
{
    const struct conversion *job = (const struct conversion *)user;
    tsr_video_frame *frame = job->to;
    const tsr_ycbcr *c = &job->constants;
    const tsr_video_format *f = &frame->format;
    const int p = job->plane;
    const float *signal = job->signal[p];
    (void)worker;
    for (int32_t y = (int32_t)begin; y < (int32_t)end; y++)
        for (int32_t x = 0; x < frame->width[p]; x++) {
            float wx[7], wy[7];
            int32_t first_x, first_y;
            const int32_t nx = tsr_chroma_weights(x, group_x(f->chroma), between_x(f), &first_x, wx);
            const int32_t ny = tsr_chroma_weights(y, group_y(f->chroma), between_y(f), &first_y, wy);
            sample_put(frame->plane[p], (int64_t)y * frame->width[p] + x, f->bits,
                       tsr_ycbcr_chroma(c, average(signal, f, first_x, nx, wx, first_y, ny, wy)));
        }
}

tsr_status tsr_video_frame_from_image(tsr_video_frame *frame, const tsr_image *image)
{
    TSR_NEEDS(frame);
    TSR_TRY(require_frame(frame));
    if (!image || !image->pixels) TSR_FAIL(TSR_ERROR_ARGUMENT, "image is NULL or has no pixels");
    const tsr_video_format *f = &frame->format;
    if (image->width != f->width || image->height != f->height || (image->channels != 1 && image->channels != 3 && image->channels != 4))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "image of %d x %d pixels with %d channels, expected %d x %d with 1, 3 or 4", image->width, image->height,
                 image->channels, f->width, f->height);
    const int64_t pixels = (int64_t)f->width * f->height;
    float *blue = NULL, *red = NULL;
    if (frame->planes == 3) {
        blue = (float *)malloc((size_t)pixels * 2 * sizeof *blue);
        if (!blue) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for the chroma of %d x %d pixels", f->width, f->height);
        red = blue + pixels;
    }
    const int threads = tsr_parallel_default_threads();
    struct conversion job = { .constants = tsr_ycbcr_of(f), .to = frame, .source = image, .signal = { NULL, blue, red } };
    tsr_parallel(threads, f->height, ROWS, rows_to_signals, &job);
    for (job.plane = 1; job.plane < frame->planes; job.plane++) tsr_parallel(threads, frame->height[job.plane], ROWS, rows_to_plane, &job);
    free(blue);
    return TSR_OK;
}
