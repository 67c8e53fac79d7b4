/* formats/grids/vdb_fog.c: fog volumes and other grids of OpenVDB's files that are no level sets, as dense volumes: the box of the active voxels, what is not active
 * inside it as the file has it. OpenVDB itself reads and writes them, in the program tessera-vdb (tools/helpers):
 *   list FILE                  a line a grid: name, type, class, half, the grid whose tree it shares, box, active voxels; tabs between them
 *   fog FILE CHANNEL [GRID]    "fog DTYPE CHANNELS NX NY NZ BACKGROUND BYTES-OF-NAME KEYS 12-NUMBERS-OF-THE-AFFINE", the name, for each key "BYTES BYTES", the
 *                              key and its value; then the voxels
 *   put NAME FILE [OLD]        takes "DTYPE NX NY NZ HALF KEYS 12-NUMBERS", the keys in the same way, and the voxels */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/contents.h"
#include "formats/grids/vdb.h"
#include "formats/parts.h"
#include "formats/stored.h"
#include "formats/volume_files.h"
#include "io/half.h"
#include "io/little_endian.h"
#include "io/process.h"

/* ---- the program ---------------------------------------------------------------------------------------------------------------------------------- */

typedef struct vdb_helper {
    tsr_process *process;
    const char *name, *place; /* of the file, and where it is written before it has that name; NULL: it is read */
    const tsr_progress *progress;
} vdb_helper;

/* `words` behind the program's name, the first NULL ends them. */
static tsr_status start(vdb_helper *h, int direction, const char *const words[6])
{
    char path[PATH_MAX];
    const char *arguments[8] = { path };
    for (int k = 0; k < 6 && words[k]; k++) arguments[k + 1] = words[k];
    if (!tsr_process_find("tessera-vdb", "TESSERA_VDB", path, sizeof path))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: .vdb files need the program tessera-vdb, which is built where OpenVDB (libopenvdb-dev) is found; TESSERA_VDB may name it",
                 h->name);
    TSR_TRY(tsr_process_start(arguments, direction, &h->process));
    return TSR_OK;
}

/* The text behind "NAME: ", or the text. */
static const char *behind(const char *text, const char *name)
{
    const size_t n = name ? strlen(name) : 0;
    return n && !strncmp(text, name, n) && !strncmp(text + n, ": ", 2) ? text + n + 2 : text;
}

/* It stopped, or the call to it failed with `status`: what it said of it, without its own name and that of the file. */
static tsr_status lost(vdb_helper *h, tsr_status status)
{
    char why[700], said[700];
    if (status == TSR_ERROR_CANCELLED) return status;
    if (status == TSR_OK) status = tsr_process_finish(h->process, NULL);
    snprintf(why, sizeof why, "%s", status == TSR_OK ? "tessera-vdb stopped" : tsr_error_message());
    snprintf(said, sizeof said, "%s", tsr_process_said(h->process));
    const char *from = strstr(said, "tessera-vdb: ");
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s", h->name, from ? behind(behind(from + strlen("tessera-vdb: "), h->place), h->name) : why);
}

static tsr_status receive(vdb_helper *h, void *to, int64_t size)
{
    uint8_t *at = (uint8_t *)to;
    while (size) {
        size_t got = 0;
        const tsr_status status = tsr_process_read(h->process, at, (size_t)tsr_min64(size, 1 << 24), h->progress, &got);
        if (status != TSR_OK || !got) return lost(h, status);
        at += got;
        size -= (int64_t)got;
    }
    return TSR_OK;
}

static tsr_status receive_line(vdb_helper *h, char *line, int room)
{
    for (int n = 0; n + 1 < room; n++) {
        TSR_TRY(receive(h, line + n, 1));
        line[n + 1] = 0;
        if (line[n] != '\n') continue;
        line[n] = 0;
        return TSR_OK;
    }
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: tessera-vdb is of another version", h->name);
}

