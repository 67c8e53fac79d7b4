/* vision/rig/rig_geocast.c: GeoCast cameras and GeoScene data sets. V1 is read as its public tools wrote it, with the ambiguities resolved; V2 is ours: the same
 * keywords, nothing left open. docs/formats/cameras.md says what each line means. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "camera/camera.h"
#include "vision/rig/rig.h"

/* A camera file being read. */
typedef struct cast {
    const char *file;
    const tsr_rig_read_options *o;
    int version;
    double matrix[16]; /* as it stands in the file, line by line */
    int has_matrix, has_pos, has_projection, columns;
    double pos[3];
    tsr_rig_camera camera;
    int world_depth, has_range;
    char *unknown;
} cast;

static int first_word(tsr_text line, tsr_word *word) { return tsr_text_word(&line, word) && word->text[0] != '#'; }

static tsr_status number(const cast *c, tsr_text *line, const char *what, double *value)
{
    if (tsr_text_double(line, value) != TSR_TEXT_OK || !isfinite(*value))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: expected a number for %s", c->file, (long long)line->line, what);
    return TSR_OK;
}

/* Pairs of a name and a number up to the end of the line; names that are not in the list are refused. */
static tsr_status pairs(const cast *c, tsr_text *line, const char *const *names, double *const *values, int count)
{
    tsr_word word;
    char shown[32];
    while (tsr_text_word(line, &word)) {
        int k = 0;
        if (word.text[0] == '#') break;
        while (k < count && !tsr_word_is_any_case(word, names[k])) k++;
        if (k == count) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: '%s' is not known here", c->file, (long long)line->line, tsr_word_show(word, shown));
        TSR_TRY(number(c, line, names[k], values[k]));
    }
    return TSR_OK;
}

static tsr_status take_matrix(cast *c, tsr_text *text)
{
    for (int i = 0; i < 16; i++) {
        tsr_text line = *text;
        TSR_TRY(number(c, &line, "the matrix", &c->matrix[i]));
        text->at = line.at;
        text->line = line.line;
    }
    c->has_matrix = 1;
    return TSR_OK;
}

/* ---- projections -------------------------------------------------------------------------------------------------------------------- */

