/* viewer/solver_labels.c: several regions of one image. A voxel has one label or none; the surface is the region of the active label, the others rest as
 * voxels. Who makes another label active puts the surface among the voxels and takes the other region up as a surface. */
#include "solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double colours[][3] = { { 0.95, 0.76, 0.19 }, { 0.30, 0.69, 0.96 }, { 0.93, 0.35, 0.35 }, { 0.42, 0.80, 0.44 }, { 0.74, 0.52, 0.95 },
                                     { 0.98, 0.57, 0.20 }, { 0.25, 0.78, 0.74 }, { 0.95, 0.52, 0.75 }, { 0.72, 0.62, 0.42 }, { 0.60, 0.72, 0.20 } };
enum { COLOURS = sizeof colours / sizeof *colours };

/* ---- the list, with the lock held ------------------------------------------------------------------------------------------------------------------ */

static viewer_label *find(viewer_session *s, int32_t value)
{
    for (int i = 0; i < s->label_count; i++)
        if (s->label[i].value == value) return &s->label[i];
    return NULL;
}

/* In ascending order of the values; NULL where there are as many as can be. */
static viewer_label *add(viewer_session *s, int32_t value)
{
    int at = 0;
    if (s->label_count == VIEWER_LABELS_MOST) return NULL;
    while (at < s->label_count && s->label[at].value < value) at++;
    memmove(s->label + at + 1, s->label + at, (size_t)(s->label_count++ - at) * sizeof *s->label);
    viewer_label *label = &s->label[at];
    *label = (viewer_label){ .value = value };
    snprintf(label->name, sizeof label->name, "Label %d", (int)value);
    memcpy(label->colour, colours[(value - 1) % COLOURS], sizeof label->colour);
    return label;
}

static void show_active(viewer_session *s, int32_t value)
{
    const viewer_label *label = find(s, value);
    s->label_active = value;
    if (label) memcpy(s->colour, label->colour, sizeof s->colour);
}

/* ---- voxels ------------------------------------------------------------------------------------------------------------------------------------------ */

static int64_t voxels_of(const struct solver *o) { return o->image->size.x * o->image->size.y * o->image->size.z; }

/* A map of the solver's own, with what is in the current one; it is shown by `publish`. */
static viewer_label_map *copy_map(const struct solver *o)
{
    const size_t n = (size_t)voxels_of(o);
    viewer_label_map *map = (viewer_label_map *)calloc(1, sizeof *map + n);
    if (map) map->references = 1;
    if (map && o->s->labels) memcpy(map->voxel, o->s->labels->voxel, n); /* nobody changes that one */
    return map;
}

static void publish(struct solver *o, viewer_label_map *map)
{
    viewer_session *s = o->s;
    int64_t counts[VIEWER_LARGEST_LABEL + 1] = { 0 };
    for (int64_t i = 0, n = voxels_of(o); map && i < n; i++) counts[map->voxel[i]]++;
    pthread_mutex_lock(&s->lock);
    viewer_label_map *before = s->labels;
    s->labels = map;
    s->labels_version++;
    for (int i = 0; i < s->label_count; i++) s->label[i].voxels = counts[s->label[i].value];
    viewer_session_touch(s, VIEWER_VIEWS, o->input);
    pthread_cond_signal(&s->to_painter);
    viewer_session_changed(s);
    pthread_mutex_unlock(&s->lock);
    viewer_labels_release(s, &before);
}

/* The inside of the surface becomes the voxels of the active label, whatever label they had. RETURNS NEW in *map. */
static tsr_status with_surface(struct solver *o, viewer_label_map **map)
{
    tsr_volume *mask = NULL, *host = NULL;
    const int32_t active = o->s->label_active; /* of this thread */
    *map = copy_map(o);
    if (!*map) return TSR_ERROR_MEMORY;
    tsr_status status = tsr_segmentation_mask(o->segmentation, &mask);
    if (status == TSR_OK) status = tsr_volume_copy(mask, NULL, &host);
    const uint8_t *inside = status == TSR_OK ? (const uint8_t *)tsr_volume_data_const(host) : NULL;
    for (int64_t i = 0, n = voxels_of(o); inside && i < n; i++) {
        uint8_t *label = &(*map)->voxel[i];
        if (inside[i]) *label = (uint8_t)active;
        else if (*label == active) *label = 0;
    }
    tsr_volume_destroy(&mask);
    tsr_volume_destroy(&host);
    if (status != TSR_OK) {
        free(*map);
        *map = NULL;
    }
    return status;
}

