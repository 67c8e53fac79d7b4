/* formats/dicom/characters.c: texts of DICOM's character sets (PS3.3 C.12.1.1.2, PS3.5 6.1.2) as UTF-8, by iconv. Latin 1 and UTF-8 need no iconv. */
#include "formats/dicom/dicom.h"
#include "io/text.h"

#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A set of the bytes below 128 (G0) or above (G1), by its number of ISO-IR and the bytes behind ESC that switch to it. */
typedef struct set {
    const char *number, *escape, *name; /* name: iconv's */
    int high, bytes;                    /* bytes of a character; not high: they lie where EUC has them 128 above */
    unsigned char before;               /* EUC's sign of the set */
} set;
static const set sets[] = {
    { "6", "(B", "ASCII", 0, 1, 0 },        { "14", "(J", "ASCII", 0, 1, 0 },        { "13", ")I", "SHIFT_JIS", 1, 1, 0 },
    { "87", "$B", "EUC-JP", 0, 2, 0 },      { "159", "$(D", "EUC-JP", 0, 2, 0x8f },  { "149", "$)C", "EUC-KR", 1, 2, 0 },
    { "58", "$)A", "GB2312", 1, 2, 0 },     { "100", "-A", "ISO-8859-1", 1, 1, 0 },  { "101", "-B", "ISO-8859-2", 1, 1, 0 },
    { "109", "-C", "ISO-8859-3", 1, 1, 0 }, { "110", "-D", "ISO-8859-4", 1, 1, 0 },  { "144", "-L", "ISO-8859-5", 1, 1, 0 },
    { "127", "-G", "ISO-8859-6", 1, 1, 0 }, { "126", "-F", "ISO-8859-7", 1, 1, 0 },  { "138", "-H", "ISO-8859-8", 1, 1, 0 },
    { "148", "-M", "ISO-8859-9", 1, 1, 0 }, { "203", "-b", "ISO-8859-15", 1, 1, 0 }, { "166", "-T", "TIS-620", 1, 1, 0 },
};
enum { SETS = sizeof sets / sizeof *sets, RUN = 192 };

typedef struct writer {
    const char *file;
    char *at, *end; /* the byte for the 0 is behind */
    int full, said;
} writer;

static void put(writer *w, uint32_t code)
{
    char bytes[4];
    const size_t n = (size_t)(tsr_put_utf8(bytes, code < 32 || code == 127 ? ' ' : code) - bytes);
    w->full |= n > (size_t)(w->end - w->at);
    if (w->full) return;
    memcpy(w->at, bytes, n);
    w->at += n;
}

/* Bytes of one of iconv's sets; what it has no character for is '?'. */
static void put_run(writer *w, const char *name, const uint8_t *from, size_t n)
{
    iconv_t way = iconv_open("UTF-8", name);
    char *in = (char *)(uintptr_t)from;
    if (way == (iconv_t)-1) {
        if (!w->said++) tsr_remark("%s: its texts are in %s, which iconv does not know here: ? stands for what is not ASCII", w->file, name);
        for (size_t k = 0; k < n; k++) put(w, from[k] < 128 ? from[k] : '?');
        return;
    }
    while (n && !w->full) {
        char bytes[RUN], *out = bytes;
        size_t room = sizeof bytes;
        const size_t left = n;
        const int good = iconv(way, &in, &n, &out, &room) != (size_t)-1;
        for (const char *c = bytes; c < out;) { /* whole characters, of which each finds room or none */
            size_t k = 1;
            while (c + k < out && (c[k] & 0xc0) == 0x80) k++;
            w->full |= k > (size_t)(w->end - w->at);
            if (w->full) break;
            memcpy(w->at, c, k);
            if (k == 1 && ((unsigned char)*c < 32 || *c == 127)) *w->at = ' ';
            w->at += k;
            c += k;
        }
        if (good || (n != left && room < sizeof bytes / 2)) continue; /* no room in `bytes` */
        put(w, '?');
        in++;
        n--;
    }
    iconv_close(way);
}

static const set *set_of(const char *number, size_t n)
{
    for (int k = 0; k < SETS; k++)
        if (strlen(sets[k].number) == n && !memcmp(sets[k].number, number, n)) return &sets[k];
    return NULL;
}

/* Value k of the character sets: its number behind "ISO_IR " or "ISO 2022 IR ". */
static const set *named(const char *list, size_t n, int k)
{
    static const char *const begins[] = { "ISO_IR ", "ISO 2022 IR ", "ISO 2022 " };
    for (; k; k--) {
        const char *next = (const char *)memchr(list, '\\', n);
        if (!next) return NULL;
        n -= (size_t)(next + 1 - list);
        list = next + 1;
    }
    const char *end = (const char *)memchr(list, '\\', n);
    if (end) n = (size_t)(end - list);
    while (n && *list == ' ') list++, n--;
    while (n && list[n - 1] == ' ') n--;
    for (size_t b = 0; b < sizeof begins / sizeof *begins; b++) {
        const size_t size = strlen(begins[b]);
        if (n > size && !strncasecmp(list, begins[b], size)) return set_of(list + size, n - size);
    }
    return NULL;
}

