/* core/script_line.h: one line of a script as words and numbers: what the scripts of segmentation and editing share. */
#ifndef TSR_CORE_SCRIPT_LINE_H
#define TSR_CORE_SCRIPT_LINE_H

#include "core/status.h"

enum { TSR_LINE_WORDS = 200, TSR_LINE_BYTES = 4096 };

typedef struct tsr_script_line {
    char text[TSR_LINE_BYTES];
    char *word[TSR_LINE_WORDS];
    int words;
    double number[TSR_LINE_WORDS]; /* of word[i], NaN if it is none */
} tsr_script_line;

/* Splits at white space, up to '#'. At most `words` words and fewer than `bytes` characters, which must not exceed the room above. */
tsr_status tsr_script_line_split(const char *begin, size_t length, int words, size_t bytes, tsr_script_line *line);

#endif
