/* vision/calibration/targets.c: boards of several kinds: what they are, where their points lie, what they look like. docs/theory/calibration.md 11. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/calibration.h"
#include "vision/calibration/marker_codes.h"

static const char *const kind_name[] = { "chessboard", "circles", "charuco" };

static const struct family {
    const char *name;
    int bits;
} family[] = { { "4x4", 4 }, { "5x5", 5 }, { "6x6", 6 }, { "7x7", 7 }, { "36h11", 6 }, { "original", 5 } };
enum { FAMILIES = (int)(sizeof family / sizeof *family) };

/* ---- markers ---------------------------------------------------------------------------------------------------------------------- */

int tsr_marker_bits(tsr_marker_family f) { return family[f].bits; }

uint64_t tsr_marker_code(tsr_marker_family f, int32_t number)
{
    static const uint8_t row[4] = { 0x10, 0x17, 0x09, 0x0e }; /* two bits of the number in five, their Hamming code */
    uint64_t code = 0;
    switch (f) {
    case TSR_MARKERS_4X4: return tsr_marker_4x4[number];
    case TSR_MARKERS_5X5: return tsr_marker_5x5[number];
    case TSR_MARKERS_6X6: return tsr_marker_6x6[number];
    case TSR_MARKERS_7X7: return tsr_marker_7x7[number];
    case TSR_MARKERS_36H11: return tsr_marker_36h11[number];
    case TSR_MARKERS_ORIGINAL:
        for (int r = 4; r >= 0; r--) code = code << 5 | row[number >> (2 * r) & 3];
        return code;
    }
    return code;
}

uint64_t tsr_marker_turn(uint64_t code, int bits)
{
    uint64_t turned = 0;
    for (int y = 0; y < bits; y++)
        for (int x = 0; x < bits; x++) turned = turned << 1 | (code >> (bits * bits - 1 - (bits * (bits - 1 - x) + y)) & 1);
    return turned;
}

uint64_t tsr_marker_mirror(uint64_t code, int bits)
{
    uint64_t mirrored = 0;
    for (int y = 0; y < bits; y++)
        for (int x = 0; x < bits; x++) mirrored = mirrored << 1 | (code >> (bits * bits - 1 - (bits * y + bits - 1 - x)) & 1);
    return mirrored;
}

static int is_white(const tsr_target *t, int32_t column, int32_t row) { return ((column + row) & 1) != (t->legacy && !(t->rows & 1)); }

int32_t tsr_charuco_marker(const tsr_target *t, int32_t column, int32_t row)
{
    if (column < 0 || row < 0 || column >= t->columns || row >= t->rows || !is_white(t, column, row)) return -1;
    int32_t before = 0;
    for (int32_t r = 0; r < row; r++) before += (t->columns + is_white(t, 0, r)) / 2; /* white ones of the rows above */
    return before + column / 2;                                                       /* every second one of this row */
}

