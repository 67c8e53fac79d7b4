/* All pictures of a file or a folder. */
#define _DEFAULT_SOURCE
#include "formats/dicom/dicom.h"

#include "core/parallel.h"
#include "io/signatures.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_MOST = 8, FILES_MOST = 1 << 20 };

/* One file, read by any thread. */
typedef struct job {
    tsr_dicom_file file;
    tsr_dicom_frames frames;
    tsr_status status;
    int skipped;
} job;

typedef struct walk {
    const tsr_input *input;
    char **path;
    int64_t count, room;
    job *jobs;
} walk;

static tsr_status add_path(walk *w, const char *path)
{
    if (w->count == FILES_MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a folder of more than %d files", tsr_input_name(w->input), FILES_MOST);
    if (w->count == w->room) {
        const int64_t room = w->room ? 2 * w->room : 256;
        char **grown = (char **)realloc(w->path, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the names of files", tsr_input_name(w->input));
        w->path = grown;
        w->room = room;
    }
    w->path[w->count] = strdup(path);
    if (!w->path[w->count]) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the names of files", tsr_input_name(w->input));
    w->count++;
    return TSR_OK;
}

static tsr_status walk_folder(walk *w, const char *folder, int depth)
{
    const int stay = tsr_input_settings(w->input)->same_folder;
    char path[PATH_MAX];
    DIR *open = opendir(folder);
    tsr_status status = TSR_OK;
    for (struct dirent *e; open && status == TSR_OK && (e = readdir(open));) {
        struct stat about;
        if (e->d_name[0] == '.' || !strcmp(e->d_name, "DICOMDIR")) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path) continue;
        if ((stay ? lstat(path, &about) : stat(path, &about))) continue;
        if (S_ISREG(about.st_mode)) status = add_path(w, path);
        else if (S_ISDIR(about.st_mode) && !stay && depth < DEPTH_MOST) status = walk_folder(w, path, depth + 1);
    }
    if (open) closedir(open);
    return status;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int64_t limit_of(const tsr_input *input)
{
    const int64_t limit = tsr_input_settings(input)->memory_limit;
    return limit ? limit : tsr_physical_memory();
}

/* `must`: it is the input itself, not one file of a folder, which may be anything. */
static tsr_status read_one(tsr_input *input, const char *path, int must, job *j)
{
    const uint8_t *bytes;
    size_t size;
    tsr_dicom_data data;
    j->skipped = 1;
    TSR_TRY(tsr_input_all(input, &bytes, &size));
    if (!must && tsr_signature_is_dicom(bytes, size) < 2) return TSR_OK;
    TSR_TRY(tsr_dicom_parse(tsr_input_name(input), bytes, (int64_t)size, limit_of(input), &data));
    tsr_status status = tsr_dicom_file_read(&data, 0, &j->file, &j->frames, &j->skipped);
    if (status == TSR_OK && j->skipped && must)
        status = TSR_FAILED(TSR_ERROR_UNSUPPORTED, "%s: a DICOM file without pixels (a report, a plan, contours ...)", data.name);
    tsr_dicom_free(&data);
    if (path && status == TSR_OK && !j->skipped) {
        j->file.path = strdup(path);
        if (!j->file.path) status = TSR_FAILED(TSR_ERROR_MEMORY, "%s: out of memory", path);
    }
    return status;
}

static tsr_status read_path(const walk *w, int64_t k, job *j)
{
    tsr_input_options settings = *tsr_input_settings(w->input);
    tsr_input *input = NULL;
    settings.place = NULL;
    settings.progress = NULL;
    settings.regular_only = 1;
    TSR_TRY(tsr_input_open(w->path[k], &settings, &input));
    const tsr_status status = read_one(input, w->path[k], 0, j);
    tsr_input_close(&input);
    return status;
}

static void read_paths(void *user, int64_t begin, int64_t end, int worker)
{
    walk *w = (walk *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++) w->jobs[k].status = read_path(w, k, &w->jobs[k]);
}

static void job_free(job *j)
{
    tsr_dicom_file_free(&j->file);
    free(j->frames.at);
    *j = (job){ 0 };
}

/* The jobs' files and pictures become the study's. */
static tsr_status merge(tsr_dicom_study *s, job *jobs, int64_t count)
{
    int64_t files = 0, pictures = 0;
    for (int64_t k = 0; k < count; k++)
        if (!jobs[k].skipped) files++, pictures += jobs[k].frames.count;
    s->file = (tsr_dicom_file *)calloc((size_t)files + 1, sizeof *s->file);
    s->frames.at = (tsr_dicom_frame *)malloc((size_t)(pictures + 1) * sizeof *s->frames.at);
    if (!s->file || !s->frames.at) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld pictures", tsr_input_name(s->input), (long long)pictures);
    for (int64_t k = 0; k < count; k++) {
        if (jobs[k].skipped) continue;
        for (int64_t i = 0; i < jobs[k].frames.count; i++) {
            tsr_dicom_frame *f = &s->frames.at[s->frames.count++];
            *f = jobs[k].frames.at[i];
            f->file = s->files;
        }
        s->file[s->files++] = jobs[k].file;
        jobs[k].file = (tsr_dicom_file){ 0 };
    }
    if (!s->files) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: DICOM files without pixels (reports, plans, contours ...)", tsr_input_name(s->input));
    return TSR_OK;
}

static tsr_status read_folder(tsr_dicom_study *s, walk *w)
{
    enum { TOGETHER = 256 };
    const tsr_progress *progress = tsr_input_settings(s->input)->progress;
    TSR_TRY(walk_folder(w, tsr_input_name(s->input), 0));
    qsort(w->path, (size_t)w->count, sizeof *w->path, by_text);
    w->jobs = (job *)calloc((size_t)w->count + 1, sizeof *w->jobs);
    if (!w->jobs) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld files", tsr_input_name(s->input), (long long)w->count);
    walk part = *w;
    for (int64_t k = 0; k < w->count; k += TOGETHER) {
        part.path = w->path + k;
        part.jobs = w->jobs + k;
        tsr_parallel(tsr_parallel_default_threads(), tsr_min64(TOGETHER, w->count - k), 4, read_paths, &part);
        TSR_PROGRESS(progress, 0.5 * (double)k / (double)w->count, "reading");
    }
    char first[512] = "";
    int64_t damaged = 0, whole = 0;
    tsr_status why = TSR_OK;
    for (int64_t k = 0; k < w->count; k++) {
        tsr_status status = w->jobs[k].status;
        if (status != TSR_OK) {
            job_free(&w->jobs[k]); /* again, for its message */
            status = read_path(w, k, &w->jobs[k]);
        }
        if (status == TSR_OK) {
            whole += !w->jobs[k].skipped;
            continue;
        }
        if (status != TSR_ERROR_FORMAT && status != TSR_ERROR_UNSUPPORTED) return status;
        if (!damaged++) {
            why = status;
            snprintf(first, sizeof first, "%s", tsr_error_message());
        }
        job_free(&w->jobs[k]);
        w->jobs[k].skipped = 1;
    }
    if (damaged && !whole) TSR_FAIL(why, "%s", first);
    if (damaged)
        tsr_remark("%s: %lld of %lld DICOM files cannot be read and are left out, the first: %s", tsr_input_name(s->input), (long long)damaged,
                   (long long)(whole + damaged), first);
    return merge(s, w->jobs, w->count);
}

/* A folder gives its name to the input, whose path is that of a file in it. */
static int is_folder(const tsr_input *input)
{
    const char *path = tsr_input_path(input), *name = tsr_input_name(input);
    return path && strcmp(path, name);
}

tsr_status tsr_dicom_study_open(tsr_input *input, tsr_dicom_study *s)
{
    *s = (tsr_dicom_study){ .input = input };
    walk w = { .input = input };
    job one = { 0 };
    tsr_status status;
    if (is_folder(input)) status = read_folder(s, &w);
    else {
        status = read_one(input, tsr_input_path(input), 1, &one);
        if (status == TSR_OK) status = merge(s, &one, 1);
        job_free(&one);
    }
    for (int64_t k = 0; k < w.count; k++) {
        if (w.jobs) job_free(&w.jobs[k]);
        free(w.path[k]);
    }
    free(w.path);
    free(w.jobs);
    if (status == TSR_OK) status = tsr_dicom_sort(s);
    if (status != TSR_OK) tsr_dicom_study_close(s);
    return status;
}

void tsr_dicom_study_close(tsr_dicom_study *s)
{
    for (int32_t k = 0; k < s->files; k++) tsr_dicom_file_free(&s->file[k]);
    for (int64_t k = 0; k < s->count; k++) free(s->series[k].frame);
    free(s->file);
    free(s->frames.at);
    free(s->series);
    *s = (tsr_dicom_study){ 0 };
}
