/* volume/units.c: the unit of length of a volume, which its metadata say in the words of the format they came from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "volume/volume.h"

static const struct {
    const char *name;
    double millimetres;
    int nifti;
} units[] = {
    { "mm", 1, 2 },
    { "um", 1e-3, 3 },
    { "m", 1e3, 1 },
    { "cm", 10, 0 },
    { "nm", 1e-6, 0 },
    { "millimeter", 1, 2 },
    { "millimeters", 1, 2 },
    { "millimetre", 1, 2 },
    { "micron", 1e-3, 3 },
    { "microns", 1e-3, 3 },
    { "micrometer", 1e-3, 3 },
    { "micrometers", 1e-3, 3 },
    { "micrometre", 1e-3, 3 },
    { "\xc2\xb5m", 1e-3, 3 },
    { "\xce\xbcm", 1e-3, 3 },
    { "meter", 1e3, 1 },
    { "meters", 1e3, 1 },
    { "metre", 1e3, 1 },
    { "centimeter", 10, 0 },
    { "nanometer", 1e-6, 0 },
    { "angstrom", 1e-7, 0 },
    { "angstroms", 1e-7, 0 },
    { "\xc3\x85", 1e-7, 0 },
    { "\xe2\x84\xab", 1e-7, 0 },
    { "inch", 25.4, 0 },
    { "in", 25.4, 0 },
};
enum { UNITS = (int)(sizeof units / sizeof *units), NIFTI_SPACE = 7 };

/* Entry of a name of `length` bytes, -1 if there is none. */
static int find(const char *name, size_t length)
{
    for (int i = 0; i < UNITS; i++)
        if (strlen(units[i].name) == length && !strncasecmp(units[i].name, name, length)) return i;
    return -1;
}

/* "mm" "mm" "mm": the first quoted name, or word, that is known. */
static int find_first(const char *text)
{
    while (text && *text) {
        text += strspn(text, " \t\",");
        const size_t length = strcspn(text, " \t\",");
        const int found = length ? find(text, length) : -1;
        if (found >= 0) return found;
        text += length;
    }
    return -1;
}

static int unit_of(const tsr_volume *v)
{
    static const char *const keys[] = { "nrrd.space units", "nrrd.units", "metaimage.DistanceUnits" };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const int found = find_first(tsr_volume_meta(v, keys[k]));
        if (found >= 0) return found;
    }
    const char *code = tsr_volume_meta(v, "nifti.xyzt_units");
    for (int i = 0; code && i < UNITS; i++)
        if (units[i].nifti && units[i].nifti == ((int)strtol(code, NULL, 10) & NIFTI_SPACE)) return i;
    return -1;
}

double tsr_volume_unit(const tsr_volume *volume)
{
    if (!volume) return 0;
    const int found = unit_of(volume);
    return found < 0 ? 0 : units[found].millimetres;
}

const char *tsr_volume_unit_name(const tsr_volume *volume)
{
    if (!volume) return NULL;
    const int found = unit_of(volume);
    for (int i = 0; found >= 0 && i < UNITS; i++) /* the short name comes first */
        if (units[i].millimetres == units[found].millimetres) return units[i].name;
    return NULL;
}

tsr_status tsr_volume_set_unit(tsr_volume *volume, const char *name)
{
    TSR_NEEDS(volume, name);
    const int found = find(name, strlen(name));
    const char *code = tsr_volume_meta(volume, "nifti.xyzt_units");
    char text[40];
    for (int i = 0; found >= 0 && i < found; i++)
        if (units[i].millimetres == units[found].millimetres) return tsr_volume_set_unit(volume, units[i].name); /* the short name comes first */
    if (found < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "unit of length '%.20s', expected mm, um, m, cm, nm, angstrom or inch", name);
    /* one key says it, in the words of the format that keeps any unit; what others said goes, but for NIfTI's unit of time */
    snprintf(text, sizeof text, "\"%.9s\" \"%.9s\" \"%.9s\"", name, name, name);
    TSR_TRY(tsr_volume_set_meta(volume, "nrrd.units", NULL));
    TSR_TRY(tsr_volume_set_meta(volume, "metaimage.DistanceUnits", NULL));
    TSR_TRY(tsr_volume_set_meta(volume, "nrrd.space units", units[found].millimetres == 1 ? NULL : text));
    if (code) {
        snprintf(text, sizeof text, "%d", ((int)strtol(code, NULL, 10) & ~NIFTI_SPACE) | units[found].nifti);
        TSR_TRY(tsr_volume_set_meta(volume, "nifti.xyzt_units", text));
    }
    return TSR_OK;
}
