/* formats/meshes/obj.c: Wavefront OBJ. Read: v, vn, f in all its forms (i, i/t, i//n, i/t/n, negative = counted back from here), polygons cut into triangles, lines
 * joined by a backslash, colours behind the vertices or else the diffuse colours of materials (mtllib, usemtl), g and o (two or more are the parts of the mesh);
 * everything else (textures, lines, curves) is skipped. A mesh has one normal per vertex: normals
 * are kept if each vertex that a face uses has exactly one, otherwise dropped. */
#include <stdio.h>
#include <string.h>

#include "formats/meshes/obj_materials.h"

typedef struct obj_reader {
    const char *file;
    const tsr_progress *progress;
    int64_t vertices, normals, triangles; /* in the whole file */
    int64_t vertex, normal;               /* met so far */
    int normals_used;                     /* some corner names a normal */
    float *normal_table;                  /* [normals][3] */
    uint32_t *normal_of;                  /* per vertex, NO_NORMAL before the first corner that names one */
    int one_normal_each;
    int64_t coordinates, uses; /* lines of vt, and of usemtl */
    tsr_word library;          /* the first mtllib */
    tsr_obj_materials materials;
    int32_t material; /* of the faces at hand, -1: none */
    int64_t between;  /* corners whose vertex has another material's colour */
    int64_t colored;  /* vertices with a colour behind their place */
    double color_scale, color_most;
    tsr_places places;
    tsr_part_list parts;
    int64_t groups; /* met so far */
    int64_t part_value;
    tsr_word part_name;
    char name[256];
    tsr_space space;
} obj_reader;

static const uint32_t NO_NORMAL = UINT32_MAX;

/* A logical line: data lines joined while they end with a backslash. The words of the parts are served one after another. */
typedef struct obj_line {
    tsr_text *text, part;
    int continued;
    tsr_space *space;
} obj_line;

static int take_part(obj_line *line)
{
    if (!tsr_text_data_line(line->text, &line->part, line->space)) return 0;
    const char *end = line->part.end;
    while (end > line->part.at && (end[-1] == ' ' || end[-1] == '\t')) end--;
    line->continued = end > line->part.at && end[-1] == '\\';
    if (line->continued) line->part.end = end - 1;
    return 1;
}

static int next_word(obj_line *line, tsr_word *word)
{
    for (;;) {
        if (tsr_text_word(&line->part, word)) return 1;
        if (!line->continued || !take_part(line)) return 0;
    }
}

static tsr_status read_vector(const obj_reader *r, obj_line *line, const char *what, float *to)
{
    char shown[32];
    for (int i = 0; i < 3; i++) {
        tsr_word word = { "", 0 };
        double value = 0;
        next_word(line, &word);
        if (tsr_word_double(word, &value) != TSR_TEXT_OK)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s' in a %s, expected three numbers", r->file, (long long)line->part.line,
                     tsr_word_show(word, shown), what);
        to[i] = (float)value;
    }
    return TSR_OK;
}

/* x y z, and r g b where all vertices have them (0 to 1 or, in some files, 0 to 255); a weight may stand between. */
static tsr_status read_vertex(obj_reader *r, obj_line *line, tsr_mesh *mesh)
{
    char shown[32];
    double number[7] = { 0 };
    int count = 0;
    tsr_word word;
    while (count < 7 && next_word(line, &word)) {
        if (tsr_word_double(word, &number[count]) != TSR_TEXT_OK) {
            if (count >= 3) break;
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s' in a vertex, expected three numbers", r->file, (long long)line->part.line,
                     tsr_word_show(word, shown));
        }
        count++;
    }
    if (count < 3) TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '' in a vertex, expected three numbers", r->file, (long long)line->part.line);
    for (int i = 0; i < 3; i++) mesh->vertices[3 * r->vertex + i] = tsr_place(&r->places, i, number[i]);
    if (!mesh->colors) return TSR_OK;
    if (r->materials.count) return TSR_OK; /* its faces say it */
    uint8_t *color = mesh->colors + 4 * r->vertex;
    for (int i = 0; i < 3; i++) {
        const double c = number[count - 3 + i] * r->color_scale + 0.5;
        r->color_most = number[count - 3 + i] > r->color_most ? number[count - 3 + i] : r->color_most;
        color[i] = c >= 255 ? 255 : c > 0 ? (uint8_t)c : 0;
    }
    color[3] = 255;
    return TSR_OK;
}

