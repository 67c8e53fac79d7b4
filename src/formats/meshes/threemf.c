/* formats/meshes/threemf.c: 3MF models, zip archives of XML: every item of the build with its components and transforms, each object a part; colours of materials and
 * colour groups, of the corners of triangles, become those of the vertices. Positions become millimetres. Parts of the model in files of their own (the
 * production extension) are read; slices, lattices and textures are left out. Written: one object a part. Format: "3MF Core Specification 1.3". */
#define _GNU_SOURCE /* memmem */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/mesh_files.h"
#include "formats/xml_tags.h"
#include "io/zip.h"

static int recognise(const tsr_signature *s)
{
    if (s->head_bytes < 30 || memcmp(s->head, "PK\3\4", 4) != 0) return TSR_NOT_MINE;
    if (memmem(s->head, s->head_bytes, "3D/", 3)) return TSR_SURELY_MINE;
    return memmem(s->head, s->head_bytes, "3dmodel", 7) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

/* ---- what the models say ------------------------------------------------------------------------------------------------------------------------- */

enum { DEPTH_MOST = 64, VISITS_MOST = 1 << 20, MODELS_MOST = 4096 };

typedef struct model_file {
    char *path; /* in the archive */
    tsr_block block;
    int64_t size;
    double unit;
} model_file;
typedef struct object {
    int model;
    int64_t id, vertices, triangles, pid, pindex; /* pid -1: no material */
    tsr_text mesh, components;                    /* their text; `at` NULL where there are none */
    tsr_word name;
} object;
typedef struct group { /* of colours */
    int model;
    int64_t id, first, count;
} group;

typedef struct reader {
    tsr_zip zip;
    const char *file;
    const tsr_read_options *options;
    model_file *model;
    object *object;
    group *group;
    uint8_t (*color)[4];
    int32_t models, objects, groups, colors, model_room, object_room, group_room, color_room;
    tsr_text build;
    int64_t vertices, triangles, visits; /* of all that is built */
    /* filling */
    tsr_mesh *mesh;
    tsr_places places;
    int64_t vertex, triangle;
    int colored, torn; /* torn: a vertex has several colours */
    tsr_part_list parts;
} reader;

static tsr_status grow(const reader *r, void **items, int32_t count, int32_t *room, size_t size)
{
    if (count < *room) return TSR_OK;
    const int32_t more = *room ? 2 * *room : 16;
    void *bigger = more > 1 << 24 ? NULL : realloc(*items, (size_t)more * size);
    if (!bigger) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the objects of a 3MF model", r->file);
    *items = bigger;
    *room = more;
    return TSR_OK;
}

/* A whole number from 0, or `otherwise`. */
static tsr_status take_integer(const reader *r, const tsr_xml_tag *t, const char *name, int64_t otherwise, int64_t *value)
{
    tsr_word word;
    char shown[32];
    *value = otherwise;
    if (!tsr_xml_attribute(t, name, &word)) return TSR_OK;
    if (tsr_word_integer(word, value) != TSR_TEXT_OK || *value < 0 || *value > INT32_MAX)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: 3MF line %lld: %s is '%s', expected a whole number from 0", r->file, (long long)t->line, name,
                 tsr_word_show(word, shown));
    return TSR_OK;
}

/* "#RRGGBB" or "#RRGGBBAA" */
static void take_color(const tsr_xml_tag *t, const char *name, uint8_t color[4])
{
    tsr_word word = { "", 0 };
    memset(color, 255, 4);
    if (!tsr_xml_attribute(t, name, &word) || word.size < 7 || *word.text != '#') return;
    for (size_t k = 0; k < 4 && 2 * k + 2 < word.size; k++) {
        char two[3] = { word.text[1 + 2 * k], word.text[2 + 2 * k], 0 };
        color[k] = (uint8_t)strtoul(two, NULL, 16);
    }
}

static int is(const tsr_xml_tag *t, const char *name) /* whatever its namespace is called here */
{
    const size_t n = strlen(name);
    return t->name.size >= n && !memcmp(t->name.text + t->name.size - n, name, n) && (t->name.size == n || t->name.text[t->name.size - n - 1] == ':');
}

