/* formats/points/e57_write.c: points as one scan of an E57 file (ASTM E2807): positions as float32, or float64 about an origin far off, the attributes intensity and
 * color (8 or 16 bits); what else there is, is left out with a remark. All lengths are known before, so that the file is written from front to end. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/points/e57.h"
#include "formats/points/point_columns.h"
#include "io/crc32c.h"
#include "io/little_endian.h"
#include "formats/volume_files.h"

enum { HEAD = 48, SECTION = 32, INDEX = 32, PAGE = 1024, BODY = PAGE - 4, PACKET_MOST = 65536, STREAMS_MOST = 7, XML_MOST = 8192 };

typedef struct stream {
    const char *name;
    const float *from;
    int step, bytes; /* from one point to the next; of a number in the file */
    int whole;       /* an integer from 0; else a real number */
    double origin;
} stream;

typedef struct e57_writer {
    tsr_output *out;
    const tsr_points *points;
    const tsr_write_options *options;
    stream stream[STREAMS_MOST];
    int streams;
    int64_t together; /* points of a packet */
    uint8_t page[PAGE];
    int filled;
    char xml[XML_MOST];
    size_t xml_bytes;
} e57_writer;

/* ---- pages ------------------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status put(e57_writer *w, const void *bytes, size_t size)
{
    const uint8_t *from = (const uint8_t *)bytes;
    while (size) {
        const size_t n = size < (size_t)(BODY - w->filled) ? size : (size_t)(BODY - w->filled);
        memcpy(w->page + w->filled, from, n);
        from += n;
        size -= n;
        w->filled += (int)n;
        if (w->filled < BODY) continue;
        const uint32_t sum = tsr_crc32c(w->page, BODY);
        for (int k = 0; k < 4; k++) w->page[BODY + k] = (uint8_t)(sum >> (24 - 8 * k));
        w->filled = 0;
        TSR_TRY(tsr_output_write(w->out, w->page, PAGE));
    }
    return TSR_OK;
}

/* Where a byte of the content lies in the file. */
static uint64_t physical(int64_t at) { return (uint64_t)(at / BODY * PAGE + at % BODY); }

/* ---- what is in the points ------------------------------------------------------------------------------------------------------------------------------ */

static void add_stream(e57_writer *w, const char *name, const float *from, int step, int bytes, int whole, double origin)
{
    w->stream[w->streams++] = (stream){ name, from, step, bytes, whole, origin };
}

static void range_of(const float *from, int64_t count, int step, double *low, double *high)
{
    *low = HUGE_VAL;
    *high = -HUGE_VAL;
    for (int64_t i = 0; i < count; i++) {
        const double v = (double)from[i * step];
        if (v < *low) *low = v;
        if (v > *high) *high = v;
    }
}

static void plan(e57_writer *w, const char *path)
{
    static const char *const places[] = { "cartesianX", "cartesianY", "cartesianZ" }, *const colors[] = { "colorRed", "colorGreen", "colorBlue" };
    const tsr_points *p = w->points;
    const int far = tsr_has_origin(p->origin);
    int left = (p->normals != NULL) + (p->radii != NULL), bytes = 0;
    for (int k = 0; k < 3; k++) add_stream(w, places[k], p->positions + k, 3, far ? 8 : 4, 0, p->origin[k]);
    for (int32_t a = 0; a < p->attributes; a++) {
        const tsr_points_column *c = &p->attribute[a];
        double low, high = 0;
        if (!strcmp(c->name, "intensity") && c->components == 1) add_stream(w, "intensity", c->data, 1, 4, 0, 0);
        else if (!strcmp(c->name, "color") && c->components == 3) {
            range_of(c->data, 3 * p->count, 1, &low, &high);
            for (int k = 0; k < 3; k++) add_stream(w, colors[k], c->data + k, 3, high > 255 ? 2 : 1, 1, 0);
        } else left++;
    }
    if (left) tsr_remark("%s: normals, radii and attributes other than intensity and color have no place in an E57 file and are left out", path);
    for (int k = 0; k < w->streams; k++) bytes += w->stream[k].bytes;
    w->together = (PACKET_MOST - 6 - 2 * w->streams - 3) / bytes;
}

static int64_t packet_bytes(const e57_writer *w, int64_t points)
{
    int64_t bytes = 6 + 2 * w->streams;
    for (int k = 0; k < w->streams; k++) bytes += points * w->stream[k].bytes;
    return (bytes + 3) / 4 * 4;
}

