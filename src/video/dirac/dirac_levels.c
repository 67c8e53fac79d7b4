/* video/dirac/dirac_levels.c */
#include "video/dirac/dirac_levels.h"

#include <stdio.h>

enum { EXTENTS = 1, CHROMA = 2, SCAN = 4, RATE = 8, ASPECT = 16, CLEAN = 32, RANGE = 64, COLOUR = 128 };

/* One combination that a level allows. */
typedef struct allowed {
    int32_t level, base_first, base_last, fields;
    uint32_t custom;                           /* fields that may differ from the base format */
    uint32_t must;                             /* and those that must */
    int32_t profile, wavelet, depth;           /* -1: those of all levels below 64: wavelets 0 to 4, depths 0 to 4 */
    int32_t slices[2], numerator, denominator; /* 0: any */
} allowed;

static const allowed combinations[] = {
    { 1, 1, 6, 0, 0, 0, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 2, 7, 7, 1, EXTENTS, 0, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 2, 7, 7, 0, EXTENTS | SCAN, SCAN, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 2, 8, 8, 1, 0, 0, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 2, 22, 22, 1, 0, 0, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 2, 8, 8, 0, SCAN, SCAN, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 2, 22, 22, 0, SCAN, SCAN, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 3, 9, 10, 0, 0, 0, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 3, 13, 14, 0, 0, 0, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 3, 21, 21, 0, 0, 0, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 3, 11, 12, 1, 0, 0, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 3, 11, 12, 0, SCAN, SCAN, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 4, 15, 15, 0, RATE, 0, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 5, 16, 16, 0, 0, 0, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 6, 17, 18, 0, 0, 0, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 7, 19, 20, 0, RATE, 0, -1, -1, -1, { 0, 0 }, 0, 0 },
    { 64, 13, 14, 0, 0, 0, 0, 4, 2, { 120, 270 }, 64, 1 },
    { 65, 9, 9, 0, 0, 0, 0, 1, 3, { 80, 90 }, 243, 5 },
    { 65, 10, 10, 0, 0, 0, 0, 1, 3, { 80, 90 }, 288, 5 },
    { 65, 11, 11, 1, 0, 0, 0, 1, 3, { 120, 68 }, 729, 17 },
    { 65, 12, 12, 1, 0, 0, 0, 1, 3, { 120, 68 }, 864, 17 },
    { 65, 11, 11, 1, EXTENTS | ASPECT | CLEAN, EXTENTS | ASPECT | CLEAN, 0, 1, 3, { 90, 68 }, 972, 17 },
    { 65, 12, 12, 1, EXTENTS | ASPECT | CLEAN, EXTENTS | ASPECT | CLEAN, 0, 1, 3, { 90, 68 }, 1152, 17 },
    { 66, 17, 18, 0, 0, 0, 3, 1, 3, { 120, 270 }, 128, 1 },
};
enum { COMBINATIONS = sizeof combinations / sizeof *combinations };

static int known(int32_t level)
{
    for (int k = 0; k < COMBINATIONS; k++)
        if (combinations[k].level == level) return 1;
    return 0;
}

static const char *const names[] = { "frame extents",      "chroma format", "scan format",  "frame rate",
                                     "pixel aspect ratio", "clean area",    "signal range", "colour specification" };

static int is_ratio(const int32_t ratio[2], int32_t a, int32_t b) { return (int64_t)ratio[0] * b == (int64_t)ratio[1] * a; }

/* Fields that differ from the base format must have certain values; 0: they have. */
static int wrong_value(const allowed *a, const tsr_dirac_sequence *s, char *text, size_t room)
{
    const int32_t width = a->level == 2 ? 720 : 1440, least = a->level == 2 ? 480 : 1080, most = a->level == 2 ? 486 : 1080,
                  hertz = a->level == 4 ? 48 : 60;
    if ((s->custom & EXTENTS) && (s->width != width || s->height < least || s->height > most)) {
        snprintf(text, room, "level %d: a frame of %d x %d, expected %d x %d%s", s->level, s->width, s->height, width, least,
                 most > least ? " to 486" : "");
        return 1;
    }
    if ((s->custom & RATE) && !is_ratio(s->rate, hertz, 1)) {
        snprintf(text, room, "level %d: a frame rate of its own of %d / %d, expected %d", s->level, s->rate[0], s->rate[1], hertz);
        return 1;
    }
    if ((s->custom & ASPECT) && !is_ratio(s->aspect, 4, 3)) {
        snprintf(text, room, "level %d: pixels of %d : %d, expected 4 : 3", s->level, s->aspect[0], s->aspect[1]);
        return 1;
    }
    return 0;
}

