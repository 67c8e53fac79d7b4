/* vision/align/align_read.c: lines of a proxy as text. */
#include <math.h>
#include <stdlib.h>

#include "io/stream.h"
#include "io/text.h"
#include "vision/align/align.h"

enum { LINE_NUMBERS = 6 };

/* 1: a line of the proxy in x; 0: nothing (empty, a remark, a heading); -1: something else. */
static int numbers_of(tsr_text text, double x[LINE_NUMBERS])
{
    char own[512];
    size_t n = 0;
    for (; text.at < text.end && n < sizeof own; text.at++) own[n++] = *text.at == ',' || *text.at == ';' ? ' ' : *text.at;
    if (text.at < text.end) return -1;
    tsr_text words = tsr_text_make(own, n);
    const int64_t number = text.line;
    tsr_word word;
    int count = 0;
    while (tsr_text_word(&words, &word)) {
        if (!count && *word.text == '#') return 0;
        if (count == LINE_NUMBERS || tsr_word_double(word, &x[count]) != TSR_TEXT_OK || !isfinite(x[count])) return !count && number == 1 ? 0 : -1;
        count++;
    }
    return count == LINE_NUMBERS ? 1 : count ? -1 : 0;
}

tsr_status tsr_align_lines_read(const char *path, const tsr_read_options *options, tsr_align_line **line, int64_t *lines)
{
    TSR_RETURNS(line);
    TSR_NEEDS(path, lines);
    tsr_read_options o;
    tsr_input *input = NULL;
    const uint8_t *bytes;
    size_t size;
    int64_t room = 0, number = 0;
    tsr_text text, one;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    *lines = 0;
    const tsr_input_options settings = { .memory_limit = o.memory_limit, .same_folder = o.same_folder };
    TSR_TRY(tsr_input_open(path, &settings, &input));
    TSR_TRY_GOTO(tsr_input_all(input, &bytes, &size), fail);
    text = tsr_text_make(bytes, size);
    while (tsr_text_line(&text, &one)) {
        double x[LINE_NUMBERS];
        one.line = ++number;
        const int found = numbers_of(one, x);
        if (found < 0)
            TSR_FAIL_GOTO(TSR_ERROR_FORMAT, fail, "%.200s:%lld: expected six finite numbers X,Y,Z,X,Y,Z: the ends of a line", path,
                          (long long)number);
        if (!found) continue;
        if (*lines == room) {
            room = room ? 2 * room : 256;
            tsr_align_line *grown = (tsr_align_line *)realloc(*line, (size_t)room * sizeof *grown);
            if (!grown) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "out of host memory for %lld lines", (long long)room);
            *line = grown;
        }
        (*line)[(*lines)++] = (tsr_align_line){ .from = { x[0], x[1], x[2] }, .to = { x[3], x[4], x[5] } };
    }
    if (!*lines) TSR_FAIL_GOTO(TSR_ERROR_FORMAT, fail, "%.200s: no line of six numbers X,Y,Z,X,Y,Z", path);
    tsr_input_close(&input);
    return TSR_OK;
fail:
    tsr_input_close(&input);
    free(*line);
    *line = NULL;
    *lines = 0;
    return status;
}
