#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static struct { int depth, filled; } json;

/* JSON is UTF-8, names of files and metadata may be anything. */
static void quoted(const char *text)
{
    printf("\"");
    for (const char *c = text; *c;) {
        const int length = cli_utf8_bytes(c);
        const uint32_t control = length ? cli_utf8_control(c, length) : 0;
        if (!length) printf("\\ufffd");
        else if (*c == '"' || *c == '\\') printf("\\%c", *c);
        else if (control) printf("\\u%04x", control);
        else printf("%.*s", length, c);
        c += length ? length : 1;
    }
    printf("\"");
}

static void before(const char *key)
{
    if (json.filled) printf(",");
    if (json.depth) printf("\n%*s", 2 * json.depth, "");
    json.filled = 1;
    if (!key) return;
    quoted(key);
    printf(": ");
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

void json_text(const char *key, const char *value)
{
    before(key);
    quoted(value);
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