/* Bytes of the character of UTF-8 that begins here; 0: none does. Enough to tell it from Latin 1. */
static size_t utf8_bytes(const uint8_t *from, size_t n)
{
    const size_t bytes = *from < 0x80 ? 1 : *from < 0xc2 ? 0 : *from < 0xe0 ? 2 : *from < 0xf0 ? 3 : *from < 0xf5 ? 4 : 0;
    if (bytes > n) return 0;
    for (size_t k = 1; k < bytes; k++)
        if ((from[k] & 0xc0) != 0x80) return 0;
    return bytes;
}

/* UTF-8; what is none is taken to be Latin 1, all of it. */
static void put_unsaid(writer *w, const uint8_t *from, size_t n)
{
    size_t k = 0;
    while (k < n && utf8_bytes(from + k, n - k)) k += utf8_bytes(from + k, n - k);
    const int latin = k < n;
    for (k = 0; k < n && !w->full;) {
        const size_t bytes = latin ? 1 : utf8_bytes(from + k, n - k);
        if (bytes == 1) put(w, from[k]);
        else {
            w->full |= bytes > (size_t)(w->end - w->at);
            if (!w->full) memcpy(w->at, from + k, bytes);
            w->at += w->full ? 0 : bytes;
        }
        k += bytes;
    }
}

/* Bytes of one set from here on, as iconv takes them; returns how many there are. */
static size_t gather(const set *s, const uint8_t *from, size_t n, uint8_t run[RUN], size_t *used)
{
    size_t k = 0;
    *used = 0;
    while (k < n && *used + 3 <= RUN && (s->high ? from[k] >= 128 : from[k] > 32 && from[k] < 127)) {
        const size_t bytes = (size_t)s->bytes <= n - k ? (size_t)s->bytes : n - k;
        if (s->before) run[(*used)++] = s->before;
        for (size_t b = 0; b < bytes; b++) run[(*used)++] = (uint8_t)(from[k++] | (s->high ? 0 : 0x80));
    }
    return k;
}

/* Texts that switch from set to set. */
static void put_switched(writer *w, const char *list, size_t list_bytes, const uint8_t *from, size_t n)
{
    const set *low = &sets[0], *first = NULL, *high;
    for (int k = 0; k < 8 && !first; k++) { /* what stands above 128 without an escape */
        first = named(list, list_bytes, k);
        if (first && !first->high) first = NULL;
    }
    high = first;
    for (size_t k = 0; k < n && !w->full;) {
        const set *const own = from[k] >= 128 ? high : low;
        uint8_t run[RUN];
        size_t used = 0, taken = 0;
        if (from[k] == 27) { /* ESC */
            const set *to = NULL;
            for (int s = 0; s < SETS && !to; s++)
                if (strlen(sets[s].escape) < n - k && !memcmp(from + k + 1, sets[s].escape, strlen(sets[s].escape))) to = &sets[s];
            if (to && to->high) high = to;
            else if (to) low = to;
            k += to ? 1 + strlen(to->escape) : 1;
            continue;
        }
        if (from[k] < 32 || from[k] == '\\') low = from[k] < 32 || low->bytes == 1 ? &sets[0] : low; /* lines begin anew */
        if (!own) put_unsaid(w, from + k, taken = 1);
        else if (own->bytes > 1 || own->high) taken = gather(own, from + k, n - k, run, &used);
        if (used) put_run(w, own->name, run, used);
        if (!taken) put(w, from[k]);
        k += taken ? taken : 1;
    }
}

void tsr_dicom_characters(const char *file, const char *list, size_t list_bytes, const char *text, size_t n, char *to, size_t room)
{
    static const char *const whole[] = { "GB18030", "GBK" };
    const uint8_t *from = (const uint8_t *)text;
    writer w = { .file = file, .at = to, .end = to + room - 1 };
    const char *name = NULL;
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
        if (list_bytes == strlen(whole[k]) && !strncasecmp(list, whole[k], list_bytes)) name = whole[k];
    if (name) put_run(&w, name, from, n);
    else if (memchr(list, '\\', list_bytes) || named(list, list_bytes, 0)) put_switched(&w, list, list_bytes, from, n);
    else put_unsaid(&w, from, n); /* ISO_IR 192, or nothing said: UTF-8, as it should be ASCII; Latin 1 where it is not */
    *w.at = 0;
}
