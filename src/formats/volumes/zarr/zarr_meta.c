/* Zarr: the JSON of arrays and groups (Zarr v2; v3 core 1.0 with the codecs bytes, transpose, gzip, zstd, blosc, crc32c and sharding_indexed), and what OME-Zarr
 * says of images. */
#include "formats/volumes/zarr/zarr.h"

#ifdef TSR_HAVE_JANSSON

#include "formats/contents.h"
#include "formats/volumes/zarr/zarr_filters.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_MOST = 64 << 20 };

static const char *name_of(const tsr_zarr_store *s) { return tsr_input_name(s->input); }

/* A file of metadata; *json NULL: there is none. */
static tsr_status get_json(const tsr_zarr_store *s, const char *folder, const char *file, json_t **json)
{
    tsr_zarr_value value;
    json_error_t error;
    char key[700];
    *json = NULL;
    snprintf(key, sizeof key, "%.512s%s%s", folder, *folder ? "/" : "", file);
    TSR_TRY(tsr_zarr_get(s, key, JSON_MOST, &value));
    if (!value.bytes) return TSR_OK;
    *json = json_loadb((const char *)value.bytes, value.size, JSON_ALLOW_NUL, &error);
    if (!*json)
        *json = json_loadb((const char *)value.bytes, value.size, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error); /* whole numbers beyond 2^63 */
    tsr_zarr_value_free(&value);
    if (!*json) TSR_FAIL(TSR_ERROR_FORMAT, "%s: '%s' is no JSON object: line %d: %s", name_of(s), key, error.line, error.text);
    if (!json_is_object(*json)) {
        json_decref(*json);
        *json = NULL;
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: '%s' is no JSON object: it is a list", name_of(s), key);
    }
    return TSR_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------------------------------------- */

static int get_sizes(const json_t *list, int64_t *to, int least)
{
    const size_t n = json_array_size(list);
    if (!json_is_array(list) || n > TSR_STORED_AXES) return -1;
    for (size_t k = 0; k < n; k++) {
        const json_t *one = json_array_get(list, k);
        if (!json_is_integer(one) || json_integer_value(one) < least || json_integer_value(one) > (json_int_t)1 << 60) return -1;
        to[k] = json_integer_value(one);
    }
    return (int)n;
}

static void take_fill(const json_t *fill, tsr_zarr_array *a)
{
    double value = 0;
    const char *text = json_string_value(fill);
    memset(a->fill, 0, sizeof a->fill);
    if (json_is_integer(fill) && (a->dtype == TSR_U64 || a->dtype == TSR_I64)) {
        const int64_t whole = json_integer_value(fill);
        memcpy(a->fill, &whole, 8);
        return;
    }
    if (text && !strncmp(text, "0x", 2)) { /* bits of a real number */
        const uint64_t bits = strtoull(text + 2, NULL, 16);
        if (a->element == 2) value = (double)tsr_stored_half((uint16_t)bits);
        else if (a->dtype == TSR_F32) {
            const uint32_t low = (uint32_t)bits;
            memcpy(a->fill, &low, 4);
            return;
        } else {
            memcpy(a->fill, &bits, 8);
            return;
        }
    } else if (text) value = !strcmp(text, "Infinity") ? HUGE_VAL : !strcmp(text, "-Infinity") ? -HUGE_VAL : !strcmp(text, "NaN") ? (double)NAN : 0;
    else value = json_is_number(fill) ? json_number_value(fill) : json_is_true(fill);
    if (a->dtype == TSR_U64 && value >= 0x1p63) {
        const uint64_t whole = value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
        memcpy(a->fill, &whole, 8);
    } else if (a->dtype == TSR_F32 || a->dtype == TSR_F64 || (value >= -9e18 && value <= 1.8e19)) tsr_voxel_store(a->fill, a->dtype, 0, value);
}

/* ---- codecs ------------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status take_packer(const tsr_zarr_store *s, const char *id, tsr_zarr_codecs *c)
{
    static const struct {
        const char *id;
        tsr_zarr_pack pack;
    } known[] = { { "gzip", TSR_ZARR_GZIP },         { "zlib", TSR_ZARR_ZLIB },   { "numcodecs.zlib", TSR_ZARR_ZLIB },
                  { "zstd", TSR_ZARR_ZSTD },         { "blosc", TSR_ZARR_BLOSC }, { "lz4", TSR_ZARR_LZ4 },
                  { "numcodecs.lz4", TSR_ZARR_LZ4 }, { "lzma", TSR_ZARR_LZMA },   { "numcodecs.lzma", TSR_ZARR_LZMA } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(id, known[i].id)) continue;
#ifndef TSR_HAVE_ZSTD
        if (known[i].pack == TSR_ZARR_ZSTD)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: packed by zstd, which this build does not have: package libzstd-dev", name_of(s));
#endif
#ifndef TSR_HAVE_LZMA
        if (known[i].pack == TSR_ZARR_LZMA)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: packed by LZMA, which this build does not have: package liblzma-dev", name_of(s));
#endif
#ifndef TSR_HAVE_BLOSC
        if (known[i].pack == TSR_ZARR_BLOSC)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: packed by blosc, which this build does not have: package libblosc-dev", name_of(s));
#endif
        if (c->pack != TSR_ZARR_PLAIN) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: chunks that are packed twice, expected once", name_of(s));
        c->pack = known[i].pack;
        return TSR_OK;
    }
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: codec '%.60s', expected blosc, zstd, gzip, zlib, lz4 or lzma: zarr-python rewrites it", name_of(s),
             id);
}

/* Axis k of a chunk, as it lies there, is axis order[k] of the array. */
static tsr_status take_order(const tsr_zarr_store *s, const json_t *order, int axes, tsr_zarr_codecs *c)
{
    int64_t list[TSR_STORED_AXES];
    unsigned seen = 0;
    const char *word = json_string_value(order);
    if (word && (!strcmp(word, "F") || !strcmp(word, "C"))) {
        for (int k = 0; k < axes; k++) c->order[k] = *word == 'F' ? axes - 1 - k : k;
        return TSR_OK;
    }
    int good = get_sizes(order, list, 0) == axes;
    for (int k = 0; k < axes && good; k++) {
        good = list[k] < axes && !(seen >> list[k] & 1);
        if (good) seen |= 1u << list[k];
        if (good) c->order[k] = (int)list[k];
    }
    if (!good) TSR_FAIL(TSR_ERROR_FORMAT, "%s: Zarr: codec transpose: 'order' is no order of %d axes", name_of(s), axes);
    return TSR_OK;
}

static tsr_status take_v3_codecs(const tsr_zarr_store *s, const json_t *list, int axes, int inner, tsr_zarr_array *a, tsr_zarr_codecs *c);

/* Chunks within chunks: `chunk` becomes the inner shape, `shard` how many of them share a file. */
static tsr_status take_shards(const tsr_zarr_store *s, const json_t *configuration, tsr_zarr_array *a)
{
    int64_t inner[TSR_STORED_AXES];
    tsr_zarr_codecs index = { .pack = TSR_ZARR_PLAIN };
    const char *location = json_string_value(json_object_get(configuration, "index_location"));
    if (get_sizes(json_object_get(configuration, "chunk_shape"), inner, 1) != a->axes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: Zarr: codec sharding_indexed: 'chunk_shape' is not %d positive numbers", name_of(s), a->axes);
    for (int k = 0; k < a->axes; k++) {
        if (a->chunk[k] % inner[k])
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: Zarr: shards of %lld are no multiple of chunks of %lld along axis %d", name_of(s), (long long)a->chunk[k],
                     (long long)inner[k], k);
        a->shard[k] = a->chunk[k] / inner[k];
        a->chunk[k] = inner[k];
    }
    TSR_TRY(take_v3_codecs(s, json_object_get(configuration, "index_codecs"), 0, 1, a, &index));
    if (index.pack != TSR_ZARR_PLAIN || (index.swap != 0) != tsr_host_big_endian())
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: a packed index of shards, or one with big-endian numbers", name_of(s));
    a->sharded = 1;
    a->index_checked = index.checked;
    a->index_first = location && !strcmp(location, "start");
    return take_v3_codecs(s, json_object_get(configuration, "codecs"), a->axes, 1, a, &a->codecs);
}

static tsr_status take_v3_codecs(const tsr_zarr_store *s, const json_t *list, int axes, int inner, tsr_zarr_array *a, tsr_zarr_codecs *c)
{
    for (int k = 0; k < axes; k++) c->order[k] = k;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i), *configuration = json_object_get(one, "configuration");
        const char *id = json_is_string(one) ? json_string_value(one) : json_string_value(json_object_get(one, "name"));
        if (!id) TSR_FAIL(TSR_ERROR_FORMAT, "%s: Zarr: a codec without a name", name_of(s));
        if (!strcmp(id, "bytes") || !strcmp(id, "endian")) {
            const char *endian = json_string_value(json_object_get(configuration, "endian"));
            c->swap = (endian && !strcmp(endian, "big")) != tsr_host_big_endian();
        } else if (!strcmp(id, "transpose")) TSR_TRY(take_order(s, json_object_get(configuration, "order"), axes, c));
        else if (!strcmp(id, "crc32c")) c->checked = 1;
        else if (!strcmp(id, "sharding_indexed") && !inner) {
            if (json_array_size(list) != 1) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: shards that are packed or turned as a whole", name_of(s));
            return take_shards(s, configuration, a);
        } else {
            int filter;
            if (c->checked) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: codec '%.40s' behind crc32c", name_of(s), id);
            TSR_TRY(tsr_zarr_take_filter(s, id, configuration, a, c, &filter));
            if (!filter) TSR_TRY(take_packer(s, id, c));
        }
    }
    return TSR_OK;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status take_type(const tsr_zarr_store *s, const char *folder, const char *type, tsr_zarr_array *a)
{
    static const struct {
        const char *v2, *v3;
        tsr_dtype dtype;
        int element;
    } types[] = {
        { "u1", "uint8", TSR_U8, 1 },    { "i1", "int8", TSR_I8, 1 },     { "u2", "uint16", TSR_U16, 2 },  { "i2", "int16", TSR_I16, 2 },
        { "u4", "uint32", TSR_U32, 4 },  { "i4", "int32", TSR_I32, 4 },   { "u8", "uint64", TSR_U64, 8 },  { "i8", "int64", TSR_I64, 8 },
        { "f2", "float16", TSR_F32, 2 }, { "f4", "float32", TSR_F32, 4 }, { "f8", "float64", TSR_F64, 8 }, { "b1", "bool", TSR_U8, 1 },
    };
    const int v2 = type && a->version == 2 && (type[0] == '<' || type[0] == '>' || type[0] == '|');
    snprintf(a->type, sizeof a->type, "%s", type ? type : "structure");
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (v2 ? !strcmp(type + 1, types[i].v2) : a->version == 3 && !strcmp(type, types[i].v3)) {
            a->dtype = types[i].dtype;
            a->element = types[i].element;
            if (v2) a->codecs.swap = a->element > 1 && (type[0] == '>') != tsr_host_big_endian();
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: array '%s' is of type '%.40s', expected whole or real numbers of 8 to 64 bits", name_of(s), folder,
             a->type);
}