/* The voxels of a label become the surface of a new segmentation; undo ends here. */
static tsr_status take_up(struct solver *o, int32_t value)
{
    tsr_volume *mask = NULL, *there = NULL;
    char note[100];
    int64_t count = 0;
    tsr_status status = solver_reset(o) ? TSR_ERROR_INTERNAL : TSR_OK;
    solver_forget(&o->before);
    solver_forget(&o->after);
    if (status == TSR_OK && o->s->labels) status = tsr_volume_create(NULL, TSR_U8, o->image->size, &o->image->geometry, &mask);
    for (int64_t i = 0, n = voxels_of(o); mask && i < n; i++)
        count += ((uint8_t *)tsr_volume_data(mask))[i] = (uint8_t)(o->s->labels->voxel[i] == value);
    if (status == TSR_OK && count) {
        status = tsr_volume_copy(mask, o->context, &there);
        if (status == TSR_OK) status = tsr_segmentation_from_mask(o->segmentation, there);
        snprintf(note, sizeof note, "the voxels of label %d are where this begins: tessera segment --from-mask", (int)value);
        if (status == TSR_OK) status = tsr_segmentation_note(o->segmentation, note);
    }
    tsr_volume_destroy(&mask);
    tsr_volume_destroy(&there);
    o->state.unsaved = 1;
    o->surface_dirty = o->speed_dirty = 1;
    o->settling.step = -1;
    solver_measure(o);
    return status;
}

/* ---- what pages ask for --------------------------------------------------------------------------------------------------------------------------------- */

void solver_forget_labels(struct solver *o)
{
    viewer_session *s = o->s;
    if (!s->label_count && !s->labels) return; /* of this thread */
    pthread_mutex_lock(&s->lock);
    s->label_count = 0;
    s->label_active = 0;
    pthread_mutex_unlock(&s->lock);
    publish(o, NULL);
}

static tsr_status activate(struct solver *o, int32_t value)
{
    viewer_session *s = o->s;
    viewer_label_map *map = NULL;
    if (value == s->label_active) return TSR_OK;
    o->state.running = 0;
    tsr_status status = with_surface(o, &map);
    if (status != TSR_OK) return status;
    pthread_mutex_lock(&s->lock);
    show_active(s, value);
    pthread_mutex_unlock(&s->lock);
    publish(o, map);
    return take_up(o, value);
}

static tsr_status take_away(struct solver *o, int32_t value)
{
    viewer_session *s = o->s;
    viewer_label_map *map = copy_map(o);
    const int active = value == s->label_active;
    if (!map) return TSR_ERROR_MEMORY;
    for (int64_t i = 0, n = voxels_of(o); i < n; i++)
        if (map->voxel[i] == value) map->voxel[i] = 0;
    pthread_mutex_lock(&s->lock);
    viewer_label *label = find(s, value);
    if (label) memmove(label, label + 1, (size_t)(s->label + s->label_count-- - label - 1) * sizeof *label);
    if (active) show_active(s, s->label_count ? s->label[0].value : 0);
    pthread_mutex_unlock(&s->lock);
    publish(o, map);
    return active ? take_up(o, s->label_active) : TSR_OK;
}

tsr_status solver_label(struct solver *o, const viewer_command *c)
{
    viewer_session *s = o->s;
    if (c->remove) return take_away(o, c->label);
    pthread_mutex_lock(&s->lock);
    if (!s->label_count) { /* what is there already is the first */
        add(s, 1);
        show_active(s, 1);
    }
    viewer_label *label = find(s, c->label);
    if (!label) label = add(s, c->label);
    if (label && viewer_given(c, VIEWER_NAME)) snprintf(label->name, sizeof label->name, "%.63s", c->name);
    if (label && viewer_given(c, VIEWER_COLOUR)) memcpy(label->colour, c->colour, sizeof label->colour);
    if (label && viewer_given(c, VIEWER_VISIBLE)) label->hidden = !c->visible;
    show_active(s, s->label_active); /* its colour may be another */
    viewer_session_touch(s, VIEWER_VIEWS, (uint32_t)c->input);
    pthread_cond_signal(&s->to_painter);
    viewer_session_changed(s);
    pthread_mutex_unlock(&s->lock);
    if (!label) {
        viewer_session_tell(s, "error", "%d labels are there, more cannot be", VIEWER_LABELS_MOST);
        return TSR_OK;
    }
    return c->active ? activate(o, c->label) : TSR_OK;
}