/* ---- what targets are ------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_target_check(const tsr_target *t)
{
    if ((int)t->kind < 0 || t->kind > TSR_TARGET_CHARUCO) TSR_FAIL(TSR_ERROR_ARGUMENT, "target of kind %d, expected 0 to 2", (int)t->kind);
    const int marked = t->kind == TSR_TARGET_CHARUCO;
    const int32_t least = t->kind == TSR_TARGET_CIRCLES ? 2 : 3, most = marked ? 64 : 256;
    if (t->columns < least || t->rows < 3 || t->columns > most || t->rows > most)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s of %d x %d, expected %d to %d columns and 3 to %d rows", kind_name[t->kind], t->columns, t->rows, least,
                 most, most);
    if (!(t->square > 0) || !isfinite(t->square))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: squares of %g, expected a side above 0", kind_name[t->kind], t->square);
    if (!marked && t->marker != 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: markers of %g, expected 0: it has none", kind_name[t->kind], t->marker);
    if (!marked) return TSR_OK;
    if (!(t->marker > 0.3 * t->square && t->marker < 0.95 * t->square))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "charuco: markers of %g in squares of %g, expected 0.3 to 0.95 of a square", t->marker, t->square);
    if ((int)t->markers < 0 || (int)t->markers >= FAMILIES)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "charuco: markers of family %d, expected 0 to %d", (int)t->markers, FAMILIES - 1);
    const int32_t needed = (t->columns * t->rows + 1) / 2;
    if (needed > TSR_MARKER_CODES)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "charuco of %d x %d squares needs %d markers, expected at most %d", t->columns, t->rows, needed,
                 TSR_MARKER_CODES);
    return TSR_OK;
}

tsr_status tsr_target_count(const tsr_target *target, int32_t *count)
{
    TSR_NEEDS(target, count);
    *count = 0;
    TSR_TRY(tsr_target_check(target));
    *count = target->kind == TSR_TARGET_CHARUCO ? (target->columns - 1) * (target->rows - 1) : target->columns * target->rows;
    return TSR_OK;
}

tsr_status tsr_target_point(const tsr_target *target, int32_t index, double at[2])
{
    TSR_NEEDS(target, at);
    int32_t count;
    TSR_TRY(tsr_target_count(target, &count));
    if (index < 0 || index >= count) TSR_FAIL(TSR_ERROR_ARGUMENT, "point %d of a %s, expected 0 to %d", index, kind_name[target->kind], count - 1);
    const int32_t across = target->kind == TSR_TARGET_CHARUCO ? target->columns - 1 : target->columns, x = index % across, y = index / across;
    at[0] = target->square * (target->kind == TSR_TARGET_CIRCLES ? 2 * x + (y & 1) : target->kind == TSR_TARGET_CHARUCO ? x + 1 : x);
    at[1] = target->square * (target->kind == TSR_TARGET_CHARUCO ? y + 1 : y);
    return TSR_OK;
}

/* A number above 0 and the letters behind it; the letters of two numbers are the same. */
static const char *length_of(const char *t, double *value, char unit[16], int *good)
{
    char *end, own[16];
    size_t n = 0;
    *value = strtod(t, &end);
    if (end == t || !isfinite(*value) || !(*value > 0)) *good = 0;
    while (isalpha((unsigned char)*end) && n + 1 < sizeof own) own[n++] = *end++;
    own[n] = 0;
    if (*unit == '?') memcpy(unit, own, sizeof own);
    else if (strcmp(unit, own)) *good = 0;
    return end;
}

/* 4x4, 4x4_50, _100, _250; 36h11; original. -1: none of them, or too few markers in it. */
static int family_of(const char *word, size_t length, int32_t needed)
{
    for (int f = 0; f < FAMILIES; f++) {
        const size_t n = strlen(family[f].name);
        if (length < n || strncmp(word, family[f].name, n)) continue;
        int32_t most = TSR_MARKER_CODES;
        if (length > n) {
            char *end;
            if (word[n] != '_' || f >= TSR_MARKERS_36H11) return -1;
            most = (int32_t)strtol(word + n + 1, &end, 10);
            if (end != word + length || (most != 50 && most != 100 && most != 250)) return -1;
        }
        return needed <= most ? f : -1;
    }
    return -1;
}

static int parse_marked(const char *at, tsr_target *t, char unit[16])
{
    int good = *at == ',';
    if (good) at = length_of(at + 1, &t->marker, unit, &good);
    if (!good || *at != ',') return 0;
    at++;
    const size_t n = strcspn(at, ",");
    const int f = family_of(at, n, (t->columns * t->rows + 1) / 2);
    t->markers = (tsr_marker_family)(f < 0 ? 0 : f);
    t->legacy = at[n] == ',' && !strcmp(at + n + 1, "legacy");
    return f >= 0 && (!at[n] || t->legacy);
}