/* The program opens the file by its name. */
static tsr_status plain_path(const tsr_input *input, const char **path)
{
    *path = tsr_input_path(input);
    if (*path && tsr_input_size((tsr_input *)(uintptr_t)input) >= 0) return TSR_OK;
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: OpenVDB reads plain files only: give the name of the .vdb file", tsr_input_name(input));
}

/* ---- what a file holds ------------------------------------------------------------------------------------------------------------------------------ */

/* One line of the list. */
static tsr_status add_grid(tsr_contents *contents, char *line)
{
    char *field[7] = { line }, type[400];
    int count = 1, box[6] = { 0 };
    for (char *c = line; *c && count < 7; c++)
        if (*c == '\t') *c = 0, field[count++] = c + 1;
    if (count < 7 || sscanf(field[5], "%d %d %d %d %d %d", &box[0], &box[1], &box[2], &box[3], &box[4], &box[5]) != 6) return TSR_OK;
    snprintf(type, sizeof type, "%.30s, %.30s%s%s%.200s%s", field[1], field[2], *field[3] == '1' ? ", stored as half" : "",
             *field[4] ? ", shares the tree of '" : "", field[4], *field[4] ? "'" : "");
    tsr_contents_entry e = { .kind = "grid", .name = field[0], .type = type, .axes = 3 };
    for (int k = 0; k < 3; k++) e.size[k] = box[5 - k] >= box[2 - k] ? (int64_t)box[5 - k] - box[2 - k] + 1 : 0;
    TSR_TRY(tsr_contents_add(contents, &e));
    return TSR_OK;
}

static tsr_status read_list(vdb_helper *h, tsr_contents *contents)
{
    enum { MOST = 1 << 20 };
    size_t used = 0;
    char *text = (char *)malloc(MOST);
    if (!text) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a list of contents", h->name);
    tsr_status status = TSR_OK;
    for (size_t got = 1; got && used + 1 < MOST && status == TSR_OK; used += got)
        status = tsr_process_read(h->process, text + used, MOST - 1 - used, h->progress, &got);
    text[used] = 0;
    if (status == TSR_OK && tsr_process_finish(h->process, h->progress) != TSR_OK) status = TSR_ERROR_FORMAT;
    if (status != TSR_OK) status = lost(h, status);
    for (char *at = text, *end; status == TSR_OK && (end = strchr(at, '\n')) != NULL; at = end + 1) {
        *end = 0;
        status = add_grid(contents, at);
    }
    free(text);
    return status;
}

static tsr_status list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    vdb_helper h = { .name = tsr_input_name(input), .progress = &options->progress };
    const char *path;
    TSR_TRY(plain_path(input, &path));
    TSR_TRY(start(&h, 0, (const char *const[6]){ "list", path }));
    const tsr_status status = read_list(&h, contents);
    tsr_process_destroy(&h.process);
    return status;
}

/* The head of the file, as far as it is known. */
typedef struct vdb_cursor {
    const uint8_t *at;
    size_t left;
} vdb_cursor;

static int skip(vdb_cursor *c, uint64_t count)
{
    if (count > c->left) count = c->left;
    c->at += count;
    c->left -= (size_t)count;
    return c->left > 0;
}
static uint32_t take_number(vdb_cursor *c)
{
    const uint32_t value = c->left < 4 ? 0 : tsr_get_u32(c->at);
    skip(c, 4);
    return value;
}
static int skip_text(vdb_cursor *c) { return skip(c, take_number(c)); }

/* To the metadata of the first grid, in the layout since version 222 (of 2013); 0: the head does not reach so far. */
static int to_first_grid(const tsr_signature *s, vdb_cursor *c)
{
    enum { VERSION = 8, OFFSETS = 20, METADATA = 57 };
    *c = (vdb_cursor){ s->head, s->head_bytes };
    if (s->head_bytes < METADATA + 4 || tsr_get_u32(s->head + VERSION) < 222 || !s->head[OFFSETS]) return 0;
    skip(c, METADATA);
    for (uint32_t pieces = take_number(c); pieces && c->left; pieces--) /* name, type, value */
        for (int part = 0; part < 3; part++) skip_text(c);
    if (!take_number(c)) return 0;
    for (int part = 0; part < 3; part++) skip_text(c); /* name, type, the grid whose tree it shares */
    if (c->left < 24) return 0;
    const uint64_t begin = tsr_get_u64(c->at);
    *c = (vdb_cursor){ s->head, s->head_bytes };
    return skip(c, begin) && skip(c, 4); /* its compression */
}

