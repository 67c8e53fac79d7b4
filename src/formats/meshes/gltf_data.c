/* formats/meshes/gltf_data.c: the containers of glTF (GLB chunks, JSON, data URIs, files beside) and accessors. */
#ifdef TSR_HAVE_JANSSON

#include "formats/meshes/gltf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/little_endian.h"

enum { GLB_HEAD = 12, CHUNK_HEAD = 8 };

/* ---- containers ---------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status take_chunks(gltf *g, const uint8_t *bytes, int64_t size, const uint8_t **json, int64_t *json_size)
{
    if (size < GLB_HEAD + CHUNK_HEAD) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %lld bytes, a GLB file has 20 or more", g->file, (long long)size);
    if (tsr_get_u32(bytes + 4) != 2) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: GLB of version %u, expected 2", g->file, tsr_get_u32(bytes + 4));
    const int64_t length = tsr_get_u32(bytes + 8);
    if (length > size)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the GLB header says %lld bytes, the file has %lld", g->file, (long long)length, (long long)size);
    *json = NULL;
    for (int64_t at = GLB_HEAD; at + CHUNK_HEAD <= length;) {
        const int64_t n = tsr_get_u32(bytes + at);
        const uint8_t *kind = bytes + at + 4;
        at += CHUNK_HEAD;
        if (n > length - at)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: a GLB chunk of %lld bytes, %lld are left", g->file, (long long)n, (long long)(length - at));
        if (!memcmp(kind, "JSON", 4) && !*json) *json = bytes + at, *json_size = n;
        if (!memcmp(kind, "BIN\0", 4) && !g->binary) g->binary = bytes + at, g->binary_size = n;
        at += (n + 3) / 4 * 4;
    }
    if (!*json) TSR_FAIL(TSR_ERROR_FORMAT, "%s: a GLB file without its JSON", g->file);
    return TSR_OK;
}

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* data:MEDIA;base64,TEXT */
static tsr_status take_data_uri(const gltf *g, const char *uri, gltf_buffer *b)
{
    const char *text = strstr(uri, ";base64,");
    uint32_t bits = 0;
    int held = 0;
    if (!text) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: glTF buffer in a data URI that is not base64", g->file);
    text += 8;
    const int64_t room = (int64_t)strlen(text) / 4 * 3 + 3;
    TSR_TRY(tsr_scratch_for_input(g->input, room, 1, "a data URI", (void **)&b->decoded));
    for (; *text && *text != '='; text++) {
        const int d = digit(*text);
        if (d < 0) TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF buffer in a data URI: '%c' is no base64", g->file, *text > ' ' && *text < 127 ? *text : '?');
        bits = bits << 6 | (uint32_t)d;
        if (++held == 4) {
            for (int k = 0; k < 3; k++) b->decoded[b->size++] = (uint8_t)(bits >> (16 - 8 * k));
            bits = 0, held = 0;
        }
    }
    for (int k = 0; k + 1 < held; k++) b->decoded[b->size++] = (uint8_t)(bits << 6 * (4 - held) >> (16 - 8 * k));
    b->bytes = b->decoded;
    return TSR_OK;
}

