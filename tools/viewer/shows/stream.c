#include "stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 18, RECENT = 32 /* pictures between the one that is decoded and the one that comes, and more */ };

struct viewer_stream {
    tsr_dirac_source *source;
    tsr_dirac_decoder *decoder;
    tsr_dirac_sequence sequence;
    tsr_video_frame frame;
    uint32_t number; /* of the frame that is there */
    int waits;       /* it was not given yet */
    viewer_anatomy recent[RECENT];
    int next;
    char piece[PIECE];
};

void viewer_anatomy_free(viewer_anatomy *a)
{
    free(a->block);
    free(a->quantiser);
    *a = (viewer_anatomy){ 0 };
}

static void keep(void *user, const tsr_dirac_anatomy *a)
{
    viewer_stream *s = (viewer_stream *)user;
    viewer_anatomy *own = &s->recent[s->next++ % RECENT];
    const size_t blocks = (size_t)a->blocks[0] * (size_t)a->blocks[1] * sizeof *a->block, slices = (size_t)a->slices[0] * (size_t)a->slices[1];
    viewer_anatomy_free(own);
    own->number = a->number;
    if (blocks && (own->block = (tsr_dirac_block_info *)malloc(blocks))) {
        memcpy(own->block, a->block, blocks);
        memcpy(own->blocks, a->blocks, sizeof own->blocks);
        memcpy(own->separation, a->separation, sizeof own->separation);
        own->precision = a->precision;
    }
    if (slices && (own->quantiser = (uint8_t *)malloc(slices))) {
        memcpy(own->quantiser, a->quantiser, slices);
        memcpy(own->slices, a->slices, sizeof own->slices);
    }
    own->bytes = (int64_t)(blocks + slices);
}

/* The next frame is there, or the stream has ended: *more 0. */
static tsr_status advance(viewer_stream *s, int *more)
{
    for (;;) {
        tsr_dirac_frame_info info = TSR_DIRAC_FRAME_INFO;
        size_t got = 0;
        tsr_status status = tsr_dirac_decoder_next(s->decoder, &s->frame, &info, more);
        if (status != TSR_OK) return status;
        s->number = info.number;
        if (*more || !s->source) return TSR_OK;
        status = tsr_dirac_source_read(s->source, s->piece, PIECE, &got);
        if (status == TSR_OK) status = got ? tsr_dirac_decoder_push(s->decoder, s->piece, got) : tsr_dirac_decoder_end(s->decoder);
        if (status != TSR_OK) return status;
        if (!got) tsr_dirac_source_destroy(&s->source);
    }
}

tsr_status viewer_stream_create(tsr_context *context, const char *path, int64_t memory_limit, viewer_stream **stream)
{
    tsr_dirac_decode_options options = TSR_DIRAC_DECODE_OPTIONS;
    viewer_stream *s = (viewer_stream *)calloc(1, sizeof *s);
    if (!s) return TSR_ERROR_MEMORY;
    options.memory_limit = memory_limit;
    options.anatomy = keep;
    options.user = s;
    s->sequence = (tsr_dirac_sequence)TSR_DIRAC_SEQUENCE;
    tsr_status status = tsr_dirac_source_create(path, &s->source);
    if (status == TSR_OK) status = tsr_dirac_decoder_create(context, &options, &s->decoder);
    if (status == TSR_OK) status = advance(s, &s->waits);
    if (status == TSR_OK && s->waits) status = tsr_dirac_decoder_sequence(s->decoder, &s->sequence);
    if (status != TSR_OK) viewer_stream_destroy(&s);
    *stream = s;
    return status;
}

void viewer_stream_destroy(viewer_stream **stream)
{
    viewer_stream *s = *stream;
    if (!s) return;
    *stream = NULL;
    tsr_dirac_decoder_destroy(&s->decoder);
    tsr_dirac_source_destroy(&s->source);
    tsr_video_frame_destroy(&s->frame);
    for (int k = 0; k < RECENT; k++) viewer_anatomy_free(&s->recent[k]);
    free(s);
}

const tsr_dirac_sequence *viewer_stream_sequence(const viewer_stream *stream) { return &stream->sequence; }

tsr_status viewer_stream_next(viewer_stream *s, tsr_image *image, viewer_anatomy *anatomy, int *more)
{
    *anatomy = (viewer_anatomy){ 0 };
    *more = s->waits;
    s->waits = 0;
    tsr_status status = *more ? TSR_OK : advance(s, more);
    if (status != TSR_OK || !*more) return status;
    for (int k = 0; k < RECENT; k++)
        if (s->recent[k].bytes && s->recent[k].number == s->number) {
            *anatomy = s->recent[k];
            s->recent[k] = (viewer_anatomy){ 0 };
        }
    status = tsr_video_frame_to_image(&s->frame, image);
    if (status != TSR_OK) viewer_anatomy_free(anatomy);
    return status;
}

/* ---- overlays ------------------------------------------------------------------------------------------------------------------------------ */

static void mix(uint8_t *rgb, const uint8_t with[3], double share)
{
    for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)(rgb[k] + share * (with[k] - rgb[k]) + 0.5);
}

