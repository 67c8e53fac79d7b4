#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "convert.h"
#include "labels.h"
#include "lists.h"

#define STEPS                                                                                                                                        \
    "--crop, --reorient, --resample, --like, --deshear, --axis-aligned, --level, --smooth, --threshold, --largest-component, --window, --dtype and " \
    "--slice"

static int names_fog(const char *format) { return format && (!strcmp(format, "vdb-fog") || !strcmp(format, "nvdb-fog")); }

/* A file format that knows one frame gives it to data that came without: MetaImage always, NIfTI with more than voxel sizes. */
static void remark_frame(const convert *c)
{
    const tsr_geometry *g = tsr_volume_geometry(c->volume);
    const char *format = c->write.format, *frame = NULL;
    int sizes_only = 1;
    if (g->space != TSR_SPACE_NONE) return;
    for (int i = 0; i < 12; i++) sizes_only &= i / 4 == i % 4 ? g->affine[i / 4][i % 4] > 0 : g->affine[i / 4][i % 4] == 0;
    if (format ? !strcmp(format, "metaimage") : cli_ends_in(c->output, ".mha .mhd")) frame = "LPS";
    if ((format ? !strncmp(format, "nifti", 5) : cli_ends_in(c->output, ".nii .nii.gz .hdr .img")) && !sizes_only) frame = "RAS";
    if (frame)
        cli_note(c->cli, "%s names no world frame, %s calls its axes %s; --space RAS or --space LPS says which they are", c->cli->input[0], c->output,
                 frame);
}

static int write_tiles(convert *c, const tsr_tiles *tiles)
{
    const int code = cli_check_plane(c->cli, tiles, c->output, c->write.format);
    if (code) return code;
    c->files.write.format = c->write.format;
    c->files.write.compression = c->write.compression;
    return (c->add ? cli_add_tiles : cli_write_tiles)(c->cli, tiles, c->output, &c->files.write);
}

/* The volume as level set or mask in a tile list. */
static int tiles_of_volume(convert *c)
{
    tsr_tiles *tiles = NULL;
    int code = c->context ? CLI_OK : cli_context(c->cli, &c->context);
    if (code) return code;
    cli_note_labels(c->cli, c->cli->input[0], c->volume, "a list takes all labels together; --threshold L:L takes one");
    tsr_status status = cli_move_volume(c->context, &c->volume);
    if (status == TSR_OK) status = cli_tiles_of_dense(c->context, c->volume, &c->tiles, !c->unbounded, &tiles);
    code = status == TSR_OK ? write_tiles(c, tiles) : cli_status(c->cli, status, c->cli->input[0]);
    tsr_tiles_destroy(&tiles);
    return code;
}

/* Lengths that the output has no unit for, or none but millimetres. */
static void remark_unit(const convert *c)
{
    const double unit = tsr_volume_unit(c->volume);
    int keeps = 1;
    if (unit == 0 || unit == 1) return;
    if (cli_names_tiles(c->output, c->write.format))
        cli_note_unit(c->cli, c->cli->input[0], c->volume, c->output);
    else if (tsr_file_keeps_unit(c->output, &c->write, unit, &keeps) == TSR_OK && !keeps)
        cli_note(c->cli, "%s: lengths are in %s, those of %s in mm", c->cli->input[0], tsr_volume_unit_name(c->volume), c->output);
}

/* Into the output. */
static tsr_status write_dense(const convert *c)
{
    if (c->source) return tsr_volume_write_segments(c->volume, c->source, c->output, &c->write);
    if (c->add) return tsr_volume_add_grid(c->volume, c->output, &c->write);
    return tsr_volume_write(c->volume, c->output, &c->write);
}

