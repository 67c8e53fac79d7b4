/* tools/tessera/depth.h: parts of `tessera depth`. */
#ifndef TESSERA_TOOLS_DEPTH_H
#define TESSERA_TOOLS_DEPTH_H

#include "films.h"
#include "tessera/rig.h"

struct depth {
    cli_call *cli;
    tsr_plane_sweep_options sweep;
    tsr_stereo_match_options stereo;
    const char *output, *cameras, *sensors, *format, *view, *disparities, *truth;
    const char *score, *count, *disparity, *points, *picture, *valid, *camera_output;
    double range[2], focal, baseline, png_scale;
    double colors[2];
    int middle, nearest_views, range_given, colors_given, method, pair;
    int32_t first, last; /* disparities */
    /* What is read: */
    tsr_rig *rig;
    int32_t views, channels, width, height;
    tsr_camera *camera;     /* of the views */
    int32_t (*pixels)[2];   /* of their pictures as the cameras' file has them, 0: not said; NULL: no such file */
    tsr_camera eye;         /* of the map */
    int32_t sensor_size[2];    /* of the map, with --sensor; 0 0: of the first picture */
    tsr_image *image;
    tsr_volume **frames_up; /* the pictures on the device */
    int32_t own;            /* which view the map is of, -1: none */
    char **path;
    /* What comes out, on the host: */
    tsr_volume *map, *known, *scores, *counts, *shift;
    double seconds;
    int64_t hypotheses;
    int levels;
    /* Of films: */
    tsr_video_reader **reader; /* one for each view, NULL: pictures */
    tsr_image *next;           /* the frames that come after these */
    int more, frames;          /* whether there are any; how many are done */
    tsr_status reading;
    char message[400];         /* of a failed reading */
    cli_film film;             /* of --picture */
};


/* What -o holds: depths, or of a pair whose measures are not known disparities. */
static inline const tsr_volume *depth_result(const struct depth *d) { return d->map ? d->map : d->shift; }
/* Prints what was found and writes every output, of films under the frame's number. Returns an exit code. */
int depth_output(struct depth *d);
/* A name with one %d or %04d. */
int depth_is_numbered(const char *path);
const char *depth_numbered(const char *path, int64_t number, char text[4096]); /* of a path that is: the file with this number */

#endif
