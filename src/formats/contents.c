#include "formats/contents.h"

#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tsr_contents {
    tsr_contents_entry *entry;
    int32_t count, room;
};

tsr_status tsr_contents_create(tsr_contents **contents)
{
    *contents = (tsr_contents *)calloc(1, sizeof **contents);
    if (!*contents) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a list of contents");
    return TSR_OK;
}

void tsr_contents_destroy(tsr_contents **contents)
{
    if (!contents || !*contents) return;
    for (int32_t i = 0; i < (*contents)->count; i++) {
        free((void *)(uintptr_t)(*contents)->entry[i].kind);
        free((void *)(uintptr_t)(*contents)->entry[i].name);
        free((void *)(uintptr_t)(*contents)->entry[i].type);
    }
    free((*contents)->entry);
    free(*contents);
    *contents = NULL;
}

tsr_status tsr_contents_add(tsr_contents *c, const tsr_contents_entry *entry)
{
    enum { MOST = 1 << 16 };
    if (c->count == MOST) return TSR_OK; /* nobody reads more */
    if (c->count == c->room) {
        const int32_t room = c->room ? 2 * c->room : 16;
        tsr_contents_entry *grown = (tsr_contents_entry *)realloc(c->entry, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a list of contents");
        c->entry = grown;
        c->room = room;
    }
    tsr_contents_entry *e = &c->entry[c->count];
    *e = *entry;
    e->kind = strdup(entry->kind);
    e->name = strdup(entry->name);
    e->type = strdup(entry->type);
    c->count++;
    if (!e->kind || !e->name || !e->type) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a list of contents");
    return TSR_OK;
}

int tsr_contents_at(const tsr_contents *contents, int32_t index, tsr_contents_entry *entry)
{
    if (!contents || index < 0 || index >= contents->count) return 0;
    *entry = contents->entry[index];
    return 1;
}

int32_t tsr_contents_count(const tsr_contents *c, const char *kind)
{
    int32_t count = 0;
    for (int32_t i = 0; i < c->count; i++) count += !strcmp(c->entry[i].kind, kind);
    return count;
}

const char *tsr_contents_show(const tsr_contents *c, const char *kind, char *text, size_t room)
{
    size_t used = 0;
    text[0] = 0;
    for (int32_t i = 0; i < c->count && used + 100 < room; i++) {
        const tsr_contents_entry *e = &c->entry[i];
        if (strcmp(e->kind, kind)) continue;
        used += (size_t)snprintf(text + used, room - used, "%s%.60s (", used ? ", " : "", e->name);
        for (int k = 0; k < e->axes && used + 40 < room; k++)
            used += (size_t)snprintf(text + used, room - used, "%s%lld", k ? " x " : "", (long long)e->size[k]);
        if (used + 40 < room) used += (size_t)snprintf(text + used, room - used, " %.20s)", e->type);
        if (used + 100 >= room && i + 1 < c->count) snprintf(text + used, room - used, " ...");
    }
    return text;
}

const char *tsr_contents_only(const tsr_contents *c, const char *kind, int *count)
{
    const char *name = NULL;
    int most = 0;
    *count = 0;
    for (int32_t i = 0; i < c->count; i++) {
        const tsr_contents_entry *e = &c->entry[i];
        const int axes = e->axes > 3 ? 3 : e->axes;
        if (strcmp(e->kind, kind) || axes < most) continue;
        *count = axes > most ? 1 : *count + 1;
        if (axes > most) name = e->name;
        most = axes;
    }
    return *count == 1 ? name : NULL;
}

void tsr_contents_only_first(tsr_contents *c, const char *kind)
{
    int count;
    const char *only = tsr_contents_only(c, kind, &count);
    for (int32_t i = 0; i < c->count && only; i++) {
        const tsr_contents_entry e = c->entry[i];
        if (e.name != only) continue;
        memmove(c->entry + 1, c->entry, (size_t)i * sizeof e);
        c->entry[0] = e;
        return;
    }
}
