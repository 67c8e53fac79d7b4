#include "tiles_reference.h"

#include <stdlib.h>
#include <string.h>

enum { DIRECTIONS = 27, MIDDLE = 13 };

static int64_t offset_of(int i)
{
    return (int64_t)(i / 9 - 1) * ((int64_t)1 << 42) + (int64_t)(i / 3 % 3 - 1) * ((int64_t)1 << 21) + (i % 3 - 1);
}

/* Areas of the tile at direction i that touch the middle tile. */
static uint32_t trigger_areas(int i)
{
    const int d[3] = { i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1 };
    uint32_t areas = 0;
    for (int a = 0; a < DIRECTIONS; a++) {
        const int c[3] = { a % 3 - 1, a / 3 % 3 - 1, a / 9 - 1 };
        int touches = 1;
        for (int k = 0; k < 3; k++) touches = touches && (d[k] == 0 || c[k] == -d[k]);
        if (touches) areas |= 1u << a;
    }
    return areas;
}

void reference_append(reference_list *list, uint64_t key, uint32_t activity, uint32_t border)
{
    if (list->count == list->room) {
        list->room = 2 * list->room + 64;
        list->key = (uint64_t *)realloc(list->key, (size_t)list->room * sizeof *list->key);
        list->activity = (uint32_t *)realloc(list->activity, (size_t)list->room * sizeof *list->activity);
        list->border = (uint32_t *)realloc(list->border, (size_t)list->room * sizeof *list->border);
        if (!list->key || !list->activity || !list->border) abort();
    }
    list->key[list->count] = key;
    list->activity[list->count] = activity;
    list->border[list->count++] = border;
}

void reference_release(reference_list *list)
{
    free(list->key);
    free(list->activity);
    free(list->border);
    memset(list, 0, sizeof *list);
}

/* The next key of the dilated list; pointers that matched are set in *match. 0 when all are exhausted. */
static int next_dilated(const uint64_t *key, int32_t count, const int32_t p[DIRECTIONS], uint64_t *current, uint32_t *match)
{
    uint64_t lowest = UINT64_MAX;
    int any = 0;
    for (int i = 0; i < DIRECTIONS; i++) { /* an exhausted pointer counts as infinite */
        if (p[i] >= count) continue;
        uint64_t candidate = key[p[i]] - (uint64_t)offset_of(i);
        if (!any || candidate < lowest) lowest = candidate;
        any = 1;
    }
    *match = 0;
    for (int i = 0; any && i < DIRECTIONS; i++)
        if (p[i] < count && key[p[i]] == lowest + (uint64_t)offset_of(i)) *match |= 1u << i;
    *current = lowest;
    return any;
}

int32_t reference_dilate(const uint64_t *list, int32_t count, uint64_t *keys)
{
    int32_t p[DIRECTIONS] = { 0 }, n = 0;
    uint64_t current;
    uint32_t match;
    while (next_dilated(list, count, p, &current, &match)) {
        keys[n++] = current;
        for (int i = 0; i < DIRECTIONS; i++) p[i] += match >> i & 1u;
    }
    return n;
}

void reference_manage(const reference_list *before, reference_allowed allowed, const void *user, reference_list *after, int32_t *created,
                      int32_t *removed)
{
    int32_t p[DIRECTIONS] = { 0 };
    uint64_t current;
    uint32_t match, *border = (uint32_t *)malloc(((size_t)before->count + 1) * sizeof *border);
    if (!border) abort();
    for (int32_t i = 0; i < before->count; i++) border[i] = before->border[i];
    *created = *removed = 0;
    /* Removals first, as a pass of their own: created tiles must see the class of tiles that vanish in the same step. */
    for (int32_t round = 0; round < 2; round++) {
        memset(p, 0, sizeof p);
        while (next_dilated(before->key, before->count, p, &current, &match)) {
            int trigger = 0, exists = match >> MIDDLE & 1;
            for (int i = 0; i < DIRECTIONS; i++)
                if (match >> i & 1u) trigger |= (before->activity[p[i]] & trigger_areas(i)) != 0;
            if (round == 0 && exists && !trigger) {
                uint32_t outside = before->activity[p[MIDDLE]] >> 27 & 1u;
                for (int i = 0; i < DIRECTIONS; i++)
                    if (i != MIDDLE && (match >> i & 1u)) border[p[i]] = (border[p[i]] & ~(1u << (26 - i))) | outside << (26 - i);
                (*removed)++;
            }
            if (round == 1 && exists && trigger) reference_append(after, current, before->activity[p[MIDDLE]], border[p[MIDDLE]]);
            if (round == 1 && !exists && trigger && allowed(user, current)) {
                uint32_t outside = 0;
                for (int i = 0; i < DIRECTIONS; i++)
                    if (match >> i & 1u) outside |= border[p[i]] >> (26 - i) & 1u;
                reference_append(after, current, outside << 27, outside ? 0x7ffffffu : 0);
                (*created)++;
            }
            for (int i = 0; i < DIRECTIONS; i++) p[i] += match >> i & 1u;
        }
    }
    free(border);
}
