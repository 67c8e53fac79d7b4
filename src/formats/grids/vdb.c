/* formats/grids/vdb.c: level sets in OpenVDB's files are recognised, so that a message can say what to do. They are read and written by OpenVDB itself, in the
 * program tessera-vdb (tools/helpers), which the command line starts. */
#include "formats/grids/vdb.h"

static int recognise(const tsr_signature *s) { return tsr_vdb_is_one(s) && !tsr_vdb_is_fog(s) ? TSR_SURELY_MINE : TSR_NOT_MINE; }

static tsr_status refuse(tsr_input *input)
{
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: an OpenVDB file: tessera convert makes a .tsr file of it with the program tessera-vdb",
             tsr_input_name(input));
}
static tsr_status read_tiles(tsr_input *input, const tsr_tiles_read_options *options, tsr_context *context, tsr_tiles_extras *extras,
                             tsr_tiles **tiles)
{
    (void)options;
    (void)context;
    (void)extras;
    *tiles = NULL;
    return refuse(input);
}
static tsr_status describe(tsr_input *input, const tsr_tiles_read_options *options, tsr_tiles_extras *extras, tsr_tiles_file_info *info)
{
    (void)options;
    (void)extras;
    (void)info;
    return refuse(input);
}

const tsr_format tsr_format_vdb = {
    .name = "vdb", .kind = TSR_FILE_TILES, .extensions = { ".vdb" }, .recognise = recognise, .read_tiles = read_tiles, .describe_tiles = describe,
    .other = "vdb-fog"
};
