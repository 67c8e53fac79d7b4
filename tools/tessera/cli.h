/* tools/tessera/cli.h: what every verb of the command line shares: the option table, messages, the context, JSON output.
 *
 * A verb is one file with one function. It fills a table of options (each with the name of its API field, '-' for '_'), calls
 * cli_parse, which also answers --help from the same table, and returns an exit code. stdout carries results only. */
#ifndef TESSERA_CLI_H
#define TESSERA_CLI_H

#include <stdio.h>

#include "tessera/tessera.h"

enum cli_exit { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_DIFFERS = 3, CLI_NO_DEVICE = 4 };

/* The options every verb takes. */
typedef struct cli_globals {
    const char *device;
    int32_t threads;
    int quiet, json, force;
} cli_globals;

typedef enum cli_type {
    CLI_FLAG,   /* int: 1 when given */
    CLI_COUNT,  /* int64_t, within [lower, upper] */
    CLI_BYTES,  /* int64_t, within [lower, upper]: bytes, or with K, M, G, T behind it that many times 1024, with KB, MB, GB, TB 1000 */
    CLI_INT,    /* int32_t, within [lower, upper] */
    CLI_REAL,   /* double, within [lower, upper]; finite */
    CLI_TEXT,   /* const char *: points into argv */
    CLI_SIZE3,  /* tsr_size3: X,Y,Z or one number for all three; each within [lower, upper] */
    CLI_SIZE2,  /* tsr_size3 with a z of 1: W,H, or one number for both; each within [lower, upper] */
    CLI_VEC3,   /* tsr_vec3: as CLI_SIZE3 */
    CLI_CHOICE, /* int: index into the words of `choices` */
    CLI_DTYPE,  /* tsr_dtype */
    CLI_BOX,    /* tsr_size3[2]: X,Y,Z:X,Y,Z, first and one past the last */
    CLI_RANGE,  /* double[2]: LOWER:UPPER, either may be missing (infinite) */
    CLI_COLOR,  /* float[3], sRGB 0 to 1: #rrggbb */
    CLI_LIST,   /* cli_list: may be given several times */
    CLI_REALS   /* cli_reals: a finite number, may be given several times */
} cli_type;

typedef struct cli_list { const char *item[64]; int count; } cli_list;
typedef struct cli_reals { double item[64]; int count; } cli_reals;

typedef struct cli_option {
    const char *name;         /* without the dashes */
    char letter;              /* short form, 0 = none */
    cli_type type;
    void *value;              /* where the value goes, as `type` says */
    const char *argument;     /* how --help calls the value ("MM", "FILE") */
    const char *help;
    double lower, upper;      /* of numbers; both 0 = any */
    const char *choices;      /* "none range eps" */
    int *given;               /* set to 1 when the option occurs; may be NULL */
} cli_option;

typedef struct cli_call {
    const struct cli_verb *verb;
    cli_globals globals;
    const cli_option *options; /* the verb's own; ends with a zero name */
    cli_option *kept;          /* ... which lie here: remarks name options when the verb has returned */
    char **input;
    int inputs;
    int first;          /* which input is the file that options of choice (--frame, --channel ...) are of, 0 unless words come before; -1: every one. Others may lack it */
    const char *format; /* CLI_FORMAT_OPTION: of the verb's first output */
    int channels;       /* the verb takes images of several channels as volumes; to others a third axis is space */
    int cuts;           /* the verb may take a slice of what it reads: a picture as output is checked when it is written */
    char *held;         /* not NULL: cli_usage, cli_error and cli_status write their text here, in held_room bytes, in place of stderr */
    size_t held_room;
} cli_call;

typedef struct cli_verb {
    const char *name;
    const char *usage;        /* "[options] INPUT -o OUTPUT" */
    const char *purpose;      /* one line */
    const char *example;      /* commands that work on data the tool can make itself */
    int (*run)(cli_call *cli, int argc, char **argv);
} cli_verb;

/* Parses argv[1..] by the verb's table and the global one. Returns -1 to go on, or an exit code (usage error, --help). Inputs (arguments
 * that are no options) must number between `fewest` and `most`. */
int cli_parse(cli_call *cli, const cli_option *options, int fewest, int most, int argc, char **argv);
/* One LOWER:UPPER, either may be missing, into the option's value of two numbers; negative, or the exit code of a mistake. */
int cli_take_range(const cli_call *cli, const cli_option *option, const char *text);
/* One number of the option's type, likewise. */
int cli_take_number(const cli_call *cli, const cli_option *option, const char *text);