/* A group or object begins a part: "label-3 NAME", as they are written here, has a number of its own. */
static void begin_part(obj_reader *r, obj_line *line)
{
    tsr_word word;
    size_t used = 0;
    int64_t value;
    r->part_value = ++r->groups;
    r->name[0] = 0;
    for (int first = 1; next_word(line, &word); first = 0) {
        static const char label[] = "label-";
        const size_t n = sizeof label - 1;
        if (first && word.size > n && !memcmp(word.text, label, n) &&
            tsr_word_integer((tsr_word){ word.text + n, word.size - n }, &value) == TSR_TEXT_OK) {
            r->part_value = value;
            continue;
        }
        if (used + word.size + 2 > sizeof r->name) continue;
        if (used) r->name[used++] = ' ';
        memcpy(r->name + used, word.text, word.size);
        r->name[used += word.size] = 0;
    }
    r->part_name = (tsr_word){ *r->name ? r->name : NULL, used };
}

/* One of the numbers of a corner ("7", "-2"): index from 0 in *index. */
static tsr_status resolve(const obj_reader *r, const obj_line *line, tsr_word word, int64_t so_far, int64_t total, const char *what, int64_t *index)
{
    char shown[32];
    int64_t value = 0;
    if (tsr_word_integer(word, &value) != TSR_TEXT_OK)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%s' in a face, expected v, v/vt, v//vn or v/vt/vn", r->file, (long long)line->part.line,
                 tsr_word_show(word, shown));
    *index = value < 0 ? so_far + value : value - 1;
    if (value == 0 || *index < 0 || *index >= total)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: %s %lld in a face, expected 1 to %lld or -1 to -%lld", r->file, (long long)line->part.line, what,
                 (long long)value, (long long)total, (long long)so_far);
    return TSR_OK;
}

static tsr_status read_corner(obj_reader *r, const obj_line *line, tsr_word word, uint32_t *vertex)
{
    const char *end = word.text + word.size, *slash = (const char *)memchr(word.text, '/', word.size);
    const char *second = slash ? (const char *)memchr(slash + 1, '/', (size_t)(end - slash - 1)) : NULL;
    int64_t v = 0, n = 0;
    TSR_TRY(resolve(r, line, (tsr_word){ word.text, (size_t)((slash ? slash : end) - word.text) }, r->vertex, r->vertices, "vertex", &v));
    *vertex = (uint32_t)v;
    if (!second || second + 1 == end) {
        if (r->normal_of) r->one_normal_each = 0;
        return TSR_OK;
    }
    TSR_TRY(resolve(r, line, (tsr_word){ second + 1, (size_t)(end - second - 1) }, r->normal, r->normals, "normal", &n));
    if (r->normal_of) {
        uint32_t *own = &r->normal_of[v];
        if (*own == NO_NORMAL) *own = (uint32_t)n;
        else if (*own != (uint32_t)n && !tsr_same_point(r->normal_table + 3 * (int64_t)*own, r->normal_table + 3 * n)) r->one_normal_each = 0;
    }
    return TSR_OK;
}

/* The names of materials and files may hold blanks. */
static tsr_word rest_of(obj_line *line)
{
    const char *at = line->part.at, *end = line->part.end;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
    return (tsr_word){ at, (size_t)(end - at) };
}

/* A vertex has the colour of the first face that says one; alpha is 0 before. */
static void color_corner(obj_reader *r, tsr_mesh *mesh, uint32_t vertex)
{
    uint8_t *own = mesh->colors + 4 * (size_t)vertex;
    if (r->material < 0) return;
    const uint8_t *color = r->materials.at[r->material].color;
    if (own[3]) r->between += memcmp(own, color, 4) != 0;
    else memcpy(own, color, 4);
}