int convert_dense(convert *c)
{
    const int code = convert_steps(c);
    tsr_status status = TSR_OK;
    if (code) return code;
    if (!c->source) remark_unit(c);
    if (cli_names_tiles(c->output, c->write.format)) return tiles_of_volume(c);
    if (names_fog(c->write.format) && c->files.write.name)
        status = tsr_volume_set_meta(c->volume, strcmp(c->write.format, "vdb-fog") ? "nvdb.name" : "vdb.name", c->files.write.name);
    if (status == TSR_OK) status = write_dense(c);
    if (status != TSR_OK) return cli_status(c->cli, status, c->output);
    remark_frame(c);
    return CLI_OK;
}

void convert_remark(const convert *c)
{
    remark_unit(c);
    remark_frame(c);
}

/* --level of a file that stores levels reads one of them. */
static void take_stored_level(convert *c)
{
    tsr_contents *contents = NULL;
    tsr_contents_entry entry;
    int levels = 0;
    if (!c->level || c->rule_given || !strcmp(c->cli->input[0], "-")) return;
    if (tsr_file_contents(c->cli->input[0], &c->read, &contents) == TSR_OK)
        for (int32_t i = 0; tsr_contents_at(contents, i, &entry); i++) levels += !strcmp(entry.kind, "level");
    tsr_contents_destroy(&contents);
    if (levels > 1 && c->level >= levels)
        cli_note(c->cli, "%s: stores the levels 0 to %d: level %d is averaged from level 0", c->cli->input[0], levels - 1, c->level);
    if (c->level >= levels) return;
    c->read.level = c->level;
    c->read.level_given = 1;
    c->level = 0;
}

/* A volume that nothing is done with goes from file to file within the limit; 0: it must be read as a whole. */
static int transfers(const convert *c)
{
    tsr_file_kind kind = TSR_FILE_UNKNOWN;
    const char *format;
    if (!c->read.memory_limit || convert_has_steps(c) || c->space_given || !strcmp(c->cli->input[0], "-") || cli_names_tiles(c->output, c->write.format)) return 0;
    return tsr_file_recognise(c->cli->input[0], &kind, &format) != TSR_OK || kind != TSR_FILE_IMAGE; /* pictures are read as a whole, within the limit */
}

/* *whole: it cannot be read in pieces, and is to be read at once, where the limit has room for it. */
static int transfer(convert *c, int *whole)
{
    tsr_read_options read = c->read;
    read.progress = cli_progress(c->cli);
    const tsr_status status = tsr_volume_transfer(c->cli->input[0], &read, c->output, &c->write);
    cli_progress_pause();
    *whole = status == TSR_ERROR_UNSUPPORTED;
    return status == TSR_OK || *whole ? CLI_OK : cli_status(c->cli, status, strstr(tsr_error_message(), c->output) ? c->output : c->cli->input[0]);
}

static int convert_volume(convert *c)
{
    int code = CLI_OK, whole = 1;
    take_stored_level(c);
    if (!convert_is_numbered(c->output) && tsr_video_names_film(c->output)) {
        code = convert_to_film(c);
        tsr_context_destroy(&c->context);
        return code;
    }
    if (convert_is_numbered(c->output) || c->frames_text) {
        code = convert_is_numbered(c->output) ? convert_to_files(c) : convert_to_stack(c);
        tsr_context_destroy(&c->context);
        return code;
    }
    if (transfers(c)) code = transfer(c, &whole);
    if (!whole || code) return code;
    c->volume = cli_read_volume(c->cli, c->cli->input[0], &c->read, &code);
    if (c->volume) code = convert_dense(c);
    tsr_volume_destroy(&c->volume);
    tsr_context_destroy(&c->context);
    return code;
}

