/* formats/images/jxl.c: JPEG XL pictures through libjxl: the first frame, grey or RGB, with or without alpha; 8 bits, 16 where the file has more, float32 where
 * it holds floats. Written lossless, 8 or 16 bits. */
#include <stdlib.h>
#include <string.h>

#include "formats/images/rasters.h"

#ifdef TSR_HAVE_JXL

#include <jxl/decode.h>
#include <jxl/encode.h>

#include "formats/volume_files.h"

typedef struct jxl_picture {
    tsr_samples samples;
    float *floats; /* [y][x][channels], where the file holds them */
    int64_t width, height;
    int32_t channels, bits;
} jxl_picture;

static tsr_status damaged(const tsr_input *input) { TSR_FAIL(TSR_ERROR_FORMAT, "%s: damaged or truncated JPEG XL picture", tsr_input_name(input)); }

/* Room for the pixels, in the type that keeps them. */
static tsr_status make_room(tsr_input *input, const JxlBasicInfo *info, JxlPixelFormat *pixels, jxl_picture *p)
{
    const int real = info->exponent_bits_per_sample > 0;
    int64_t bytes;
    p->width = info->xsize, p->height = info->ysize;
    p->channels = (int32_t)(info->num_color_channels + (info->alpha_bits > 0));
    p->bits = (int32_t)info->bits_per_sample;
    *pixels = (JxlPixelFormat){ .num_channels = (uint32_t)p->channels,
                                .data_type = real          ? JXL_TYPE_FLOAT
                                             : p->bits > 8 ? JXL_TYPE_UINT16
                                                           : JXL_TYPE_UINT8,
                                .endianness = JXL_NATIVE_ENDIAN };
    if (!real) return tsr_raster_room(input, p->width, p->height, p->channels, p->bits > 8 ? 16 : 8, &p->samples);
    TSR_TRY(tsr_voxel_bytes(input, TSR_F32, (tsr_size3){ p->width, p->height, p->channels }, &bytes));
    tsr_block room;
    TSR_TRY(tsr_input_allocate(input, bytes, "pixels", &room)); /* asks whether so much is allowed */
    tsr_block_release(&room);
    p->floats = (float *)malloc((size_t)bytes);
    if (!p->floats) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    return TSR_OK;
}

static tsr_status decode(tsr_input *input, JxlDecoder *decoder, jxl_picture *p)
{
    const uint8_t *bytes;
    size_t size, wanted;
    JxlBasicInfo info;
    JxlPixelFormat pixels;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    if (JxlDecoderSubscribeEvents(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE) != JXL_DEC_SUCCESS ||
        JxlDecoderSetInput(decoder, bytes, size) != JXL_DEC_SUCCESS)
        return damaged(input);
    JxlDecoderCloseInput(decoder);
    for (;;) switch (JxlDecoderProcessInput(decoder)) {
        case JXL_DEC_BASIC_INFO:
            if (p->channels || JxlDecoderGetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS) return damaged(input);
            TSR_TRY(make_room(input, &info, &pixels, p));
            break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER: {
            const size_t room = (size_t)(p->width * p->height * p->channels) * (p->floats ? 4 : (size_t)p->samples.bits / 8);
            if (JxlDecoderImageOutBufferSize(decoder, &pixels, &wanted) != JXL_DEC_SUCCESS || wanted != room ||
                JxlDecoderSetImageOutBuffer(decoder, &pixels, p->floats ? (void *)p->floats : p->samples.at, room) != JXL_DEC_SUCCESS)
                return damaged(input);
            break;
        }
        case JXL_DEC_FULL_IMAGE: return TSR_OK;
        default: return damaged(input);
        }
}

static tsr_status read_picture(tsr_input *input, jxl_picture *p)
{
    *p = (jxl_picture){ .floats = NULL };
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    if (!decoder) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    const tsr_status status = decode(input, decoder, p);
    JxlDecoderDestroy(decoder);
    if (status != TSR_OK) {
        free(p->samples.at);
        free(p->floats);
    }
    return status;
}

static tsr_status read_image(tsr_input *input, const tsr_read_options *options, tsr_image *image)
{
    jxl_picture p;
    TSR_TRY(read_picture(input, &p));
    if (!p.floats) return tsr_raster_image(&p.samples, p.samples.bits == 16 ? 65535 : 255, p.samples.bits, options, image);
    free(p.floats);
    TSR_FAIL(TSR_ERROR_UNSUPPORTED,
             "%s: JPEG XL of float32 is a volume here, expected a picture of 8 or 16 bits (tessera convert --window LOWER:UPPER --dtype u8)",
             tsr_input_name(input));
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    jxl_picture p;
    (void)options;
    TSR_TRY(read_picture(input, &p));
    tsr_status status;
    if (!p.floats) status = tsr_raster_samples_volume(&p.samples, volume);
    else {
        const int64_t count = p.width * p.height;
        status = tsr_raster_volume(input, p.width, p.height, p.channels, volume);
        for (int64_t i = 0; i < count && status == TSR_OK; i++)
            for (int32_t c = 0; c < p.channels; c++) ((float *)(*volume)->data)[c * count + i] = p.floats[i * p.channels + c];
    }
    free(p.floats);
    return status;
}

