/* tools/tessera/rigs.c: rigs and their images in verbs. */
#include "rigs.h"

#include <stdlib.h>
#include <string.h>

tsr_rig *cli_read_rig(const cli_call *cli, const char *path, cli_rig *o, int *code)
{
    tsr_rig *rig = NULL;
    o->read.width = (int32_t)o->size.x;
    o->read.height = (int32_t)o->size.y;
    o->read.geocast_matrix = (tsr_geocast_matrix)o->matrix;
    o->read.geocast_half_window = o->half;
    o->read.progress = cli_progress(cli);
    const tsr_status status = tsr_rig_read(path, &o->read, &rig);
    cli_progress_end(cli);
    *code = status == TSR_OK ? CLI_OK : cli_status(cli, status, NULL);
    return rig;
}

int64_t cli_rig_find(const cli_call *cli, const tsr_rig *rig, const char *option, const char *name)
{
    char *end;
    int64_t index = tsr_rig_find(rig, name);
    if (index >= 0) return index;
    index = strtoll(name, &end, 10);
    if (*name && !*end && index >= 0 && index < tsr_rig_count(rig)) return index;
    cli_usage(cli, "--%s: no camera '%s', expected a name or a number from 0 to %lld", option, cli_shown(name), (long long)tsr_rig_count(rig) - 1);
    return -1;
}

static int said(const cli_call *cli, tsr_status status, const rig_error *error)
{
    if (status == TSR_OK) return CLI_OK;
    return *error->text ? cli_error(cli, CLI_FAILED, "%s", cli_shown(error->text)) : cli_status(cli, status, NULL);
}

int cli_depth_read(const cli_call *cli, const tsr_rig *rig, const tsr_rig_camera *camera, int32_t frame, tsr_volume **depth, tsr_depth_report *report)
{
    const tsr_read_options read = cli_limit_options(cli);
    rig_error error = { "" };
    return said(cli, rig_depth_read(rig, camera, frame, &read, depth, report, &error), &error);
}

int cli_projector_load(const cli_call *cli, tsr_context *context, const tsr_rig *rig, int64_t index, int32_t frame, int parts,
                       rig_projector *projector)
{
    const tsr_read_options read = cli_limit_options(cli);
    rig_error error = { "" };
    return said(cli, rig_projector_load(context, rig, index, frame, parts, &read, projector, &error), &error);
}
