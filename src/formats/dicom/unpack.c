/* The program tessera-dicom, which unpacks JPEG, JPEG-LS and JPEG 2000 with GDCM: one for a reader of many frames. A frame goes to it as a line and its bytes:
 *   SYNTAX ROWS COLUMNS SAMPLES ALLOCATED STORED HIGH SIGNED COLOUR BYTES     (the colour with '_' for the blank)
 * and its samples come back, "samples BYTES YBR BYPLANES" and little-endian bytes, or "failed WHY". */
#include "formats/dicom/dicom.h"

#include "io/process.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tsr_dicom_helper {
    tsr_process *process;
};

void tsr_dicom_helper_close(tsr_dicom_helper **helper)
{
    if (!*helper) return;
    tsr_process_destroy(&(*helper)->process);
    free(*helper);
    *helper = NULL;
}

static tsr_status start(const tsr_dicom_file *f, const char *name, tsr_dicom_helper **helper)
{
    char path[PATH_MAX];
    const char *arguments[] = { path, NULL };
    if (!tsr_process_find("tessera-dicom", "TESSERA_DICOM", path, sizeof path))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: DICOM pixels packed by transfer syntax %s (JPEG and its kin) need the program tessera-dicom, which is built where GDCM "
                 "(libgdcm-dev) is "
                 "found; TESSERA_DICOM may name it",
                 name, f->syntax_uid);
    *helper = (tsr_dicom_helper *)calloc(1, sizeof **helper);
    if (!*helper) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", name);
    const tsr_status status = tsr_process_start(arguments, TSR_PROCESS_BOTH, &(*helper)->process);
    if (status != TSR_OK) tsr_dicom_helper_close(helper);
    TSR_TRY(status);
    return TSR_OK;
}

/* It stopped: what it said of it, which the failure of a `status` tells already. */
static tsr_status lost(const char *name, tsr_dicom_helper **helper, tsr_status status)
{
    char why[300];
    if (status == TSR_OK) status = tsr_process_finish((*helper)->process, NULL);
    snprintf(why, sizeof why, "%s", status == TSR_OK ? "tessera-dicom stopped" : tsr_error_message());
    tsr_dicom_helper_close(helper);
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: the packed pixels: %s", name, why);
}

static tsr_status receive(const char *name, tsr_dicom_helper **helper, void *to, int64_t size)
{
    uint8_t *at = (uint8_t *)to;
    while (size) {
        size_t got = 0;
        const tsr_status status = tsr_process_read((*helper)->process, at, (size_t)size, NULL, &got);
        if (status != TSR_OK || !got) return lost(name, helper, status);
        at += got;
        size -= (int64_t)got;
    }
    return TSR_OK;
}

static tsr_status receive_line(const char *name, tsr_dicom_helper **helper, char line[256])
{
    for (int n = 0; n < 255; n++) {
        TSR_TRY(receive(name, helper, line + n, 1));
        line[n + 1] = 0;
        if (line[n] != '\n') continue;
        line[n] = 0;
        return TSR_OK;
    }
    return lost(name, helper, TSR_OK);
}

tsr_status tsr_dicom_unpack(const tsr_dicom_file *f, const char *name, const uint8_t *packed, int64_t size, tsr_dicom_helper **helper, uint8_t *to,
                            int64_t room, int *ybr, int *by_planes)
{
    char line[256], color[24];
    long long bytes;
    if (!*helper) TSR_TRY(start(f, name, helper));
    snprintf(color, sizeof color, "%s", *f->color_name ? f->color_name : "MONOCHROME2");
    for (char *c = color; *c; c++) *c = *c == ' ' ? '_' : *c;
    const int n = snprintf(line, sizeof line, "%s %d %d %d %d %d %d %d %s %lld\n", f->syntax_uid, f->rows, f->columns, f->samples, f->allocated,
                           f->stored, f->high, f->is_signed, color, (long long)size);
    tsr_status status = tsr_process_write((*helper)->process, line, (size_t)n, NULL);
    if (status == TSR_OK) status = tsr_process_write((*helper)->process, packed, (size_t)size, NULL);
    if (status != TSR_OK) return lost(name, helper, status);
    TSR_TRY(receive_line(name, helper, line));
    if (!strncmp(line, "failed ", 7)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: pixels packed by transfer syntax %s: %s", name, f->syntax_uid, line + 7);
    if (sscanf(line, "samples %lld %d %d", &bytes, ybr, by_planes) != 3 || bytes != room) {
        tsr_dicom_helper_close(helper);
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: the packed pixels hold another number of samples than the data set says (%.80s, %lld bytes expected)",
                 name, line, (long long)room);
    }
    TSR_TRY(receive(name, helper, to, room));
    if (tsr_host_big_endian() && f->allocated > 8) tsr_swap_elements(to, room / (f->allocated / 8), (size_t)f->allocated / 8);
    return TSR_OK;
}