/* From a tile list: to another file of tiles as it is, or to a volume. */
static int convert_tiles(convert *c)
{
    const int steps = convert_has_steps(c);
    const int to_tiles = cli_names_tiles(c->output, c->write.format);
    tsr_tiles_extras *extras = NULL;
    tsr_tiles_meta meta[1024];
    tsr_tiles_channel channels[64];
    if (steps && to_tiles) return cli_usage(c->cli, "%s is a tile list: " STEPS " need a volume as output", c->cli->input[0]);
    int code = cli_context(c->cli, &c->context);
    if (code) return code;
    c->files.read.memory_limit = c->read.memory_limit;
    c->files.read.format = c->read.format;
    tsr_tiles *tiles = cli_read_tiles(c->cli, c->context, c->cli->input[0], &c->files.read, &extras, &code);
    if (tiles && to_tiles) {
        tsr_tiles_write_options *w = &c->files.write;
        const int keeps = c->write.format ? !strcmp(c->write.format, "tsr") : strstr(c->output, ".tsr") != NULL;
        while (keeps && w->meta_count < 1024 && tsr_tiles_extras_meta_at(extras, w->meta_count, &meta[w->meta_count])) w->meta_count++;
        while (keeps && w->channel_count < 64 && tsr_tiles_extras_channel_at(extras, w->channel_count, &channels[w->channel_count]))
            w->channel_count++;
        w->meta = meta;
        w->channels = channels;
        code = write_tiles(c, tiles);
    } else if (tiles) {
        tsr_status status = cli_dense_of_tiles(c->context, tiles, &c->volume);
        c->replicate = 1; /* what is outside has the band's value, not 0, which is the surface */
        if (status == TSR_OK) status = cli_move_volume(NULL, &c->volume);
        if (status != TSR_OK) code = cli_status(c->cli, status, c->cli->input[0]);
        if (!code) code = convert_dense(c);
    }
    tsr_tiles_extras_destroy(&extras);
    tsr_tiles_destroy(&tiles);
    tsr_volume_destroy(&c->volume);
    tsr_context_destroy(&c->context);
    return code;
}

/* Does the output hold points only? Then the vertices of a mesh are what is wanted. */
static int output_is_points(const convert *c)
{
    return tsr_file_check_output(c->output, TSR_FILE_MESH, &c->write) != TSR_OK && tsr_file_check_output(c->output, TSR_FILE_POINTS, &c->write) == TSR_OK;
}

static int convert_mesh(convert *c)
{
    if (convert_has_steps(c)) return cli_usage(c->cli, "%s is a mesh: " STEPS " are for volumes", c->cli->input[0]);
    int code = CLI_OK;
    tsr_mesh *mesh = cli_read_mesh(c->cli, c->cli->input[0], &c->read, &code);
    if (!mesh) return code;
    tsr_status status = c->space_given ? tsr_mesh_convert_space(mesh, (tsr_space)(c->space + 1)) : TSR_OK;
    if (c->space_given) tsr_mesh_set_space(mesh, (tsr_space)(c->space + 1));
    if (status == TSR_OK) status = tsr_mesh_write(mesh, c->output, &c->write);
    if (status != TSR_OK) code = cli_status(c->cli, status, c->output);
    else cli_remark_mesh(c->cli, mesh, c->output, &c->write);
    tsr_mesh_destroy(&mesh);
    return code;
}

/* Points have places and normals; of a mesh with colours that is said. */
static void remark_colors(const convert *c)
{
    tsr_mesh *mesh = NULL;
    if (c->cli->globals.quiet || !strcmp(c->cli->input[0], "-") || tsr_mesh_read(c->cli->input[0], &c->read, &mesh) != TSR_OK) return;
    if (tsr_mesh_colors_const(mesh)) cli_note(c->cli, "%s: the colours of the vertices are not kept: PLY, OBJ and OFF keep them", c->output);
    tsr_mesh_destroy(&mesh);
}

static int convert_points(convert *c)
{
    if (convert_has_steps(c)) return cli_usage(c->cli, "%s holds points: " STEPS " are for volumes", c->cli->input[0]);
    int code = CLI_OK;
    tsr_points *points = cli_read_points(c->cli, c->cli->input[0], &c->read, &code);
    if (!points) return code;
    tsr_status status = tsr_points_write(points, c->output, &c->write);
    if (status != TSR_OK) code = cli_status(c->cli, status, c->output);
    if (!code && c->of_mesh) remark_colors(c);
    tsr_points_destroy(&points);
    return code;
}

