/* The description of a TIFF file, read and written. Of OME-XML (www.openmicroscopy.org, schema 2016-06) the images of one file are read. */
#include "formats/volumes/tiff/tiff.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

void tsr_tiff_notes_free(tsr_tiff_notes *n)
{
    tsr_volume_destroy(&n->holder);
    free(n->order.page);
    free(n->order.file);
    tsr_names_free(&n->order.files);
    *n = (tsr_tiff_notes){ 0 };
}

static void add_axis(tsr_tiff_order *order, char role, int64_t size)
{
    if (order->axes == 3) return;
    order->role[order->axes] = role;
    order->size[order->axes++] = size;
}

/* A unit of length that a volume can have; others are kept as metadata alone. */
static tsr_status take_unit(tsr_volume *holder, const char *name)
{
    static const char *const micro[] = { "\\u00B5m", "\\u00b5m", "&#181;m", "&#xB5;m", "&#xb5;m", "\xb5m", "\xc2\xb5m", "\xce\xbcm" };
    for (size_t i = 0; i < sizeof micro / sizeof *micro; i++)
        if (!strcmp(name, micro[i])) name = "um";
    if (*name && tsr_volume_set_unit(holder, name) != TSR_OK) TSR_TRY(tsr_volume_set_meta(holder, "tiff.unit", name));
    return TSR_OK;
}

static int64_t product(const tsr_tiff_order *o)
{
    int64_t n = 1;
    for (int k = 0; k < o->axes; k++)
        if (__builtin_mul_overflow(n, o->size[k], &n)) return -1;
    return n;
}

/* ---- ImageJ ------------------------------------------------------------------------------------------------------------------------------------ */

struct imagej {
    double spacing, origin[3];
    int64_t images, counts[3]; /* channels, slices, frames */
};

static tsr_status take_note(tsr_tiff_notes *n, const char *key, const char *value)
{
    n->placed |= !strcmp(key, "tessera.affine");
    return tsr_volume_take_note(n->holder, key, value);
}

static tsr_status imagej_line(tsr_tiff_notes *n, struct imagej *j, const char *key, const char *value)
{
    tsr_volume *holder = n->holder;
    static const char *const counts[] = { "channels", "slices", "frames" }, *const origins[] = { "xorigin", "yorigin", "zorigin" };
    static const char *const dropped[] = { "ImageJ", "hyperstack", "loop", "mode", "unit", "yunit", "zunit", "images", "spacing" };
    double number = 0;
    const int is_number = tsr_parse_numbers(value, &number, 1) && isfinite(number);
    if (!strncmp(key, "meta.", 5) || !strncmp(key, "tessera.", 8)) return take_note(n, key, value);
    if (!strcmp(key, "unit")) return take_unit(holder, value);
    if (is_number && !strcmp(key, "spacing") && number != 0) j->spacing = fabs(number);
    if (is_number && !strcmp(key, "images") && number >= 1 && number < 1e15) j->images = (int64_t)number;
    for (int k = 0; k < 3; k++) {
        if (!strcmp(key, counts[k])) {
            if (is_number && number >= 1 && number < 1e15) j->counts[k] = (int64_t)number;
            return TSR_OK;
        }
        if (!strcmp(key, origins[k])) {
            if (is_number) j->origin[k] = number;
            return TSR_OK;
        }
    }
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        if (!strcmp(key, dropped[i])) return TSR_OK;
    char name[160];
    snprintf(name, sizeof name, "imagej.%.120s", key);
    return tsr_volume_set_meta(holder, name, value);
}

