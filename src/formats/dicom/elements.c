/* Data sets: the elements of a file, one after another, sequences and their items among them (PS3.5 7, PS3.10 7). */
#include "formats/dicom/dicom.h"

#include "io/signatures.h"
#include "io/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { DEPTH_MOST = 24, ELEMENTS_MOST = 1 << 24 };
#define ENDLESS 0xFFFFFFFFu
#define ITEM_END 0xFFFEE00Du
#define SEQUENCE_END 0xFFFEE0DDu
#define VR TSR_DICOM_VR

/* ---- numbers as they lie in the file ------------------------------------------------------------------------------------------------------------ */

static uint32_t get16(const tsr_dicom_data *d, int64_t at)
{
    const uint8_t *p = d->bytes + at;
    return d->big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}
static uint32_t get32(const tsr_dicom_data *d, int64_t at)
{
    return d->big_endian ? get16(d, at) << 16 | get16(d, at + 2) : get16(d, at + 2) << 16 | get16(d, at);
}

/* ---- parsing -------------------------------------------------------------------------------------------------------------------------------------- */

static int is_long(uint16_t vr) /* of a length of 32 bits behind two bytes that mean nothing */
{
    static const char names[] = "OBODOFOLOVOWSQSVUCUNURUTUV";
    for (int i = 0; names[i]; i += 2)
        if (vr == VR(names[i], names[i + 1])) return 1;
    return 0;
}

/* Sequences that are looked into, which an implicit data set with lengths does not tell from other values. */
static int is_known_sequence(uint32_t tag)
{
    static const uint32_t tags[] = { 0x52009229, 0x52009230, 0x00209113, 0x00209116, 0x00289110, 0x00289145, 0x00209111, 0x00540022,
                                     0x00283000, 0x00189114, 0x00189117, 0x00189118, 0x00620002, 0x0062000A, 0x00186011, 0x0020930E };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (tags[i] == tag) return 1;
    return 0;
}

static tsr_status add(tsr_dicom_data *d, const tsr_dicom_element *e, int32_t *number)
{
    if (d->count == ELEMENTS_MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: DICOM: more than %d elements", d->name, ELEMENTS_MOST);
    if (d->count == d->room) {
        const int32_t room = d->room ? 2 * d->room : 128;
        tsr_dicom_element *grown = (tsr_dicom_element *)realloc(d->element, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %d elements", d->name, room);
        d->element = grown;
        d->room = room;
    }
    *number = d->count++;
    d->element[*number] = *e;
    d->element[*number].after = d->count;
    return TSR_OK;
}

static tsr_status truncated(const tsr_dicom_data *d, int64_t at, const char *what)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: DICOM %s at byte %lld, the file has %lld", d->name, what, (long long)at, (long long)d->size);
}

/* The head of one element at *at, which moves to its value. */
static tsr_status parse_head(const tsr_dicom_data *d, int64_t end, int implicit, int64_t *at, tsr_dicom_element *e)
{
    if (end - *at < 8) return truncated(d, *at, "element");
    *e = (tsr_dicom_element){ .tag = get16(d, *at) << 16 | get16(d, *at + 2) };
    uint32_t bytes;
    if (implicit || e->tag >> 16 == 0xFFFE) {
        bytes = get32(d, *at + 4);
        *at += 8;
    } else {
        e->vr = VR(d->bytes[*at + 4], d->bytes[*at + 5]);
        if (!isupper(d->bytes[*at + 4]) || !isupper(d->bytes[*at + 5]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM element (%04x,%04x) at byte %lld: the kind of value is not two letters", d->name, e->tag >> 16,
                     e->tag & 0xffff, (long long)*at);
        if (is_long(e->vr)) {
            if (end - *at < 12) return truncated(d, *at, "element");
            bytes = get32(d, *at + 8);
            *at += 12;
        } else {
            bytes = get16(d, *at + 6);
            *at += 8;
        }
    }
    e->at = *at;
    e->endless = bytes == ENDLESS;
    e->bytes = e->endless ? -1 : (int64_t)bytes;
    if (!e->endless && e->bytes > end - *at)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: DICOM element (%04x,%04x) of %lld bytes at byte %lld, of which %lld are there", d->name,
                 e->tag >> 16, e->tag & 0xffff, (long long)e->bytes, (long long)*at, (long long)(end - *at));
    return TSR_OK;
}

static tsr_status parse_elements(tsr_dicom_data *d, int64_t *at, int64_t end, int implicit, int depth, int in_item);

/* Items until `end` or their end mark. */
static tsr_status parse_items(tsr_dicom_data *d, int64_t *at, int64_t end, int endless, int implicit, int depth)
{
    if (depth == DEPTH_MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: DICOM: sequences in sequences, more than %d deep", d->name, DEPTH_MOST);
    while (*at < end || endless) {
        tsr_dicom_element e;
        int32_t item = 0;
        TSR_TRY(parse_head(d, end, implicit, at, &e));
        if (e.tag == SEQUENCE_END) return TSR_OK;
        if (e.tag != TSR_DICOM_ITEM)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM element (%04x,%04x) at byte %lld, expected an item of a sequence", d->name, e.tag >> 16,
                     e.tag & 0xffff, (long long)(e.at - 8));
        TSR_TRY(add(d, &e, &item));
        TSR_TRY(parse_elements(d, at, e.endless ? end : *at + e.bytes, implicit, depth + 1, e.endless));
        d->element[item].after = d->count;
        d->element[item].bytes = *at - e.at;
    }
    return TSR_OK;
}

/* Pieces of packed pixels: items without elements. */
static tsr_status parse_pieces(tsr_dicom_data *d, int64_t *at, int64_t end)
{
    for (;;) {
        tsr_dicom_element e;
        int32_t item;
        if (end - *at < 8 && d->count) { /* files that end with their pixels, without the mark */
            *at = end;
            return TSR_OK;
        }
        TSR_TRY(parse_head(d, end, 1, at, &e));
        if (e.tag == SEQUENCE_END) return TSR_OK;
        if (e.tag != TSR_DICOM_ITEM || e.endless)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM element (%04x,%04x) at byte %lld, expected a piece of the packed pixels", d->name, e.tag >> 16,
                     e.tag & 0xffff, (long long)(e.at - 8));
        TSR_TRY(add(d, &e, &item));
        *at += e.bytes;
    }
}

