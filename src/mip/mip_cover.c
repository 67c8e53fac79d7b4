/* mip/mip_cover.c: supports of repeated expansion: 2^j n + the sum of 2^i a_i over i < j, a_i in A (docs/theory/mip.md 2, 4). */
#include <math.h>
#include <stdlib.h>

#include "mip/mip_cover.h"

enum { SUPPORT_MOST = 1 << 20, MAP_MOST = 1 << 26 };

/* Range of an element; 1 if it is all of its box. */
static int box_of(const int8_t (*points)[4], int32_t count, int32_t low[3], int32_t high[3])
{
    int32_t cells = 1;
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = points[0][k];
        for (int32_t i = 1; i < count; i++) {
            low[k] = tsr_mini(low[k], points[i][k]);
            high[k] = tsr_maxi(high[k], points[i][k]);
        }
        cells *= high[k] - low[k] + 1;
    }
    return cells == count;
}

/* Adds 2^step a to each of `count` points: *next = what is new of them all, each once. Coordinates stay within the level's box. */
static tsr_status grow(const tsr_mip *mip, const int16_t *points, int64_t count, int32_t step, const int32_t low[3], const int32_t high[3],
                       int16_t *next, int64_t *found)
{
    const int64_t n[3] = { high[0] - low[0] + 1, high[1] - low[1] + 1, high[2] - low[2] + 1 }, cells = n[0] * n[1] * n[2];
    uint8_t *seen;
    tsr_status status = TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)cells, (void **)&seen));
    memset(seen, 0, (size_t)cells);
    *found = 0;
    for (int64_t i = 0; i < count && status == TSR_OK; i++)
        for (int32_t k = 0; k < mip->info.points; k++) {
            int32_t at[3];
            for (int c = 0; c < 3; c++) at[c] = points[3 * i + c] + mip->point[k][c] * (1 << step);
            uint8_t *cell = &seen[((at[2] - low[2]) * n[1] + at[1] - low[1]) * n[0] + at[0] - low[0]];
            if (*cell) continue;
            *cell = 1;
            if (*found == SUPPORT_MOST) {
                status = TSR_FAILED(TSR_ERROR_CAPACITY,
                                    "mip: a coefficient of level %d covers more than %d voxels: take fewer levels or a smaller element", step + 1,
                                    SUPPORT_MOST);
                break;
            }
            for (int c = 0; c < 3; c++) next[3 * *found + c] = (int16_t)at[c];
            ++*found;
        }
    tsr_host_release(NULL, seen, (size_t)cells);
    return status;
}

static int by_place(const void *a, const void *b)
{
    const int16_t *p = (const int16_t *)a, *q = (const int16_t *)b;
    return p[1] != q[1] ? p[1] - q[1] : p[0] - q[0];
}

/* The pixels that the voxels of a support fall on, each once. */
static int32_t project(const tsr_mip_projection *p, const int16_t *voxel, int64_t voxels, int16_t *pixel)
{
    int32_t kept = 0;
    for (int64_t i = 0; i < voxels; i++) {
        pixel[2 * i] = (int16_t)((tsr_mip_dot(p->u, voxel[3 * i], voxel[3 * i + 1], voxel[3 * i + 2]) + 32768) >> 16);
        pixel[2 * i + 1] = (int16_t)((tsr_mip_dot(p->v, voxel[3 * i], voxel[3 * i + 1], voxel[3 * i + 2]) + 32768) >> 16);
    }
    qsort(pixel, (size_t)voxels, 4, by_place);
    for (int64_t i = 0; i < voxels; i++) {
        if (kept && !by_place(&pixel[2 * i], &pixel[2 * kept - 2])) continue;
        pixel[2 * kept] = pixel[2 * i];
        pixel[2 * kept + 1] = pixel[2 * i + 1];
        kept++;
    }
    return kept;
}

tsr_status tsr_mip_covers(const tsr_mip *mip, const tsr_mip_setup *setup, int exact, tsr_mip_cover *cover, int16_t **lists, int64_t *bytes)
{
    int32_t low[3], high[3];
    const int box = box_of((const int8_t(*)[4])mip->point, mip->info.points, low, high), levels = mip->info.levels;
    tsr_status status = TSR_OK;
    int64_t room = 0, at = 0;
    *lists = NULL;
    *bytes = 0;
    for (int32_t j = 0; j <= levels; j++) {
        tsr_mip_cover *c = &cover[j];
        double width = 0;
        int64_t cells = 1;
        *c = (tsr_mip_cover){ 0 };
        for (int k = 0; k < 3; k++) {
            c->low[k] = low[k] * ((1 << j) - 1);
            c->high[k] = high[k] * ((1 << j) - 1);
            width = fmax(width, c->high[k] - c->low[k] + 1);
            cells *= c->high[k] - c->low[k] + 1;
        }
        if (box || !j) {
            for (int a = 0; a < 2; a++) c->side[a] = j ? tsr_maxi((int32_t)ceil(setup->scale[a] * width - 1e-9), 1) : 1;
            continue;
        }
        if (cells > MAP_MOST)
            TSR_FAIL(TSR_ERROR_CAPACITY, "mip: a coefficient of level %d spans %lld voxels: take fewer levels or a smaller element", j,
                     (long long)cells);
        room += 5 * tsr_min64(cells, SUPPORT_MOST);
    }
    if (!room) return TSR_OK;
    *bytes = room * 2;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)*bytes, (void **)lists));
    const int16_t origin[3] = { 0, 0, 0 }, *last = origin;
    int64_t last_count = 1;
    for (int32_t j = 1; j <= levels && status == TSR_OK; j++) {
        int64_t count = 0;
        tsr_mip_cover *c = &cover[j];
        status = grow(mip, last, last_count, j - 1, c->low, c->high, *lists + at, &count);
        if (status != TSR_OK) break;
        c->voxels = (int32_t)count;
        c->voxel = (const int16_t *)(uintptr_t)(uint64_t)(2 * at);
        last = *lists + at;
        last_count = count;
        at += 3 * count;
        if (exact) continue;
        c->pixels = project(&setup->p, last, count, *lists + at);
        c->pixel = (const int16_t *)(uintptr_t)(uint64_t)(2 * at);
        at += 2 * count;
    }
    return status;
}

void tsr_mip_covers_place(const tsr_mip *mip, tsr_mip_cover *cover, const int16_t *device)
{
    for (int32_t j = 0; j <= mip->info.levels; j++) {
        if (!cover[j].voxels) continue;
        cover[j].voxel = device + (uintptr_t)cover[j].voxel / 2;
        cover[j].pixel = device + (uintptr_t)cover[j].pixel / 2;
    }
}
