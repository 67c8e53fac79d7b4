/* tools/tessera/printable.c: names and metadata of files may hold anything, also what a terminal takes for commands. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int cli_utf8_bytes(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    int length = *c < 0x80 ? 1 : *c >= 0xc2 && *c <= 0xdf ? 2 : (*c & 0xf0) == 0xe0 ? 3 : *c >= 0xf0 && *c <= 0xf4 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) || (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f)) return 0;
    return length;
}

uint32_t cli_utf8_control(const char *text, int length)
{
    const unsigned char *c = (const unsigned char *)text;
    const uint32_t code = length == 1   ? c[0]
                          : length == 2 ? (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu)
                          : length == 3 ? (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu)
                                        : 0x10000u;
    const int c0 = code < 0x20 || code == 0x7f, c1 = code >= 0x80 && code <= 0x9f;
    const int turns = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return c0 || c1 || turns ? code : 0;
}

const char *cli_shown(const char *text)
{
    text = cli_given(text);
    static char *kept[4]; /* as many in one printf */
    static int next;
    char **mine = &kept[next++ % 4], *made = (char *)malloc(6 * strlen(text) + 1), *to = made;
    if (!made) return "(out of memory)";
    for (const char *c = text; *c;) {
        const int length = cli_utf8_bytes(c);
        const uint32_t control = length ? cli_utf8_control(c, length) : 0;
        if (!length) to += sprintf(to, "\\x%02x", (unsigned)(unsigned char)*c);
        else if (control == '\n') to += sprintf(to, "\\n");
        else if (control == '\t') to += sprintf(to, "\\t");
        else if (control) to += sprintf(to, control < 0x100 ? "\\x%02x" : "\\u%04x", control);
        else {
            memcpy(to, c, (size_t)length);
            to += length;
        }
        c += length ? length : 1;
    }
    *to = 0;
    free(*mine);
    return *mine = made;
}
