/* What is kept of lists: the same list comes back, pages that did not change are kept once, whoever goes first. */
#include "tiles/tiles_kept.h"

#include <math.h>

#include "tiles_check.h"

enum { N = 48 };
static const tsr_size3 size = { N, N - 3, N - 8 };

/* A ball, and with `bump` a small one beside it; `inverted`: all but them. */
static tsr_tiles *list(tsr_context *context, int32_t edge, tsr_tiles_index index, int bump, int inverted)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles;
    tsr_volume *host, *field;
    require_ok(tsr_volume_create(NULL, TSR_F32, size, NULL, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int64_t i = 0; i < size.x * size.y * size.z; i++) {
        const double x = (double)(i % size.x), y = (double)(i / size.x % size.y), z = (double)(i / (size.x * size.y));
        const double ball = sqrt((x - 20) * (x - 20) + (y - 21) * (y - 21) + (z - 19) * (z - 19)) - 14.3;
        const double small = sqrt((x - 41) * (x - 41) + (y - 8) * (y - 8) + (z - 9) * (z - 9)) - 3.2;
        v[i] = (float)((bump ? fmin(ball, small) : ball) * (inverted ? -1 : 1));
    }
    options.edge = edge;
    options.index = index;
    options.domain = size;
    options.band = 2.5;
    require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
    require_ok(tsr_volume_copy(host, context, &field));
    require_ok(tsr_tiles_load(tiles, field));
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    return tiles;
}

static void require_same(const tsr_tiles *a, const tsr_tiles *b)
{
    tsr_tiles_info p = TSR_TILES_INFO, q = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(a, &p));
    require_ok(tsr_tiles_describe(b, &q));
    assert_true(p.count > 8 && p.count == q.count);
    assert_int_equal(p.inside_voxels, q.inside_voxels);
    const size_t voxels = (size_t)1 << (3 * a->pool.log2_edge), n = (size_t)p.count;
    int32_t(*where)[3] = (int32_t(*)[3])malloc(2 * n * sizeof *where);
    float *values = (float *)malloc(2 * n * voxels * sizeof *values);
    require_ok(tsr_tiles_download(a, where, values));
    require_ok(tsr_tiles_download(b, where + n, values + n * voxels));
    assert_memory_equal(where, where + n, n * sizeof *where);
    assert_memory_equal(values, values + n * voxels, n * voxels * sizeof *values);
    free(where);
    free(values);
}

static void comes_back(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    for (int c = 0; c < 4; c++) {
        tsr_tiles *tiles = list(context, c & 1 ? 4 : 8, c & 2 ? TSR_TILES_PAGED : TSR_TILES_SORTED, 1, c == 3), *back;
        tsr_tiles_kept *kept;
        require_ok(tsr_tiles_kept_make(tiles, NULL, &kept));
        require_ok(tsr_tiles_restore(kept, context, c == 1 ? 5000 : 0, &back));
        check_invariants(back);
        if (c == 1) assert_true(back->pool.capacity >= 5000);
        require_same(tiles, back);
        tsr_volume *field[2], *host[2];
        tsr_tiles *from[2] = { tiles, back };
        for (int i = 0; i < 2; i++) {
            require_ok(tsr_tiles_manage(from[i])); /* and it goes on as the other would */
            require_ok(tsr_volume_create(context, TSR_F32, size, NULL, &field[i]));
            require_ok(tsr_tiles_store(from[i], field[i]));
            require_ok(tsr_volume_copy(field[i], NULL, &host[i]));
        }
        assert_memory_equal(tsr_volume_data(host[0]), tsr_volume_data(host[1]), (size_t)tsr_volume_count(host[0]) * sizeof(float));
        require_same(tiles, back);
        for (int i = 0; i < 2; i++) {
            tsr_volume_destroy(&field[i]);
            tsr_volume_destroy(&host[i]);
        }
        tsr_tiles_kept_destroy(&kept);
        assert_null(kept);
        tsr_tiles_destroy(&back);
        tsr_tiles_destroy(&tiles);
    }
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

static void changes_alone_cost(void **state)
{
    (void)state;
    enum { COPIES = 20 };
    tsr_context *context = test_context();
    tsr_tiles *before = list(context, 8, TSR_TILES_SORTED, 0, 0), *after = list(context, 8, TSR_TILES_SORTED, 1, 0), *back;
    tsr_tiles_kept *kept[COPIES + 2] = { 0 }, *other;
    tsr_tiles_info info = TSR_TILES_INFO, changed = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(before, &info));
    require_ok(tsr_tiles_describe(after, &changed));
    const int64_t tiles = info.count, more = changed.count - info.count, page = 2048, entry = 64; /* entry: what a tile costs besides, at most */
    assert_true(more > 0 && more < tiles / 3);
    require_ok(tsr_tiles_kept_make(before, NULL, &kept[0]));
    const int64_t alone = tsr_tiles_kept_bytes(kept[0]);
    assert_true(alone > tiles * page && alone < tiles * (page + entry) + 4096);
    int64_t all = 0;
    for (int i = 1; i <= COPIES; i++) require_ok(tsr_tiles_kept_make(before, kept[i - 1], &kept[i]));
    for (int i = 0; i <= COPIES; i++) all += tsr_tiles_kept_bytes(kept[i]);
    assert_true(all < tiles * page + (COPIES + 1) * (tiles * entry + 4096));
    require_ok(tsr_tiles_kept_make(after, kept[COPIES], &kept[COPIES + 1]));
    all = 0;
    for (int i = 0; i < COPIES + 2; i++) all += tsr_tiles_kept_bytes(kept[i]);
    assert_true(all > (tiles + more) * page &&
                all < (tiles + more) * page + (COPIES + 2) * ((tiles + more) * entry + 4096)); /* new tiles alone are new pages */
    for (int i = 0; i < COPIES; i += 2) tsr_tiles_kept_destroy(&kept[i]);                      /* the oldest go, and some between */
    require_ok(tsr_tiles_restore(kept[COPIES + 1], context, 0, &back));
    require_same(after, back);
    tsr_tiles_destroy(&back);
    require_ok(tsr_tiles_restore(kept[1], context, 0, &back));
    require_same(before, back);
    tsr_tiles_destroy(&back);
    for (int i = 0; i < COPIES + 1; i++) tsr_tiles_kept_destroy(&kept[i]);
    assert_true(tsr_tiles_kept_bytes(kept[COPIES + 1]) > (tiles + more) * page); /* all its own now */
    require_ok(tsr_tiles_restore(kept[COPIES + 1], context, 0, &back));
    require_same(after, back);
    tsr_tiles_destroy(&back);
    tsr_tiles_destroy(&before);
    before = list(context, 4, TSR_TILES_SORTED, 0, 0); /* pages of another size are no one's */
    require_ok(tsr_tiles_kept_make(before, kept[COPIES + 1], &other));
    require_ok(tsr_tiles_restore(other, context, 0, &back));
    require_same(before, back);
    tsr_tiles_kept_destroy(&other);
    tsr_tiles_kept_destroy(&kept[COPIES + 1]);
    tsr_tiles_destroy(&back);
    tsr_tiles_destroy(&before);
    tsr_tiles_destroy(&after);
    tsr_tiles_kept_destroy(NULL);
    assert_int_equal(tsr_tiles_kept_bytes(NULL), 0);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(comes_back), cmocka_unit_test(changes_alone_cost) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
