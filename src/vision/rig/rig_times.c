/* vision/rig/rig_times.c: images of which each has a time become frames of cameras: D-NeRF's one camera that is elsewhere at every time, cameras that film together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vision/rig/rig.h"

enum { NUMBER_MOST = 1000000000 };

/* By what images belong to one camera. */
typedef enum rule {
    BY_SERIES, /* a path without the number at its end: cam0/0001.png, r_000.png */
    BY_FILE,   /* the name of the file: 0001/cam0.png, a folder for every time */
    BY_POSE    /* cameras that stand still */
} rule;

typedef struct picture {
    const char *camera; /* text of its key, not ended by 0 */
    size_t length;
    double time;
    int64_t entry, number; /* number: at the end of its name, -1 without one */
    int64_t step, who;     /* of all times, of all cameras, in their order */
    const tsr_rig_camera *of;
} picture;

static const char *end_of_stem(const char *image)
{
    const char *dot = strrchr(tsr_path_file(image), '.');
    return dot && dot > tsr_path_file(image) ? dot : image + strlen(image);
}

/* What an image's camera is known by, with the number that is not part of it. */
static void take_key(picture *p, rule by)
{
    const char *image = p->of->image, *file = tsr_path_file(image), *end = end_of_stem(image);
    while (image[0] == '.' && image[1] == '/') image += 2;
    if (file < image) file = image;
    p->camera = by == BY_FILE ? file : image;
    p->number = -1;
    if (by == BY_SERIES) {
        const char *digits = end;
        while (digits > file && digits[-1] >= '0' && digits[-1] <= '9') digits--;
        if (digits < end && end - digits < 10) p->number = strtoll(digits, NULL, 10);
        for (end = digits; end > file && strchr("_-. ", end[-1]);) end--;
        if (end == file && file > image) end = file - 1; /* a folder of numbered pictures */
    }
    p->length = (size_t)(end - p->camera);
}

