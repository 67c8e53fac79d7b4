/* vision/rig/rig_colmap.c: sparse models of COLMAP: cameras, images and points3D, as text or in binary. Poses are world to camera, axes x right, y down, z forward;
 * pixels count from the upper left corner of the upper left pixel. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "vision/rig/rig.h"

/* Models by number: how many parameters, and what each is: f = both focal lengths, x y = one, c d = centre, 1 to 6 = k, p q = tangential. */
static const struct model {
    const char *name, *parameters;
    int fisheye;
} models[] = {
    { "SIMPLE_PINHOLE", "fcd", 0 },   { "PINHOLE", "xycd", 0 },          { "SIMPLE_RADIAL", "fcd1", 0 },        { "RADIAL", "fcd12", 0 },
    { "OPENCV", "xycd12pq", 0 },      { "OPENCV_FISHEYE", "xycd1234", 1 }, { "FULL_OPENCV", "xycd12pq3456", 0 }, { "FOV", NULL, 0 },
    { "SIMPLE_RADIAL_FISHEYE", "fcd1", 1 }, { "RADIAL_FISHEYE", "fcd12", 1 },  { "THIN_PRISM_FISHEYE", NULL, 0 },
};
enum { MODELS = sizeof models / sizeof *models, PARAMETERS_MOST = 12, PINHOLE = 1, OPENCV = 4, OPENCV_FISHEYE = 5, FULL_OPENCV = 6 };

typedef struct lens_record {
    int64_t id;
    tsr_pinhole pinhole;
} lens_record;

/* A model being read. */
typedef struct reader {
    const tsr_rig_read_options *o;
    tsr_rig *rig;
    lens_record *lens;
    int64_t lenses, lens_room;
    uint64_t *point_id; /* of points, as the file numbers them */
    int64_t points, point_room;
} reader;

static tsr_status room(void **memory, int64_t *have, int64_t count, size_t size)
{
    if (count < *have) return TSR_OK;
    const int64_t next = *have + *have / 2 + 64;
    void *grown = realloc(*memory, (size_t)next * size);
    if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "COLMAP model: out of host memory for %lld records", (long long)next);
    *memory = grown;
    *have = next;
    return TSR_OK;
}

static tsr_status add_lens(reader *r, const char *file, int64_t id, int model, double w, double h, const double *parameter)
{
    if (model < 0 || model >= MODELS || !models[model].parameters)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%.200s: camera %lld is of the model %s, expected one of the pinhole, radial, OPENCV or fish-eye models", file, (long long)id,
                 model >= 0 && model < MODELS ? models[model].name : "of an unknown number");
    if (!(w >= 1 && w <= 1e6 && h >= 1 && h <= 1e6))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: camera %lld has %g x %g pixels, expected 1 to 10^6", file, (long long)id, w, h);
    tsr_pinhole p = { .width = (int32_t)w, .height = (int32_t)h, .fisheye = models[model].fisheye };
    for (int i = 0; models[model].parameters[i]; i++) {
        const char what = models[model].parameters[i];
        const double v = parameter[i];
        if (what == 'f' || what == 'x') p.fx = v;
        if (what == 'f' || what == 'y') p.fy = v;
        if (what == 'c') p.cx = v;
        if (what == 'd') p.cy = v;
        if (what == 'p') p.p[0] = v;
        if (what == 'q') p.p[1] = v;
        if (what >= '1' && what <= '6') p.k[what - '1'] = v;
    }
    for (int i = 0; i < 3; i++) p.rotation[i][i] = 1;
    tsr_camera test;
    if (tsr_camera_from_pinhole(&p, &test) != TSR_OK) {
        char why[300];
        tsr_print(why, sizeof why, "%s", tsr_error_message());
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: camera %lld: %s", file, (long long)id, why);
    }
    TSR_TRY(room((void **)&r->lens, &r->lens_room, r->lenses, sizeof *r->lens));
    r->lens[r->lenses++] = (lens_record){ id, p };
    return TSR_OK;
}

static int by_id(const void *a, const void *b)
{
    const int64_t x = ((const lens_record *)a)->id, y = ((const lens_record *)b)->id;
    return x < y ? -1 : x > y;
}