/* ---- files ----------------------------------------------------------------------------------------------------------------------------------------------- */

/* "NAME.txt" beside a label volume: names, and colours as ITK-SNAP and FreeSurfer write them. Where there is none, names of the header. */
static void read_names(struct solver *o, const char *name, const viewer_image *image)
{
    viewer_session *s = o->s;
    char beside[VIEWER_NAME_BYTES + 8], error[512] = "";
    snprintf(beside, sizeof beside, "%s", name);
    beside[strcspn(beside, ".")] = 0;
    strcat(beside, ".txt");
    char *text = strlen(beside) < VIEWER_NAME_BYTES ? viewer_read_script(s, beside, error, sizeof error) : NULL;
    tsr_label_names *names = NULL;
    tsr_status status = text ? tsr_label_names_parse(text, beside, &names) : tsr_label_names_of_volume(image->volume, &names);
    if (status != TSR_OK) viewer_session_tell(s, "warning", "%s", tsr_error_message());
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->label_count; i++) {
        const char *own = tsr_label_name(names, s->label[i].value);
        if (!own) continue;
        snprintf(s->label[i].name, sizeof s->label[i].name, "%s", own);
        viewer_make_utf8(s->label[i].name);
    }
    for (const char *line = text; status == TSR_OK && line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        int value, rgb[3];
        viewer_label *label;
        if (sscanf(line, "%d %d %d %d", &value, &rgb[0], &rgb[1], &rgb[2]) != 4 || !(label = find(s, value))) continue;
        for (int k = 0; k < 3; k++) label->colour[k] = rgb[k] < 0 ? 0 : rgb[k] > 255 ? 1 : rgb[k] / 255.0;
    }
    pthread_mutex_unlock(&s->lock);
    tsr_label_names_destroy(&names);
    free(text);
}

static int fits(const struct solver *o, const viewer_image *image, char *error, size_t error_bytes)
{
    const tsr_size3 a = image->size, b = o->image->size;
    if (a.x == b.x && a.y == b.y && a.z == b.z) return 1;
    snprintf(error, error_bytes, "%s: has %lld x %lld x %lld voxels, expected those of the image, %lld x %lld x %lld", image->name, (long long)a.x,
             (long long)a.y, (long long)a.z, (long long)b.x, (long long)b.y, (long long)b.z);
    return 0;
}

/* Labels of the list, or -1 with a message. */
static int take_list(struct solver *o, const viewer_image *image, const tsr_label *labels, int32_t count, char *error, size_t error_bytes)
{
    viewer_session *s = o->s;
    if (count < 1 || count > VIEWER_LABELS_MOST || labels[0].value < 1 || labels[count - 1].value > VIEWER_LARGEST_LABEL) {
        snprintf(error, error_bytes, "%s: has %d labels from %lld to %lld, expected 1 to %d from 1 to %d", image->name, (int)count,
                 count ? (long long)labels[0].value : 0, count ? (long long)labels[count - 1].value : 0, VIEWER_LABELS_MOST, VIEWER_LARGEST_LABEL);
        return -1;
    }
    pthread_mutex_lock(&s->lock);
    s->label_count = 0;
    for (int32_t i = 0; i < count; i++) add(s, (int32_t)labels[i].value);
    pthread_mutex_unlock(&s->lock);
    return 0;
}

