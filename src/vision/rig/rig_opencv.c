/* vision/rig/rig_opencv.c: matrices of OpenCV's FileStorage, YAML or XML: camera_matrix and distortion_coefficients of one camera, M1 D1 M2 D2 R T of a stereo
 * pair, and with a number at the end of each name as many as there are. Pixels count from the centre of the first one; poses take the world to the camera. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/rig/rig.h"

enum { VALUES_MOST = 32, NAME_MOST = 48 };

typedef struct entry {
    char name[NAME_MOST];
    double value[VALUES_MOST];
    int count;
} entry;
typedef struct store {
    entry *entry;
    int64_t count, room;
} store;

static tsr_status keep(store *s, const char *name, size_t length, const double *value, int count)
{
    if (s->count == s->room) {
        const int64_t room = s->room ? 2 * s->room : 32;
        entry *grown = (entry *)realloc(s->entry, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "OpenCV file: out of host memory for %lld entries", (long long)room);
        s->entry = grown;
        s->room = room;
    }
    entry *e = &s->entry[s->count++];
    memset(e, 0, sizeof *e);
    if (length >= sizeof e->name) length = sizeof e->name - 1;
    for (size_t i = 0; i < length; i++) e->name[i] = (char)tolower((unsigned char)name[i]);
    memcpy(e->value, value, (size_t)count * sizeof *value);
    e->count = count;
    return TSR_OK;
}

static const entry *find(const store *s, const char *name)
{
    for (int64_t i = 0; i < s->count; i++)
        if (!strcmp(s->entry[i].name, name)) return &s->entry[i];
    return NULL;
}

/* Numbers divided by blanks, commas and line ends up to `stop`; returns where it ended. */
static const char *numbers(const char *p, const char *end, char stop, double *value, int *count)
{
    *count = 0;
    while (p < end && *p != stop) {
        if (isspace((unsigned char)*p) || *p == ',' || *p == '[') {
            p++;
            continue;
        }
        const char *from = p;
        double v;
        while (p < end && !isspace((unsigned char)*p) && *p != ',' && *p != stop) p++;
        tsr_word word = { from, (size_t)(p - from) };
        if (word.size > 1 && word.text[word.size - 1] == '.') word.size--; /* "640." */
        if (tsr_word_double(word, &v) != TSR_TEXT_OK) break;
        if (*count < VALUES_MOST) value[*count] = v;
        ++*count;
    }
    if (*count > VALUES_MOST) *count = VALUES_MOST;
    return p;
}

static const char *after(const char *p, const char *end, const char *what)
{
    const size_t length = strlen(what);
    for (; (size_t)(end - p) >= length; p++)
        if (!memcmp(p, what, length)) return p + length;
    return NULL;
}

/* name: number, or name: !!opencv-matrix ... data: [ ... ]; indented lines belong to the name before. */
static tsr_status read_yaml(store *s, tsr_text text)
{
    tsr_text line;
    const char *name = NULL;
    size_t length = 0;
    while (tsr_text_line(&text, &line)) {
        const char *p = line.at, *colon = (const char *)memchr(line.at, ':', (size_t)(line.end - line.at));
        double value[VALUES_MOST];
        int count;
        if (p == line.end || *p == '%' || *p == '#' || !colon) continue;
        if (!isspace((unsigned char)*p)) {
            name = p;
            length = (size_t)(colon - p);
            while (length && isspace((unsigned char)name[length - 1])) length--;
            numbers(colon + 1, line.end, '\n', value, &count);
            if (count) TSR_TRY(keep(s, name, length, value, count));
            continue;
        }
        const char *data = after(line.at, line.end, "data:");
        if (!data || !name) continue;
        const char *from = (const char *)memchr(data, '[', (size_t)(text.end - data));
        if (!from) continue;
        const char *stop = numbers(from + 1, text.end, ']', value, &count);
        TSR_TRY(keep(s, name, length, value, count));
        if (stop > text.at) text.at = stop; /* lines are not counted for messages here */
    }
    return TSR_OK;
}

/* <name type_id="opencv-matrix"> ... <data> ... </data> or <name>number</name>. */
static tsr_status read_xml(store *s, tsr_text text)
{
    const char *name = NULL;
    size_t length = 0;
    for (const char *p = text.at; p && p < text.end;) {
        p = (const char *)memchr(p, '<', (size_t)(text.end - p));
        if (!p) break;
        const char *from = ++p;
        while (p < text.end && *p != '>') p++;
        if (p >= text.end) break;
        size_t size = (size_t)(p - from);
        for (size_t i = 0; i < size; i++)
            if (isspace((unsigned char)from[i])) size = i;
        double value[VALUES_MOST];
        int count;
        p++;
        if (!size || *from == '/' || *from == '?' || *from == '!') continue;
        numbers(p, text.end, '<', value, &count);
        const int data = size == 4 && !memcmp(from, "data", 4);
        if (data && name) TSR_TRY(keep(s, name, length, value, count));
        else if (!(size == 4 && (!memcmp(from, "rows", 4) || !memcmp(from, "cols", 4))) && !(size == 2 && !memcmp(from, "dt", 2))) {
            name = from;
            length = size;
            if (count) TSR_TRY(keep(s, name, length, value, count));
        }
    }
    return TSR_OK;
}

