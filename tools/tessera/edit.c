#include <stdlib.h>
#include <string.h>

#include "lists.h"

struct edit {
    cli_call *cli;
    tsr_read_options read;
    cli_list_options list;
    tsr_editor_options options;
    const char *like, *output, *object;
    tsr_context *context;
    tsr_editor *editor;
    int files, code;
    char said[6000]; /* what a reader or writer below would have printed: the script says it with its line in front */
};

static void hold(struct edit *e)
{
    e->said[0] = 0;
    e->cli->held = e->said;
    e->cli->held_room = sizeof e->said;
}
static void let_go(struct edit *e) { e->cli->held = NULL; }

/* What a script loads and saves goes through the same functions as the arguments of other verbs. */
static tsr_status load(void *user, tsr_editor *editor, const char *path, tsr_tiles **tiles)
{
    struct edit *e = (struct edit *)user;
    cli_list_options options = e->list;
    tsr_tiles *like = NULL;
    tsr_tiles_options model = TSR_TILES_OPTIONS;
    (void)editor;
    model.edge = e->options.edge;
    model.band = e->options.band;
    model.capacity = 8;
    tsr_status status = tsr_tiles_create(e->context, &e->options.geometry, &model, &like);
    if (status != TSR_OK) return status;
    options.like = like;
    hold(e);
    *tiles = cli_read_list(e->cli, e->context, path, &e->read, &options, &e->code);
    let_go(e);
    tsr_tiles_destroy(&like);
    return *tiles ? TSR_OK : TSR_ERROR_IO;
}
static tsr_status save(void *user, tsr_editor *editor, const char *path, const tsr_tiles *tiles)
{
    struct edit *e = (struct edit *)user;
    (void)editor;
    e->files++;
    hold(e);
    const int code = cli_write_list(e->cli, e->context, tiles, path, NULL);
    let_go(e);
    return code == CLI_OK ? TSR_OK : TSR_ERROR_IO;
}
static tsr_status read_points(void *user, tsr_editor *editor, const char *path, tsr_points **points)
{
    struct edit *e = (struct edit *)user;
    (void)editor;
    hold(e);
    *points = cli_read_points(e->cli, path, &e->read, &e->code);
    let_go(e);
    return *points ? TSR_OK : TSR_ERROR_IO;
}
/* Standard output that holds the result has no room for what the script says. */
static int speaks(const struct edit *e) { return !e->output || strcmp(e->output, "-"); }

static void measured(void *user, const char *object, const tsr_tiles_measures *m)
{
    const struct edit *e = (const struct edit *)user;
    if (speaks(e)) cli_show_measures(e->cli, object, m);
}

static void attracted(void *user, const char *object, double reached, double time)
{
    const struct edit *e = (const struct edit *)user;
    if (!speaks(e)) return;
    if (!e->cli->globals.json) {
        printf("%-12s %s at time %.9g of %.9g\n", object, reached < time ? "at rest" : "not at rest", reached, time);
        return;
    }
    json_open(NULL, '{');
    json_text("object", object);
    json_real("reached", reached);
    json_real("time", time);
    json_close('}');
}

