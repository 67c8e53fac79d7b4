/* Zarr, written: OME-Zarr 0.4 (Zarr v2) of one image, with a pyramid if options.levels asks for one: each level is the mean of 2 x 2 x 2 voxels of the one before
 * (of labels the first of them), which waits in a nameless file meanwhile. A folder beside the target, which gets its name when it is complete; or a zip archive. */
#define _XOPEN_SOURCE 700
#include "formats/volumes/zarr/zarr.h"

#ifdef TSR_HAVE_JANSSON

#include "formats/volumes/chunks.h"
#include "io/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef TSR_HAVE_BLOSC
#include <blosc.h>
#endif

typedef struct writer {
    const tsr_volume *volume; /* the finest */
    const char *path;
    const tsr_write_options *options;
    char folder[PATH_MAX]; /* where it grows */
    tsr_output *out;       /* or an archive */
    tsr_zip_writer *zip;
    int level; /* that is written */
    int64_t frame; /* of several (tsr_volume_stack) */
    size_t element;
    char last[PATH_MAX]; /* the folder that was made last */
    /* the level behind: sums of 2 x 2 voxels of a slice that waits for the next */
    tsr_spool *next;
    double *sum;
    uint8_t *row;
    tsr_size3 size, half; /* of this level and the next */
    int labels, packs;
} writer;

/* ---- keys -------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status make_folders(writer *w, const char *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s", (int)(tsr_path_file(file) - file), file);
    if (!strcmp(path, w->last)) return TSR_OK;
    for (char *c = path + strlen(w->folder) + 1; (c = strchr(c, '/')); c++) {
        *c = 0;
        if (mkdir(path, 0777) && errno != EEXIST) TSR_FAIL(TSR_ERROR_IO, "%s: cannot make the folder '%s': %s", w->path, path, strerror(errno));
        *c = '/';
    }
    memcpy(w->last, path, sizeof path);
    return TSR_OK;
}

static tsr_status put_key(writer *w, const char *key, const void *bytes, size_t size)
{
    char file[PATH_MAX];
    if (w->zip) {
        TSR_TRY(tsr_zip_entry_begin(w->zip, key, 0));
        TSR_TRY(tsr_zip_write(w->zip, bytes, size));
        return tsr_zip_entry_end(w->zip);
    }
    if (snprintf(file, sizeof file, "%.3900s/%s", w->folder, key) >= (int)sizeof file)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the path is too long", w->path);
    TSR_TRY(make_folders(w, file));
    const int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const uint8_t *at = (const uint8_t *)bytes;
    int failed = fd < 0;
    while (size && !failed) {
        const ssize_t done = write(fd, at, size);
        if (done < 0 && errno == EINTR) continue;
        failed = done < 0;
        if (failed) break;
        at += done;
        size -= (size_t)done;
    }
    const int why = errno;
    if (fd >= 0 && close(fd)) failed = 1;
    if (failed) TSR_FAIL(TSR_ERROR_IO, "%s: cannot write '%s': %s", w->path, key, strerror(why));
    return TSR_OK;
}

/* STEALS the object. */
static tsr_status put_json(writer *w, const char *key, json_t *json)
{
    char *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    if (!text) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory, or a text that is no UTF-8, for '%s'", w->path, key);
    const tsr_status status = put_key(w, key, text, strlen(text));
    free(text);
    return status;
}

/* ---- metadata ---------------------------------------------------------------------------------------------------------------------------------- */

/* Of the axes (t), z, y, x. */
static json_t *numbers(const writer *w, double t, double z, double y, double x)
{
    json_t *list = json_array();
    if (tsr_volume_stack(w->volume)) json_array_append_new(list, json_real(t));
    json_array_append_new(list, json_real(z));
    json_array_append_new(list, json_real(y));
    json_array_append_new(list, json_real(x));
    return list;
}

static tsr_status put_note(void *user, const char *key, const char *value)
{
    json_t *text = json_string(value);
    if (!text || json_object_set_new((json_t *)user, key, text)) { /* bytes that are no UTF-8 */
        char plain[1024];
        snprintf(plain, sizeof plain, "%s", value);
        for (char *c = plain; *c; c++)
            if ((unsigned char)*c > 126) *c = '?';
        json_object_set_new((json_t *)user, key, json_string(plain));
    }
    return TSR_OK;
}

static json_t *axis(const char *name, const char *type, const char *unit)
{
    json_t *one = json_object();
    json_object_set_new(one, "name", json_string(name));
    json_object_set_new(one, "type", json_string(type));
    if (unit) json_object_set_new(one, "unit", json_string(unit));
    return one;
}