static tsr_status take_unit(const reader *r, const tsr_xml_tag *t, double *unit)
{
    static const struct {
        const char *name;
        double mm;
    } units[] = { { "millimeter", 1 }, { "micron", 1e-3 }, { "centimeter", 10 }, { "inch", 25.4 }, { "foot", 304.8 }, { "meter", 1000 } };
    tsr_word word;
    char shown[32];
    *unit = 1;
    if (!tsr_xml_attribute(t, "unit", &word)) return TSR_OK;
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (tsr_word_is(word, units[k].name)) {
            *unit = units[k].mm;
            if (k) tsr_remark("%s: lengths in %s become millimetres", r->file, units[k].name);
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: 3MF unit '%s', expected millimeter, micron, centimeter, inch, foot or meter", r->file,
             tsr_word_show(word, shown));
}

/* Walks over the objects of a model part; of the root also the build. */
static tsr_status take_model(reader *r, int which)
{
    const model_file *m = &r->model[which];
    tsr_text text = tsr_text_make(m->block.data, (size_t)m->size);
    tsr_xml_tag t = { .line = 0 };
    object *o = NULL;
    int more = 1;
    for (;;) {
        const char *before;
        TSR_TRY(tsr_xml_next(r->file, &text, &t, &more));
        if (!more) return TSR_OK;
        before = t.name.text - 1 - t.closing;
        if (!t.closing && is(&t, "model")) TSR_TRY(take_unit(r, &t, &r->model[which].unit));
        else if (!t.closing && is(&t, "object")) {
            TSR_TRY(grow(r, (void **)&r->object, r->objects, &r->object_room, sizeof *r->object));
            o = &r->object[r->objects++];
            *o = (object){ .model = which, .name = { NULL, 0 } };
            TSR_TRY(take_integer(r, &t, "id", 0, &o->id));
            TSR_TRY(take_integer(r, &t, "pid", -1, &o->pid));
            TSR_TRY(take_integer(r, &t, "pindex", 0, &o->pindex));
            if (tsr_xml_attribute(&t, "name", &o->name) && !o->name.size) o->name.text = NULL;
        } else if (t.closing && is(&t, "object")) o = NULL;
        else if (o && (is(&t, "mesh") || is(&t, "components"))) {
            tsr_text *part = is(&t, "mesh") ? &o->mesh : &o->components;
            if (!t.closing && !t.empty) *part = text;
            else if (t.closing && part->at) part->end = before;
        } else if (o && !t.closing && is(&t, "vertex")) o->vertices++;
        else if (o && !t.closing && is(&t, "triangle")) o->triangles++;
        else if (!t.closing && (is(&t, "basematerials") || is(&t, "colorgroup"))) {
            TSR_TRY(grow(r, (void **)&r->group, r->groups, &r->group_room, sizeof *r->group));
            r->group[r->groups] = (group){ .model = which, .first = r->colors };
            TSR_TRY(take_integer(r, &t, "id", 0, &r->group[r->groups++].id));
        } else if (!t.closing && r->groups && (is(&t, "base") || is(&t, "color"))) {
            TSR_TRY(grow(r, (void **)&r->color, r->colors, &r->color_room, sizeof *r->color));
            take_color(&t, is(&t, "base") ? "displaycolor" : "color", r->color[r->colors++]);
            r->group[r->groups - 1].count++;
        } else if (!which && is(&t, "build")) {
            if (!t.closing && !t.empty) r->build = text;
            else if (t.closing && r->build.at) r->build.end = before;
        }
    }
}

/* A part of the model, read once. */
static tsr_status find_model(reader *r, tsr_word path, int *which)
{
    char name[512];
    while (path.size && *path.text == '/') path.text++, path.size--;
    for (*which = 0; *which < r->models; ++*which)
        if (tsr_word_is(path, r->model[*which].path)) return TSR_OK;
    if (path.size >= sizeof name || r->models >= MODELS_MOST)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a 3MF model of too many parts, or with a long name", r->file);
    memcpy(name, path.text, path.size);
    name[path.size] = 0;
    const tsr_zip_entry *e = tsr_zip_find(&r->zip, name);
    if (!e) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no '%.80s' in the 3MF archive", r->file, name);
    TSR_TRY(grow(r, (void **)&r->model, r->models, &r->model_room, sizeof *r->model));
    r->model[r->models] = (model_file){ .path = strdup(name), .size = e->size, .unit = 1 };
    if (!r->model[r->models].path) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", r->file);
    *which = r->models++;
    TSR_TRY(tsr_zip_take(&r->zip, e, &r->model[*which].block));
    TSR_TRY(take_model(r, *which));
    return TSR_OK;
}

