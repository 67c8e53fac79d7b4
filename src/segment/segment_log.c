/* segment/segment_log.c: the script that a segmentation writes of what is done to it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "segment/segment.h"
#include "core/number.h"

static tsr_status append(tsr_segmentation *s, const char *format, va_list arguments)
{
    char line[256];
    int length = tsr_print_list(line, sizeof line - 1, format, arguments);
    if (length < 0 || length > (int)sizeof line - 2) TSR_FAIL(TSR_ERROR_INTERNAL, "segmentation: a log line is too long");
    line[length++] = '\n';
    if (s->log_bytes + (size_t)length + 1 > s->log_capacity) {
        size_t capacity = 2 * s->log_capacity + 4096;
        char *grown = (char *)realloc(s->log, capacity);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "segmentation: out of memory for the log (%zu bytes asked for)", capacity);
        s->log = grown;
        s->log_capacity = capacity;
    }
    memcpy(s->log + s->log_bytes, line, (size_t)length);
    s->log_bytes += (size_t)length;
    s->log[s->log_bytes] = 0;
    s->log_run = s->log_bytes;
    s->log_run_steps = 0;
    return TSR_OK;
}

static tsr_status append_line(tsr_segmentation *s, const char *format, ...) TSR_PRINTF(2, 3);
static tsr_status append_line(tsr_segmentation *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tsr_status status = append(s, format, arguments);
    va_end(arguments);
    return status;
}

/* The parameters of now as the first lines: a replay need not know what the segmentation was created with. */
tsr_status tsr_segment_log_begin(tsr_segmentation *s)
{
    const char *name;
    double value;
    s->log_bytes = 0;
    for (size_t i = 0; tsr_segment_option_at(&s->options, i, &name, &value); i++)
        if (name) TSR_TRY(append_line(s, "set %s %.17g", name, value));
    return TSR_OK;
}

/* Before the first line of work. */
static tsr_status open_log(tsr_segmentation *s)
{
    if (!s->log_begun) TSR_TRY(tsr_segment_log_begin(s));
    s->log_begun = 1;
    return TSR_OK;
}

tsr_status tsr_segment_log(tsr_segmentation *s, const char *format, ...)
{
    TSR_TRY(open_log(s));
    va_list arguments;
    va_start(arguments, format);
    tsr_status status = append(s, format, arguments);
    va_end(arguments);
    return status;
}

tsr_status tsr_segment_log_run(tsr_segmentation *s, int64_t steps)
{
    TSR_TRY(open_log(s)); /* before its last line is looked at */
    steps += s->log_run_steps;
    s->log_bytes = s->log_run;
    const size_t begin = s->log_run;
    TSR_TRY(tsr_segment_log(s, "step %lld", (long long)steps));
    s->log_run = begin;
    s->log_run_steps = steps;
    return TSR_OK;
}

const char *tsr_segmentation_log(const tsr_segmentation *s) { return s ? (s->log ? s->log : "") : NULL; }

tsr_status tsr_segmentation_note(tsr_segmentation *segmentation, const char *text)
{
    TSR_NEEDS(segmentation, text);
    const size_t n = text ? strlen(text) : 0;
    if (n > 200) TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: the note has %zu bytes, expected at most 200", n);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ')
            TSR_FAIL(TSR_ERROR_ARGUMENT, "segmentation: byte %zu of the note is a control character, expected one line of text", i);
    TSR_TRY(tsr_segment_log(segmentation, "# %s", text));
    return TSR_OK;
}
