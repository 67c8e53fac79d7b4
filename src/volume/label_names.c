/* volume/label_names.c: names of labels, from the tables that the programs of this field write. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "volume/labels.h"

typedef struct label_name {
    int64_t value;
    char *name;
} label_name;
struct tsr_label_names {
    label_name *item;
    int32_t count, room;
};

void tsr_label_names_destroy(tsr_label_names **names)
{
    if (!names || !*names) return;
    for (int32_t i = 0; i < (*names)->count; i++) free((*names)->item[i].name);
    free((*names)->item);
    free(*names);
    *names = NULL;
}

static tsr_status add(tsr_label_names *names, int64_t value, const char *text, size_t size)
{
    if (names->count == names->room) {
        const int32_t room = names->room ? 2 * names->room : 32;
        label_name *grown = (label_name *)realloc(names->item, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "label names: out of host memory");
        names->item = grown;
        names->room = room;
    }
    char *name = (char *)malloc(size + 1);
    if (!name) TSR_FAIL(TSR_ERROR_MEMORY, "label names: out of host memory");
    memcpy(name, text, size);
    name[size] = 0;
    names->item[names->count++] = (label_name){ value, name };
    return TSR_OK;
}

/* Is the word a number, of a colour, a visibility, a vertex count? */
static int is_number(const char *at, const char *end)
{
    int digits = 0;
    if (at < end && (*at == '-' || *at == '+')) at++;
    for (; at < end; at++) {
        if (isdigit((unsigned char)*at)) digits++;
        else if (*at != '.') return 0;
    }
    return digits > 0;
}

static int is_gap(char c) { return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r'; }
static const char *skip_gap(const char *at, const char *end)
{
    while (at < end && is_gap(*at)) at++;
    return at;
}
static const char *word_end(const char *at, const char *end)
{
    while (at < end && !is_gap(*at)) at++;
    return at;
}

/* The name in what follows the number of a label: in quotes; else behind the numbers in front and before three or more at the end. */
static int find_name(const char *at, const char *end, const char **name, size_t *size)
{
    const char *quote = (const char *)memchr(at, '"', (size_t)(end - at)), *last = end, *word;
    if (quote) {
        const char *other = (const char *)memchr(quote + 1, '"', (size_t)(end - quote - 1));
        *name = quote + 1;
        *size = other ? (size_t)(other - quote - 1) : 0;
        return other != NULL;
    }
    for (at = skip_gap(at, end); at < end; at = skip_gap(word, end)) {
        word = word_end(at, end);
        if (!is_number(at, word)) break;
    }
    int numbers = 0;
    for (const char *from = end; from > at;) { /* numbers at the end */
        while (from > at && is_gap(from[-1])) from--;
        const char *stop = from;
        while (from > at && !is_gap(from[-1])) from--;
        if (!is_number(from, stop)) {
            if (numbers >= 3) last = stop;
            break;
        }
        numbers++;
    }
    while (last > at && is_gap(last[-1])) last--;
    *name = at;
    *size = (size_t)(last - at);
    return last > at;
}

static tsr_status take_line(tsr_label_names *names, const char *at, const char *end, int64_t number, const char *file)
{
    char *stop;
    const char *name;
    size_t size;
    at = skip_gap(at, end);
    if (at == end || *at == '#' || (end - at > 1 && at[0] == '/' && at[1] == '/')) return TSR_OK;
    errno = 0;
    const unsigned long long large = strtoull(at, &stop, 10); /* of negative ones the bits */
    if (stop == at || stop > end || errno || (stop < end && !is_gap(*stop) && *stop != ':' && *stop != '='))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: '%.*s', expected the number of a label and its name", file, (long long)number,
                 (int)tsr_min64(40, word_end(at, end) - at), at);
    at = stop;
    if (at < end && (*at == ':' || *at == '=')) at++;
    if (!find_name(at, end, &name, &size))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: line %lld: label %lld has no name, expected its number and its name", file, (long long)number,
                 (long long)large);
    if (size) TSR_TRY(add(names, (int64_t)large, name, size)); /* "" is no name */
    return TSR_OK;
}

static tsr_status create(tsr_label_names **names)
{
    *names = (tsr_label_names *)calloc(1, sizeof **names);
    if (!*names) TSR_FAIL(TSR_ERROR_MEMORY, "label names: out of host memory");
    return TSR_OK;
}

tsr_status tsr_label_names_parse(const char *text, const char *file, tsr_label_names **names)
{
    TSR_RETURNS(names);
    TSR_NEEDS(text, file);
    TSR_TRY(create(names));
    tsr_status status = TSR_OK;
    if (!strncmp(text, "\xef\xbb\xbf", 3)) text += 3;
    for (int64_t number = 1; *text && status == TSR_OK; number++) {
        const size_t length = strcspn(text, "\n");
        status = take_line(*names, text, text + length, number, file);
        text += length + (text[length] == '\n');
    }
    if (status == TSR_OK && !(*names)->count) {
        tsr_label_names_destroy(names);
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no labels, expected lines of a number and a name", file);
    }
    if (status != TSR_OK) tsr_label_names_destroy(names);
    return status;
}

tsr_status tsr_label_names_of_volume(const tsr_volume *volume, tsr_label_names **names)
{
    TSR_RETURNS(names);
    TSR_NEEDS(volume);
    tsr_status status;
    TSR_TRY(create(names));
    for (int i = 0;; i++) {
        static const char *const ends[] = { "Name", "LabelValue" };
        const char *found[2] = { NULL, NULL };
        for (int k = 0; k < 2; k++) {
            char key[64];
            snprintf(key, sizeof key, "nrrd.Segment%d_%s", i, ends[k]);
            found[k] = tsr_volume_meta(volume, key);
            if (!found[k]) found[k] = tsr_volume_meta(volume, key + 5); /* key/value pairs of other formats have no prefix */
        }
        if (!found[0] && !found[1]) return TSR_OK;
        const int64_t value = found[1] ? (int64_t)strtoll(found[1], NULL, 10) : i + 1; /* older files number them from 1 */
        if (found[0] && *found[0]) TSR_TRY_GOTO(add(*names, value, found[0], strlen(found[0])), fail);
    }
fail:
    tsr_label_names_destroy(names);
    return status;
}

const char *tsr_label_name(const tsr_label_names *names, int64_t value)
{
    for (int32_t i = names ? names->count - 1 : -1; i >= 0; i--)
        if (names->item[i].value == value) return names->item[i].name;
    return NULL;
}

int tsr_label_find(const tsr_label_names *names, const char *name, int64_t *value)
{
    for (int32_t i = 0; names && i < names->count; i++)
        if (!strcmp(names->item[i].name, name)) {
            *value = names->item[i].value;
            return 1;
        }
    return 0;
}

int32_t tsr_label_names_count(const tsr_label_names *names) { return names ? names->count : 0; }