/* The root of the model: by the relationships, else where it always is. */
static tsr_status find_root(reader *r)
{
    static const char usual[] = "3D/3dmodel.model", kind[] = "3dmodel";
    const tsr_zip_entry *e = tsr_zip_find(&r->zip, "_rels/.rels");
    tsr_word target = { usual, sizeof usual - 1 };
    tsr_block block = { 0 };
    int which;
    if (e) {
        TSR_TRY(tsr_zip_take(&r->zip, e, &block));
        tsr_text text = tsr_text_make(block.data, (size_t)e->size);
        tsr_xml_tag t;
        int more = 1;
        tsr_word type, to;
        while (tsr_xml_next(r->file, &text, &t, &more) == TSR_OK && more)
            if (is(&t, "Relationship") && tsr_xml_attribute(&t, "Type", &type) && type.size > sizeof kind && tsr_xml_attribute(&t, "Target", &to) &&
                !memcmp(type.text + type.size - (sizeof kind - 1), kind, sizeof kind - 1))
                target = to;
    }
    const tsr_status status = find_model(r, target, &which);
    tsr_block_release(&block);
    return status;
}

/* ---- what is built ------------------------------------------------------------------------------------------------------------------------------- */

static const double identity[3][4] = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } };

/* Twelve numbers, the columns of the matrix one after another. */
static tsr_status take_transform(const reader *r, const tsr_xml_tag *t, const double above[3][4], double to[3][4])
{
    double n[12] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 };
    tsr_word word;
    if (tsr_xml_attribute(t, "transform", &word)) {
        tsr_text text = tsr_text_of(word, t->line);
        for (int k = 0; k < 12; k++)
            if (tsr_text_double(&text, &n[k]) != TSR_TEXT_OK || !isfinite(n[k]))
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: 3MF line %lld: transform, expected 12 numbers", r->file, (long long)t->line);
    }
    for (int row = 0; row < 3; row++)
        for (int c = 0; c < 4; c++)
            to[row][c] = above[row][0] * n[3 * c] + above[row][1] * n[3 * c + 1] + above[row][2] * n[3 * c + 2] + (c == 3 ? above[row][3] : 0);
    return TSR_OK;
}

static const object *find_object(const reader *r, int model, int64_t id)
{
    for (int32_t k = 0; k < r->objects; k++)
        if (r->object[k].model == model && r->object[k].id == id) return &r->object[k];
    return NULL;
}

/* The colour of an index of a group; 0 if there is none. */
static int find_color(const reader *r, int model, int64_t id, int64_t index, const uint8_t **color)
{
    for (int32_t k = 0; k < r->groups; k++)
        if (r->group[k].model == model && r->group[k].id == id) {
            if (index < 0 || index >= r->group[k].count) return 0;
            *color = r->color[r->group[k].first + index];
            return 1;
        }
    return 0;
}

static tsr_status take_vertex(reader *r, const tsr_xml_tag *t, const double m[3][4])
{
    double p[3] = { 0, 0, 0 };
    int seen = 0;
    tsr_text rest = t->attributes;
    tsr_word name, value;
    while (tsr_xml_each(&rest, &name, &value))
        if (name.size == 1 && *name.text >= 'x' && *name.text <= 'z') {
            if (tsr_word_double(value, &p[*name.text - 'x']) != TSR_TEXT_OK) break;
            seen |= 1 << (*name.text - 'x');
        }
    if (r->vertex >= r->vertices) TSR_FAIL(TSR_ERROR_FORMAT, "%s: 3MF line %lld: a vertex outside of its object", r->file, (long long)t->line);
    if (seen != 7) TSR_FAIL(TSR_ERROR_FORMAT, "%s: 3MF line %lld: a vertex, expected x, y and z", r->file, (long long)t->line);
    for (int k = 0; k < 3; k++)
        r->mesh->vertices[3 * r->vertex + k] = tsr_place(&r->places, k, m[k][0] * p[0] + m[k][1] * p[1] + m[k][2] * p[2] + m[k][3]);
    r->vertex++;
    return TSR_OK;
}

