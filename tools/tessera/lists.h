/* tools/tessera/lists.h: surfaces as tile lists: reading and writing for csg, morph and edit. */
#ifndef TESSERA_CLI_LISTS_H
#define TESSERA_CLI_LISTS_H

#include "cli.h"

typedef struct cli_list_options {
    double band;           /* smallest voxels; 0 = 3, at least two of the largest */
    tsr_vec3 spacing;      /* voxel size for meshes; zero = 1/128 of the longest extent */
    tsr_vec3 origin;       /* for meshes: a voxel lies there */
    int origin_given;
    int rule;         /* for meshes: tsr_voxelize_rule */
    double thickness; /* of a shell; 0 = 2 voxels */
    int32_t edge;          /* 0 = 8 */
    int planes;            /* a volume of one slice is a list in two dimensions, bounded by it; 0: neither it nor a list with a domain is taken */
    int keys;              /* choice of cli_key_bits */
    const char *format;    /* of the output, for cli_check_list and cli_write_list; NULL = by extension */
    const tsr_tiles *like; /* spacing, band, edge and domain that must agree; a list without a domain is moved to its voxels. NULL: any */
    const char *like_name; /* of the file that `like` came from, for messages; NULL: of the document */
} cli_list_options;
/* clang-format off */
#define CLI_LIST_OPTIONS(o)                                                                                                            \
    { .name = "band", .type = CLI_REAL, .value = &(o).band, .argument = "VOXELS", .help = "half width in smallest voxels (default 3)", \
      .lower = 1, .upper = 1000 },                                                                                                     \
    { .name = "spacing", .type = CLI_VEC3, .value = &(o).spacing, .help = "voxel size (csg, morph: of meshes, default 1/128 of them)", \
      .lower = 1e-9, .upper = 1e9 },                                                                                                   \
    { .name = "origin", .type = CLI_VEC3, .value = &(o).origin, .argument = "X,Y,Z", .help = "of meshes: a voxel lies there (default 0,0,0)", \
      .lower = -1e300, .upper = 1e300, .given = &(o).origin_given },                                                                   \
    { .name = "rule", .type = CLI_CHOICE, .value = &(o).rule, .argument = "RULE",                                                      \
      .help = "of meshes: which winding numbers are inside; shell: a sheet around the triangles", .choices = "nonzero even-odd positive shell" }, \
    { .name = "thickness", .type = CLI_REAL, .value = &(o).thickness, .argument = "T", .help = "of the shell, world units (default: 2 voxels)", \
      .lower = 1e-300, .upper = 1e300 },                                                                                               \
    { .name = "tile-edge", .type = CLI_INT, .value = &(o).edge, .argument = "N", .help = "voxels per tile edge, 4 or 8 (default 8)",   \
      .lower = 4, .upper = 8 },                                                                                                        \
    { .name = "key-bits", .type = CLI_CHOICE, .value = &(o).keys, .argument = "N",                                                     \
      .help = "bits of a tile's key; auto: as a tile list has them, else 64", .choices = "auto 32 64" },                               \
    { .name = "format", .type = CLI_TEXT, .value = &(o).format, .argument = "NAME", .help = "of the output (default: by extension)" }
/* clang-format on */

/* --key-bits as the library has it: 0 (automatic), 32 or 64. */
static inline int32_t cli_key_bits(const cli_list_options *options) { return 32 * options->keys; }

/* Half width of a band in world units at a voxel of h, by the option (with a note where it is narrower than a voxel) or by default. */
double cli_band(const cli_call *cli, const cli_list_options *options, tsr_vec3 h);
/* The surface of a file as an unbounded list: a tile file; a mesh, by winding numbers; a volume of real numbers is a level set, of integers a
 * mask. Fails with the file's name in the message: *code is set and NULL returned. */
tsr_tiles *cli_read_list(const cli_call *cli, tsr_context *context, const char *path, const tsr_read_options *read, const cli_list_options *options,
                         int *code);
/* The mesh of a list as a body: bodies on voxels keep their edges (tsr_tiles_settle), no triangle is without area, and one far from the origin of the world has an
 * origin of its own. On the host. `report` may be NULL. */
tsr_status cli_surface_of_list(tsr_context *context, const tsr_tiles *tiles, const tsr_surface_options *options, tsr_mesh **mesh,
                               tsr_surface_report *report);
tsr_status cli_contract(tsr_mesh **mesh); /* tsr_surface_contract in place of the mesh */
/* The mesh in the memory of a context, or the host's (NULL): *moved (RETURNS NEW, the caller destroys it, too) only where it lies elsewhere. */
tsr_status cli_mesh_there(const tsr_mesh *mesh, tsr_context *context, const tsr_mesh **there, tsr_mesh **moved);
tsr_status cli_bring_mesh(tsr_mesh **mesh); /* to the host, in place of the mesh */
/* Of the lattice of this origin and spacing the voxel nearest to a place: the same lattice with small numbers there. Place 0: the origin as it is. */
tsr_vec3 cli_near_voxel(tsr_vec3 origin, tsr_vec3 spacing, tsr_vec3 place);
/* What told inside from outside, of a mesh whose triangles do not all agree; and the same of winding numbers, which take them as they are. */
void cli_note_signs(const cli_call *cli, const char *path, const tsr_voxelize_report *report);
void cli_note_winding(const cli_call *cli, const char *path, const tsr_winding_report *report);
/* Can the path become such an output? Before the work. */
int cli_check_list(const cli_call *cli, const char *path, const char *format);
/* Can this list? Lists in two dimensions become .tsr files and volumes only. Says why not and returns the exit code. */
int cli_check_plane(const cli_call *cli, const tsr_tiles *tiles, const char *path, const char *format);
/* By format (NULL: by extension): a mesh, a tile file, or a float volume over the domain, of unbounded lists over the stored tiles. Returns an exit
 * code. Path "-" is standard output. */
int cli_write_list(const cli_call *cli, tsr_context *context, const tsr_tiles *tiles, const char *path, const char *format);
/* What verbs that move a surface say of it at the end: a line, or members of an open JSON object. Lists with a domain: how much of it is inside. */
void cli_show_surface(const cli_call *cli, const tsr_tiles *tiles);
void cli_note_vanished(const cli_call *cli, const tsr_tiles *tiles, const char *path); /* of a list without a surface that `path` now holds */
void cli_show_measures(const cli_call *cli, const char *name, const tsr_tiles_measures *m); /* a line, or an object named `name` in JSON */

#endif
