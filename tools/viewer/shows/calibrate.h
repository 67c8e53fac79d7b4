/* viewer/shows/calibrate.h: what the two files of the mode `calibrate` share. */
#ifndef TESSERA_VIEWER_CALIBRATE_H
#define TESSERA_VIEWER_CALIBRATE_H

#include "show.h"

typedef struct calibrate {
    tsr_rig_editor *editor;
    int blend, lines, shadow;
    double mix, loupe[3]; /* loupe: window + 1, place in it; 0: none */
    int has_pivot, has_point, has_pixel;
    tsr_vec3 pivot, point; /* point, pixel: half of a pair */
    double pixel[2];
    uint64_t saved; /* length of the script that is in a file */
} calibrate;

tsr_status calibrate_editor(viewer_show *show, tsr_rig_editor **editor);
int calibrate_load(viewer_show *show, const char *path, const char *name, char *error, size_t error_bytes);
int calibrate_save(viewer_show *show, const viewer_command *command, char *error, size_t error_bytes); /* as viewer_show_table.act */
int calibrate_opens(const char *name);
int calibrate_begins(const char *name);
int calibrate_box(viewer_show *show, const char *name); /* the box of the proxy, for the eye */

#endif
