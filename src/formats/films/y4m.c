/* YUV4MPEG2: a header line, then for each frame a line and the planes. The stream is read in order, so pipes do. */
#include "formats/format.h"
#include "formats/films/video.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char magic[] = "YUV4MPEG2";

static int recognise(const tsr_signature *s) { return s->head_bytes >= 10 && !memcmp(s->head, "YUV4MPEG2 ", 10) ? TSR_SURELY_MINE : TSR_NOT_MINE; }

const tsr_format tsr_format_y4m = { .name = "y4m", .kind = TSR_FILE_VIDEO, .extensions = { ".y4m" }, .recognise = recognise };

/* ---- bytes --------------------------------------------------------------------------------------------------------------------- */

static tsr_status take(tsr_video_source *s, void *bytes, size_t size, size_t *got)
{
    *got = 0;
    if (s->fd < 0 && !s->process) {
        *got = (size_t)tsr_min64((int64_t)size, s->size - s->position);
        memcpy(bytes, s->memory + s->position, *got);
    } else if (s->at < s->filled) {
        *got = size < s->filled - s->at ? size : s->filled - s->at;
        memcpy(bytes, s->buffer + s->at, *got);
        s->at += *got;
    } else if (s->process) {
        TSR_TRY(tsr_process_read(s->process, bytes, size, s->progress, got));
    } else {
        ssize_t n;
        do n = read(s->fd, bytes, size);
        while (n < 0 && errno == EINTR);
        if (n < 0) TSR_FAIL(TSR_ERROR_IO, "%s: cannot read: %s", s->name, strerror(errno));
        *got = (size_t)n;
    }
    s->position += (int64_t)*got;
    return TSR_OK;
}

/* One byte through the buffer; *got = 0 at the end. */
static tsr_status take_byte(tsr_video_source *s, char *byte, size_t *got)
{
    if (s->at == s->filled && (s->fd >= 0 || s->process)) {
        const int64_t position = s->position;
        s->at = s->filled = 0;
        size_t filled;
        TSR_TRY(take(s, s->buffer, sizeof s->buffer, &filled));
        s->filled = filled;
        s->position = position;
    }
    TSR_TRY(take(s, byte, 1, got));
    return TSR_OK;
}

/* A line without its newline; *more = 0 if the stream ends before its first byte. */
static tsr_status take_line(tsr_video_source *s, char line[TSR_VIDEO_LINE], const char *what, int *more)
{
    size_t n = 0;
    const int64_t start = s->position;
    *more = 1;
    for (;; n++) {
        size_t got;
        TSR_TRY(take_byte(s, line + n, &got));
        if (!got && !n) *more = 0;
        if (!got && n) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated in the line of %s at byte %lld", s->name, what, (long long)start);
        if (!got || line[n] == '\n') break;
        if (!line[n]) TSR_FAIL(TSR_ERROR_FORMAT, "%s: a zero byte in the line of %s at byte %lld", s->name, what, (long long)start);
        if (n == TSR_VIDEO_LINE - 1)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: the line of %s at byte %lld has over %d bytes", s->name, what, (long long)start, TSR_VIDEO_LINE);
    }
    line[n] = 0;
    return TSR_OK;
}

/* ---- header -------------------------------------------------------------------------------------------------------------------- */

/* What the word after C says. */
static const struct color_space {
    const char *word;
    tsr_chroma chroma;
    int32_t bits;
    tsr_siting siting;
} color_spaces[] = {
    { "420jpeg", TSR_CHROMA_420, 8, TSR_SITING_CENTRE },    { "420mpeg2", TSR_CHROMA_420, 8, TSR_SITING_LEFT },
    { "420paldv", TSR_CHROMA_420, 8, TSR_SITING_TOP_LEFT }, { "420", TSR_CHROMA_420, 8, TSR_SITING_CENTRE },
    { "411", TSR_CHROMA_411, 8, TSR_SITING_CENTRE },        { "422", TSR_CHROMA_422, 8, TSR_SITING_CENTRE },
    { "444", TSR_CHROMA_444, 8, TSR_SITING_CENTRE },        { "mono", TSR_CHROMA_MONO, 8, TSR_SITING_CENTRE },
    { "420p9", TSR_CHROMA_420, 9, TSR_SITING_CENTRE },      { "422p9", TSR_CHROMA_422, 9, TSR_SITING_CENTRE },
    { "444p9", TSR_CHROMA_444, 9, TSR_SITING_CENTRE },      { "mono9", TSR_CHROMA_MONO, 9, TSR_SITING_CENTRE },
    { "420p10", TSR_CHROMA_420, 10, TSR_SITING_CENTRE },    { "422p10", TSR_CHROMA_422, 10, TSR_SITING_CENTRE },
    { "444p10", TSR_CHROMA_444, 10, TSR_SITING_CENTRE },    { "mono10", TSR_CHROMA_MONO, 10, TSR_SITING_CENTRE },
    { "420p12", TSR_CHROMA_420, 12, TSR_SITING_CENTRE },    { "422p12", TSR_CHROMA_422, 12, TSR_SITING_CENTRE },
    { "444p12", TSR_CHROMA_444, 12, TSR_SITING_CENTRE },    { "mono12", TSR_CHROMA_MONO, 12, TSR_SITING_CENTRE },
    { "420p14", TSR_CHROMA_420, 14, TSR_SITING_CENTRE },    { "422p14", TSR_CHROMA_422, 14, TSR_SITING_CENTRE },
    { "444p14", TSR_CHROMA_444, 14, TSR_SITING_CENTRE },    { "mono14", TSR_CHROMA_MONO, 14, TSR_SITING_CENTRE },
    { "420p16", TSR_CHROMA_420, 16, TSR_SITING_CENTRE },    { "422p16", TSR_CHROMA_422, 16, TSR_SITING_CENTRE },
    { "444p16", TSR_CHROMA_444, 16, TSR_SITING_CENTRE },    { "mono16", TSR_CHROMA_MONO, 16, TSR_SITING_CENTRE },
};
enum { COLOR_SPACES = (int)(sizeof color_spaces / sizeof color_spaces[0]) };

