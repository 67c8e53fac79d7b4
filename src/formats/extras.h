/* formats/extras.h: metadata and channels that come with a tile list. */
#ifndef TSR_FORMATS_EXTRAS_H
#define TSR_FORMATS_EXTRAS_H

#include "tessera/tile_file.h"

struct tsr_tiles_extras {
    tsr_tiles_meta *meta;        /* owned strings */
    tsr_tiles_channel *channels; /* owned names and data */
    int32_t meta_count, channel_count;
};

tsr_status tsr_extras_create(tsr_tiles_extras **extras);
/* COPIES; neither need end in a zero byte. */
tsr_status tsr_extras_add_meta(tsr_tiles_extras *extras, const char *key, size_t key_size, const char *value, size_t value_size);
/* COPIES the name, ADOPTS data (free), also on failure. */
tsr_status tsr_extras_add_channel(tsr_tiles_extras *extras, const char *name, size_t name_size, tsr_dtype dtype, int32_t elements, void *data);

#endif
