#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static struct { int depth, filled; } json;

static void before(const char *key)
{
    if (json.filled) printf(",");
    if (json.depth) printf("\n%*s", 2 * json.depth, "");
    json.filled = 1;
    if (!key) return;
    printf("\"%s\": ", key);
}

void json_open(const char *key, char bracket)
{
    before(key);
    printf("%c", bracket);
    json.depth++;
    json.filled = 0;
}

void json_close(char bracket)
{
    json.depth--;
    if (json.filled) printf("\n%*s", 2 * json.depth, "");
    printf("%c", bracket);
    json.filled = 1;
    if (json.depth) return;
    printf("\n");
    json.filled = 0;
}

/* Bytes of the UTF-8 character at `c`, 0 if these bytes are none: JSON is UTF-8, names of files and metadata may be anything. */
static int utf8_bytes(const unsigned char *c)
{
    int length = *c < 0x80 ? 1 : *c >= 0xc2 && *c <= 0xdf ? 2 : (*c & 0xf0) == 0xe0 ? 3 : *c >= 0xf0 && *c <= 0xf4 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) || (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f)) return 0;
    return length;
}

void json_text(const char *key, const char *value)
{
    before(key);
    printf("\"");
    for (const unsigned char *c = (const unsigned char *)value; *c;) {
        int length = utf8_bytes(c);
        if (!length) printf("\\ufffd");
        else if (*c == '"' || *c == '\\') printf("\\%c", *c);
        else if (*c < 0x20 || *c == 0x7f) printf("\\u%04x", *c);
        else printf("%.*s", length, (const char *)c);
        c += length ? length : 1;
    }
    printf("\"");
}

/* As few digits as read back the same number. */
void json_real(const char *key, double value)
{
    char text[40];
    before(key);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    printf("%s", isfinite(value) ? text : "null");
}

void json_int(const char *key, int64_t value)
{
    before(key);
    printf("%lld", (long long)value);
}

void json_bool(const char *key, int value)
{
    before(key);
    printf(value ? "true" : "false");
}
