/* The description of a TIFF file, written: ImageJ's lines, or OME-XML (schema 2016-06). */
#include "formats/volumes/tiff/tiff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *bytes;
    size_t used, room;
    int xml, failed;
};

static void put(struct text *t, const char *text, size_t length)
{
    if (t->used + length + 1 > t->room) {
        const size_t room = 2 * (t->used + length + 1) + 256;
        char *grown = t->failed ? NULL : (char *)realloc(t->bytes, room);
        t->failed |= !grown;
        if (!grown) return;
        t->bytes = grown;
        t->room = room;
    }
    memcpy(t->bytes + t->used, text, length);
    t->used += length;
    t->bytes[t->used] = 0;
}
static void puts_text(struct text *t, const char *text) { put(t, text, strlen(text)); }

static void put_escaped(struct text *t, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (t->xml) {
            if (*c == '<') puts_text(t, "&lt;");
            else if (*c == '>') puts_text(t, "&gt;");
            else if (*c == '&') puts_text(t, "&amp;");
            else if (*c == '"') puts_text(t, "&quot;");
            else if (*c == '\n') puts_text(t, "&#10;");
            else if ((unsigned char)*c >= 32) put(t, c, 1);
        } else if (*c == '\n') puts_text(t, "\\n");
        else if (*c == '\\') puts_text(t, "\\\\");
        else if (*c != '\r') put(t, c, 1);
    }
}

static tsr_status put_note(void *user, const char *key, const char *value)
{
    struct text *t = (struct text *)user;
    if (!strcmp(key, "meta.tiff.unit") || !strcmp(key, "meta.ome.Name")) return TSR_OK; /* they have places of their own */
    if (strpbrk(key, "\n\r=")) return TSR_OK;
    puts_text(t, t->xml ? "<M K=\"" : "");
    put_escaped(t, key);
    puts_text(t, t->xml ? "\">" : "=");
    put_escaped(t, value);
    puts_text(t, t->xml ? "</M>" : "\n");
    return TSR_OK;
}

static void put_imagej(const tsr_volume *v, struct text *t)
{
    char line[256], n[3][32];
    const tsr_vec3 h = tsr_geometry_spacing(&v->geometry);
    const char *unit = tsr_stored_unit(v);
    const int image = tsr_volume_channels(v) > 1;
    const long long slices = image ? 1 : (long long)v->size.z; /* the channels of an image are samples of one page */
    snprintf(line, sizeof line, "ImageJ=1.54f\nimages=%lld\nslices=%lld\n", slices * (tsr_volume_stack(v) ? (long long)tsr_volume_stack(v) : 1), slices);
    puts_text(t, line);
    if (tsr_volume_stack(v)) {
        snprintf(line, sizeof line, "frames=%lld\nhyperstack=true\n", (long long)tsr_volume_stack(v));
        puts_text(t, line);
    }
    snprintf(line, sizeof line, "unit=%s\nspacing=%s\nloop=false\n", unit ? unit : "pixel", tsr_print_double(n[0], h.z));
    puts_text(t, line);
    if (tsr_geometry_is_plain(&v->geometry) && (v->geometry.affine[0][3] != 0 || v->geometry.affine[1][3] != 0 || v->geometry.affine[2][3] != 0)) {
        snprintf(line, sizeof line, "xorigin=%s\nyorigin=%s\nzorigin=%s\n", tsr_print_double(n[0], -v->geometry.affine[0][3] / h.x),
                 tsr_print_double(n[1], -v->geometry.affine[1][3] / h.y), tsr_print_double(n[2], -v->geometry.affine[2][3] / h.z));
        puts_text(t, line);
    }
}

