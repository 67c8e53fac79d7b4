/* flow/lines_write.c: lines as VTK polydata, PLY, OBJ and GLB; tubes as VTK polydata. */
#include <math.h>
#include <stdio.h>

#include "flow/streamlines.h"
#include "mesh/mesh.h"
#include "io/stream.h"
#include "io/text.h"

typedef struct writer {
    tsr_output *out;
    const tsr_streamlines *lines;
    const char *const *names;
    const float *const *values;
    int32_t attributes;
    const float *positions;
    int ascii;
} writer;

/* ---- numbers ---------------------------------------------------------------------------------------------------------------------------- */

static tsr_status floats(tsr_output *out, int ascii, int per_line, const float *v, int64_t count)
{
    char line[256], *at = line;
    if (!ascii) {
        TSR_TRY(tsr_output_elements(out, v, count, 4, !tsr_host_big_endian()));
        TSR_TRY(tsr_output_write(out, "\n", 1));
        return TSR_OK;
    }
    for (int64_t k = 0; k < count; k++) {
        at = tsr_put_float(at, v[k]);
        *at++ = (k + 1) % per_line && k + 1 < count ? ' ' : '\n';
        if (at[-1] != '\n') continue;
        TSR_TRY(tsr_output_write(out, line, (size_t)(at - line)));
        at = line;
    }
    return TSR_OK;
}

/* `count` indices behind their number; the indices are first, first + 1 .. or, not NULL, given. */
static tsr_status cell(tsr_output *out, int ascii, int64_t count, int64_t first, const uint32_t *given)
{
    enum { PIECE = 512 };
    int32_t numbers[PIECE];
    char text[24], *end;
    for (int64_t k = -1; k < count;) {
        int n = 0;
        for (; k < count && n < PIECE; k++) numbers[n++] = (int32_t)(k < 0 ? count : given ? (int64_t)given[k] : first + k);
        if (!ascii) TSR_TRY(tsr_output_elements(out, numbers, n, 4, !tsr_host_big_endian()));
        for (int i = 0; ascii && i < n; i++) {
            end = tsr_put_integer(text, (uint64_t)numbers[i]);
            *end++ = k == count && i == n - 1 ? '\n' : ' ';
            TSR_TRY(tsr_output_write(out, text, (size_t)(end - text)));
        }
    }
    return TSR_OK;
}

static const char *space_name(tsr_space space) { return space == TSR_SPACE_RAS ? " SPACE=RAS" : space == TSR_SPACE_LPS ? " SPACE=LPS" : ""; }

/* A name as the formats take it: one word. */
static void word(const char *name, char text[64])
{
    snprintf(text, 64, "%s", name && *name ? name : "value");
    for (char *c = text; *c; c++)
        if (*c <= ' ' || *c == 127) *c = '_';
}

