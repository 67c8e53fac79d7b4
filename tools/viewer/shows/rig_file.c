/* viewer/shows/rig_file.c: rigs from the served folder. */
#include "rig_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *viewer_rig_format(const char *name)
{
    static const struct {
        const char *ending, *format;
    } known[] = { { ".json", "transforms" }, { ".par", "par" },         { ".out", "bundler" }, { ".yml", "opencv" }, { ".yaml", "opencv" },
                  { ".xml", "opencv" },      { ".geocast", "geocast" }, { ".tum", "tum" },     { ".kitti", "kitti" } };
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (n > strlen(known[i].ending) && !strcmp(name + n - strlen(known[i].ending), known[i].ending)) return known[i].format;
    return NULL;
}

int viewer_rig_read(viewer_session *s, const char *name, tsr_rig **rig, char *error, size_t error_bytes)
{
    tsr_rig_read_options read = TSR_RIG_READ_OPTIONS;
    read.memory_limit = s->memory_limit;
    read.width = 640; /* of files that say no size */
    read.height = 480;
    char *text = viewer_read_script(s, name, error, error_bytes);
    if (!text) return -1;
    const tsr_status status = tsr_rig_read_text(viewer_rig_format(name), text, strlen(text), name, &read, rig);
    free(text);
    if (status == TSR_OK && tsr_rig_count(*rig)) return 0;
    if (status == TSR_OK) snprintf(error, error_bytes, "%s: a rig without cameras", name);
    else viewer_take_message(s, error, error_bytes);
    tsr_rig_destroy(rig);
    return -1;
}