static tsr_status add_image(reader *r, const char *file, int64_t id, const double q[4], const double t[3], int64_t camera, const char *name)
{
    const lens_record key = { .id = camera };
    const lens_record *lens = r->lenses ? (const lens_record *)bsearch(&key, r->lens, (size_t)r->lenses, sizeof key, by_id) : NULL;
    if (!lens) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: image %lld is of camera %lld, which cameras does not list", file, (long long)id, (long long)camera);
    tsr_pinhole p = lens->pinhole;
    tsr_rig_camera c = { .name = name, .image = name, .width = p.width, .height = p.height, .frame = TSR_RIG_STATIC };
    TSR_TRY(tsr_rig_quaternion(file, name, q, p.rotation));
    memcpy(p.translation, t, sizeof p.translation);
    for (int k = 0; k < 3; k++)
        if (!isfinite(t[k])) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: image '%.100s': its translation is not finite", file, name);
    TSR_TRY(tsr_camera_from_pinhole(&p, &c.camera));
    TSR_TRY(tsr_rig_add(r->rig, &c));
    return TSR_OK;
}

static tsr_status add_point(reader *r, uint64_t id, const tsr_rig_point *point)
{
    TSR_TRY(room((void **)&r->point_id, &r->point_room, r->points, sizeof *r->point_id));
    r->point_id[r->points++] = id;
    TSR_TRY(tsr_rig_add_points(r->rig, point, 1));
    return TSR_OK;
}

typedef struct id_place {
    uint64_t id;
    int64_t place;
} id_place;
static int by_place(const void *a, const void *b)
{
    const uint64_t x = ((const id_place *)a)->id, y = ((const id_place *)b)->id;
    return x < y ? -1 : x > y;
}

/* Points are read last, but images name them: the sights of images carry numbers of the file until then, kept as they come. */
typedef struct pending {
    uint64_t *id;
    int64_t count, room;
} pending;

static tsr_status add_sight(reader *r, pending *ids, uint64_t point, double x, double y)
{
    if (r->rig->count > INT32_MAX) return TSR_OK;
    const tsr_rig_sight s = { .camera = (int32_t)r->rig->count - 1, .point = -1, .pixel = { (float)x, (float)y } };
    TSR_TRY(room((void **)&ids->id, &ids->room, ids->count, sizeof *ids->id));
    ids->id[ids->count++] = point;
    TSR_TRY(tsr_rig_add_sights(r->rig, &s, 1));
    return TSR_OK;
}

static tsr_status join_sights(reader *r, const pending *ids)
{
    if (!ids->count) return TSR_OK;
    id_place *sorted = (id_place *)malloc(((size_t)r->points + 1) * sizeof *sorted);
    if (!sorted) TSR_FAIL(TSR_ERROR_MEMORY, "COLMAP model: out of host memory for %lld points", (long long)r->points);
    for (int64_t i = 0; i < r->points; i++) sorted[i] = (id_place){ r->point_id[i], i };
    if (r->points) qsort(sorted, (size_t)r->points, sizeof *sorted, by_place);
    int64_t kept = 0;
    for (int64_t i = 0; i < r->rig->sights; i++) {
        const id_place key = { ids->id[i], 0 };
        const id_place *found = !r->points ? NULL : (const id_place *)bsearch(&key, sorted, (size_t)r->points, sizeof key, by_place);
        if (!found) continue;
        r->rig->sight[kept] = r->rig->sight[i];
        r->rig->sight[kept++].point = (int32_t)found->place;
    }
    r->rig->sights = kept;
    free(sorted);
    return TSR_OK;
}

/* ---- text ----------------------------------------------------------------------------------------------------------------------- */

static int data_line(tsr_text *text, tsr_text *line)
{
    while (tsr_text_line(text, line)) {
        tsr_text look = *line;
        tsr_word word;
        if (tsr_text_word(&look, &word) && word.text[0] != '#') return 1;
    }
    return 0;
}
static tsr_status numbers(const char *file, tsr_text *line, double *value, int count)
{
    for (int i = 0; i < count; i++)
        if (tsr_text_double(line, &value[i]) != TSR_TEXT_OK)
            TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: expected %d numbers more", file, (long long)line->line, count - i);
    return TSR_OK;
}
static tsr_status integer(const char *file, tsr_text *line, const char *what, int64_t *value)
{
    if (tsr_text_integer(line, value) != TSR_TEXT_OK) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: expected %s", file, (long long)line->line, what);
    return TSR_OK;
}