static tsr_status take_v2(const tsr_zarr_store *s, const char *folder, const json_t *j, tsr_zarr_array *a)
{
    const json_t *packer = json_object_get(j, "compressor"), *filters = json_object_get(j, "filters"), *order = json_object_get(j, "order");
    const char *separator = json_string_value(json_object_get(j, "dimension_separator"));
    a->version = 2;
    a->separator = separator && *separator ? *separator : '.';
    TSR_TRY(take_type(s, folder, json_string_value(json_object_get(j, "dtype")), a));
    a->axes = get_sizes(json_object_get(j, "shape"), a->size, 0);
    if (a->axes < 1 || get_sizes(json_object_get(j, "chunks"), a->chunk, 1) != a->axes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: Zarr: array '%s': 'shape' and 'chunks' are not 1 to %d numbers each", name_of(s), folder, TSR_STORED_AXES);
    json_t *usual = order ? NULL : json_string("C");
    const tsr_status status = take_order(s, order ? order : usual, a->axes, &a->codecs);
    json_decref(usual);
    TSR_TRY(status);
    for (size_t i = 0; i < json_array_size(filters); i++) {
        const json_t *one = json_array_get(filters, i);
        const char *id = json_string_value(json_object_get(one, "id"));
        int known = 0;
        if (id) TSR_TRY(tsr_zarr_take_filter(s, id, one, a, &a->codecs, &known));
        if (!known)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                     "%s: Zarr: array '%s' has the filter '%.40s', expected shuffle, delta or bitround: zarr-python rewrites it", name_of(s), folder,
                     id ? id : "?");
    }
    if (json_is_object(packer)) {
        const char *id = json_string_value(json_object_get(packer, "id"));
        TSR_TRY(take_packer(s, id ? id : "?", &a->codecs));
    }
    take_fill(json_object_get(j, "fill_value"), a);
    return TSR_OK;
}

