/* io/text.h: reading numbers and words from a block of text, without copies, without the locale, without a limit on line length. */
#ifndef TSR_IO_TEXT_H
#define TSR_IO_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/core.h"

/* A position in a text; the words before `end`. `line` counts from 1 and belongs to `at`. */
typedef struct tsr_text {
    const char *at, *end;
    int64_t line;
} tsr_text;

typedef struct tsr_word {
    const char *text; /* not terminated */
    size_t size;
} tsr_word;

typedef enum tsr_text_result { TSR_TEXT_NONE = 0, TSR_TEXT_OK = 1, TSR_TEXT_MALFORMED = 2 } tsr_text_result;

static inline tsr_text tsr_text_make(const void *bytes, size_t size)
{
    static const char mark[3] = { '\xef', '\xbb', '\xbf' }; /* of UTF-8: some editors begin files with it */
    const char *at = (const char *)bytes;
    if (size >= sizeof mark && !memcmp(at, mark, sizeof mark)) return (tsr_text){ at + sizeof mark, at + size, 1 };
    return (tsr_text){ at, at + size, 1 };
}

/* Takes the next line (without its end, LF, CR LF or CR) out of `text` as a text of its own; 0 at the end of the text. */
int tsr_text_line(tsr_text *text, tsr_text *line);
/* The next word up to white space; 0 at the end. White space includes line ends. */
int tsr_text_word(tsr_text *text, tsr_word *word);
/* A word to be read as text of its own; one that was never found is empty. */
static inline tsr_text tsr_text_of(tsr_word word, int64_t line)
{
    const char *begin = word.size > 0 ? word.text : "";
    return (tsr_text){ begin, begin + word.size, line };
}

int tsr_word_is(tsr_word word, const char *name);          /* case matters */
int tsr_word_is_any_case(tsr_word word, const char *name);

/* The next word as a number. Decimal point '.', any number of digits; "nan" and "inf" as printf writes them. The error is below 2^-60
 * relative to the decimal number before the rounding to double, so float32 numbers written with 9 digits come back with the same bits. */
tsr_text_result tsr_text_double(tsr_text *text, double *value);
tsr_text_result tsr_text_integer(tsr_text *text, int64_t *value);
tsr_text_result tsr_word_double(tsr_word word, double *value);
tsr_text_result tsr_word_integer(tsr_word word, int64_t *value);

/* Append to a line and return its new end (not terminated). A float32 takes at most 16 characters: 9 significant digits, which give back
 * the same bits, without trailing zeros and with '.' whatever the locale; an integer takes at most 20. */
char *tsr_put_text(char *at, const char *text);
char *tsr_put_float(char *at, float value);
char *tsr_put_integer(char *at, uint64_t value);
/* A character of Unicode in UTF-8: 1 to 4 bytes. */
char *tsr_put_utf8(char *at, uint32_t code);

/* For messages: the first characters of a word, printable. */
const char *tsr_word_show(tsr_word word, char shown[32]);

#endif
