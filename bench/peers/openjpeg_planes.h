/* bench/peers/openjpeg_planes.h: planes through OpenJPEG (JPEG 2000, libopenjp2) from memory to memory, for benchmarks and for the test that compares
 * coefficients. Every call owns its codec, so that threads may call at once. */
#ifndef TSR_PEERS_OPENJPEG_H
#define TSR_PEERS_OPENJPEG_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <openjpeg.h>

/* One component. `bytes` of a codestream, at most `capacity` where it is written. */
typedef struct openjpeg_stream {
    unsigned char *data;
    size_t bytes, capacity, at;
} openjpeg_stream;

typedef struct openjpeg_options {
    int bits, is_signed; /* of a sample */
    int levels;          /* 0 to 32 */
    int irreversible;    /* the (9,7) in floating point, else the (5,3) of integers */
    float ratio;         /* sample bytes over stream bytes; 0: all that is there */
} openjpeg_options;

static OPJ_SIZE_T openjpeg_read(void *to, OPJ_SIZE_T bytes, void *user)
{
    openjpeg_stream *s = (openjpeg_stream *)user;
    const size_t left = s->bytes - s->at, take = bytes < left ? bytes : left;
    if (!take) return (OPJ_SIZE_T)-1; /* how OpenJPEG wants to hear of the end */
    memcpy(to, s->data + s->at, take);
    s->at += take;
    return take;
}

static OPJ_SIZE_T openjpeg_write(void *from, OPJ_SIZE_T bytes, void *user)
{
    openjpeg_stream *s = (openjpeg_stream *)user;
    if (bytes > s->capacity - s->at) {
        const size_t capacity = 2 * (s->at + bytes);
        unsigned char *data = (unsigned char *)realloc(s->data, capacity);
        if (!data) return (OPJ_SIZE_T)-1;
        s->data = data;
        s->capacity = capacity;
    }
    memcpy(s->data + s->at, from, bytes);
    s->at += bytes;
    if (s->at > s->bytes) s->bytes = s->at;
    return bytes;
}

static OPJ_OFF_T openjpeg_skip(OPJ_OFF_T bytes, void *user)
{
    openjpeg_stream *s = (openjpeg_stream *)user;
    if (bytes < 0 || (uint64_t)bytes > s->bytes - s->at) return -1;
    s->at += (size_t)bytes;
    return bytes;
}

static OPJ_BOOL openjpeg_seek(OPJ_OFF_T at, void *user)
{
    openjpeg_stream *s = (openjpeg_stream *)user;
    if (at < 0 || (uint64_t)at > s->bytes) return OPJ_FALSE;
    s->at = (size_t)at;
    return OPJ_TRUE;
}

static inline opj_stream_t *openjpeg_open(openjpeg_stream *s, OPJ_BOOL reads)
{
    opj_stream_t *stream = opj_stream_default_create(reads);
    if (!stream) return NULL;
    opj_stream_set_read_function(stream, openjpeg_read);
    opj_stream_set_write_function(stream, openjpeg_write);
    opj_stream_set_skip_function(stream, openjpeg_skip);
    opj_stream_set_seek_function(stream, openjpeg_seek);
    opj_stream_set_user_data(stream, s, NULL);
    opj_stream_set_user_data_length(stream, s->bytes);
    s->at = 0;
    return stream;
}

static inline opj_image_t *openjpeg_image(int32_t width, int32_t height, const openjpeg_options *o)
{
    opj_image_cmptparm_t plane;
    memset(&plane, 0, sizeof plane);
    plane.dx = plane.dy = 1;
    plane.w = (OPJ_UINT32)width;
    plane.h = (OPJ_UINT32)height;
    plane.prec = (OPJ_UINT32)o->bits;
    plane.sgnd = (OPJ_UINT32)(o->is_signed != 0);
    opj_image_t *image = opj_image_create(1, &plane, OPJ_CLRSPC_GRAY);
    if (!image) return NULL;
    image->x1 = plane.w;
    image->y1 = plane.h;
    return image;
}

/* Replaces the stream, which the caller frees. Returns 1, or 0 for a failure. */
static inline int openjpeg_encode(const int32_t *samples, int32_t width, int32_t height, const openjpeg_options *o, openjpeg_stream *to)
{
    opj_cparameters_t p;
    opj_image_t *image = openjpeg_image(width, height, o);
    opj_codec_t *codec = opj_create_compress(OPJ_CODEC_J2K);
    opj_stream_t *stream = NULL;
    int good = 0;
    if (!image || !codec) goto done;
    memcpy(image->comps[0].data, samples, (size_t)width * (size_t)height * sizeof *samples);
    opj_set_default_encoder_parameters(&p);
    p.numresolution = o->levels + 1;
    p.irreversible = o->irreversible;
    p.cp_disto_alloc = 1;
    p.tcp_numlayers = 1;
    p.tcp_rates[0] = o->ratio;
    to->bytes = 0;
    stream = openjpeg_open(to, OPJ_STREAM_WRITE);
    good = stream && opj_setup_encoder(codec, &p, image) && opj_start_compress(codec, image, stream) && opj_encode(codec, stream) &&
           opj_end_compress(codec, stream);
done:
    if (stream) opj_stream_destroy(stream);
    if (codec) opj_destroy_codec(codec);
    if (image) opj_image_destroy(image);
    return good;
}

/* The plane, or for `reduce` > 0 the approximation of that level; `samples` has room for the plane. Returns 1, or 0 for a failure. */
static inline int openjpeg_decode(openjpeg_stream *from, uint32_t reduce, int32_t *samples, int32_t *width, int32_t *height)
{
    opj_dparameters_t p;
    opj_codec_t *codec = opj_create_decompress(OPJ_CODEC_J2K);
    opj_stream_t *stream = openjpeg_open(from, OPJ_STREAM_READ);
    opj_image_t *image = NULL;
    opj_set_default_decoder_parameters(&p);
    p.cp_reduce = reduce;
    const int good = codec && stream && opj_setup_decoder(codec, &p) && opj_read_header(stream, codec, &image) && opj_decode(codec, stream, image) &&
                     opj_end_decompress(codec, stream);
    if (good) {
        const opj_image_comp_t *plane = &image->comps[0];
        *width = (int32_t)plane->w;
        *height = (int32_t)plane->h;
        memcpy(samples, plane->data, (size_t)plane->w * plane->h * sizeof *samples);
    }
    if (image) opj_image_destroy(image);
    if (stream) opj_stream_destroy(stream);
    if (codec) opj_destroy_codec(codec);
    return good;
}

#endif
