/* formats/meshes/gltf_write.c: GLB files: one node and mesh a part, all with the same vertices; colours linear, with 16 bits; an origin far off as the translation. */
#ifdef TSR_HAVE_JANSSON

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "core/srgb.h"
#include "formats/meshes/gltf.h"
#include "io/little_endian.h"

/* A text that grows. */
typedef struct growing {
    char *text;
    size_t used, room;
    int failed;
} growing;

TSR_PRINTF(2, 3) static void put(growing *t, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    const int n = tsr_print_list(line, sizeof line, format, arguments);
    va_end(arguments);
    if (n < 0 || n >= (int)sizeof line) t->failed = 1;
    if (t->failed) return;
    if (t->used + (size_t)n + 1 > t->room) {
        t->room = 2 * (t->room + sizeof line);
        char *grown = (char *)realloc(t->text, t->room);
        if (!grown) {
            t->failed = 1;
            return;
        }
        t->text = grown;
    }
    memcpy(t->text + t->used, line, (size_t)n + 1);
    t->used += (size_t)n;
}

/* A name as JSON, cut at 200 bytes. */
static void put_name(growing *t, const char *name)
{
    char text[1100];
    size_t used = 0;
    for (size_t k = 0; name[k] && k < 200; k++) {
        const unsigned char c = (unsigned char)name[k];
        if (c == '"' || c == '\\') used += (size_t)snprintf(text + used, sizeof text - used, "\\%c", c);
        else if (c < ' ') used += (size_t)snprintf(text + used, sizeof text - used, "\\u%04x", c);
        else text[used++] = (char)c;
    }
    text[used] = 0;
    json_t *sound = json_string(text); /* NULL unless it is UTF-8 */
    if (sound) put(t, "\"name\":\"%s\",", text);
    json_decref(sound);
}

static void put_accessor(growing *t, int view, int64_t offset, int type, int normalized, int64_t count, const char *shape, const tsr_mesh *bounds)
{
    put(t, "%s{\"bufferView\":%d,\"byteOffset\":%lld,\"componentType\":%d,\"count\":%lld,\"type\":\"%s\"%s", t->text[t->used - 1] == '[' ? "" : ",",
        view, (long long)offset, type, (long long)count, shape, normalized ? ",\"normalized\":true" : "");
    if (bounds) {
        float low[3] = { 0, 0, 0 }, high[3] = { 0, 0, 0 };
        for (int64_t i = 0; i < bounds->vertex_count; i++)
            for (int k = 0; k < 3; k++) {
                const float v = bounds->vertices[3 * i + k];
                low[k] = !i || v < low[k] ? v : low[k];
                high[k] = !i || v > high[k] ? v : high[k];
            }
        put(t, ",\"min\":[%.9g,%.9g,%.9g],\"max\":[%.9g,%.9g,%.9g]", (double)low[0], (double)low[1], (double)low[2], (double)high[0], (double)high[1],
            (double)high[2]);
    }
    put(t, "}");
}

static void put_view(growing *t, int64_t *offset, int64_t bytes, int target)
{
    put(t, "%s{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld,\"target\":%d}", t->text[t->used - 1] == '[' ? "" : ",", (long long)*offset,
        (long long)bytes, target);
    *offset += bytes;
}

