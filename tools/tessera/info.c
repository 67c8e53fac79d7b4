#include "info.h"

#include <string.h>
#include <sys/stat.h>

#include "labels.h"
#include "regions.h"
#include "streams.h"

const char *info_space_name(tsr_space space) { return space == TSR_SPACE_RAS ? "RAS" : space == TSR_SPACE_LPS ? "LPS" : "none"; }

void info_show_contents(const info_call *info, const tsr_contents *contents)
{
    const int json = info->cli->globals.json;
    tsr_contents_entry e;
    if (json) json_open("contents", '[');
    for (int32_t i = 0; tsr_contents_at(contents, i, &e); i++) {
        char size[200] = "";
        for (int k = 0; k < e.axes; k++) snprintf(size + strlen(size), sizeof size - strlen(size), "%s%lld", k ? " x " : "", (long long)e.size[k]);
        if (!json) {
            printf("  %-12s %s: %s %s (--%s)\n", e.kind, cli_shown(e.name), size, e.type, strcmp(e.kind, "grid") ? e.kind : "dataset");
            continue;
        }
        json_open(NULL, '{');
        json_text("kind", e.kind);
        json_text("name", e.name);
        json_text("type", e.type);
        json_open("size", '[');
        for (int k = 0; k < e.axes; k++) json_int(NULL, e.size[k]);
        json_close(']');
        json_close('}');
    }
    if (json) json_close(']');
}

/* A plain Y4M file whose length is no whole number of frames is read through: frames may have headers of other lengths, or the file is cut off. */
static int count_frames(const info_call *info, const char *path, tsr_video_reader *reader, int64_t *frames)
{
    struct stat about;
    tsr_video_frame frame = { 0 };
    tsr_status status = TSR_OK;
    int more = 1;
    if (*frames >= 0 || strcmp(tsr_video_reader_info(reader)->container, "y4m") || stat(path, &about) || !S_ISREG(about.st_mode)) return CLI_OK;
    for (*frames = 0; more && status == TSR_OK; *frames += more && status == TSR_OK) status = tsr_video_reader_next_frame(reader, &frame, &more);
    tsr_video_frame_destroy(&frame);
    if (status == TSR_OK) return CLI_OK;
    return cli_status(info->cli, status, path);
}

static int film_info(info_call *info, const char *path)
{
    tsr_video_reader *reader;
    const tsr_video_read_options options = { .struct_size = sizeof options, .memory_limit = info->read.memory_limit };
    tsr_status status = tsr_video_reader_create(path, &options, &reader);
    if (status != TSR_OK) return cli_status(info->cli, status, path);
    const tsr_video_info *film = tsr_video_reader_info(reader);
    const tsr_video_format *f = &film->format;
    const char *matrix = f->matrix == TSR_MATRIX_BT709 ? "bt709" : "bt601", *range = f->range == TSR_RANGE_FULL ? "full" : "limited";
    const char interlacing[2] = { film->interlacing, 0 };
    int64_t frames = film->frames;
    const int code = count_frames(info, path, reader, &frames);
    if (info->cli->globals.json) {
        json_open(NULL, '{');
        json_text("file", cli_given(path));
        json_text("kind", "film");
        json_text("format", film->container);
        json_int("width", f->width);
        json_int("height", f->height);
        json_int("frames", frames);
        json_open("rate", '[');
        json_int(NULL, film->rate[0]);
        json_int(NULL, film->rate[1]);
        json_close(']');
        json_text("chroma", tsr_chroma_name(f->chroma));
        json_int("bits", f->bits);
        json_text("matrix", matrix);
        json_text("range", range);
        json_text("interlacing", interlacing);
        json_close('}');
    } else {
        printf("%s: film (%s)\n  size         %d x %d", cli_shown(path), cli_shown(film->container), f->width, f->height);
        if (frames >= 0) printf(", %lld frames", (long long)frames);
        if (film->rate[0]) printf(" at %g per second", (double)film->rate[0] / film->rate[1]);
        printf("\n  samples      %s, %d bits, %s, %s range, interlacing %s\n", tsr_chroma_name(f->chroma), f->bits, matrix, range, interlacing);
    }
    tsr_video_reader_destroy(&reader);
    return code;
}

static int stream_info(const info_call *info, const char *path)
{
    if (info->cli->globals.json) {
        json_open(NULL, '{');
        json_text("file", cli_given(path));
    } else printf("%s: Dirac or VC-2 stream\n", cli_shown(cli_given(path)));
    const int code = streams_show(info->cli, path, info->plot);
    if (info->cli->globals.json) json_close('}');
    return code;
}

