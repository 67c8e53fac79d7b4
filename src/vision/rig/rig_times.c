/* vision/rig/rig_times.c: images of which each has a time become frames of cameras: D-NeRF's one camera that is elsewhere at every time, cameras that film together. */
#include <math.h>
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

/* Sorted by camera and time. How many cameras there are; 0: two images of one have one time, or all are cameras of their own. */
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
    return cameras < count ? cameras : 0;
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

/* The list is divided: names and frames for the rig. */
static tsr_status give(const char *file, tsr_rig *rig, const picture *list, int64_t count, rule by, int64_t cameras, int64_t times)
{
    char name[TSR_RIG_TEXT_MOST];
    const int64_t first = by == BY_SERIES ? first_frame(list, count) : 0;
    int alike = 0;
    if (by != BY_POSE) TSR_TRY(find_alike(file, list, count, cameras, &alike));
    for (int64_t i = 0; i < count; i++) {
        tsr_rig_camera c = *list[i].of;
        if (!i || list[i].who != list[i - 1].who) {
            size_t length = list[i].length;
            const char *text = alike ? list[i].camera : last_part(&list[i], &length);
            if (by == BY_POSE) tsr_print(name, sizeof name, "%s", c.name);
            else if (length) tsr_print(name, sizeof name, "%.*s", (int)length, text);
            else tsr_print(name, sizeof name, "camera%02lld", (long long)list[i].who);
        }
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

static tsr_status work(const char *file, tsr_rig *rig, picture *list)
{
    const int64_t count = rig->count;
    static const rule all[] = { BY_SERIES, BY_FILE, BY_POSE, BY_SERIES };
    int64_t times = 1;
    for (int64_t i = 0; i < count; i++) list[i] = (picture){ .time = rig->entry[i].camera.time, .entry = i, .of = &rig->entry[i].camera };
    qsort(list, (size_t)count, sizeof *list, time_order);
    for (int64_t i = 1; i < count; i++) {
        times += list[i].time > list[i - 1].time;
        list[i].step = times - 1;
    }
    if (times == 1) return TSR_OK;
    for (int k = 0; k < 4; k++) { /* every camera has every time; at last not even that */
        const int64_t cameras = divide(list, count, all[k]);
        if (!cameras || (k < 3 && cameras * times != count)) continue;
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