static const char *unit_word(const tsr_volume *v)
{
    static const char *const words[][2] = { { "um", "micrometer" }, { "mm", "millimeter" }, { "nm", "nanometer" },
                                            { "m", "meter" },       { "cm", "centimeter" }, { "inch", "inch" } };
    const char *unit = tsr_stored_unit(v);
    for (size_t i = 0; unit && i < sizeof words / sizeof *words; i++)
        if (!strcmp(unit, words[i][0])) return words[i][1];
    return NULL;
}

static tsr_status put_group(writer *w, int levels)
{
    const tsr_volume *v = w->volume;
    const tsr_vec3 h = tsr_geometry_spacing(&v->geometry);
    const int plain = tsr_geometry_is_plain(&v->geometry), channels = tsr_volume_channels(v) > 1;
    const double o[3] = { plain ? v->geometry.affine[0][3] : 0, plain ? v->geometry.affine[1][3] : 0, plain ? v->geometry.affine[2][3] : 0 };
    const char *unit = unit_word(v), *name = tsr_volume_meta(v, "ome.Name");
    json_t *attributes = json_object(), *multiscale = json_object(), *datasets = json_array(), *axes = json_array(), *all = json_array(),
           *notes = json_object();
    if (tsr_volume_stack(v)) json_array_append_new(axes, axis("t", "time", NULL));
    json_array_append_new(axes, channels ? axis("c", "channel", NULL) : axis("z", "space", unit));
    json_array_append_new(axes, axis("y", "space", unit));
    json_array_append_new(axes, axis("x", "space", unit));
    for (int k = 0; k < levels; k++) { /* a voxel of level k is the mean of 2^k: its centre lies half as many minus a half further */
        char path[16];
        const double f = ldexp(1, k), shift = (f - 1) / 2;
        const tsr_size3 n = v->size;
        const double s[3] = { n.x > 1 ? f : 1, n.y > 1 ? f : 1, n.z > 1 && !channels ? f : 1 };
        json_t *dataset = json_object(), *list = json_array(), *scale = json_object(), *move = json_object();
        snprintf(path, sizeof path, "%d", k);
        json_object_set_new(scale, "type", json_string("scale"));
        json_object_set_new(scale, "scale", numbers(w, 1, channels ? 1 : h.z * s[2], h.y * s[1], h.x * s[0]));
        json_object_set_new(move, "type", json_string("translation"));
        json_object_set_new(move, "translation",
                            numbers(w, 0, channels ? 0 : o[2] + (s[2] > 1 && !w->labels ? shift * h.z : 0),
                                   o[1] + (s[1] > 1 && !w->labels ? shift * h.y : 0), o[0] + (s[0] > 1 && !w->labels ? shift * h.x : 0)));
        json_array_append_new(list, scale);
        json_array_append_new(list, move);
        json_object_set_new(dataset, "path", json_string(path));
        json_object_set_new(dataset, "coordinateTransformations", list);
        json_array_append_new(datasets, dataset);
    }
    json_object_set_new(multiscale, "version", json_string("0.4"));
    if (name) put_note(multiscale, "name", name);
    json_object_set_new(multiscale, "axes", axes);
    json_object_set_new(multiscale, "datasets", datasets);
    json_array_append_new(all, multiscale);
    json_object_set_new(attributes, "multiscales", all);
    tsr_status status = tsr_volume_notes(v, put_note, notes);
    json_object_del(notes, "meta.ome.Name");
    if (json_object_size(notes)) json_object_set_new(attributes, "tessera", notes);
    else json_decref(notes);
    json_t *group = json_object();
    json_object_set_new(group, "zarr_format", json_integer(2));
    if (status == TSR_OK) status = put_json(w, ".zgroup", group);
    else json_decref(group);
    if (status != TSR_OK) json_decref(attributes);
    return status == TSR_OK ? put_json(w, ".zattrs", attributes) : status;
}

static json_t *sizes(int64_t t, int64_t z, int64_t y, int64_t x)
{
    json_t *list = json_array();
    if (t) json_array_append_new(list, json_integer(t));
    json_array_append_new(list, json_integer(z));
    json_array_append_new(list, json_integer(y));
    json_array_append_new(list, json_integer(x));
    return list;
}

