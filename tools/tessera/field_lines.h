/* tools/tessera/field_lines.h: what the verbs of vector fields share: reading fields, options of lines, and where lines go: files of lines, tubes, pictures. */
#ifndef TESSERA_CLI_FIELD_LINES_H
#define TESSERA_CLI_FIELD_LINES_H

#include "films.h"

typedef struct cli_lines {
    cli_call *cli;
    tsr_read_options read;
    tsr_streamline_options trace;
    tsr_tube_options tube;
    const char *output;
    int by_film; /* pictures go through cli_film, which checks their names itself */
    int method, parameter, direction, color, color_given, tubes, ascii, no_caps, box;
    double range[2];
    int range_given;
    int32_t width, height;
    double azimuth, elevation;
    tsr_vec3 view, eye;
    int view_given, eye_given, perspective, azimuth_given, picture_given;
    float background[3];
} cli_lines;

/* Lines of an option table that fill a cli_lines `l`. */
#define CLI_LINE_OPTIONS(l)                                                                                                                        \
    { .name = "method", .type = CLI_CHOICE, .value = &(l).method, .argument = "NAME", .help = "rk4 (default), dormand-prince, euler, rk2",          \
      .choices = "rk4 dormand-prince euler rk2" },                                                                                                  \
    { .name = "step", .type = CLI_REAL, .value = &(l).trace.step, .argument = "CELLS", .help = "of lines (default 0.5)", .lower = 1e-6, .upper = 1e6 }, \
    { .name = "tolerance", .type = CLI_REAL, .value = &(l).trace.tolerance, .argument = "CELLS", .help = "dormand-prince: error of a step (default 1e-5)", \
      .lower = 1e-9, .upper = 1 },                                                                                                                  \
    { .name = "min-step", .type = CLI_REAL, .value = &(l).trace.min_step, .argument = "CELLS", .help = "dormand-prince: shortest", .lower = 1e-9, .upper = 1e6 }, \
    { .name = "max-step", .type = CLI_REAL, .value = &(l).trace.max_step, .argument = "CELLS", .help = "dormand-prince: longest", .lower = 1e-9, .upper = 1e6 }, \
    { .name = "max-steps", .type = CLI_INT, .value = &(l).trace.max_steps, .argument = "N", .help = "of each half of a line (default 200)", .lower = 1, .upper = 10000000 }, \
    { .name = "max-length", .type = CLI_REAL, .value = &(l).trace.max_length, .argument = "LENGTH", .help = "of each half, world units", .lower = 1e-300, .upper = 1e300 }, \
    { .name = "min-speed", .type = CLI_REAL, .value = &(l).trace.min_speed, .argument = "SHARE", .help = "of the largest speed, where lines end (default 1e-6)", .lower = 1e-30, .upper = 1 }, \
    { .name = "tubes", .type = CLI_FLAG, .value = &(l).tubes, .help = "write tubes (triangles) instead of lines; pictures always show tubes" },     \
    { .name = "radius", .type = CLI_REAL, .value = &(l).tube.radius, .argument = "LENGTH", .help = "of tubes, world units (default a quarter cell)", .lower = 1e-300, .upper = 1e300 }, \
    { .name = "sides", .type = CLI_INT, .value = &(l).tube.sides, .argument = "N", .help = "of tubes (default 8)", .lower = 3, .upper = 64 },        \
    { .name = "taper", .type = CLI_REAL, .value = &(l).tube.taper, .argument = "SHARE", .help = "of a line over which its tube thins to each end", .lower = 0, .upper = 0.5 }, \
    { .name = "no-caps", .type = CLI_FLAG, .value = &(l).no_caps, .help = "leave the ends of tubes open" },                                         \
    { .name = "color", .type = CLI_CHOICE, .value = &(l).color, .argument = "NAME", .help = "of tubes: speed (default), curvature, vorticity, length, parameter, direction", \
      .choices = "speed curvature vorticity length parameter direction", .given = &(l).color_given },                                              \
    { .name = "range", .type = CLI_RANGE, .value = (l).range, .help = "of values for the colours (default: all)", .given = &(l).range_given },       \
    { .name = "ascii", .type = CLI_FLAG, .value = &(l).ascii, .help = "text files" },                                                               \
    { .name = "azimuth", .type = CLI_REAL, .value = &(l).azimuth, .argument = "DEGREES", .help = "of the view, as in render (default 30)", .lower = -36000, .upper = 36000, .given = &(l).azimuth_given }, \
    { .name = "elevation", .type = CLI_REAL, .value = &(l).elevation, .argument = "DEGREES", .help = "of the view (default 20)", .lower = -90, .upper = 90, .given = &(l).azimuth_given }, \
    { .name = "view", .type = CLI_VEC3, .value = &(l).view, .help = "direction in which the viewer looks, instead", .given = &(l).view_given },     \
    { .name = "perspective", .type = CLI_FLAG, .value = &(l).perspective, .help = "rays from an eye instead of parallel ones" },                    \
    { .name = "eye", .type = CLI_VEC3, .value = &(l).eye, .help = "where it is, world units (default: so that all is seen)", .given = &(l).eye_given }, \
    { .name = "width", .type = CLI_INT, .value = &(l).width, .argument = "PIXELS", .help = "of pictures (default 768)", .lower = 16, .upper = 8192, .given = &(l).picture_given }, \
    { .name = "height", .type = CLI_INT, .value = &(l).height, .argument = "PIXELS", .help = "of pictures (default 768)", .lower = 16, .upper = 8192, .given = &(l).picture_given }, \
    { .name = "box", .type = CLI_FLAG, .value = &(l).box, .help = "pictures: draw the edges of the field's box" },                                  \
    { .name = "background", .type = CLI_COLOR, .value = (l).background, .help = "of pictures (default #f4f4f0)", .given = &(l).picture_given }