static tsr_status text_cameras(reader *r, const char *file, tsr_text text)
{
    tsr_text line;
    while (data_line(&text, &line)) {
        int64_t id;
        tsr_word name;
        double v[2 + PARAMETERS_MOST] = { 0 };
        char shown[32];
        int model = 0;
        TSR_TRY(integer(file, &line, "the number of a camera", &id));
        if (!tsr_text_word(&line, &name)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: expected a camera model", file, (long long)line.line);
        while (model < MODELS && !tsr_word_is(name, models[model].name)) model++;
        if (model == MODELS || !models[model].parameters)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%.200s: camera %lld is of the model %s, expected one of the pinhole, radial, OPENCV or fish-eye models", file, (long long)id,
                     tsr_word_show(name, shown));
        TSR_TRY(numbers(file, &line, v, 2 + (int)strlen(models[model].parameters)));
        TSR_TRY(add_lens(r, file, id, model, v[0], v[1], v + 2));
    }
    return TSR_OK;
}

static void rest_of_line(const tsr_text *line, char *name, size_t size)
{
    const char *a = line->at, *b = line->end;
    while (a < b && (*a == ' ' || *a == '\t')) a++;
    while (b > a && (b[-1] == ' ' || b[-1] == '\t' || b[-1] == '\r')) b--;
    const size_t length = (size_t)(b - a) < size - 1 ? (size_t)(b - a) : size - 1;
    memcpy(name, a, length);
    name[length] = 0;
}

static tsr_status text_images(reader *r, pending *ids, const char *file, tsr_text text)
{
    tsr_text line;
    while (data_line(&text, &line)) {
        int64_t id, camera;
        double v[7];
        char name[TSR_RIG_TEXT_MOST];
        if (r->rig->count % 4096 == 0) TSR_PROGRESS(&r->o->progress, 0.3, "cameras");
        TSR_TRY(integer(file, &line, "the number of an image", &id));
        TSR_TRY(numbers(file, &line, v, 7));
        TSR_TRY(integer(file, &line, "the number of a camera", &camera));
        rest_of_line(&line, name, sizeof name);
        TSR_TRY(add_image(r, file, id, v, v + 4, camera, name));
        if (!tsr_text_line(&text, &line)) break; /* its sights, an empty line if there are none */
        double x;
        while (tsr_text_double(&line, &x) == TSR_TEXT_OK) {
            double y;
            int64_t point;
            TSR_TRY(numbers(file, &line, &y, 1));
            TSR_TRY(integer(file, &line, "the number of a point, or -1", &point));
            if (point >= 0) TSR_TRY(add_sight(r, ids, (uint64_t)point, x, y));
        }
    }
    return TSR_OK;
}

static uint8_t byte(double v) { return (uint8_t)fmin(255, fmax(0, v)); }

static tsr_status text_points(reader *r, const char *file, tsr_text text)
{
    tsr_text line;
    while (data_line(&text, &line)) {
        int64_t id;
        double v[7];
        TSR_TRY(integer(file, &line, "the number of a point", &id));
        TSR_TRY(numbers(file, &line, v, 7));
        TSR_TRY(add_point(r, (uint64_t)id, &(tsr_rig_point){ { v[0], v[1], v[2] }, { byte(v[3]), byte(v[4]), byte(v[5]) }, (float)v[6] }));
    }
    return TSR_OK;
}

/* ---- binary: little endian ------------------------------------------------------------------------------------------------------- */

typedef struct stream {
    const char *file;
    const uint8_t *at, *end;
} stream;

static tsr_status take(stream *s, int bytes, const char *what, uint64_t *value)
{
    if (s->end - s->at < bytes) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: the file ends within %s", s->file, what);
    *value = 0;
    for (int i = 0; i < bytes; i++) *value |= (uint64_t)s->at[i] << (8 * i);
    s->at += bytes;
    return TSR_OK;
}
static tsr_status take_doubles(stream *s, const char *what, double *value, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t bits = 0;
        TSR_TRY(take(s, 8, what, &bits));
        memcpy(&value[i], &bits, 8);
    }
    return TSR_OK;
}
/* How many records follow; each takes `least` bytes. */
static tsr_status take_count(stream *s, int least, const char *what, uint64_t *count)
{
    TSR_TRY(take(s, 8, what, count));
    if (*count > (uint64_t)(s->end - s->at) / (uint64_t)least)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: %llu %s in %lld bytes", s->file, (unsigned long long)*count, what, (long long)(s->end - s->at));
    return TSR_OK;
}

