/* formats/meshes/stl.c: stereolithography files, text and binary. On reading, corners with the same three coordinates become one vertex (in the order of
 * first appearance; -0 counts as 0); facet normals are ignored: the order of the corners says which side is outside. */
#include <math.h>
#include <string.h>

#include "mesh/weld.h"
#include "formats/mesh_files.h"
#include "io/little_endian.h"

enum { HEADER_BYTES = 84, FACET_BYTES = 50 };

static tsr_status take(void *user, int64_t count, size_t element, void **memory)
{
    return tsr_scratch_for_input((const tsr_input *)user, count, element, "vertices", memory);
}

static tsr_status mesh_from_corners(tsr_input *input, const tsr_progress *progress, float *corners, int64_t triangles, tsr_space space,
                                    tsr_mesh **mesh)
{
    tsr_weld w = { .points = corners, .allocate = take, .user = input };
    uint32_t *indices = NULL;
    tsr_status status;
    for (int64_t i = 0; i < 9 * triangles; i++) corners[i] += 0.0f; /* -0 becomes 0 */
    TSR_TRY(tsr_scratch_for_input(input, 3 * triangles, sizeof *indices, "triangles", (void **)&indices));
    TSR_TRY_GOTO(tsr_weld_points(&w, 3 * triangles, progress, indices), done);
    TSR_TRY_GOTO(tsr_mesh_for_input(input, w.vertices, triangles, 0, mesh), done);
    for (int64_t v = 0; v < w.vertices; v++) memcpy((*mesh)->vertices + 3 * v, corners + 3 * (int64_t)w.first[v], 12);
    if (triangles) memcpy((*mesh)->triangles, indices, (size_t)triangles * 12);
    (*mesh)->space = space;
    TSR_TRY_GOTO(tsr_mesh_check_positions(input, *mesh), done);
done:
    tsr_weld_free(&w);
    tsr_host_release(NULL, indices, (size_t)triangles * 12);
    return status;
}

/* ---- reading ---- */

static float load_float(const uint8_t *at)
{
    uint32_t bits = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static int64_t binary_count(const uint8_t *bytes)
{
    return (int64_t)((uint32_t)bytes[80] | (uint32_t)bytes[81] << 8 | (uint32_t)bytes[82] << 16 | (uint32_t)bytes[83] << 24);
}

/* Two bytes of each facet are free: some programs keep colours there, each in its own way. */
static tsr_status binary_corners(const char *file, const uint8_t *bytes, int64_t triangles, float *corners)
{
    int64_t marked = 0;
    for (int64_t t = 0; t < triangles; t++) {
        const uint8_t *facet = bytes + HEADER_BYTES + FACET_BYTES * t;
        for (int i = 0; i < 9; i++) corners[9 * t + i] = load_float(facet + 12 + 4 * i);
        marked += facet[48] || facet[49];
    }
    if (marked) tsr_remark("%s: the attributes of %lld facets, where some programs keep colours, are left out", file, (long long)marked);
    return TSR_OK;
}

/* Text is free-form: every "vertex x y z" counts, three make a facet. With `corners` NULL only counts. */
static tsr_status text_corners(const char *file, tsr_text text, tsr_places *places, float *corners, int64_t *triangles)
{
    char shown[32];
    tsr_word word;
    int64_t count = 0;
    int in_facet = 0, open = 0; /* vertices since "facet"; no "endfacet" since */
    tsr_text name;
    tsr_text_line(&text, &name); /* "solid" and a free name, which may hold any word */
    while (tsr_text_word(&text, &word)) {
        if (tsr_word_is_any_case(word, "facet")) {
            in_facet = 0;
            open = 1;
        }
        if (tsr_word_is_any_case(word, "endfacet") && in_facet != 3)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: a facet of %d vertices, expected 3", file, (long long)text.line, in_facet);
        if (tsr_word_is_any_case(word, "endfacet")) open = 0;
        if (tsr_word_is_any_case(word, "solid")) tsr_text_line(&text, &name);
        if (!tsr_word_is_any_case(word, "vertex")) continue;
        if (++in_facet > 3) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: a facet of more than 3 vertices", file, (long long)text.line);
        for (int i = 0; i < 3; i++) {
            double value = 0;
            word = (tsr_word){ "", 0 };
            tsr_text_word(&text, &word);
            if (tsr_word_double(word, &value) != TSR_TEXT_OK)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s' in a vertex, expected three numbers", file, (long long)text.line,
                         tsr_word_show(word, shown));
            if (corners) corners[3 * count + i] = tsr_place(places, i, value);
        }
        count++;
    }
    if (count % 3 || open) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file ends within facet %lld", file, (long long)((count - (in_facet == 3)) / 3));
    *triangles = count / 3;
    return TSR_OK;
}