/* With `mesh` NULL counts, otherwise stores. */
static tsr_status walk(obj_reader *r, tsr_text text, tsr_mesh *mesh, tsr_fan *fan)
{
    tsr_word word;
    obj_line line = { .text = &text, .space = &r->space };
    double size = (double)(text.end - text.at);
    for (int64_t lines = 0; take_part(&line); lines++) {
        TSR_READING(r->progress, lines, mesh ? 1 - (double)(text.end - text.at) / size : -1);
        next_word(&line, &word);
        if (tsr_word_is(word, "v")) {
            if (mesh) TSR_TRY(read_vertex(r, &line, mesh));
            int words = 0;
            while (!mesh && next_word(&line, &word)) words++;
            r->colored += words == 6 || words == 7;
            r->vertex++;
        } else if (tsr_word_is(word, "vn")) {
            if (r->normal_table) TSR_TRY(read_vector(r, &line, "normal", r->normal_table + 3 * r->normal));
            r->normal++;
        } else if (tsr_word_is(word, "f")) {
            int64_t corners = 0;
            tsr_fan_begin(fan);
            while (next_word(&line, &word)) {
                uint32_t vertex = 0;
                corners++;
                if (mesh) {
                    TSR_TRY(read_corner(r, &line, word, &vertex));
                    tsr_fan_corner(fan, vertex);
                    if (r->materials.count) color_corner(r, mesh, vertex);
                } else {
                    r->normals_used |= memchr(word.text, '/', word.size) && word.text[word.size - 1] != '/';
                }
            }
            if (corners < 3)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: a face of %lld corners, expected at least 3", r->file, (long long)line.part.line,
                         (long long)corners);
            if (!mesh) r->triangles += tsr_fan_triangles(corners);
            else TSR_TRY(tsr_part_list_add(&r->parts, r->part_value, r->part_name, tsr_fan_triangles(corners)));
        } else if (!mesh && (tsr_word_is(word, "vt") || tsr_word_is(word, "usemtl"))) {
            if (word.size == 2) r->coordinates++;
            else r->uses++;
        } else if (!mesh && tsr_word_is(word, "mtllib")) {
            if (!r->library.size) r->library = rest_of(&line);
        } else if (mesh && r->materials.count && tsr_word_is(word, "usemtl")) {
            r->material = tsr_obj_material_find(&r->materials, rest_of(&line));
        } else if (mesh && (tsr_word_is(word, "g") || tsr_word_is(word, "o"))) {
            begin_part(r, &line);
        }
        while (next_word(&line, &word)) continue; /* texture coordinates of v, names, whatever else stands on the line */
    }
    return TSR_OK;
}

static void place_normals(const obj_reader *r, tsr_mesh *mesh)
{
    static const float none[3] = { 0, 0, 0 };
    if (!r->one_normal_each) {
        tsr_mesh_drop_normals(mesh);
        return;
    }
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        memcpy(mesh->normals + 3 * v, r->normal_of[v] == NO_NORMAL ? none : r->normal_table + 3 * (int64_t)r->normal_of[v], sizeof none);
}

/* Vertices without a material, and what a colour for each vertex cannot say. */
static void finish_colors(const obj_reader *r, tsr_mesh *mesh)
{
    static const uint8_t plain[4] = { 204, 204, 204, 255 };
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (!mesh->colors[4 * v + 3]) memcpy(mesh->colors + 4 * v, plain, 4);
    if (r->between)
        tsr_remark("%s: vertices between faces of different materials have the colour of the first (%lld corners have another)", r->file,
                   (long long)r->between);
    if (r->materials.textures) tsr_remark("%s: the pictures of %d materials are left out, their colours are read", r->file, r->materials.textures);
}

