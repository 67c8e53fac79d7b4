/* What a PNG file says beside its pixels. Chunks: PNG specification, third edition, 11.3. */
#include "formats/images/png_notes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/volume_files.h"
#include "io/text.h"

#define TEXT_KEY "png.text."
enum { MOST_TEXT = 1 << 20, KEYWORD = 80, MOST_TEXTS = 64, ORIENTATION_TAG = 0x0112, CHROMATICITIES = 8 };
#define PARTS 1e-5 /* libpng's fixed point */

/* ---- reading ----------------------------------------------------------------------------------------------------------------------- */

static tsr_status set_numbers(tsr_volume *volume, const char *key, const png_fixed_point *fixed, int count)
{
    double numbers[CHROMATICITIES];
    for (int i = 0; i < count; i++) numbers[i] = fixed[i] * PARTS;
    TSR_TRY(tsr_set_meta_numbers(volume, key, numbers, count));
    return TSR_OK;
}

static tsr_status read_colour(png_structp png, png_infop info, tsr_volume *volume)
{
    static const char *const intents[] = { "perceptual", "relative", "saturation", "absolute" };
    png_fixed_point gamma, c[CHROMATICITIES];
    png_charp name;
    png_bytep profile;
    png_uint_32 bytes;
    int intent, method;
    if (png_get_sRGB(png, info, &intent) && intent >= 0 && intent < 4) TSR_TRY(tsr_volume_set_meta(volume, "png.srgb", intents[intent]));
    else if (png_get_gAMA_fixed(png, info, &gamma)) TSR_TRY(set_numbers(volume, "png.gamma", &gamma, 1));
    if (!png_get_valid(png, info, PNG_INFO_sRGB) && png_get_cHRM_fixed(png, info, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7]))
        TSR_TRY(set_numbers(volume, "png.chromaticities", c, CHROMATICITIES));
    if (png_get_iCCP(png, info, &name, &method, &profile, &bytes)) TSR_TRY(tsr_volume_set_meta(volume, "png.profile", *name ? name : "unnamed"));
    return TSR_OK;
}

/* Latin-1 as UTF-8. */
static char *utf8_of_latin1(const char *text)
{
    char *made = (char *)malloc(2 * strlen(text) + 1), *to = made;
    if (!made) return NULL;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) to = tsr_put_utf8(to, *c);
    *to = 0;
    return made;
}

static tsr_status read_texts(png_structp png, png_infop info, tsr_volume *volume)
{
    png_textp texts = NULL;
    const int count = png_get_text(png, info, &texts, NULL);
    for (int i = 0; i < count && i < MOST_TEXTS; i++) {
        char key[sizeof TEXT_KEY + KEYWORD];
        const int latin = texts[i].compression < PNG_ITXT_COMPRESSION_NONE;
        if (!texts[i].text || strlen(texts[i].text) > MOST_TEXT) continue;
        snprintf(key, sizeof key, "%s%.79s", TEXT_KEY, texts[i].key);
        for (char *c = key; *c; c++)
            if (*c == ' ') *c = '_';
        char *text = latin ? utf8_of_latin1(texts[i].text) : NULL;
        if (latin && !text) TSR_FAIL(TSR_ERROR_MEMORY, "PNG: out of memory for a text of %zu bytes", strlen(texts[i].text));
        const tsr_status status = tsr_volume_set_meta(volume, key, latin ? text : texts[i].text);
        free(text);
        TSR_TRY(status);
    }
    return TSR_OK;
}

static uint32_t number_at(const uint8_t *at, int bytes, int big)
{
    uint32_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint32_t)at[i] << 8 * (big ? bytes - 1 - i : i);
    return v;
}

/* Of a block in TIFF's manner; 0 if it names none from 1 to 8. */
static int orientation_of(const uint8_t *exif, size_t bytes)
{
    if (bytes < 8 || (memcmp(exif, "II*", 4) && memcmp(exif, "MM\0*", 4))) return 0;
    const int big = exif[0] == 'M';
    const uint32_t at = number_at(exif + 4, 4, big);
    if (at > bytes - 2) return 0;
    const uint32_t count = number_at(exif + at, 2, big);
    for (uint32_t i = 0; i < count && at + 2 + (size_t)12 * (i + 1) <= bytes; i++) {
        const uint8_t *entry = exif + at + 2 + 12 * (size_t)i;
        if (number_at(entry, 2, big) != ORIENTATION_TAG) continue;
        const int value = (int)number_at(entry + 8, 2, big);
        return value >= 1 && value <= 8 ? value : 0;
    }
    return 0;
}