static int file_info(info_call *info, const char *path)
{
    tsr_file_kind kind;
    const char *format;
    int image = 0;
    const int kept = strcmp(path, "-") ? CLI_OK : cli_rewind_input(info->cli);
    if (kept) return kept;
    const int dirac = !info->read.format && tsr_dirac_recognise(path), film = !dirac && !info->read.format && tsr_video_recognise(path),
              tree = !dirac && !film && !info->read.format && cli_tree_is_file(info->cli, path);
    const int chosen = dirac || film || tree ? cli_no_choice(info->cli, path, &info->read, tree ? "a region tree" : "a film") : CLI_OK;
    if (chosen) return chosen;
    if (dirac) return stream_info(info, path);
    if (film) return film_info(info, path);
    if (tree) return cli_tree_info(info->cli, path);
    int code = cli_recognise_image(info->cli, path, &info->read, &kind, &format);
    if (code) return code;
    if (!strcmp(format, "tsc") && strcmp(path, "-")) code = info_compressed(info, path, format, &image);
    if (code || image) return code;
    switch (kind) {
    case TSR_FILE_VIDEO: return film_info(info, path);
    case TSR_FILE_TILES: return info_tiles(info, path, format);
    case TSR_FILE_MESH: return info_mesh(info, path, format);
    case TSR_FILE_IMAGE: return info_image(info, path, format);
    case TSR_FILE_POINTS: return info_points(info, path, format);
    case TSR_FILE_UNSTRUCTURED: return info_unstructured(info, path, format);
    default: return info_volume(info, path, format);
    }
}

static int run(cli_call *cli, int argc, char **argv)
{
    info_call info = { .cli = cli, .read = TSR_READ_OPTIONS };
    const cli_option options[] = {
        { .name = "stats",
          .type = CLI_FLAG,
          .value = &info.stats,
          .help = "minimum, maximum, mean and standard deviation of a volume; counts and box of a tile list" },
        { .name = "labels",
          .type = CLI_FLAG,
          .value = &info.labels,
          .help = "of a label map: its labels with their voxels and volumes (world units cubed)" },
        CLI_LABEL_NAMES_OPTION(info.label_names),
        { .name = "check-geometry",
          .type = CLI_FLAG,
          .value = &info.check_geometry,
          .help = "name what is doubtful about a volume's geometry; exit code 3 if anything is" },
        { .name = "plot",
          .type = CLI_TEXT,
          .value = &info.plot,
          .argument = "FILE",
          .help = "of one VC-2 or Dirac stream: where the bytes of each picture go, as a picture (SVG)" },
        CLI_READ_OPTIONS_LIMIT(info.read, "refuse larger files; --stats goes through a larger volume slab by slab"),
        { 0 },
    };
    cli->channels = 1;
    cli->first = -1;
    int code = cli_parse(cli, options, 1, 1 << 20, argc, argv);
    if (code >= 0) return code;
    if (info.plot && cli->inputs == 1 && !strcmp(cli->input[0], "-") && (code = cli_rewind_input(cli)) != CLI_OK) return code;
    if (info.plot && (cli->inputs != 1 || !tsr_dirac_recognise(cli->input[0]))) return cli_usage(cli, "--plot: expected one VC-2 or Dirac stream");
    /* of several frames, layers, channels and series the first stands for all, unless one is named */
    if (!info.read.frame_given) info.read.frame_given = 2;
    if (!info.read.layer_given) info.read.layer_given = 2;
    if (!info.read.channel_given) info.read.channel_given = 2;
    if (!info.read.series_given) info.read.series_given = 2;
    info.labels |= info.label_names != NULL;
    code = info.stats ? cli_context(cli, &info.context) : CLI_OK;
    if (code) return code;
    if (cli->globals.json && cli->inputs > 1) json_open(NULL, '[');
    for (int i = 0; i < cli->inputs; i++) {
        int one = file_info(&info, cli->input[i]);
        if (one) code = one;
    }
    if (cli->globals.json && cli->inputs > 1) json_close(']');
    tsr_context_destroy(&info.context);
    return code ? code : info.doubtful ? CLI_DIFFERS : CLI_OK;
}

const cli_verb verb_info = { "info", "[options] FILE...", "Say what a volume, mesh, image, tile, point or video file holds",
                             "  tessera make sphere -o sphere.nii.gz\n  tessera info --stats sphere.nii.gz\n", run };
