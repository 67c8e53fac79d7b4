/* video/dirac/syntax.c: data units and sequence headers, presets and checks. */
#include "video/dirac/syntax.h"

int tsr_dirac_unit_read(const uint8_t *bytes, tsr_dirac_unit *unit)
{
    if (memcmp(bytes, "BBCD", 4) != 0) return 0;
    unit->code = bytes[4];
    unit->next = (uint32_t)bytes[5] << 24 | (uint32_t)bytes[6] << 16 | (uint32_t)bytes[7] << 8 | bytes[8];
    unit->previous = (uint32_t)bytes[9] << 24 | (uint32_t)bytes[10] << 16 | (uint32_t)bytes[11] << 8 | bytes[12];
    return 1;
}

const char *tsr_dirac_code_name(int32_t code)
{
    if ((code & 0xf8) == TSR_DIRAC_AUXILIARY) return "auxiliary data";
    switch (code) {
    case TSR_DIRAC_SEQUENCE_HEADER: return "sequence header";
    case TSR_DIRAC_END: return "end of sequence";
    case TSR_DIRAC_PADDING: return "padding";
    case 0x0c: return "intra reference picture, arithmetic coding";
    case 0x08: return "intra picture, arithmetic coding";
    case 0x4c: return "intra reference picture, variable-length coding";
    case 0x48: return "intra picture, variable-length coding";
    case 0x0d: return "reference picture of one reference";
    case 0x0e: return "reference picture of two references";
    case 0x09: return "picture of one reference";
    case 0x0a: return "picture of two references";
    case TSR_DIRAC_STATISTICS | 0x0c: return "intra reference picture, private statistics coding";
    case TSR_DIRAC_STATISTICS | 0x08: return "intra picture, private statistics coding";
    case TSR_DIRAC_STATISTICS | 0x0d: return "reference picture of one reference, private statistics coding";
    case TSR_DIRAC_STATISTICS | 0x0e: return "reference picture of two references, private statistics coding";
    case TSR_DIRAC_STATISTICS | 0x09: return "picture of one reference, private statistics coding";
    case TSR_DIRAC_STATISTICS | 0x0a: return "picture of two references, private statistics coding";
    case TSR_DIRAC_LOW_DELAY_OLD:
    case TSR_DIRAC_LOW_DELAY: return "low-delay picture";
    case TSR_DIRAC_LOW_DELAY_FRAGMENT: return "low-delay fragment";
    case TSR_DIRAC_HIGH_QUALITY: return "high-quality picture";
    case TSR_DIRAC_HIGH_QUALITY_FRAGMENT: return "high-quality fragment";
    default: return NULL;
    }
}

/* ---- presets ------------------------------------------------------------------------------------------------------------------------------- */

typedef struct base_format {
    int32_t width, height, chroma, interlaced, top_first, rate, aspect, clean[4], range, colour; /* clean width 0: the whole frame */
} base_format;