static tsr_status take_v3(const tsr_zarr_store *s, const char *folder, const json_t *j, tsr_zarr_array *a)
{
    const json_t *grid = json_object_get(j, "chunk_grid"), *keys = json_object_get(j, "chunk_key_encoding"),
                 *names = json_object_get(j, "dimension_names");
    const char *kind = json_string_value(json_object_get(grid, "name")), *encoding = json_string_value(json_object_get(keys, "name")),
               *separator = json_string_value(json_object_get(json_object_get(keys, "configuration"), "separator"));
    a->version = 3;
    a->prefixed = !encoding || strcmp(encoding, "v2");
    a->separator = separator && *separator ? *separator : a->prefixed ? '/' : '.';
    TSR_TRY(take_type(s, folder, json_string_value(json_object_get(j, "data_type")), a));
    if (!kind || strcmp(kind, "regular"))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: chunks of the grid '%.40s', expected regular ones", name_of(s), kind ? kind : "?");
    if (json_array_size(json_object_get(j, "storage_transformers"))) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: storage transformers", name_of(s));
    a->axes = get_sizes(json_object_get(j, "shape"), a->size, 0);
    if (a->axes < 1 || get_sizes(json_object_get(json_object_get(grid, "configuration"), "chunk_shape"), a->chunk, 1) != a->axes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: Zarr: array '%s': 'shape' and 'chunk_shape' are not 1 to %d numbers each", name_of(s), folder,
                 TSR_STORED_AXES);
    for (int k = 0; k < a->axes && json_is_array(names); k++) {
        const char *one = json_string_value(json_array_get(names, (size_t)k));
        snprintf(a->names[k], sizeof a->names[k], "%.31s", one ? one : "");
    }
    TSR_TRY(take_v3_codecs(s, json_object_get(j, "codecs"), a->axes, 0, a, &a->codecs));
    if (a->element == 1) a->codecs.swap = 0;
    take_fill(json_object_get(j, "fill_value"), a);
    return TSR_OK;
}