/* Begins with "solid", also in capitals or behind empty lines. */
static int is_text(const uint8_t *bytes, size_t size)
{
    const tsr_text all = tsr_text_make(bytes, size);
    const char *at = all.at;
    while (at < all.end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) at++;
    if (all.end - at < 5 || !tsr_word_is_any_case((tsr_word){ at, 5 }, "solid")) return 0;
    if (size >= HEADER_BYTES && HEADER_BYTES + FACET_BYTES * binary_count(bytes) == (int64_t)size) return 0; /* a binary file that lies */
    return !memchr(bytes, 0, size < 512 ? size : 512);
}

static tsr_status stl_read(tsr_input *input, const tsr_read_options *options, tsr_mesh **mesh)
{
    const char *file = tsr_input_name(input);
    const uint8_t *bytes;
    size_t size;
    int64_t triangles = 0;
    float *corners = NULL;
    tsr_status status;
    *mesh = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    int text = is_text(bytes, size);
    tsr_places places = tsr_places_begin();
    if (text) TSR_TRY(text_corners(file, tsr_text_make(bytes, size), &places, NULL, &triangles));
    else if (size < HEADER_BYTES) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %zu bytes, a binary STL has at least %d", file, size, HEADER_BYTES);
    else triangles = binary_count(bytes);
    if (!text && HEADER_BYTES + FACET_BYTES * triangles > (int64_t)size)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld facets need %lld bytes, the file has %zu", file, (long long)triangles,
                 (long long)(HEADER_BYTES + FACET_BYTES * triangles), size);
    if (3 * triangles > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld facets, expected at most 1431655765", file, (long long)triangles);
    TSR_TRY(tsr_scratch_for_input(input, 9 * triangles, sizeof(float), "facets", (void **)&corners));
    do
        TSR_TRY_GOTO(text ? text_corners(file, tsr_text_make(bytes, size), &places, corners, &triangles)
                          : binary_corners(file, bytes, triangles, corners),
                     done);
    while (tsr_places_again(&places, options));
    tsr_text first = tsr_text_make(bytes, size < 80 ? size : 80), line = first;
    while (text && tsr_text_line(&first, &line) && line.end - line.at < 5) continue; /* the first that is not empty */
    tsr_space space = tsr_space_from_comment(line.at, (size_t)(line.end - line.at), TSR_SPACE_NONE);
    TSR_TRY_GOTO(mesh_from_corners(input, &options->progress, corners, triangles, space, mesh), done);
    memcpy((*mesh)->origin, places.origin, sizeof places.origin);
done:
    tsr_host_release(NULL, corners, (size_t)triangles * 36);
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    return status;
}

/* ---- writing ---- */

/* Unit normal of a facet, 0 for one without area. */
static void facet_normal(const float *a, const float *b, const float *c, float normal[3])
{
    double u[3], v[3];
    for (int i = 0; i < 3; i++) {
        u[i] = (double)b[i] - (double)a[i];
        v[i] = (double)c[i] - (double)a[i];
    }
    double n[3] = { u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0] };
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3; i++) normal[i] = length > 0 ? (float)(n[i] / length) : 0;
}

static void corners_of(const tsr_mesh *mesh, int64_t t, const float *corner[3], float normal[3])
{
    for (int i = 0; i < 3; i++) corner[i] = mesh->vertices + 3 * (int64_t)mesh->triangles[3 * t + i];
    facet_normal(corner[0], corner[1], corner[2], normal);
}

enum { FACET_TEXT = 4 * TSR_TEXT_PLACES + 96 };
static char *put_text(const void *user, int64_t t, char *at)
{
    const tsr_mesh *mesh = (const tsr_mesh *)user;
    const float *corner[3];
    float normal[3];
    corners_of(mesh, t, corner, normal);
    at = tsr_put_floats(at, "facet normal ", normal, "\nouter loop\n");
    for (int i = 0; i < 3; i++) at = tsr_put_position(at, "vertex ", corner[i], mesh->origin, "\n");
    return tsr_put_text(at, "endloop\nendfacet\n");
}

