/* video/dirac/dirac_levels.c */
#include "video/dirac/dirac_levels.h"

#include <stdio.h>

enum { EXTENTS = 1, CHROMA = 2, SCAN = 4, RATE = 8, ASPECT = 16, CLEAN = 32, RANGE = 64, COLOUR = 128, FIRST_SDI = 64 };

/* One combination that a level allows. */
typedef struct allowed {
    int32_t level, base_first, base_last, fields;
    uint32_t custom; /* fields that may differ from the base format */
    uint32_t must;   /* and those that must */
    int32_t profile, wavelet, depth; /* -1: those of all levels below 64: wavelets 0 to 4, depths 0 to 4 */
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
    { 65, 11, 11, 1, EXTENTS | ASPECT | CLEAN, EXTENTS, 0, 1, 3, { 90, 68 }, 972, 17 },
    { 65, 12, 12, 1, EXTENTS | ASPECT | CLEAN, EXTENTS, 0, 1, 3, { 90, 68 }, 1152, 17 },
    { 66, 17, 18, 0, 0, 0, 3, 1, 3, { 120, 270 }, 0, 0 },
};
enum { COMBINATIONS = sizeof combinations / sizeof *combinations };

static int known(int32_t level)
{
    for (int k = 0; k < COMBINATIONS; k++)
        if (combinations[k].level == level) return 1;
    return 0;
}

/* What a combination has against a header, worded; 0: nothing. */
static int against(const allowed *a, const tsr_dirac_sequence *s, char *text, size_t room)
{
    static const char *const names[] = { "frame extents", "chroma format", "scan format", "frame rate", "pixel aspect ratio", "clean area", "signal range",
                                         "colour specification" };
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
    return 0;
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

int tsr_dirac_level_header(const tsr_dirac_sequence *s, char *text, size_t room)
{
    if (!s->level || s->profile == 1 || s->profile == 2 || s->profile == 8) return 0; /* Dirac's levels say other things */
    if (!known(s->level)) {
        snprintf(text, room, "level is %d, expected 0 to 7 or 64 to 66", s->level);
        return 1;
    }
    return !combination_of(s, text, room);
}

int tsr_dirac_level_transform(const tsr_dirac_sequence *s, const tsr_dirac_transform *t, int custom, char *text, size_t room)
{
    char header[256];
    const allowed *a = s->level && known(s->level) ? combination_of(s, header, sizeof header) : NULL;
    if (!a) return 0;
    const int sdi = s->level >= FIRST_SDI;
    if (sdi ? t->wavelet != a->wavelet : t->wavelet > 4) {
        snprintf(text, room, "level %d: wavelet is %d, expected %d%s", s->level, t->wavelet, sdi ? a->wavelet : 0, sdi ? "" : " to 4");
    } else if (sdi ? t->depth != a->depth : t->depth > 4) {
        snprintf(text, room, "level %d: depth is %d, expected %d%s", s->level, t->depth, sdi ? a->depth : 0, sdi ? "" : " to 4");
    } else if (t->horizontal || t->wavelet_horizontal != t->wavelet) {
        snprintf(text, room, "level %d: an asymmetric transform, expected the same along both axes", s->level);
    } else if (sdi && (t->slices_x != a->slices[0] || t->slices_y != a->slices[1])) {
        snprintf(text, room, "level %d: %d x %d slices, expected %d x %d", s->level, t->slices_x, t->slices_y, a->slices[0], a->slices[1]);
    } else if (a->numerator && ((int64_t)t->numerator != a->numerator || (int64_t)t->denominator != a->denominator)) {
        snprintf(text, room, "level %d: slices of %u / %u bytes, expected %d / %d", s->level, t->numerator, t->denominator, a->numerator, a->denominator);
    } else if (s->level == 66 && (t->prefix || t->scaler != 1)) {
        snprintf(text, room, "level %d: %u prefix bytes and a scaler of %u, expected 0 and 1", s->level, t->prefix, t->scaler);
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