tsr_status tsr_target_parse(const char *text, tsr_target *target, char unit[16])
{
    TSR_NEEDS(text, target);
    static const char *const form[] = {
        "COLUMNSxROWS,SQUARE of the inner corners, such as 9x6,25mm (3 to 256 each way, a side above 0)",
        "circles:COLUMNSxROWS,STEP, such as circles:4x11,20mm: circles in a row, rows, and from row to row (half of the step in a row)",
        ("charuco:COLUMNSxROWS,SQUARE,MARKER,FAMILY, such as charuco:5x7,30mm,22mm,4x4_50: squares, their side and a marker's, "
        "and 4x4, 5x5, 6x6 or 7x7 with _50, _100 or _250 (as many markers as the board needs), 36h11 or original; a fifth word may be legacy")
    };
    tsr_target t = { .square = 1 };
    char own[16] = "?", *end;
    const char *at = text;
    for (int k = TSR_TARGET_CIRCLES; k <= TSR_TARGET_CHARUCO; k++) {
        const size_t n = strlen(kind_name[k]);
        if (strncmp(text, kind_name[k], n) || text[n] != ':') continue;
        t.kind = (tsr_target_kind)k;
        at = text + n + 1;
    }
    const long columns = strtol(at, &end, 10);
    int good = end != at && (*end == 'x' || *end == 'X') && columns > 0 && columns <= 256;
    at = end + good;
    const long rows = good ? strtol(at, &end, 10) : 0;
    good = good && end != at && rows > 0 && rows <= 256;
    t.columns = (int32_t)columns;
    t.rows = (int32_t)rows;
    at = end;
    if (good && *at == ',') at = length_of(at + 1, &t.square, own, &good);
    else if (t.kind == TSR_TARGET_CHARUCO) good = 0;
    if (good && t.kind == TSR_TARGET_CHARUCO) good = parse_marked(at, &t, own);
    else if (*at) good = 0;
    if (!good || tsr_target_check(&t) != TSR_OK) TSR_FAIL(TSR_ERROR_ARGUMENT, "'%.100s' given, expected %s", text, form[t.kind]);
    *target = t;
    if (unit) memcpy(unit, *own == '?' ? "" : own, *own == '?' ? 1 : sizeof own);
    return TSR_OK;
}

/* ---- finding ---------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_target_find(const tsr_image *image, const tsr_target *target, const tsr_chessboard_options *options, double (*pixel)[2], uint8_t *seen,
                           tsr_target_found *found)
{
    TSR_NEEDS(image, target, pixel, seen, found);
    tsr_chessboard_options o;
    tsr_grey grey = { 0 };
    tsr_target_search s = { .target = target, .pixel = pixel, .seen = seen, .found = TSR_TARGET_FOUND };
    int32_t count;
    TSR_TRY(TSR_STRUCT_BEGUN(found));
    TSR_TRY(TSR_STRUCT_GIVE(found, &s.found));
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(tsr_image_require(image));
    TSR_TRY(tsr_target_count(target, &count));
    memset(seen, 0, (size_t)count);
    if (target->kind == TSR_TARGET_CHESSBOARD) {
        const tsr_chessboard board = { target->columns, target->rows, target->square };
        TSR_TRY(tsr_chessboard_search(image, &board, options, pixel, &s.found.boards));
        s.found.points = s.found.boards ? count : 0;
        memset(seen, s.found.boards > 0, (size_t)count);
        return TSR_STRUCT_GIVE(found, &s.found);
    }
    if (o.window < 0 || o.window > 32) TSR_FAIL(TSR_ERROR_ARGUMENT, "window: %d pixels, expected 1 to 32", o.window);
    if (!(o.contrast >= 0 && o.contrast < 256)) TSR_FAIL(TSR_ERROR_ARGUMENT, "contrast: %g, expected 0 to 255", o.contrast);
    if (image->width < 16 || image->height < 16) return TSR_OK;
    s.contrast = o.contrast > 0 ? o.contrast : 12;
    s.window = o.window;
    TSR_PROGRESS(&o.progress, 0, target->kind == TSR_TARGET_CIRCLES ? "circles" : "markers");
    TSR_TRY(tsr_grey_of(image, &grey));
    s.grey = &grey;
    const tsr_status status = (target->kind == TSR_TARGET_CIRCLES ? tsr_circles_find : tsr_charuco_find)(&s);
    tsr_grey_release(&grey);
    if (status != TSR_OK) return status;
    for (int32_t i = 0; i < count; i++) {
        s.found.points += seen[i];
        pixel[i][0] = seen[i] ? pixel[i][0] + 0.5 : 0;
        pixel[i][1] = seen[i] ? pixel[i][1] + 0.5 : 0;
    }
    return TSR_STRUCT_GIVE(found, &s.found);
}