/* ---- lines ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status check_indices(int64_t count, const char *what)
{
    if (count > INT32_MAX) TSR_FAIL(TSR_ERROR_CAPACITY, "%lld %s, expected at most 2^31 - 1 in a file of lines", (long long)count, what);
    return TSR_OK;
}

static tsr_status write_vtk(const writer *w)
{
    const tsr_streamlines *l = w->lines;
    char name[64];
    TSR_TRY(tsr_output_printf(w->out, "# vtk DataFile Version 3.0\nstream lines%s\n%s\nDATASET POLYDATA\nPOINTS %lld float\n", space_name(l->space),
                              w->ascii ? "ASCII" : "BINARY", (long long)l->points));
    TSR_TRY(floats(w->out, w->ascii, 3, w->positions, 3 * l->points));
    TSR_TRY(tsr_output_printf(w->out, "LINES %lld %lld\n", (long long)l->lines, (long long)(l->lines + l->points)));
    for (int64_t k = 0; k < l->lines; k++)
        TSR_TRY(cell(w->out, w->ascii, l->host_offsets[k + 1] - l->host_offsets[k], l->host_offsets[k], NULL));
    if (!w->ascii) TSR_TRY(tsr_output_write(w->out, "\n", 1));
    if (w->attributes) TSR_TRY(tsr_output_printf(w->out, "POINT_DATA %lld\n", (long long)l->points));
    for (int32_t a = 0; a < w->attributes; a++) {
        word(w->names[a], name);
        TSR_TRY(tsr_output_printf(w->out, "SCALARS %s float 1\nLOOKUP_TABLE default\n", name));
        TSR_TRY(floats(w->out, w->ascii, 1, w->values[a], l->points));
    }
    return TSR_OK;
}

static tsr_status write_ply(const writer *w)
{
    const tsr_streamlines *l = w->lines;
    char name[64], text[32], *end;
    int64_t edges = 0;
    for (int64_t k = 0; k < l->lines; k++) edges += tsr_max64(0, l->host_offsets[k + 1] - l->host_offsets[k] - 1);
    TSR_TRY(tsr_output_printf(w->out, "ply\nformat %s 1.0\ncomment stream lines%s\nelement vertex %lld\nproperty float x\nproperty float y\nproperty float z\n",
                              w->ascii                ? "ascii"
                              : tsr_host_big_endian() ? "binary_big_endian"
                                                      : "binary_little_endian",
                              space_name(l->space), (long long)l->points));
    for (int32_t a = 0; a < w->attributes; a++) {
        word(w->names[a], name);
        TSR_TRY(tsr_output_printf(w->out, "property float %s\n", name));
    }
    TSR_TRY(tsr_output_printf(w->out, "element edge %lld\nproperty int vertex1\nproperty int vertex2\nend_header\n", (long long)edges));
    for (int64_t k = 0; k < l->points; k++)
        for (int32_t c = 0; c < 3 + w->attributes; c++) {
            const float v = c < 3 ? w->positions[3 * k + c] : w->values[c - 3][k];
            if (!w->ascii) {
                TSR_TRY(tsr_output_write(w->out, &v, sizeof v));
                continue;
            }
            end = tsr_put_float(text, v);
            *end++ = c + 1 < 3 + w->attributes ? ' ' : '\n';
            TSR_TRY(tsr_output_write(w->out, text, (size_t)(end - text)));
        }
    for (int64_t line = 0; line < l->lines; line++)
        for (int64_t k = l->host_offsets[line]; k + 1 < l->host_offsets[line + 1]; k++) {
            const int32_t pair[2] = { (int32_t)k, (int32_t)(k + 1) };
            if (!w->ascii) TSR_TRY(tsr_output_write(w->out, pair, sizeof pair));
            else TSR_TRY(tsr_output_printf(w->out, "%d %d\n", pair[0], pair[1]));
        }
    return TSR_OK;
}

static tsr_status write_obj(const writer *w)
{
    const tsr_streamlines *l = w->lines;
    char text[64], *end;
    TSR_TRY(tsr_output_printf(w->out, "# stream lines%s\n", space_name(l->space)));
    for (int64_t k = 0; k < l->points; k++) {
        end = tsr_put_text(text, "v ");
        for (int c = 0; c < 3; c++) {
            end = tsr_put_float(end, w->positions[3 * k + c]);
            *end++ = c < 2 ? ' ' : '\n';
        }
        TSR_TRY(tsr_output_write(w->out, text, (size_t)(end - text)));
    }
    for (int64_t line = 0; line < l->lines; line++) {
        if (l->host_offsets[line + 1] - l->host_offsets[line] < 2) continue;
        TSR_TRY(tsr_output_write(w->out, "l", 1));
        for (int64_t k = l->host_offsets[line]; k < l->host_offsets[line + 1]; k++) {
            *text = ' ';
            end = tsr_put_integer(text + 1, (uint64_t)(k + 1));
            TSR_TRY(tsr_output_write(w->out, text, (size_t)(end - text)));
        }
        TSR_TRY(tsr_output_write(w->out, "\n", 1));
    }
    return TSR_OK;
}

/* One primitive of separate lines, with pairs of indices; numbers at the points are attributes of the application's own, as _SPEED. */
static char *glb_text(const writer *w, int64_t edges, char *at)
{
    const int64_t points = w->lines->points, row = 4 * points;
    float low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    char name[64];
    for (int64_t k = 0; k < 3 * points; k++) {
        low[k % 3] = fminf(low[k % 3], w->positions[k]);
        high[k % 3] = fmaxf(high[k % 3], w->positions[k]);
    }
    at += sprintf(at, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"tessera\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0,\"name\":\"stream lines%s\"}],"
                      "\"meshes\":[{\"primitives\":[{\"mode\":1,\"indices\":%d,\"attributes\":{\"POSITION\":0", space_name(w->lines->space), w->attributes + 1);
    for (int32_t a = 0; a < w->attributes; a++) {
        word(w->names[a], name);
        for (char *c = name; *c; c++) *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ? *c : '_');
        at += sprintf(at, ",\"_%s\":%d", name, a + 1);
    }
    at += sprintf(at, "}}]}],\"buffers\":[{\"byteLength\":%lld}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":%lld,\"target\":34962}",
                  (long long)(row * (3 + w->attributes) + 8 * edges), (long long)(3 * row));
    for (int32_t a = 0; a < w->attributes; a++)
        at += sprintf(at, ",{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld,\"target\":34962}", (long long)(row * (3 + a)), (long long)row);
    at += sprintf(at, ",{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld,\"target\":34963}],\"accessors\":[", (long long)(row * (3 + w->attributes)), (long long)(8 * edges));
    at += sprintf(at, "{\"bufferView\":0,\"componentType\":5126,\"count\":%lld,\"type\":\"VEC3\"", (long long)points);
    for (int end = 0; end < 2; end++)
        for (int c = 0; c < 3; c++) {
            at = tsr_put_text(at, c ? "," : end ? "],\"max\":[" : ",\"min\":[");
            at = tsr_put_float(at, end ? high[c] : low[c]);
        }
    at = tsr_put_text(at, "]}");
    for (int32_t a = 0; a < w->attributes; a++)
        at += sprintf(at, ",{\"bufferView\":%d,\"componentType\":5126,\"count\":%lld,\"type\":\"SCALAR\"}", a + 1, (long long)points);
    at += sprintf(at, ",{\"bufferView\":%d,\"componentType\":5125,\"count\":%lld,\"type\":\"SCALAR\"}]}", w->attributes + 1, (long long)(2 * edges));
    return at;
}

