/* vision/rig/rig_json.c: a reader of JSON. */
#include "vision/rig/rig_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/text.h"

enum { DEPTH_MOST = 64 };

typedef struct reader {
    const char *file, *at, *begin, *end;
    tsr_json *json;
    int depth;
} reader;

static tsr_status wrong(const reader *r, const char *expected)
{
    int64_t line = 1;
    for (const char *p = r->begin; p < r->at; p++) line += *p == '\n';
    if (r->at >= r->end) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: the text ends in line %lld, expected %s", r->file, (long long)line, expected);
    const unsigned char c = (unsigned char)*r->at;
    TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: '%c', expected %s", r->file, (long long)line, c >= 32 && c < 127 ? c : '?', expected);
}

static void blanks(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

static tsr_status new_node(reader *r, tsr_json_kind kind, int32_t *node)
{
    tsr_json *j = r->json;
    if (j->count == j->room) {
        const int64_t room = j->room ? 2 * (int64_t)j->room : 64;
        if (room > INT32_MAX) TSR_FAIL(TSR_ERROR_CAPACITY, "%.200s: more than 2^31 values", r->file);
        tsr_json_node *grown = (tsr_json_node *)realloc(j->node, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%.200s: out of host memory for %lld values", r->file, (long long)room);
        j->node = grown;
        j->room = (int32_t)room;
    }
    *node = j->count++;
    j->node[*node] = (tsr_json_node){ .kind = kind };
    return TSR_OK;
}

static int hex4(const char *p, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        const char c = p[i];
        const uint32_t v = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                           : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                           : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                  : 16;
        if (v == 16) return 0;
        *code = *code << 4 | v;
    }
    return 1;
}

/* An escape behind its backslash; room for its text is there, as it is shorter than the escape. */
static tsr_status escape(reader *r, char **to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    uint32_t code, low;
    if (r->at >= r->end) return wrong(r, "an escape");
    const char *known = *r->at ? strchr(from, *r->at) : NULL;
    if (known) {
        *(*to)++ = into[known - from];
        r->at++;
        return TSR_OK;
    }
    if (*r->at != 'u' || r->end - r->at < 5 || !hex4(r->at + 1, &code)) return wrong(r, "an escape such as \\n or \\u0041");
    r->at += 5;
    if (code >= 0xd800 && code < 0xdc00) {
        if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u' || !hex4(r->at + 2, &low) || low < 0xdc00 || low > 0xdfff)
            return wrong(r, "the second half of a pair of \\u escapes");
        r->at += 6;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) return wrong(r, "no second half of a pair alone");
    if (!code) return wrong(r, "texts without \\u0000");
    *to = tsr_put_utf8(*to, code);
    return TSR_OK;
}

static tsr_status text(reader *r, const char **value)
{
    char *to = r->json->texts + r->json->texts_bytes;
    *value = to;
    r->at++;
    while (r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at < 32) return wrong(r, "no control characters in a text");
        if (*r->at == '\\') {
            r->at++;
            TSR_TRY(escape(r, &to));
        } else {
            *to++ = *r->at++;
        }
    }
    if (r->at >= r->end) return wrong(r, "the end of a text (\")");
    r->at++;
    *to++ = 0;
    r->json->texts_bytes = (size_t)(to - r->json->texts);
    return TSR_OK;
}

static tsr_status value(reader *r, int32_t *node);