static void paint(reader *r, int64_t vertex, const uint8_t color[4])
{
    uint8_t *to = r->mesh->colors + 4 * vertex;
    if (to[3] == 0 || !memcmp(to, color, 4)) memcpy(to, color, 4); /* nothing there yet: alpha 0 */
    else r->torn = 1;
    if (to[3] == 0) to[3] = 1;
}

static tsr_status take_triangle(reader *r, const object *o, const tsr_xml_tag *t, int64_t first, int mirrored)
{
    int64_t v[3] = { -1, -1, -1 }, p[3] = { -1, -1, -1 }, pid = o->pid;
    tsr_text rest = t->attributes;
    tsr_word name, value;
    const uint8_t *color;
    while (tsr_xml_each(&rest, &name, &value)) {
        int64_t *to = tsr_word_is(name, "pid") ? &pid : NULL;
        if (name.size == 2 && name.text[1] >= '1' && name.text[1] <= '3')
            to = *name.text == 'v' ? &v[name.text[1] - '1'] : *name.text == 'p' ? &p[name.text[1] - '1'] : NULL;
        if (to && tsr_word_integer(value, to) != TSR_TEXT_OK) *to = -1;
    }
    for (int k = 0; k < 3; k++)
        if (v[k] < 0 || v[k] >= o->vertices)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: 3MF line %lld: v%d of a triangle is %lld, expected 0 to %lld", r->file, (long long)t->line, k + 1,
                     (long long)v[k], (long long)o->vertices - 1);
    if (r->triangle >= r->triangles) TSR_FAIL(TSR_ERROR_FORMAT, "%s: 3MF line %lld: a triangle outside of its object", r->file, (long long)t->line);
    uint32_t *to = r->mesh->triangles + 3 * r->triangle++;
    for (int k = 0; k < 3; k++) to[k] = (uint32_t)(first + v[mirrored && k ? 3 - k : k]);
    for (int k = 0; k < 3 && r->mesh->colors; k++) {
        const int64_t index = p[0] < 0 ? o->pindex : p[k] < 0 ? p[0] : p[k];
        if (find_color(r, o->model, pid, index, &color)) paint(r, first + v[k], color);
    }
    return TSR_OK;
}

/* The mesh of an object at its place, counted or, with a mesh, stored. */
static tsr_status build_mesh(reader *r, const object *o, const double m[3][4])
{
    tsr_text text = o->mesh;
    tsr_xml_tag t;
    const int64_t first = r->vertex;
    int more = 1;
    const double unit = r->model[o->model].unit;
    double scaled[3][4];
    for (int k = 0; k < 12; k++) scaled[k / 4][k % 4] = m[k / 4][k % 4] * unit;
    const double volume = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                          m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    if (!r->mesh) {
        r->vertices += o->vertices;
        r->triangles += o->triangles;
        const uint8_t *color;
        r->colored |= o->pid >= 0 && find_color(r, o->model, o->pid, o->pindex, &color);
        return TSR_OK;
    }
    for (;;) {
        TSR_TRY(tsr_xml_next(r->file, &text, &t, &more));
        if (!more) break;
        if (t.closing) continue;
        if (is(&t, "vertex")) TSR_TRY(take_vertex(r, &t, scaled));
        else if (is(&t, "triangle")) TSR_TRY(take_triangle(r, o, &t, first, volume < 0));
    }
    TSR_TRY(tsr_part_list_add(&r->parts, o->id, o->name, o->triangles));
    return TSR_OK;
}