static tsr_status binary_cameras(reader *r, stream s)
{
    uint64_t count, v[4] = { 0 };
    TSR_TRY(take_count(&s, 24 + 24, "cameras", &count));
    for (uint64_t i = 0; i < count; i++) {
        double p[PARAMETERS_MOST] = { 0 };
        TSR_TRY(take(&s, 4, "a camera", &v[0]));
        TSR_TRY(take(&s, 4, "a camera", &v[1]));
        TSR_TRY(take(&s, 8, "a camera", &v[2]));
        TSR_TRY(take(&s, 8, "a camera", &v[3]));
        const int model = v[1] < MODELS ? (int)v[1] : -1;
        if (model >= 0 && models[model].parameters) TSR_TRY(take_doubles(&s, "a camera", p, (int)strlen(models[model].parameters)));
        TSR_TRY(add_lens(r, s.file, (int64_t)v[0], model, (double)v[2], (double)v[3], p));
    }
    return TSR_OK;
}

static tsr_status binary_images(reader *r, pending *ids, stream s)
{
    uint64_t count, id = 0, camera = 0, sights = 0;
    TSR_TRY(take_count(&s, 4 + 56 + 4 + 1 + 8, "images", &count));
    for (uint64_t i = 0; i < count; i++) {
        double v[7], at[2];
        char name[TSR_RIG_TEXT_MOST];
        if (i % 4096 == 0) TSR_PROGRESS(&r->o->progress, 0.3, "cameras");
        TSR_TRY(take(&s, 4, "an image", &id));
        TSR_TRY(take_doubles(&s, "an image", v, 7));
        TSR_TRY(take(&s, 4, "an image", &camera));
        const uint8_t *end = (const uint8_t *)memchr(s.at, 0, (size_t)(s.end - s.at));
        if (!end || (size_t)(end - s.at) >= sizeof name) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: the name of image %llu does not end", s.file, (unsigned long long)id);
        memcpy(name, s.at, (size_t)(end - s.at) + 1);
        s.at = end + 1;
        TSR_TRY(add_image(r, s.file, (int64_t)id, v, v + 4, (int64_t)camera, name));
        TSR_TRY(take_count(&s, 24, "sights of an image", &sights));
        for (uint64_t k = 0; k < sights; k++) {
            uint64_t point = 0;
            TSR_TRY(take_doubles(&s, "a sight", at, 2));
            TSR_TRY(take(&s, 8, "a sight", &point));
            if (point != UINT64_MAX) TSR_TRY(add_sight(r, ids, point, at[0], at[1]));
        }
    }
    return TSR_OK;
}

static tsr_status binary_points(reader *r, stream s)
{
    uint64_t count, id = 0, color[3] = { 0 }, track = 0;
    TSR_TRY(take_count(&s, 8 + 24 + 3 + 8 + 8, "points", &count));
    for (uint64_t i = 0; i < count; i++) {
        double v[4];
        TSR_TRY(take(&s, 8, "a point", &id));
        TSR_TRY(take_doubles(&s, "a point", v, 3));
        for (int k = 0; k < 3; k++) TSR_TRY(take(&s, 1, "a point", &color[k]));
        TSR_TRY(take_doubles(&s, "a point", v + 3, 1));
        TSR_TRY(take_count(&s, 8, "images of a point", &track));
        s.at += 8 * track;
        TSR_TRY(add_point(r, id, &(tsr_rig_point){ { v[0], v[1], v[2] }, { (uint8_t)color[0], (uint8_t)color[1], (uint8_t)color[2] }, (float)v[3] }));
    }
    return TSR_OK;
}

/* ---- folders ------------------------------------------------------------------------------------------------------------------- */