/* compression 1 to 9 is the encoder's effort; 3 without it: more costs much and gains little. */
static int prepare(JxlEncoder *encoder, const tsr_samples *s, int compression)
{
    JxlBasicInfo info;
    JxlColorEncoding color;
    const int alpha = s->channels % 2 == 0;
    const JxlPixelFormat pixels = { .num_channels = (uint32_t)s->channels, .data_type = s->bits == 16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, .endianness = JXL_NATIVE_ENDIAN };
    JxlEncoderInitBasicInfo(&info);
    info.xsize = (uint32_t)s->width, info.ysize = (uint32_t)s->height;
    info.bits_per_sample = (uint32_t)s->bits;
    info.num_color_channels = s->channels < 3 ? 1 : 3;
    info.num_extra_channels = (uint32_t)alpha;
    info.alpha_bits = alpha ? (uint32_t)s->bits : 0;
    info.uses_original_profile = JXL_TRUE;
    JxlEncoderFrameSettings *settings = JxlEncoderFrameSettingsCreate(encoder, NULL);
    JxlColorEncodingSetToSRGB(&color, s->channels < 3);
    if (s->bits == 16 && JxlEncoderSetCodestreamLevel(encoder, 10) != JXL_ENC_SUCCESS) return 0; /* 16 bits are not of level 5 */
    return settings && JxlEncoderSetBasicInfo(encoder, &info) == JXL_ENC_SUCCESS && JxlEncoderSetColorEncoding(encoder, &color) == JXL_ENC_SUCCESS &&
           JxlEncoderSetFrameLossless(settings, JXL_TRUE) == JXL_ENC_SUCCESS &&
           JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, compression > 0 ? compression : 3) == JXL_ENC_SUCCESS &&
           JxlEncoderAddImageFrame(settings, &pixels, s->at, tsr_samples_row(s) * (size_t)s->height) == JXL_ENC_SUCCESS;
}

static tsr_status write_samples(const tsr_samples *s, const char *path, const tsr_write_options *options)
{
    uint8_t part[1 << 16];
    tsr_output *out = NULL;
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    if (!encoder) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    JxlEncoderStatus state = prepare(encoder, s, options->compression) ? JXL_ENC_NEED_MORE_OUTPUT : JXL_ENC_ERROR;
    JxlEncoderCloseInput(encoder);
    tsr_status status = state == JXL_ENC_ERROR ? TSR_OK : tsr_output_open(path, options, &out);
    while (status == TSR_OK && state == JXL_ENC_NEED_MORE_OUTPUT) {
        uint8_t *next = part;
        size_t room = sizeof part;
        state = JxlEncoderProcessOutput(encoder, &next, &room);
        status = tsr_output_write(out, part, sizeof part - room);
    }
    if (status == TSR_OK && state != JXL_ENC_SUCCESS)
        status = TSR_FAILED(TSR_ERROR_INTERNAL, "%s: the JPEG XL encoder failed on %d x %d pixels of %d channels", path, s->width, s->height, s->channels);
    JxlEncoderDestroy(encoder);
    return out ? tsr_output_finish(&out, status) : status;
}

#else

static tsr_status write_samples(const tsr_samples *s, const char *path, const tsr_write_options *options)
{
    (void)s, (void)options;
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: this build of tessera has no JPEG XL (libjxl-dev was not found)", path);
}

static tsr_status left_out(const tsr_input *input)
{
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: this build of tessera has no JPEG XL (libjxl-dev was not found)", tsr_input_name(input));
}
static tsr_status read_image(tsr_input *input, const tsr_read_options *options, tsr_image *image)
{
    (void)options, (void)image;
    return left_out(input);
}
static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    (void)options, (void)volume;
    return left_out(input);
}

#endif

static tsr_status write_image(const tsr_image *image, const char *path, const tsr_write_options *options)
{
    const tsr_samples s = { .width = image->width, .height = image->height, .channels = image->channels, .bits = 8, .at = image->pixels };
    return write_samples(&s, path, options);
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    tsr_samples s;
    TSR_TRY(tsr_samples_of_volume(volume, 16, path, "JPEG XL", &s));
    const tsr_status status = write_samples(&s, path, options);
    free(s.at);
    return status;
}

static int recognise(const tsr_signature *s)
{
    return (s->head_bytes >= 2 && !memcmp(s->head, "\xff\x0a", 2)) || (s->head_bytes >= 12 && !memcmp(s->head, "\0\0\0\x0cJXL \r\n\x87\n", 12))
               ? TSR_SURELY_MINE
               : TSR_NOT_MINE;
}

const tsr_format tsr_format_jxl = { .name = "jxl",
                                    .kind = TSR_FILE_IMAGE,
                                    .extensions = { ".jxl" },
                                    .recognise = recognise,
                                    .whole = 1,
                                    .read_image = read_image,
                                    .write_image = write_image,
                                    .read_volume = read_volume,
                                    .write_volume = write_volume };
