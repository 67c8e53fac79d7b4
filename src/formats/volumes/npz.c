/* formats/volumes/npz.c: NumPy's archives (.npz), zip files of .npy arrays, stored or deflated. One array is read: the one that options.dataset names or, without it, the
 * only one of three axes or more, or the only one. Written is one array, "volume". */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/volumes/npy.h"
#include "formats/volume_files.h"
#include "io/zip.h"

static int recognise(const tsr_signature *s)
{
    return s->head_bytes >= 30 && !memcmp(s->head, "PK\3\4", 4) && memmem(s->head, s->head_bytes, ".npy", 4) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

static int is_array(const tsr_zip_entry *e) { return e->name.size > 4 && !memcmp(e->name.text + e->name.size - 4, ".npy", 4); }

/* "a (3, 4, 5) <f4" */
static int show(const tsr_zip *zip, const tsr_zip_entry *e, char *text, size_t room, int *axes)
{
    uint8_t *head = (uint8_t *)malloc(TSR_NPY_HEAD);
    char descr[16] = "?", shown[32];
    int64_t shape[TSR_NPY_AXES] = { 0 };
    size_t stored = 0;
    const tsr_word name = { e->name.text, e->name.size - 4 };
    *axes = 0;
    if (!head || tsr_zip_head(zip, e, head, TSR_NPY_HEAD, &stored) != TSR_OK || tsr_npy_peek(head, stored, "npz", descr, shape, axes) != TSR_OK)
        *axes = 0;
    free(head);
    int used = snprintf(text, room, "%s (", tsr_word_show(name, shown));
    for (int k = 0; k < *axes && used < (int)room; k++)
        used += snprintf(text + used, room - (size_t)used, "%s%lld", k ? ", " : "", (long long)shape[k]);
    if (used < (int)room) used += snprintf(text + used, room - (size_t)used, *axes ? ") %s" : "not read)%.0s", descr);
    return used < (int)room ? used : (int)room - 1;
}

static const tsr_zip_entry *find_named(const tsr_zip *zip, const char *name)
{
    char full[512];
    const tsr_zip_entry *e = tsr_zip_find(zip, name);
    if (e) return e;
    return snprintf(full, sizeof full, "%s.npy", name) < (int)sizeof full ? tsr_zip_find(zip, full) : NULL;
}

static tsr_status choose(const tsr_zip *zip, const tsr_read_options *options, const tsr_zip_entry **chosen)
{
    char list[768], one[128];
    size_t used = 0;
    int arrays = 0, volumes = 0, axes;
    const tsr_zip_entry *only = NULL, *volume = NULL;
    const char *name = tsr_input_name(zip->input);
    list[0] = 0;
    *chosen = options->dataset ? find_named(zip, options->dataset) : NULL;
    if (*chosen) return TSR_OK;
    for (int64_t k = 0; k < zip->entries; k++) {
        const tsr_zip_entry *e = &zip->entry[k];
        if (!is_array(e)) continue;
        arrays++;
        only = e;
        show(zip, e, one, sizeof one, &axes);
        if (axes >= 3) {
            volumes++;
            volume = e;
        }
        if (used + strlen(one) + 4 < sizeof list) used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", one);
    }
    if (!arrays) TSR_FAIL(TSR_ERROR_FORMAT, "%s: no array (.npy) in the archive", name);
    if (options->dataset) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.dataset is '%.80s', the archive holds %s", name, options->dataset, list);
    if (volumes == 1) *chosen = volume;
    else if (arrays == 1) *chosen = only;
    else TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: holds %d arrays, a volume is one of them: options.dataset says which of %s", name, arrays, list);
    return TSR_OK;
}

static tsr_status read_array(const tsr_zip *zip, const tsr_zip_entry *e, const tsr_read_options *options, tsr_volume **volume)
{
    const tsr_input_options *of = tsr_input_settings(zip->input);
    tsr_input *array = NULL;
    tsr_block block;
    char name[512], shown[32];
    snprintf(name, sizeof name, "%.400s: %s", tsr_input_name(zip->input), tsr_word_show(e->name, shown));
    TSR_TRY(tsr_zip_take(zip, e, &block));
    const tsr_input_options settings = { .memory_limit = of->memory_limit, .progress = of->progress };
    tsr_status status = tsr_input_memory(block.data, (size_t)e->size, name, &settings, &array);
    if (status == TSR_OK) status = tsr_format_npy.read_volume(array, options, volume);
    tsr_input_close(&array);
    tsr_block_release(&block);
    if (status != TSR_OK) return status;
    const tsr_word key = { e->name.text, e->name.size - (is_array(e) ? 4 : 0) };
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)(key.size < 255 ? key.size : 255), key.text);
    status = tsr_volume_set_meta(*volume, "npz.array", text);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    tsr_zip zip;
    const tsr_zip_entry *chosen = NULL;
    if (tsr_input_settings(input)->place)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: arrays of an archive cannot be read in pieces: unzip it and give the .npy file", tsr_input_name(input));
    tsr_status status = tsr_zip_open(input, &zip);
    if (status == TSR_OK) status = choose(&zip, options, &chosen);
    if (status == TSR_OK) status = read_array(&zip, chosen, options, volume);
    tsr_zip_close(&zip);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status write_array(tsr_zip_writer *zip, const tsr_volume *volume, const tsr_write_options *options)
{
    char header[TSR_NPY_WRITTEN];
    const size_t used = tsr_npy_header(volume, tsr_host_big_endian(), header);
    TSR_TRY(tsr_zip_entry_begin(zip, "volume.npy", options->compression > 0 ? options->compression : 0));
    TSR_TRY(tsr_zip_write(zip, header, used));
    TSR_TRY(tsr_zip_write(zip, volume->data, (size_t)volume->bytes));
    return tsr_zip_entry_end(zip);
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    tsr_zip_writer *zip = NULL;
    TSR_TRY(tsr_require_unscaled(volume, path, "a .npz file"));
    TSR_TRY(tsr_output_open(path, options, &out));
    tsr_status status = tsr_zip_begin(out, &zip);
    if (status == TSR_OK) status = write_array(zip, volume, options);
    status = tsr_zip_end(&zip, status);
    return tsr_output_finish(&out, status);
}

const tsr_format tsr_format_npz = { .name = "npz",
                                    .kind = TSR_FILE_VOLUME,
                                    .extensions = { ".npz" },
                                    .recognise = recognise,
                                    .whole = 1,
                                    .place = TSR_PLACE_NONE,
                                    .datasets = 1,
                                    .read_volume = read_volume,
                                    .write_volume = write_volume };