tsr_status tsr_png_read_notes(png_structp png, png_infop info, tsr_volume *volume)
{
    png_uint_32 x, y, bytes = 0;
    png_bytep exif = NULL;
    int unit;
    TSR_TRY(read_colour(png, info, volume));
    if (png_get_pHYs(png, info, &x, &y, &unit)) {
        char text[64];
        snprintf(text, sizeof text, "%lu %lu %s", (unsigned long)x, (unsigned long)y, unit == PNG_RESOLUTION_METER ? "per metre" : "aspect");
        TSR_TRY(tsr_volume_set_meta(volume, "png.physical", text));
    }
    TSR_TRY(read_texts(png, info, volume));
    if (png_get_eXIf_1(png, info, &bytes, &exif)) {
        const char digit[2] = { (char)('0' + orientation_of(exif, bytes)), 0 };
        if (*digit != '0') TSR_TRY(tsr_volume_set_meta(volume, "png.orientation", digit));
    }
    return TSR_OK;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------------- */

static void write_colour(png_structp png, png_infop info, const tsr_volume *volume)
{
    static const char *const intents[] = { "perceptual", "relative", "saturation", "absolute" };
    const char *srgb = tsr_volume_meta(volume, "png.srgb");
    double gamma, c[CHROMATICITIES];
    png_fixed_point f[CHROMATICITIES];
    for (int i = 0; srgb && i < 4; i++)
        if (!strcmp(srgb, intents[i])) png_set_sRGB(png, info, i);
    if (tsr_meta_numbers(volume, "png.gamma", &gamma, 1) && gamma > 0 && gamma < 1e4)
        png_set_gAMA_fixed(png, info, (png_fixed_point)lrint(gamma / PARTS));
    if (!tsr_meta_numbers(volume, "png.chromaticities", c, CHROMATICITIES)) return;
    for (int i = 0; i < CHROMATICITIES; i++) {
        if (!(fabs(c[i]) < 1e4)) return;
        f[i] = (png_fixed_point)lrint(c[i] / PARTS);
    }
    png_set_cHRM_fixed(png, info, f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]);
}

static void write_texts(png_structp png, png_infop info, const tsr_volume *volume)
{
    const char *key, *value;
    for (int32_t i = 0; tsr_volume_meta_at(volume, i, &key, &value); i++) {
        char keyword[KEYWORD];
        if (strncmp(key, TEXT_KEY, sizeof TEXT_KEY - 1) || !key[sizeof TEXT_KEY - 1]) continue;
        snprintf(keyword, sizeof keyword, "%s", key + sizeof TEXT_KEY - 1);
        int ascii = 1;
        for (char *c = keyword; *c; c++)
            if (*c == '_') *c = ' ';
        for (const char *c = value; *c; c++) ascii = ascii && !(*c & 0x80);
        png_text text;
        memset(&text, 0, sizeof text);
        text.compression = ascii ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
        text.key = keyword;
        text.text = (png_charp)(uintptr_t)value; /* libpng copies it */
        text.lang = text.lang_key = (png_charp)(uintptr_t) "";
        png_set_text(png, info, &text, 1);
    }
}

/* Pixels per metre, of the two axes of the rows. */
static void write_physical(png_structp png, png_infop info, const tsr_volume *volume)
{
    const char *text = tsr_volume_meta(volume, "png.physical");
    const tsr_vec3 s = tsr_geometry_spacing(&volume->geometry);
    unsigned long x, y;
    char unit[12] = "";
    if (s.x != 1 || s.y != 1) {
        const double nx = 1000 / s.x, ny = 1000 / s.y;
        if (nx >= 1 && ny >= 1 && nx < 2e9 && ny < 2e9) png_set_pHYs(png, info, (png_uint_32)lrint(nx), (png_uint_32)lrint(ny), PNG_RESOLUTION_METER);
    } else if (text && sscanf(text, "%10lu %10lu %10s", &x, &y, unit) == 3 && x <= INT32_MAX && y <= INT32_MAX)
        png_set_pHYs(png, info, (png_uint_32)x, (png_uint_32)y, strcmp(unit, "per") ? PNG_RESOLUTION_UNKNOWN : PNG_RESOLUTION_METER);
}

void tsr_png_write_notes(png_structp png, png_infop info, const tsr_volume *volume)
{
    const char *orientation = tsr_volume_meta(volume, "png.orientation");
    write_colour(png, info, volume);
    write_physical(png, info, volume);
    write_texts(png, info, volume);
    if (orientation && *orientation >= '1' && *orientation <= '8' && !orientation[1]) {
        uint8_t exif[26] = { 'M', 'M', 0, '*', 0, 0, 0, 8, 0, 1, ORIENTATION_TAG >> 8, ORIENTATION_TAG & 255, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0 };
        exif[19] = (uint8_t)(*orientation - '0');
        png_set_eXIf_1(png, info, sizeof exif, exif);
    }
}