static const base_format base_formats[] = {
    { 640, 480, 2, 0, 0, 1, 1, { 0 }, 1, 0 },
    { 176, 120, 2, 0, 0, 9, 2, { 0 }, 1, 1 },
    { 176, 144, 2, 0, 1, 10, 3, { 0 }, 1, 2 },
    { 352, 240, 2, 0, 0, 9, 2, { 0 }, 1, 1 },
    { 352, 288, 2, 0, 1, 10, 3, { 0 }, 1, 2 },
    { 704, 480, 2, 0, 0, 9, 2, { 0 }, 1, 1 },
    { 704, 576, 2, 0, 1, 10, 3, { 0 }, 1, 2 },
    { 720, 480, 1, 1, 0, 4, 2, { 704, 480, 8, 0 }, 3, 1 },
    { 720, 576, 1, 1, 1, 3, 3, { 704, 576, 8, 0 }, 3, 2 },
    { 1280, 720, 1, 0, 1, 7, 1, { 0 }, 3, 3 },
    { 1280, 720, 1, 0, 1, 6, 1, { 0 }, 3, 3 },
    { 1920, 1080, 1, 1, 1, 4, 1, { 0 }, 3, 3 },
    { 1920, 1080, 1, 1, 1, 3, 1, { 0 }, 3, 3 },
    { 1920, 1080, 1, 0, 1, 7, 1, { 0 }, 3, 3 },
    { 1920, 1080, 1, 0, 1, 6, 1, { 0 }, 3, 3 },
    { 2048, 1080, 0, 0, 1, 2, 1, { 0 }, 4, 4 },
    { 4096, 2160, 0, 0, 1, 2, 1, { 0 }, 4, 4 },
    { 3840, 2160, 1, 0, 1, 7, 1, { 0 }, 3, 5 },
    { 3840, 2160, 1, 0, 1, 6, 1, { 0 }, 3, 5 },
    { 7680, 4320, 1, 0, 1, 7, 1, { 0 }, 3, 5 },
    { 7680, 4320, 1, 0, 1, 6, 1, { 0 }, 3, 5 },
    { 1920, 1080, 1, 0, 1, 1, 1, { 0 }, 3, 3 },
    { 720, 486, 1, 1, 0, 4, 2, { 0 }, 3, 3 },
};
static const int32_t rates[][2] = { { 24000, 1001 }, { 24, 1 }, { 25, 1 }, { 30000, 1001 }, { 30, 1 }, { 50, 1 },  { 60000, 1001 },  { 60, 1 },
                                    { 15000, 1001 }, { 25, 2 }, { 48, 1 }, { 48000, 1001 }, { 96, 1 }, { 100, 1 }, { 120000, 1001 }, { 120, 1 } };
static const int32_t aspects[][2] = { { 1, 1 }, { 10, 11 }, { 12, 11 }, { 40, 33 }, { 16, 11 }, { 4, 3 } };
static const int32_t ranges[][4] = { { 0, 255, 128, 255 },   { 16, 219, 128, 224 },   { 64, 876, 512, 896 },         { 256, 3504, 2048, 3584 },
                                     { 0, 1023, 512, 1023 }, { 0, 4095, 2048, 4095 }, { 4096, 56064, 32768, 57344 }, { 0, 65535, 32768, 65535 } };
/* primaries, matrix, transfer */
static const int32_t colours[][3] = { { 0, 0, 0 }, { 1, 1, 0 }, { 2, 1, 0 }, { 0, 0, 0 }, { 3, 3, 3 }, { 4, 4, 0 }, { 4, 4, 4 }, { 4, 4, 5 } };
enum { BASES = sizeof base_formats / sizeof *base_formats };
#define COUNT(table) ((int32_t)(sizeof(table) / sizeof *(table)))

int32_t tsr_dirac_range_preset(const int32_t range[4], int32_t major)
{
    for (int32_t k = 0; k < (major < 3 ? 4 : COUNT(ranges)); k++)
        if (!memcmp(range, ranges[k], sizeof ranges[k])) return k + 1;
    return 0;
}

static int32_t ratio_preset(const int32_t (*presets)[2], int32_t count, const int32_t ratio[2])
{
    for (int32_t k = 0; k < count; k++)
        if ((int64_t)ratio[0] * presets[k][1] == (int64_t)ratio[1] * presets[k][0]) return k + 1;
    return 0;
}
int32_t tsr_dirac_rate_preset(const int32_t rate[2]) { return ratio_preset(rates, 11, rate); }
int32_t tsr_dirac_aspect_preset(const int32_t aspect[2]) { return ratio_preset(aspects, COUNT(aspects), aspect); }

static void set_range(tsr_dirac_sequence *s, const int32_t range[4])
{
    s->luma_offset = range[0];
    s->luma_excursion = range[1];
    s->chroma_offset = range[2];
    s->chroma_excursion = range[3];
}

static void set_colour(tsr_dirac_sequence *s, const int32_t colour[3])
{
    s->primaries = colour[0];
    s->matrix = colour[1];
    s->transfer = colour[2];
}