/* \n and \\ in values that tessera wrote. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *c = text; *c; c++) {
        if (c[0] == '\\' && c[1] == 'n') *to++ = '\n', c++;
        else if (c[0] == '\\' && c[1] == '\\') *to++ = '\\', c++;
        else *to++ = *c;
    }
    *to = 0;
}

static tsr_status describe_imagej(const tsr_input *input, const char *text, int64_t pages, tsr_tiff_notes *n)
{
    struct imagej j = { .images = 1, .counts = { 1, 1, 1 } };
    char *copy = strdup(text);
    tsr_status status = copy ? TSR_OK : TSR_ERROR_MEMORY;
    for (char *line = copy, *end; line && status == TSR_OK; line = end) {
        end = strchr(line, '\n');
        if (end) *end++ = 0;
        line[strcspn(line, "\r")] = 0;
        char *equals = strchr(line, '=');
        if (!equals || equals == line) continue;
        *equals = 0;
        if (!strncmp(line, "meta.", 5)) unescape(equals + 1);
        status = imagej_line(n, &j, line, equals + 1);
    }
    free(copy);
    if (status == TSR_ERROR_MEMORY && !copy) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    TSR_TRY(status);
    n->promised = j.images;
    n->has_z = j.spacing != 0;
    n->contiguous = 1;
    if (j.spacing != 0 && !n->placed) n->holder->geometry.affine[2][2] = j.spacing;
    for (int k = 0; k < 3; k++) n->origin[k] = j.origin[k];
    const int64_t all = pages > 1 ? pages : j.images;
    add_axis(&n->order, 'c', j.counts[0]);
    add_axis(&n->order, 'z', j.counts[1]);
    add_axis(&n->order, 't', j.counts[2]);
    if (product(&n->order) != all) { /* a stack that does not say how it is cut, or RGB whose channels are samples */
        const int64_t slices = j.counts[1] * j.counts[2] == all ? j.counts[1] : all;
        n->order = (tsr_tiff_order){ 0 };
        add_axis(&n->order, 'z', slices);
        add_axis(&n->order, 't', all / slices);
    }
    n->order.pages = all;
    return TSR_OK;
}

/* ---- OME-XML ----------------------------------------------------------------------------------------------------------------------------------- */

/* A tag: its name, and where its attributes end. */
struct tag {
    tsr_word name, attributes;
    int closes, ends; /* </name> or <name/>; </name> */
};

static int next_tag(tsr_text *t, struct tag *tag)
{
    const char *open = t->at < t->end ? (const char *)memchr(t->at, '<', (size_t)(t->end - t->at)) : NULL;
    if (!open) return 0;
    const char *at = ++open;
    char quote = 0;
    if (t->end - at > 3 && !memcmp(at, "!--", 3)) { /* a comment */
        while (at + 2 < t->end && memcmp(at, "-->", 3)) at++;
        *tag = (struct tag){ { open, 0 }, { open, 0 }, 0, 0 };
        t->at = at;
        return 1;
    }
    while (at < t->end && (quote || *at != '>')) {
        if (quote && *at == quote) quote = 0;
        else if (!quote && (*at == '"' || *at == '\'')) quote = *at;
        at++;
    }
    if (at == t->end) return 0;
    t->at = at + 1;
    tag->ends = *open == '/';
    tag->closes = tag->ends || at[-1] == '/';
    open += tag->ends;
    const char *name = open;
    while (open < at && !strchr(" \t\r\n/", *open)) open++;
    for (const char *c = name; c < open; c++)
        if (*c == ':') name = c + 1; /* of a namespace */
    tag->name = (tsr_word){ name, (size_t)(open - name) };
    tag->attributes = (tsr_word){ open, (size_t)(at - open) };
    return 1;
}