/* What a folder is: an array, a group or nothing. *attributes: NEW, of both (NULL: none). */
typedef enum node { NOTHING, GROUP, ARRAY } node;
static tsr_status look(const tsr_zarr_store *s, const char *folder, tsr_zarr_array *a, json_t **attributes, node *what)
{
    json_t *j;
    tsr_status status = TSR_OK;
    *attributes = NULL;
    *what = NOTHING;
    *a = (tsr_zarr_array){ 0 };
    for (int k = 0; k < TSR_STORED_AXES; k++) a->shard[k] = 1;
    TSR_TRY(get_json(s, folder, "zarr.json", &j));
    if (j) {
        const char *kind = json_string_value(json_object_get(j, "node_type"));
        *what = kind && !strcmp(kind, "array") ? ARRAY : GROUP;
        if (*what == ARRAY) status = take_v3(s, folder, j, a);
        *attributes = json_incref(json_object_get(j, "attributes"));
        json_decref(j);
        return status;
    }
    TSR_TRY(get_json(s, folder, ".zarray", &j));
    if (j) {
        *what = ARRAY;
        status = take_v2(s, folder, j, a);
        json_decref(j);
        if (status != TSR_OK) return status;
    } else {
        TSR_TRY(get_json(s, folder, ".zgroup", &j));
        if (j) *what = GROUP;
        json_decref(j);
    }
    if (*what == NOTHING && *folder) return TSR_OK;
    status = get_json(s, folder, ".zattrs", attributes);
    if (*attributes && *what == NOTHING) *what = GROUP;
    const json_t *dimensions = json_object_get(*attributes, "_ARRAY_DIMENSIONS"); /* xarray's */
    for (int k = 0; k < a->axes && json_array_size(dimensions) == (size_t)a->axes; k++) {
        const char *one = json_string_value(json_array_get(dimensions, (size_t)k));
        snprintf(a->names[k], sizeof a->names[k], "%.31s", one ? one : "");
    }
    return status;
}