/* Options of tile lists that would have no effect, each with the reason. */
static int check_tile_options(const convert *c, tsr_file_kind kind, const char *format, tsr_file_kind written)
{
    const char *in = c->cli->input[0];
    const tsr_tiles_write_options *w = &c->files.write;
    const int to_tiles = written == TSR_FILE_TILES, to_vdb = to_tiles && cli_names_vdb(c->output, c->write.format), to_fog = names_fog(c->write.format);
    const int to_tsr = to_tiles && !to_vdb && !cli_names_nvdb(c->output, c->write.format),
              from_grids = (kind == TSR_FILE_TILES && strcmp(format, "tsr")) || names_fog(format);
    if (c->tiles.edge && !(kind == TSR_FILE_VOLUME ? to_tiles : !strcmp(format, "nvdb")))
        return cli_usage(c->cli, "--edge: of tiles made of a volume or an .nvdb file, got %s to %s%s", in, c->output,
                         kind == TSR_FILE_TILES ? ": this list keeps the edge of its tiles" : "");
    if (c->files.read.grid && !from_grids) return cli_usage(c->cli, "--grid: %s holds no named grids, expected an .nvdb or .vdb file", in);
    if (w->name && !to_fog && (!to_tiles || to_tsr)) return cli_usage(c->cli, "--name: %s holds no named grids, expected an .nvdb or .vdb file", c->output);
    if (c->add && !to_fog && (!to_tiles || to_tsr)) return cli_usage(c->cli, "--add: %s holds no named grids, expected an .nvdb or .vdb file", c->output);
    if ((w->raw || w->values) && !to_tiles)
        return cli_usage(c->cli, "--%s: of .tsr files, expected one as output, got %s", w->raw ? "raw" : "values", c->output);
    if (!to_vdb) return CLI_OK;
    if (w->raw) return cli_usage(c->cli, "--raw: %s: .vdb files are packed by OpenVDB, expected a .tsr file", c->output);
    if (w->values) return cli_usage(c->cli, "--values q16: %s: .vdb files hold float32 values, expected a .tsr file", c->output);
    if (c->write.compression)
        return cli_usage(c->cli, "--compression: %s: .vdb files are packed by OpenVDB, expected a .tsr or .nvdb file", c->output);
    return CLI_OK;
}

/* DICOM files are written as segmentations of the series that --like names. */
static int check_dicom(convert *c)
{
    if (c->write.format ? strcasecmp(c->write.format, "dicom") : !cli_ends_in(c->output, ".dcm .dicom .ima")) return CLI_OK;
    c->source = c->like;
    return c->like ? CLI_OK : cli_usage(c->cli, "--output: %s: DICOM files are written as segmentations of a series, expected --like SERIES beside it", c->output);
}