void tsr_dirac_sequence_base(tsr_dirac_sequence *s, int32_t index)
{
    const base_format *b = &base_formats[index];
    static const tsr_chroma chromas[] = { TSR_CHROMA_444, TSR_CHROMA_422, TSR_CHROMA_420 };
    s->base_format = index;
    s->width = b->width;
    s->height = b->height;
    s->chroma = chromas[b->chroma];
    s->interlaced = b->interlaced;
    s->top_field_first = b->top_first;
    memcpy(s->rate, rates[b->rate - 1], sizeof s->rate);
    memcpy(s->aspect, aspects[b->aspect - 1], sizeof s->aspect);
    s->clean_width = b->clean[0] ? b->clean[0] : b->width;
    s->clean_height = b->clean[1] ? b->clean[1] : b->height;
    s->clean_left = b->clean[2];
    s->clean_top = b->clean[3];
    set_range(s, ranges[b->range - 1]);
    set_colour(s, colours[b->colour]);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------------------------- */

/* A number of at most `most`. */
static tsr_status read_number(tsr_bits *bits, const char *field, uint32_t least, uint32_t most, int32_t *value)
{
    const uint32_t v = tsr_bits_uint(bits);
    if (tsr_bits_over(bits)) TSR_FAIL(TSR_ERROR_FORMAT, "sequence header: ends before %s", field);
    if (v < least || v > most) TSR_FAIL(TSR_ERROR_FORMAT, "sequence header: %s is %u, expected %u to %u", field, v, least, most);
    *value = (int32_t)v;
    return TSR_OK;
}

/* 0: no preset, the numbers follow. */
static tsr_status read_preset(tsr_bits *bits, const char *field, int32_t count, int32_t *index)
{
    return read_number(bits, field, 0, (uint32_t)count, index);
}

/* Is field `which` there, in place of what follows from the base format? */
static int has_own(tsr_bits *bits, tsr_dirac_sequence *s, int which)
{
    const int own = tsr_bits_flag(bits);
    s->custom |= (uint32_t)own << which;
    return own;
}

/* Own numbers are `least` or more. */
static tsr_status read_ratio(tsr_bits *bits, const char *field, const int32_t (*presets)[2], int32_t count, int32_t least, int32_t ratio[2])
{
    int32_t index = 0;
    TSR_TRY(read_preset(bits, field, count, &index));
    if (index) {
        ratio[0] = presets[index - 1][0];
        ratio[1] = presets[index - 1][1];
        return TSR_OK;
    }
    TSR_TRY(read_number(bits, field, least, INT32_MAX, &ratio[0]));
    return read_number(bits, field, least, INT32_MAX, &ratio[1]);
}

/* FFmpeg's encoder writes 0 : 1 where its film does not say how wide pixels are: as wide as high. */
static tsr_status read_aspect(tsr_bits *bits, int32_t ratio[2])
{
    TSR_TRY(read_ratio(bits, "pixel aspect ratio", aspects, COUNT(aspects), 0, ratio));
    if (!ratio[0] || !ratio[1]) ratio[0] = ratio[1] = 1;
    return TSR_OK;
}

static tsr_status read_picture_fields(tsr_bits *bits, tsr_dirac_sequence *s)
{
    static const tsr_chroma chromas[] = { TSR_CHROMA_444, TSR_CHROMA_422, TSR_CHROMA_420 };
    int32_t index = 0;
    if (has_own(bits, s, 0)) {
        TSR_TRY(read_number(bits, "frame width", 1, TSR_DIRAC_EXTENT, &s->width));
        TSR_TRY(read_number(bits, "frame height", 1, TSR_DIRAC_EXTENT, &s->height));
        s->clean_width = s->width;
        s->clean_height = s->height;
        s->clean_left = s->clean_top = 0;
    }
    if (has_own(bits, s, 1)) {
        TSR_TRY(read_number(bits, "chroma format", 0, 2, &index));
        s->chroma = chromas[index];
    }
    if (has_own(bits, s, 2)) TSR_TRY(read_number(bits, "scan format", 0, 1, &s->interlaced));
    if (has_own(bits, s, 3)) TSR_TRY(read_ratio(bits, "frame rate", rates, COUNT(rates), 1, s->rate));
    if (has_own(bits, s, 4)) TSR_TRY(read_aspect(bits, s->aspect));
    if (has_own(bits, s, 5)) {
        TSR_TRY(read_number(bits, "clean width", 0, TSR_DIRAC_EXTENT, &s->clean_width));
        TSR_TRY(read_number(bits, "clean height", 0, TSR_DIRAC_EXTENT, &s->clean_height));
        TSR_TRY(read_number(bits, "left offset", 0, TSR_DIRAC_EXTENT, &s->clean_left));
        TSR_TRY(read_number(bits, "top offset", 0, TSR_DIRAC_EXTENT, &s->clean_top));
    }
    return TSR_OK;
}

static tsr_status read_sample_fields(tsr_bits *bits, tsr_dirac_sequence *s)
{
    int32_t index = 0;
    if (has_own(bits, s, 6)) {
        TSR_TRY(read_preset(bits, "signal range", COUNT(ranges), &index));
        if (index) {
            set_range(s, ranges[index - 1]);
        } else {
            TSR_TRY(read_number(bits, "luma offset", 0, 65535, &s->luma_offset));
            TSR_TRY(read_number(bits, "luma excursion", 1, 65535, &s->luma_excursion));
            TSR_TRY(read_number(bits, "chroma offset", 0, 65535, &s->chroma_offset));
            TSR_TRY(read_number(bits, "chroma excursion", 1, 65535, &s->chroma_excursion));
        }
    }
    if (has_own(bits, s, 7)) {
        TSR_TRY(read_preset(bits, "colour specification", COUNT(colours) - 1, &index));
        set_colour(s, colours[index]);
        if (!index) {
            if (tsr_bits_flag(bits)) TSR_TRY(read_number(bits, "colour primaries", 0, 4, &s->primaries));
            if (tsr_bits_flag(bits)) TSR_TRY(read_number(bits, "colour matrix", 0, 4, &s->matrix));
            if (tsr_bits_flag(bits)) TSR_TRY(read_number(bits, "transfer function", 0, 5, &s->transfer));
        }
    }
    return TSR_OK;
}

static int32_t bits_of(int32_t excursion) { return 32 - __builtin_clz((unsigned)excursion); }

tsr_status tsr_dirac_sequence_read(tsr_bits *bits, tsr_dirac_sequence *sequence)
{
    tsr_dirac_sequence s = { .struct_size = sizeof s };
    int32_t base = 0;
    TSR_TRY(read_number(bits, "major version", 0, 1000, &s.major_version));
    TSR_TRY(read_number(bits, "minor version", 0, 1000, &s.minor_version));
    TSR_TRY(read_number(bits, "profile", 0, 1000, &s.profile));
    TSR_TRY(read_number(bits, "level", 0, 1000, &s.level));
    TSR_TRY(read_number(bits, "base video format", 0, BASES - 1, &base));
    tsr_dirac_sequence_base(&s, base);
    TSR_TRY(read_picture_fields(bits, &s));
    TSR_TRY(read_sample_fields(bits, &s));
    TSR_TRY(read_number(bits, "picture coding mode", 0, 1, &s.fields));
    if (tsr_bits_over(bits)) TSR_FAIL(TSR_ERROR_FORMAT, "sequence header: ends before picture coding mode");
    const int32_t down = (s.chroma == TSR_CHROMA_420) + s.fields, across = s.chroma != TSR_CHROMA_444;
    if (s.width % (1 << across) || s.height % (1 << down))
        TSR_FAIL(TSR_ERROR_FORMAT, "sequence header: a frame of %d x %d, expected multiples of %d and %d for %s%s", s.width, s.height, 1 << across,
                 1 << down, tsr_chroma_name(s.chroma), s.fields ? " in fields" : "");
    if (s.clean_left + s.clean_width > s.width || s.clean_top + s.clean_height > s.height)
        TSR_FAIL(TSR_ERROR_FORMAT, "sequence header: a clean area of %d x %d at %d, %d, expected one within %d x %d", s.clean_width, s.clean_height,
                 s.clean_left, s.clean_top, s.width, s.height);
    s.luma_depth = bits_of(s.luma_excursion);
    s.chroma_depth = bits_of(s.chroma_excursion);
    *sequence = s;
    return TSR_OK;
}