static int by_key(const picture *x, const picture *y)
{
    const int order = memcmp(x->camera, y->camera, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}
static int by_pose(const picture *x, const picture *y)
{
    const tsr_rig_camera *a = x->of, *b = y->of;
    const int order = memcmp(a->camera.rotation, b->camera.rotation, sizeof a->camera.rotation);
    if (order) return order;
    if (a->width != b->width || a->height != b->height) return a->width != b->width ? a->width - b->width : a->height - b->height;
    return memcmp(&a->camera.position, &b->camera.position, sizeof a->camera.position);
}
static int by_time_then_entry(const picture *x, const picture *y)
{
    if (x->time < y->time || x->time > y->time) return x->time < y->time ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}
static int time_order(const void *a, const void *b) { return by_time_then_entry((const picture *)a, (const picture *)b); }
static int key_order(const void *a, const void *b)
{
    const int order = by_key((const picture *)a, (const picture *)b);
    return order ? order : by_time_then_entry((const picture *)a, (const picture *)b);
}
static int pose_order(const void *a, const void *b)
{
    const int order = by_pose((const picture *)a, (const picture *)b);
    return order ? order : by_time_then_entry((const picture *)a, (const picture *)b);
}

/* Sorted by camera and time. How many cameras there are; 0: two images of one have one time. */
static int64_t divide(picture *list, int64_t count, rule by)
{
    int64_t cameras = 0;
    for (int64_t i = 0; i < count; i++) take_key(&list[i], by);
    qsort(list, (size_t)count, sizeof *list, by == BY_POSE ? pose_order : key_order);
    for (int64_t i = 1; i < count; i++) {
        const int other = (by == BY_POSE ? by_pose(&list[i - 1], &list[i]) : by_key(&list[i - 1], &list[i])) != 0;
        if (!other && list[i - 1].step == list[i].step) return 0;
        list[i - 1].who = cameras;
        cameras += other;
    }
    list[count - 1].who = cameras++;
    return cameras;
}

/* The numbers of the pictures are those of the frames if they follow one another as their times do; else the first time is frame 0. */
static int64_t first_frame(const picture *list, int64_t count)
{
    const int64_t first = list[0].number - list[0].step;
    for (int64_t i = 0; i < count; i++)
        if (list[i].number < 0 || list[i].number - list[i].step != first || list[i].number > NUMBER_MOST) return 0;
    return first;
}

static const char *last_part(const picture *p, size_t *length)
{
    size_t from = p->length;
    while (from > 0 && p->camera[from - 1] != '/') from--;
    *length = p->length - from;
    return p->camera + from;
}

static int part_order(const void *a, const void *b)
{
    size_t n, m;
    const char *x = last_part(*(const picture *const *)a, &n), *y = last_part(*(const picture *const *)b, &m);
    const int order = memcmp(x, y, n < m ? n : m);
    return order ? order : (n > m) - (n < m);
}

/* Have two cameras the same last part of their keys? */
static tsr_status find_alike(const char *file, const picture *list, int64_t count, int64_t cameras, int *alike)
{
    const picture **one = (const picture **)malloc((size_t)cameras * sizeof *one);
    int64_t n = 0;
    if (!one) TSR_FAIL(TSR_ERROR_MEMORY, "%.200s: out of host memory for %lld cameras", file, (long long)cameras);
    for (int64_t i = 0; i < count; i++)
        if (!i || list[i].who != list[i - 1].who) one[n++] = &list[i];
    qsort(one, (size_t)n, sizeof *one, part_order);
    *alike = 0;
    for (int64_t i = 1; i < n; i++) *alike |= !part_order(&one[i - 1], &one[i]);
    free(one);
    return TSR_OK;
}

/* What a camera is called, by one of its images. */
static void name_of(const picture *p, rule by, int alike, char name[TSR_RIG_TEXT_MOST])
{
    size_t length = p->length;
    const char *text = alike ? p->camera : last_part(p, &length);
    if (by == BY_POSE) tsr_print(name, TSR_RIG_TEXT_MOST, "%s", p->of->name);
    else if (length) tsr_print(name, TSR_RIG_TEXT_MOST, "%.*s", (int)length, text);
    else tsr_print(name, TSR_RIG_TEXT_MOST, "camera%02lld", (long long)p->who);
}

/* The list is divided: names and frames for the rig. */
static tsr_status give(const char *file, tsr_rig *rig, const picture *list, int64_t count, rule by, int64_t cameras, int64_t times)
{
    char name[TSR_RIG_TEXT_MOST];
    const int64_t first = by == BY_SERIES ? first_frame(list, count) : 0;
    int alike = 0;
    if (by != BY_POSE) TSR_TRY(find_alike(file, list, count, cameras, &alike));
    for (int64_t i = 0; i < count; i++) {
        tsr_rig_camera c = *list[i].of;
        if (!i || list[i].who != list[i - 1].who) name_of(&list[i], by, alike, name);
        c.name = name;
        c.frame = (int32_t)(first + list[i].step);
        TSR_TRY(tsr_rig_set(rig, list[i].entry, &c));
    }
    tsr_rig_set_sequence(rig, (int32_t)first, (int32_t)(first + times - 1));
    if (cameras * times != count)
        tsr_remark("%.200s: its images are of %lld cameras at %lld times, but there are %lld of them: not every camera has every time", file,
                   (long long)cameras, (long long)times, (long long)count);
    return TSR_OK;
}

/* Sorts by time. How many times there are. */
static int64_t count_times(picture *list, int64_t count)
{
    int64_t times = 1;
    qsort(list, (size_t)count, sizeof *list, time_order);
    for (int64_t i = 1; i < count; i++) {
        times += list[i].time > list[i - 1].time;
        list[i].step = times - 1;
    }
    return times;
}

static tsr_status work(const char *file, tsr_rig *rig, picture *list)
{
    const int64_t count = rig->count;
    static const rule all[] = { BY_SERIES, BY_FILE, BY_POSE, BY_SERIES };
    for (int64_t i = 0; i < count; i++) list[i] = (picture){ .time = rig->entry[i].camera.time, .entry = i, .of = &rig->entry[i].camera };
    const int64_t times = count_times(list, count);
    if (times == 1) return TSR_OK;
    for (int k = 0; k < 4; k++) { /* every camera has every time; at last not even that */
        const int64_t cameras = divide(list, count, all[k]);
        if (!cameras || cameras == count || (k < 3 && cameras * times != count)) continue;
        TSR_TRY(give(file, rig, list, count, all[k], cameras, times));
        return TSR_OK;
    }
    tsr_remark("%.200s: %lld images at %lld times, but neither their names nor their poses say which are of one camera: each is a camera of its own, "
               "which keeps its time (expected names such as cam0/0001.png)",
               file, (long long)count, (long long)times);
    return TSR_OK;
}

tsr_status tsr_rig_take_times(const char *file, tsr_rig *rig, int64_t timed)
{
    if (!timed) return TSR_OK;
    if (timed < rig->count) {
        tsr_remark(
            "%.200s: %lld of %lld frames have a time: each is a camera of its own, those with a time keep it (expected a time for every frame)", file,
            (long long)timed, (long long)rig->count);
        return TSR_OK;
    }
    picture *list = (picture *)malloc((size_t)rig->count * sizeof *list);
    if (!list) TSR_FAIL(TSR_ERROR_MEMORY, "%.200s: out of host memory for %lld frames", file, (long long)rig->count);
    const tsr_status status = work(file, rig, list);
    free(list);
    TSR_TRY(status);
    return TSR_OK;
}

/* ---- numbers alone ------------------------------------------------------------------------------------------------------------------ */

/* "cam0/0001.png": pictures by number in a folder. */
static int is_numbered(const picture *p)
{
    const char *image = p->of->image, *file = tsr_path_file(image);
    return file > image && p->number >= 0 && p->of->frame == TSR_RIG_STATIC && !strchr(image, '%') &&
           strspn(file, "0123456789") == (size_t)(end_of_stem(image) - file);
}

/* The path of a numbered picture with %04d for its number. 0: too long. */
static int pattern_of(const tsr_rig_camera *c, char pattern[TSR_RIG_TEXT_MOST])
{
    const char *file = tsr_path_file(c->image), *end = end_of_stem(c->image);
    const int digits = (int)(end - file);
    const int length = digits > 1 ? snprintf(pattern, TSR_RIG_TEXT_MOST, "%.*s%%0%dd%s", (int)(file - c->image), c->image, digits, end)
                                  : snprintf(pattern, TSR_RIG_TEXT_MOST, "%.*s%%d%s", (int)(file - c->image), c->image, end);
    return length < TSR_RIG_TEXT_MOST;
}

/* One picture a folder, of the first step; those of the others lie beside it. */
static tsr_status take_folders(const char *file, tsr_rig *rig, const picture *list, int64_t first, int64_t steps)
{
    char pattern[TSR_RIG_TEXT_MOST], path[TSR_RIG_TEXT_MOST];
    int alike = 0;
    for (int64_t i = 0; i < rig->count; i++) {
        if (list[i].number != first || !pattern_of(list[i].of, pattern)) return TSR_OK;
        TSR_TRY(tsr_rig_fill_in(pattern, (int32_t)(first + steps - 1), path, sizeof path));
        if (!tsr_rig_exists(rig->folder, path)) return TSR_OK;
    }
    tsr_remark("%.200s: '%.200s' is one of numbered pictures: the camera is taken to have one for each of %lld steps, as the others have", file,
               list[0].of->image, (long long)steps);
    TSR_TRY(find_alike(file, list, rig->count, rig->count, &alike));
    for (int64_t i = 0; i < rig->count; i++) {
        tsr_rig_camera c = *list[i].of;
        (void)pattern_of(&c, pattern);
        name_of(&list[i], BY_SERIES, alike, path);
        c.name = path;
        c.image = pattern;
        TSR_TRY(tsr_rig_set(rig, list[i].entry, &c));
    }
    return TSR_OK;
}

static tsr_status take_numbers(const char *file, tsr_rig *rig, picture *list, int64_t first, int64_t steps)
{
    const int64_t count = rig->count;
    for (int64_t i = 0; i < count; i++) {
        list[i] = (picture){ .entry = i, .of = &rig->entry[i].camera };
        take_key(&list[i], BY_SERIES);
        if (!is_numbered(&list[i])) return TSR_OK;
        list[i].time = (double)list[i].number;
    }
    const int64_t times = count_times(list, count), last = list[count - 1].number, from = list[0].number;
    const int64_t cameras = divide(list, count, BY_SERIES);
    if (cameras == count) TSR_TRY(take_folders(file, rig, list, first, steps));
    else if (cameras > 1 && times == steps && cameras * times == count && last - from + 1 == steps) {
        tsr_remark("%.200s: its images, numbered in %lld folders, are taken for those of as many cameras at %lld steps", file, (long long)cameras,
                   (long long)steps);
        TSR_TRY(give(file, rig, list, count, BY_SERIES, cameras, times));
    }
    return TSR_OK;
}

tsr_status tsr_rig_take_numbers(const char *file, tsr_rig *rig, int64_t first, int64_t steps)
{
    if (steps < 2 || !rig->count) return TSR_OK;
    picture *list = (picture *)malloc((size_t)rig->count * sizeof *list);
    if (!list) TSR_FAIL(TSR_ERROR_MEMORY, "%.200s: out of host memory for %lld cameras", file, (long long)rig->count);
    const tsr_status status = take_numbers(file, rig, list, first, steps);
    free(list);
    TSR_TRY(status);
    return TSR_OK;
}