static tsr_status build_object(reader *r, const tsr_xml_tag *t, int model, const double above[3][4], int depth)
{
    double m[3][4];
    int64_t id;
    tsr_word path;
    if (depth > DEPTH_MOST || ++r->visits > VISITS_MOST) TSR_FAIL(TSR_ERROR_FORMAT, "%s: 3MF objects that hold each other too often", r->file);
    TSR_TRY(take_integer(r, t, "objectid", 0, &id));
    TSR_TRY(take_transform(r, t, above, m));
    if (tsr_xml_attribute(t, "p:path", &path)) TSR_TRY(find_model(r, path, &model));
    const object *found = find_object(r, model, id);
    if (!found) TSR_FAIL(TSR_ERROR_FORMAT, "%s: 3MF line %lld: object %lld is not there", r->file, (long long)t->line, (long long)id);
    const object o = *found; /* the table may move */
    if (o.mesh.at) TSR_TRY(build_mesh(r, &o, m));
    if (!o.components.at) return TSR_OK;
    tsr_text text = o.components;
    tsr_xml_tag component;
    for (int more = 1;;) {
        TSR_TRY(tsr_xml_next(r->file, &text, &component, &more));
        if (!more) return TSR_OK;
        if (!component.closing && is(&component, "component")) TSR_TRY(build_object(r, &component, o.model, m, depth + 1));
    }
}

static tsr_status build_all(reader *r)
{
    tsr_text text = r->build;
    tsr_xml_tag t;
    r->visits = 0;
    for (int more = 1; text.at;) {
        TSR_TRY(tsr_xml_next(r->file, &text, &t, &more));
        if (!more) break;
        if (!t.closing && is(&t, "item")) TSR_TRY(build_object(r, &t, 0, identity, 0));
    }
    return TSR_OK;
}

static tsr_status read_archive(reader *r, tsr_input *input, tsr_mesh **mesh)
{
    TSR_TRY(tsr_zip_open(input, &r->zip));
    TSR_TRY(find_root(r));
    if (!r->build.at) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no <build> in the 3MF model", r->file);
    TSR_TRY(build_all(r));
    if (!r->vertices) TSR_FAIL(TSR_ERROR_FORMAT, "%s: nothing is built in the 3MF model", r->file);
    TSR_TRY(tsr_mesh_for_input(input, r->vertices, r->triangles, 0, mesh));
    if (r->groups) {
        TSR_TRY(tsr_mesh_add_colors(*mesh));
        memset((*mesh)->colors, 0, 4 * (size_t)r->vertices);
    }
    r->mesh = *mesh;
    r->places = tsr_places_begin();
    do {
        r->vertex = r->triangle = 0;
        tsr_part_list_free(&r->parts);
        TSR_TRY(build_all(r));
        if (r->vertex != r->vertices || r->triangle != r->triangles)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: a 3MF object with several meshes, expected one", r->file);
    } while (tsr_places_again(&r->places, r->options));
    memcpy((*mesh)->origin, r->places.origin, sizeof r->places.origin);
    int painted = 0;
    for (int64_t i = 0; r->groups && i < r->vertices; i++) {
        uint8_t *c = (*mesh)->colors + 4 * i;
        painted |= c[3] != 0;
        if (!c[3]) memset(c, 255, 4); /* of no material */
    }
    if (r->groups && !painted) tsr_mesh_drop_colors(*mesh);
    if (r->torn) tsr_remark("%s: vertices between triangles of different colours keep the first", r->file);
    TSR_TRY(tsr_mesh_check_positions(input, *mesh));
    TSR_TRY(tsr_part_list_set(&r->parts, NULL, 2, *mesh));
    return TSR_OK;
}