static int hex(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

static tsr_status take_file(const gltf *g, const char *uri, gltf_buffer *b)
{
    char name[1024];
    size_t used = 0, size;
    if (strstr(uri, "://")) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: glTF buffer at '%.80s', expected a file beside it", g->file, uri);
    for (const char *c = uri; *c && used + 1 < sizeof name; c++) {
        if (*c == '%' && hex(c[1]) >= 0 && hex(c[2]) >= 0) {
            name[used++] = (char)(hex(c[1]) << 4 | hex(c[2]));
            c += 2;
        } else name[used++] = *c;
    }
    name[used] = 0;
    if (!used || strlen(name) != used) TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF buffer with the name '%.80s'", g->file, uri);
    TSR_TRY(tsr_input_open_beside(g->input, name, 0, &b->beside));
    TSR_TRY(tsr_input_all(b->beside, &b->bytes, &size));
    b->size = (int64_t)size;
    return TSR_OK;
}

static tsr_status take_buffers(gltf *g)
{
    const json_t *list = json_object_get(g->root, "buffers");
    const int64_t count = (int64_t)json_array_size(list);
    if (!count) return TSR_OK;
    g->buffer = (gltf_buffer *)calloc((size_t)count, sizeof *g->buffer);
    if (!g->buffer) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld buffers", g->file, (long long)count);
    for (g->buffers = 0; g->buffers < count;) {
        gltf_buffer *b = &g->buffer[g->buffers++];
        const json_t *item = json_array_get(list, (size_t)(g->buffers - 1));
        const char *uri = json_string_value(json_object_get(item, "uri"));
        int64_t said;
        TSR_TRY(gltf_integer(g, item, "byteLength", -1, INT64_MAX / 2, &said));
        if (!uri && g->buffers == 1 && g->binary) *b = (gltf_buffer){ .bytes = g->binary, .size = g->binary_size };
        else if (!uri) TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF buffer %lld without a uri", g->file, (long long)g->buffers - 1);
        else if (!strncmp(uri, "data:", 5)) TSR_TRY(take_data_uri(g, uri, b));
        else TSR_TRY(take_file(g, uri, b));
        if (said > b->size)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: glTF buffer %lld of %lld bytes, there are %lld", g->file, (long long)g->buffers - 1,
                     (long long)said, (long long)b->size);
        b->size = said;
    }
    return TSR_OK;
}

/* What must be understood and is not. */
static tsr_status check_extensions(const gltf *g)
{
    static const struct {
        const char *name, *advice;
    } refused[] = { { "KHR_draco_mesh_compression", "Draco: write it again without (gltf-transform dedraco, Blender)" },
                    { "EXT_meshopt_compression", "meshopt: write it again without (gltf-transform copy)" },
                    { "KHR_meshopt_compression", "meshopt: write it again without (gltf-transform copy)" } };
    static const char *const known[] = { "KHR_mesh_quantization", "KHR_texture_transform", "KHR_texture_basisu",
                                         "EXT_texture_webp",      "EXT_texture_avif",      "KHR_lights_punctual",
                                         "KHR_materials_",        "KHR_animation_pointer", "KHR_node_visibility" };
    const json_t *list = json_object_get(g->root, "extensionsRequired");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        int fine = 0;
        if (!name) continue;
        for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
            if (!strcmp(name, refused[k].name)) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: the glTF meshes are packed by %s", g->file, refused[k].advice);
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) fine |= !strncmp(name, known[k], strlen(known[k]));
        if (!fine) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: the glTF extension '%.60s' is required to read it, which is not known here", g->file, name);
    }
    return TSR_OK;
}

tsr_status gltf_open(tsr_input *input, gltf *g)
{
    const uint8_t *bytes, *json;
    size_t size;
    int64_t json_size;
    json_error_t error;
    *g = (gltf){ .input = input, .file = tsr_input_name(input) };
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    json = bytes;
    json_size = (int64_t)size;
    if (size >= 4 && !memcmp(bytes, "glTF", 4)) TSR_TRY(take_chunks(g, bytes, (int64_t)size, &json, &json_size));
    while (json_size && !json[json_size - 1]) json_size--; /* some fill with zeros */
    g->root = json_loadb((const char *)json, (size_t)json_size, JSON_REJECT_DUPLICATES, &error);
    if (!g->root) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the JSON of glTF, line %d: %s", g->file, error.line, error.text);
    const char *version = json_string_value(json_object_get(json_object_get(g->root, "asset"), "version"));
    if (!version) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no glTF: 'asset' has no 'version'", g->file);
    if (strncmp(version, "2.", 2) != 0) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: glTF of version %.20s, expected 2.0", g->file, version);
    TSR_TRY(check_extensions(g));
    TSR_TRY(take_buffers(g));
    return TSR_OK;
}

