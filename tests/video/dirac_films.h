/* Films that suites of the encoder code: textures that move by fractions of a sample, fade, and change. Every sample is a sum of waves, so that displacements are
 * exact. */
#ifndef TSR_TESTS_DIRAC_FILMS_H
#define TSR_TESTS_DIRAC_FILMS_H

#include <math.h>

#include "context.h"

typedef struct film {
    tsr_video_format format;
    double speed[2];  /* samples a frame */
    int fade;         /* frames until another texture has taken its place; 0: none */
    int cut;          /* frame at which another begins; 0: none */
    double contrast;  /* of full range */
} film;

static inline double film_wave(double x, double y, int which)
{
    double sum = 0;
    for (int k = 0; k < 9; k++) {
        const double f = 0.05 + 0.045 * ((k * 5 + which * 3) % 9), a = 0.7 * k + which;
        sum += sin(f * (cos(a) * x + sin(a) * y) + k * which + k) / (1 + 4 * f);
    }
    return sum / 4;
}

static inline double film_value(const film *f, int c, double x, double y, int t)
{
    const int scene = f->cut && t >= f->cut ? 3 : 0;
    const double u = x - f->speed[0] * t, v = y - f->speed[1] * t, first = film_wave(u, v, 1 + scene + c);
    if (!f->fade) return first;
    const double share = (double)t / f->fade;
    return (1 - share) * first + share * film_wave(u, v, 5 + c);
}

static inline void film_frame(const film *f, int t, tsr_video_frame *frame)
{
    const double most = (1 << f->format.bits) - 1, half = 1 << (f->format.bits - 1);
    if (!frame->bytes) require_ok(tsr_video_frame_create(&f->format, frame));
    for (int c = 0; c < 3; c++) {
        const double sx = (double)frame->width[0] / frame->width[c], sy = (double)frame->height[0] / frame->height[c];
        for (int32_t y = 0; y < frame->height[c]; y++)
            for (int32_t x = 0; x < frame->width[c]; x++) {
                const double v = half + f->contrast * (c ? 0.5 : 1) * most * film_value(f, c, x * sx, y * sy, t);
                const int32_t value = v < 0 ? 0 : v > most ? (int32_t)most : (int32_t)(v + 0.5);
                const int64_t at = (int64_t)y * frame->width[c] + x;
                if (f->format.bits > 8) ((uint16_t *)frame->plane[c])[at] = (uint16_t)value;
                else ((uint8_t *)frame->plane[c])[at] = (uint8_t)value;
            }
    }
}

/* A growing row of bytes. */
typedef struct film_bytes {
    unsigned char *at;
    size_t size, room;
} film_bytes;

static inline void film_append(film_bytes *b, const void *bytes, size_t size)
{
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size) + 1024;
        b->at = realloc(b->at, b->room);
        assert_non_null(b->at);
    }
    if (size) memcpy(b->at + b->size, bytes, size);
    b->size += size;
}

/* The stream of `frames` frames. */
static inline void film_encode(const film *f, int frames, const tsr_dirac_encode_options *options, film_bytes *stream)
{
    tsr_dirac_encoder *encoder = NULL;
    tsr_video_frame frame = { .bytes = 0 };
    const void *bytes = NULL;
    size_t size = 0;
    stream->size = 0;
    require_ok(tsr_dirac_encoder_create(context, options, &encoder));
    for (int t = 0; t < frames; t++) {
        film_frame(f, t, &frame);
        require_ok(tsr_dirac_encoder_frame(encoder, &frame, &bytes, &size));
        film_append(stream, bytes, size);
    }
    require_ok(tsr_dirac_encoder_end(encoder, &bytes, &size));
    film_append(stream, bytes, size);
    tsr_dirac_encoder_destroy(&encoder);
    tsr_video_frame_destroy(&frame);
}

#endif