/* ---- OME-Zarr ---------------------------------------------------------------------------------------------------------------------------------- */

/* NGFF 0.5 puts all below "ome". */
static const json_t *ngff(const json_t *attributes, const char *key)
{
    const json_t *ome = json_object_get(attributes, "ome"), *one = json_object_get(ome, key);
    return one ? one : json_object_get(attributes, key);
}

static void take_transforms(const json_t *list, int axes, double *scale, double *shift)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i), *factors = json_object_get(one, "scale"), *offsets = json_object_get(one, "translation");
        for (int k = 0; k < axes; k++) {
            const json_t *f = json_array_get(factors, (size_t)k), *o = json_array_get(offsets, (size_t)k);
            if (json_is_number(f)) {
                scale[k] *= json_number_value(f);
                shift[k] *= json_number_value(f);
            }
            if (json_is_number(o)) shift[k] += json_number_value(o);
        }
    }
}

static tsr_status take_axes(const json_t *multiscale, const json_t *dataset, tsr_zarr_image *image)
{
    const json_t *axes = json_object_get(multiscale, "axes");
    const int n = image->array.axes;
    double scale[TSR_STORED_AXES], shift[TSR_STORED_AXES] = { 0 };
    tsr_geometry *g = &image->holder->geometry;
    const char *unit = NULL;
    for (int k = 0; k < n; k++) scale[k] = 1;
    take_transforms(json_object_get(dataset, "coordinateTransformations"), n, scale, shift);
    take_transforms(json_object_get(multiscale, "coordinateTransformations"), n, scale, shift);
    image->has_roles = json_array_size(axes) == (size_t)n || (!axes && n == 5);
    for (int k = 0; k < n && image->has_roles; k++) {
        const json_t *one = json_array_get(axes, (size_t)k);
        const char *name = json_is_string(one) ? json_string_value(one) : json_string_value(json_object_get(one, "name")),
                   *own = json_string_value(json_object_get(one, "unit")), *kind = json_string_value(json_object_get(one, "type"));
        char role = axes ? (name ? tsr_stored_role(name) : 0) : "tczyx"[k];
        if (kind && !strcmp(kind, "channel")) role = 'c';
        if (kind && !strcmp(kind, "time")) role = 't';
        image->role[k] = role;
        image->has_roles = role != 0;
        if (role < 'x' || role > 'z') continue;
        if (isfinite(scale[k]) && scale[k] > 0) g->affine[role - 'x'][role - 'x'] = scale[k];
        if (isfinite(shift[k])) g->affine[role - 'x'][3] = shift[k];
        if (own) unit = own;
    }
    if (unit && tsr_volume_set_unit(image->holder, unit) != TSR_OK) TSR_TRY(tsr_volume_set_meta(image->holder, "ome.unit", unit));
    return TSR_OK;
}

static tsr_status take_omero(const json_t *attributes, tsr_volume *holder)
{
    const json_t *channels = json_object_get(ngff(attributes, "omero"), "channels");
    char all[1024] = "";
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(channels) && used + 200 < sizeof all; i++) {
        const char *label = json_string_value(json_object_get(json_array_get(channels, i), "label"));
        if (label) used += (size_t)snprintf(all + used, sizeof all - used, "%s%.150s", used ? ", " : "", label);
    }
    return used ? tsr_volume_set_meta(holder, "ome.channels", all) : TSR_OK;
}