/* Of the section: its head, the packets and their index. */
static int64_t section_bytes(const e57_writer *w)
{
    const int64_t n = w->points->count, whole = n / w->together, rest = n % w->together;
    return SECTION + whole * packet_bytes(w, w->together) + (rest ? packet_bytes(w, rest) : 0) + INDEX;
}

/* ---- the tree ------------------------------------------------------------------------------------------------------------------------------------------ */

static void say(e57_writer *w, const char *format, ...) TSR_PRINTF(2, 3);
static void say(e57_writer *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(w->xml + w->xml_bytes, XML_MOST - w->xml_bytes, format, list);
    va_end(list);
    w->xml_bytes += (size_t)n;
}

static void say_real(e57_writer *w, const char *name, double value)
{
    char text[32];
    say(w, "<%s type=\"Float\">%s</%s>\n", name, tsr_print_double(text, value), name);
}

/* Two names of the content: the same points are the same file. */
static void say_guid(e57_writer *w, uint32_t salt)
{
    const uint32_t a = tsr_crc32c((const uint8_t *)w->points->positions, (size_t)w->points->count * 12) ^ salt,
                   b = (uint32_t)w->points->count * 2654435761u ^ a;
    say(w, "<guid type=\"String\"><![CDATA[{%08X-%04X-4%03X-8%03X-%08X%04X}]]></guid>\n", a, b >> 16, b & 0xfff, a & 0xfff, b ^ salt, a >> 16);
}

static void say_limits(e57_writer *w)
{
    static const char *const axes[] = { "x", "y", "z" };
    double low, high;
    say(w, "<cartesianBounds type=\"Structure\">\n");
    for (int k = 0; k < 3; k++) {
        char name[16];
        range_of(w->stream[k].from, w->points->count, 3, &low, &high);
        snprintf(name, sizeof name, "%sMinimum", axes[k]);
        say_real(w, name, low + w->stream[k].origin);
        snprintf(name, sizeof name, "%sMaximum", axes[k]);
        say_real(w, name, high + w->stream[k].origin);
    }
    say(w, "</cartesianBounds>\n");
    for (int k = 3; k < w->streams; k++) {
        const stream *s = &w->stream[k];
        if (!strcmp(s->name, "intensity")) {
            range_of(s->from, w->points->count, s->step, &low, &high);
            say(w, "<intensityLimits type=\"Structure\">\n");
            say_real(w, "intensityMinimum", low);
            say_real(w, "intensityMaximum", high);
            say(w, "</intensityLimits>\n");
        } else if (!strcmp(s->name, "colorRed")) {
            const int most = s->bytes == 1 ? 255 : 65535;
            say(w, "<colorLimits type=\"Structure\">\n");
            for (int c = 0; c < 3; c++) {
                const char *name = w->stream[k + c].name;
                say(w, "<%sMinimum type=\"Integer\">0</%sMinimum>\n<%sMaximum type=\"Integer\">%d</%sMaximum>\n", name, name, name, most, name);
            }
            say(w, "</colorLimits>\n");
        }
    }
}

static void make_tree(e57_writer *w)
{
    say(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<e57Root type=\"Structure\" xmlns=\"http://www.astm.org/COMMIT/E57/2010-e57-v1.0\">\n"
           "<formatName type=\"String\"><![CDATA[ASTM E57 3D Imaging Data File]]></formatName>\n");
    say_guid(w, 0x5eed);
    say(w, "<versionMajor type=\"Integer\">1</versionMajor>\n<versionMinor type=\"Integer\">0</versionMinor>\n"
           "<e57LibraryVersion type=\"String\"><![CDATA[tessera]]></e57LibraryVersion>\n<coordinateMetadata type=\"String\"/>\n"
           "<data3D type=\"Vector\" allowHeterogeneousChildren=\"1\">\n<vectorChild type=\"Structure\">\n");
    say_guid(w, 0xc10d);
    say(w, "<name type=\"String\"><![CDATA[points]]></name>\n");
    say_limits(w);
    say(w, "<points type=\"CompressedVector\" fileOffset=\"%d\" recordCount=\"%lld\">\n<prototype type=\"Structure\">\n", HEAD,
        (long long)w->points->count);
    for (int k = 0; k < w->streams; k++) {
        const stream *s = &w->stream[k];
        if (s->whole) say(w, "<%s type=\"Integer\" minimum=\"0\" maximum=\"%d\"/>\n", s->name, s->bytes == 1 ? 255 : 65535);
        else say(w, "<%s type=\"Float\"%s/>\n", s->name, s->bytes == 4 ? " precision=\"single\"" : "");
    }
    say(w, "</prototype>\n<codecs type=\"Vector\" allowHeterogeneousChildren=\"1\">\n</codecs>\n</points>\n</vectorChild>\n</data3D>\n"
           "<images2D type=\"Vector\" allowHeterogeneousChildren=\"1\">\n</images2D>\n</e57Root>\n");
}

