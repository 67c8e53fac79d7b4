/* What info says of tile lists. */
#include "info.h"

#include <string.h>

/* All grids of the file, of which one is described. */
static void show_grids(const info_call *info, const char *path, const char *format)
{
    tsr_contents *contents = NULL;
    if (!strcmp(format, "tsr") || !strcmp(path, "-")) return;
    if (tsr_file_contents(path, NULL, &contents) == TSR_OK) info_show_contents(info, contents);
    tsr_contents_destroy(&contents);
}

static void show_tiles(const info_call *info, const char *path, const tsr_tiles_file_info *f, const tsr_tiles_info *list, const int64_t box[2][3],
                       const tsr_tiles_extras *extras)
{
    const tsr_vec3 h = tsr_geometry_spacing(&f->geometry);
    tsr_tiles_meta meta;
    tsr_tiles_channel channel;
    char version[40];
    snprintf(version, sizeof version, f->version[2] ? "%d.%d.%d" : f->version[0] ? "%d.%d" : "", f->version[0], f->version[1], f->version[2]);
    if (!info->cli->globals.json) {
        printf("%s: tile list (%s%s%s)\n", cli_shown(path), f->format, *version ? " " : "", version);
        if (f->name[0]) printf("  name         %s, one of %d grids\n", cli_shown(f->name), f->grids);
        printf("  tiles        %lld of %d^3 voxels, %s, codec %s%s\n", (long long)f->count, f->edge, f->values == TSR_TILES_Q16 ? "16 bit" : "f32",
               f->codec, f->raw ? ", raw" : "");
        if (f->active_voxels >= 0) printf("  active       %lld voxels\n", (long long)f->active_voxels);
        printf("  band         %g world units\n", f->band);
        if (f->domain.x)
            printf("  domain       %lld x %lld x %lld%s\n", (long long)f->domain.x, (long long)f->domain.y, (long long)f->domain.z,
                   f->paged ? ", paged" : "");
        else printf("  domain       unbounded\n");
        printf("  spacing      %g x %g x %g, world axes %s\n", h.x, h.y, h.z, info_space_name(f->geometry.space));
        for (int r = 0; r < 3; r++)
            printf("  %-12s %12.6g %12.6g %12.6g %12.6g\n", r ? "" : "affine", f->geometry.affine[r][0], f->geometry.affine[r][1],
                   f->geometry.affine[r][2], f->geometry.affine[r][3]);
        if (f->file_bytes >= 0) printf("  file         %lld bytes\n", (long long)f->file_bytes);
        if (list)
            printf("  inside       %lld voxels, box (%lld, %lld, %lld) to (%lld, %lld, %lld), %.1f MB in memory\n", (long long)list->inside_voxels,
                   (long long)box[0][0], (long long)box[0][1], (long long)box[0][2], (long long)box[1][0], (long long)box[1][1], (long long)box[1][2],
                   (double)list->device_bytes * 1e-6);
        for (int i = 0; tsr_tiles_extras_channel_at(extras, i, &channel); i++)
            printf("  channel      %s: %d x %s a tile\n", cli_shown(channel.name), channel.elements, tsr_dtype_name(channel.dtype));
        for (int i = 0; tsr_tiles_extras_meta_at(extras, i, &meta); i++) printf("  %s = %s\n", cli_shown(meta.key), cli_shown(meta.value));
        show_grids(info, path, f->format);
        return;
    }
    json_open(NULL, '{');
    json_text("file", cli_given(path));
    json_text("kind", "tiles");
    json_text("format", f->format);
    if (*version) json_text("version", version); /* OpenVDB does not say */
    if (f->name[0]) json_text("name", f->name);
    json_int("grids", f->grids);
    json_int("count", f->count);
    json_int("edge", f->edge);
    json_text("values", f->values == TSR_TILES_Q16 ? "q16" : "f32");
    json_text("codec", f->codec);
    json_bool("raw", f->raw);
    json_int("values_offset", f->values_offset);
    if (f->active_voxels >= 0) json_int("active_voxels", f->active_voxels);
    json_real("band", f->band);
    json_bool("bounded", f->domain.x != 0);
    json_bool("paged", f->paged);
    json_open("domain", '[');
    json_int(NULL, f->domain.x);
    json_int(NULL, f->domain.y);
    json_int(NULL, f->domain.z);
    json_close(']');
    json_open("spacing", '[');
    json_real(NULL, h.x);
    json_real(NULL, h.y);
    json_real(NULL, h.z);
    json_close(']');
    json_text("space", info_space_name(f->geometry.space));
    json_open("affine", '[');
    for (int r = 0; r < 3; r++) {
        json_open(NULL, '[');
        for (int c = 0; c < 4; c++) json_real(NULL, f->geometry.affine[r][c]);
        json_close(']');
    }
    json_close(']');
    if (f->file_bytes >= 0) json_int("file_bytes", f->file_bytes);
    if (list) {
        json_int("inside_voxels", list->inside_voxels);
        json_int("device_bytes", list->device_bytes);
        for (int side = 0; side < 2; side++) {
            json_open(side ? "upper" : "lower", '[');
            for (int k = 0; k < 3; k++) json_int(NULL, box[side][k]);
            json_close(']');
        }
    }
    json_open("channels", '[');
    for (int i = 0; tsr_tiles_extras_channel_at(extras, i, &channel); i++) {
        json_open(NULL, '{');
        json_text("name", channel.name);
        json_text("dtype", tsr_dtype_name(channel.dtype));
        json_int("elements", channel.elements);
        json_close('}');
    }
    json_close(']');
    json_open("meta", '{');
    for (int i = 0; tsr_tiles_extras_meta_at(extras, i, &meta); i++) json_text(meta.key, meta.value);
    json_close('}');
    show_grids(info, path, f->format);
    json_close('}');
}