static tsr_status parse_elements(tsr_dicom_data *d, int64_t *at, int64_t end, int implicit, int depth, int in_item)
{
    while (*at < end || in_item) {
        tsr_dicom_element e;
        int32_t number;
        if (!depth && end - *at < 8) break; /* padding behind the data set */
        TSR_TRY(parse_head(d, end, implicit, at, &e));
        if (e.tag == ITEM_END && in_item) return TSR_OK;
        if (e.tag == 0xFFFCFFFCu && !depth) return TSR_OK; /* trailing padding */
        if (!depth && !e.tag) return TSR_OK;               /* zeros behind the data set */
        TSR_TRY(add(d, &e, &number));
        const int sequence =
            e.vr == VR('S', 'Q') || (implicit && is_known_sequence(e.tag)) || (e.endless && e.vr != VR('O', 'B') && e.vr != VR('O', 'W'));
        if (e.endless && e.tag == 0x7FE00010u) TSR_TRY(parse_pieces(d, at, end));
        else if (sequence)
            TSR_TRY(parse_items(d, at, e.endless ? end : *at + e.bytes, e.endless, implicit || (e.endless && e.vr == VR('U', 'N')), depth + 1));
        else if (e.endless)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM element (%04x,%04x) at byte %lld has no length", d->name, e.tag >> 16, e.tag & 0xffff,
                     (long long)e.at);
        else *at += e.bytes;
        d->element[number].after = d->count;
        if (e.endless) d->element[number].bytes = *at - e.at;
    }
    return TSR_OK;
}

/* A raw deflate stream to the end of the file. */
static tsr_status inflate_rest(tsr_dicom_data *d, int64_t at, int64_t limit)
{
    z_stream z = { 0 };
    size_t room = 0, used = 0;
    int result = Z_OK;
    if (inflateInit2(&z, -15) != Z_OK) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", d->name);
    z.next_in = (Bytef *)(uintptr_t)(d->bytes + at);
    int64_t left = d->size - at;
    while (result == Z_OK) {
        if (used == room) {
            room = room ? 2 * room : 1 << 16;
            uint8_t *grown = (int64_t)used > limit ? NULL : (uint8_t *)realloc(d->inflated, room);
            if (!grown) {
                inflateEnd(&z);
                TSR_FAIL(TSR_ERROR_MEMORY, "%s: DICOM: the deflated data set has more than %zu bytes, over the memory limit", d->name, used);
            }
            d->inflated = grown;
        }
        if (!z.avail_in && left) {
            z.avail_in = (uInt)tsr_min64(left, 1 << 30);
            left -= z.avail_in;
        }
        z.next_out = d->inflated + used;
        z.avail_out = (uInt)tsr_min64((int64_t)(room - used), 1 << 30);
        const uInt before = z.avail_out;
        result = inflate(&z, Z_NO_FLUSH);
        used += before - z.avail_out;
        if (result == Z_BUF_ERROR && used == room) result = Z_OK;
    }
    inflateEnd(&z);
    if (result != Z_STREAM_END) TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: the deflated data set is damaged after %zu bytes", d->name, used);
    d->bytes = d->inflated;
    d->size = (int64_t)used;
    return TSR_OK;
}

