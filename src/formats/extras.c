#include "formats/extras.h"

#include <stdlib.h>
#include <string.h>

#include "core/core.h"

tsr_status tsr_extras_create(tsr_tiles_extras **extras)
{
    *extras = (tsr_tiles_extras *)calloc(1, sizeof **extras);
    if (!*extras) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for what comes with a tile list");
    return TSR_OK;
}

static void drop(const void *memory) { free((void *)(uintptr_t)memory); }

void tsr_tiles_extras_destroy(tsr_tiles_extras **extras)
{
    if (!extras || !*extras) return;
    for (int32_t i = 0; i < (*extras)->meta_count; i++) {
        drop((*extras)->meta[i].key);
        drop((*extras)->meta[i].value);
    }
    for (int32_t i = 0; i < (*extras)->channel_count; i++) {
        drop((*extras)->channels[i].name);
        drop((*extras)->channels[i].data);
    }
    free((*extras)->meta);
    free((*extras)->channels);
    free(*extras);
    *extras = NULL;
}

int tsr_tiles_extras_meta_at(const tsr_tiles_extras *extras, int32_t index, tsr_tiles_meta *meta)
{
    if (!extras || index < 0 || index >= extras->meta_count) return 0;
    *meta = extras->meta[index];
    return 1;
}

int tsr_tiles_extras_channel_at(const tsr_tiles_extras *extras, int32_t index, tsr_tiles_channel *channel)
{
    if (!extras || index < 0 || index >= extras->channel_count) return 0;
    *channel = extras->channels[index];
    return 1;
}

static char *text_of(const char *text, size_t size)
{
    char *copy = (char *)malloc(size + 1);
    if (!copy) return NULL;
    memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

tsr_status tsr_extras_add_meta(tsr_tiles_extras *extras, const char *key, size_t key_size, const char *value, size_t value_size)
{
    tsr_tiles_meta *grown = (tsr_tiles_meta *)realloc(extras->meta, ((size_t)extras->meta_count + 1) * sizeof *grown);
    if (grown) extras->meta = grown;
    tsr_tiles_meta made = { text_of(key, key_size), text_of(value, value_size) };
    if (!grown || !made.key || !made.value) {
        drop(made.key);
        drop(made.value);
        TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for the metadata of a tile list");
    }
    extras->meta[extras->meta_count++] = made;
    return TSR_OK;
}

tsr_status tsr_extras_add_channel(tsr_tiles_extras *extras, const char *name, size_t name_size, tsr_dtype dtype, int32_t elements, void *data)
{
    tsr_tiles_channel *grown = (tsr_tiles_channel *)realloc(extras->channels, ((size_t)extras->channel_count + 1) * sizeof *grown);
    if (grown) extras->channels = grown;
    char *copy = text_of(name, name_size);
    if (!grown || !copy) {
        free(copy);
        free(data);
        TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for the channels of a tile list");
    }
    extras->channels[extras->channel_count++] = (tsr_tiles_channel){ copy, dtype, elements, data };
    return TSR_OK;
}