void gltf_close(gltf *g)
{
    for (int64_t k = 0; k < g->buffers; k++) {
        tsr_input_close(&g->buffer[k].beside);
        tsr_host_release(NULL, g->buffer[k].decoded, 0);
    }
    free(g->buffer);
    json_decref(g->root);
    *g = (gltf){ .input = NULL };
}

/* ---- items --------------------------------------------------------------------------------------------------------------------------------------- */

tsr_status gltf_item(const gltf *g, const char *name, int64_t index, const json_t **item)
{
    const json_t *list = json_object_get(g->root, name);
    *item = index >= 0 ? json_array_get(list, (size_t)index) : NULL;
    if (!*item) TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF item %lld of '%s', there are %zu", g->file, (long long)index, name, json_array_size(list));
    return TSR_OK;
}

tsr_status gltf_integer(const gltf *g, const json_t *object, const char *name, int64_t otherwise, int64_t most, int64_t *value)
{
    const json_t *item = json_object_get(object, name);
    *value = otherwise;
    if (!item && otherwise >= 0) return TSR_OK;
    const double real = json_number_value(item); /* some write 12.0 */
    if (json_is_integer(item)) *value = json_integer_value(item);
    else if (json_is_real(item) && real >= 0 && real < 0x1p53 && real == (double)(int64_t)real) *value = (int64_t)real;
    else *value = -1;
    if (*value < 0 || *value > most)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF field '%s', expected a whole number from 0 to %lld", g->file, name, (long long)most);
    return TSR_OK;
}

static int size_of(int64_t type)
{
    return type == GLTF_I8 || type == GLTF_U8 ? 1 : type == GLTF_I16 || type == GLTF_U16 ? 2 : type == GLTF_U32 || type == GLTF_F32 ? 4 : 0;
}

/* `count` elements of `bytes` each from `offset` of a view on, `stride` apart (0: side by side, or as the view says). */
static tsr_status view_bytes(const gltf *g, int64_t view, int64_t offset, int64_t count, int64_t bytes, int64_t *stride, const uint8_t **at)
{
    const json_t *item;
    int64_t buffer, first, length, step, last;
    TSR_TRY(gltf_item(g, "bufferViews", view, &item));
    TSR_TRY(gltf_integer(g, item, "buffer", -1, g->buffers - 1, &buffer));
    TSR_TRY(gltf_integer(g, item, "byteOffset", 0, INT64_MAX / 4, &first));
    TSR_TRY(gltf_integer(g, item, "byteLength", -1, INT64_MAX / 4, &length));
    TSR_TRY(gltf_integer(g, item, "byteStride", 0, 1 << 20, &step));
    if (json_object_get(json_object_get(item, "extensions"), "EXT_meshopt_compression"))
        tsr_remark("%s: a buffer is packed by meshopt; what stands in its place is read", g->file);
    *stride = step && stride ? step : bytes;
    if (first > g->buffer[buffer].size || length > g->buffer[buffer].size - first)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF view %lld ends behind its buffer of %lld bytes", g->file, (long long)view,
                 (long long)g->buffer[buffer].size);
    if (count && (__builtin_mul_overflow(count - 1, *stride, &last) || offset > length || last > length - offset || bytes > length - offset - last))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld glTF elements of %lld bytes do not fit in view %lld of %lld bytes", g->file, (long long)count,
                 (long long)bytes, (long long)view, (long long)length);
    *at = g->buffer[buffer].bytes + first + (count ? offset : 0);
    return TSR_OK;
}