static json_t *compressor(const writer *w)
{
    json_t *one = json_object();
    if (!w->packs) return json_decref(one), json_null();
#ifdef TSR_HAVE_BLOSC
    json_object_set_new(one, "id", json_string("blosc"));
    json_object_set_new(one, "cname", json_string(w->options->compression ? "zstd" : "lz4"));
    json_object_set_new(one, "clevel", json_integer(w->options->compression ? w->options->compression : 5));
    json_object_set_new(one, "shuffle", json_integer(1));
    json_object_set_new(one, "blocksize", json_integer(0));
#else
    json_object_set_new(one, "id", json_string("zlib"));
    json_object_set_new(one, "level", json_integer(w->options->compression ? w->options->compression : 1));
#endif
    return one;
}

static tsr_status put_array(writer *w, tsr_dtype dtype, tsr_size3 n, const int64_t chunk[3])
{
    static const char *const codes[TSR_DTYPE_COUNT] = { "|u1", "|i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8" };
    char key[40], type[8];
    snprintf(type, sizeof type, "%s%s", w->element > 1 ? (w->options->big_endian ? ">" : "<") : "", codes[dtype]);
    json_t *j = json_object();
    json_object_set_new(j, "zarr_format", json_integer(2));
    json_object_set_new(j, "shape", sizes(tsr_volume_stack(w->volume), n.z, n.y, n.x));
    json_object_set_new(j, "chunks", sizes(tsr_volume_stack(w->volume) != 0, chunk[2], chunk[1], chunk[0]));
    json_object_set_new(j, "dtype", json_string(type));
    json_object_set_new(j, "compressor", compressor(w));
    json_object_set_new(j, "fill_value", json_integer(0));
    json_object_set_new(j, "order", json_string("C"));
    json_object_set_new(j, "filters", json_null());
    json_object_set_new(j, "dimension_separator", json_string("/"));
    snprintf(key, sizeof key, "%d/.zarray", w->level);
    return put_json(w, key, j);
}

/* ---- voxels ------------------------------------------------------------------------------------------------------------------------------------ */

static size_t pack(void *user, uint8_t *plain, size_t bytes, uint8_t *packed, size_t room)
{
    const writer *w = (const writer *)user;
    if ((w->options->big_endian != 0) != tsr_host_big_endian()) tsr_swap_elements(plain, (int64_t)(bytes / w->element), w->element);
    if (!w->packs) {
        memcpy(packed, plain, bytes);
        return bytes;
    }
#ifdef TSR_HAVE_BLOSC
    const int n = blosc_compress_ctx(w->options->compression ? w->options->compression : 5, BLOSC_SHUFFLE, w->element, bytes, plain, packed, room,
                                     w->options->compression ? "zstd" : "lz4", 0, 1);
    return n > 0 ? (size_t)n : 0;
#else
    uLongf size = (uLongf)room;
    return compress2(packed, &size, plain, (uLong)bytes, w->options->compression ? w->options->compression : 1) == Z_OK ? (size_t)size : 0;
#endif
}

static tsr_status put(void *user, const int64_t index[3], const uint8_t *packed, size_t bytes)
{
    writer *w = (writer *)user;
    char key[120], frame[24] = "";
    if (tsr_volume_stack(w->volume)) snprintf(frame, sizeof frame, "%lld/", (long long)w->frame);
    snprintf(key, sizeof key, "%d/%s%lld/%lld/%lld", w->level, frame, (long long)index[2], (long long)index[1], (long long)index[0]);
    return put_key(w, key, packed, bytes);
}

/* One slice of the next level, out of the sums. Whole numbers are rounded to the nearest, halves to the even one. */
static tsr_status end_slice(writer *w, int slices)
{
    const tsr_dtype dtype = w->volume->dtype;
    const int real = dtype == TSR_F32 || dtype == TSR_F64;
    for (int64_t y = 0; y < w->half.y; y++)
        for (int64_t x = 0; x < w->half.x; x++) {
            const int64_t wide = tsr_min64(2, w->size.x - 2 * x), high = tsr_min64(2, w->size.y - 2 * y);
            const double mean = w->sum[y * w->half.x + x] / (double)(w->labels ? 1 : wide * high * slices);
            tsr_voxel_store(w->row, dtype, y * w->half.x + x, real ? mean : rint(mean));
        }
    TSR_TRY(tsr_spool_write(w->next, w->row, (size_t)(w->half.x * w->half.y) * w->element, NULL));
    return TSR_OK;
}