/* What tessera wrote, xarray's scaling (real value = stored * scale_factor + add_offset), and plain numbers and texts of others. */
static tsr_status take_attributes(json_t *attributes, tsr_zarr_image *image)
{
    const char *key;
    json_t *value;
    char name[200], number[32];
    const json_t *factor = json_object_get(attributes, "scale_factor"), *offset = json_object_get(attributes, "add_offset");
    const double slope = json_is_number(factor) ? json_number_value(factor) : 1, intercept = json_is_number(offset) ? json_number_value(offset) : 0;
    const int scaled = (json_is_number(factor) || json_is_number(offset)) && slope != 0 && isfinite(slope) && isfinite(intercept);
    if (scaled) TSR_TRY(tsr_volume_set_scaling(image->holder, slope, intercept));
    json_object_foreach(json_object_get(attributes, "tessera"), key, value) if (json_is_string(value))
        TSR_TRY(tsr_volume_take_note(image->holder, key, json_string_value(value)));
    json_object_foreach(attributes, key, value)
    {
        if (scaled && (!strcmp(key, "scale_factor") || !strcmp(key, "add_offset"))) continue;
        snprintf(name, sizeof name, "zarr.%.150s", key);
        if (json_is_string(value)) TSR_TRY(tsr_volume_set_meta(image->holder, name, json_string_value(value)));
        if (json_is_number(value)) TSR_TRY(tsr_volume_set_meta(image->holder, name, tsr_print_double(number, json_number_value(value))));
    }
    return TSR_OK;
}

static void join(char to[512], const char *folder, const char *name)
{
    snprintf(to, 512, "%.255s%s%.255s", folder, *folder && *name ? "/" : "", name);
}

/* The attributes of the group: an affine matrix among them is that of the finest level, from which the level's steps and shift lead to its own. */
static tsr_status take_finest(const json_t *multiscale, const json_t *finest, json_t *attributes, tsr_zarr_image *image)
{
    const tsr_geometry own = image->holder->geometry;
    const int n = image->array.axes;
    double scale[TSR_STORED_AXES], shift[TSR_STORED_AXES] = { 0 };
    for (int k = 0; k < n; k++) scale[k] = 1;
    take_transforms(json_object_get(finest, "coordinateTransformations"), n, scale, shift);
    take_transforms(json_object_get(multiscale, "coordinateTransformations"), n, scale, shift);
    TSR_TRY(take_attributes(attributes, image));
    if (!json_object_get(json_object_get(attributes, "tessera"), "tessera.affine")) return TSR_OK;
    double(*a)[4] = image->holder->geometry.affine;
    for (int k = 0; k < n && image->has_roles; k++) {
        const int d = image->role[k] - 'x';
        if (d < 0 || d > 2) continue;
        const double offset = (own.affine[d][3] - shift[k]) / scale[k], ratio = own.affine[d][d] / scale[k];
        if (!isfinite(offset) || !(ratio > 0) || !isfinite(ratio)) continue;
        for (int r = 0; r < 3; r++) {
            a[r][3] += a[r][d] * offset;
            a[r][d] *= ratio;
        }
    }
    return TSR_OK;
}

/* The level of a group with multiscales. */
static tsr_status take_level(const tsr_zarr_store *s, const char *folder, json_t *attributes, const tsr_read_options *o, tsr_zarr_image *image)
{
    const json_t *all = ngff(attributes, "multiscales"), *multiscale = json_array_get(all, 0), *datasets = json_object_get(multiscale, "datasets");
    const int64_t levels = (int64_t)json_array_size(datasets), level = o->level_given ? o->level : 0;
    json_t *own = NULL;
    node what;
    if (level < 0 || level >= levels)
        TSR_FAIL(levels ? TSR_ERROR_ARGUMENT : TSR_ERROR_FORMAT, "%s: options.level is %lld, expected 0 to %lld: the pyramid has %lld level%s",
                 name_of(s), (long long)level, (long long)levels - 1, (long long)levels, levels == 1 ? "" : "s");
    const json_t *dataset = json_array_get(datasets, (size_t)level);
    const char *path = json_string_value(json_object_get(dataset, "path"));
    if (!path || strstr(path, "..") || *path == '/')
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: OME-Zarr: level %lld has no path within the group", name_of(s), (long long)level);
    join(image->path, folder, path);
    tsr_status status = look(s, image->path, &image->array, &own, &what);
    if (status == TSR_OK && what != ARRAY)
        status = TSR_FAILED(TSR_ERROR_FORMAT, "%s: OME-Zarr: level %lld, '%s', is no array", name_of(s), (long long)level, image->path);
    if (status == TSR_OK) status = take_axes(multiscale, dataset, image);
    if (status == TSR_OK) status = take_omero(attributes, image->holder);
    if (status == TSR_OK) status = take_finest(multiscale, json_array_get(datasets, 0), attributes, image);
    const char *name = json_string_value(json_object_get(multiscale, "name"));
    if (status == TSR_OK && name && *name) status = tsr_volume_set_meta(image->holder, "ome.Name", name);
    json_decref(own);
    return status;
}