static tsr_status write_glb(const writer *w)
{
    const tsr_streamlines *l = w->lines;
    const int swap = tsr_host_big_endian();
    int64_t edges = 0;
    void *text = NULL;
    tsr_status status;
    for (int64_t k = 0; k < l->lines; k++) edges += tsr_max64(0, l->host_offsets[k + 1] - l->host_offsets[k] - 1);
    if (!edges) TSR_FAIL(TSR_ERROR_ARGUMENT, "no lines of two points or more, which a .glb file needs");
    const int64_t binary = l->points * 4 * (3 + w->attributes) + 8 * edges;
    if (binary > INT32_MAX) TSR_FAIL(TSR_ERROR_CAPACITY, "%lld bytes of lines, expected below 2^31 in a .glb file: take .vtk or .ply", (long long)binary);
    TSR_TRY(tsr_host_allocate(NULL, 2048 + 400 * (size_t)w->attributes, &text));
    char *end = glb_text(w, edges, (char *)text);
    while ((end - (char *)text) % 4) *end++ = ' ';
    const uint32_t length = (uint32_t)(end - (char *)text), head[5] = { 0x46546c67u, 2, 28 + length + (uint32_t)binary, length, 0x4e4f534au },
                   chunk[2] = { (uint32_t)binary, 0x004e4942u };
    TSR_TRY_GOTO(tsr_output_elements(w->out, head, 5, 4, swap), done);
    TSR_TRY_GOTO(tsr_output_write(w->out, text, length), done);
    TSR_TRY_GOTO(tsr_output_elements(w->out, chunk, 2, 4, swap), done);
    TSR_TRY_GOTO(tsr_output_elements(w->out, w->positions, 3 * l->points, 4, swap), done);
    for (int32_t a = 0; a < w->attributes; a++) TSR_TRY_GOTO(tsr_output_elements(w->out, w->values[a], l->points, 4, swap), done);
    for (int64_t line = 0; line < l->lines; line++)
        for (int64_t k = l->host_offsets[line]; k + 1 < l->host_offsets[line + 1]; k++) {
            const uint32_t pair[2] = { (uint32_t)k, (uint32_t)(k + 1) };
            TSR_TRY_GOTO(tsr_output_elements(w->out, pair, 2, 4, swap), done);
        }
    status = TSR_OK;
done:
    tsr_host_release(NULL, text, 0);
    return status;
}

static const char *format_of(const char *path, const tsr_write_options *o)
{
    static const char *const known[] = { "vtk", "ply", "obj", "glb" };
    char extension[8];
    if (o->format) return o->format;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        snprintf(extension, sizeof extension, ".%s", known[k]);
        if (tsr_path_has_extension(path, extension)) return known[k];
    }
    return "";
}