/* Digits only, up to `most`; -1 otherwise. */
static int64_t number_of(const char *text, const char **end, int64_t most)
{
    int64_t value = -1;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = (value < 0 ? 0 : value) * 10 + (*text - '0');
        if (value > most) return -1;
    }
    *end = text;
    return value;
}

static tsr_status extent_of(const tsr_video_source *s, const char *word, int32_t *extent)
{
    const char *end = word;
    const int64_t value = number_of(word + 1, &end, TSR_VIDEO_EXTENT);
    if (value < 1 || *end)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: header field '%.40s', expected %c1 to %c%d", s->name, word, *word, *word, TSR_VIDEO_EXTENT);
    if (*extent) TSR_FAIL(TSR_ERROR_FORMAT, "%s: header field %c occurs twice", s->name, *word);
    *extent = (int32_t)value;
    return TSR_OK;
}

/* "30000:1001", "0:0" = unknown. */
static tsr_status ratio_of(const tsr_video_source *s, const char *word, int32_t ratio[2])
{
    const char *end = word;
    const int64_t a = number_of(word + 1, &end, INT32_MAX);
    const int64_t b = a >= 0 && *end == ':' ? number_of(end + 1, &end, INT32_MAX) : -1;
    if (a < 0 || b < 0 || *end || (a == 0) != (b == 0))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: header field '%.40s', expected a ratio as %c25:1, or %c0:0", s->name, word, *word, *word);
    ratio[0] = (int32_t)a;
    ratio[1] = (int32_t)b;
    return TSR_OK;
}

static tsr_status color_space_of(const tsr_video_source *s, const char *word, tsr_video_format *format)
{
    for (int i = 0; i < COLOR_SPACES; i++)
        if (!strcmp(word + 1, color_spaces[i].word)) {
            format->chroma = color_spaces[i].chroma;
            format->bits = color_spaces[i].bits;
            format->siting = color_spaces[i].siting;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_UNSUPPORTED,
             "%s: header field '%.40s', expected C420jpeg, C420mpeg2, C420paldv, C411, C422, C444, Cmono or one of them with p9 to p16", s->name,
             word);
}