/* The members of an array or object behind its bracket. */
static tsr_status members(reader *r, int32_t parent, char closing)
{
    int32_t last = 0, node;
    if (++r->depth > DEPTH_MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%.200s: arrays and objects lie more than %d deep", r->file, DEPTH_MOST);
    blanks(r);
    if (r->at < r->end && *r->at == closing) {
        r->at++;
        r->depth--;
        return TSR_OK;
    }
    for (;;) {
        const char *key = NULL;
        blanks(r);
        if (closing == '}') {
            if (r->at >= r->end || *r->at != '"') return wrong(r, "a key in quotes");
            TSR_TRY(text(r, &key));
            blanks(r);
            if (r->at >= r->end || *r->at != ':') return wrong(r, "a colon behind the key");
            r->at++;
        }
        TSR_TRY(value(r, &node));
        r->json->node[node].key = key;
        if (last) r->json->node[last].next = node;
        else r->json->node[parent].child = node;
        last = node;
        r->json->node[parent].count++;
        blanks(r);
        if (r->at < r->end && *r->at == ',') r->at++;
        else if (r->at < r->end && *r->at == closing) break;
        else return wrong(r, closing == '}' ? "a comma or }" : "a comma or ]");
    }
    r->at++;
    r->depth--;
    return TSR_OK;
}

static tsr_status number(reader *r, int32_t node)
{
    const char *p = r->at;
    while (p < r->end && (strchr("+-.eE", *p) ? *p != 0 : *p >= '0' && *p <= '9')) p++;
    const tsr_word word = { r->at, (size_t)(p - r->at) };
    if (p == r->at || tsr_word_double(word, &r->json->node[node].number) != TSR_TEXT_OK || !isfinite(r->json->node[node].number))
        return wrong(r, "a value");
    r->at = p;
    return TSR_OK;
}

static tsr_status value(reader *r, int32_t *node)
{
    static const struct {
        const char *name;
        tsr_json_kind kind;
        double number;
    } words[] = { { "null", TSR_JSON_NULL, 0 }, { "true", TSR_JSON_BOOL, 1 }, { "false", TSR_JSON_BOOL, 0 }, { "NaN", TSR_JSON_NULL, 0 } };
    blanks(r);
    TSR_TRY(new_node(r, TSR_JSON_NUMBER, node));
    if (r->at >= r->end) return wrong(r, "a value");
    if (*r->at == '{' || *r->at == '[') {
        const char closing = *r->at == '{' ? '}' : ']';
        r->json->node[*node].kind = closing == '}' ? TSR_JSON_OBJECT : TSR_JSON_ARRAY;
        r->at++;
        TSR_TRY(members(r, *node, closing));
        return TSR_OK;
    }
    if (*r->at == '"') {
        const char *t;
        TSR_TRY(text(r, &t));
        r->json->node[*node].kind = TSR_JSON_TEXT;
        r->json->node[*node].text = t;
        return TSR_OK;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i].name);
        if ((size_t)(r->end - r->at) < length || memcmp(r->at, words[i].name, length) != 0) continue;
        r->json->node[*node].kind = words[i].kind;
        r->json->node[*node].number = words[i].number;
        r->at += length;
        return TSR_OK;
    }
    TSR_TRY(number(r, *node));
    return TSR_OK;
}

static tsr_status parse(reader *r)
{
    int32_t none, root;
    TSR_TRY(new_node(r, TSR_JSON_NULL, &none)); /* number 0 */
    TSR_TRY(value(r, &root));
    blanks(r);
    if (r->at < r->end) return wrong(r, "the end of the text");
    return TSR_OK;
}

tsr_status tsr_json_parse(const char *file, const void *bytes, size_t size, tsr_json *json)
{
    const tsr_text whole = tsr_text_make(bytes, size);
    memset(json, 0, sizeof *json);
    reader r = { .file = file, .at = whole.at, .begin = whole.at, .end = whole.end, .json = json };
    json->texts = (char *)malloc(size + 1); /* every text is shorter than it stands in the document, quotes and all */
    if (!json->texts) TSR_FAIL(TSR_ERROR_MEMORY, "%.200s: out of host memory for %zu bytes", file, size);
    const tsr_status status = parse(&r);
    if (status != TSR_OK) tsr_json_destroy(json);
    return status;
}

void tsr_json_destroy(tsr_json *json)
{
    free(json->node);
    free(json->texts);
    memset(json, 0, sizeof *json);
}

int32_t tsr_json_member(const tsr_json *json, int32_t object, const char *key)
{
    if (!tsr_json_is(json, object, TSR_JSON_OBJECT)) return 0;
    for (int32_t n = json->node[object].child; n; n = json->node[n].next)
        if (!strcmp(json->node[n].key, key)) return n;
    return 0;
}

int tsr_json_number(const tsr_json *json, int32_t object, const char *key, double *value_)
{
    const int32_t n = tsr_json_member(json, object, key);
    if (!tsr_json_is(json, n, TSR_JSON_NUMBER) && !tsr_json_is(json, n, TSR_JSON_BOOL)) return 0;
    *value_ = json->node[n].number;
    return 1;
}

const char *tsr_json_text(const tsr_json *json, int32_t object, const char *key)
{
    const int32_t n = tsr_json_member(json, object, key);
    return tsr_json_is(json, n, TSR_JSON_TEXT) ? json->node[n].text : NULL;
}

static int gather(const tsr_json *json, int32_t node, double *value_, int count, int have)
{
    if (tsr_json_is(json, node, TSR_JSON_NUMBER)) {
        if (have < count) value_[have] = json->node[node].number;
        return have + 1;
    }
    if (!tsr_json_is(json, node, TSR_JSON_ARRAY)) return count + 1;
    for (int32_t n = json->node[node].child; n && have <= count; n = json->node[n].next) have = gather(json, n, value_, count, have);
    return have;
}
int tsr_json_numbers(const tsr_json *json, int32_t array, double *value_, int count)
{
    return tsr_json_is(json, array, TSR_JSON_ARRAY) && gather(json, array, value_, count, 0) == count;
}