tsr_status tsr_streamlines_write(const tsr_streamlines *lines, const char *const *names, const float *const *values, int32_t attributes, const char *path,
                                 const tsr_write_options *options)
{
    TSR_NEEDS(lines, path);
    tsr_write_options own;
    tsr_output *out = NULL;
    void *host = NULL;
    tsr_status status;
    if (attributes < 0 || attributes > 64 || (attributes && (!names || !values)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%d attributes, expected 0 to 64 with names and values", attributes);
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    const char *format = format_of(path, &own);
    const int vtk = !strcmp(format, "vtk"), ply = !strcmp(format, "ply"), obj = !strcmp(format, "obj"), glb = !strcmp(format, "glb");
    if (!vtk && !ply && !obj && !glb) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: lines are written as vtk, ply, obj or glb, by extension or format", path);
    TSR_TRY(check_indices(lines->points, "points"));
    TSR_TRY(tsr_host_allocate(NULL, (size_t)(lines->points + 1) * 12, &host));
    TSR_TRY_GOTO(tsr_streamlines_download(lines, (float *)host, NULL), done);
    TSR_TRY_GOTO(tsr_output_open(path, &own, &out), done);
    const writer w = { out, lines, names, values, attributes, (const float *)host, own.ascii };
    status = tsr_output_finish(&out, vtk ? write_vtk(&w) : ply ? write_ply(&w) : obj ? write_obj(&w) : write_glb(&w));
done:
    tsr_host_release(NULL, host, 0);
    return status;
}

/* ---- meshes ----------------------------------------------------------------------------------------------------------------------------- */

static tsr_status write_mesh(tsr_output *out, const tsr_mesh *m, int ascii)
{
    const int64_t vertices = m->vertex_count, triangles = m->triangle_count;
    char text[64], *end;
    TSR_TRY(tsr_output_printf(out, "# vtk DataFile Version 3.0\ntubes%s\n%s\nDATASET POLYDATA\nPOINTS %lld float\n", space_name(m->space),
                              ascii ? "ASCII" : "BINARY", (long long)vertices));
    TSR_TRY(floats(out, ascii, 3, m->vertices, 3 * vertices));
    TSR_TRY(tsr_output_printf(out, "POLYGONS %lld %lld\n", (long long)triangles, (long long)(4 * triangles)));
    for (int64_t k = 0; k < triangles; k++) TSR_TRY(cell(out, ascii, 3, 0, m->triangles + 3 * k));
    if (!ascii) TSR_TRY(tsr_output_write(out, "\n", 1));
    if (!m->normals && !m->colors) return TSR_OK;
    TSR_TRY(tsr_output_printf(out, "POINT_DATA %lld\n", (long long)vertices));
    if (m->normals) {
        TSR_TRY(tsr_output_printf(out, "NORMALS normals float\n"));
        TSR_TRY(floats(out, ascii, 3, m->normals, 3 * vertices));
    }
    if (!m->colors) return TSR_OK;
    TSR_TRY(tsr_output_printf(out, "COLOR_SCALARS colors 3\n"));
    for (int64_t k = 0; k < vertices; k++) {
        const uint8_t *c = m->colors + 4 * k;
        if (!ascii) {
            TSR_TRY(tsr_output_write(out, c, 3));
            continue;
        }
        end = text;
        for (int i = 0; i < 3; i++) {
            end = tsr_put_float(end, (float)c[i] / 255.0f);
            *end++ = i < 2 ? ' ' : '\n';
        }
        TSR_TRY(tsr_output_write(out, text, (size_t)(end - text)));
    }
    if (!ascii) TSR_TRY(tsr_output_write(out, "\n", 1));
    return TSR_OK;
}

tsr_status tsr_mesh_write_vtk(const tsr_mesh *mesh, const char *path, const tsr_write_options *options)
{
    TSR_NEEDS(mesh, path);
    tsr_write_options own;
    tsr_output *out = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_mesh_require_host(mesh, "mesh"));
    TSR_TRY(check_indices(mesh->vertex_count, "vertices"));
    TSR_TRY(tsr_output_open(path, &own, &out));
    TSR_TRY(tsr_output_finish(&out, write_mesh(out, mesh, own.ascii)));
    return TSR_OK;
}