/* ---- the file ------------------------------------------------------------------------------------------------------------------------------------------ */

static void put_number(const stream *s, int64_t i, uint8_t *to)
{
    const float v = s->from[i * s->step];
    if (s->whole) {
        const float most = s->bytes == 1 ? 255 : 65535;
        const uint32_t whole = (uint32_t)(v > most ? most : v > 0 ? v + 0.5f : 0);
        to[0] = (uint8_t)whole;
        if (s->bytes == 2) to[1] = (uint8_t)(whole >> 8);
    } else if (s->bytes == 4) tsr_put_f32(to, v);
    else tsr_put_f64(to, s->origin + (double)v);
}

static tsr_status put_packets(e57_writer *w, uint8_t *packet)
{
    const int64_t count = w->points->count;
    for (int64_t i = 0; i < count; i += w->together) {
        const int64_t n = tsr_min64(count - i, w->together), bytes = packet_bytes(w, n);
        int64_t at = 6 + 2 * w->streams;
        memset(packet, 0, (size_t)bytes);
        packet[0] = 1;
        tsr_put_u16(packet + 2, (uint16_t)(bytes - 1));
        tsr_put_u16(packet + 4, (uint16_t)w->streams);
        for (int k = 0; k < w->streams; k++) {
            const stream *s = &w->stream[k];
            tsr_put_u16(packet + 6 + 2 * k, (uint16_t)(n * s->bytes));
            for (int64_t j = 0; j < n; j++, at += s->bytes) put_number(s, i + j, packet + at);
        }
        TSR_TRY(put(w, packet, (size_t)bytes));
        TSR_PROGRESS(&w->options->progress, (double)i / (double)count, "writing the points");
    }
    return TSR_OK;
}

static tsr_status write_file(e57_writer *w, uint8_t *packet)
{
    static const uint8_t zeros[BODY];
    const int64_t section = section_bytes(w), xml = HEAD + section, all = xml + (int64_t)w->xml_bytes, pages = (all + BODY - 1) / BODY;
    uint8_t head[HEAD] = "ASTM-E57", about[SECTION] = { 1 }, index[INDEX] = { 0 };
    tsr_put_u32(head + 8, 1);
    tsr_put_u64(head + 16, (uint64_t)pages * PAGE);
    tsr_put_u64(head + 24, physical(xml));
    tsr_put_u64(head + 32, w->xml_bytes);
    tsr_put_u64(head + 40, PAGE);
    TSR_TRY(put(w, head, HEAD));
    tsr_put_u64(about + 8, (uint64_t)section);
    tsr_put_u64(about + 16, physical(HEAD + SECTION));
    tsr_put_u64(about + 24, physical(xml - INDEX));
    TSR_TRY(put(w, about, SECTION));
    TSR_TRY(put_packets(w, packet));
    tsr_put_u16(index + 2, INDEX - 1); /* one entry: the first point lies in the first packet */
    tsr_put_u16(index + 4, 1);
    tsr_put_u64(index + 24, physical(HEAD + SECTION));
    TSR_TRY(put(w, index, INDEX));
    TSR_TRY(put(w, w->xml, w->xml_bytes));
    return w->filled ? put(w, zeros, (size_t)(BODY - w->filled)) : TSR_OK;
}

tsr_status tsr_e57_write(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    if (!points->count) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: there are no points: an E57 scan has one at least", path);
    e57_writer *w = (e57_writer *)calloc(1, sizeof *w);
    uint8_t *packet = (uint8_t *)malloc(PACKET_MOST);
    if (!w || !packet) {
        free(w);
        free(packet);
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    }
    w->points = points;
    w->options = options;
    plan(w, path);
    make_tree(w);
    tsr_status status = tsr_output_open(path, options, &w->out);
    if (status == TSR_OK) {
        status = write_file(w, packet);
        status = tsr_output_finish(&w->out, status);
    }
    free(packet);
    free(w);
    return status;
}