static tsr_status open_sparse(const gltf *g, const json_t *item, int64_t element, gltf_accessor *a)
{
    const json_t *sparse = json_object_get(item, "sparse"), *places = json_object_get(sparse, "indices"), *values = json_object_get(sparse, "values");
    int64_t view, offset, type, stride;
    if (!sparse) return TSR_OK;
    TSR_TRY(gltf_integer(g, sparse, "count", -1, a->count, &a->sparse));
    TSR_TRY(gltf_integer(g, places, "bufferView", -1, INT32_MAX, &view));
    TSR_TRY(gltf_integer(g, places, "byteOffset", 0, INT64_MAX / 4, &offset));
    TSR_TRY(gltf_integer(g, places, "componentType", -1, INT32_MAX, &type));
    if (type != GLTF_U8 && type != GLTF_U16 && type != GLTF_U32)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF sparse indices of type %lld, expected 5121, 5123 or 5125", g->file, (long long)type);
    a->place_type = (int)type;
    TSR_TRY(view_bytes(g, view, offset, a->sparse, size_of(type), &stride, &a->places));
    if (stride != size_of(type)) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: glTF sparse indices with a stride", g->file);
    TSR_TRY(gltf_integer(g, values, "bufferView", -1, INT32_MAX, &view));
    TSR_TRY(gltf_integer(g, values, "byteOffset", 0, INT64_MAX / 4, &offset));
    TSR_TRY(view_bytes(g, view, offset, a->sparse, element, &stride, &a->values));
    if (stride != element) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: glTF sparse values with a stride", g->file);
    for (int64_t k = 0; k < a->sparse; k++) {
        const int64_t place = type == GLTF_U8 ? a->places[k] : type == GLTF_U16 ? tsr_get_u16(a->places + 2 * k) : tsr_get_u32(a->places + 4 * k);
        if (place >= a->count)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF sparse index %lld, there are %lld elements", g->file, (long long)place, (long long)a->count);
    }
    return TSR_OK;
}

tsr_status gltf_accessor_open(const gltf *g, int64_t index, gltf_accessor *a)
{
    static const char *const names[] = { "SCALAR", "VEC2", "VEC3", "VEC4", "MAT4" };
    const json_t *item;
    int64_t type, view, offset;
    *a = (gltf_accessor){ 0 };
    TSR_TRY(gltf_item(g, "accessors", index, &item));
    const char *name = json_string_value(json_object_get(item, "type"));
    TSR_TRY(gltf_integer(g, item, "componentType", -1, INT32_MAX, &type));
    TSR_TRY(gltf_integer(g, item, "count", -1, INT64_MAX / 64, &a->count));
    TSR_TRY(gltf_integer(g, item, "bufferView", INT64_MAX, INT64_MAX, &view));
    TSR_TRY(gltf_integer(g, item, "byteOffset", 0, INT64_MAX / 4, &offset));
    for (int k = 0; k < 5; k++)
        if (name && !strcmp(name, names[k])) a->components = k < 4 ? k + 1 : 16;
    if (!a->components || !size_of(type) || (a->components == 16 && type != GLTF_F32))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF accessor %lld is %.20s of %lld, expected SCALAR or VEC2 to VEC4 of 5120 to 5126, or MAT4 of 5126",
                 g->file, (long long)index, name ? name : "nothing", (long long)type);
    a->type = (int)type;
    a->normalized = json_is_true(json_object_get(item, "normalized"));
    const int64_t element = a->components * size_of(type);
    if (view != INT64_MAX) TSR_TRY(view_bytes(g, view, offset, a->count, element, &a->stride, &a->at));
    TSR_TRY(open_sparse(g, item, element, a));
    return TSR_OK;
}

tsr_status gltf_refuse_packed(const gltf *g, const json_t *primitive)
{
    const json_t *index = json_object_get(json_object_get(primitive, "attributes"), "POSITION");
    const json_t *accessor = json_is_integer(index) ? json_array_get(json_object_get(g->root, "accessors"), (size_t)json_integer_value(index)) : NULL;
    if (!json_object_get(json_object_get(primitive, "extensions"), "KHR_draco_mesh_compression")) return TSR_OK;
    if (accessor && (json_object_get(accessor, "bufferView") || json_object_get(accessor, "sparse"))) return TSR_OK;
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: the glTF meshes are packed by Draco: write it again without (gltf-transform dedraco, Blender)", g->file);
}