static tsr_status obj_read(tsr_input *input, const tsr_read_options *options, tsr_mesh **mesh)
{
    const uint8_t *bytes;
    size_t size;
    obj_reader r = { .file = tsr_input_name(input), .progress = &options->progress };
    tsr_fan fan = { 0 };
    tsr_status status;
    *mesh = NULL;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    TSR_TRY(walk(&r, tsr_text_make(bytes, size), NULL, &fan));
    if (!r.vertex) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no vertices (lines that begin with 'v')", r.file);
    r.vertices = r.vertex;
    r.normals = r.normal < (int64_t)NO_NORMAL ? r.normal : 0;
    r.vertex = r.normal = 0;
    r.one_normal_each = r.normals_used && r.normals;
    TSR_TRY(tsr_mesh_for_input(input, r.vertices, r.triangles, r.one_normal_each, mesh));
    if (r.one_normal_each) {
        TSR_TRY_GOTO(tsr_scratch_for_input(input, r.normals, 3 * sizeof(float), "normals", (void **)&r.normal_table), done);
        TSR_TRY_GOTO(tsr_scratch_for_input(input, r.vertices, sizeof *r.normal_of, "normals", (void **)&r.normal_of), done);
        memset(r.normal_of, 0xff, (size_t)r.vertices * sizeof *r.normal_of);
        memset(r.normal_table, 0, (size_t)r.normals * 3 * sizeof(float));
    }
    if (r.colored != r.vertices && r.uses) TSR_TRY_GOTO(tsr_obj_materials_read(input, r.library, &r.materials), done);
    if (r.colored == r.vertices || r.materials.count) TSR_TRY_GOTO(tsr_mesh_add_colors(*mesh), done);
    r.places = tsr_places_begin();
    r.color_scale = 255;
    TSR_TRY_GOTO(tsr_fan_open(input, *mesh, &fan), done);
    status = TSR_OK;
    for (int again = 1; again && status == TSR_OK;) {
        r.vertex = r.normal = r.groups = r.part_value = r.between = 0;
        r.material = -1;
        if (r.materials.count) memset((*mesh)->colors, 0, 4 * (size_t)r.vertices);
        r.part_name = (tsr_word){ NULL, 0 };
        tsr_part_list_free(&r.parts);
        fan.next = (*mesh)->triangles;
        status = walk(&r, tsr_text_make(bytes, size), *mesh, &fan);
        again = tsr_places_again(&r.places, options);
        if (r.color_most > 1 && r.color_scale == 255) r.color_scale = again = 1;
    }
    if (status == TSR_OK) status = tsr_mesh_check_positions(input, *mesh);
    TSR_TRY_GOTO(tsr_fan_close(input, *mesh, &fan, r.progress, status), done);
    memcpy((*mesh)->origin, r.places.origin, sizeof r.places.origin);
    TSR_TRY_GOTO(tsr_part_list_set(&r.parts, NULL, 2, *mesh), done);
    if (r.normal_of) place_normals(&r, *mesh);
    (*mesh)->space = r.space;
    if (r.materials.count) finish_colors(&r, *mesh);
    const int lost = r.uses && !r.materials.count;
    if (r.coordinates || lost)
        tsr_remark("%s: a mesh has no place for what the file says besides, which is left out: %s%s%s", r.file,
                   r.coordinates ? "texture coordinates" : "", r.coordinates && lost ? ", " : "", lost ? "materials" : "");
done:
    tsr_obj_materials_free(&r.materials);
    tsr_part_list_free(&r.parts);
    tsr_host_release(NULL, r.normal_of, (size_t)r.vertices * sizeof *r.normal_of);
    tsr_host_release(NULL, r.normal_table, (size_t)r.normals * 3 * sizeof(float));
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    return status;
}

/* "g label-3 left_kidney": words of the line are groups of their own, so that a name is one. */
static tsr_status write_group(tsr_output *out, const tsr_mesh_part *part)
{
    char name[128];
    snprintf(name, sizeof name, "%s", part->name ? part->name : "");
    for (char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == '#' || *c == '\\') *c = '_';
    return tsr_output_printf(out, "g label-%lld%s%s\n", (long long)part->value, *name ? " " : "", name);
}