static void put_ome(const tsr_volume *v, struct text *t)
{
    static const char *const types[TSR_DTYPE_COUNT] = { "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float", "double" };
    char line[1400], n[3][32];
    const tsr_vec3 h = tsr_geometry_spacing(&v->geometry);
    const char *unit = tsr_stored_unit(v), *name = tsr_volume_meta(v, "ome.Name");
    const int image = tsr_volume_channels(v) > 1;
    unit = !unit ? "pixel" : !strcmp(unit, "um") ? "\xc2\xb5m" : !strcmp(unit, "inch") ? "in" : unit;
    puts_text(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?><OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
                 "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
                 "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\"><Image ID=\"Image:0\" Name=\"");
    put_escaped(t, name ? name : "volume");
    snprintf(line, sizeof line,
             "\"><Pixels ID=\"Pixels:0\" DimensionOrder=\"XYZCT\" Type=\"%s\" BigEndian=\"false\" SizeX=\"%lld\" SizeY=\"%lld\" SizeZ=\"%lld\" "
             "SizeC=\"%lld\" "
             "SizeT=\"%lld\" PhysicalSizeX=\"%s\" PhysicalSizeXUnit=\"%s\" PhysicalSizeY=\"%s\" PhysicalSizeYUnit=\"%s\" PhysicalSizeZ=\"%s\" "
             "PhysicalSizeZUnit=\"%s\">",
             types[v->dtype], (long long)v->size.x, (long long)v->size.y, (long long)(image ? 1 : v->size.z), (long long)(image ? v->size.z : 1),
             (long long)(tsr_volume_stack(v) ? tsr_volume_stack(v) : 1), tsr_print_double(n[0], h.x), unit, tsr_print_double(n[1], h.y), unit, tsr_print_double(n[2], h.z), unit);
    puts_text(t, line);
    snprintf(line, sizeof line, "<Channel ID=\"Channel:0:0\" SamplesPerPixel=\"%lld\"/>", image ? (long long)v->size.z : 1);
    puts_text(t, line);
    snprintf(line, sizeof line,
             "<TiffData IFD=\"0\" PlaneCount=\"%lld\"/></Pixels></Image><StructuredAnnotations><MapAnnotation ID=\"Annotation:0\" "
             "Namespace=\"tessera\"><Value>",
             image ? 1 : (long long)(v->size.z * (tsr_volume_stack(v) ? tsr_volume_stack(v) : 1)));
    puts_text(t, line);
}

int tsr_tiff_ratio(double spacing, uint32_t ratio[2])
{
    double value = 1 / spacing, whole_part, p[2] = { 1, 0 }, q[2] = { 0, 1 };
    ratio[0] = ratio[1] = 1;
    if (!(value > 1e-9 && value < 4e9)) return 0;
    for (int k = 0; k < 40; k++) { /* a continued fraction */
        whole_part = floor(value);
        const double numerator = whole_part * p[0] + p[1], denominator = whole_part * q[0] + q[1];
        if (numerator > 4294967295.0 || denominator > 4294967295.0) break;
        p[1] = p[0], q[1] = q[0];
        p[0] = numerator, q[0] = denominator;
        if (q[0] > 0 && p[0] > 0) ratio[0] = (uint32_t)p[0], ratio[1] = (uint32_t)q[0];
        if ((double)ratio[1] / (double)ratio[0] == spacing) return 1;
        if (value - whole_part < 1e-18) break;
        value = 1 / (value - whole_part);
    }
    return 0;
}

tsr_status tsr_tiff_text(const tsr_volume *v, const char *path, int ome, char **text)
{
    struct text t = { .xml = ome };
    *text = NULL;
    if (ome) put_ome(v, &t);
    else put_imagej(v, &t);
    const double(*a)[4] = (const double(*)[4])v->geometry.affine;
    uint32_t ratio[2];
    const int plain = tsr_geometry_is_plain(&v->geometry);
    int other = a[0][3] != 0 || a[1][3] != 0 || a[2][3] != 0;
    for (int k = 0; k < 2 && !ome; k++) other |= !tsr_tiff_ratio(a[k][k], ratio);
    if (plain && other) { /* what others have no place for, or keep in pixels */
        char affine[12 * 26 + 1], n[32];
        size_t used = 0;
        for (int i = 0; i < 12; i++)
            used +=
                (size_t)snprintf(affine + used, sizeof affine - used, "%s%s", i ? " " : "", tsr_print_double(n, v->geometry.affine[i / 4][i % 4]));
        (void)put_note(&t, "tessera.affine", affine);
    }
    (void)tsr_volume_notes(v, put_note, &t);
    if (ome) puts_text(&t, "</Value></MapAnnotation></StructuredAnnotations></OME>");
    if (t.failed) {
        free(t.bytes);
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the description", path);
    }
    *text = t.bytes;
    return TSR_OK;
}