static tsr_status look(void *user, int64_t first, int64_t count, const uint8_t *voxels)
{
    writer *w = (writer *)user;
    const tsr_dtype dtype = w->volume->dtype;
    const int channels = tsr_volume_channels(w->volume) > 1; /* they are no slices of one thing */
    for (int64_t z = first; z < first + count; z++, voxels += w->size.x * w->size.y * (int64_t)w->element) {
        const int begins = channels || z % 2 == 0, ends = channels || z % 2 == 1 || z + 1 == w->size.z;
        if (begins) memset(w->sum, 0, (size_t)(w->half.x * w->half.y) * sizeof *w->sum);
        for (int64_t y = 0; y < w->size.y && (begins || !w->labels); y++)
            for (int64_t x = 0; x < w->size.x; x++)
                if (!w->labels || (y % 2 == 0 && x % 2 == 0)) w->sum[y / 2 * w->half.x + x / 2] += tsr_voxel_load(voxels, dtype, y * w->size.x + x);
        if (ends) TSR_TRY(end_slice(w, begins ? 1 : 2));
    }
    return TSR_OK;
}

static tsr_status from_spool(void *user, int64_t first, int64_t count, void *to)
{
    const writer *w = (const writer *)user;
    return tsr_spool_get((tsr_spool *)(uintptr_t)w->next, first * (int64_t)w->element, to, (size_t)count * w->element);
}

static tsr_status write_level(writer *w, const tsr_volume *v, int last)
{
    int64_t chunk[3];
    tsr_chunks_plan(v->size, w->element, chunk);
    const size_t bytes = (size_t)(chunk[0] * chunk[1] * chunk[2]) * w->element;
    const int channels = tsr_volume_channels(w->volume) > 1;
    if (channels) chunk[2] = 1;
    w->size = v->size;
    w->half = (tsr_size3){ (v->size.x + 1) / 2, (v->size.y + 1) / 2, channels ? v->size.z : (v->size.z + 1) / 2 };
    const tsr_chunker chunker = { .volume = v,
                                  .path = w->path,
                                  .progress = &w->options->progress,
                                  .size = { v->size.x, v->size.y, v->size.z },
                                  .chunk = { chunk[0], chunk[1], chunk[2] },
                                  .room = bytes + bytes / 64 + 4096,
                                  .pack = pack,
                                  .put = put,
                                  .look = last ? NULL : look,
                                  .user = w };
    TSR_TRY(put_array(w, v->dtype, v->size, chunk));
    if (!last) {
        w->sum = (double *)malloc((size_t)(w->half.x * w->half.y) * sizeof *w->sum);
        w->row = (uint8_t *)malloc((size_t)(w->half.x * w->half.y) * w->element);
        if (!w->sum || !w->row) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a slice of level %d", w->path, w->level + 1);
        TSR_TRY(tsr_spool_open(w->path, &w->next));
    }
    return tsr_chunks_write(&chunker);
}

/* Frame w->frame of several. */
static tsr_status from_frame(void *user, int64_t first, int64_t count, void *to)
{
    const writer *w = (const writer *)user;
    return w->volume->feed->read(w->volume->feed->user, w->frame * tsr_volume_count(w->volume) + first, count, to);
}

static tsr_status write_frames(writer *w)
{
    tsr_volume one = *w->volume; /* its header is borrowed */
    const tsr_voxel_feed feed = { w, from_frame };
    const int64_t frames = tsr_volume_stack(w->volume);
    int64_t chunk[3];
    one.feed = &feed;
    tsr_chunks_plan(one.size, w->element, chunk);
    const size_t bytes = (size_t)(chunk[0] * chunk[1] * chunk[2]) * w->element;
    const tsr_chunker chunker = { .volume = &one,
                                  .path = w->path,
                                  .progress = &w->options->progress,
                                  .size = { one.size.x, one.size.y, one.size.z },
                                  .chunk = { chunk[0], chunk[1], chunk[2] },
                                  .room = bytes + bytes / 64 + 4096,
                                  .pack = pack,
                                  .put = put,
                                  .user = w };
    TSR_TRY(put_group(w, 1));
    TSR_TRY(put_array(w, one.dtype, one.size, chunk));
    for (w->frame = 0; w->frame < frames; w->frame++) TSR_TRY(tsr_chunks_write(&chunker));
    return TSR_OK;
}

/* Each level out of the spool that the one before it filled. */
static tsr_status write_levels(writer *w, int levels)
{
    const tsr_volume *v = w->volume;
    tsr_volume coarse;
    writer before = { 0 };
    tsr_voxel_feed feed = { &before, from_spool };
    if (tsr_volume_stack(v)) return write_frames(w);
    tsr_status status = put_group(w, levels);
    for (w->level = 0; w->level < levels && status == TSR_OK; w->level++) {
        status = write_level(w, v, w->level + 1 == levels);
        free(w->sum);
        free(w->row);
        w->sum = NULL;
        w->row = NULL;
        tsr_spool_close(&before.next);
        before.next = w->next;
        before.element = w->element;
        w->next = NULL;
        coarse = *w->volume;
        coarse.context = NULL;
        coarse.data = NULL;
        coarse.feed = &feed;
        coarse.size = w->half;
        v = &coarse;
    }
    tsr_spool_close(&before.next);
    return status;
}