#define CLI_LINES(call)                                                                                                                            \
    { .cli = (call), .read = TSR_READ_OPTIONS, .trace = TSR_STREAMLINE_OPTIONS, .tube = TSR_TUBE_OPTIONS, .width = 768, .height = 768, .azimuth = 30, .elevation = 20, \
      .view = { 0, 0, -1 }, .background = { 0.957f, 0.957f, 0.941f } }

typedef enum cli_lines_kind { LINES_FILE, LINES_MESH, LINES_PICTURE, LINES_POINTS } cli_lines_kind;
/* What the output's name asks for; checks it before any work. Returns an exit code. */
int lines_check(cli_lines *l, cli_lines_kind *kind);
/* A field of one file with vectors, or of three with a component each. Returns an exit code. */
int lines_read_field(cli_lines *l, char **paths, int count, tsr_context *context, tsr_vector_field **field);
/* The direction of view and, with a perspective, the eye: of the options, and the camera of a picture. */
tsr_status lines_view(const cli_lines *l, const tsr_vector_field *field, tsr_contour_view *view, tsr_camera *camera);
/* Tubes of lines, coloured if asked. */
tsr_status lines_tubes(const cli_lines *l, const tsr_streamlines *lines, const tsr_vector_field *field, int colored, tsr_mesh **tubes);
/* Writes lines or tubes to the output. */
tsr_status lines_write(const cli_lines *l, const tsr_streamlines *lines, const tsr_vector_field *field, cli_lines_kind kind);
/* A mesh to a file of any of the formats. */
tsr_status lines_write_mesh(const cli_lines *l, const tsr_mesh *mesh, const char *path);
/* A picture of a mesh with the colours of its vertices (BORROWS, host memory). */
tsr_status lines_picture(const cli_lines *l, tsr_context *context, const tsr_vector_field *field, const tsr_mesh *mesh, const tsr_camera *camera, tsr_image *image);

#endif