static void line(tsr_image *p, double x0, double y0, double x1, double y1, const uint8_t rgb[3])
{
    const int steps = (int)fmin(4096, ceil(fmax(fabs(x1 - x0), fabs(y1 - y0)))) + 1;
    for (int k = 0; k <= steps; k++) {
        const double x = x0 + (x1 - x0) * k / steps, y = y0 + (y1 - y0) * k / steps;
        if (!(x >= 0 && y >= 0 && x < p->width && y < p->height)) continue;
        memcpy(p->pixels + 3 * ((size_t)y * (size_t)p->width + (size_t)x), rgb, 3);
    }
}

static const uint8_t kinds[4][3] = { { 230, 50, 40 }, { 40, 200, 80 }, { 60, 110, 255 }, { 240, 200, 40 } };

static int alike(const tsr_dirac_block_info *a, const tsr_dirac_block_info *b) { return memcmp(a, b, sizeof *a) == 0; }

/* Edges where two blocks differ, in the colour of the block behind them; all in a tint of it. */
static void draw_blocks(const viewer_anatomy *a, double x, double y, double size, double aspect, uint8_t *rgb)
{
    const int32_t bx = (int32_t)(x / a->separation[0]), by = (int32_t)(y / a->separation[1]);
    if (bx >= a->blocks[0] || by >= a->blocks[1]) return;
    const tsr_dirac_block_info *b = a->block + (int64_t)by * a->blocks[0] + bx;
    const int left = x - (double)bx * a->separation[0] < size / aspect && (!bx || !alike(b, b - 1));
    const int above = y - (double)by * a->separation[1] < size && (!by || !alike(b, b - a->blocks[0]));
    mix(rgb, kinds[b->mode & 3], left || above ? 0.9 : 0.12);
}

static void draw_quantisers(const viewer_anatomy *a, int32_t width, int32_t height, double x, double y, const uint8_t range[2], uint8_t *rgb)
{
    const int32_t sx = (int32_t)(x * a->slices[0] / width), sy = (int32_t)(y * a->slices[1] / height);
    if (sx >= a->slices[0] || sy >= a->slices[1]) return;
    const double q = (a->quantiser[(int64_t)sy * a->slices[0] + sx] - range[0]) / fmax(1, range[1] - range[0]);
    const uint8_t heat[3] = { (uint8_t)(255 * q), (uint8_t)(255 * (1 - fabs(2 * q - 1))), (uint8_t)(255 * (1 - q)) };
    mix(rgb, heat, 0.55);
}

/* Blocks whose middle is beyond the picture, to which superblocks may reach, have none to show. */
static void draw_vectors(const viewer_anatomy *a, int32_t width, int32_t height, double left, double top, double size, double aspect,
                         tsr_image *picture)
{
    const double unit = ldexp(1, -a->precision);
    for (int32_t by = 0; by < a->blocks[1]; by++)
        for (int32_t bx = 0; bx < a->blocks[0]; bx++) {
            const tsr_dirac_block_info *b = a->block + (int64_t)by * a->blocks[0] + bx;
            const double x = (bx + 0.5) * a->separation[0], y = (by + 0.5) * a->separation[1];
            if (x >= width || y >= height) continue;
            for (int r = 0; r < 2 && !b->global; r++)
                if (b->mode >> r & 1)
                    line(picture, (x * aspect - left) / size, (y - top) / size, ((x + unit * b->vector[r][0]) * aspect - left) / size,
                         (y + unit * b->vector[r][1] - top) / size, kinds[1 + r]);
        }
}

void viewer_overlay_draw(const viewer_anatomy *a, int overlay, int32_t width, int32_t height, double left, double top, double size, double aspect,
                         tsr_image *picture)
{
    uint8_t range[2] = { 255, 0 };
    if (overlay == VIEWER_OVER_VECTORS && a->block) draw_vectors(a, width, height, left, top, size, aspect, picture);
    if (overlay == VIEWER_OVER_QUANTISERS ? !a->quantiser : overlay != VIEWER_OVER_BLOCKS || !a->block) return;
    for (int64_t k = 0; a->quantiser && k < (int64_t)a->slices[0] * a->slices[1]; k++) {
        if (a->quantiser[k] < range[0]) range[0] = a->quantiser[k];
        if (a->quantiser[k] > range[1]) range[1] = a->quantiser[k];
    }
    for (int32_t row = 0; row < picture->height; row++)
        for (int32_t column = 0; column < picture->width; column++) {
            const double x = (left + (column + 0.5) * size) / aspect, y = top + (row + 0.5) * size;
            uint8_t *rgb = picture->pixels + 3 * ((size_t)row * (size_t)picture->width + (size_t)column);
            if (!(x >= 0 && y >= 0 && x < width && y < height)) continue;
            if (overlay == VIEWER_OVER_BLOCKS) draw_blocks(a, x, y, size, aspect, rgb);
            else draw_quantisers(a, width, height, x, y, range, rgb);
        }
}