/* The value of an attribute, copied; 0 if there is none. Of entities those that XML itself names are put back. */
static int attribute(const struct tag *tag, const char *name, char *value, size_t room)
{
    static const char *const entities[][2] = { { "&lt;", "<" },    { "&gt;", ">" },   { "&amp;", "&" },
                                               { "&quot;", "\"" }, { "&apos;", "'" }, { "&#10;", "\n" } };
    const char *at = tag->attributes.text, *end = at + tag->attributes.size;
    while (at < end) {
        while (at < end && strchr(" \t\r\n/", *at)) at++;
        const char *key = at;
        while (at < end && *at != '=') at++;
        size_t length = (size_t)(at - key);
        while (length && strchr(" \t\r\n", key[length - 1])) length--;
        at++;
        while (at < end && strchr(" \t\r\n", *at)) at++;
        if (at >= end || (*at != '"' && *at != '\'')) return 0;
        const char quote = *at++, *close = (const char *)memchr(at, quote, (size_t)(end - at));
        if (!close) return 0;
        if (length == strlen(name) && !memcmp(key, name, length)) {
            size_t used = 0;
            while (at < close && used + 1 < room) {
                size_t step = 1;
                char letter = *at;
                for (size_t e = 0; e < sizeof entities / sizeof *entities; e++)
                    if ((size_t)(close - at) >= strlen(entities[e][0]) && !memcmp(at, entities[e][0], strlen(entities[e][0])))
                        letter = entities[e][1][0], step = strlen(entities[e][0]);
                value[used++] = letter;
                at += step;
            }
            value[used] = 0;
            return 1;
        }
        at = close + 1;
    }
    return 0;
}

static int64_t whole(const struct tag *tag, const char *name, int64_t missing)
{
    char text[32];
    double number;
    if (!attribute(tag, name, text, sizeof text) || !tsr_parse_numbers(text, &number, 1) || !(number >= 0 && number < 1e15)) return missing;
    return (int64_t)number;
}

struct ome {
    const tsr_input *input;
    tsr_tiff_notes *notes;
    int64_t pages, wanted, image; /* image: the number of the one whose tags are read, from 0 */
    int64_t size[3], samples;     /* z, c / samples, t */
    int64_t next_page;            /* of images whose TiffData do not say */
    int64_t ifd, first[3], planes;
    int open, mapped; /* within the TiffData of the image that is wanted; it had one */
    int32_t file;     /* of the TiffData at hand */
    char order[8];
};

static tsr_status take_pixels(struct ome *o, const struct tag *tag)
{
    static const char *const physical[] = { "PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeZ" };
    tsr_volume *holder = o->notes->holder;
    char text[64], name[40];
    o->size[0] = whole(tag, "SizeZ", 1);
    o->size[1] = whole(tag, "SizeC", 1);
    o->size[2] = whole(tag, "SizeT", 1);
    o->samples = 1;
    if (!attribute(tag, "DimensionOrder", o->order, sizeof o->order) || strlen(o->order) != 5 || strncmp(o->order, "XY", 2))
        strcpy(o->order, "XYZCT");
    for (int k = 0; k < 3; k++) {
        double value = 0;
        if (!attribute(tag, physical[k], text, sizeof text) || !tsr_parse_numbers(text, &value, 1) || !(value > 0) || !isfinite(value)) continue;
        holder->geometry.affine[k][k] = value;
        if (k < 2) o->notes->has_xy = 1;
        else o->notes->has_z = 1;
        snprintf(name, sizeof name, "%sUnit", physical[k]);
        if (!attribute(tag, name, text, sizeof text)) strcpy(text, "um"); /* the schema's default */
        if (k == 0) TSR_TRY(take_unit(holder, text));
    }
    if (attribute(tag, "TimeIncrement", text, sizeof text)) TSR_TRY(tsr_volume_set_meta(holder, "ome.TimeIncrement", text));
    if (o->size[0] < 1 || o->size[1] < 1 || o->size[2] < 1 || o->size[0] > 1 << 28 || o->size[1] > 1 << 28 || o->size[2] > 1 << 28)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: OME-XML: SizeZ, SizeC and SizeT are %lld, %lld and %lld, expected 1 or more", tsr_input_name(o->input),
                 (long long)o->size[0], (long long)o->size[1], (long long)o->size[2]);
    return TSR_OK;
}

