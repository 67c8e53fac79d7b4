/* tests/formats/dicom_bytes.h: data sets of DICOM written by hand, element by element, for tests and fuzz targets. */
#ifndef TESTS_DICOM_BYTES_H
#define TESTS_DICOM_BYTES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct dicom_bytes {
    uint8_t at[8192];
    size_t size;
    int implicit, big_endian;
} dicom_bytes;

static inline void dicom_put(dicom_bytes *d, uint32_t value, int bytes)
{
    for (int k = 0; k < bytes; k++) d->at[d->size++] = (uint8_t)(value >> 8 * (d->big_endian ? bytes - 1 - k : k));
}

/* The head of an element; `bytes` UINT32_MAX: of undefined length. */
static inline void dicom_head(dicom_bytes *d, uint32_t tag, const char *vr, uint32_t bytes)
{
    const int wide = strstr("OB OW SQ UN UT", vr) != NULL;
    dicom_put(d, tag >> 16, 2);
    dicom_put(d, tag & 0xffff, 2);
    if (!d->implicit && tag >> 16 != 0xFFFE) {
        d->at[d->size++] = (uint8_t)vr[0];
        d->at[d->size++] = (uint8_t)vr[1];
        if (wide) dicom_put(d, 0, 2);
    }
    dicom_put(d, bytes, d->implicit || wide || tag >> 16 == 0xFFFE ? 4 : 2);
}

static inline void dicom_raw(dicom_bytes *d, uint32_t tag, const char *vr, const void *bytes, size_t size)
{
    dicom_head(d, tag, vr, (uint32_t)(size + (size & 1)));
    memcpy(d->at + d->size, bytes, size);
    d->size += size;
    if (size & 1) d->at[d->size++] = 0;
}

static inline void dicom_text(dicom_bytes *d, uint32_t tag, const char *vr, const char *text)
{
    char padded[200];
    snprintf(padded, sizeof padded, "%s%s", text, strlen(text) & 1 ? " " : "");
    dicom_raw(d, tag, vr, padded, strlen(padded));
}

static inline void dicom_short(dicom_bytes *d, uint32_t tag, unsigned value)
{
    dicom_head(d, tag, "US", 2);
    dicom_put(d, value, 2);
}

/* Preamble and meta information of a transfer syntax. */
static inline void dicom_begin(dicom_bytes *d, const char *syntax)
{
    memset(d, 0, sizeof *d);
    d->size = 128;
    memcpy(d->at + 128, "DICM", 4);
    d->size = 132;
    dicom_text(d, 0x00020010, "UI", syntax);
    d->implicit = !strcmp(syntax, "1.2.840.10008.1.2");
    d->big_endian = !strcmp(syntax, "1.2.840.10008.1.2.2");
}

/* What every picture says; the pixels follow. */
static inline void dicom_picture(dicom_bytes *d, const char *series, const char *position, unsigned rows, unsigned columns, unsigned bits, int frames)
{
    char count[12];
    dicom_text(d, 0x00080060, "CS", "CT");
    dicom_text(d, 0x00180050, "DS", "2.5");
    dicom_text(d, 0x0020000E, "UI", series);
    if (position) dicom_text(d, 0x00200032, "DS", position);
    if (position) dicom_text(d, 0x00200037, "DS", "1\\0\\0\\0\\1\\0");
    dicom_short(d, 0x00280002, 1);
    dicom_text(d, 0x00280004, "CS", "MONOCHROME2");
    snprintf(count, sizeof count, "%d", frames);
    if (frames > 1) dicom_text(d, 0x00280008, "IS", count);
    dicom_short(d, 0x00280010, rows);
    dicom_short(d, 0x00280011, columns);
    if (position) dicom_text(d, 0x00280030, "DS", "0.5\\0.75");
    dicom_short(d, 0x00280100, bits);
    dicom_short(d, 0x00280101, bits);
    dicom_short(d, 0x00280102, bits - 1);
    dicom_short(d, 0x00280103, 0);
}

#endif