/* "fog volume", "level set" ...: the class of the first grid, "" if the head does not say it. */
static const char *first_class(const tsr_signature *s, char text[32])
{
    vdb_cursor c;
    text[0] = 0;
    if (!to_first_grid(s, &c)) return text;
    for (uint32_t pieces = take_number(&c); pieces && c.left; pieces--) {
        const int is_class = c.left > 9 && tsr_get_u32(c.at) == 5 && !memcmp(c.at + 4, "class", 5);
        skip_text(&c);
        skip_text(&c);
        const uint32_t n = take_number(&c);
        if (is_class && n < 32 && n <= c.left) {
            memcpy(text, c.at, n);
            text[n] = 0;
            return text;
        }
        skip(&c, n);
    }
    return text;
}

int tsr_vdb_is_one(const tsr_signature *s)
{
    static const uint8_t magic[8] = { 0x20, 0x42, 0x44, 0x56, 0, 0, 0, 0 }; /* 0x56444220 in 64 bits */
    return s->head_bytes >= 8 && !memcmp(s->head, magic, 8);
}

int tsr_vdb_is_fog(const tsr_signature *s)
{
    char text[32];
    return tsr_vdb_is_one(s) && !strcmp(first_class(s, text), "fog volume");
}

static int recognise(const tsr_signature *s) { return tsr_vdb_is_fog(s) ? TSR_SURELY_MINE : TSR_NOT_MINE; }

/* ---- reading ------------------------------------------------------------------------------------------------------------------------------------------ */

typedef struct vdb_head {
    tsr_dtype dtype;
    int channels;
    tsr_size3 size;
    double background;
    tsr_geometry geometry;
    char name[1024];
} vdb_head;

static tsr_status foreign(const vdb_helper *h) { TSR_FAIL(TSR_ERROR_FORMAT, "%s: tessera-vdb is of another version", h->name); }

/* A key and its value, which are no longer than a volume keeps. */
static tsr_status receive_key(vdb_helper *h, tsr_volume *holder)
{
    char line[80];
    long long key, value;
    TSR_TRY(receive_line(h, line, sizeof line));
    if (sscanf(line, "%lld %lld", &key, &value) != 2 || key < 0 || value < 0 || key > 1 << 20 || value > 1 << 26) return foreign(h);
    char *text = (char *)calloc(1, (size_t)(key + value) + 2);
    if (!text) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for metadata", h->name);
    tsr_status status = receive(h, text, key);
    if (status == TSR_OK) status = receive(h, text + key + 1, value);
    if (status == TSR_OK) status = tsr_volume_set_meta(holder, text, text + key + 1);
    free(text);
    return status;
}

static tsr_status receive_head(vdb_helper *h, vdb_head *head, tsr_volume *holder)
{
    char line[700], type[8];
    long long n[3], name, keys;
    double a[12];
    TSR_TRY(receive_line(h, line, sizeof line));
    if (sscanf(line, "fog %7s %d %lld %lld %lld %lf %lld %lld %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", type, &head->channels, &n[0], &n[1],
               &n[2], &head->background, &name, &keys, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &a[6], &a[7], &a[8], &a[9], &a[10], &a[11]) != 20 ||
        name < 0 || name >= (long long)sizeof head->name || keys < 0 || tsr_dtype_parse(type, &head->dtype) != TSR_OK)
        return foreign(h);
    head->size = (tsr_size3){ n[0], n[1], n[2] };
    head->geometry = (tsr_geometry){ .space = TSR_SPACE_NONE };
    memcpy(head->geometry.affine, a, sizeof a);
    TSR_TRY(receive(h, head->name, name));
    head->name[name] = 0;
    for (long long k = 0; k < keys; k++) TSR_TRY(receive_key(h, holder));
    const char *space = tsr_volume_meta(holder, "space");
    if (space && !strcmp(space, "RAS")) head->geometry.space = TSR_SPACE_RAS;
    if (space && !strcmp(space, "LPS")) head->geometry.space = TSR_SPACE_LPS;
    return TSR_OK;
}