/* Messages on stderr: "tessera VERB: ...". cli_usage returns CLI_USAGE. cli_status prints the library's last message, with `file` and the
 * option in front when given, and returns the exit code that belongs to the status. */
int cli_usage(const cli_call *cli, const char *format, ...) TSR_PRINTF(2, 3);
int cli_error(const cli_call *cli, int code, const char *format, ...) TSR_PRINTF(3, 4);
int cli_status(const cli_call *cli, tsr_status status, const char *file);
void cli_note(const cli_call *cli, const char *format, ...) TSR_PRINTF(2, 3); /* a remark, silenced by --quiet */
void cli_remarks(const cli_call *cli); /* what the library noticed about the files that were read, with the names of options instead of fields */

/* The context the global options ask for; on failure prints and returns the exit code, else CLI_OK. */
int cli_context(const cli_call *cli, tsr_context **context);
int cli_cpu_context(const cli_call *cli, tsr_context **context); /* for work that only the CPU does; --device is checked */

/* Progress bar on a terminal, silent elsewhere; Ctrl-C cancels. cli_progress_end wipes the bar. */
tsr_progress cli_progress(const cli_call *cli);
void cli_progress_end(const cli_call *cli);
/* A signal that ends the program takes unfinished files with it, from the start on. */
void cli_catch_signals(void);
void cli_name_kept(char *text, size_t room); /* in a message: the names of what cli_kept keeps */
/* What reported is done (the readers below say so themselves): until the next cli_progress or report a signal ends the program at once. */
void cli_progress_pause(void);

/* Standard input becomes a file that can be read again and again, from its start: to recognise it, and for its content. Returns an exit code. */
int cli_rewind_input(const cli_call *cli);
/* Is standard input a film (Y4M)? Takes nothing of it: it may be live. Waits for its first bytes. */
int cli_input_is_film(void);
/* A named pipe, or the pipe of <(command), can be read once, and its content says what it is: it is kept in a file without a name, in the folder that TMPDIR
 * names, whose path is given back; other paths come back as they are. NULL after a message and *code. The same path gives the same file. cli_given turns such
 * a path round, for what is printed; messages do it themselves. */
const char *cli_kept(const cli_call *cli, const char *path, int *code);
const char *cli_given(const char *path);
/* The verb's --memory-limit alone. */
tsr_read_options cli_limit_options(const cli_call *cli);
/* What a file holds: as --input-format says, by content, by extension, or a volume if --raw-shape is given. An image is a volume; cli_recognise_image tells
 * them apart. */
