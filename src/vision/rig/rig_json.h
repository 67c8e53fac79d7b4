/* vision/rig/rig_json.h: JSON documents (RFC 8259) as trees. Texts are hostile: depth is limited, memory is proportional to the text. */
#ifndef TSR_VISION_RIG_RIG_JSON_H
#define TSR_VISION_RIG_RIG_JSON_H

#include "core/core.h"

typedef enum tsr_json_kind { TSR_JSON_NULL = 0, TSR_JSON_BOOL, TSR_JSON_NUMBER, TSR_JSON_TEXT, TSR_JSON_ARRAY, TSR_JSON_OBJECT } tsr_json_kind;

typedef struct tsr_json_node {
    tsr_json_kind kind;
    double number;     /* also of BOOL */
    const char *text;  /* UTF-8, ends with 0; a 0 within it is refused */
    const char *key;   /* of a member */
    int32_t count;     /* of ARRAY, OBJECT */
    int32_t child, next; /* numbers of nodes; 0 = none */
} tsr_json_node;

typedef struct tsr_json {
    tsr_json_node *node; /* 1 is the root */
    int32_t count, room;
    char *texts;
    size_t texts_bytes;
} tsr_json;

tsr_status tsr_json_parse(const char *file, const void *bytes, size_t size, tsr_json *json) TSR_CHECKED;
void tsr_json_destroy(tsr_json *json);

/* Of an object: the member, or 0. Of an array: the first; the next of any. */
int32_t tsr_json_member(const tsr_json *json, int32_t object, const char *key);
static inline int32_t tsr_json_first(const tsr_json *json, int32_t node) { return node ? json->node[node].child : 0; }
static inline int32_t tsr_json_next(const tsr_json *json, int32_t node) { return node ? json->node[node].next : 0; }
static inline int tsr_json_is(const tsr_json *json, int32_t node, tsr_json_kind kind) { return node && json->node[node].kind == kind; }
/* 1: the member is there and is a number (a text: a number as text is not). */
int tsr_json_number(const tsr_json *json, int32_t object, const char *key, double *value);
const char *tsr_json_text(const tsr_json *json, int32_t object, const char *key); /* NULL: none */
/* Numbers of an array (arrays within it too) to value[count]; returns 1 if there are exactly so many. */
int tsr_json_numbers(const tsr_json *json, int32_t array, double *value, int count);

#endif
