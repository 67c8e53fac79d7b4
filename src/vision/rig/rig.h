/* vision/rig/rig.h: what a rig is inside, and what its file formats provide. */
#ifndef TSR_VISION_RIG_RIG_H
#define TSR_VISION_RIG_RIG_H

#include "core/core.h"
#include "core/number.h"
#include "io/stream.h"
#include "io/text.h"
#include "tessera/rig.h"

enum { TSR_RIG_CAMERAS_MOST = 1 << 24, TSR_RIG_TEXT_MOST = 4096 };

typedef struct tsr_rig_entry {
    tsr_rig_camera camera; /* texts are parts of `texts` */
    char *texts;
    char *unknown; /* lines of a file that are kept; may be NULL */
} tsr_rig_entry;

struct tsr_rig {
    int64_t count, room;
    tsr_rig_entry *entry;
    int64_t points, points_room;
    tsr_rig_point *point;
    int64_t sights, sights_room;
    tsr_rig_sight *sight;
    int32_t first, last;
    char *folder;
    char *unknown; /* of the scene file */
};

/* %d and %0Nd in a path become the frame's number, %% a %; anything else after a % is refused. */
tsr_status tsr_rig_fill_in(const char *path, int32_t frame, char *text, size_t room) TSR_CHECKED;
/* Keeps lines that a file had and the library does not know; COPIES `size` bytes. */
tsr_status tsr_rig_keep_unknown(char **kept, const char *text, size_t size);
/* The 3 x 3 of a nearly orthonormal matrix (rows of `rotation`) made orthonormal; TSR_ERROR_FORMAT, saying by how much, if it is off by more than 1e-2. */
tsr_status tsr_rig_rotation(const char *file, const char *what, double rotation[3][3]);
/* From a rotation and a translation (world to camera, x right, y down, z forward) or from a unit quaternion (w, x, y, z; any length but 0). */
tsr_status tsr_rig_quaternion(const char *file, const char *what, const double q[4], double rotation[3][3]);
void tsr_rig_to_quaternion(double (*rotation)[3], double q[4]); /* w >= 0 */

/* All entries are images, `timed` of them with a time: those of one camera get its name, and the frames that their times are in their order. Where that cannot be
 * told each stays a camera of its own, with a remark. */
tsr_status tsr_rig_take_times(const char *file, tsr_rig *rig, int64_t timed) TSR_CHECKED;
/* For footage of `steps` steps from number `first` on, of cameras that say nothing of it (COLMAP): images by number in a folder for each camera, all of them or the
 * first alone with the others beside it, become frames, or a path by number, with a remark. Else nothing changes. */
tsr_status tsr_rig_take_numbers(const char *file, tsr_rig *rig, int64_t first, int64_t steps) TSR_CHECKED;
/* A writer's pinhole of a camera; TSR_ERROR_UNSUPPORTED names the camera and the format. Sizes that are not known are refused as well. */
tsr_status tsr_rig_pinhole(const char *format, const tsr_rig_camera *camera, tsr_pinhole *pinhole);
/* 17 digits, shorter where they give the same number. */
const char *tsr_rig_number(double value, char text[32]);

/* One format. Readers fill an empty rig. */
typedef struct tsr_rig_format {
    const char *name, *extension;                                         /* extension: of outputs; NULL: none of its own */
    int folder;                                                           /* a folder of files, not one file */
    int (*recognise)(const uint8_t *head, size_t size, const char *path); /* 0, 1 (maybe), 2 (surely); NULL for folders */
    tsr_status (*read)(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *options, tsr_rig *rig);
    tsr_status (*read_folder)(const char *path, const tsr_rig_read_options *options, tsr_rig *rig);
    tsr_status (*write)(const tsr_rig *rig, tsr_output *output, const char *path);
    tsr_status (*write_folder)(const tsr_rig *rig, const char *path, const tsr_write_options *options);
    tsr_status (*check)(const tsr_rig *rig); /* before anything is written; may be NULL */
} tsr_rig_format;

#define TSR_RIG_FORMAT(name) extern const tsr_rig_format tsr_rig_format_##name;
#include "vision/rig/rig_formats.h"
#undef TSR_RIG_FORMAT

/* Other files of a data set; `name` relative to the folder. */
tsr_status tsr_rig_open(const char *folder, const char *name, const tsr_rig_read_options *options, tsr_input **input);
int tsr_rig_exists(const char *folder, const char *name);
int tsr_rig_light_field_there(const char *path); /* a folder that says of itself that it is a light field */
/* Paths of a rig that is written to another folder than it came from. The way from the folder of `path` to the rig's ("../a/"; malloc), NULL if they are one or there is none; whether a
 * file of a camera lies there and not beside `path`, too. */
char *tsr_rig_way_back(const tsr_rig *rig, const char *path);
int tsr_rig_lies_back(const tsr_rig *rig, const char *path, const tsr_rig_camera *camera, const char *file);
char *tsr_rig_join(const char *folder, const char *name); /* malloc; NULL without memory */

#endif