/* The axes of the pages, once samples per pixel are known. */
static tsr_status start_table(struct ome *o)
{
    tsr_tiff_order *order = &o->notes->order;
    if (order->axes) return TSR_OK;
    if (o->samples > 1 && o->size[1] % o->samples == 0) o->size[1] /= o->samples, order->samples_are_channels = 1;
    for (int k = 2; k < 5; k++)
        add_axis(order,
                 o->order[k] == 'Z'   ? 'z'
                 : o->order[k] == 'C' ? 'c'
                                      : 't',
                 o->order[k] == 'Z'   ? o->size[0]
                 : o->order[k] == 'C' ? o->size[1]
                                      : o->size[2]);
    const int64_t n = product(order);
    if (n < 1 || n > ((int64_t)1 << 26))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: OME-XML asks for %lld planes, the file has %lld pages", tsr_input_name(o->input), (long long)n,
                 (long long)o->pages);
    order->page = (int64_t *)malloc((size_t)n * sizeof *order->page);
    if (!order->page) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld planes", tsr_input_name(o->input), (long long)n);
    order->file = (int32_t *)calloc((size_t)n, sizeof *order->file);
    if (!order->file) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld planes", tsr_input_name(o->input), (long long)n);
    for (int64_t i = 0; i < n; i++) order->page[i] = -1;
    order->pages = n;
    return TSR_OK;
}

static tsr_status end_tiff_data(struct ome *o)
{
    tsr_tiff_order *order = &o->notes->order;
    int64_t at = 0, stride = 1;
    o->open = 0;
    o->mapped = 1;
    TSR_TRY(start_table(o));
    for (int k = 0; k < order->axes; k++) {
        const int64_t first = o->first[order->role[k] == 'z' ? 0 : order->role[k] == 'c' ? 1 : 2];
        if (first >= order->size[k]) return TSR_OK; /* of a plane that the image has not */
        at += stride * first;
        stride *= order->size[k];
    }
    const int64_t count = o->planes < 0 ? (o->ifd < 0 && o->planes == -2 ? order->pages - at : 1) : o->planes, from = o->ifd < 0 ? 0 : o->ifd;
    for (int64_t i = 0; i < count && at + i < order->pages; i++) {
        order->page[at + i] = from + i;
        order->file[at + i] = o->file;
    }
    return TSR_OK;
}

static tsr_status begin_tiff_data(struct ome *o, const struct tag *tag)
{
    o->ifd = whole(tag, "IFD", -1);
    o->first[0] = whole(tag, "FirstZ", 0);
    o->first[1] = whole(tag, "FirstC", 0);
    o->first[2] = whole(tag, "FirstT", 0);
    o->planes = whole(tag, "PlaneCount", o->ifd < 0 ? -2 : -1);
    o->open = 1;
    o->file = 0;
    return tag->closes ? end_tiff_data(o) : TSR_OK;
}