/* What the transfer syntax says (PS3.5 annex A). */
static tsr_status take_syntax(tsr_dicom_data *d, int *deflated)
{
    static const char root[] = "1.2.840.10008.1.2";
    const char *uid = d->syntax_uid, *rest = uid + sizeof root - 1;
    *deflated = 0;
    d->implicit = d->big_endian = 0;
    d->syntax = TSR_DICOM_NATIVE;
    if (strncmp(uid, root, sizeof root - 1) || (*rest && *rest != '.'))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: DICOM: transfer syntax '%s', expected one of DICOM (%s...)", d->name, uid, root);
    if (!*rest) d->implicit = 1;
    else if (!strcmp(rest, ".1")) return TSR_OK;
    else if (!strcmp(rest, ".1.99")) *deflated = 1;
    else if (!strcmp(rest, ".2")) d->big_endian = 1;
    else if (!strcmp(rest, ".5")) d->syntax = TSR_DICOM_RLE;
    else d->syntax = TSR_DICOM_PACKED;
    return TSR_OK;
}

/* Group 2, always little-endian and explicit, up to `*at`, which moves behind it. */
static tsr_status parse_meta(tsr_dicom_data *d, int64_t *at)
{
    while (d->size - *at >= 8 && get16(d, *at) == 2) {
        tsr_dicom_element e;
        int32_t number;
        TSR_TRY(parse_head(d, d->size, 0, at, &e));
        if (e.endless) TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM element (0002,%04x) has no length", d->name, e.tag & 0xffff);
        TSR_TRY(add(d, &e, &number));
        *at += e.bytes;
    }
    tsr_dicom_text(d, -1, 0x00020010, d->syntax_uid, sizeof d->syntax_uid);
    return TSR_OK;
}

static tsr_status parse(tsr_dicom_data *d, int64_t limit)
{
    int64_t at = d->size >= 132 && !memcmp(d->bytes + 128, "DICM", 4) ? 132 : 0;
    int deflated = 0;
    TSR_TRY(parse_meta(d, &at));
    if (d->syntax_uid[0]) TSR_TRY(take_syntax(d, &deflated));
    else if (d->size - at >= 8) { /* a bare data set: its first element tells */
        d->implicit = !isupper(d->bytes[at + 4]) || !isupper(d->bytes[at + 5]);
        d->big_endian = !d->implicit && !d->bytes[at] && d->bytes[at + 1]; /* no group is 0x0800 or more in front */
        strcpy(d->syntax_uid, d->implicit ? "1.2.840.10008.1.2" : d->big_endian ? "1.2.840.10008.1.2.2" : "1.2.840.10008.1.2.1");
    }
    if (!deflated && !d->big_endian && d->size - at >= 8) { /* written by what does not know its own syntax */
        const int letters = isupper(d->bytes[at + 4]) && isupper(d->bytes[at + 5]);
        if (!letters) d->implicit = 1;
        else if (get32(d, at + 4) > (uint64_t)(d->size - at)) d->implicit = 0;
    }
    if (deflated) {
        d->count = 0; /* their values lie in the packed bytes */
        TSR_TRY(inflate_rest(d, at, limit));
        at = 0;
    }
    TSR_TRY(parse_elements(d, &at, d->size, d->implicit, 0, 0));
    return TSR_OK;
}

tsr_status tsr_dicom_parse(const char *name, const uint8_t *bytes, int64_t size, int64_t limit, tsr_dicom_data *d)
{
    *d = (tsr_dicom_data){ .name = name, .bytes = bytes, .size = size };
    if (!tsr_signature_is_dicom(bytes, (size_t)size))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no DICOM file: neither DICM at byte 128 nor an element of group 8 in front", name);
    const tsr_status status = parse(d, limit);
    if (status != TSR_OK) tsr_dicom_free(d);
    TSR_TRY(status);
    return TSR_OK;
}

void tsr_dicom_free(tsr_dicom_data *d)
{
    free(d->element);
    free(d->inflated);
    *d = (tsr_dicom_data){ 0 };
}

/* ---- values ---------------------------------------------------------------------------------------------------------------------------------------- */

int32_t tsr_dicom_find(const tsr_dicom_data *d, int32_t item, uint32_t tag)
{
    const int32_t end = item < 0 ? d->count : d->element[item].after;
    for (int32_t i = item + 1; i < end; i = d->element[i].after)
        if (d->element[i].tag == tag) return i;
    return -1;
}