enum { LINE_VERTEX = 2 + TSR_TEXT_PLACES + 1 + TSR_TEXT_FLOATS, LINE_NORMAL = 4 + TSR_TEXT_FLOATS, LINE_FACE = 1 + TSR_TEXT_TRIANGLE };

static char *put_vertex(const void *user, int64_t v, char *at)
{
    const tsr_mesh *mesh = (const tsr_mesh *)user;
    at = tsr_put_position(at, "v ", mesh->vertices + 3 * v, mesh->origin, mesh->colors ? " " : "\n");
    if (!mesh->colors) return at;
    float color[3];
    for (int k = 0; k < 3; k++) color[k] = (float)mesh->colors[4 * v + k] / 255.0f;
    return tsr_put_floats(at, "", color, "\n");
}
static char *put_normal(const void *user, int64_t v, char *at) { return tsr_put_floats(at, "vn ", ((const tsr_mesh *)user)->normals + 3 * v, "\n"); }
static char *put_face(const void *user, int64_t t, char *at)
{
    const tsr_mesh *mesh = (const tsr_mesh *)user;
    return tsr_put_triangle(at, "f", mesh->triangles + 3 * t, 1, mesh->normals != NULL);
}

static tsr_status write_all(tsr_output *out, const tsr_mesh *mesh, const tsr_progress *progress)
{
    const int64_t n = mesh->vertex_count, normals = mesh->normals ? n : 0, all = n + normals + mesh->triangle_count;
    const tsr_item_writer vertex = { put_vertex, mesh, LINE_VERTEX, 0, all }, normal = { put_normal, mesh, LINE_NORMAL, n, all };
    const tsr_item_writer face = { put_face, mesh, LINE_FACE, n + normals, all };
    int64_t end = 0;
    TSR_TRY(tsr_output_printf(out, "# tessera\n"));
    if (mesh->space != TSR_SPACE_NONE) TSR_TRY(tsr_output_printf(out, "# %s\n", tsr_space_comment(mesh->space)));
    TSR_TRY(tsr_write_items(out, mesh, &vertex, 0, n, progress));
    TSR_TRY(tsr_write_items(out, mesh, &normal, 0, normals, progress));
    for (int32_t part = 0; part < mesh->part_count; part++) {
        const int64_t first = end;
        end += mesh->parts[part].triangles;
        TSR_TRY(write_group(out, &mesh->parts[part]));
        TSR_TRY(tsr_write_items(out, mesh, &face, first, end, progress));
    }
    return tsr_write_items(out, mesh, &face, end, mesh->triangle_count, progress);
}

static tsr_status obj_write(const tsr_mesh *mesh, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, write_all(out, mesh, &options->progress));
}

/* No magic number: a text whose first data line begins with a word of the format. */
static int obj_recognise(const tsr_signature *s)
{
    static const char *const words[] = { "v", "vn", "vt", "f", "o", "g", "s", "mtllib", "usemtl" };
    tsr_text text = tsr_text_make(s->head, s->head_bytes), line;
    tsr_space space = TSR_SPACE_NONE;
    tsr_word word;
    if (memchr(s->head, 0, s->head_bytes) || !tsr_text_data_line(&text, &line, &space) || !tsr_text_word(&line, &word)) return TSR_NOT_MINE;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (tsr_word_is(word, words[i])) return TSR_MAYBE_MINE;
    return TSR_NOT_MINE;
}

const tsr_format tsr_format_obj = { .name = "obj",
                                    .kind = TSR_FILE_MESH,
                                    .extensions = { ".obj" },
                                    .recognise = obj_recognise,
                                    .mesh_extras = TSR_MESH_COLORS | TSR_MESH_PARTS | TSR_MESH_ORIGIN,
                                    .read_mesh = obj_read,
                                    .write_mesh = obj_write };