/* Planes of a data set may be spread over files. */
static tsr_status take_uuid(struct ome *o, const struct tag *tag)
{
    enum { FILES_MOST = 1 << 16 };
    tsr_names *files = &o->notes->order.files;
    const char *one = files->text;
    char name[256];
    if (!attribute(tag, "FileName", name, sizeof name) || !*name) return TSR_OK;
    if (files->used > strlen(name) && !strcmp(files->text + files->used - strlen(name) - 1, name)) { /* most planes lie in the file of the one before */
        o->file = (int32_t)files->count - 1;
        return TSR_OK;
    }
    for (o->file = 0; o->file < files->count && strcmp(one, name); o->file++) one += strlen(one) + 1;
    if (o->file < files->count) return TSR_OK;
    if (files->count == FILES_MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: OME-XML names more than %d files", tsr_input_name(o->input), FILES_MOST);
    return tsr_names_add(files, name, strlen(name));
}

/* Of an image, by its <Pixels>; INT32_MAX if they are more. */
static int64_t planes_of(const struct tag *pixels)
{
    static const char *const sizes[] = { "SizeZ", "SizeC", "SizeT" };
    int64_t planes = 1;
    for (int k = 0; k < 3; k++) planes = tsr_min64(planes * tsr_min64(whole(pixels, sizes[k], 1), INT32_MAX), INT32_MAX);
    return planes;
}

static tsr_status take_tag(struct ome *o, const struct tag *tag, char key[256])
{
    char text[512];
    const int end = tag->ends, here = o->image == o->wanted;
    if (tsr_word_is(tag->name, "BinaryOnly"))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: its OME-XML lies in another file (%.80s), expected it in this one: Bio-Formats (bfconvert) puts it there",
                 tsr_input_name(o->input), attribute(tag, "MetadataFile", text, sizeof text) ? text : "unnamed");
    if (tsr_word_is(tag->name, "Image") && !end) {
        o->image++;
        if (o->image == o->wanted && attribute(tag, "Name", text, sizeof text) && *text)
            TSR_TRY(tsr_volume_set_meta(o->notes->holder, "ome.Name", text));
    }
    if (tsr_word_is(tag->name, "UUID") && !end && here && o->open) TSR_TRY(take_uuid(o, tag));
    if (tsr_word_is(tag->name, "M") && !end && attribute(tag, "K", key, 256)) return TSR_OK;
    if (tsr_word_is(tag->name, "M") && end && *key) key[0] = 0;
    if (!here) {
        if (tsr_word_is(tag->name, "Pixels") && !end && o->image < o->wanted) o->next_page = tsr_min64(o->next_page + planes_of(tag), o->pages);
        return TSR_OK;
    }
    if (tsr_word_is(tag->name, "Pixels") && !end) return take_pixels(o, tag);
    if (tsr_word_is(tag->name, "Channel") && !end) {
        o->samples = tsr_max64(o->samples, whole(tag, "SamplesPerPixel", 1));
        if (attribute(tag, "Name", text, sizeof text) && *text) {
            const char *names = tsr_volume_meta(o->notes->holder, "ome.channels");
            char all[1024];
            snprintf(all, sizeof all, "%s%s%.200s", names ? names : "", names ? ", " : "", text);
            TSR_TRY(tsr_volume_set_meta(o->notes->holder, "ome.channels", all));
        }
    }
    if (tsr_word_is(tag->name, "TiffData")) return end ? (o->open ? end_tiff_data(o) : TSR_OK) : begin_tiff_data(o, tag);
    return TSR_OK;
}

/* The text behind <M K="key">. */
static tsr_status take_map(struct ome *o, const tsr_text *t, const char *key)
{
    char value[4096];
    const size_t length = (size_t)(t->end - t->at) < sizeof value - 8 ? (size_t)(t->end - t->at) : sizeof value - 8;
    const char *end = (const char *)memchr(t->at, '<', length);
    const size_t n = end ? (size_t)(end - t->at) : length;
    char quoted[4200];
    snprintf(quoted, sizeof quoted, " V=\"%.*s\"", (int)n, t->at);
    for (char *c = quoted + 4; *c && c[1]; c++)
        if (*c == '"') *c = '\'';
    const struct tag tag = { .attributes = { quoted, strlen(quoted) } };
    if (!strncmp(key, "meta.", 5) || !strncmp(key, "tessera.", 8))
        if (attribute(&tag, "V", value, sizeof value)) TSR_TRY(take_note(o->notes, key, value));
    return TSR_OK;
}

/* One name is this file's, whatever it is called by now, unless it has not the planes and another one of that name is there. */
static int are_several(const tsr_input *input, const tsr_tiff_order *order, int64_t pages)
{
    const char *path = tsr_input_path(input);
    char beside[PATH_MAX];
    if (!path || !order->files.count) return 0;
    if (order->files.count > 1) return 1;
    int64_t most = -1;
    for (int64_t i = 0; i < order->pages; i++) most = tsr_max64(most, order->page[i]);
    if (most < pages || !strcmp(tsr_path_file(path), order->files.text)) return 0;
    return snprintf(beside, sizeof beside, "%.*s%s", (int)(tsr_path_file(path) - path), path, order->files.text) < (int)sizeof beside && !access(beside, R_OK);
}