static char *store_float(char *to, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    for (int i = 0; i < 4; i++) to[i] = (char)(bits >> (8 * i));
    return to + 4;
}

static char *put_facet(const void *user, int64_t t, char *at)
{
    const tsr_mesh *mesh = (const tsr_mesh *)user;
    const float *corner[3];
    float normal[3];
    corners_of(mesh, t, corner, normal);
    for (int i = 0; i < 3; i++) at = store_float(at, normal[i]);
    for (int i = 0; i < 9; i++) at = store_float(at, (float)(mesh->origin[i % 3] + (double)corner[i / 3][i % 3]));
    at[0] = at[1] = 0;
    return at + 2;
}

static tsr_status write_text(tsr_output *out, const tsr_mesh *mesh, const tsr_progress *progress)
{
    const tsr_item_writer facets = { put_text, mesh, FACET_TEXT, 0, mesh->triangle_count };
    TSR_TRY(tsr_output_printf(out, "solid tessera %s\n", tsr_space_comment(mesh->space)));
    TSR_TRY(tsr_write_items(out, mesh, &facets, 0, mesh->triangle_count, progress));
    return tsr_output_printf(out, "endsolid tessera\n");
}

static tsr_status write_binary(tsr_output *out, const tsr_mesh *mesh, const tsr_progress *progress)
{
    const tsr_item_writer facets = { put_facet, mesh, FACET_BYTES, 0, mesh->triangle_count };
    uint8_t header[HEADER_BYTES] = "tessera ";
    memcpy(header + 8, tsr_space_comment(mesh->space), strlen(tsr_space_comment(mesh->space)));
    for (int i = 0; i < 4; i++) header[80 + i] = (uint8_t)((uint64_t)mesh->triangle_count >> (8 * i));
    TSR_TRY(tsr_output_write(out, header, sizeof header));
    return tsr_write_items(out, mesh, &facets, 0, mesh->triangle_count, progress);
}

static tsr_status stl_write(const tsr_mesh *mesh, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    if (!options->ascii && mesh->triangle_count > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld triangles, binary STL holds at most 4294967295", path, (long long)mesh->triangle_count);
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, (options->ascii ? write_text : write_binary)(out, mesh, &options->progress));
}

/* Does a facet begin behind the header: a normal of length 1, or none, and corners of some size? Of a file whose size is not known. */
static int begins_with_facet(const tsr_signature *s)
{
    float f[12];
    double normal = 0, corners = 0;
    if (s->head_bytes < HEADER_BYTES + FACET_BYTES || !memchr(s->head, 0, s->head_bytes)) return 0;
    for (int k = 0; k < 12; k++) {
        f[k] = tsr_get_f32(s->head + HEADER_BYTES + 4 * k);
        if (!isfinite(f[k])) return 0;
        if (k < 3) normal += (double)f[k] * (double)f[k];
        else corners = fmax(corners, fabs((double)f[k]));
    }
    return (normal == 0 || fabs(normal - 1) < 0.02) && corners > 1e-18 && corners < 1e18;
}

static int stl_recognise(const tsr_signature *s)
{
    if (s->head_bytes >= HEADER_BYTES && s->file_bytes == HEADER_BYTES + FACET_BYTES * binary_count(s->head)) return TSR_SURELY_MINE;
    if (!is_text(s->head, s->head_bytes)) /* of a pipe the size is not known; binary files have zeros in their counts at least */
        return s->file_bytes < 0 && (begins_with_facet(s) || (s->head_bytes == HEADER_BYTES && !binary_count(s->head))) ? TSR_MAYBE_MINE : TSR_NOT_MINE;
    tsr_text text = tsr_text_make(s->head, s->head_bytes), line;
    tsr_word word;
    while (tsr_text_line(&text, &line) && line.end - line.at < 5) continue;
    return tsr_text_word(&text, &word) && (tsr_word_is_any_case(word, "facet") || tsr_word_is_any_case(word, "endsolid")) ? TSR_SURELY_MINE
                                                                                                                          : TSR_MAYBE_MINE;
}

const tsr_format tsr_format_stl = { .name = "stl",
                                    .kind = TSR_FILE_MESH,
                                    .extensions = { ".stl" },
                                    .recognise = stl_recognise,
                                    .mesh_extras_ascii = TSR_MESH_ORIGIN,
                                    .read_mesh = stl_read,
                                    .write_mesh = stl_write };
