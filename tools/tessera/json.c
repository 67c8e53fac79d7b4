#include <math.h>
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

/* Bytes from 0x80 pass as they are: texts are UTF-8 or the file's own business. */
void json_text(const char *key, const char *value)
{
    before(key);
    printf("\"");
    for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
        if (*c == '"' || *c == '\\') printf("\\%c", *c);
        else if (*c < 0x20 || *c == 0x7f) printf("\\u%04x", *c);
        else printf("%c", *c);
    }
    printf("\"");
}

void json_real(const char *key, double value)
{
    before(key);
    if (isfinite(value)) printf("%.10g", value);
    else printf("null");
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
