#include "io/text.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static int is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static int is_digit(char c) { return c >= '0' && c <= '9'; }

int tsr_text_line(tsr_text *text, tsr_text *line)
{
    if (text->at == text->end) return 0;
    const char *at = text->at;
    while (at < text->end && *at != '\n' && *at != '\r') at++;
    *line = (tsr_text){ text->at, at, text->line };
    if (at < text->end && *at == '\r' && at + 1 < text->end && at[1] == '\n') at++;
    text->at = at < text->end ? at + 1 : at;
    text->line++;
    return 1;
}

int tsr_text_word(tsr_text *text, tsr_word *word)
{
    const char *at = text->at, *end = text->end;
    while (at < end && is_space(*at)) text->line += *at++ == '\n';
    const char *begin = at;
    while (at < end && !is_space(*at)) at++;
    text->at = at;
    *word = (tsr_word){ begin, (size_t)(at - begin) };
    return at != begin;
}

int tsr_word_is(tsr_word word, const char *name) { return strlen(name) == word.size && !memcmp(word.text, name, word.size); }
int tsr_word_is_any_case(tsr_word word, const char *name) { return strlen(name) == word.size && !strncasecmp(word.text, name, word.size); }

static const double exact_power[23] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

static double times_large_power(long double v, int64_t e)
{
    long double power = 1, base = 10;
    for (int64_t n = e < 0 ? -e : e; n; n >>= 1, base *= base)
        if (n & 1) power *= base;
    return (double)(e < 0 ? v / power : v * power);
}

/* v * 10^e with one rounding where 10^|e| is an exact double, else by way of long double. */
static double times_power(double v, int64_t e)
{
    if (e < -22 || e > 22) return times_large_power((long double)v, e);
    return e < 0 ? v / exact_power[-e] : v * exact_power[e];
}

/* m * 10^e. */
static double scale(uint64_t m, int64_t e)
{
    if (!m || e < -400) return 0;
    if (e > 400) return INFINITY;
    return m >> 53 ? times_large_power((long double)m, e) : times_power((double)m, e);
}

static int begins(const char *at, const char *end, const char *name)
{
    size_t n = strlen(name);
    return (size_t)(end - at) >= n && !strncasecmp(at, name, n);
}

tsr_text_result tsr_word_double(tsr_word word, double *value)
{
    const char *at = word.text, *end = word.text + word.size;
    if (!word.size) return TSR_TEXT_NONE;
    int negative = *at == '-';
    if (*at == '-' || *at == '+') at++;
    if (begins(at, end, "nan") || begins(at, end, "inf")) {
        *value = (*at | 32) == 'n' ? (double)NAN : negative ? -(double)INFINITY : (double)INFINITY;
        return TSR_TEXT_OK;
    }
    uint64_t mantissa = 0;
    int64_t exponent = 0, digits = 0;
    for (int fraction = 0; at < end; at++) {
        if (*at == '.' && !fraction) {
            fraction = 1;
            continue;
        }
        if (!is_digit(*at)) break;
        digits++;
        if (mantissa < 1000000000000000000u) { /* room for one digit more */
            mantissa = mantissa * 10 + (uint64_t)(*at - '0');
            exponent -= fraction;
        } else {
            exponent += !fraction;
        }
    }
    if (!digits) return TSR_TEXT_MALFORMED;
    if (at < end && (*at | 32) == 'e') {
        int64_t given = 0;
        if (tsr_word_integer((tsr_word){ at + 1, (size_t)(end - at - 1) }, &given) != TSR_TEXT_OK) return TSR_TEXT_MALFORMED;
        exponent += given < -100000 ? -100000 : given > 100000 ? 100000 : given;
        at = end;
    }
    if (at != end) return TSR_TEXT_MALFORMED;
    *value = negative ? -scale(mantissa, exponent) : scale(mantissa, exponent);
    return TSR_TEXT_OK;
}

tsr_text_result tsr_word_integer(tsr_word word, int64_t *value)
{
    const char *at = word.text, *end = word.text + word.size;
    if (!word.size) return TSR_TEXT_NONE;
    int negative = *at == '-';
    if (*at == '-' || *at == '+') at++;
    if (at == end) return TSR_TEXT_MALFORMED;
    int64_t v = 0;
    for (; at < end; at++) {
        if (!is_digit(*at) || v > (INT64_MAX - 9) / 10) return TSR_TEXT_MALFORMED;
        v = v * 10 + (*at - '0');
    }
    *value = negative ? -v : v;
    return TSR_TEXT_OK;
}

tsr_text_result tsr_text_double(tsr_text *text, double *value)
{
    tsr_word word;
    return tsr_text_word(text, &word) ? tsr_word_double(word, value) : TSR_TEXT_NONE;
}

tsr_text_result tsr_text_integer(tsr_text *text, int64_t *value)
{
    tsr_word word;
    return tsr_text_word(text, &word) ? tsr_word_integer(word, value) : TSR_TEXT_NONE;
}

char *tsr_put_text(char *at, const char *text)
{
    while (*text) *at++ = *text++;
    return at;
}

char *tsr_put_integer(char *at, uint64_t value)
{
    char digits[20];
    int n = 0;
    do digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n) *at++ = digits[--n];
    return at;
}

char *tsr_put_utf8(char *at, uint32_t code)
{
    static const uint8_t first[4] = { 0, 0xc0, 0xe0, 0xf0 };
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes of six bits behind the first */
    *at++ = (char)(first[more] | code >> 6 * more);
    for (int k = more - 1; k >= 0; k--) *at++ = (char)(0x80 | (code >> 6 * k & 63));
    return at;
}

char *tsr_put_float(char *at, float value)
{
    double size = fabs((double)value);
    if (isnan(value)) return tsr_put_text(at, "nan");
    if (signbit(value)) *at++ = '-';
    if (isinf(value)) return tsr_put_text(at, "inf");
    if (size == 0) return tsr_put_text(at, "0");
    int e = (int)floor(log10(size)); /* of the first digit; may be off by one */
    uint64_t digits = (uint64_t)llrint(times_power(size, 8 - e));
    if (digits >= 1000000000) digits = (uint64_t)llrint(times_power(size, 8 - ++e));
    else if (digits < 100000000) digits = (uint64_t)llrint(times_power(size, 8 - --e));
    char nine[9];
    int count = 9;
    for (int i = 8; i >= 0; i--, digits /= 10) nine[i] = (char)('0' + digits % 10);
    while (count > 1 && nine[count - 1] == '0') count--;
    int point = e >= -5 && e < 9 ? e : 0; /* the digit before the decimal point; beyond that range with an exponent */
    if (point < 0) at = tsr_put_text(at, "0.");
    for (int i = point + 1; i < 0; i++) *at++ = '0';
    for (int i = 0; i < count || i <= point; i++) {
        if (i && i == point + 1) *at++ = '.';
        *at++ = i < count ? nine[i] : '0';
    }
    if (e == point) return at;
    at = tsr_put_text(at, e < 0 ? "e-" : "e");
    return tsr_put_integer(at, (uint64_t)(e < 0 ? -e : e));
}

const char *tsr_word_show(tsr_word word, char shown[32])
{
    size_t n = word.size < 31 ? word.size : 31;
    for (size_t i = 0; i < n; i++) shown[i] = word.text[i] >= 32 && word.text[i] < 127 ? word.text[i] : '?';
    shown[n] = 0;
    return shown;
}