static void put_json(growing *t, const tsr_mesh *m)
{
    const int32_t parts = m->part_count ? m->part_count : 1;
    int64_t offset = 0, first = 0;
    const char *space = tsr_space_comment(m->space);
    put(t, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"tessera\"");
    if (*space) put(t, ",\"extras\":{\"space\":\"%s\"}", space);
    put(t, "},\"scene\":0,\"scenes\":[{\"nodes\":[");
    for (int32_t k = 0; k < parts; k++) put(t, "%s%d", k ? "," : "", (int)k);
    put(t, "]}],\"nodes\":[");
    for (int32_t k = 0; k < parts; k++) {
        put(t, "%s{", k ? "," : "");
        if (m->part_count && m->parts[k].name) put_name(t, m->parts[k].name);
        if (m->part_count) put(t, "\"extras\":{\"label\":%lld},", (long long)m->parts[k].value);
        if (tsr_has_origin(m->origin)) put(t, "\"translation\":[%.17g,%.17g,%.17g],", m->origin[0], m->origin[1], m->origin[2]);
        put(t, "\"mesh\":%d}", (int)k);
    }
    put(t, "],\"materials\":[{\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":0.8},\"doubleSided\":true}],\"meshes\":[");
    for (int32_t k = 0; k < parts; k++) {
        put(t, "%s{\"primitives\":[{\"attributes\":{\"POSITION\":0", k ? "," : "");
        if (m->normals) put(t, ",\"NORMAL\":1");
        if (m->colors) put(t, ",\"COLOR_0\":%d", 1 + (m->normals != NULL));
        put(t, "},\"indices\":%d,\"material\":0}]}", 1 + (m->normals != NULL) + (m->colors != NULL) + (int)k);
    }
    put(t, "],\"bufferViews\":[");
    put_view(t, &offset, 12 * m->vertex_count, 34962);
    if (m->normals) put_view(t, &offset, 12 * m->vertex_count, 34962);
    if (m->colors) put_view(t, &offset, 8 * m->vertex_count, 34962);
    if (m->triangle_count) put_view(t, &offset, 12 * m->triangle_count, 34963);
    put(t, "],\"accessors\":[");
    put_accessor(t, 0, 0, GLTF_F32, 0, m->vertex_count, "VEC3", m);
    if (m->normals) put_accessor(t, 1, 0, GLTF_F32, 0, m->vertex_count, "VEC3", NULL);
    if (m->colors) put_accessor(t, 1 + (m->normals != NULL), 0, GLTF_U16, 1, m->vertex_count, "VEC4", NULL);
    for (int32_t k = 0; k < parts; k++) {
        const int64_t triangles = m->part_count ? m->parts[k].triangles : m->triangle_count;
        put_accessor(t, 1 + (m->normals != NULL) + (m->colors != NULL), 12 * first, GLTF_U32, 0, 3 * triangles, "SCALAR", NULL);
        first += triangles;
    }
    put(t, "],\"buffers\":[{\"byteLength\":%lld}]}", (long long)offset);
    while (t->used % 4) put(t, " ");
}

/* Colours as they are seen become linear, with 16 bits, so that each comes back. */
static tsr_status put_colors(tsr_output *out, const tsr_mesh *m)
{
    uint16_t linear[256];
    for (int k = 0; k < 256; k++) linear[k] = (uint16_t)(tsr_linear_of_srgb(k / 255.0) * 65535 + 0.5);
    for (int64_t i = 0; i < m->vertex_count; i++) {
        uint8_t row[8];
        for (int k = 0; k < 4; k++) tsr_put_u16(row + 2 * k, k < 3 ? linear[m->colors[4 * i + k]] : (uint16_t)(m->colors[4 * i + 3] * 257));
        TSR_TRY(tsr_output_write(out, row, sizeof row));
    }
    return TSR_OK;
}

static tsr_status put_file(tsr_output *out, const tsr_mesh *m, const growing *json, int64_t binary)
{
    const int swap = tsr_host_big_endian();
    uint8_t head[20] = "glTF", chunk[8];
    tsr_put_u32(head + 4, 2);
    tsr_put_u32(head + 8, (uint32_t)(28 + (int64_t)json->used + binary));
    tsr_put_u32(head + 12, (uint32_t)json->used);
    memcpy(head + 16, "JSON", 4);
    tsr_put_u32(chunk, (uint32_t)binary);
    memcpy(chunk + 4, "BIN\0", 4);
    TSR_TRY(tsr_output_write(out, head, sizeof head));
    TSR_TRY(tsr_output_write(out, json->text, json->used));
    TSR_TRY(tsr_output_write(out, chunk, sizeof chunk));
    TSR_TRY(tsr_output_elements(out, m->vertices, 3 * m->vertex_count, 4, swap));
    if (m->normals) TSR_TRY(tsr_output_elements(out, m->normals, 3 * m->vertex_count, 4, swap));
    if (m->colors) TSR_TRY(put_colors(out, m));
    return tsr_output_elements(out, m->triangles, 3 * m->triangle_count, 4, swap);
}

tsr_status gltf_write_mesh(const tsr_mesh *mesh, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    growing json = { .text = NULL };
    const int64_t binary = mesh->vertex_count * (12 + (mesh->normals ? 12 : 0) + (mesh->colors ? 8 : 0)) + 12 * mesh->triangle_count;
    if (tsr_path_has_extension(path, ".gltf")) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: glTF is written as one file, expected the extension .glb", path);
    if (!mesh->vertex_count) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: glTF holds no mesh without vertices", path);
    if (binary > (int64_t)UINT32_MAX - (64 << 20))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld bytes, a GLB file counts up to 4294967295: expected a PLY file", path, (long long)binary);
    put_json(&json, mesh);
    tsr_status status = json.failed ? TSR_FAILED(TSR_ERROR_MEMORY, "%s: out of memory", path) : tsr_output_open(path, options, &out);
    if (status == TSR_OK) {
        status = put_file(out, mesh, &json, binary);
        status = tsr_output_finish(&out, status);
    }
    free(json.text);
    return status;
}

#else
typedef int tsr_gltf_write_left_out; /* jansson was not found */
#endif