static int run(cli_call *cli, int argc, char **argv)
{
    convert c = { .cli = cli,
                         .read = TSR_READ_OPTIONS,
                         .write = TSR_WRITE_OPTIONS,
                         .tiles = TSR_TILES_OPTIONS,
                         .files = { TSR_TILES_READ_OPTIONS, TSR_TILES_WRITE_OPTIONS } };
    int interpolation = 0, values = 0, index = 0, rule = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(c.output),
        { .name = "frames",
          .type = CLI_TEXT,
          .value = &c.frames_text,
          .argument = "A-B",
          .help = "to a film, numbered files or one file with an axis for them (NIfTI, NRRD, TIFF, Zarr): these frames of the input, from 0, both "
                  "included; of a volume without frames its slices, to the former two" },
        { .name = "crop",
          .type = CLI_BOX,
          .value = c.crop,
          .help = "1. keep the voxels from the first corner to before the second",
          .given = &c.crop_given },
        { .name = "reorient",
          .type = CLI_TEXT,
          .value = &c.reorient,
          .argument = "RAS",
          .help = "2. first: turn the axes so that x, y and z run as nearly as possible towards these (R L A P S I); voxels stay as they are" },
        { .name = "resample",
          .type = CLI_VEC3,
          .value = &c.resample,
          .help = "2. new spacing in world units, one number or three",
          .lower = 1e-12,
          .upper = 1e12,
          .given = &c.resample_given },
        { .name = "like", .type = CLI_TEXT, .value = &c.like, .argument = "FILE", .help = "2. or: onto the grid of another volume; of a DICOM output: of the series whose segmentation it is" },
        { .name = "deshear",
          .type = CLI_FLAG,
          .value = &c.deshear,
          .help = "2. or: onto perpendicular axes (tilted gantry): slices stay in their planes" },
        { .name = "axis-aligned", .type = CLI_FLAG, .value = &c.axis_aligned, .help = "2. or: onto a grid along the world's axes" },
        { .name = "interpolation",
          .type = CLI_CHOICE,
          .value = &interpolation,
          .argument = "WAY",
          .help = "of 2 (default linear; of files that say they hold labels nearest); label: the label with most weight",
          .choices = "linear nearest cubic label",
          .given = &c.interpolation_given },
        { .name = "fill",
          .type = CLI_TEXT,
          .value = &c.fill_text,
          .argument = "VALUE",
          .help = "of 2: value outside the input (default 0), a number or nan; of --like, --deshear and --axis-aligned" },
        { .name = "level",
          .type = CLI_INT,
          .value = &c.level,
          .argument = "N",
          .help = "3. 2^N voxels along each axis become one; of a stored pyramid (Zarr, TIFF) without --rule: its level N is read",
          .lower = 1,
          .upper = 62 },
        { .name = "rule",
          .type = CLI_CHOICE,
          .value = &rule,
          .argument = "RULE",
          .help = "of 3: what becomes of them (default average, as f64; sums are 64 bits wide)",
          .choices = "average sum min max",
          .given = &c.rule_given },
        { .name = "smooth",
          .type = CLI_REAL,
          .value = &c.smooth,
          .argument = "SIGMA",
          .help = "4. Gaussian, standard deviation in world units",
          .lower = 0,
          .upper = 1e9,
          .given = &c.smooth_given },
        { .name = "threshold",
          .type = CLI_TEXT,
          .value = &c.threshold_text,
          .argument = "LOWER:UPPER",
          .help = "5. mask of the values from LOWER to UPPER, both included",
          .given = &c.threshold_given },
        { .name = "largest-component", .type = CLI_FLAG, .value = &c.largest_component, .help = "6. of a mask, keep the largest piece; voxels are connected by faces (6 neighbours)" },
        { .name = "dtype",
          .type = CLI_DTYPE,
          .value = &c.dtype,
          .help = "7. element type; integers are rounded and saturated",
          .given = &c.dtype_given },
        { .name = "window",
          .type = CLI_RANGE,
          .value = c.window,
          .help = "7. or: LOWER becomes 0, UPPER the largest number of --dtype u8 or u16 (default u16; u8 for JPEG)",
          .given = &c.window_given },
        { .name = "slice",
          .type = CLI_TEXT,
          .value = &c.slice.text,
          .argument = "AXIS=N",
          .help = "8. one slice, x=N, y=N or z=N, as for a PNG file; of an image z=N is channel N" },
        { .name = "space",
          .type = CLI_CHOICE,
          .value = &c.space,
          .argument = "FRAME",
          .help = "world frame of the output; an input that names none gets this one",
          .choices = "RAS LPS",
          .given = &c.space_given },
        { .name = "format", .type = CLI_TEXT, .value = &c.write.format, .argument = "NAME", .help = "of the output (default: by extension)" },
        { .name = "compression",
          .type = CLI_INT,
          .value = &c.write.compression,
          .argument = "LEVEL",
          .help = "-1 none, 0 default, 1 to 9",
          .lower = -1,
          .upper = 9 },
        { .name = "ascii", .type = CLI_FLAG, .value = &c.write.ascii, .help = "text variant of PLY, STL and PCD" },
        { .name = "big-endian", .type = CLI_FLAG, .value = &c.write.big_endian, .help = "byte order, where the format has a choice" },
        { .name = "detached", .type = CLI_FLAG, .value = &c.write.detached, .help = "header and data in two files, with --format" },
        { .name = "band",
          .type = CLI_REAL,
          .value = &c.tiles.band,
          .argument = "WIDTH",
          .help = "volume to tiles: half width of the band in world units (default 3 voxels, at least 2 of the largest)",
          .lower = 1e-12,
          .upper = 1e12 },
        { .name = "edge",
          .type = CLI_INT,
          .value = &c.tiles.edge,
          .argument = "N",
          .help = "volume or .nvdb to tiles: voxels of a tile, 4 or 8 (default 8)",
          .lower = 4,
          .upper = 8 },
        { .name = "index",
          .type = CLI_CHOICE,
          .value = &index,
          .argument = "WAY",
          .help = "volume to tiles: how tiles are found",
          .choices = "sorted paged" },
        { .name = "unbounded", .type = CLI_FLAG, .value = &c.unbounded, .help = "volume to tiles: forget the extents" },
        { .name = "values",
          .type = CLI_CHOICE,
          .value = &values,
          .argument = "KIND",
          .help = "of a .tsr file: 32-bit floats or 16-bit codes",
          .choices = "f32 q16" },
        { .name = "raw", .type = CLI_FLAG, .value = &c.files.write.raw, .help = "of a .tsr file: page-aligned and uncompressed, to be mapped" },
        { .name = "grid",
          .type = CLI_TEXT,
          .value = &c.files.read.grid,
          .argument = "NAME",
          .help = "of .nvdb and .vdb: which grid to read (default: first level set)" },
        { .name = "name", .type = CLI_TEXT, .value = &c.files.write.name, .argument = "NAME", .help = "of .nvdb and .vdb: name of the grid written" },
        { .name = "add",
          .type = CLI_FLAG,
          .value = &c.add,
          .help = "of .nvdb and .vdb: the grid joins those of the file that is there" },
        { .name = "pyramid",
          .type = CLI_INT,
          .value = &c.write.levels,
          .argument = "LEVELS",
          .help = "of a Zarr output: how many levels, each half as fine as the one before (default 1: no pyramid)",
          .lower = 1,
          .upper = 30 },
        CLI_READ_OPTIONS_LIMIT(c.read, "refuse larger files; with no steps: of memory to take, voxels go from file to file slab by slab"),
        { 0 },
    };
    cli->channels = cli->cuts = 1;
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    const cli_option range = { .name = "threshold", .value = c.threshold };
    if (c.threshold_given && (code = cli_take_range(cli, &range, c.threshold_text)) >= 0) return code;
    if (!c.output) return cli_check_output(cli, NULL);
    code = cli_slice_parse(cli, &c.slice);
    if (!code) code = convert_check_steps(&c);
    if (!code) code = check_dicom(&c);
    if (code) return code;
    if (c.rule_given && !c.level) return cli_usage(cli, "--rule: needs --level");
    c.interpolation = (tsr_interpolation)interpolation;
    c.rule = (tsr_level_rule)rule;
    if (c.tiles.edge && c.tiles.edge != 4 && c.tiles.edge != 8) return cli_usage(cli, "--edge: '%d' given, expected 4 or 8", c.tiles.edge);
    if (index && c.unbounded) return cli_usage(cli, "--index paged and --unbounded: a page table needs the extents");
    c.tiles.index = (tsr_tiles_index)index;
    c.files.write.values = (tsr_tiles_values)values;
    c.files.read.edge = c.tiles.edge;
    c.write.overwrite = cli->globals.force;
    c.write.progress = cli_progress(cli);

    tsr_file_kind kind;
    const char *format;
    if (!c.read.format && tsr_video_recognise(cli->input[0])) {
        code = cli_no_choice(cli, cli->input[0], &c.read, "a film");
        return code ? code : cli_film_convert(cli, c.output, c.write.format);
    }
    c.read.dataset = c.files.read.grid ? c.files.read.grid : c.read.dataset; /* before it is known which kind of grid it is */
    code = cli_recognise(cli, cli->input[0], &c.read, &kind, &format);
    if (code) return code;
    if (names_fog(format) && !c.write.format && cli_names_tiles(c.output, NULL) && !strstr(c.output, ".tsr"))
        c.write.format = cli_names_vdb(c.output, NULL) ? "vdb-fog" : "nvdb-fog"; /* fog stays fog */
    if (kind == TSR_FILE_TILES && !c.files.read.grid) c.files.read.grid = c.read.dataset;
    if (kind == TSR_FILE_VIDEO) return cli_film_convert(cli, c.output, c.write.format);       /* standard input */
    if (kind == TSR_FILE_MESH && output_is_points(&c)) kind = TSR_FILE_POINTS, c.of_mesh = 1; /* its vertices */
    const int from_field = kind == TSR_FILE_VOLUME || kind == TSR_FILE_TILES;
    const tsr_file_kind written = !from_field ? kind : cli_names_tiles(c.output, c.write.format) ? TSR_FILE_TILES : TSR_FILE_VOLUME;
    const int to_film = kind == TSR_FILE_VOLUME && !convert_is_numbered(c.output) && tsr_video_names_film(c.output);
    if (c.frames_text && kind != TSR_FILE_VOLUME) return cli_usage(cli, "--frames: of volumes, %s is none", cli->input[0]);
    if (c.source) code = cli_check_output(cli, c.output);
    else if (kind != TSR_FILE_UNSTRUCTURED && !to_film) code = cli_check_write(cli, c.output, written, c.write.format);
    if (code) return code;
    const char *idle = c.unbounded ? "--unbounded" : c.tiles.band > 0 ? "--band" : index ? "--index paged" : NULL;
    if (idle && (kind != TSR_FILE_VOLUME || written != TSR_FILE_TILES))
        return cli_usage(cli, "%s shapes the tile list of a volume: expected a volume as input and a tile list as output, got %s to %s", idle,
                         cli->input[0], c.output);
    code = check_tile_options(&c, kind, format, written);
    if (code) return code;
    switch (kind) {
    case TSR_FILE_VOLUME: return convert_volume(&c);
    case TSR_FILE_MESH: c.read.local_origin = 1; return convert_mesh(&c);
    case TSR_FILE_TILES: return convert_tiles(&c);
    case TSR_FILE_POINTS: c.read.local_origin = 1; return convert_points(&c);
    default:
        return cli_error(cli, CLI_FAILED, "%s: expected a volume, an image, a mesh, a tile list or points, this is an unstructured grid",
                         cli->input[0]);
    }
}

const cli_verb verb_convert = { "convert", "[options] INPUT -o OUTPUT",
                                "Convert volumes, images, meshes, tile lists, points and films between formats, cut, resample, smooth and threshold",
                                "  tessera make sphere -o sphere.nii.gz\n"
                                "  tessera convert sphere.nii.gz --resample 2 --dtype f32 -o coarse.nrrd\n"
                                "  tessera convert sphere.nii.gz --window -20:20 --slice z=32 -o slice.png\n"
                                "  tessera convert sphere.nii.gz --window -20:20 --dtype u8 --frames 10-50 -o slices.y4m\n"
                                "  tessera convert sphere.nii.gz --compression 6 -o sphere.tif\n"
                                "  tessera convert sphere.nii.gz --format nvdb-fog --name density -o fog.nvdb\n"
                                "  tessera convert sphere.nii.gz -o sphere.tsr\n"
                                "  tessera convert sphere.tsr -o sphere.nvdb\n",
                                run };