/* ---- which ------------------------------------------------------------------------------------------------------------------------------------- */

struct walk {
    const tsr_zarr_store *store;
    tsr_contents *contents;
    int images; /* groups with multiscales are listed, not their levels */
};

static tsr_status list_node(void *user, const char *folder)
{
    struct walk *w = (struct walk *)user;
    tsr_zarr_array a;
    json_t *attributes = NULL;
    node what;
    char name[600], level[24];
    tsr_status status = look(w->store, folder, &a, &attributes, &what);
    if (status == TSR_ERROR_UNSUPPORTED && what == ARRAY && a.axes) status = TSR_OK; /* listed all the same */
    if (status == TSR_ERROR_UNSUPPORTED) {                                           /* texts and the like */
        json_decref(attributes);
        return TSR_OK;
    }
    snprintf(name, sizeof name, "/%.590s", folder);
    const json_t *datasets = json_object_get(json_array_get(ngff(attributes, "multiscales"), 0), "datasets");
    if (status == TSR_OK && what == ARRAY) {
        tsr_contents_entry e = { .kind = "dataset", .name = name, .type = a.type, .axes = a.axes };
        memcpy(e.size, a.size, sizeof e.size);
        status = tsr_contents_add(w->contents, &e);
    }
    for (size_t k = 0; status == TSR_OK && what == GROUP && !*folder && k < json_array_size(datasets);
         k++) { /* the levels of the image that the root is */
        const char *path = json_string_value(json_object_get(json_array_get(datasets, k), "path"));
        json_t *own = NULL;
        if (!path || strstr(path, "..") || *path == '/') continue;
        status = look(w->store, path, &a, &own, &what);
        snprintf(level, sizeof level, "%zu", k);
        tsr_contents_entry e = { .kind = "level", .name = level, .type = a.type, .axes = a.axes };
        memcpy(e.size, a.size, sizeof e.size);
        if (status == TSR_OK && what == ARRAY) status = tsr_contents_add(w->contents, &e);
        what = GROUP;
        w->images = 1;
        json_decref(own);
    }
    json_decref(attributes);
    return status;
}

tsr_status tsr_zarr_contents(const tsr_zarr_store *s, const tsr_read_options *options, tsr_contents *contents)
{
    struct walk w = { s, contents, 0 };
    json_t *attributes = NULL;
    tsr_zarr_array a;
    node what;
    (void)options;
    tsr_status status = look(s, "", &a, &attributes, &what);
    const int image = json_array_size(ngff(attributes, "multiscales")) > 0;
    json_decref(attributes);
    if (status == TSR_ERROR_UNSUPPORTED) status = TSR_OK;
    TSR_TRY(status);
    if (what == ARRAY) return TSR_OK;
    if (image) TSR_TRY(list_node(&w, "")); /* its levels */
    else TSR_TRY(tsr_zarr_walk(s, list_node, &w));
    if (!image) tsr_contents_only_first(contents, "dataset");
    return TSR_OK;
}

