/* formats/images/pnm.c: Netpbm's pictures: PBM, PGM and PPM as text (P1 to P3) and as bytes (P4 to P6), and PAM (P7), of 1 to 16 bits. Bitmaps become 0 and 255, black and
 * white; other samples stay as they are, and a maxval that is not 255 or 65535 becomes metadata. The first picture of several is read, with a remark. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/images/rasters.h"
#include "formats/volume_files.h"

static int recognise(const tsr_signature *s)
{
    return s->head_bytes >= 3 && s->head[0] == 'P' && s->head[1] >= '1' && s->head[1] <= '7' &&
                   (s->head[2] == '\n' || s->head[2] == ' ' || s->head[2] == '\t' || s->head[2] == '\r' || s->head[2] == '#')
               ? TSR_SURELY_MINE
               : TSR_NOT_MINE;
}

typedef struct pnm_header {
    const char *name;
    tsr_text text; /* behind what was read */
    int kind;      /* 1 to 7 */
    int64_t width, height, channels, most;
} pnm_header;

static void skip_comments(tsr_text *t)
{
    for (;;) {
        while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\n' || *t->at == '\r')) t->at++;
        if (t->at == t->end || *t->at != '#') return;
        while (t->at < t->end && *t->at != '\n' && *t->at != '\r') t->at++;
    }
}

static tsr_status take_number(pnm_header *h, const char *what, int64_t least, int64_t most, int64_t *value)
{
    int64_t v = 0;
    int digits = 0;
    skip_comments(&h->text);
    for (; h->text.at < h->text.end && *h->text.at >= '0' && *h->text.at <= '9' && digits < 12; h->text.at++, digits++)
        v = 10 * v + (*h->text.at - '0');
    if (!digits || v < least || v > most)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s in the header of P%d, expected a whole number from %lld to %lld", h->name, what, h->kind, (long long)least,
                 (long long)most);
    *value = v;
    return TSR_OK;
}

/* P7: lines of a word and a number up to ENDHDR. */
static tsr_status take_words(pnm_header *h)
{
    const struct {
        const char *word;
        int64_t *to, most;
    } fields[] = {
        { "WIDTH", &h->width, INT32_MAX }, { "HEIGHT", &h->height, INT32_MAX }, { "DEPTH", &h->channels, 4 }, { "MAXVAL", &h->most, 65535 }
    };
    tsr_text line;
    h->width = h->height = h->channels = h->most = 0;
    for (;;) {
        tsr_word word;
        if (!tsr_text_line(&h->text, &line)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the header of P7 has no ENDHDR", h->name);
        if (!tsr_text_word(&line, &word) || *word.text == '#') continue;
        if (tsr_word_is(word, "ENDHDR")) break;
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
            if (tsr_word_is(word, fields[k].word) &&
                (tsr_text_integer(&line, fields[k].to) != TSR_TEXT_OK || *fields[k].to < 1 || *fields[k].to > fields[k].most))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s in the header of P7, expected a whole number from 1 to %lld", h->name, fields[k].word,
                         (long long)fields[k].most);
    }
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
        if (!*fields[k].to) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the header of P7 lacks %s", h->name, fields[k].word);
    return TSR_OK;
}

static tsr_status take_header(tsr_input *input, pnm_header *h)
{
    const uint8_t *bytes;
    size_t size;
    h->name = tsr_input_name(input);
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    if (size < 3 || bytes[0] != 'P' || bytes[1] < '1' || bytes[1] > '7')
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no Netpbm picture, expected P1 to P7 at its start", h->name);
    h->kind = bytes[1] - '0';
    h->text = tsr_text_make(bytes + 2, size - 2);
    if (h->kind == 7) return take_words(h);
    h->channels = h->kind % 3 == 0 ? 3 : 1;
    h->most = 1;
    TSR_TRY(take_number(h, "the width", 1, INT32_MAX, &h->width));
    TSR_TRY(take_number(h, "the height", 1, INT32_MAX, &h->height));
    if (h->kind % 3 != 1) TSR_TRY(take_number(h, "the greatest value", 1, 65535, &h->most));
    if (h->kind > 3) { /* one blank, then bytes */
        if (h->text.at == h->text.end) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends within its header", h->name);
        h->text.at++;
    }
    return TSR_OK;
}

static int is_bitmap(const pnm_header *h) { return h->kind == 1 || h->kind == 4; }

static tsr_status take_text(pnm_header *h, tsr_samples *s)
{
    const int64_t count = h->width * h->height * h->channels;
    for (int64_t i = 0; i < count; i++) {
        int64_t v = 0;
        if (h->kind == 1) { /* digits need no blanks between them */
            skip_comments(&h->text);
            if (h->text.at == h->text.end || (*h->text.at != '0' && *h->text.at != '1'))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: pixel %lld of a bitmap, expected 0 or 1", h->name, (long long)i);
            s->at[i] = *h->text.at++ == '1' ? 0 : 255;
            continue;
        }
        TSR_TRY(take_number(h, "a sample", 0, h->most, &v));
        if (s->bits == 16) ((uint16_t *)(void *)s->at)[i] = (uint16_t)v;
        else s->at[i] = (uint8_t)v;
    }
    return TSR_OK;
}

