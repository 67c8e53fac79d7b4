#include "vision/features_isa.h"

/* Bytes 0 or 1 to bits. */
static uint64_t pack(const uint8_t pass[64])
{
    uint64_t bits = 0, word;
    for (int k = 0; k < 8; k++) {
        memcpy(&word, pass + 8 * k, 8);
        bits |= (word * 0x0102040810204080ull >> 56) << (8 * k);
    }
    return bits;
}

/* Filters that look at the pixel alone; `step` is a constant where this is inlined, so that the loops become vectors. */
TSR_INLINE void local_row(const tsr_feature_test *t, const uint8_t *p, int32_t step, int32_t n, uint8_t *pass)
{
    const tsr_feature_test own = *t;
    const int32_t second = step > 1, third = step > 1 ? 2 : 0;
    switch (own.kind) {
    case TSR_FEATURE_BOX: {
        const uint8_t low[3] = { (uint8_t)own.lower[0], (uint8_t)own.lower[1], (uint8_t)own.lower[2] };
        const uint8_t span[3] = { (uint8_t)(own.upper[0] - own.lower[0]), (uint8_t)(own.upper[1] - own.lower[1]),
                                  (uint8_t)(own.upper[2] - own.lower[2]) };
        for (int32_t i = 0; i < n; i++) {
            const uint8_t *q = p + i * step;
            pass[i] = (uint8_t)(((uint8_t)(q[0] - low[0]) <= span[0]) & ((uint8_t)(q[second] - low[1]) <= span[1]) &
                                ((uint8_t)(q[third] - low[2]) <= span[2]));
        }
        return;
    }
    case TSR_FEATURE_LUMINANCE:
        for (int32_t i = 0; i < n; i++) {
            const uint8_t *q = p + i * step;
            const uint16_t l = (uint16_t)(77 * q[0] + 150 * q[second] + 29 * q[third] + 128) >> 8;
            pass[i] = (uint8_t)((l >= (uint16_t)own.lower[0]) & (l <= (uint16_t)own.upper[0]));
        }
        return;
    case TSR_FEATURE_DISTANCE:
        for (int32_t i = 0; i < n; i++) {
            const uint8_t *q = p + i * step;
            const int32_t r = q[0] - own.lower[0], g = q[second] - own.lower[1], b = q[third] - own.lower[2];
            pass[i] = (uint8_t)(r * r + g * g + b * b <= own.threshold);
        }
        return;
    default:
        for (int32_t i = 0; i < n; i++) {
            const uint8_t *q = p + i * step;
            pass[i] = (uint8_t)tsr_pixel_passes(&own, (tsr_pixel){ q[0], q[second], q[third] });
        }
    }
}

/* Any row of a frame that needs no second look; `n` too is a constant for all but the last pixels of a row. */
TSR_INLINE void plain_row(const tsr_feature_test *t, const uint8_t *p, int32_t channels, int32_t n, uint8_t *pass)
{
    if (channels == 1 && t->bytes) {
        const uint8_t low = (uint8_t)t->low, span = (uint8_t)(t->high - t->low);
        for (int32_t i = 0; i < n; i++) pass[i] = (uint8_t)(p[i] - low) <= span;
    } else if (channels == 1) local_row(t, p, 1, n, pass);
    else if (channels == 3) local_row(t, p, 3, n, pass);
    else local_row(t, p, 4, n, pass);
}

uint64_t TSR_ISA_NAME(tsr_features_bits)(const tsr_feature_test *test, const tsr_frame_view *view, int32_t x, int32_t y, int32_t n)
{
    uint8_t pass[64];
    if (n < 64) memset(pass, 0, sizeof pass);
    if (!test->local || view->warp || view->ycbcr) {
        for (int32_t i = 0; i < n; i++) {
            tsr_pixel p;
            pass[i] = (uint8_t)(tsr_frame_get(view, view->data, x + i, y, &p) && tsr_feature_passes(test, view, x + i, y, p));
        }
        return pack(pass);
    }
    const uint8_t *p = view->data + y * view->row + (int64_t)x * view->channels;
    if (view->channels == 1 && test->bytes && test->low > test->high) return 0;
    if (n == 64) plain_row(test, p, view->channels, 64, pass);
    else plain_row(test, p, view->channels, n, pass);
    return pack(pass);
}