/* What a combination has against a header, worded; 0: nothing. */
static int against(const allowed *a, const tsr_dirac_sequence *s, char *text, size_t room)
{
    const uint32_t over = s->custom & ~a->custom, missing = a->must & ~s->custom, wrong = over | missing;
    if (wrong) {
        const int which = __builtin_ctz(wrong);
        snprintf(text, room, "level %d: %s of its own for base format %d: expected %s", s->level, names[which], s->base_format,
                 over >> which & 1 ? "none" : "one");
        return 1;
    }
    if (s->fields != a->fields) {
        snprintf(text, room, "level %d: pictures are %s, expected %s", s->level, s->fields ? "fields" : "frames", a->fields ? "fields" : "frames");
        return 1;
    }
    if (a->profile >= 0 && s->profile != a->profile) {
        snprintf(text, room, "level %d: profile is %d, expected %d", s->level, s->profile, a->profile);
        return 1;
    }
    return wrong_value(a, s, text, room);
}

/* The combination of the header; NULL: there is none, and why. */
static const allowed *combination_of(const tsr_dirac_sequence *s, char *text, size_t room)
{
    int tried = 0;
    for (int k = 0; k < COMBINATIONS; k++) {
        const allowed *a = &combinations[k];
        if (a->level != s->level || s->base_format < a->base_first || s->base_format > a->base_last) continue;
        tried = 1;
        if (!against(a, s, text, room)) return a;
    }
    if (!tried) snprintf(text, room, "level %d: base format is %d, which belongs to another level", s->level, s->base_format);
    return NULL;
}

static int has_level(const tsr_dirac_sequence *s) /* Dirac's levels say other things */
{
    return s->level && s->profile != 1 && s->profile != 2 && s->profile != 8;
}

int tsr_dirac_level_header(const tsr_dirac_sequence *s, char *text, size_t room)
{
    if (!has_level(s)) return 0;
    if (!known(s->level)) {
        snprintf(text, room, "level is %d, expected 0 to 7 or 64 to 66", s->level);
        return 1;
    }
    return !combination_of(s, text, room);
}

static int32_t largest(const tsr_dirac_transform *t) /* of the matrix */
{
    int32_t most = 0;
    for (int level = 0; level <= t->horizontal + t->depth; level++)
        for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) most = tsr_maxi(most, t->matrix[level][band]);
    return most;
}

int tsr_dirac_level_transform(const tsr_dirac_sequence *s, const tsr_dirac_transform *t, int custom, char *text, size_t room)
{
    char header[256];
    const allowed *a = s->level && known(s->level) ? combination_of(s, header, sizeof header) : NULL;
    if (!a) return 0;
    const int sdi = s->level >= TSR_DIRAC_LEVEL_SDI;
    if (sdi ? t->wavelet != a->wavelet : t->wavelet > 4) {
        snprintf(text, room, "level %d: wavelet is %d, expected %d%s", s->level, t->wavelet, sdi ? a->wavelet : 0, sdi ? "" : " to 4");
    } else if (sdi ? t->depth != a->depth : t->depth > 4) {
        snprintf(text, room, "level %d: depth is %d, expected %d%s", s->level, t->depth, sdi ? a->depth : 0, sdi ? "" : " to 4");
    } else if (t->horizontal || t->wavelet_horizontal != t->wavelet) {
        snprintf(text, room, "level %d: an asymmetric transform, expected the same along both axes", s->level);
    } else if (sdi && (t->slices_x != a->slices[0] || t->slices_y != a->slices[1])) {
        snprintf(text, room, "level %d: %d x %d slices, expected %d x %d", s->level, t->slices_x, t->slices_y, a->slices[0], a->slices[1]);
    } else if (a->numerator && t->denominator && ((int64_t)t->numerator != a->numerator || (int64_t)t->denominator != a->denominator)) {
        snprintf(text, room, "level %d: slices of %u / %u bytes, expected %d / %d", s->level, t->numerator, t->denominator, a->numerator,
                 a->denominator);
    } else if (s->level == 66 && (t->prefix || t->scaler != 1)) {
        snprintf(text, room, "level %d: %u prefix bytes and a scaler of %u, expected 0 and 1", s->level, t->prefix, t->scaler);
    } else if (!sdi && custom && largest(t) > 127) {
        snprintf(text, room, "level %d: the quantisation matrix has %d, expected 0 to 127", s->level, largest(t));
    } else if (sdi && custom) {
        snprintf(text, room, "level %d: a quantisation matrix of its own, expected the default one", s->level);
    } else {
        const int32_t deep = t->depth, chroma = s->chroma != TSR_CHROMA_444, low = s->chroma == TSR_CHROMA_420, height = s->height >> s->fields;
        const int64_t round = (int64_t)1 << deep, across = tsr_ceil_div(s->width >> chroma, round), down = tsr_ceil_div(height >> low, round);
        if (sdi || (across % t->slices_x == 0 && down % t->slices_y == 0 && tsr_ceil_div(s->width, round) % t->slices_x == 0 &&
                    tsr_ceil_div(height, round) % t->slices_y == 0))
            return 0;
        snprintf(text, room, "level %d: %d x %d slices, which do not all have the same extents", s->level, t->slices_x, t->slices_y);
    }
    return 1;
}

