/* formats/volumes/tsc.c: compressed volumes (compress/container.c) as a format among others, and the way from such a file to a volume file of any format. */
#include <string.h>

#include "compress/codec.h"
#include "formats/pieces.h"

static int recognise(const tsr_signature *s) { return s->head_bytes >= 8 && !memcmp(s->head, TSR_TSC_MAGIC, 8) ? TSR_SURELY_MINE : TSR_NOT_MINE; }

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    const tsr_decompress_options all = { .struct_size = sizeof all, .memory_limit = options->memory_limit, .progress = options->progress };
    tsr_tsc t;
    TSR_TRY(tsr_tsc_read(input, &t));
    tsr_voxel_place *place = tsr_input_settings(input)->place;
    const tsr_status status =
        place ? tsr_tsc_decode_spool(input, &t, &all, place->beside, &place->spool, volume, NULL) : tsr_tsc_decode(input, &t, &all, volume, NULL);
    if (place) place->element = tsr_dtype_size(t.dtype);
    tsr_tsc_clear(&t);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    const tsr_compress_options lossless = {
        .struct_size = sizeof lossless, .overwrite = options->overwrite, .regular_only = options->regular_only, .progress = options->progress
    };
    TSR_TRY(tsr_volume_compress(volume, path, &lossless, NULL));
    return TSR_OK;
}

const tsr_format tsr_format_tsc = { .name = "tsc",
                                    .kind = TSR_FILE_VOLUME,
                                    .extensions = { ".tsc" },
                                    .recognise = recognise,
                                    .keeps_metadata = 1,
                                    .scales = 1,
                                    .units = TSR_UNITS_ANY,
                                    .whole = 1,
                                    .read_volume = read_volume,
                                    .write_volume = write_volume };

/* ---- from file to file ---------------------------------------------------------------------------------------------------------- */

struct spooled {
    tsr_spool *spool;
    int64_t element;
};

static tsr_status feed_spool(void *user, int64_t first, int64_t count, void *to)
{
    const struct spooled *s = (const struct spooled *)user;
    return tsr_spool_get(s->spool, first * s->element, to, (size_t)(count * s->element));
}

tsr_status tsr_file_decompress(const char *path, const char *output, const tsr_decompress_options *options, const tsr_write_options *write,
                               tsr_compress_info *info)
{
    tsr_decompress_options own;
    tsr_write_options own_write;
    tsr_input *input = NULL;
    tsr_volume *header = NULL;
    struct spooled s = { NULL, 0 };
    tsr_tsc t;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(TSR_OPTIONS_TAKE(&own_write, write));
    TSR_TRY(tsr_file_check_output(output, TSR_FILE_VOLUME, write));
    TSR_TRY(tsr_tsc_open(path, 0, &own.progress, &input, &t));
    tsr_status status = tsr_tsc_decode_spool(input, &t, &own, output, &s.spool, &header, info);
    s.element = (int64_t)tsr_dtype_size(t.dtype);
    tsr_tsc_clear(&t);
    tsr_input_close(&input);
    const tsr_voxel_feed feed = { &s, feed_spool };
    if (status == TSR_OK) status = tsr_pieces_write(header, &feed, output, &own_write);
    tsr_volume_destroy(&header);
    tsr_spool_close(&s.spool);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_file_compress(const char *path, const tsr_read_options *read, const char *output, const tsr_compress_options *options,
                             tsr_compress_info *info)
{
    TSR_NEEDS(path, output);
    tsr_read_options own;
    tsr_pieces *pieces;
    tsr_spool *spool = NULL;
    const uint8_t *bytes;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, read));
    TSR_TRY(tsr_file_check_output(output, TSR_FILE_VOLUME, &(tsr_write_options){ .struct_size = sizeof(tsr_write_options), .format = "tsc" }));
    TSR_TRY(tsr_pieces_open(path, &own, output, &pieces));
    tsr_volume volume = *pieces->header; /* its metadata are borrowed, its voxels replaced */
    volume.context = NULL;
    volume.feed = NULL;
    TSR_TRY_GOTO(tsr_pieces_map(&pieces->feed, tsr_volume_count(&volume), tsr_dtype_size(volume.dtype), output, &spool, &bytes), done);
    volume.data = (void *)(uintptr_t)bytes; /* it is only read */
    TSR_TRY_GOTO(tsr_volume_compress(&volume, output, options, info), done);
done:
    tsr_spool_close(&spool);
    tsr_pieces_close(&pieces);
    return status;
}