/* A tile as bits: row by row, and where it lies. */
struct tile {
    uint64_t rows[TSR_BLOB_TILE];
    int32_t x, y, keep;
    tsr_blob_rule rule;
};

/* Regions of the square of `side` at (x, y) of the tile. What is empty or full needs no look at its parts. */
static void square(const struct tile *t, int32_t x, int32_t y, int32_t side, tsr_blob *kept)
{
    const uint64_t mask = side == TSR_BLOB_TILE ? ~(uint64_t)0 : ((uint64_t)1 << side) - 1u;
    uint64_t some = 0, all = mask;
    if (side == TSR_BLOB_BLOCK) {
        uint32_t block = 0;
        for (int32_t k = 0; k < 4; k++) block |= (uint32_t)(t->rows[y + k] >> x & 15u) << (4 * k);
        if (t->keep == 1) tsr_blob_block(block, t->x + x, t->y + y, 1, t->rule, kept);
        else tsr_blob_block(block, t->x + x, t->y + y, t->keep, t->rule, kept);
        return;
    }
    for (int32_t k = 0; k < side; k++) {
        some |= t->rows[y + k] >> x;
        all &= t->rows[y + k] >> x;
    }
    if (!(some & mask) || all == mask) {
        for (int32_t k = 0; k < t->keep; k++) tsr_blob_clear(&kept[k]);
        if (all == mask) tsr_blob_square(&kept[0], t->x + x, t->y + y, side);
        return;
    }
    tsr_blob four[4 * TSR_BLOB_KEEP];
    for (int32_t c = 0; c < 4; c++) square(t, x + (c & 1) * side / 2, y + (c >> 1) * side / 2, side / 2, &four[c * t->keep]);
    tsr_blob_compete(four, t->keep, t->rule, kept);
}

void TSR_ISA_NAME(tsr_features_tiles)(const tsr_features_job *job, int64_t begin, int64_t end)
{
    struct tile t = { .keep = job->keep, .rule = job->rule };
    for (int64_t i = begin; i < end; i++) {
        const int32_t column = (int32_t)(i % job->columns[0]), row = (int32_t)(i / job->columns[0] % job->rows[0]);
        const int32_t image = (int32_t)(i / job->columns[0] / job->rows[0]);
        const tsr_frame_view v = tsr_features_view(job, image);
        t.x = column * TSR_BLOB_TILE;
        t.y = row * TSR_BLOB_TILE;
        const int32_t wide = tsr_mini(TSR_BLOB_TILE, v.width - t.x), high = tsr_mini(TSR_BLOB_TILE, v.height - t.y);
        if (t.x + 2 * TSR_BLOB_TILE < v.width) /* rows of tiles are too far apart for the processor to see what comes */
            for (int32_t k = 0; k < high; k++)
                for (int32_t c = 0; c < v.channels; c++)
                    __builtin_prefetch(v.data + (t.y + k) * v.row + (int64_t)(t.x + 2 * TSR_BLOB_TILE) * v.channels + 64 * c);
        for (int32_t n = 0; n < job->tests; n++) {
            for (int32_t k = 0; k < TSR_BLOB_TILE; k++)
                t.rows[k] = k < high ? TSR_ISA_NAME(tsr_features_bits)(&job->test[n], &v, t.x, t.y + k, wide) : 0;
            square(&t, 0, 0, TSR_BLOB_TILE, tsr_features_cell(job, 0, image, n, row, column));
        }
    }
}