static tsr_status read_mesh(tsr_input *input, const tsr_read_options *options, tsr_mesh **mesh)
{
    reader r = { .file = tsr_input_name(input), .options = options };
    *mesh = NULL;
    const tsr_status status = read_archive(&r, input, mesh);
    for (int32_t k = 0; k < r.models; k++) {
        free(r.model[k].path);
        tsr_block_release(&r.model[k].block);
    }
    free(r.model);
    free(r.object);
    free(r.group);
    free(r.color);
    tsr_part_list_free(&r.parts);
    tsr_zip_close(&r.zip);
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    TSR_TRY(status);
    return TSR_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------------------------- */

static const char types_xml[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
    "<Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
    "<Default Extension=\"model\" ContentType=\"application/vnd.ms-package.3dmanufacturing-3dmodel+xml\"/></Types>\n";
static const char relations_xml[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"
    "<Relationship Target=\"/3D/3dmodel.model\" Id=\"rel0\" "
    "Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel\"/></Relationships>\n";

static tsr_status put_entry(tsr_zip_writer *zip, const char *name, const char *text)
{
    TSR_TRY(tsr_zip_entry_begin(zip, name, 6));
    TSR_TRY(tsr_zip_write(zip, text, strlen(text)));
    return tsr_zip_entry_end(zip);
}

static tsr_status put_vertex(tsr_zip_writer *zip, const tsr_mesh *m, int64_t vertex)
{
    char line[192], *at = tsr_put_text(line, "<vertex");
    static const char *const names[] = { " x=\"", " y=\"", " z=\"" };
    for (int k = 0; k < 3; k++) {
        const float v = m->vertices[3 * vertex + k];
        at = tsr_put_text(at, names[k]);
        at = tsr_has_origin(m->origin) ? tsr_put_place(at, m->origin[k] + (double)v) : tsr_put_float(at, v);
        *at++ = '"';
    }
    at = tsr_put_text(at, "/>\n");
    return tsr_zip_write(zip, line, (size_t)(at - line));
}

static tsr_status put_triangle(tsr_zip_writer *zip, const uint32_t corner[3], const uint32_t *color_of)
{
    char line[192], *at = tsr_put_text(line, "<triangle");
    for (int k = 0; k < 3; k++) {
        at = tsr_put_text(at, k == 0 ? " v1=\"" : k == 1 ? " v2=\"" : " v3=\"");
        at = tsr_put_integer(at, corner[k]);
        *at++ = '"';
    }
    if (color_of) at = tsr_put_text(at, " pid=\"1\"");
    for (int k = 0; k < 3 && color_of; k++) {
        at = tsr_put_text(at, k == 0 ? " p1=\"" : k == 1 ? " p2=\"" : " p3=\"");
        at = tsr_put_integer(at, color_of[k]);
        *at++ = '"';
    }
    at = tsr_put_text(at, "/>\n");
    return tsr_zip_write(zip, line, (size_t)(at - line));
}

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t color_bits(const uint8_t *c) { return (uint32_t)c[0] << 24 | (uint32_t)c[1] << 16 | (uint32_t)c[2] << 8 | c[3]; }

/* The different colours in order, as a group. */
static tsr_status put_colors(tsr_zip_writer *zip, const tsr_mesh *m, uint32_t *table, int64_t *count)
{
    for (int64_t i = 0; i < m->vertex_count; i++) table[i] = color_bits(m->colors + 4 * i);
    qsort(table, (size_t)m->vertex_count, sizeof *table, compare_u32);
    *count = 0;
    for (int64_t i = 0; i < m->vertex_count; i++)
        if (!*count || table[i] != table[*count - 1]) table[(*count)++] = table[i];
    TSR_TRY(tsr_zip_printf(zip, "<m:colorgroup id=\"1\">\n"));
    for (int64_t i = 0; i < *count; i++) TSR_TRY(tsr_zip_printf(zip, "<m:color color=\"#%08X\"/>\n", (unsigned)table[i]));
    return tsr_zip_printf(zip, "</m:colorgroup>\n");
}

static uint32_t find_in(const uint32_t *table, int64_t count, uint32_t value)
{
    const uint32_t *at = (const uint32_t *)bsearch(&value, table, (size_t)count, sizeof *table, compare_u32);
    return at ? (uint32_t)(at - table) : 0;
}

/* One object: the triangles of a part, and the vertices that they use in the order in which the mesh has them; of a mesh without parts all vertices. */
static tsr_status put_object(tsr_zip_writer *zip, const tsr_mesh *m, int32_t part, int64_t first, int64_t triangles, uint32_t *place,
                             const uint32_t *table, int64_t colors, const tsr_progress *progress)
{
    char name[128] = "";
    uint32_t next = 0;
    const char *given = m->part_count ? m->parts[part].name : NULL;
    for (size_t k = 0; given && given[k] && k + 1 < sizeof name; k++) {
        name[k] = strchr("\"<>&", given[k]) ? '_' : given[k];
        name[k + 1] = 0;
    }
    memset(place, m->part_count ? 0 : 1, (size_t)m->vertex_count * sizeof *place);
    for (int64_t c = 3 * first; c < 3 * (first + triangles); c++) place[m->triangles[c]] = 1;
    TSR_TRY(tsr_zip_printf(zip, "<object id=\"%d\" type=\"model\"", (int)part + 2));
    if (*name) TSR_TRY(tsr_zip_printf(zip, " name=\"%s\"", name));
    TSR_TRY(tsr_zip_printf(zip, "%s><mesh>\n<vertices>\n", colors ? " pid=\"1\" pindex=\"0\"" : ""));
    for (int64_t i = 0; i < m->vertex_count; i++) {
        TSR_WRITING(progress, i, m->vertex_count);
        if (!place[i]) continue;
        TSR_TRY(put_vertex(zip, m, i));
        place[i] = next++;
    }
    TSR_TRY(tsr_zip_printf(zip, "</vertices>\n<triangles>\n"));
    for (int64_t t = first; t < first + triangles; t++) {
        uint32_t corner[3], color[3];
        TSR_WRITING(progress, t, m->triangle_count);
        for (int k = 0; k < 3; k++) {
            const uint32_t v = m->triangles[3 * t + k];
            corner[k] = place[v];
            if (colors) color[k] = find_in(table, colors, color_bits(m->colors + 4 * (int64_t)v));
        }
        TSR_TRY(put_triangle(zip, corner, colors ? color : NULL));
    }
    return tsr_zip_printf(zip, "</triangles>\n</mesh></object>\n");
}

static tsr_status put_model(tsr_zip_writer *zip, const tsr_mesh *m, uint32_t *place, uint32_t *table, const tsr_progress *progress)
{
    const int32_t parts = m->part_count ? m->part_count : 1;
    int64_t colors = 0, first = 0;
    TSR_TRY(tsr_zip_entry_begin(zip, "3D/3dmodel.model", 6));
    TSR_TRY(tsr_zip_printf(zip, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model unit=\"millimeter\" xml:lang=\"en-US\" "
                                "xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\" "
                                "xmlns:m=\"http://schemas.microsoft.com/3dmanufacturing/material/2015/02\">\n<metadata "
                                "name=\"Application\">tessera</metadata>\n<resources>\n"));
    if (m->colors) TSR_TRY(put_colors(zip, m, table, &colors));
    for (int32_t k = 0; k < parts; k++) {
        const int64_t triangles = m->part_count ? m->parts[k].triangles : m->triangle_count;
        TSR_TRY(put_object(zip, m, k, first, triangles, place, table, colors, progress));
        first += triangles;
    }
    TSR_TRY(tsr_zip_printf(zip, "</resources>\n<build>\n"));
    for (int32_t k = 0; k < parts; k++) TSR_TRY(tsr_zip_printf(zip, "<item objectid=\"%d\"/>\n", (int)k + 2));
    TSR_TRY(tsr_zip_printf(zip, "</build>\n</model>\n"));
    return tsr_zip_entry_end(zip);
}

static tsr_status write_mesh(const tsr_mesh *mesh, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    tsr_zip_writer *zip = NULL;
    uint32_t *scratch = (uint32_t *)malloc(((size_t)mesh->vertex_count * 2 + 1) * sizeof *scratch);
    if (!scratch) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    tsr_status status = mesh->triangle_count ? TSR_OK : TSR_FAILED(TSR_ERROR_UNSUPPORTED, "%s: 3MF holds triangles only", path);
    if (status == TSR_OK) status = tsr_output_open(path, options, &out);
    if (status == TSR_OK) {
        status = tsr_zip_begin(out, &zip);
        if (status == TSR_OK) status = put_entry(zip, "[Content_Types].xml", types_xml);
        if (status == TSR_OK) status = put_entry(zip, "_rels/.rels", relations_xml);
        if (status == TSR_OK) status = put_model(zip, mesh, scratch, scratch + mesh->vertex_count, &options->progress);
        status = tsr_zip_end(&zip, status);
        status = tsr_output_finish(&out, status);
    }
    free(scratch);
    return status;
}

const tsr_format tsr_format_threemf = { .name = "3mf",
                                        .kind = TSR_FILE_MESH,
                                        .extensions = { ".3mf" },
                                        .recognise = recognise,
                                        .mesh_extras = TSR_MESH_COLORS | TSR_MESH_PARTS | TSR_MESH_ORIGIN,
                                        .read_mesh = read_mesh,
                                        .write_mesh = write_mesh };