static int document(struct edit *e)
{
    int code = CLI_OK;
    tsr_volume *like = NULL;
    tsr_vec3 h = e->list.spacing.x > 0 ? e->list.spacing : (tsr_vec3){ 1, 1, 1 };
    e->options.geometry = tsr_geometry_make(h, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    if (e->like) {
        like = cli_read_volume(e->cli, e->like, &e->read, &code);
        if (!like) return code;
        e->options.geometry = *tsr_volume_geometry(like);
        tsr_volume_destroy(&like);
        h = tsr_geometry_spacing(&e->options.geometry);
    }
    e->options.edge = e->list.edge;
    e->options.key_bits = cli_key_bits(&e->list);
    e->options.band = cli_band(e->cli, &e->list, h);
    tsr_status status = tsr_editor_create(e->context, &e->options, &e->editor);
    return status == TSR_OK ? CLI_OK : cli_status(e->cli, status, NULL);
}

static int script(struct edit *e)
{
    tsr_edit_script options = TSR_EDIT_SCRIPT;
    options.load = load;
    options.save = save;
    options.measured = measured;
    options.points = read_points;
    options.attracted = attracted;
    options.user = e;
    options.progress = cli_progress(e->cli);
    char *text = cli_read_text(e->cli, e->cli->input[0]);
    if (!text) return CLI_FAILED;
    const int lists = e->cli->globals.json && speaks(e);
    if (lists) json_open(NULL, '[');
    tsr_status status = tsr_editor_script(e->editor, text, e->cli->input[0], &options);
    free(text);
    cli_progress_end(e->cli);
    if (lists) json_close(']');
    if (status == TSR_OK) return CLI_OK;
    if (!e->said[0]) return cli_error(e->cli, CLI_FAILED, "%s", tsr_error_message());
    const char *place = tsr_error_message(); /* SCRIPT:LINE: and a message of the library, which need not be the one to show */
    size_t length = strlen(e->cli->input[0]);
    length = strncmp(place, e->cli->input[0], length) ? 0 : length + 1;
    if (length) length += strspn(place + length, "0123456789");
    return cli_error(e->cli, CLI_FAILED, "%.*s%s%s", (int)length, place, length ? ": " : "", e->said);
}

static int output(struct edit *e)
{
    const char *name = e->object ? e->object : tsr_editor_object_at(e->editor, 0);
    const tsr_tiles *tiles = name ? tsr_editor_tiles(e->editor, name) : NULL;
    if (!name) return cli_error(e->cli, CLI_FAILED, "%s: the script leaves no object to write, expected one made by sphere, load or the like", e->cli->input[0]);
    if (!tiles) return cli_error(e->cli, CLI_FAILED, "--object: the script leaves no object '%s'", name);
    tsr_tiles_info info = TSR_TILES_INFO;
    const int code = cli_write_list(e->cli, e->context, tiles, e->output, e->list.format);
    if (!code && tsr_tiles_describe(tiles, &info) == TSR_OK && info.count == 0) cli_note_vanished(e->cli, tiles, e->output);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct edit e = { .cli = cli, .read = TSR_READ_OPTIONS, .options = TSR_EDITOR_OPTIONS };
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(e.output),
        { .name = "object", .type = CLI_TEXT, .value = &e.object, .argument = "NAME", .help = "what --output writes (default: the first object)" },
        { .name = "like", .type = CLI_TEXT, .value = &e.like, .argument = "VOLUME", .help = "take voxel size and place in the world from a volume" },
        { .name = "draft", .type = CLI_FLAG, .value = &e.options.draft, .help = "first-order schemes: faster, less accurate" },
        { .name = "tile-memory-limit",
          .type = CLI_BYTES,
          .value = &e.options.memory_limit,
          .argument = "BYTES",
          .help = "of one object's tiles",
          .lower = 1,
          .upper = 9e18 },
        { .name = "history-limit",
          .type = CLI_BYTES,
          .value = &e.options.history_limit,
          .argument = "BYTES",
          .help = "device memory that undo may keep",
          .lower = 1,
          .upper = 9e18 },
        CLI_LIST_OPTIONS(e.list),
        CLI_READ_OPTIONS(e.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (e.output && (code = cli_check_list(cli, e.output, e.list.format)) != CLI_OK) return code;
    code = cli_context(cli, &e.context);
    if (!code) code = document(&e);
    if (!code) code = script(&e);
    if (!code && e.output) code = output(&e);
    if (!code && !e.output && !e.files) cli_note(cli, "nothing was written: give -o FILE, or 'save OBJECT FILE' in the script");
    tsr_editor_destroy(&e.editor);
    tsr_context_destroy(&e.context);
    return code;
}

const cli_verb verb_edit = { "edit", "[options] SCRIPT [-o OUTPUT]", "Sculpt level sets by a script: shapes, cut, paste, brushes, smoothing, undo",
                             "  printf 'sphere body 0 0 0 20\\nsphere bump 15 0 0 12\\nblend body bump 3\\nmeasure body\\n' > shape.txt\n"
                             "  tessera edit shape.txt -o shape.ply\n",
                             run };