static tsr_status field_of(const tsr_video_source *s, const char *word, tsr_video_info *info)
{
    tsr_video_format *f = &info->format;
    switch (*word) {
    case 'W': return extent_of(s, word, &f->width);
    case 'H': return extent_of(s, word, &f->height);
    case 'F': return ratio_of(s, word, info->rate);
    case 'A': return ratio_of(s, word, info->aspect);
    case 'C': return color_space_of(s, word, f);
    case 'I':
        if (!word[1] || word[2] || !strchr("ptbm?", word[1]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: header field '%.40s', expected Ip, It, Ib, Im or I?", s->name, word);
        info->interlacing = word[1];
        return TSR_OK;
    case 'X': /* remarks; three of them mean something to us */
        if (!strcmp(word, "XCOLORRANGE=FULL")) f->range = TSR_RANGE_FULL;
        if (!strcmp(word, "XCOLORRANGE=LIMITED")) f->range = TSR_RANGE_LIMITED;
        if (!strcmp(word, "XMATRIX=BT709")) f->matrix = TSR_MATRIX_BT709;
        return TSR_OK;
    default: TSR_FAIL(TSR_ERROR_FORMAT, "%s: header field '%.40s' is not one of W, H, F, I, A, C, X", s->name, word);
    }
}

tsr_status tsr_y4m_read_header(tsr_video_source *s, tsr_video_info *info)
{
    char line[TSR_VIDEO_LINE];
    int more;
    *info = (tsr_video_info){ .format = { .bits = 8, .chroma = TSR_CHROMA_420 }, .interlacing = '?', .frames = -1, .container = "y4m" };
    TSR_TRY(take_line(s, line, "the header", &more));
    if (!more) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file is empty, expected a Y4M film", s->name);
    if (strncmp(line, magic, sizeof magic - 1) || (line[sizeof magic - 1] && line[sizeof magic - 1] != ' '))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: does not begin with %s", s->name, magic);
    for (char *word = line + sizeof magic - 1; *word;) {
        if (*word == ' ') {
            word++;
            continue;
        }
        char *end = word + strcspn(word, " ");
        const char after = *end;
        *end = 0;
        TSR_TRY(field_of(s, word, info));
        *end = after;
        word = end;
    }
    if (!info->format.width || !info->format.height)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: header field %c is missing", s->name, info->format.width ? 'H' : 'W');
    TSR_TRY(tsr_video_format_complete(&info->format));
    info->channels = info->format.chroma == TSR_CHROMA_MONO ? 1 : 3;
    tsr_video_frame frame = { .format = info->format };
    tsr_video_frame_lay_out(&frame);
    const int64_t each = frame.bytes + 6; /* "FRAME\n" */
    if (s->size >= 0 && (s->size - s->position) % each == 0) info->frames = (s->size - s->position) / each;
    return TSR_OK;
}

/* ---- frames -------------------------------------------------------------------------------------------------------------------- */

/* 16-bit little-endian samples, in place, none over the largest of `bits`. */
static tsr_status check_samples(const tsr_video_source *s, tsr_video_frame *frame)
{
    const int32_t bits = frame->format.bits;
    if (bits > 8 && tsr_host_big_endian()) tsr_swap_elements(frame->plane[0], frame->bytes / 2, 2);
    for (int p = 0; p < frame->planes && bits > 8 && bits < 16; p++) {
        const uint16_t *sample = (const uint16_t *)frame->plane[p];
        const int64_t count = (int64_t)frame->width[p] * frame->height[p];
        unsigned all = 0;
        for (int64_t i = 0; i < count; i++) all |= sample[i];
        for (int64_t i = 0; i < count && all >> bits; i++)
            if (sample[i] >> bits)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s: plane %d of a frame holds %u at (%lld, %lld), over the largest of %d bits", s->name, p, sample[i],
                         (long long)(i % frame->width[p]), (long long)(i / frame->width[p]), bits);
    }
    return TSR_OK;
}

static tsr_status take_planes(tsr_video_source *s, tsr_video_frame *frame)
{
    for (int64_t done = 0; done < frame->bytes;) {
        size_t got;
        TSR_TRY(take(s, (uint8_t *)frame->plane[0] + done, (size_t)(frame->bytes - done), &got));
        if (!got)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the last frame has %lld bytes, expected %lld", s->name, (long long)done,
                     (long long)frame->bytes);
        done += (int64_t)got;
    }
    return check_samples(s, frame);
}

tsr_status tsr_y4m_read_frame(tsr_video_source *s, const tsr_video_format *format, int64_t memory_limit, tsr_video_frame *frame, int *more)
{
    char line[TSR_VIDEO_LINE];
    const int64_t start = s->position;
    TSR_TRY(take_line(s, line, "a frame", more));
    if (!*more) return TSR_OK;
    if (strncmp(line, "FRAME", 5) || (line[5] && line[5] != ' '))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no frame at byte %lld: expected a line that begins with FRAME", s->name, (long long)start);
    tsr_video_frame shape = { .format = *format };
    tsr_video_frame_lay_out(&shape);
    const int64_t limit = memory_limit ? memory_limit : tsr_physical_memory();
    if (shape.bytes > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: a frame of %d x %d pixels needs %lld bytes, over the memory limit of %lld", s->name, format->width,
                 format->height, (long long)shape.bytes, (long long)limit);
    if (s->size >= 0 && s->size - s->position < shape.bytes)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: the last frame has %lld bytes, expected %lld", s->name, (long long)(s->size - s->position),
                 (long long)shape.bytes);
    if (!frame->plane[0] || !tsr_video_same_format(&frame->format, format)) {
        tsr_video_frame_destroy(frame);
        TSR_TRY(tsr_video_frame_create(format, frame));
    }
    return take_planes(s, frame);
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_y4m_header(const tsr_video_format *f, const int32_t rate[2], const int32_t aspect[2], char interlacing, char line[256])
{
    for (int i = 0; i < COLOR_SPACES; i++) {
        const struct color_space *c = &color_spaces[i];
        if (c->chroma != f->chroma || c->bits != f->bits) continue;
        if (f->chroma == TSR_CHROMA_420 && f->bits == 8 && c->siting != f->siting) continue;
        if (f->chroma == TSR_CHROMA_420 && f->bits > 8 && f->siting != TSR_SITING_CENTRE) break;
        snprintf(line, 256, "%s W%d H%d F%d:%d I%c A%d:%d C%s XCOLORRANGE=%s%s\n", magic, f->width, f->height, rate[0], rate[1], interlacing,
                 aspect[0], aspect[1], c->word, f->range == TSR_RANGE_FULL ? "FULL" : "LIMITED",
                 f->matrix == TSR_MATRIX_BT709 ? " XMATRIX=BT709" : "");
        return TSR_OK;
    }
    TSR_FAIL(
        TSR_ERROR_UNSUPPORTED,
        "Y4M has no word for chroma %s of %d bits with this siting: expected 8, 9, 10, 12, 14 or 16 bits (8 for 4:1:1 and for siting off the centre)",
        tsr_chroma_name(f->chroma), f->bits);
}