int cli_recognise_image(const cli_call *cli, const char *path, const tsr_read_options *options, tsr_file_kind *kind, const char **format);
/* Is it the input that options of choice are of (cli_call.first)? */
int cli_is_first(const cli_call *cli, const char *path);
/* A mistake, if something is chosen in such an input, which is `what` and no volume. */
int cli_no_choice(const cli_call *cli, const char *path, const tsr_read_options *options, const char *what);
int cli_recognise(const cli_call *cli, const char *path, const tsr_read_options *options, tsr_file_kind *kind, const char **format);
/* Reading with the file's name in the message; a grey image is a volume of one slice. Sets *code and returns NULL on failure. Host memory. */
tsr_volume *cli_read_volume(const cli_call *cli, const char *path, const tsr_read_options *options, int *code);
/* How far apart the two forms of a NIfTI file place a voxel, world units; 0 unless it has both and they disagree. */
double cli_forms_apart(const tsr_volume *volume, int codes[2]);
tsr_mesh *cli_read_mesh(const cli_call *cli, const char *path, const tsr_read_options *options, int *code);
/* What is counted of a mesh, in the words of all verbs: members of the JSON object or two lines. */
void cli_show_topology(const cli_call *cli, const tsr_mesh_measures *m, const char *indent);
/* What a mesh had and its file has no place for: said. */
void cli_remark_mesh(const cli_call *cli, const tsr_mesh *mesh, const char *path, const tsr_write_options *options);
/* The distance to the nearest other point, in the middle of some of them. Linear. */
double cli_points_spacing(const tsr_points *points);
tsr_points *cli_read_points(const cli_call *cli, const char *path, const tsr_read_options *options, int *code);
/* Lines of an option table that fill a tsr_read_options. */
#define CLI_READ_OPTIONS(read) CLI_READ_OPTIONS_LIMIT(read, "refuse larger files")
/* For verbs that keep to the limit instead: larger volumes go from file to file, a part at a time. */
#define CLI_READ_OPTIONS_WITHIN(read) CLI_READ_OPTIONS_LIMIT(read, "of memory to take: larger volumes go from file to file, slab by slab")
#define CLI_READ_OPTIONS_LIMIT(read, limit_help)                                                                                    \
    { .name = "input-format", .type = CLI_TEXT, .value = &(read).format, .argument = "NAME",                                       \
      .help = "read as nifti, nrrd, metaimage, tiff, hdf5, zarr, npy, raw, png, ply, ... (default: by content)" },                                    \
    { .name = "allow-paths", .type = CLI_FLAG, .value = &(read).allow_paths,                                                       \
      .help = "a header may name data files anywhere (default: beside it or below)" },                                             \
    { .name = "memory-limit", .type = CLI_BYTES, .value = &(read).memory_limit, .argument = "BYTES", .help = (limit_help), \
      .lower = 1, .upper = 9e18 },                                                                                                  \
    { .name = "raw-shape", .type = CLI_SIZE3, .value = &(read).raw_shape, .help = "extents of a raw file", .lower = 1, .upper = 1e9 }, \
    { .name = "raw-dtype", .type = CLI_DTYPE, .value = &(read).raw_dtype, .help = "element type of a raw file" },                   \
    { .name = "raw-spacing", .type = CLI_VEC3, .value = &(read).raw_spacing, .help = "spacing of a raw file (default 1)",           \
      .lower = 1e-300, .upper = 1e300 },                                                                                            \
    { .name = "raw-offset", .type = CLI_BYTES, .value = &(read).raw_offset, .argument = "BYTES", .help = "bytes to skip in a raw file", \
      .lower = 0, .upper = 9e18 },                                                                                                  \
    { .name = "raw-big-endian", .type = CLI_FLAG, .value = &(read).raw_big_endian, .help = "byte order of a raw file" },              \
    { .name = "frame", .type = CLI_COUNT, .value = &(read).frame, .argument = "N", .help = "of a file with several in time: which to read, from 0", \
      .lower = 0, .upper = 9e18, .given = &(read).frame_given },                                                                    \
    { .name = "layer", .type = CLI_COUNT, .value = &(read).layer, .argument = "N", .help = "of a layered segmentation: which to read, from 0", \
      .lower = 0, .upper = 9e18, .given = &(read).layer_given },                                                                    \
    { .name = "channel", .type = CLI_COUNT, .value = &(read).channel, .argument = "N",                                              \
      .help = "of voxels of several numbers (RGB, vectors): which to read, from 0", .lower = 0, .upper = 9e18,                       \
      .given = &(read).channel_given },                                                                                             \
    { .name = "dataset", .type = CLI_TEXT, .value = &(read).dataset, .argument = "PATH",                                            \
      .help = "of an HDF5 or Zarr file: the array to read, such as /entry/data; of a .vdb or .nvdb file: the grid" },                                                  \
    { .name = "series", .type = CLI_COUNT, .value = &(read).series, .argument = "N",                                                \
      .help = "of a TIFF file of several images: which to read, from 0", .lower = 0, .upper = 9e18, .given = &(read).series_given }, \
    { .name = "level", .type = CLI_COUNT, .value = &(read).level, .argument = "N",                                                  \
      .help = "of a stored pyramid (Zarr, TIFF): which level to read, 0 the finest", .lower = 0, .upper = 62,                        \
      .given = &(read).level_given },                                                                                               \
    { .name = "box", .type = CLI_BOX, .value = (read).box, .help = "read the voxels from the first corner to before the second only", \
      .given = &(read).box_given },                                                                                                 \
    { .name = "prefer", .type = CLI_CHOICE, .value = &(read).prefer, .argument = "FORM",                                            \
      .help = "of a NIfTI file with both forms: which places the voxels", .choices = "sform qform" }

/* Fails before any work is done if `path` (NULL: missing) cannot become an output: a folder, a file that exists without --force, a file
 * given for two outputs, by whatever names, or by a verb of several outputs the input of which it is. Pipes and devices are written in place. cli_check_write: also if no format of this kind fits `path` or `format`. */
