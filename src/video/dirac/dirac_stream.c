/* video/dirac/dirac_stream.c: finding data units, by their lengths where these agree with what follows, else by the prefix. */
#include "video/dirac/dirac_stream.h"

#include <stdlib.h>

tsr_status tsr_dirac_stream_push(tsr_dirac_stream *s, const void *bytes, size_t size)
{
    if (s->at > s->size / 2 || s->at == s->size) { /* what was read goes */
        if (s->size > s->at) memmove(s->bytes, s->bytes + s->at, (size_t)(s->size - s->at));
        s->base += s->at;
        s->size -= s->at;
        s->searched = tsr_max64(s->searched - s->at, 0);
        s->at = 0;
    }
    if (size > (size_t)INT64_MAX / 4 || s->size + (int64_t)size + TSR_BITS_SLACK > s->capacity) {
        const int64_t capacity = size > (size_t)INT64_MAX / 4 ? INT64_MAX : tsr_max64(2 * s->capacity, s->size + (int64_t)size + TSR_BITS_SLACK);
        uint8_t *larger = capacity == INT64_MAX ? NULL : (uint8_t *)realloc(s->bytes, (size_t)capacity);
        if (!larger) TSR_FAIL(TSR_ERROR_MEMORY, "stream: no memory for %lld bytes", (long long)capacity);
        s->bytes = larger;
        s->capacity = capacity;
    }
    if (size) memcpy(s->bytes + s->size, bytes, size);
    s->size += (int64_t)size;
    memset(s->bytes + s->size, 0, TSR_BITS_SLACK);
    return TSR_OK;
}

void tsr_dirac_stream_free(tsr_dirac_stream *s)
{
    free(s->bytes);
    *s = (tsr_dirac_stream){ 0 };
}

/* The header at `at`, if a unit of a known kind begins there. */
static int header_at(const tsr_dirac_stream *s, int64_t at, tsr_dirac_unit *unit)
{
    return at + TSR_DIRAC_HEADER <= s->size && tsr_dirac_unit_read(s->bytes + at, unit) && tsr_dirac_code_name(unit->code) != NULL;
}

/* The next unit from `from` on that says it is as far behind the one at `before` as it is (or does not say); -1: none in what is there. */
static int64_t search(const tsr_dirac_stream *s, int64_t from, int64_t before)
{
    tsr_dirac_unit unit;
    for (int64_t at = from; at + TSR_DIRAC_HEADER <= s->size; at++) {
        const uint8_t *found = (const uint8_t *)memchr(s->bytes + at, 'B', (size_t)(s->size - TSR_DIRAC_HEADER + 1 - at));
        if (!found) return -1;
        at = found - s->bytes;
        if (header_at(s, at, &unit) && (before < 0 || unit.previous == 0 || unit.previous == (uint64_t)(at - before))) return at;
    }
    return -1;
}

/* Does a unit begin at `at`, as far as can be seen? -1: more bytes are needed to tell. */
static int begins(const tsr_dirac_stream *s, int64_t at)
{
    tsr_dirac_unit unit;
    if (at + TSR_DIRAC_HEADER <= s->size) return header_at(s, at, &unit);
    return s->ended ? at == s->size : -1;
}

/* The end of the unit at s->at; -1: more bytes are needed. */
static int64_t unit_end(tsr_dirac_stream *s, const tsr_dirac_unit *unit, int *lost)
{
    *lost = 0;
    if (unit->code == TSR_DIRAC_END) return s->at + TSR_DIRAC_HEADER; /* some encoders write a length of 13 here */
    if (unit->next >= TSR_DIRAC_HEADER && unit->next <= s->unit_limit) {
        const int there = begins(s, s->at + unit->next);
        if (there == 1) return s->at + unit->next;
        if (there < 0) return -1;
        *lost = 1;
    } else if (unit->next) *lost = 1;
    const int64_t from = tsr_max64(s->at + TSR_DIRAC_HEADER, s->searched), found = search(s, from, s->at);
    if (found >= 0) return found;
    if (!s->ended) {
        s->searched = tsr_max64(from, s->size - TSR_DIRAC_HEADER + 1);
        return -1;
    }
    /* The last one: what is left, but for another unit in it whose distances do not fit. */
    const int64_t other = search(s, s->at + TSR_DIRAC_HEADER, -1);
    if (*lost && other >= 0) return other;
    return s->size;
}

void tsr_dirac_stream_next(tsr_dirac_stream *s, tsr_dirac_data *data, int *more)
{
    tsr_dirac_unit unit;
    *data = (tsr_dirac_data){ 0 };
    *more = 0;
    if (!header_at(s, s->at, &unit)) { /* to the next prefix */
        const int64_t found = search(s, tsr_max64(s->at, s->searched), -1), to = found >= 0 ? found : s->ended ? s->size : s->at;
        if (found < 0 && !s->ended) s->searched = tsr_max64(s->at, s->size - TSR_DIRAC_HEADER + 1);
        data->skipped = to - s->at;
        data->offset = s->base + s->at;
        s->at = to;
        if (found < 0) return;
        (void)header_at(s, s->at, &unit);
    }
    const int64_t end = unit_end(s, &unit, &data->lost);
    if (end < 0) return;
    data->unit = unit;
    data->payload = s->bytes + s->at + TSR_DIRAC_HEADER;
    data->size = end - s->at - TSR_DIRAC_HEADER;
    data->offset = s->base + s->at;
    s->at = end;
    s->searched = 0;
    *more = 1;
}