static float number(const uint8_t *p, int type, int normalized)
{
    float f;
    switch (type) {
    case GLTF_I8: f = (float)(int8_t)*p; return normalized ? (f < -127 ? -1 : f / 127.0f) : f;
    case GLTF_U8: f = (float)*p; return normalized ? f / 255.0f : f;
    case GLTF_I16: f = (float)(int16_t)tsr_get_u16(p); return normalized ? (f < -32767 ? -1 : f / 32767.0f) : f;
    case GLTF_U16: f = (float)tsr_get_u16(p); return normalized ? f / 65535.0f : f;
    case GLTF_U32: return (float)tsr_get_u32(p);
    default: return tsr_get_f32(p);
    }
}

static void element_floats(const gltf_accessor *a, const uint8_t *p, int components, float *to)
{
    const int size = size_of(a->type);
    for (int c = 0; c < components; c++) to[c] = c < a->components ? number(p + c * size, a->type, a->normalized) : 1;
}

static int64_t sparse_place(const gltf_accessor *a, int64_t k)
{
    return a->place_type == GLTF_U8    ? a->places[k]
           : a->place_type == GLTF_U16 ? tsr_get_u16(a->places + 2 * k)
                                       : (int64_t)tsr_get_u32(a->places + 4 * k);
}

void gltf_accessor_floats(const gltf_accessor *a, int components, float *to)
{
    const int64_t element = a->components * size_of(a->type);
    if (!a->at) memset(to, 0, (size_t)(a->count * components) * sizeof *to);
    else if (a->type == GLTF_F32 && a->components == 3 && components == 3)
        for (int64_t i = 0; i < a->count; i++)
            for (int c = 0; c < 3; c++) to[3 * i + c] = tsr_get_f32(a->at + i * a->stride + 4 * c);
    else
        for (int64_t i = 0; i < a->count; i++) element_floats(a, a->at + i * a->stride, components, to + i * components);
    for (int64_t k = 0; k < a->sparse; k++) element_floats(a, a->values + k * element, components, to + sparse_place(a, k) * components);
}

static uint32_t index_at(const uint8_t *p, int type) { return type == GLTF_U8 ? *p : type == GLTF_U16 ? tsr_get_u16(p) : tsr_get_u32(p); }

tsr_status gltf_accessor_indices(const gltf *g, const gltf_accessor *a, int64_t most, uint32_t *to)
{
    uint32_t greatest = 0;
    if (a->components != 1 || (a->type != GLTF_U8 && a->type != GLTF_U16 && a->type != GLTF_U32))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF indices of type %d, expected SCALAR of 5121, 5123 or 5125", g->file, a->type);
    if (!a->at) memset(to, 0, (size_t)a->count * sizeof *to);
    else if (a->type == GLTF_U32)
        for (int64_t i = 0; i < a->count; i++) to[i] = tsr_get_u32(a->at + i * a->stride);
    else
        for (int64_t i = 0; i < a->count; i++) to[i] = index_at(a->at + i * a->stride, a->type);
    for (int64_t k = 0; k < a->sparse; k++) to[sparse_place(a, k)] = index_at(a->values + k * size_of(a->type), a->type);
    for (int64_t i = 0; i < a->count; i++) greatest = to[i] > greatest ? to[i] : greatest;
    if (a->count && (int64_t)greatest >= most)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: glTF index %u, there are %lld vertices", g->file, greatest, (long long)most);
    return TSR_OK;
}

#else
typedef int tsr_gltf_left_out; /* jansson was not found */
#endif