/* A matrix of camera `number` (0 = without number) under the names people use. */
static const entry *matrix(const store *s, const char *const *names, int number, int count)
{
    for (; *names; names++) {
        char name[NAME_MOST];
        if (number < 0) tsr_print(name, sizeof name, "%s", *names);
        else tsr_print(name, sizeof name, "%s%d", *names, number);
        const entry *e = find(s, name);
        if (e && (e->count == count || (!count && e->count > 0))) return e;
    }
    return NULL;
}
static const char *const k_names[] = { "camera_matrix", "camera_matrix_", "cameramatrix", "cameramatrix_", "intrinsics", "intrinsic_matrix", "k", "m", "cm", "mtx", "k_", NULL };
static const char *const d_names[] = { "distortion_coefficients", "distortion_coefficients_", "distcoeffs", "distcoeffs_", "dist", "d", "distortion", NULL };
static const char *const r_names[] = { "rotation", "rotation_", NULL };
static const char *const t_names[] = { "translation", "translation_", NULL };

static tsr_status size_of(const store *s, const char *file, int number, const tsr_rig_read_options *o, tsr_pinhole *p)
{
    static const char *const w[] = { "image_width", "image_width_", "width", "imagewidth", NULL }, *const h[] = { "image_height", "image_height_", "height", "imageheight", NULL };
    static const char *const both[] = { "image_size", "imagesize", "size", "image_size_", NULL };
    double width = o->width, height = o->height;
    const entry *a = matrix(s, w, number, 1), *b = matrix(s, h, number, 1), *c = matrix(s, both, number, 2);
    if (!a && number >= 0) {
        a = matrix(s, w, -1, 1);
        b = matrix(s, h, -1, 1);
        c = c ? c : matrix(s, both, -1, 2);
    }
    if (a && b) {
        width = a->value[0];
        height = b->value[0];
    } else if (c) {
        width = c->value[0];
        height = c->value[1];
    } else if (!o->width) {
        width = ceil(2 * p->cx);
        height = ceil(2 * p->cy);
        tsr_remark("%.200s: no image size: the axis is taken for the middle (%g x %g); give the size if it is another", file, width, height);
    }
    if (!(width >= 1 && width <= 1e6 && height >= 1 && height <= 1e6)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: images of %g x %g pixels, expected 1 to 10^6", file, width, height);
    p->width = (int32_t)width;
    p->height = (int32_t)height;
    return TSR_OK;
}

static tsr_status take(const store *s, const char *file, int number, const tsr_rig_read_options *o, tsr_rig *rig)
{
    const entry *k = matrix(s, k_names, number, 9), *d = matrix(s, d_names, number, 0), *r = matrix(s, r_names, number, 9), *t = matrix(s, t_names, number, 3);
    const entry *fish = find(s, "fisheye_model");
    tsr_pinhole p = { .fx = k->value[0], .fy = k->value[4], .cx = k->value[2] + 0.5, .cy = k->value[5] + 0.5, .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
    static const int place[8] = { 0, 1, -1, -2, 2, 3, 4, 5 }; /* k1 k2 p1 p2 k3 k4 k5 k6 */
    char name[32];
    TSR_TRY(size_of(s, file, number, o, &p));
    p.fisheye = fish && fish->value[0] != 0;
    for (int i = 0; d && i < d->count && i < 14; i++) {
        if (i >= 8 && d->value[i] != 0) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%.200s: distortion coefficient %d (thin prism, tilt) is %g, expected at most 8 of them", file, i, d->value[i]);
        if (i >= 8) continue;
        if (p.fisheye) p.k[i < 4 ? i : 0] += i < 4 ? d->value[i] : 0;
        else if (place[i] >= 0) p.k[place[i]] = d->value[i];
        else p.p[-place[i] - 1] = d->value[i];
    }
    const entry *pair_r = number == 2 ? find(s, "r") : NULL, *pair_t = number == 2 ? find(s, "t") : NULL;
    if (!r && pair_r && pair_r->count == 9) r = pair_r;
    if (!t && pair_t && pair_t->count == 3) t = pair_t;
    if (r) memcpy(p.rotation, r->value, sizeof p.rotation);
    if (t) memcpy(p.translation, t->value, sizeof p.translation);
    tsr_print(name, sizeof name, "camera%02d", number < 0 ? 0 : number);
    TSR_TRY(tsr_rig_rotation(file, name, p.rotation));
    tsr_rig_camera c = { .name = name, .width = p.width, .height = p.height, .frame = TSR_RIG_STATIC };
    if (tsr_camera_from_pinhole(&p, &c.camera) != TSR_OK) {
        char why[300];
        tsr_print(why, sizeof why, "%s", tsr_error_message());
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: %s: %s", file, name, why);
    }
    TSR_TRY(tsr_rig_add(rig, &c));
    return TSR_OK;
}

static tsr_status take_all(const store *s, const char *file, const tsr_rig_read_options *o, tsr_rig *rig)
{
    if (matrix(s, k_names, -1, 9)) TSR_TRY(take(s, file, -1, o, rig));
    for (int n = 0; n < 4096; n++)
        if (matrix(s, k_names, n, 9)) TSR_TRY(take(s, file, n, o, rig));
        else if (n > 1 && rig->count) break;
    if (!rig->count) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: no camera_matrix of 3 x 3 numbers", file);
    return TSR_OK;
}

static int is_xml(const uint8_t *head, size_t size) { return size > 5 && after((const char *)head, (const char *)head + (size < 64 ? size : 64), "<?xml") != NULL; }

static int recognise(const uint8_t *head, size_t size, const char *path)
{
    const char *text = (const char *)head;
    (void)path;
    if (is_xml(head, size)) return after(text, text + size, "opencv") ? 2 : 0;
    if (size >= 5 && !memcmp(head, "%YAML", 5)) return 2;
    return after(text, text + size, "!!opencv-matrix") ? 2 : 0;
}

static tsr_status read(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *options, tsr_rig *rig)
{
    store s = { NULL, 0, 0 };
    const tsr_text text = tsr_text_make(bytes, size);
    tsr_status status = is_xml(bytes, size) ? read_xml(&s, text) : read_yaml(&s, text);
    if (status == TSR_OK) status = take_all(&s, file, options, rig);
    free(s.entry);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------------------------------------------------- */

static tsr_status check(const tsr_rig *rig)
{
    tsr_pinhole p;
    int fisheye = -1;
    if (rig->count > 4096) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%lld cameras, expected at most 4096 in an OpenCV file", (long long)rig->count);
    for (int64_t i = 0; i < rig->count; i++) {
        TSR_TRY(tsr_rig_pinhole("an OpenCV file", &rig->entry[i].camera, &p));
        if (fisheye >= 0 && fisheye != p.fisheye) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "fish-eyes and other lenses in one rig, which an OpenCV file cannot hold");
        fisheye = p.fisheye;
    }
    return TSR_OK;
}

static void put_scalar(tsr_output *o, int xml, const char *name, const char *tail, int value)
{
    if (xml) tsr_output_printf(o, "<%s%s>%d</%s%s>\n", name, tail, value, name, tail);
    else tsr_output_printf(o, "%s%s: %d\n", name, tail, value);
}
static void put_matrix(tsr_output *o, int xml, const char *name, const char *tail, int rows, int columns, const double *value)
{
    char t[32];
    if (xml) tsr_output_printf(o, "<%s%s type_id=\"opencv-matrix\">\n  <rows>%d</rows>\n  <cols>%d</cols>\n  <dt>d</dt>\n  <data>\n   ", name, tail, rows, columns);
    else tsr_output_printf(o, "%s%s: !!opencv-matrix\n   rows: %d\n   cols: %d\n   dt: d\n   data: [", name, tail, rows, columns);
    for (int i = 0; i < rows * columns; i++) tsr_output_printf(o, "%s%s", i ? xml ? " " : ", " : " ", tsr_rig_number(value[i], t));
    if (xml) tsr_output_printf(o, "</data></%s%s>\n", name, tail);
    else tsr_output_printf(o, " ]\n");
}

static tsr_status write(const tsr_rig *rig, tsr_output *o, const char *path)
{
    const int xml = tsr_path_has_extension(path, ".xml");
    tsr_output_printf(o, "%s", xml ? "<?xml version=\"1.0\"?>\n<opencv_storage>\n" : "%YAML:1.0\n---\n");
    for (int64_t i = 0; i < rig->count; i++) {
        tsr_pinhole p;
        char tail[24] = "";
        TSR_TRY(tsr_rig_pinhole("an OpenCV file", &rig->entry[i].camera, &p));
        if (rig->count > 1) tsr_print(tail, sizeof tail, "_%lld", (long long)i);
        if (!i && p.fisheye) put_scalar(o, xml, "fisheye_model", "", 1);
        const double k[9] = { p.fx, 0, p.cx - 0.5, 0, p.fy, p.cy - 0.5, 0, 0, 1 };
        const double d[8] = { p.k[0], p.k[1], p.p[0], p.p[1], p.k[2], p.k[3], p.k[4], p.k[5] };
        const int rational = p.k[3] != 0 || p.k[4] != 0 || p.k[5] != 0;
        put_scalar(o, xml, "image_width", tail, p.width);
        put_scalar(o, xml, "image_height", tail, p.height);
        put_matrix(o, xml, "camera_matrix", tail, 3, 3, k);
        put_matrix(o, xml, "distortion_coefficients", tail, 1, p.fisheye ? 4 : rational ? 8 : 5, p.fisheye ? p.k : d);
        put_matrix(o, xml, "rotation", tail, 3, 3, p.rotation[0]);
        put_matrix(o, xml, "translation", tail, 3, 1, p.translation);
    }
    return tsr_output_printf(o, "%s", xml ? "</opencv_storage>\n" : "");
}

const tsr_rig_format tsr_rig_format_opencv = { .name = "opencv", .extension = ".yml", .recognise = recognise, .read = read, .write = write, .check = check };