static tsr_status read_one(reader *r, pending *ids, const char *path, const char *part, int binary)
{
    char name[32];
    tsr_input *input = NULL;
    const uint8_t *bytes;
    size_t size;
    tsr_print(name, sizeof name, "%s.%s", part, binary ? "bin" : "txt");
    if (part[0] == 'p' && !tsr_rig_exists(path, name)) return TSR_OK; /* points are optional */
    TSR_TRY(tsr_rig_open(path, name, r->o, &input));
    tsr_status status = tsr_input_all(input, &bytes, &size);
    const char *file = tsr_input_name(input);
    if (status == TSR_OK && binary) {
        const stream s = { file, bytes, bytes + size };
        status = part[0] == 'c' ? binary_cameras(r, s) : part[0] == 'i' ? binary_images(r, ids, s) : binary_points(r, s);
    } else if (status == TSR_OK) {
        const tsr_text text = tsr_text_make(bytes, size);
        status = part[0] == 'c' ? text_cameras(r, file, text) : part[0] == 'i' ? text_images(r, ids, file, text) : text_points(r, file, text);
    }
    tsr_input_close(&input);
    return status;
}

static tsr_status read_model(const char *path, const tsr_rig_read_options *o, tsr_rig *rig, int binary)
{
    reader r = { .o = o, .rig = rig };
    pending ids = { NULL, 0, 0 };
    tsr_status status = read_one(&r, &ids, path, "cameras", binary);
    if (r.lenses) qsort(r.lens, (size_t)r.lenses, sizeof *r.lens, by_id);
    if (status == TSR_OK) status = read_one(&r, &ids, path, "images", binary);
    if (status == TSR_OK) status = read_one(&r, &ids, path, "points3D", binary);
    if (status == TSR_OK) status = join_sights(&r, &ids);
    free(r.lens);
    free(r.point_id);
    free(ids.id);
    return status;
}
static tsr_status read_text(const char *path, const tsr_rig_read_options *o, tsr_rig *rig) { return read_model(path, o, rig, 0); }
static tsr_status read_binary(const char *path, const tsr_rig_read_options *o, tsr_rig *rig) { return read_model(path, o, rig, 1); }

/* Fuzzing and tests: one text holds all three files, divided by lines that begin with "%". */
static tsr_status read_parts(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *o, tsr_rig *rig)
{
    reader r = { .o = o, .rig = rig };
    pending ids = { NULL, 0, 0 };
    const uint8_t *at = bytes, *end = bytes + size;
    tsr_status status = TSR_OK;
    for (int part = 0; part < 3 && status == TSR_OK; part++) {
        const uint8_t *stop = at;
        while (stop < end && !(*stop == '%' && (stop == at || stop[-1] == '\n'))) stop++;
        const tsr_text text = tsr_text_make(at, (size_t)(stop - at));
        status = part == 0 ? text_cameras(&r, file, text) : part == 1 ? text_images(&r, &ids, file, text) : text_points(&r, file, text);
        if (part == 0) if (r.lenses) qsort(r.lens, (size_t)r.lenses, sizeof *r.lens, by_id);
        while (stop < end && *stop != '\n') stop++;
        at = stop < end ? stop + 1 : end;
    }
    if (status == TSR_OK) status = join_sights(&r, &ids);
    free(r.lens);
    free(r.point_id);
    free(ids.id);
    return status;
}

