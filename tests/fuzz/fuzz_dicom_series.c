/* A folder of pictures: the bytes hold its files, one behind another with a mark between them; they are written to a folder of scratch, as series are read from folders only. */
#define _XOPEN_SOURCE 700
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/dicom_bytes.h"
#include "tessera/io.h"

enum { FILES = 8, MARK = 8 };
static const char mark[MARK + 1] = "\xff"
                                   "NEXT"
                                   "\xff\xfe\n";
static char folder[64];

static void remove_folder(void)
{
    char path[96];
    for (int k = 0; k < FILES; k++) {
        snprintf(path, sizeof path, "%s/%d", folder, k);
        unlink(path);
    }
    rmdir(folder);
}

static void put_file(int k, const uint8_t *bytes, size_t size)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%d", folder, k);
    FILE *file = bytes ? fopen(path, "wb") : NULL;
    if (!bytes) unlink(path);
    else if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) abort();
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    const tsr_read_options options = {
        .struct_size = sizeof options, .memory_limit = 64 << 20, .frame_given = 1, .channel_given = 1, .series_given = (int)(size & 1)
    };
    tsr_volume *volume = NULL;
    tsr_contents *contents = NULL;
    const uint8_t *at = bytes, *const end = bytes + size;
    if (!*folder) {
        snprintf(folder, sizeof folder, "%s/tessera-fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
        if (!mkdtemp(folder) || atexit(remove_folder)) abort();
    }
    for (int k = 0; k < FILES; k++) {
        const uint8_t *stop = at;
        while (at && stop < end && !((size_t)(end - stop) >= MARK && !memcmp(stop, mark, MARK))) stop++;
        put_file(k, at, at ? (size_t)(stop - at) : 0);
        at = at && stop < end ? stop + MARK : NULL;
    }
    const tsr_status status = tsr_volume_read(folder, &options, &volume);
    if ((status == TSR_OK) != (volume != NULL) || (status != TSR_OK && !*tsr_error_message())) abort();
    if (volume) {
        const tsr_size3 n = tsr_volume_size(volume);
        const uint8_t *data = (const uint8_t *)tsr_volume_data(volume);
        const int64_t count = n.x * n.y * n.z * (int64_t)tsr_dtype_size(tsr_volume_dtype(volume));
        volatile uint8_t sum = 0;
        for (int64_t i = 0; i < count; i++) sum = (uint8_t)(sum + data[i]);
    }
    tsr_volume_destroy(&volume);
    if (tsr_file_contents(folder, &options, &contents) == TSR_OK) tsr_contents_destroy(&contents);
    return status == TSR_OK;
}

static void slice(uint8_t *all, size_t *used, const char *position, const char *instance, int temporal, int frames)
{
    static const uint8_t pixels[24] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24 };
    dicom_bytes d;
    char number[12];
    dicom_begin(&d, "1.2.840.10008.1.2.1");
    dicom_text(&d, 0x00080018, "UI", instance);
    dicom_picture(&d, "1.2.3", position, 3, 4, 8, frames);
    snprintf(number, sizeof number, "%d", temporal);
    if (temporal) dicom_text(&d, 0x00200100, "IS", number);
    dicom_text(&d, 0x00281052, "DS", "-3");
    dicom_text(&d, 0x00281053, "DS", "2");
    dicom_raw(&d, 0x7FE00010, "OB", pixels, (size_t)(12 * frames));
    if (*used) memcpy(all + *used, mark, MARK);
    if (*used) *used += MARK;
    memcpy(all + *used, d.at, d.size);
    *used += d.size;
}

void fuzz_seeds(void)
{
    static const char *const places[4] = { "1\\2\\3", "1\\2\\5.5", "1\\2\\8", "1\\2\\10.5" };
    static const char *const tilted[3] = { "1\\2\\3", "1\\3\\5", "1\\4\\7" };
    static uint8_t all[16384];
    size_t used = 0;
    for (int k = 0; k < 4; k++) slice(all, &used, places[3 - k], k ? "1.4" : "1.5", 0, 1); /* two of one instance are one */
    fuzz_seed(all, used);
    used = 0;
    for (int k = 0; k < 4; k++) { /* two frames */
        const char instance[] = { '1', '.', (char)('1' + k), 0 };
        slice(all, &used, places[k / 2], instance, k % 2 + 1, 1);
    }
    fuzz_seed(all, used);
    used = 0;
    for (int k = 0; k < 3; k++) {
        const char instance[] = { '1', '.', (char)('1' + k), 0 };
        slice(all, &used, tilted[k], instance, 0, 1);
    }
    fuzz_seed(all, used);
    used = 0;
    slice(all, &used, places[0], "1.6", 0, 1);
    slice(all, &used, places[1], "1.7", 0, 2); /* a file of two frames beside a slice */
    fuzz_seed(all, used);
}
