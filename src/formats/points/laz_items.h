/* formats/points/laz_items.h: what the items of a LAZ point mean: the numbers that a chunk's coder holds, about what is expected of them (laz_items.c). */
#ifndef TSR_FORMATS_LAZ_ITEMS_H
#define TSR_FORMATS_LAZ_ITEMS_H

#include "formats/points/laz_coder.h"

enum { LAZ_BYTE = 0, LAZ_POINT10 = 6, LAZ_GPS11 = 7, LAZ_RGB12 = 8, LAZ_POINT14 = 10, LAZ_RGB14 = 11, LAZ_RGBNIR14 = 12, LAZ_BYTE14 = 14 };
enum { LAZ_ITEMS = 8, LAZ_CHANNELS = 4 };

/* The items of a record, in their order. */
typedef struct laz_layout {
    int items, record;
    struct {
        int type, size, version;
    } item[LAZ_ITEMS];
} laz_layout;

/* The middle of the last five numbers, roughly. */
typedef struct laz_median {
    int32_t value[5];
    int low;
} laz_median;

typedef struct laz_color {
    laz_model used, byte[6];
} laz_color;

/* Formats 0 to 5. */
typedef struct laz_point10 {
    uint8_t last[20];
    uint16_t intensity[16];
    int32_t height[8];
    laz_median median[2][16];
    laz_model changed, flags[256], class_of[256], user[256], angle[2];
    laz_integer d[2], z, bright, source;
} laz_point10;

typedef struct laz_time {
    int64_t time[4];
    int32_t step[4], extreme[4];
    int now, next;
    laz_model still, times;
    laz_integer d;
} laz_time;

/* Formats 6 to 10: one for each channel of the scanner. */
typedef struct laz_point14 {
    int used, timed; /* the time differed from that of the point before */
    int32_t place[3];
    uint8_t returns, class_now;
    uint16_t bright_now, intensity[8];
    int32_t height[8];
    laz_median median[2][12];
    laz_model changed[8], channel, number[16], which[16], same, class_of[64];
    laz_integer d[2], z, bright;
    uint8_t color_last[6];
    int color_used;
    laz_color color;
} laz_point14;

typedef struct laz_state {
    laz_point10 point10;
    laz_time time;
    laz_color color;
    uint8_t color_last[6];
    laz_point14 channel[LAZ_CHANNELS];
    laz_model extra[4096];
} laz_state;

/* 16-bit words that the models of a chunk may take. */
size_t laz_arena_words(const laz_layout *layout);
/* 0: damaged. `bytes` is at least a record. */
int laz_unpack_chunk(const laz_layout *layout, laz_arena *arena, laz_state *state, const uint8_t *from, int64_t bytes, int64_t count,
                     uint8_t *records);
/* All but the first record, of items of version 2, through `coder`, which has begun. */
void laz_pack_chunk(const laz_layout *layout, laz_state *state, laz_coder *coder, const uint8_t *records, int64_t count);

#endif