/* Data units of a sequence: of one kind, or strictly by turns. */
int tsr_dirac_level_order(const tsr_dirac_sequence *s, int32_t code, tsr_dirac_level_units *seen, char *text, size_t room)
{
    const int is_header = code == TSR_DIRAC_SEQUENCE_HEADER,
              fragment = code == TSR_DIRAC_LOW_DELAY_FRAGMENT || code == TSR_DIRAC_HIGH_QUALITY_FRAGMENT;
    const tsr_dirac_level_units before = *seen;
    seen->header = is_header;
    if (code & 8) *(fragment ? &seen->fragments : &seen->pictures) = 1;
    if (code == TSR_DIRAC_END) *seen = (tsr_dirac_level_units){ 0 };
    if (!has_level(s) || !known(s->level) || (s->level < TSR_DIRAC_LEVEL_SDI && !(code & 8))) return 0;
    if (s->level < TSR_DIRAC_LEVEL_SDI && (fragment ? before.pictures : before.fragments)) {
        snprintf(text, room, "level %d: pictures and fragments in one sequence, expected one kind", s->level);
        return 1;
    }
    if (s->level < TSR_DIRAC_LEVEL_SDI || code == TSR_DIRAC_END || (is_header ? !before.header : before.header && (code & 8) && !fragment)) return 0;
    snprintf(text, room, "level %d: %s where a %s is expected: they come by turns", s->level, tsr_dirac_code_name(code),
             before.header ? "picture" : "sequence header");
    return 1;
}

/* ---- for the encoder ----------------------------------------------------------------------------------------------------------------------- */

/* What the film has that the base format has not. Clean area and colours are no properties of samples: they become those of the base. */
static uint32_t differences(const tsr_dirac_sequence *s, const tsr_dirac_sequence *base)
{
    const int range = s->luma_offset != base->luma_offset || s->luma_excursion != base->luma_excursion || s->chroma_offset != base->chroma_offset ||
                      s->chroma_excursion != base->chroma_excursion;
    const int scan = s->interlaced != base->interlaced || (s->interlaced && s->top_field_first != base->top_field_first);
    return (s->width != base->width || s->height != base->height ? EXTENTS : 0u) | (s->chroma != base->chroma ? CHROMA : 0u) | (scan ? SCAN : 0u) |
           (is_ratio(s->rate, base->rate[0], base->rate[1]) ? 0u : RATE) | (is_ratio(s->aspect, base->aspect[0], base->aspect[1]) ? 0u : ASPECT) |
           (range ? RANGE : 0u);
}