int cli_check_output(const cli_call *cli, const char *path);
int cli_check_option(const cli_call *cli, const char *option, const char *path); /* the same of an output that another option names */
int cli_check_write(const cli_call *cli, const char *path, tsr_file_kind kind, const char *format);
int cli_check_write_option(const cli_call *cli, const char *option, const char *path, tsr_file_kind kind, const char *format);
tsr_write_options cli_write_options(const cli_call *cli);
tsr_write_options cli_image_options(const cli_call *cli, const char *path); /* for pictures: PNG on standard output */
#define CLI_OUTPUT_OPTION(path)                                                                                                     \
    { .name = "output", .letter = 'o', .type = CLI_TEXT, .value = &(path), .argument = "FILE", .help = "where the result goes" }

/* For verbs whose one volume may go to standard output; cli_check_write and cli_write_options follow it where the caller names no format. */
#define CLI_FORMAT_OPTION(cli)                                                                                                       \
    { .name = "format", .type = CLI_TEXT, .value = &(cli)->format, .argument = "NAME", .help = "of the output (default: by extension)" }

/* 1 if the path ends in one of these (".png .jpg"), in small letters or capitals, and is more than that. */
int cli_ends_in(const char *path, const char *endings);

/* The planes of a volume of more bytes than --memory-limit, to be gone through slab by slab, and what they are; *planes NULL: it is read as a whole, there is no limit, or its
 * format has no planes. An exit code after a message. */
int cli_open_planes(const cli_call *cli, const char *path, const tsr_read_options *options, tsr_planes_info *info, tsr_planes **planes);

/* A whole text file, zero-terminated (free it), or NULL with a message; "-" is standard input. */
char *cli_read_text(const cli_call *cli, const char *path);
int cli_write_text(const cli_call *cli, const char *path, const char *text); /* beside and renamed; "-" is standard output */

/* tsr_volume_few_values of a volume anywhere; 0 without memory. */
int32_t cli_few_values(const tsr_volume *volume, int32_t most, double *values);
/* Of a volume so far from the origin of the world that float32 would round a vertex by more than a hundredth of a voxel: takes its place out of the geometry and
 * returns it, for tsr_mesh_set_origin of what is made of it; else 0, 0, 0. */
tsr_vec3 cli_take_origin(tsr_volume *volume);
tsr_vec3 cli_far_origin(const tsr_geometry *geometry); /* the same place, of which nothing is taken */
/* Verbs that take masks: what is not 0 is inside. Of two values that are both not 0 (1 and 2, -1 and 1) the larger is: *mask is then a new volume on the same
 * device, else NULL. `path` is for the remark; NULL: none. */
tsr_status cli_mask_of_two(const cli_call *cli, const char *path, tsr_context *context, const tsr_volume *volume, tsr_volume **mask);
tsr_status cli_plain_mask(const cli_call *cli, const char *path, tsr_context *context, tsr_volume **volume); /* in place of the volume */
/* The surface a volume most likely holds: of two values (real ones from 0) it is a mask, halfway between them, inside above; else real numbers are a level
 * set (0, inside below), integers a mask (1/2, inside above). */
void cli_default_surface(const tsr_volume *volume, double *isovalue, int *inside_below);

/* Moves *volume to the context's device (which may be the host) or, with context NULL, to the host; a copy only if it lies elsewhere. */
tsr_status cli_move_volume(tsr_context *context, tsr_volume **volume);
/* cli_read_volume and cli_move_volume in one. */
tsr_volume *cli_read_to_device(const cli_call *cli, const char *path, const tsr_read_options *options, tsr_context *context, int *code);

/* A name or metadata of a file for people: what a terminal would take for a command (control characters, C1 and those that turn the direction of writing,
 * too) and bytes that are no UTF-8 as \xNN or \uNNNN. Good until the fourth call after. */
const char *cli_shown(const char *text);
/* Are these `count` finite numbers and nothing else, with blanks, commas or semicolons between them? */
int cli_numbers(const char *text, double *numbers, int count);
/* Bytes of the UTF-8 character at `text`, 0 if these bytes are none; its code if it is such a control character, else 0 (also for U+0000). */
int cli_utf8_bytes(const char *text);
uint32_t cli_utf8_control(const char *text, int length);

/* JSON on stdout: values are separated and indented as they come. key NULL inside arrays. */
void json_open(const char *key, char bracket);
void json_close(char bracket);
void json_text(const char *key, const char *value);
void json_real(const char *key, double value); /* NaN and infinities become null */
void json_int(const char *key, int64_t value);
void json_bool(const char *key, int value);

double cli_seconds(void); /* monotonic clock */

#endif