static tsr_status take_v1_projection(cast *c, tsr_text *line)
{
    tsr_word kind, word;
    char shown[32];
    tsr_camera *m = &c->camera.camera;
    double window[2] = { 0, 0 }, lens = 0;
    if (!tsr_text_word(line, &kind)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: DataProject without a kind", c->file, (long long)line->line);
    while (tsr_text_word(line, &word) && word.text[0] != '#') {
        if (tsr_word_is_any_case(word, "Fovy")) TSR_TRY(number(c, line, "Fovy", &m->fov));
        else if (tsr_word_is_any_case(word, "Aspect")) TSR_TRY(number(c, line, "Aspect", &m->aspect));
        else if (tsr_word_is_any_case(word, "Lens")) TSR_TRY(number(c, line, "Lens", &lens));
        else if (tsr_word_is_any_case(word, "ClipRange") || tsr_word_is_any_case(word, "ProjRange")) {
            TSR_TRY(number(c, line, "the near plane", &m->clip[0]));
            TSR_TRY(number(c, line, "the far plane", &m->clip[1]));
        } else if (tsr_word_is_any_case(word, "WindowSize") || tsr_word_is_any_case(word, "Window")) {
            TSR_TRY(number(c, line, "the window's width", &window[0]));
            TSR_TRY(number(c, line, "the window's height", &window[1]));
        } else TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: '%s' of DataProject is not known", c->file, (long long)line->line, tsr_word_show(word, shown));
    }
    if (tsr_word_is_any_case(kind, "Ortho")) {
        if (!(window[0] > 0 && window[1] > 0)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: a window of %g x %g, expected numbers above 0", c->file, (long long)line->line, window[0], window[1]);
        m->projection = TSR_ORTHOGRAPHIC;
        m->height = window[1] * (c->o->geocast_half_window ? 2 : 1);
        m->aspect = window[0] / window[1];
        tsr_remark("%.200s: WindowSize is taken for %s of the window", c->file, c->o->geocast_half_window ? "half" : "all");
    } else if (tsr_word_is_any_case(kind, "BlenderPerspective")) {
        if (!(lens > 0) || !(m->aspect > 0)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: BlenderPerspective, expected Aspect and Lens above 0", c->file, (long long)line->line);
        m->fov = atan(16 / (lens * m->aspect)) * (360 / 3.14159265358979323846); /* a sensor of 32 mm */
    } else if (!tsr_word_is_any_case(kind, "Perspective"))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: DataProject %s, expected Perspective, Ortho or BlenderPerspective", c->file, (long long)line->line, tsr_word_show(kind, shown));
    c->has_projection = 1;
    return TSR_OK;
}

static tsr_status take_v2_projection(cast *c, tsr_text *line)
{
    tsr_word kind;
    char shown[32];
    tsr_camera *m = &c->camera.camera;
    static const char *const names[] = { "Fovy", "Aspect", "OffsetX", "OffsetY", "Near", "Far", "WindowHeight" };
    double *const values[] = { &m->fov, &m->aspect, &m->offset[0], &m->offset[1], &m->clip[0], &m->clip[1], &m->height };
    if (!tsr_text_word(line, &kind)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: Projection without a kind", c->file, (long long)line->line);
    c->has_projection = 1;
    if (tsr_word_is(kind, "matrix")) {
        m->projection = TSR_PROJECTION_MATRIX;
        for (int i = 0; i < 16; i++) TSR_TRY(number(c, line, "the projection", &m->matrix[i]));
        return TSR_OK;
    }
    if (tsr_word_is(kind, "ortho")) m->projection = TSR_ORTHOGRAPHIC;
    else if (!tsr_word_is(kind, "pinhole"))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: Projection %s, expected pinhole, ortho or matrix", c->file, (long long)line->line, tsr_word_show(kind, shown));
    TSR_TRY(pairs(c, line, names, values, 7));
    return TSR_OK;
}

static tsr_status take_depth(cast *c, tsr_text *line)
{
    static const char *const names[] = { "Lo", "Hi", "Scale", "Baseline", "Focal", "Shift", "Background" };
    tsr_depth_encoding *e = &c->camera.encoding;
    tsr_word kind, bits;
    char name[32], shown[32];
    int64_t b = 0;
    double background = 0;
    double *const values[] = { &e->range[0], &e->range[1], &e->scale, &e->baseline, &e->focal, &e->shift, &background };
    if (!tsr_text_word(line, &kind) || !tsr_text_word(line, &bits)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: Depth, expected an encoding and bits", c->file, (long long)line->line);
    tsr_word_show(kind, name);
    if (tsr_depth_kind_parse(name, &e->kind) != TSR_OK)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: Depth %s, expected eye, ndc, window, eye_linear, radial, inverse or disparity", c->file, (long long)line->line, name);
    if (!tsr_word_is(bits, "float") && (tsr_word_integer(bits, &b) != TSR_TEXT_OK || b < 1 || b > 24))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: '%s', expected float or a number of bits to 24", c->file, (long long)line->line, tsr_word_show(bits, shown));
    e->bits = (int32_t)b;
    TSR_TRY(pairs(c, line, names, values, 7));
    e->background_is_valid = background != 0;
    return TSR_OK;
}

static tsr_status take_lens(cast *c, tsr_text *line, int v1)
{
    tsr_lens *l = &c->camera.camera.lens;
    double shift[2] = { 0, 0 }, unused = 0;
    static const char *const names[] = { "k1", "k2", "k3", "k4", "k5", "k6", "p1", "p2", "focal", "pixel_aspect", "shift_x", "shift_y", "aspect", "centerX", "centerY" };
    double *const values[] = { &l->k1, &l->k2, &l->k3, &l->k4, &l->k5, &l->k6, &l->p1, &l->p2, &l->focal, &l->pixel_aspect, &shift[0], &shift[1], &unused, &shift[0], &shift[1] };
    tsr_word kind;
    char shown[32];
    l->model = TSR_LENS_POLY;
    if (!v1) {
        if (!tsr_text_word(line, &kind)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: Lens without a model", c->file, (long long)line->line);
        if (tsr_word_is(kind, "division")) l->model = TSR_LENS_DIVISION;
        else if (tsr_word_is(kind, "fisheye")) l->model = TSR_LENS_FISHEYE;
        else if (!tsr_word_is(kind, "poly"))
            TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: Lens %s, expected division, poly or fisheye", c->file, (long long)line->line, tsr_word_show(kind, shown));
    }
    TSR_TRY(pairs(c, line, names, values, v1 ? 15 : 12));
    l->shift[0] = shift[0];
    l->shift[1] = shift[1];
    if (!v1) return TSR_OK;
    l->focal = 0;
    if (tsr_lens_distorts(l)) tsr_remark("%.200s: the units of ImageWarp are not known: r = 1 at half the width is assumed", c->file);
    else *l = (tsr_lens){ .model = TSR_LENS_DIVISION };
    return TSR_OK;
}

/* ---- pose ------------------------------------------------------------------------------------------------------------------------------ */

/* The pose of one of the readings; 0: it is none. */
static int reading(const cast *c, tsr_geocast_matrix which, tsr_camera *camera)
{
    double m[16], inverse[16], worst = 0;
    const int columns = which == TSR_GEOCAST_WORLD_TO_EYE_COLUMNS || which == TSR_GEOCAST_EYE_TO_WORLD_COLUMNS;
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < 4; k++) m[4 * k + r] = columns ? c->matrix[4 * k + r] : c->matrix[4 * r + k];
    if (which == TSR_GEOCAST_EYE_TO_WORLD_ROWS || which == TSR_GEOCAST_EYE_TO_WORLD_COLUMNS) {
        if (tsr_matrix4_invert("GeoCast", m, inverse) != TSR_OK) return 0;
        memcpy(m, inverse, sizeof m);
    }
    for (int k = 0; k < 4; k++) worst = fmax(worst, fabs(m[4 * k + 3] - (k == 3)));
    if (!(worst < 1e-6)) return 0;
    double p[3] = { 0, 0, 0 };
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            double product = 0;
            camera->rotation[r][k] = m[4 * k + r];
            p[k] -= m[4 * k + r] * m[12 + r];
            for (int i = 0; i < 3; i++) product += m[4 * i + r] * m[4 * i + k];
            worst = fmax(worst, fabs(product - (r == k)));
        }
    camera->position = (tsr_vec3){ p[0], p[1], p[2] };
    return worst < 1e-2;
}

static int same_pose(const tsr_camera *a, const tsr_camera *b)
{
    double worst = fabs(a->position.x - b->position.x) + fabs(a->position.y - b->position.y) + fabs(a->position.z - b->position.z);
    for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(a->rotation[i / 3][i % 3] - b->rotation[i / 3][i % 3]));
    return worst < 1e-4;
}

static tsr_status take_pose(cast *c)
{
    static const char *const names[] = { "", "world-to-eye-rows", "world-to-eye-columns", "eye-to-world-rows", "eye-to-world-columns" };
    tsr_camera found = c->camera.camera, other = found;
    int which = c->version == 2 ? TSR_GEOCAST_WORLD_TO_EYE_COLUMNS : (int)c->o->geocast_matrix, fits = 0;
    if (!c->has_matrix) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: no ModelviewMatrix", c->file);
    if (which) {
        if (!reading(c, (tsr_geocast_matrix)which, &found)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: the matrix, read %s, is no rotation and translation (determinant %g)", c->file, names[which], tsr_matrix4_determinant(c->matrix));
    } else {
        for (int k = 1; k <= 4; k++) {
            if (!reading(c, (tsr_geocast_matrix)k, &other)) continue;
            const double off = fmax(fabs(other.position.x - c->pos[0]), fmax(fabs(other.position.y - c->pos[1]), fabs(other.position.z - c->pos[2])));
            if ((c->has_pos && !(off < 0.00501)) || (fits && same_pose(&found, &other))) continue;
            found = other;
            which = k;
            fits++;
        }
        if (fits != 1)
            TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: %s of the four readings of its matrix %s (determinant %g): say which, --geocast-matrix=world-to-eye-columns or another", c->file,
                     fits ? "more than one" : "none", c->has_pos ? "has its centre at Pos" : "is a pose, and there is no Pos", tsr_matrix4_determinant(c->matrix));
        tsr_remark("%.200s: the matrix is read %s: its centre is at Pos then", c->file, names[which]);
    }
    memcpy(c->camera.camera.rotation, found.rotation, sizeof found.rotation);
    c->camera.camera.position = found.position;
    if (c->version == 2 && c->has_pos) { /* the same to the last bit, where it is the same */
        const double size = 1 + fabs(c->pos[0]) + fabs(c->pos[1]) + fabs(c->pos[2]);
        const double off = fabs(found.position.x - c->pos[0]) + fabs(found.position.y - c->pos[1]) + fabs(found.position.z - c->pos[2]);
        if (!(off < 1e-6 * size)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: Pos and ModelviewMatrix place the camera %g apart", c->file, off);
        c->camera.camera.position = (tsr_vec3){ c->pos[0], c->pos[1], c->pos[2] };
    }
    TSR_TRY(tsr_rig_rotation(c->file, "the camera", c->camera.camera.rotation));
    return TSR_OK;
}

/* ---- a camera file ---------------------------------------------------------------------------------------------------------------- */

static tsr_status signature(cast *c, tsr_text *text, const char *name)
{
    tsr_text line;
    while (tsr_text_line(text, &line)) {
        tsr_word word, version;
        char shown[32];
        if (!first_word(line, &word)) continue;
        tsr_text_word(&line, &word);
        if (!tsr_word_is(word, name) || !tsr_text_word(&line, &version) || version.text[0] != 'V')
            TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: '%s', expected %s V1.0 or V2.0", c->file, (long long)line.line, tsr_word_show(word, shown), name);
        c->version = version.size > 1 && version.text[1] == '2' ? 2 : 1;
        if (version.size < 2 || (version.text[1] != '1' && version.text[1] != '2'))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%.200s: version %s, expected V1 or V2", c->file, tsr_word_show(version, shown));
        return TSR_OK;
    }
    TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: the file is empty", c->file);
}

/* One line; a matrix takes those behind it. */
static tsr_status take_line(cast *c, tsr_text line, tsr_text *text)
{
    tsr_word key;
    const tsr_text whole = line;
    tsr_text_word(&line, &key);
    if (tsr_word_is(key, "StaticCamera") || tsr_word_is(key, "DynamicCamera")) return TSR_OK;
    if (tsr_word_is(key, "Pos")) {
        for (int k = 0; k < 3; k++) TSR_TRY(number(c, &line, "Pos", &c->pos[k]));
        c->has_pos = 1;
        return TSR_OK;
    }
    if (tsr_word_is(key, "ModelviewMatrix")) return take_matrix(c, text);
    if (tsr_word_is(key, "MatrixLayout")) {
        tsr_word layout;
        if (!tsr_text_word(&line, &layout) || !tsr_word_is(layout, "column_major_world_to_eye"))
            TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: MatrixLayout, expected column_major_world_to_eye", c->file, (long long)line.line);
        c->columns = 1;
        return TSR_OK;
    }
    if (tsr_word_is(key, "DataProject")) return take_v1_projection(c, &line);
    if (c->version == 2 && tsr_word_is(key, "Projection")) return take_v2_projection(c, &line);
    if (c->version == 2 && tsr_word_is(key, "Depth")) return take_depth(c, &line);
    if (c->version == 2 && tsr_word_is(key, "Lens")) return take_lens(c, &line, 0);
    if (tsr_word_is(key, "ImageWarp")) return take_lens(c, &line, 1);
    if (tsr_word_is(key, "WorldSpaceDepth")) {
        c->world_depth = 1;
        return TSR_OK;
    }
    if (tsr_word_is(key, "ZDataRange")) {
        TSR_TRY(number(c, &line, "ZDataRange", &c->camera.encoding.range[0]));
        TSR_TRY(number(c, &line, "ZDataRange", &c->camera.encoding.range[1]));
        c->has_range = 1;
        return TSR_OK;
    }
    double v;
    if (c->version == 2 && tsr_word_is(key, "Frame")) {
        TSR_TRY(number(c, &line, "Frame", &v));
        if (v >= 0 && v < INT32_MAX) c->camera.frame = (int32_t)v;
        return TSR_OK;
    }
    if (c->version == 2 && tsr_word_is(key, "Time")) return number(c, &line, "Time", &c->camera.time);
    if (c->version == 2 && tsr_word_is(key, "Size")) {
        double h;
        TSR_TRY(number(c, &line, "Size", &v));
        TSR_TRY(number(c, &line, "Size", &h));
        if (v >= 1 && v <= 1e6 && h >= 1 && h <= 1e6) {
            c->camera.width = (int32_t)v;
            c->camera.height = (int32_t)h;
        }
        return TSR_OK;
    }
    return tsr_rig_keep_unknown(&c->unknown, whole.at, (size_t)(whole.end - whole.at)); /* among them ViewSlice */
}

static tsr_status parse(cast *c, tsr_text text)
{
    tsr_text line;
    TSR_TRY(signature(c, &text, "GeoCast"));
    c->camera.frame = TSR_RIG_STATIC;
    while (tsr_text_line(&text, &line)) {
        tsr_word word;
        if (first_word(line, &word)) TSR_TRY(take_line(c, line, &text));
    }
    if (!c->has_projection) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: no projection, expected %s", c->file, c->version == 2 ? "Projection" : "DataProject");
    if (c->version == 2 && !c->columns) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: no MatrixLayout, which V2 must have", c->file);
    TSR_TRY(take_pose(c));
    if (c->version == 1 && !c->world_depth) c->camera.encoding.kind = TSR_DEPTH_EYE_LINEAR;
    if (c->version == 1 && !c->world_depth) c->camera.encoding.bits = 16; /* of PNG; the file itself says which */
    if (tsr_camera_check(&c->camera.camera) != TSR_OK) {
        char why[300];
        tsr_print(why, sizeof why, "%s", tsr_error_message());
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: %s", c->file, why);
    }
    return TSR_OK;
}

static tsr_status add(tsr_rig *rig, cast *c)
{
    const tsr_status status = tsr_rig_add(rig, &c->camera);
    if (status == TSR_OK) rig->entry[rig->count - 1].unknown = c->unknown;
    else free(c->unknown);
    c->unknown = NULL;
    return status;
}

static int is_cast(const uint8_t *head, size_t size, const char *name)
{
    tsr_text text = tsr_text_make(head, size), line;
    while (tsr_text_line(&text, &line)) {
        tsr_word word;
        if (!first_word(line, &word)) continue;
        return tsr_word_is(word, name) ? 2 : 0;
    }
    return 0;
}
static int recognise_cast(const uint8_t *head, size_t size, const char *path)
{
    (void)path;
    return is_cast(head, size, "GeoCast");
}
static int recognise_scene(const uint8_t *head, size_t size, const char *path)
{
    (void)path;
    return is_cast(head, size, "GeoScene");
}

static tsr_status read_cast(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *options, tsr_rig *rig)
{
    cast c = { .file = file, .o = options };
    char name[256];
    const tsr_status status = parse(&c, tsr_text_make(bytes, size));
    if (status != TSR_OK) {
        free(c.unknown);
        return status;
    }
    tsr_print(name, sizeof name, "%s", tsr_path_file(file));
    char *end = strrchr(name, '.');
    if (end) *end = 0;
    c.camera.name = name;
    if (options->width && !c.camera.width) {
        c.camera.width = options->width;
        c.camera.height = options->height;
    }
    return add(rig, &c);
}

/* ---- a scene ------------------------------------------------------------------------------------------------------------------------- */

typedef struct stream {
    char name[256], image[1024], cast[1024];
    double width, height;
    int depth; /* GeoCastZ */
} stream;

static int token(tsr_text *line, char *to, size_t room)
{
    tsr_word word;
    if (!tsr_text_word(line, &word) || word.size >= room) return 0;
    memcpy(to, word.text, word.size);
    to[word.size] = 0;
    return 1;
}

static tsr_status one_cast(const cast *scene, const stream *s, int32_t frame, const char *path, tsr_rig *rig)
{
    cast c = { .file = path, .o = scene->o };
    const tsr_input_options settings = { .memory_limit = scene->o->memory_limit, .regular_only = 1 };
    tsr_input *input = NULL;
    const uint8_t *bytes;
    size_t size;
    TSR_TRY(tsr_input_open(path, &settings, &input));
    tsr_status status = tsr_input_all(input, &bytes, &size);
    if (status == TSR_OK) status = parse(&c, tsr_text_make(bytes, size));
    tsr_input_close(&input);
    if (status != TSR_OK) {
        free(c.unknown);
        return status;
    }
    const double aspect = s->width / s->height;
    if (c.camera.camera.projection != TSR_PROJECTION_MATRIX && c.camera.camera.aspect > 0 && fabs(c.camera.camera.aspect - aspect) > 0.01 * aspect)
        tsr_remark("%.200s: Aspect is %g, the images of '%.100s' have %g: perhaps the ratio of the angles, which one exporter writes", path, c.camera.camera.aspect, s->name, aspect);
    c.camera.name = s->name;
    c.camera.width = (int32_t)s->width;
    c.camera.height = (int32_t)s->height;
    c.camera.image = s->depth ? "" : s->image;
    c.camera.depth = s->depth ? s->image : "";
    if (frame >= 0) c.camera.frame = frame;
    for (int64_t i = 0; i < rig->count; i++) { /* picture and depths of one camera are one entry */
        tsr_rig_camera old = rig->entry[i].camera;
        if (strcmp(old.name, s->name) != 0 || old.frame != c.camera.frame || (s->depth ? *old.depth : *old.image) || old.width != c.camera.width || !same_pose(&old.camera, &c.camera.camera))
            continue;
        if (s->depth) {
            old.depth = s->image;
            old.encoding = c.camera.encoding;
        } else {
            old.image = s->image;
        }
        free(c.unknown);
        return tsr_rig_set(rig, i, &old);
    }
    return add(rig, &c);
}

static tsr_status take_stream(const cast *scene, tsr_text *line, int depth, tsr_rig *rig)
{
    stream s = { .depth = depth };
    char path[4096];
    if (!token(line, s.name, sizeof s.name) || tsr_text_double(line, &s.width) != TSR_TEXT_OK || tsr_text_double(line, &s.height) != TSR_TEXT_OK ||
        !token(line, s.image, sizeof s.image) || !token(line, s.cast, sizeof s.cast))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: expected GeoCast NAME WIDTH HEIGHT IMAGES CAMERAS", scene->file, (long long)line->line);
    if (!(s.width >= 1 && s.width <= 1e6 && s.height >= 1 && s.height <= 1e6))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: images of %g x %g pixels, expected 1 to 10^6", scene->file, (long long)line->line, s.width, s.height);
    if (!*rig->folder && strcmp(scene->file, tsr_path_file(scene->file)) != 0)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%.200s: a scene in memory cannot name other files", scene->file);
    const int moving = strchr(s.cast, '%') != NULL;
    if (moving && (int64_t)rig->last - rig->first > TSR_RIG_CAMERAS_MOST) TSR_FAIL(TSR_ERROR_CAPACITY, "%.200s: more than %d frames", scene->file, TSR_RIG_CAMERAS_MOST);
    for (int32_t f = rig->first; f <= (moving ? rig->last : rig->first); f++) {
        TSR_TRY(tsr_rig_path(rig, s.cast, f, path, sizeof path));
        TSR_TRY(one_cast(scene, &s, moving ? f : -1, path, rig));
    }
    return TSR_OK;
}

static tsr_status read_scene(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *options, tsr_rig *rig)
{
    cast scene = { .file = file, .o = options };
    tsr_text text = tsr_text_make(bytes, size), line;
    TSR_TRY(signature(&scene, &text, "GeoScene"));
    while (tsr_text_line(&text, &line)) {
        tsr_word key;
        const tsr_text whole = line;
        double first, last;
        if (!first_word(line, &key)) continue;
        tsr_text_word(&line, &key);
        if (tsr_word_is(key, "Sequence")) {
            TSR_TRY(number(&scene, &line, "the first frame", &first));
            TSR_TRY(number(&scene, &line, "the last frame", &last));
            if (!(first >= 0 && last >= first && last < 1e9)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: Sequence %g %g, expected 0 <= first <= last", file, (long long)line.line, first, last);
            tsr_rig_set_sequence(rig, (int32_t)first, (int32_t)last);
        } else if (tsr_word_is(key, "GeoCast")) TSR_TRY(take_stream(&scene, &line, 0, rig));
        else if (tsr_word_is(key, "GeoCastZ")) TSR_TRY(take_stream(&scene, &line, 1, rig));
        else if (!tsr_word_is(key, "DataFormat")) TSR_TRY(tsr_rig_keep_unknown(&rig->unknown, whole.at, (size_t)(whole.end - whole.at)));
    }
    return TSR_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------------ */

static void put(tsr_output *o, const char *name, double v)
{
    char t[32];
    tsr_output_printf(o, " %s %s", name, tsr_rig_number(v, t));
}

static void write_lens(tsr_output *o, const tsr_lens *l)
{
    static const char *const models[] = { "division", "poly", "fisheye" };
    static const char *const names[] = { "k1", "k2", "k3", "k4", "k5", "k6", "p1", "p2", "focal", "pixel_aspect", "shift_x", "shift_y" };
    const double values[] = { l->k1, l->k2, l->k3, l->k4, l->k5, l->k6, l->p1, l->p2, l->focal, l->pixel_aspect, l->shift[0], l->shift[1] };
    tsr_output_printf(o, "Lens %s", models[l->model]);
    for (int i = 0; i < 12; i++)
        if (values[i] != 0) put(o, names[i], values[i]);
    tsr_output_printf(o, "\n");
}

static tsr_status write_one(const tsr_rig_entry *entry, tsr_output *o)
{
    const tsr_rig_camera *c = &entry->camera;
    const tsr_camera *m = &c->camera;
    const double pos[3] = { m->position.x, m->position.y, m->position.z };
    char t[32];
    tsr_output_printf(o, "GeoCast V2.0\n%s\nPos", c->frame >= 0 ? "DynamicCamera" : "StaticCamera");
    for (int k = 0; k < 3; k++) tsr_output_printf(o, " %s", tsr_rig_number(pos[k], t));
    tsr_output_printf(o, "\nMatrixLayout column_major_world_to_eye\nModelviewMatrix\n");
    for (int k = 0; k < 4; k++) { /* a column a line */
        for (int r = 0; r < 4; r++) {
            double v = r == 3 ? k == 3 : 0;
            if (r < 3) v = k < 3 ? m->rotation[r][k] : -(m->rotation[r][0] * pos[0] + m->rotation[r][1] * pos[1] + m->rotation[r][2] * pos[2]);
            tsr_output_printf(o, "%s%s", r ? " " : "", tsr_rig_number(v, t));
        }
        tsr_output_printf(o, "\n");
    }
    if (m->projection == TSR_PROJECTION_MATRIX) {
        tsr_output_printf(o, "Projection matrix");
        for (int i = 0; i < 16; i++) tsr_output_printf(o, " %s", tsr_rig_number(m->matrix[i], t));
    } else {
        tsr_output_printf(o, "Projection %s", m->projection == TSR_ORTHOGRAPHIC ? "ortho" : "pinhole");
        if (m->projection == TSR_ORTHOGRAPHIC) put(o, "WindowHeight", m->height);
        else put(o, "Fovy", m->fov);
        put(o, "Aspect", m->aspect);
        if (m->offset[0] != 0) put(o, "OffsetX", m->offset[0]);
        if (m->offset[1] != 0) put(o, "OffsetY", m->offset[1]);
        if (m->clip[0] != 0 || m->clip[1] != 0) {
            put(o, "Near", m->clip[0]);
            put(o, "Far", m->clip[1]);
        }
    }
    tsr_output_printf(o, "\n");
    if (*c->depth) {
        const tsr_depth_encoding *e = &c->encoding;
        if (e->bits) tsr_output_printf(o, "Depth %s %d", tsr_depth_kind_name(e->kind), (int)e->bits);
        else tsr_output_printf(o, "Depth %s float", tsr_depth_kind_name(e->kind));
        static const char *const names[] = { "Lo", "Hi", "Scale", "Baseline", "Focal", "Shift" };
        const double values[] = { e->range[0], e->range[1], e->scale, e->baseline, e->focal, e->shift };
        for (int i = 0; i < 6; i++)
            if (values[i] != 0) put(o, names[i], values[i]);
        if (e->background_is_valid) put(o, "Background", 1);
        tsr_output_printf(o, "\n");
    }
    if (tsr_lens_distorts(&m->lens)) write_lens(o, &m->lens);
    if (c->width) tsr_output_printf(o, "Size %d %d\n", (int)c->width, (int)c->height);
    if (c->frame >= 0) tsr_output_printf(o, "Frame %d\n", (int)c->frame);
    if (c->time != 0) tsr_output_printf(o, "Time %s\n", tsr_rig_number(c->time, t));
    return tsr_output_printf(o, "%s", entry->unknown ? entry->unknown : "");
}

static tsr_status check_cast(const tsr_rig *rig)
{
    if (rig->count != 1) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "a .geocast file holds one camera, the rig has %lld: write a .geoscene", (long long)rig->count);
    return TSR_OK;
}
static tsr_status write_cast(const tsr_rig *rig, tsr_output *o, const char *path)
{
    (void)path;
    return write_one(&rig->entry[0], o);
}

/* What a path of a scene may be: no blanks, which divide its words. */
static tsr_status check_scene(const tsr_rig *rig)
{
    for (int64_t i = 0; i < rig->count; i++) {
        const tsr_rig_camera *c = &rig->entry[i].camera;
        const char *const words[3] = { c->name, c->image, c->depth };
        for (int k = 0; k < 3; k++)
            if (strpbrk(words[k], " \t\r\n#")) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera '%.100s': a name or path with a blank or #, which a GeoScene cannot hold", c->name);
        if (!*c->name || strchr(c->name, '%')) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera %lld: its name is empty or has a %%, which a GeoScene cannot hold", (long long)i);
        if (c->width < 1) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera '%.100s': the size of its image is not known, which a GeoScene needs", c->name);
        for (int64_t k = 0; k < i && c->frame < 0 && rig->count < 4096; k++)
            if (!strcmp(rig->entry[k].camera.name, c->name)) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "two cameras are called '%.100s', which a GeoScene cannot hold", c->name);
    }
    return TSR_OK;
}

/* The file of one camera beside the scene: slashes of names become _. */
static void cast_name(const tsr_rig_camera *c, int pattern, char *name, size_t room)
{
    char plain[256];
    tsr_print(plain, sizeof plain, "%s", c->name);
    for (char *p = plain; *p; p++)
        if (*p == '/') *p = '_';
    if (c->frame < 0) tsr_print(name, room, "%s.geocast", plain);
    else if (pattern) tsr_print(name, room, "%s-%%06d.geocast", plain);
    else tsr_print(name, room, "%s-%06d.geocast", plain, (int)c->frame);
}

static tsr_status write_casts(const tsr_rig *rig, const char *folder, const tsr_write_options *options)
{
    for (int64_t i = 0; i < rig->count; i++) {
        tsr_output *o = NULL;
        char name[300];
        cast_name(&rig->entry[i].camera, 0, name, sizeof name);
        char *path = tsr_rig_join(folder, name);
        if (!path) TSR_FAIL(TSR_ERROR_MEMORY, "rig: out of host memory for a path");
        tsr_status status = tsr_output_open(path, options, &o);
        free(path);
        TSR_TRY(status);
        status = write_one(&rig->entry[i], o);
        TSR_TRY(tsr_output_finish(&o, status));
    }
    return TSR_OK;
}

static tsr_status write_scene(const tsr_rig *rig, const char *path, const tsr_write_options *options)
{
    tsr_output *o = NULL;
    char *folder = strdup(path);
    if (!folder) TSR_FAIL(TSR_ERROR_MEMORY, "rig: out of host memory for a path");
    folder[tsr_path_file(path) - path] = 0;
    tsr_status status = tsr_output_open(path, options, &o); /* refuses an existing scene before its cameras are touched */
    if (status == TSR_OK) status = write_casts(rig, folder, options);
    free(folder);
    if (status != TSR_OK) {
        tsr_output_abort(&o);
        return status;
    }
    tsr_output_printf(o, "GeoScene V2.1\nSequence %d %d\n", (int)rig->first, (int)rig->last);
    for (int64_t i = 0; i < rig->count; i++) {
        const tsr_rig_camera *c = &rig->entry[i].camera;
        char name[300];
        if (c->frame > rig->first) continue; /* the first frame stands for its stream */
        cast_name(c, 1, name, sizeof name);
        if (*c->image || !*c->depth) tsr_output_printf(o, "GeoCast %s %d %d %s %s\n", c->name, (int)c->width, (int)c->height, *c->image ? c->image : "-", name);
        if (*c->depth) tsr_output_printf(o, "GeoCastZ %s %d %d %s %s\n", c->name, (int)c->width, (int)c->height, c->depth, name);
    }
    tsr_output_printf(o, "%s", rig->unknown ? rig->unknown : "");
    TSR_TRY(tsr_output_finish(&o, TSR_OK));
    return TSR_OK;
}

const tsr_rig_format tsr_rig_format_geocast = {
    .name = "geocast", .extension = ".geocast", .recognise = recognise_cast, .read = read_cast, .write = write_cast, .check = check_cast
};
const tsr_rig_format tsr_rig_format_geoscene = {
    .name = "geoscene", .extension = ".geoscene", .recognise = recognise_scene, .read = read_scene, .write_folder = write_scene, .check = check_scene
};
