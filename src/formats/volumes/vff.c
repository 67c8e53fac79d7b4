/* formats/volumes/vff.c: Sun's TAAC format (.vff), as microtomographs write it: "ncaa", lines KEY=value; up to a form feed, then big-endian voxels: 8 bits unsigned, 16
 * signed, 32 float. A voxel is spacing times elementsize mm. Other keys become metadata "vff.KEY"; data_scale and data_offset the scaling. */
#include "formats/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_MOST = 1 << 16, VALUES = 4 };

static int recognise(const tsr_signature *s)
{
    return s->head_bytes >= 5 && !memcmp(s->head, "ncaa", 4) && (s->head[4] == '\n' || s->head[4] == '\r') ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

typedef struct vff_header {
    double rank, bits, bands, element, scale, offset, size[3], spacing[3], origin[3];
    int sized;
    size_t data;
} vff_header;

/* As many numbers as the field has, at most `most`; the rest stay. */
static int take_numbers(const char *text, double *to, int most)
{
    for (int n = most; n > 0; n--)
        if (tsr_parse_numbers(text, to, n)) return n;
    return 0;
}

static tsr_status take_field(const char *name, vff_header *h, const char *key, const char *value, tsr_volume *holder)
{
    const struct {
        const char *key;
        double *to;
        int most;
    } fields[] = { { "rank", &h->rank, 1 },        { "bits", &h->bits, 1 },          { "bands", &h->bands, 1 }, { "elementsize", &h->element, 1 },
                   { "data_scale", &h->scale, 1 }, { "data_offset", &h->offset, 1 }, { "size", h->size, 3 },    { "spacing", h->spacing, 3 },
                   { "origin", h->origin, 3 } };
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
        if (strcmp(fields[k].key, key) != 0) continue;
        const int got = take_numbers(value, fields[k].to, fields[k].most);
        if (!got)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: VFF field '%s' is '%.60s', expected %d number%s", name, key, value, fields[k].most,
                     fields[k].most > 1 ? "s" : "");
        if (fields[k].to == h->size) h->sized = got;
        return TSR_OK;
    }
    char full[64];
    if (!strcmp(key, "type") || !strcmp(key, "format") || !strcmp(key, "rawsize") || !strcmp(key, "value"))
        return TSR_OK; /* nothing that is not known */
    snprintf(full, sizeof full, "vff.%.50s", key);
    if (*value) TSR_TRY(tsr_volume_set_meta(holder, full, value));
    return TSR_OK;
}

static tsr_status take_header(tsr_input *input, vff_header *h, tsr_volume *holder)
{
    const uint8_t *bytes;
    size_t size;
    const char *name = tsr_input_name(input);
    TSR_TRY(tsr_input_head(input, HEAD_MOST, &bytes, &size));
    const uint8_t *end = (const uint8_t *)memchr(bytes, '\f', size);
    if (size < 5 || memcmp(bytes, "ncaa", 4) != 0) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no VFF file, expected 'ncaa' in its first line", name);
    if (!end) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the VFF header has no end, expected a form feed within %d bytes", name, (int)HEAD_MOST);
    h->data = (size_t)(end - bytes) + 1;
    if (h->data < size && bytes[h->data] == '\n') h->data++;
    tsr_text text = tsr_text_make(bytes, (size_t)(end - bytes)), line;
    (void)tsr_text_line(&text, &line);
    while (tsr_text_line(&text, &line)) {
        char copy[1024];
        const char *equals = (const char *)memchr(line.at, '=', (size_t)(line.end - line.at)), *stop = line.end;
        while (stop > line.at && (stop[-1] == ';' || stop[-1] == ' ' || stop[-1] == '\t')) stop--;
        if (!equals || equals >= stop) continue; /* an empty line, or a key without a value */
        if ((size_t)(stop - line.at) >= sizeof copy)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld of the VFF header is longer than %zu bytes", name, (long long)line.line, sizeof copy);
        memcpy(copy, line.at, (size_t)(stop - line.at));
        copy[stop - line.at] = 0;
        copy[equals - line.at] = 0;
        char *key = copy;
        for (key += strspn(key, " \t"); *key && strchr(" \t", key[strlen(key) - 1]);) key[strlen(key) - 1] = 0;
        TSR_TRY(take_field(name, h, key, copy + (equals - line.at) + 1, holder));
    }
    return TSR_OK;
}