int32_t tsr_dicom_item(const tsr_dicom_data *d, int32_t sequence, int64_t k)
{
    if (sequence < 0) return -1;
    for (int32_t i = sequence + 1; i < d->element[sequence].after; i = d->element[i].after)
        if (d->element[i].tag == TSR_DICOM_ITEM && !k--) return i;
    return -1;
}

/* The value of a text without the blanks round it; NULL: there is none. */
static const char *value_of(const tsr_dicom_data *d, int32_t item, uint32_t tag, size_t *bytes)
{
    const int32_t i = tsr_dicom_find(d, item, tag);
    if (i < 0 || d->element[i].bytes <= 0 || d->element[i].after != i + 1) return NULL;
    const char *from = (const char *)d->bytes + d->element[i].at;
    size_t n = (size_t)d->element[i].bytes;
    const char *zero = (const char *)memchr(from, 0, n);
    if (zero) n = (size_t)(zero - from);
    while (n && (*from == ' ' || *from == '\t')) from++, n--;
    while (n && (from[n - 1] == ' ' || from[n - 1] == '\n' || from[n - 1] == '\r')) n--;
    *bytes = n;
    return from;
}

const char *tsr_dicom_text(const tsr_dicom_data *d, int32_t item, uint32_t tag, char *text, size_t room)
{
    size_t n = 0, list_bytes = 0;
    const char *from = value_of(d, item, tag, &n), *list = item < 0 ? NULL : value_of(d, item, 0x00080005, &list_bytes);
    text[0] = 0;
    if (!from) return text;
    if (!list) list = value_of(d, -1, 0x00080005, &list_bytes);
    tsr_dicom_characters(d->name, list ? list : "", list_bytes, from, n, text, room);
    return text;
}

static int text_number(const tsr_dicom_data *d, const tsr_dicom_element *e, int64_t k, double *value)
{
    const char *at = (const char *)d->bytes + e->at, *end = at + e->bytes;
    for (; k > 0; k--) {
        at = (const char *)memchr(at, '\\', (size_t)(end - at));
        if (!at) return 0;
        at++;
    }
    const char *stop = (const char *)memchr(at, '\\', (size_t)(end - at));
    if (!stop) stop = end;
    while (at < stop && (*at == ' ' || *at == '+')) at++;
    while (stop > at && (stop[-1] == ' ' || !stop[-1])) stop--;
    return stop > at && tsr_word_double((tsr_word){ at, (size_t)(stop - at) }, value) == TSR_TEXT_OK && *value - *value == 0;
}

int tsr_dicom_number(const tsr_dicom_data *d, int32_t element, uint16_t vr, int64_t k, double *value)
{
    if (element < 0) return 0;
    const tsr_dicom_element *e = &d->element[element];
    if (e->vr && e->vr != VR('U', 'N') && e->vr != VR('O', 'W')) vr = e->vr;
    if (e->bytes <= 0 || e->after != element + 1) return 0;
    const int size = vr == VR('U', 'S') || vr == VR('S', 'S')                                               ? 2
                     : vr == VR('U', 'L') || vr == VR('S', 'L') || vr == VR('F', 'L') || vr == VR('A', 'T') ? 4
                     : vr == VR('F', 'D')                                                                   ? 8
                                                                                                            : 0;
    if (!size) return vr == VR('D', 'S') || vr == VR('I', 'S') || vr == VR('U', 'S') ? text_number(d, e, k, value) : 0;
    if (k >= e->bytes / size) return 0;
    const int64_t at = e->at + k * size;
    if (size == 2) *value = vr == VR('S', 'S') ? (double)(int16_t)get16(d, at) : (double)get16(d, at);
    else if (vr == VR('F', 'L')) {
        const uint32_t bits = get32(d, at);
        float real;
        memcpy(&real, &bits, 4);
        *value = (double)real;
    } else if (vr == VR('F', 'D')) {
        const uint64_t bits = d->big_endian ? (uint64_t)get32(d, at) << 32 | get32(d, at + 4) : (uint64_t)get32(d, at + 4) << 32 | get32(d, at);
        memcpy(value, &bits, 8);
    } else if (vr == VR('A', 'T')) *value = (double)(get16(d, at) << 16 | get16(d, at + 2));
    else *value = vr == VR('S', 'L') ? (double)(int32_t)get32(d, at) : (double)get32(d, at);
    return *value - *value == 0;
}

int64_t tsr_dicom_numbers(const tsr_dicom_data *d, int32_t item, uint32_t tag, uint16_t vr, double *values, int64_t most)
{
    const int32_t element = tsr_dicom_find(d, item, tag);
    int64_t n = 0;
    while (n < most && tsr_dicom_number(d, element, vr, n, &values[n])) n++;
    return n;
}