static tsr_status build(vdb_helper *h, tsr_input *input, const tsr_read_options *options, tsr_volume *holder, tsr_volume **volume)
{
    vdb_head head = { 0 };
    tsr_layout layout = { 0 };
    tsr_axes axes = { 0 };
    tsr_block block;
    int64_t bytes;
    TSR_TRY(receive_head(h, &head, holder));
    layout.dtype = head.dtype;
    layout.size = head.size;
    if (head.channels > 1) TSR_TRY(tsr_axes_part(&axes, TSR_PART_CHANNEL, head.channels, "the vectors of the grid", input, options));
    TSR_TRY(tsr_voxel_bytes(input, layout.dtype, layout.size, &bytes));
    TSR_TRY(tsr_input_allocate(input, bytes, "voxels", &block));
    const tsr_status status = receive(h, block.data, bytes);
    if (status != TSR_OK) tsr_block_release(&block);
    TSR_TRY(status);
    TSR_TRY(tsr_volume_of_block(input, &layout, &head.geometry, &block, volume));
    (*volume)->parts[TSR_PART_CHANNEL] = head.channels > 1 ? head.channels : 0;
    if (*head.name) TSR_TRY(tsr_volume_set_meta(holder, "vdb.name", head.name));
    if (head.background != 0)
        tsr_remark("%s: the background of grid '%s' is %g, which is not kept: beyond the box a volume has none", h->name, head.name, head.background);
    TSR_TRY(tsr_volume_take_header(*volume, holder));
    return TSR_OK;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    vdb_helper h = { .name = tsr_input_name(input), .progress = &options->progress };
    const char *path;
    char channel[24], limit[24];
    tsr_volume *holder = NULL;
    tsr_status status;
    TSR_TRY(plain_path(input, &path));
    if (tsr_input_settings(input)->place)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: fog volumes cannot be read in pieces, convert the file first", tsr_input_name(input));
    snprintf(channel, sizeof channel, "%lld", (long long)(options->channel_given ? options->channel : 0));
    snprintf(limit, sizeof limit, "%lld", (long long)options->memory_limit);
    TSR_TRY(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 1, 1, 1 }, NULL, &holder));
    TSR_TRY_GOTO(start(&h, 0, (const char *const[6]){ "--memory-limit", limit, "fog", path, channel, options->dataset }), done);
    TSR_TRY_GOTO(build(&h, input, options, holder, volume), done);
done:
    tsr_process_destroy(&h.process);
    tsr_volume_destroy(&holder);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------------------------------ */

/* Is every value a half? Then the file holds halves, which lose nothing. */
static int fits_half(const tsr_volume *v)
{
    const float *value = (const float *)v->data;
    if (v->dtype != TSR_F32) return 0;
    for (int64_t i = 0, n = tsr_volume_count(v); i < n; i++) {
        const float half = tsr_half_to_float(tsr_half_from_float(value[i]));
        if (half != value[i]) return 0; /* not a number neither */
    }
    return 1;
}

static tsr_status send_text(vdb_helper *h, const char *format, ...) TSR_PRINTF(2, 3);
static tsr_status send_text(vdb_helper *h, const char *format, ...)
{
    char line[700];
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    TSR_TRY(tsr_process_write(h->process, line, (size_t)n, h->progress));
    return TSR_OK;
}

static tsr_status send_key(vdb_helper *h, const char *key, const char *value)
{
    TSR_TRY(send_text(h, "%zu %zu\n", strlen(key), strlen(value)));
    TSR_TRY(tsr_process_write(h->process, key, strlen(key), h->progress));
    TSR_TRY(tsr_process_write(h->process, value, strlen(value), h->progress));
    return TSR_OK;
}