static tsr_status build(tsr_input *input, const tsr_read_options *options, const vff_header *h, const tsr_volume *holder, tsr_volume **volume)
{
    const char *name = tsr_input_name(input), *key, *value;
    tsr_layout layout = { .swap = !tsr_host_big_endian(), .dtype = h->bits == 8 ? TSR_U8 : h->bits == 16 ? TSR_I16 : TSR_F32 };
    tsr_axes axes = { 0 };
    tsr_block block;
    tsr_status status;
    double spacing[3], origin[3];
    if (h->bits != 8 && h->bits != 16 && h->bits != 32)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: VFF field 'bits' is %g, expected 8, 16 or 32", name, h->bits);
    if (!(h->bands >= 1 && h->bands <= 1024) || h->bands != floor(h->bands))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: VFF field 'bands' is %g, expected 1 to 1024", name, h->bands);
    if (h->sized < 2) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the VFF header lacks the field 'size' of two or three numbers", name);
    TSR_TRY(tsr_axes_part(&axes, TSR_PART_CHANNEL, (int64_t)h->bands, "bands", input, options));
    for (int k = 0; k < 3; k++) {
        const double n = k < h->sized ? h->size[k] : 1;
        if (!(n >= 1 && n <= INT32_MAX) || n != floor(n))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: VFF field 'size' is %g for axis %d, expected a positive number", name, n, k);
        tsr_axes_space(&axes, (int64_t)n);
        spacing[k] = h->spacing[k] * h->element;
        origin[k] = h->origin[k] * h->element;
        if (!(spacing[k] > 0) || !isfinite(spacing[k]) || !isfinite(origin[k]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: VFF fields 'spacing' and 'elementsize' are %g and %g for axis %d, expected positive numbers", name,
                     h->spacing[k], h->element, k);
    }
    const tsr_geometry geometry =
        tsr_geometry_make((tsr_vec3){ spacing[0], spacing[1], spacing[2] }, (tsr_vec3){ origin[0], origin[1], origin[2] }, TSR_SPACE_NONE);
    TSR_TRY(tsr_axes_read(&axes, input, (int64_t)h->data, NULL, &layout, &block));
    TSR_TRY(tsr_volume_of_block(input, &layout, &geometry, &block, volume));
    memcpy((*volume)->parts, axes.parts, sizeof axes.parts);
    for (int32_t i = 0; tsr_volume_meta_at(holder, i, &key, &value); i++) TSR_TRY_GOTO(tsr_volume_set_meta(*volume, key, value), fail);
    if (h->scale != 0 && isfinite(h->scale) && isfinite(h->offset)) TSR_TRY_GOTO(tsr_volume_set_scaling(*volume, h->scale, h->offset), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    vff_header h = { .rank = 3, .bits = 0, .bands = 1, .element = 1, .scale = 1, .spacing = { 1, 1, 1 } };
    tsr_volume *holder = NULL; /* keeps the metadata until the volume exists */
    TSR_TRY(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 1, 1, 1 }, NULL, &holder));
    tsr_status status = take_header(input, &h, holder);
    if (status == TSR_OK) status = build(input, options, &h, holder, volume);
    tsr_volume_destroy(&holder);
    return status;
}

const tsr_format tsr_format_vff = {
    .name = "vff", .kind = TSR_FILE_VOLUME, .extensions = { ".vff" }, .recognise = recognise, .read_volume = read_volume
};
