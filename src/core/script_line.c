#include "core/script_line.h"
#include "core/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

tsr_status tsr_script_line_split(const char *begin, size_t length, int words, size_t bytes, tsr_script_line *line)
{
    if (length >= bytes) TSR_FAIL(TSR_ERROR_FORMAT, "the line has %zu characters, expected fewer than %zu", length, bytes);
    memcpy(line->text, begin, length);
    line->text[length] = 0;
    line->text[strcspn(line->text, "#")] = 0;
    line->words = 0;
    for (char *at = line->text; *at;) {
        while (isspace((unsigned char)*at)) at++;
        if (!*at) break;
        if (line->words == words) TSR_FAIL(TSR_ERROR_FORMAT, "more than %d words", words);
        line->word[line->words] = at;
        while (*at && !isspace((unsigned char)*at)) at++;
        if (*at) *at++ = 0;
        char *end;
        const char *word = line->word[line->words];
        line->number[line->words] = tsr_number_parse(word, &end);
        if (*end || end == word || !isfinite(line->number[line->words])) line->number[line->words] = NAN;
        line->words++;
    }
    return TSR_OK;
}
