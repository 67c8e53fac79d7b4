/* The archive's checksum would keep a fuzzer out: it is of use for the texts inside. So the bytes are the model itself, put into an archive. */
#include <stdlib.h>
#include <string.h>

#include "io/zip.h"

static uint8_t *unroll(const uint8_t *bytes, size_t *size);
#define FUZZ_FORMAT "3mf"
#define FUZZ_UNROLL unroll
#include "fuzz/fuzz_mesh.h"

/* Bytes that begin an archive stay as they are. */
static uint8_t *unroll(const uint8_t *bytes, size_t *size)
{
    const tsr_write_options options = { .struct_size = sizeof options, .overwrite = 1 };
    tsr_zip_writer *zip = NULL;
    tsr_output *out = NULL;
    tsr_input *input = NULL;
    const uint8_t *archive;
    char path[64];
    if (*size > 4 && !memcmp(bytes, "PK\3\4", 4)) {
        uint8_t *copy = (uint8_t *)malloc(*size);
        memcpy(copy, bytes, *size);
        return copy;
    }
    snprintf(path, sizeof path, "fuzz-3mf-%ld.zip", (long)getpid());
    fuzz_check(tsr_output_open(path, &options, &out) == TSR_OK && tsr_zip_begin(out, &zip) == TSR_OK &&
                   tsr_zip_entry_begin(zip, "3D/3dmodel.model", 0) == TSR_OK && tsr_zip_write(zip, bytes, *size) == TSR_OK &&
                   tsr_zip_entry_end(zip) == TSR_OK,
               "archive\n");
    fuzz_check(tsr_output_finish(&out, tsr_zip_end(&zip, TSR_OK)) == TSR_OK, "archive\n");
    const tsr_input_options settings = { .memory_limit = FUZZ_MEMORY };
    fuzz_check(tsr_input_open(path, &settings, &input) == TSR_OK && tsr_input_all(input, &archive, size) == TSR_OK, "archive\n");
    uint8_t *copy = (uint8_t *)malloc(*size);
    memcpy(copy, archive, *size);
    tsr_input_close(&input);
    unlink(path);
    return copy;
}

void fuzz_seeds(void)
{
    fuzz_mesh_seeds("3mf", 0, 0);
    fuzz_text_seed("<model unit=\"inch\"><resources><basematerials id=\"5\"><base name=\"a\" displaycolor=\"#FF0000\"/></basematerials><m:colorgroup "
                   "id=\"6\"><m:color color=\"#11223344\"/></m:colorgroup>"
                   "<object id=\"1\" pid=\"5\" pindex=\"0\"><mesh><vertices><vertex x=\"0\" y=\"0\" z=\"0\"/><vertex x=\"1\" y=\"0\" "
                   "z=\"0\"/><vertex x=\"0\" y=\"1\" z=\"0\"/></vertices>"
                   "<triangles><triangle v1=\"0\" v2=\"1\" v3=\"2\" pid=\"6\" p1=\"0\"/></triangles></mesh></object>"
                   "<object id=\"2\"><components><component objectid=\"1\" transform=\"-1 0 0 0 1 0 0 0 1 5 6 7\"/><component "
                   "objectid=\"1\"/></components></object></resources>"
                   "<build><item objectid=\"2\"/><item objectid=\"1\"/></build></model>");
}
