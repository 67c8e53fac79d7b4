/* formats/grids/nvdb_list.c: what a NanoVDB file holds: the grids of all its segments, in the words of NanoVDB. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/contents.h"
#include "formats/grids/nvdb_reader.h"

const char *tsr_nvdb_type_name(int32_t type)
{
    static const char *const names[] = { "unknown",
                                         "float",
                                         "double",
                                         "int16",
                                         "int32",
                                         "int64",
                                         "vec3f",
                                         "vec3d",
                                         "mask",
                                         "half",
                                         "uint32",
                                         "bool",
                                         "rgba8",
                                         "fp4",
                                         "fp8",
                                         "fp16",
                                         "fpn",
                                         "vec4f",
                                         "vec4d",
                                         "index (ValueIndex)",
                                         "index of active voxels (ValueOnIndex)",
                                         "index and mask (ValueIndexMask)",
                                         "index of active voxels and mask (ValueOnIndexMask)" };
    return type >= 0 && type < (int32_t)(sizeof names / sizeof *names) ? names[type] : "unknown";
}

const char *tsr_nvdb_class_name(int32_t grid_class)
{
    static const char *const names[] = { "of no class", "level set", "fog volume",   "staggered",  "point index",
                                         "point data",  "topology",  "voxel volume", "index grid", "tensor grid" };
    return grid_class >= 0 && grid_class < (int32_t)(sizeof names / sizeof *names) ? names[grid_class] : "of no class";
}

tsr_status tsr_nvdb_note_grid(tsr_contents *contents, const uint8_t *meta, const char *name)
{
    char type[120];
    tsr_contents_entry e = { .kind = "grid", .name = name, .type = type, .axes = 3 };
    snprintf(type, sizeof type, "%s, %s", tsr_nvdb_type_name(tsr_get_i32(meta + NVDB_META_TYPE)),
             tsr_nvdb_class_name(tsr_get_i32(meta + NVDB_META_CLASS)));
    for (int k = 0; k < 3; k++) {
        const int64_t low = tsr_get_i32(meta + NVDB_META_INDEX + 4 * k), high = tsr_get_i32(meta + NVDB_META_INDEX + 12 + 4 * k);
        e.size[2 - k] = high >= low ? high - low + 1 : 0;
    }
    TSR_TRY(tsr_contents_add(contents, &e));
    return TSR_OK;
}

static tsr_status copy_grids(const char *path, const char *name, tsr_input *old, tsr_output *out)
{
    const uint8_t *bytes;
    size_t size;
    tsr_contents *contents = NULL;
    tsr_contents_entry e;
    tsr_nvdb_reader r = { .input = old, .name = path };
    TSR_TRY(tsr_contents_create(&contents));
    r.contents = contents;
    tsr_status status = tsr_nvdb_list(&r);
    for (int32_t i = 0; status == TSR_OK && tsr_contents_at(contents, i, &e); i++)
        if (!strcmp(e.name, name)) status = TSR_FAILED(TSR_ERROR_FORMAT, "%s: has a grid named '%.80s' already", path, e.name);
    tsr_contents_destroy(&contents);
    TSR_TRY(status);
    TSR_TRY(tsr_input_all(old, &bytes, &size));
    return tsr_output_elements(out, bytes, (int64_t)size, 1, 0);
}

tsr_status tsr_nvdb_keep_grids(const char *path, const char *name, tsr_output *out)
{
    tsr_input *old = NULL;
    if (access(path, F_OK)) return TSR_OK;
    TSR_TRY(tsr_input_open(path, NULL, &old));
    const tsr_status status = copy_grids(path, name, old, out);
    tsr_input_close(&old);
    return status;
}