static tsr_status describe_ome(const tsr_input *input, const char *text, int64_t pages, int64_t wanted, tsr_tiff_notes *n)
{
    struct ome o = { .input = input, .notes = n, .pages = pages, .wanted = wanted, .image = -1, .samples = 1, .size = { 1, 1, 1 } };
    tsr_text t = tsr_text_make(text, strlen(text));
    struct tag tag;
    char key[256] = "";
    while (next_tag(&t, &tag)) {
        key[0] = 0;
        TSR_TRY(take_tag(&o, &tag, key));
        if (*key) TSR_TRY(take_map(&o, &t, key));
    }
    n->series = o.image + 1;
    if (!n->series) return TSR_OK;
    if (wanted >= n->series) return TSR_OK; /* the caller says so */
    TSR_TRY(start_table(&o));
    for (int64_t i = 0; i < n->order.pages && !o.mapped; i++) n->order.page[i] = o.next_page + i;
    if (are_several(input, &n->order, pages)) return TSR_OK;
    free(n->order.file);
    n->order.file = NULL;
    for (int64_t i = 0; i < n->order.pages; i++)
        if (n->order.page[i] >= pages) n->order.page[i] = -1;
    return TSR_OK;
}

/* ---- tifffile ---------------------------------------------------------------------------------------------------------------------------------- */

/* {"shape": [2, 3, 5, 7], "axes": "TZYX"}: the letters before YX say what the pages are. "truncated": the first page alone has a header. */
static void describe_shaped(const char *text, int64_t pages, tsr_tiff_notes *n)
{
    const char *shape = strstr(text, "\"shape\""), *axes = strstr(text, "\"axes\"");
    int64_t size[8];
    char roles[9] = "";
    int count = 0;
    shape = shape ? strchr(shape, '[') : NULL;
    axes = axes ? strchr(axes + 6, '"') : NULL;
    for (char *end; shape && count < 8 && *shape && *shape != ']'; shape = end) {
        size[count] = strtoll(shape + 1, &end, 10);
        if (end == shape + 1 || size[count] < 1) return;
        count++;
        while (*end == ' ') end++;
        if (*end != ',' && *end != ']') return;
    }
    for (int k = 0; axes && k < 8 && axes[1 + k] && axes[1 + k] != '"'; k++) roles[k] = axes[1 + k], roles[k + 1] = 0;
    const char *truncated = strstr(text, "\"truncated\"");
    if (truncated && pages == 1 && !strncmp(truncated + 11 + strspn(truncated + 11, ": "), "true", 4)) {
        n->contiguous = 2;
        n->samples = 1;
        for (int k = 0; k < count; k++)
            if (__builtin_mul_overflow(n->samples, size[k], &n->samples)) n->samples = INT64_MAX; /* more than any file has */
    }
    const char *y = strstr(roles, "YX");
    if (!y || (int)strlen(roles) != count || y - roles > 3) return;
    for (int k = (int)(y - roles) - 1; k >= 0; k--) {
        const char role = roles[k] == 'Z' ? 'z' : roles[k] == 'C' ? 'c' : 't';
        if (memchr(n->order.role, role, (size_t)n->order.axes)) {
            n->order = (tsr_tiff_order){ 0 };
            return;
        }
        add_axis(&n->order, role, size[k]);
    }
    n->order.pages = product(&n->order);
    if (n->order.pages != pages && !n->samples) n->order = (tsr_tiff_order){ 0 };
}

tsr_status tsr_tiff_describe(const tsr_input *input, const char *text, int64_t pages, int64_t wanted, tsr_tiff_notes *n)
{
    *n = (tsr_tiff_notes){ 0 };
    TSR_TRY(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 1, 1, 1 }, NULL, &n->holder));
    tsr_status status = TSR_OK;
    if (text && strstr(text, "<OME") && strstr(text, "<Pixels")) status = describe_ome(input, text, pages, wanted, n);
    else if (text && (strstr(text, "<BinaryOnly") || strstr(text, ":BinaryOnly"))) status = describe_ome(input, text, pages, wanted, n);
    else if (text && !strncmp(text, "ImageJ=", 7)) status = describe_imagej(input, text, pages, n);
    else if (text && text[0] == '{' && strstr(text, "\"shape\"")) describe_shaped(text, pages, n);
    else if (text && *text) status = tsr_volume_set_meta(n->holder, "tiff.description", text);
    if (status != TSR_OK) tsr_tiff_notes_free(n);
    TSR_TRY(status);
    return TSR_OK;
}