/* The header of the film from a base format, its own fields in place of the base's. */
static tsr_dirac_sequence based(const tsr_dirac_sequence *s, const allowed *a, int32_t base)
{
    tsr_dirac_sequence made = *s;
    tsr_dirac_sequence_base(&made, base);
    made.custom = differences(s, &made) | (a->must & CLEAN);
    made.width = s->width;
    made.height = s->height;
    made.chroma = s->chroma;
    made.interlaced = s->interlaced;
    if (made.custom & RATE) memcpy(made.rate, s->rate, sizeof s->rate);
    if (made.custom & ASPECT) memcpy(made.aspect, s->aspect, sizeof s->aspect);
    if (made.custom & CLEAN) {
        made.clean_width = s->width;
        made.clean_height = s->height;
        made.clean_left = made.clean_top = 0;
    }
    if (s->level == 64 || s->level == 65) made.major_version = 2; /* they want it so */
    return made;
}

tsr_status tsr_dirac_level_take(tsr_dirac_sequence *s)
{
    char text[256], nearest[256] = "";
    int least = 99, base_of = 0, is_film = 0;
    if (!known(s->level)) TSR_FAIL(TSR_ERROR_ARGUMENT, "level is %d, expected 0 to 7 or 64 to 66", s->level);
    for (int k = 0; k < COMBINATIONS; k++)
        for (int32_t base = combinations[k].base_first; base <= combinations[k].base_last; base++) {
            const allowed *a = &combinations[k];
            if (a->level != s->level) continue;
            const tsr_dirac_sequence made = based(s, a, base);
            if (!against(a, &made, text, sizeof text)) {
                *s = made;
                return TSR_OK;
            }
            const uint32_t wrong = (made.custom & ~a->custom) | (a->must & ~made.custom);
            const int far = 2 * __builtin_popcount(wrong) + 3 * ((wrong & EXTENTS) != 0) + (made.fields != a->fields);
            if (far >= least) continue;
            least = far;
            base_of = base;
            snprintf(nearest, sizeof nearest, "%s", wrong ? names[__builtin_ctz(wrong)] : text);
            is_film = wrong != 0;
        }
    if (!is_film) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s", nearest);
    tsr_dirac_sequence base = *s;
    tsr_dirac_sequence_base(&base, base_of);
    TSR_FAIL(TSR_ERROR_ARGUMENT,
             "level is %d: the film differs in %s from what comes nearest: %d x %d, %s, %s, %d / %d frames a second, luma from %d to %d", s->level,
             nearest, base.width, base.height, tsr_chroma_name(base.chroma),
             !base.interlaced       ? "progressive"
             : base.top_field_first ? "top field first"
                                    : "bottom field first",
             base.rate[0], base.rate[1], base.luma_offset, base.luma_offset + base.luma_excursion);
}

/* Samples of a slice along an axis, `usual` at most if it can be, such that all slices are alike in luma and chroma. */
static int32_t alike(int32_t luma, int32_t chroma, int32_t depth, int32_t usual)
{
    const int32_t round = 1 << depth, whole = (luma + round - 1) >> depth;
    int32_t slices = whole;
    for (int32_t n = 1; n <= whole; n++)
        if (whole % n == 0 && ((chroma + round - 1) >> depth) % n == 0) {
            slices = n;
            if (whole / n << depth <= usual) break;
        }
    return whole / slices << depth;
}

void tsr_dirac_level_options(const tsr_dirac_sequence *s, tsr_dirac_encode_options *o)
{
    char text[256];
    const allowed *a = combination_of(s, text, sizeof text);
    const int32_t height = s->height >> s->fields;
    if (!a) return;
    if (s->level < TSR_DIRAC_LEVEL_SDI) {
        if (!o->depth) o->depth = 3;
        if (o->depth > 4 || o->depth_horizontal) return; /* an error, later */
        if (!o->slice[0]) o->slice[0] = alike(s->width, s->width >> (s->chroma != TSR_CHROMA_444), o->depth, 32);
        if (!o->slice[1]) o->slice[1] = alike(height, height >> (s->chroma == TSR_CHROMA_420), o->depth, 8);
        return;
    }
    if (!o->wavelet) o->wavelet = 1 + a->wavelet;
    if (!o->depth) o->depth = a->depth;
    if (!o->slice[0]) o->slice[0] = s->width / a->slices[0];
    if (!o->slice[1]) o->slice[1] = ((height + (1 << a->depth) - 1) >> a->depth << a->depth) / a->slices[1];
    if (!o->picture_bytes && !o->lossless && !o->quantiser && !o->bit_rate)
        o->picture_bytes = (int64_t)a->slices[0] * a->slices[1] * a->numerator / a->denominator;
}