/* The name has a place of its own; the frame of the axes has none. */
static int has_place(const char *key) { return !strcmp(key, "vdb.name") || !strcmp(key, "space"); }

static tsr_status send_volume(vdb_helper *h, const tsr_volume *v)
{
    const char *key, *value, *space = v->geometry.space == TSR_SPACE_RAS ? "RAS" : v->geometry.space == TSR_SPACE_LPS ? "LPS" : NULL;
    int keys = space != NULL;
    for (int32_t i = 0; tsr_volume_meta_at(v, i, &key, &value); i++) keys += !has_place(key);
    TSR_TRY(send_text(h, "%s %lld %lld %lld %d %d", tsr_dtype_name(v->dtype), (long long)v->size.x, (long long)v->size.y, (long long)v->size.z,
                      fits_half(v), keys));
    for (int i = 0; i < 12; i++) {
        char number[32];
        TSR_TRY(send_text(h, " %s", tsr_print_double(number, v->geometry.affine[i / 4][i % 4])));
    }
    TSR_TRY(send_text(h, "\n"));
    if (space) TSR_TRY(send_key(h, "space", space));
    for (int32_t i = 0; tsr_volume_meta_at(v, i, &key, &value); i++)
        if (!has_place(key)) TSR_TRY(send_key(h, key, value));
    TSR_TRY(tsr_process_write(h->process, v->data, (size_t)v->bytes, h->progress));
    return TSR_OK;
}

static tsr_status write_grid(const tsr_volume *v, const char *path, const tsr_write_options *options, int keep)
{
    vdb_helper h = { .name = path, .progress = &options->progress };
    tsr_write_options manner = *options;
    tsr_output *output = NULL;
    const char *name = tsr_volume_meta(v, "vdb.name"), *other = tsr_volume_meta(v, "nvdb.name");
    const int add = keep && !access(path, F_OK);
    if (v->size.x > 1 << 30 || v->size.y > 1 << 30 || v->size.z > 1 << 30)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: more than 2^30 voxels along an axis, which a .vdb file cannot count", path);
    if (options->compression)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.compression is %d, expected 0: .vdb files are packed by OpenVDB", path, options->compression);
    if (tsr_path_has_extension(path, ".gz")) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: a .vdb file packs its voxels itself: leave out .gz", path);
    name = name && *name ? name : other && *other ? other : "density";
    manner.overwrite = options->overwrite || add;
    TSR_TRY(tsr_output_open_named(path, &manner, &output));
    const char *place = tsr_output_temporary(output);
    tsr_status status = TSR_OK;
    h.place = place;
    if (!place) status = TSR_FAILED(TSR_ERROR_UNSUPPORTED, "%s: OpenVDB writes plain files only, no pipes", path);
    if (status == TSR_OK) status = start(&h, 1, (const char *const[6]){ "put", name, place, add ? path : NULL });
    if (status == TSR_OK) {
        status = send_volume(&h, v);
        if (status == TSR_OK) status = tsr_process_finish(h.process, &options->progress);
        if (status != TSR_OK) status = lost(&h, status);
    }
    tsr_process_destroy(&h.process);
    return tsr_output_finish(&output, status);
}

static tsr_status write_volume(const tsr_volume *v, const char *path, const tsr_write_options *options) { return write_grid(v, path, options, 0); }
static tsr_status add_volume(const tsr_volume *v, const char *path, const tsr_write_options *options) { return write_grid(v, path, options, 1); }

const tsr_format tsr_format_vdbfog = { .name = "vdb-fog",
                                       .kind = TSR_FILE_VOLUME,
                                       .extensions = { ".vdb" },
                                       .recognise = recognise,
                                       .keeps_metadata = 1,
                                       .units = TSR_UNITS_ANY,
                                       .datasets = 1,
                                       .whole = 1,
                                       .types = 1u << TSR_F32 | 1u << TSR_F64 | 1u << TSR_I32 | 1u << TSR_I64,
                                       .read_volume = read_volume,
                                       .write_volume = write_volume,
                                       .add_volume = add_volume,
                                       .list = list,
                                       .other = "vdb" };