static tsr_status find_only(const tsr_zarr_store *s, char path[512])
{
    tsr_contents *contents;
    struct walk w = { s, NULL, 0 };
    char shown[700];
    int count = 0;
    TSR_TRY(tsr_contents_create(&contents));
    w.contents = contents;
    tsr_status status = tsr_zarr_walk(s, list_node, &w);
    const char *only = status == TSR_OK ? tsr_contents_only(contents, "dataset", &count) : NULL;
    if (only) snprintf(path, 512, "%s", only + 1);
    if (status == TSR_OK && !only)
        status = TSR_FAILED(TSR_ERROR_UNSUPPORTED, "%s: holds %d arrays%s%s%s", name_of(s), count, count ? ": " : ", expected one at least",
                            tsr_contents_show(contents, "dataset", shown, sizeof shown), count ? ": options.dataset says which" : "");
    tsr_contents_destroy(&contents);
    return status;
}

tsr_status tsr_zarr_choose(const tsr_zarr_store *s, const tsr_read_options *o, tsr_zarr_image *image)
{
    json_t *attributes = NULL;
    node what;
    const char *wanted = o->dataset ? o->dataset + strspn(o->dataset, "/") : "";
    *image = (tsr_zarr_image){ 0 };
    if (strlen(wanted) >= sizeof image->path || strstr(wanted, ".."))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.dataset is '%.80s', expected the path of an array in the file", name_of(s), o->dataset);
    snprintf(image->path, sizeof image->path, "%s", wanted);
    for (size_t n = strlen(image->path); n && image->path[n - 1] == '/'; n--) image->path[n - 1] = 0;
    TSR_TRY(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 1, 1, 1 }, NULL, &image->holder));
    tsr_status status = look(s, image->path, &image->array, &attributes, &what);
    char folder[512];
    memcpy(folder, image->path, sizeof folder);
    if (status == TSR_OK && o->series_given && o->series && (o->dataset || what != GROUP || !ngff(attributes, "bioformats2raw.layout")))
        status = TSR_FAILED(TSR_ERROR_ARGUMENT, "%s: options.series is %lld, expected 0: the file holds one", name_of(s), (long long)o->series);
    if (status == TSR_OK && what == GROUP && json_array_size(ngff(attributes, "multiscales"))) status = take_level(s, folder, attributes, o, image);
    else if (status == TSR_OK && what == GROUP && !o->dataset && ngff(attributes, "bioformats2raw.layout")) { /* images in folders 0, 1 ... */
        json_decref(attributes);
        attributes = NULL;
        snprintf(folder, sizeof folder, "%lld", (long long)(o->series_given ? o->series : 0));
        status = look(s, folder, &image->array, &attributes, &what);
        if (status == TSR_OK && what == NOTHING)
            status = TSR_FAILED(TSR_ERROR_ARGUMENT, "%s: options.series is %s: there is no such image", name_of(s), folder);
        if (status == TSR_OK) status = take_level(s, folder, attributes, o, image);
    } else if (status == TSR_OK && what == GROUP && !o->dataset) {
        json_decref(attributes);
        attributes = NULL;
        status = find_only(s, image->path);
        if (status == TSR_OK) status = look(s, image->path, &image->array, &attributes, &what);
        if (status == TSR_OK) status = take_attributes(attributes, image);
    } else if (status == TSR_OK && what == ARRAY) status = take_attributes(attributes, image);
    else if (status == TSR_OK)
        status = TSR_FAILED(o->dataset ? TSR_ERROR_ARGUMENT : TSR_ERROR_FORMAT, "%s: Zarr: '/%s' is no array and no image of several levels",
                            name_of(s), image->path);
    if (status == TSR_OK && o->level_given && o->level && !image->has_roles && what == ARRAY)
        status = TSR_FAILED(TSR_ERROR_ARGUMENT, "%s: options.level is %lld, expected 0: the array is no pyramid", name_of(s), (long long)o->level);
    json_decref(attributes);
    for (int k = 0; k < image->array.axes && !image->has_roles && status == TSR_OK; k++) {
        image->role[k] = tsr_stored_role(image->array.names[k]);
        if (!image->role[k]) break;
        image->has_roles = k + 1 == image->array.axes;
    }
    if (status != TSR_OK) tsr_volume_destroy(&image->holder);
    TSR_TRY(status);
    return TSR_OK;
}

#endif