void solver_load_labels(struct solver *o, const char *name)
{
    viewer_session *s = o->s;
    char error[512] = "";
    viewer_image *image = NULL;
    tsr_context *context = NULL;
    tsr_label *labels = NULL;
    tsr_volume *bytes = NULL;
    viewer_label_map *map = NULL;
    int32_t count = 0;
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = "cpu";
    options.threads = s->threads;
    if (!o->image) snprintf(error, sizeof error, "%s: load an image before labels of it", name);
    else if (viewer_load_image(s, name, &image, error, sizeof error) || !fits(o, image, error, sizeof error)) {
    } else if (tsr_context_create(&options, &context) != TSR_OK || tsr_labels_count(context, image->volume, 0, &labels, &count) != TSR_OK) {
        char words[400];
        viewer_take_message(s, words, sizeof words);
        snprintf(error, sizeof error, "%.100s: %s", name, words);
    } else if (take_list(o, image, labels, count, error, sizeof error)) {
    } else if (tsr_volume_convert(context, image->volume, TSR_U8, &bytes) != TSR_OK ||
               !(map = (viewer_label_map *)calloc(1, sizeof *map + (size_t)voxels_of(o)))) {
        viewer_take_message(s, error, sizeof error);
        solver_forget_labels(o);
    } else {
        map->references = 1;
        memcpy(map->voxel, tsr_volume_data_const(bytes), (size_t)voxels_of(o));
        read_names(o, name, image);
        pthread_mutex_lock(&s->lock);
        show_active(s, s->label[0].value);
        pthread_mutex_unlock(&s->lock);
        publish(o, map);
        if (take_up(o, s->label_active) != TSR_OK) viewer_take_message(s, error, sizeof error);
        o->state.unsaved = 0;
    }
    if (*error) viewer_session_tell(s, "error", "%s", error);
    tsr_volume_destroy(&bytes);
    tsr_labels_destroy(&labels);
    tsr_context_destroy(&context);
    viewer_image_release(s, &image);
}

/* "NAME" and its names and colours in "NAME.txt", as ITK-SNAP reads them. */
tsr_status solver_save_labels(struct solver *o, const viewer_command *c, char *error, size_t error_bytes)
{
    viewer_session *s = o->s;
    viewer_label_map *map = NULL;
    tsr_volume *volume = NULL;
    viewer_command names = *c;
    char text[VIEWER_LABELS_MOST * 128 + 256];
    int at = snprintf(text, sizeof text, "# number, red, green, blue, opacity, shown, in 3-D, \"name\"\n0 0 0 0 0 0 0 \"Clear Label\"\n");
    *error = 0;
    if (!s->label_count) {
        snprintf(error, error_bytes, "%s: not saved: there are no labels; make one first", c->name);
        return TSR_OK;
    }
    tsr_status status = with_surface(o, &map);
    if (status != TSR_OK) return status;
    publish(o, map);
    if (viewer_save_labels(s, map->voxel, o->image, c, error, error_bytes)) return TSR_OK;
    for (int i = 0; i < s->label_count; i++) {
        const viewer_label *l = &s->label[i];
        at += snprintf(text + at, sizeof text - (size_t)at, "%d %d %d %d 1 %d %d \"%s\"\n", (int)l->value, (int)(255 * l->colour[0] + 0.5),
                       (int)(255 * l->colour[1] + 0.5), (int)(255 * l->colour[2] + 0.5), !l->hidden, !l->hidden, l->name);
    }
    names.name[strcspn(names.name, ".")] = 0;
    names.what = VIEWER_SAVE_SESSION;
    if (strlen(names.name) + 5 < sizeof names.name) strcat(names.name, ".txt");
    tsr_volume_destroy(&volume);
    if (!viewer_save_text(s, text, &names, error, error_bytes)) viewer_session_tell(s, "saved", "%s", names.name);
    return TSR_OK;
}

/* ---- the second image --------------------------------------------------------------------------------------------------------------------------------------- */

void solver_load_overlay(struct solver *o, const char *name)
{
    viewer_session *s = o->s;
    char error[512] = "";
    viewer_image *image = NULL;
    tsr_volume *on_device = NULL;
    if (viewer_load_image(s, name, &image, error, sizeof error)) {
        viewer_session_tell(s, "error", "%s", error);
        return;
    }
    if (o->image && image->geometry.space != o->image->geometry.space && image->geometry.space != TSR_SPACE_NONE &&
        o->image->geometry.space != TSR_SPACE_NONE)
        viewer_session_tell(s, "warning", "%s: its world axes are others than those of %s: it may lie in another place", name, o->image->name);
    tsr_status status = tsr_volume_copy(image->volume, o->context, &on_device);
    if (status != TSR_OK || viewer_image_describe(o->context, image, on_device)) {
        viewer_session_tell(s, "error", "%s", tsr_error_message());
    } else {
        pthread_mutex_lock(&s->lock);
        viewer_image *before = s->overlay;
        s->overlay = image;
        image = before;
        s->overlay_version++;
        s->over = VIEWER_OVER_IMAGE;
        viewer_session_touch(s, VIEWER_VIEWS, o->input);
        pthread_cond_signal(&s->to_painter);
        viewer_session_changed(s);
        pthread_mutex_unlock(&s->lock);
    }
    tsr_volume_destroy(&on_device);
    viewer_image_release(s, &image);
}