/* ---- the folder -------------------------------------------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    (void)about, (void)kind, (void)walk;
    return remove(path);
}
static void remove_tree(const char *path) { (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* Only what is a Zarr hierarchy is ever replaced. */
static int is_zarr(const char *path)
{
    static const char *const files[] = { "zarr.json", ".zgroup", ".zarray" };
    char file[PATH_MAX];
    for (int k = 0; k < 3; k++)
        if (snprintf(file, sizeof file, "%.3900s/%s", path, files[k]) < (int)sizeof file && !access(file, F_OK)) return 1;
    return 0;
}

static tsr_status begin_folder(writer *w)
{
    struct stat about;
    const mode_t mask = umask(0);
    umask(mask);
    if (!lstat(w->path, &about)) {
        if (!w->options->overwrite) TSR_FAIL(TSR_ERROR_IO, "%s: exists; options.overwrite replaces it", w->path);
        if (!S_ISDIR(about.st_mode) || !is_zarr(w->path))
            TSR_FAIL(TSR_ERROR_IO, "%s: exists and is no Zarr folder, expected one, or a new name", w->path);
    }
    size_t n = strlen(w->path);
    while (n > 1 && w->path[n - 1] == '/') n--;
    if (snprintf(w->folder, sizeof w->folder, "%.*s.part-XXXXXX", (int)n, w->path) >= (int)sizeof w->folder - 400)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the path is too long", w->path);
    if (!mkdtemp(w->folder)) {
        w->folder[0] = 0;
        TSR_FAIL(TSR_ERROR_IO, "%s: cannot make a folder beside it: %s", w->path, strerror(errno));
    }
    (void)chmod(w->folder, 0777 & ~mask);
    return TSR_OK;
}

static tsr_status end_folder(writer *w)
{
    char old[PATH_MAX];
    snprintf(old, sizeof old, "%.3900s-old", w->folder);
    const int replaces = is_zarr(w->path);
    if (replaces && rename(w->path, old)) TSR_FAIL(TSR_ERROR_IO, "%s: cannot be replaced: %s", w->path, strerror(errno));
    if (rename(w->folder, w->path)) {
        const int why = errno;
        if (replaces) (void)!rename(old, w->path);
        TSR_FAIL(TSR_ERROR_IO, "%s: cannot get its name: %s", w->path, strerror(why));
    }
    if (replaces) remove_tree(old);
    return TSR_OK;
}

tsr_status tsr_zarr_write(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    writer w = { .volume = volume, .path = path, .options = options, .element = tsr_dtype_size(volume->dtype), .packs = options->compression >= 0 };
    int levels = options->levels > 1 ? options->levels : 1, most = 1;
    const int channels = tsr_volume_channels(volume) > 1;
    tsr_status status;
    if (options->levels < 0 || options->levels > 30)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.levels is %d, expected 0 to 30", path, options->levels);
    for (int64_t n = tsr_max64(tsr_max64(volume->size.x, volume->size.y), channels ? 1 : volume->size.z); n > 1; n = (n + 1) / 2) most++;
    if (tsr_volume_stack(volume) && levels > 1) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a pyramid of several frames is not written, expected one frame or no pyramid", path);
    levels = levels < most ? levels : most; /* one voxel is the coarsest level */
    w.labels = tsr_volume_holds_labels(volume) || volume->dtype == TSR_U64 || volume->dtype == TSR_I64;
    if (tsr_path_has_extension(path, ".zip") || !strcmp(path, "-")) {
        TSR_TRY(tsr_output_open(path, options, &w.out));
        status = tsr_zip_begin(w.out, &w.zip);
        if (status == TSR_OK) {
            status = write_levels(&w, levels);
            status = tsr_zip_end(&w.zip, status);
        }
        status = tsr_output_finish(&w.out, status);
    } else {
        TSR_TRY(begin_folder(&w));
        status = write_levels(&w, levels);
        if (status == TSR_OK) status = end_folder(&w);
        if (status != TSR_OK) remove_tree(w.folder);
    }
    free(w.sum);
    free(w.row);
    tsr_spool_close(&w.next);
    TSR_TRY(status);
    return TSR_OK;
}

#endif