/* The header alone; with --stats, and for OpenVDB files, the list itself. */
int info_tiles(info_call *info, const char *path, const char *format)
{
    tsr_tiles_read_options read = TSR_TILES_READ_OPTIONS;
    tsr_tiles_file_info file = { .struct_size = sizeof file, .active_voxels = -1, .file_bytes = -1, .codec = "none", .grids = 1 };
    tsr_tiles_info list = TSR_TILES_INFO;
    tsr_tiles_extras *extras = NULL;
    tsr_context *own = NULL;
    tsr_tiles *tiles = NULL;
    int64_t box[2][3];
    int code = CLI_OK, is_vdb = !strcmp(format, "vdb");
    read.memory_limit = info->read.memory_limit;
    read.format = info->read.format ? info->read.format : format; /* which of its grids it is taken for, is decided */
    read.grid = info->read.dataset;
    if (!is_vdb) {
        read.extras = &extras;
        tsr_status status = tsr_tiles_file_describe(path, &read, &file);
        if (status != TSR_OK) return cli_status(info->cli, status, path);
    }
    if (is_vdb || info->stats) {
        if (!info->context) code = cli_cpu_context(info->cli, &own);
        if (!code) tiles = cli_read_tiles(info->cli, info->context ? info->context : own, path, &read, NULL, &code);
        if (tiles) {
            tsr_status status = tsr_tiles_describe(tiles, &list);
            if (status == TSR_OK) status = tsr_tiles_bounds(tiles, box[0], box[1]);
            if (status != TSR_OK) code = cli_status(info->cli, status, path);
        }
    }
    if (!code && is_vdb) {
        snprintf(file.format, sizeof file.format, "vdb");
        file.edge = list.edge;
        file.count = list.count;
        file.band = list.band;
        file.active_voxels = list.active_voxels;
        file.geometry = *tsr_tiles_geometry(tiles);
    }
    if (!code) show_tiles(info, path, &file, tiles ? &list : NULL, (const int64_t(*)[3])box, extras);
    tsr_tiles_extras_destroy(&extras);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&own);
    return code;
}