static tsr_status take_bytes(tsr_input *input, const pnm_header *h, int64_t bytes, tsr_samples *s)
{
    const uint8_t *from = (const uint8_t *)h->text.at;
    if (h->kind == 4) {
        const int64_t row = (h->width + 7) / 8;
        for (int64_t y = 0; y < h->height; y++)
            for (int64_t x = 0; x < h->width; x++) s->at[y * h->width + x] = from[y * row + x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
        return TSR_OK;
    }
    memcpy(s->at, from, (size_t)bytes);
    if (s->bits == 16 && !tsr_host_big_endian()) tsr_swap_elements(s->at, bytes / 2, 2);
    for (int64_t i = 0, n = h->width * h->height * h->channels; i < n && h->most != 255 && h->most != 65535; i++) {
        const int64_t v = s->bits == 16 ? ((const uint16_t *)(const void *)s->at)[i] : s->at[i];
        if (v > h->most)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: sample %lld is %lld, over the maxval of %lld", tsr_input_name(input), (long long)i, (long long)v,
                     (long long)h->most);
    }
    return TSR_OK;
}

static tsr_status read_samples(tsr_input *input, pnm_header *h, tsr_samples *s)
{
    *s = (tsr_samples){ 0 };
    TSR_TRY(take_header(input, h));
    const int bits = h->most > 255 ? 16 : 8;
    int64_t bytes = h->kind == 4 ? (h->width + 7) / 8 : h->width * h->channels * (bits / 8);
    const int64_t left = h->text.end - h->text.at;
    if (__builtin_mul_overflow(bytes, h->height, &bytes) || bytes / (h->kind < 4 ? bits / 8 : 1) > left)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %lld x %lld pixels, the file has %lld bytes for them", h->name, (long long)h->width,
                 (long long)h->height, (long long)left);
    TSR_TRY(tsr_raster_room(input, h->width, h->height, (int32_t)h->channels, bits, s));
    tsr_status status = h->kind < 4 ? take_text(h, s) : take_bytes(input, h, bytes, s);
    if (status == TSR_OK && h->kind >= 4 && left > bytes)
        tsr_remark("%s: %lld bytes behind the picture (another one?) are left out", h->name, (long long)(left - bytes));
    if (is_bitmap(h)) h->most = 255;
    if (status != TSR_OK) free(s->at);
    return status;
}

static tsr_status read_image(tsr_input *input, const tsr_read_options *options, tsr_image *image)
{
    pnm_header h = { .name = NULL };
    tsr_samples s;
    TSR_TRY(read_samples(input, &h, &s));
    return tsr_raster_image(&s, (int)h.most, h.most > 255 ? 16 : 8, options, image);
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    pnm_header h = { .name = NULL };
    tsr_samples s;
    (void)options;
    TSR_TRY(read_samples(input, &h, &s));
    tsr_status status = tsr_raster_samples_volume(&s, volume);
    const double most = (double)h.most;
    if (status == TSR_OK && h.most != 255 && h.most != 65535) status = tsr_set_meta_numbers(*volume, "pnm.maxval", &most, 1);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}

/* Grey and RGB as P5 and P6, with alpha, and whatever is to be named .pam, as P7. */
static tsr_status write_samples(tsr_samples *s, const char *path, const tsr_write_options *options)
{
    static const char *const types[] = { "", "GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA" };
    const int pam = tsr_path_has_extension(path, ".pam");
    const int64_t count = (int64_t)s->width * s->height * s->channels;
    tsr_output *out = NULL;
    if (!pam && (s->channels % 2 == 0 || (s->channels == 3 && tsr_path_has_extension(path, ".pgm")) || tsr_path_has_extension(path, ".pbm")))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a picture of %d channels, expected .pgm for grey, .ppm for RGB or .pam for all, alpha too", path,
                 s->channels);
    TSR_TRY(tsr_output_open(path, options, &out));
    tsr_status status = pam ? tsr_output_printf(out, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n", s->width, s->height,
                                                s->channels, s->bits == 16 ? 65535 : 255, types[s->channels])
                            : tsr_output_printf(out, "P%d\n%d %d\n%d\n", s->channels == 3 || tsr_path_has_extension(path, ".ppm") ? 6 : 5, s->width,
                                                s->height, s->bits == 16 ? 65535 : 255);
    const int grey_as_rgb = !pam && s->channels == 1 && tsr_path_has_extension(path, ".ppm");
    for (int64_t i = 0; i < count && grey_as_rgb && status == TSR_OK; i++)
        for (int k = 0; k < 3; k++)
            status = tsr_output_elements(out, s->at + i * (s->bits / 8), 1, (size_t)s->bits / 8, s->bits == 16 && !tsr_host_big_endian());
    if (status == TSR_OK && !grey_as_rgb)
        status = tsr_output_elements(out, s->at, count, (size_t)s->bits / 8, s->bits == 16 && !tsr_host_big_endian());
    return tsr_output_finish(&out, status);
}

static tsr_status write_image(const tsr_image *image, const char *path, const tsr_write_options *options)
{
    tsr_samples s = { .width = image->width, .height = image->height, .channels = image->channels, .bits = 8, .at = image->pixels };
    return write_samples(&s, path, options);
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    tsr_samples s;
    TSR_TRY(tsr_samples_of_volume(volume, 16, path, "a Netpbm picture", &s));
    const tsr_status status = write_samples(&s, path, options);
    free(s.at);
    return status;
}

const tsr_format tsr_format_pnm = { .name = "pnm",
                                    .kind = TSR_FILE_IMAGE,
                                    .extensions = { ".pgm", ".ppm", ".pnm", ".pbm", ".pam" },
                                    .recognise = recognise,
                                    .whole = 1,
                                    .read_image = read_image,
                                    .write_image = write_image,
                                    .read_volume = read_volume,
                                    .write_volume = write_volume };