/* The same in binary: the lengths of the first two files as 4 bytes each, then the three of them. */
static tsr_status read_binary_parts(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *o, tsr_rig *rig)
{
    reader r = { .o = o, .rig = rig };
    pending ids = { NULL, 0, 0 };
    stream s = { file, bytes, bytes + size };
    uint64_t length[2] = { 0, 0 };
    tsr_status status = take(&s, 4, "its lengths", &length[0]);
    if (status == TSR_OK) status = take(&s, 4, "its lengths", &length[1]);
    for (int part = 0; part < 3 && status == TSR_OK; part++) {
        const size_t left = (size_t)(s.end - s.at), own = part < 2 && length[part] < left ? (size_t)length[part] : left;
        const stream one = { file, s.at, s.at + own };
        status = part == 0 ? binary_cameras(&r, one) : part == 1 ? binary_images(&r, &ids, one) : binary_points(&r, one);
        if (part == 0 && r.lenses) qsort(r.lens, (size_t)r.lenses, sizeof *r.lens, by_id);
        s.at += own;
    }
    if (status == TSR_OK) status = join_sights(&r, &ids);
    free(r.lens);
    free(r.point_id);
    free(ids.id);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------- */

static int model_of(const tsr_pinhole *p)
{
    int order = 0;
    for (int i = 0; i < 6; i++)
        if (p->k[i] != 0) order = i + 1;
    if (p->fisheye) return OPENCV_FISHEYE;
    return order > 2 ? FULL_OPENCV : order > 0 || p->p[0] != 0 || p->p[1] != 0 ? OPENCV : PINHOLE;
}
static void parameters_of(const tsr_pinhole *p, int model, double *v)
{
    for (int i = 0; models[model].parameters[i]; i++) {
        const char what = models[model].parameters[i];
        v[i] = what == 'x' ? p->fx : what == 'y' ? p->fy : what == 'c' ? p->cx : what == 'd' ? p->cy : what == 'p' ? p->p[0] : what == 'q' ? p->p[1] : p->k[what - '1'];
    }
}

static tsr_status check(const tsr_rig *rig)
{
    tsr_pinhole p;
    for (int64_t i = 0; i < rig->count; i++) {
        const tsr_rig_camera *c = &rig->entry[i].camera;
        const char *name = *c->image ? c->image : c->name;
        TSR_TRY(tsr_rig_pinhole("a COLMAP model", c, &p));
        if (strpbrk(name, "\n\r")) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera '%.100s': its image has a line end in its name", c->name);
    }
    return TSR_OK;
}

static void put(tsr_output *o, uint64_t value, int bytes)
{
    uint8_t b[8];
    for (int i = 0; i < bytes; i++) b[i] = (uint8_t)(value >> (8 * i));
    tsr_output_write(o, b, (size_t)bytes);
}
static void put_double(tsr_output *o, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    put(o, bits, 8);
}

static void write_camera(tsr_output *o, const tsr_rig *rig, int64_t i, int binary)
{
    tsr_pinhole p;
    double v[PARAMETERS_MOST] = { 0 };
    char t[32];
    if (tsr_rig_pinhole("a COLMAP model", &rig->entry[i].camera, &p) != TSR_OK) return; /* checked before */
    const int model = model_of(&p), count = (int)strlen(models[model].parameters);
    parameters_of(&p, model, v);
    if (binary) {
        put(o, (uint64_t)i + 1, 4);
        put(o, (uint64_t)model, 4);
        put(o, (uint64_t)p.width, 8);
        put(o, (uint64_t)p.height, 8);
        for (int k = 0; k < count; k++) put_double(o, v[k]);
        return;
    }
    tsr_output_printf(o, "%lld %s %d %d", (long long)i + 1, models[model].name, (int)p.width, (int)p.height);
    for (int k = 0; k < count; k++) tsr_output_printf(o, " %s", tsr_rig_number(v[k], t));
    tsr_output_printf(o, "\n");
}

/* Sights of camera i begin at *at: they are in the order of cameras. */
static void write_image(tsr_output *o, const tsr_rig *rig, int64_t i, int64_t *at, int binary)
{
    tsr_pinhole p;
    double q[7];
    char t[32];
    const tsr_rig_camera *c = &rig->entry[i].camera;
    const char *name = *c->image ? c->image : c->name;
    int64_t count = 0;
    if (tsr_rig_pinhole("a COLMAP model", c, &p) != TSR_OK) return;
    tsr_rig_to_quaternion(p.rotation, q);
    memcpy(q + 4, p.translation, sizeof p.translation);
    while (*at + count < rig->sights && rig->sight[*at + count].camera == i) count++;
    if (binary) {
        put(o, (uint64_t)i + 1, 4);
        for (int k = 0; k < 7; k++) put_double(o, q[k]);
        put(o, (uint64_t)i + 1, 4);
        tsr_output_write(o, name, strlen(name) + 1);
        put(o, (uint64_t)count, 8);
    } else {
        tsr_output_printf(o, "%lld", (long long)i + 1);
        for (int k = 0; k < 7; k++) tsr_output_printf(o, " %s", tsr_rig_number(q[k], t));
        tsr_output_printf(o, " %lld %s\n", (long long)i + 1, name);
    }
    for (int64_t k = *at; k < *at + count; k++) {
        const tsr_rig_sight *s = &rig->sight[k];
        if (binary) {
            put_double(o, (double)s->pixel[0]);
            put_double(o, (double)s->pixel[1]);
            put(o, (uint64_t)s->point + 1, 8);
        } else {
            tsr_output_printf(o, "%s%s", k > *at ? " " : "", tsr_rig_number((double)s->pixel[0], t));
            tsr_output_printf(o, " %s %d", tsr_rig_number((double)s->pixel[1], t), s->point + 1);
        }
    }
    if (!binary) tsr_output_printf(o, "\n");
    *at += count;
}

static void write_point(tsr_output *o, const tsr_rig *rig, int64_t i, int binary)
{
    const tsr_rig_point *p = &rig->point[i];
    char t[32];
    if (binary) {
        put(o, (uint64_t)i + 1, 8);
        for (int k = 0; k < 3; k++) put_double(o, p->position[k]);
        tsr_output_write(o, p->color, 3);
        put_double(o, (double)p->error);
        put(o, 0, 8);
        return;
    }
    tsr_output_printf(o, "%lld", (long long)i + 1);
    for (int k = 0; k < 3; k++) tsr_output_printf(o, " %s", tsr_rig_number(p->position[k], t));
    tsr_output_printf(o, " %d %d %d %s\n", p->color[0], p->color[1], p->color[2], tsr_rig_number((double)p->error, t));
}

static tsr_status write_one(const tsr_rig *rig, const char *path, int part, int binary, const tsr_write_options *options, tsr_output **output)
{
    static const char *const names[3] = { "cameras", "images", "points3D" };
    static const char *const heads[3] = { "# CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[]\n",
                                          "# IMAGE_ID, QW, QX, QY, QZ, TX, TY, TZ, CAMERA_ID, NAME\n# POINTS2D[] as (X, Y, POINT3D_ID)\n",
                                          "# POINT3D_ID, X, Y, Z, R, G, B, ERROR, TRACK[] as (IMAGE_ID, POINT2D_IDX)\n" };
    char name[32];
    tsr_print(name, sizeof name, "%s.%s", names[part], binary ? "bin" : "txt");
    char *file = tsr_rig_join(path, name);
    if (!file) TSR_FAIL(TSR_ERROR_MEMORY, "rig: out of host memory for a path");
    const tsr_status status = tsr_output_open(file, options, output);
    free(file);
    TSR_TRY(status);
    const int64_t count = part == 2 ? rig->points : rig->count;
    int64_t at = 0;
    if (binary) put(*output, (uint64_t)count, 8);
    else tsr_output_printf(*output, "%s", heads[part]);
    for (int64_t i = 0; i < count; i++) {
        if (part == 0) write_camera(*output, rig, i, binary);
        else if (part == 1) write_image(*output, rig, i, &at, binary);
        else write_point(*output, rig, i, binary);
    }
    return tsr_output_write(*output, "", 0);
}

static tsr_status write_model(const tsr_rig *rig, const char *path, const tsr_write_options *options, int binary)
{
    tsr_output *output[3] = { NULL, NULL, NULL };
    tsr_status status = TSR_OK;
    int clips = 0;
    if (mkdir(path, 0777) != 0 && errno != EEXIST) TSR_FAIL(TSR_ERROR_IO, "%.200s: %s", path, strerror(errno));
    for (int part = 0; part < 3 && status == TSR_OK; part++) status = write_one(rig, path, part, binary, options, &output[part]);
    for (int part = 2; part >= 0; part--) { /* cameras last: a reader takes them for the model */
        if (status == TSR_OK && output[part]) status = tsr_output_commit(&output[part]);
        else tsr_output_abort(&output[part]);
    }
    for (int64_t i = 0; i < rig->count; i++) clips |= *rig->entry[i].camera.depth || rig->entry[i].camera.camera.clip[1] != 0;
    if (status == TSR_OK && clips) tsr_remark("%.200s: clip distances and depth images have no place in a COLMAP model", path);
    return status;
}
static tsr_status write_text(const tsr_rig *rig, const char *path, const tsr_write_options *options) { return write_model(rig, path, options, 0); }
static tsr_status write_binary(const tsr_rig *rig, const char *path, const tsr_write_options *options) { return write_model(rig, path, options, 1); }

const tsr_rig_format tsr_rig_format_colmap = { .name = "colmap", .folder = 1, .read = read_binary_parts, .read_folder = read_binary, .write_folder = write_binary, .check = check };
const tsr_rig_format tsr_rig_format_colmap_text = {
    .name = "colmap-text", .folder = 1, .read = read_parts, .read_folder = read_text, .write_folder = write_text, .check = check
};
