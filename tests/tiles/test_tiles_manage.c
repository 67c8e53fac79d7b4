/* Tile management against the sliding traversal of [Laan11], on random lists with random activity. */
#include "tiles_check.h"
#include "tiles_reference.h"

static int key_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}
static int32_t sort_unique(uint64_t *keys, int32_t count)
{
    int32_t kept = 0;
    qsort(keys, (size_t)count, sizeof *keys, key_order);
    for (int32_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[kept - 1]) keys[kept++] = keys[i];
    return kept;
}

/* By the words of tessera/tiles.h, independent of the library: the domain, or the coordinates that keys of this width have. */
static int64_t asked_beyond;
static int allowed(const void *user, uint64_t key)
{
    const tsr_tile_pool *pool = (const tsr_tile_pool *)user;
    const int32_t at[3] = { tsr_key_x(key), tsr_key_y(key), tsr_key_z(key) },
                  first[3] = { tsr_key_x(pool->key_first), tsr_key_y(pool->key_first), tsr_key_z(pool->key_first) };
    for (int k = 0; k < 3; k++) {
        const int32_t least = pool->bounded     ? 0
                              : pool->key_first ? first[k]
                                                : -1048575,
                      most = pool->bounded     ? pool->tiles[k] - 1
                             : pool->key_first ? first[k] + 1023
                                               : 1048574;
        if (at[k] >= least && at[k] <= most) continue;
        asked_beyond += !pool->bounded;
        return 0;
    }
    return 1;
}

/* A pass; where the surface may ask for tiles beyond the coordinates of keys, that is its error, and the list ends there. */
static void manage(tsr_tiles *tiles, int64_t beyond)
{
    const tsr_status status = tsr_tiles_manage(tiles);
    if (beyond) {
        assert_true(status == TSR_ERROR_CAPACITY);
        assert_non_null(strstr(tsr_error_message(), "limits of the tile coordinates"));
    } else {
        require_ok(status);
    }
}

static tsr_tiles *make_tiles(tsr_context *context, int32_t edge, tsr_tiles_index index, tsr_size3 domain, int32_t key_bits)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles;
    options.edge = edge;
    options.index = index;
    options.domain = domain;
    options.capacity = 8;
    options.key_bits = key_bits;
    require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
    return tiles;
}

static void insert_keys(tsr_tiles *tiles, const uint64_t *keys, int32_t count)
{
    tsr_context *c = tiles->context;
    void *device;
    tsr_tile_state state;
    require_ok(tsr_device_allocate(c, (size_t)count * sizeof *keys, &device));
    require_ok(c->backend->upload(c->queue, device, keys, (size_t)count * sizeof *keys));
    require_ok(tsr_tiles_read_state(tiles, &state));
    require_ok(tsr_tiles_reserve(tiles, state.count + count + TSR_TILE_FIRST));
    require_ok(c->backend->tiles->insert(c->queue, &tiles->pool, (const uint64_t *)device, count));
    tsr_device_release(c, device, (size_t)count * sizeof *keys);
}

static void clear_tiles(tsr_tiles *tiles, int32_t background)
{
    require_ok(tiles->context->backend->tiles->clear(tiles->context->queue, &tiles->pool, background));
}

/* Random keys: a few clusters, so that neighbours, isolated tiles and touching clusters all happen. */
static int32_t random_keys(uint64_t *random, const tsr_tile_pool *pool, int32_t wanted, uint64_t *keys)
{
    int32_t limit[3], count = 0, first[3];
    for (int k = 0; k < 3; k++) {
        limit[k] = pool->bounded ? pool->tiles[k] : 12;
        first[k] = pool->bounded                  ? 0
                   : test_random(random) % 3 == 0 ? tsr_pool_least(pool, k)
                   : test_random(random) % 2      ? tsr_pool_most(pool, k) + 1 - limit[k]
                                                  : -5;
    }
    while (count < wanted) {
        int32_t at[3];
        for (int k = 0; k < 3; k++) at[k] = (int32_t)(test_random(random) % (uint64_t)limit[k]);
        for (int n = 0; n < 6 && count < wanted; n++) {
            keys[count++] = tsr_key_make(first[0] + at[0], first[1] + at[1], first[2] + at[2]);
            int k = (int)(test_random(random) % 3);
            at[k] = tsr_mini(tsr_maxi(at[k] + (test_random(random) & 1 ? 1 : -1), 0), limit[k] - 1);
        }
    }
    return sort_unique(keys, count);
}

/* The list as the reference sees it. */
static reference_list reference_of(const tiles_picture *p)
{
    reference_list list = { 0 };
    for (int32_t i = 0; i < p->state.count; i++) {
        const uint32_t *row = p->pool.neighbours + (int64_t)p->ids[i] * TSR_NEIGHBOUR_ROW;
        uint32_t border = 0;
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) border |= (uint32_t)(row[d] == TSR_TILE_OUTSIDE) << d;
        reference_append(&list, p->keys[i], p->pool.activity[p->ids[i]], border);
    }
    return list;
}

/* Random activity words whose class is the background, so that all flags agree (as they do for a real field). */
static void random_activity(uint64_t *random, tsr_tiles *tiles, int32_t background)
{
    tiles_picture p = picture_of(tiles);
    for (int32_t i = 0; i < p.state.count; i++) {
        uint32_t word = 0, dice = (uint32_t)(test_random(random) % 4);
        if (dice == 0) word = 1u << (test_random(random) % 27);
        else if (dice == 1) word = (uint32_t)test_random(random) & (uint32_t)test_random(random) & (uint32_t)test_random(random) & TSR_ACTIVITY_AREAS;
        if (!word && background == TSR_TILE_OUTSIDE) word = TSR_ACTIVITY_OUTSIDE;
        p.pool.activity[p.ids[i]] = word;
    }
    require_ok(
        tiles->context->backend->upload(tiles->context->queue, tiles->pool.activity, p.pool.activity, (size_t)p.pool.capacity * sizeof(uint32_t)));
    picture_drop(&p);
}

/* A pass of a list that may lie at the ends of the coordinates. */
static void manage_anyhow(tsr_tiles *tiles)
{
    const tsr_status status = tsr_tiles_manage(tiles);
    if (status == TSR_ERROR_CAPACITY && strstr(tsr_error_message(), "limits of the tile coordinates")) return;
    require_ok(status);
}

/* One pass of the library against the reference. */
static void compare_pass(tsr_tiles *tiles, int32_t background)
{
    tiles_picture before = picture_of(tiles);
    reference_list old = reference_of(&before), expected = { 0 };
    int32_t created, removed;
    int64_t absent = before.state.inside_absent;
    asked_beyond = 0;
    reference_manage(&old, allowed, &before.pool, &expected, &created, &removed);
    manage(tiles, asked_beyond);
    tiles_picture after = picture_of(tiles);
    assert_int_equal(after.state.count, expected.count);
    assert_int_equal(after.state.created, created);
    assert_int_equal(after.state.removed, removed);
    check_ids(&after);
    check_neighbours(&after);
    for (int32_t i = 0; i < expected.count; i++) {
        assert_true(after.keys[i] == expected.key[i]);
        const uint32_t *row = after.pool.neighbours + (int64_t)after.ids[i] * TSR_NEIGHBOUR_ROW;
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++)
            if (row[d] < TSR_TILE_FIRST) assert_int_equal(row[d] == TSR_TILE_OUTSIDE, expected.border[i] >> d & 1u);
        if (picture_entry(&before, after.keys[i]) < 0) { /* created: both buffers constant */
            const int64_t voxels = (int64_t)1 << (3 * after.pool.log2_edge);
            const float constant = expected.activity[i] >> 27 & 1u ? after.pool.band : -after.pool.band;
            for (int64_t v = 0; v < voxels; v++) assert_true(after.phi[after.ids[i] * voxels + v] == constant);
            assert_int_equal(after.pool.activity[after.ids[i]] & (TSR_ACTIVITY_AREAS | TSR_ACTIVITY_OUTSIDE), expected.activity[i]);
            if (background == TSR_TILE_INSIDE) absent -= tsr_tile_voxels(&after.pool, after.keys[i]);
        }
    }
    for (int32_t i = 0; background == TSR_TILE_INSIDE && i < before.state.count; i++)
        if (picture_entry(&after, before.keys[i]) < 0) absent += tsr_tile_voxels(&after.pool, before.keys[i]);
    if (before.pool.bounded) assert_int_equal(after.state.inside_absent, absent);
    reference_release(&old);
    reference_release(&expected);
    picture_drop(&before);
    picture_drop(&after);
}

static void random_passes(tsr_context *context, uint64_t *random, int32_t edge, tsr_tiles_index index, tsr_size3 domain, int32_t key_bits, int rounds)
{
    tsr_tiles *tiles = make_tiles(context, edge, index, domain, key_bits);
    for (int round = 0; round < rounds; round++) {
        static const int32_t sizes[] = { 1, 2, 5, 30, 150 };
        uint64_t keys[256];
        int32_t background = domain.x && (test_random(random) & 1) ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
        clear_tiles(tiles, background);
        compare_pass(tiles, background); /* an empty list stays empty */
        insert_keys(tiles, keys, random_keys(random, &tiles->pool, sizes[test_random(random) % 5], keys));
        for (int pass = 0; pass < 5; pass++) {
            random_activity(random, tiles, background);
            compare_pass(tiles, background);
        }
    }
    tsr_tiles_destroy(&tiles);
}

static void fast_path_equals_traversal(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    uint64_t random = test_seed();
    int rounds = context->device.kind == TSR_DEVICE_EMU ? 4 : test_is_slow() ? 8 : 40; /* the emulator is slow */
    for (int32_t bits = 32; bits <= 64; bits += 32) {
        random_passes(context, &random, 4, TSR_TILES_SORTED, (tsr_size3){ 0, 0, 0 }, bits, rounds / 2);
        random_passes(context, &random, 8, TSR_TILES_SORTED, (tsr_size3){ 0, 0, 0 }, bits, rounds / 4);
        random_passes(context, &random, 4, TSR_TILES_SORTED, (tsr_size3){ 21, 30, 18 }, bits, rounds / 2);
        random_passes(context, &random, 4, TSR_TILES_PAGED, (tsr_size3){ 21, 30, 18 }, bits, rounds / 2);
        random_passes(context, &random, 8, TSR_TILES_PAGED, (tsr_size3){ 70, 9, 33 }, bits, rounds / 4);
    }
    tsr_context_destroy(&context);
}

/* Room for very many tiles takes other kernels of a GPU (tiles/tiles_link.h): more entries than one count of kept ones covers (tiles/tiles_scratch.h),
 * more requests than one block sorts. */
static void large_list(int32_t key_bits)
{
    enum { WANTED = 14000 };
    tsr_context *context = test_context();
    tsr_tiles *tiles = make_tiles(context, 4, TSR_TILES_SORTED, (tsr_size3){ 120, 120, 120 }, key_bits);
    uint64_t random = test_seed(), *keys = (uint64_t *)malloc(WANTED * sizeof *keys);
    assert_non_null(keys);
    clear_tiles(tiles, TSR_TILE_OUTSIDE);
    require_ok(tsr_tiles_reserve(tiles, (1 << 18) + 8));
    const int32_t count = random_keys(&random, &tiles->pool, WANTED, keys);
    assert_true(count > 8192);
    insert_keys(tiles, keys, count);
    const int passes = context->device.kind == TSR_DEVICE_EMU ? 1 : 3; /* the emulator is slow */
    for (int pass = 0; pass < passes; pass++) {
        random_activity(&random, tiles, TSR_TILE_OUTSIDE);
        compare_pass(tiles, TSR_TILE_OUTSIDE);
        tsr_tile_state state;
        require_ok(tsr_tiles_read_state(tiles, &state));
        assert_true(state.removed > 0 && (pass > 0 || state.created > 2048));
    }
    free(keys);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

static void passes_of_a_large_list(void **unused)
{
    (void)unused;
    large_list(64);
}
static void passes_of_a_large_list_of_short_keys(void **unused)
{
    (void)unused;
    large_list(32);
}

/* Passes of a large list between which few tiles change: words that stay the same are settled on a GPU, and the pass leaves those tiles alone. A pass that
 * follows one that ran short believes no word. */
static void few_changes_in_a_large_list(void **unused)
{
    (void)unused;
    enum { WANTED = 700, ROUNDS = 8 };
    tsr_context *context = test_context();
    const tsr_backend *backend = context->backend;
    tsr_tiles *tiles = make_tiles(context, 4, TSR_TILES_SORTED, (tsr_size3){ 60, 60, 60 }, 0);
    uint64_t random = test_seed(), keys[WANTED];
    int32_t settled = 0, changed = 0;
    clear_tiles(tiles, TSR_TILE_OUTSIDE);
    require_ok(tsr_tiles_reserve(tiles, (1 << 18) + 8));
    insert_keys(tiles, keys, random_keys(&random, &tiles->pool, WANTED, keys));
    random_activity(&random, tiles, TSR_TILE_OUTSIDE);
    compare_pass(tiles, TSR_TILE_OUTSIDE);
    for (int round = 0; round < ROUNDS; round++) {
        tiles_picture p = picture_of(tiles);
        const int lies = round == ROUNDS - 1; /* what a pass that ran short leaves: words that say they are settled and are not */
        for (int32_t i = 0; i < p.state.count; i++) {
            const uint32_t before = p.pool.activity[p.ids[i]], fresh = (uint32_t)(test_random(&random) & test_random(&random)) & TSR_ACTIVITY_AREAS;
            const int changes = round % 3 && test_random(&random) % (round == 4 ? 2 : 40) == 0;
            const uint32_t areas = !changes && !lies ? before & TSR_ACTIVITY_AREAS : test_random(&random) % 4 == 0 ? 0u : fresh;
            p.pool.activity[p.ids[i]] = tsr_activity_word(lies ? areas | TSR_ACTIVITY_SETTLED : before, areas, 1);
            settled += (before & TSR_ACTIVITY_SETTLED) != 0;
            changed += changes;
        }
        require_ok(backend->upload(context->queue, tiles->pool.activity, p.pool.activity, (size_t)p.pool.capacity * sizeof(uint32_t)));
        p.state.managed = !lies;
        require_ok(backend->upload(context->queue, tiles->pool.state, &p.state, sizeof p.state));
        picture_drop(&p);
        compare_pass(tiles, TSR_TILE_OUTSIDE);
    }
    assert_true(changed > 0 && (settled > 0) == (context->device.kind != TSR_DEVICE_CPU));
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* One tile surrounded by 26 that vanish at once: every border entry is told. */
static void all_neighbours_vanish(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    for (int32_t background = TSR_TILE_OUTSIDE; background <= TSR_TILE_INSIDE; background++) {
        tsr_tiles *tiles = make_tiles(context, 4, TSR_TILES_SORTED, (tsr_size3){ 40, 40, 40 }, 0);
        uint64_t keys[27];
        for (int32_t i = 0; i < 27; i++) keys[i] = tsr_key_make(5, 5, 5) + (uint64_t)tsr_key_offset(i);
        clear_tiles(tiles, background);
        insert_keys(tiles, keys, 27);
        tiles_picture p = picture_of(tiles);
        for (int32_t i = 0; i < 27; i++) p.pool.activity[p.ids[i]] = i == 13 ? 1u << 13 : background == TSR_TILE_OUTSIDE ? TSR_ACTIVITY_OUTSIDE : 0;
        require_ok(context->backend->upload(context->queue, tiles->pool.activity, p.pool.activity, (size_t)p.pool.capacity * sizeof(uint32_t)));
        compare_pass(tiles, background);
        tiles_picture after = picture_of(tiles);
        assert_int_equal(after.state.count, 1);
        assert_int_equal(after.state.removed, 26);
        picture_drop(&after);
        picture_drop(&p);
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

/* The oracle itself: sliding = sorting 27 shifted copies, each key once, in order. */
static void traversal_equals_sort(void **unused)
{
    (void)unused;
    tsr_tile_pool pool = { .bounded = 0 };
    uint64_t random = test_seed(), list[200], slid[27 * 200], sorted[27 * 200];
    for (int round = 0; round < 500; round++) {
        int32_t count = random_keys(&random, &pool, 1 + (int32_t)(test_random(&random) % 200), list), n = 0;
        for (int32_t i = 0; i < count; i++)
            for (int32_t d = 0; d < 27; d++) sorted[n++] = list[i] + (uint64_t)tsr_key_offset(d);
        n = sort_unique(sorted, n);
        assert_int_equal(reference_dilate(list, count, slid), n);
        assert_memory_equal(slid, sorted, (size_t)n * sizeof *slid);
    }
}

/* Request masks are the transpose of the trigger areas, for every word with one or two bits and for random ones. */
static void request_masks(void **unused)
{
    (void)unused;
    uint64_t random = test_seed();
    for (int32_t round = 0; round < 27 * 27 + 1000; round++) {
        uint32_t areas = round < 729 ? 1u << (round / 27) | 1u << (round % 27) : (uint32_t)test_random(&random) & TSR_ACTIVITY_AREAS, expected = 0;
        for (int32_t d = 0; d < 27; d++) { /* the tile in direction d sees this one in direction 26 - d */
            for (int32_t a = 0; a < 27; a++) {
                int ok = 1;
                for (int k = 0, s = 1; k < 3; k++, s *= 3) {
                    int dk = d / s % 3 - 1, ak = a / s % 3 - 1;
                    ok = ok && (dk == 0 || dk == ak);
                }
                if (ok && (areas >> a & 1u)) expected |= 1u << d;
            }
        }
        assert_int_equal(tsr_request_mask(areas), expected);
        for (int32_t d = 0; d < 27; d++) assert_int_equal((areas & tsr_trigger_mask(26 - d)) != 0, expected >> d & 1u);
    }
}

/* A page falls into cases, each voxel into one: its inside, faces, edges and corners, of (E - 2)^3, (E - 2)^2, E - 2 and 1 voxels. What a voxel reads of
 * its 3^3 neighbourhood lies in the pages that its case asks for: 1, 2, 4 or 8 with its own; the stencil of 19 leaves out the page across a corner
 * (docs/theory/tiles.md 4, where pages are n^2 and stacked along z: there 3, 6 and 12, or 10, of 196, 56 and 4 voxels for n = 16). */
static void cases_of_a_page(void **unused)
{
    (void)unused;
    static const int32_t pages[4] = { 1, 2, 4, 8 };
    for (int32_t E = 4; E <= 8; E *= 2) {
        int32_t voxels[27] = { 0 };
        for (int32_t i = 0; i < E * E * E; i++) {
            const int32_t at[3] = { i % E, i / E % E, i / (E * E) }, area = tsr_area(at[0], at[1], at[2], E);
            uint32_t cube = 0, stencil = 0;
            for (int32_t n = 0; n < 27; n++) {
                int32_t d = 0, axes = 0;
                for (int k = 0, s = 1; k < 3; k++, s *= 3) {
                    const int32_t step = n / s % 3 - 1, to = at[k] + step;
                    d += s * (to < 0 ? 0 : to >= E ? 2 : 1);
                    axes += step != 0;
                }
                cube |= 1u << d;
                if (axes < 3) stencil |= 1u << d;
            }
            assert_in_range(area, 0, 26);
            voxels[area]++;
            assert_int_equal(cube & ~(1u << TSR_TILE_MIDDLE), tsr_request_mask(1u << area) & ~(1u << TSR_TILE_MIDDLE));
            const int faces = (area % 3 != 1) + (area / 3 % 3 != 1) + (area / 9 != 1);
            assert_int_equal(__builtin_popcount(cube), pages[faces]);
            assert_int_equal(__builtin_popcount(stencil), faces == 3 ? 7 : pages[faces]);
        }
        for (int32_t a = 0; a < 27; a++) {
            int32_t expected = 1;
            for (int k = 0, s = 1; k < 3; k++, s *= 3) expected *= a / s % 3 == 1 ? E - 2 : 1;
            assert_int_equal(voxels[a], expected);
        }
    }
}

/* The same changes leave the same tiles in the same places, whatever ran when: lists, ids and the stack of free ids, in ten runs. */
static void places_repeat(void **unused)
{
    (void)unused;
    enum { RUNS = 10, PASSES = 6 };
    tsr_context *context = test_context();
    const uint64_t seed = test_seed();
    tiles_picture first = { 0 };
    for (int run = 0; run < (test_is_slow() ? 3 : RUNS); run++) {
        uint64_t random = seed, keys[200];
        tsr_tiles *tiles = make_tiles(context, 4, TSR_TILES_PAGED, (tsr_size3){ 45, 40, 35 }, 0);
        clear_tiles(tiles, TSR_TILE_OUTSIDE);
        insert_keys(tiles, keys, random_keys(&random, &tiles->pool, 200, keys));
        for (int pass = 0; pass < PASSES; pass++) {
            random_activity(&random, tiles, TSR_TILE_OUTSIDE);
            require_ok(tsr_tiles_manage(tiles));
        }
        tiles_picture now = picture_of(tiles);
        check_ids(&now);
        assert_true(now.state.count > 0 && now.state.free_count > 0);
        if (run == 0) first = now;
        else {
            const size_t count = (size_t)now.state.count, free_count = (size_t)now.state.free_count;
            assert_int_equal(now.state.count, first.state.count);
            assert_int_equal(now.state.free_count, first.state.free_count);
            assert_memory_equal(now.keys, first.keys, count * sizeof *now.keys);
            assert_memory_equal(now.ids, first.ids, count * sizeof *now.ids);
            assert_memory_equal(now.pool.free_ids, first.pool.free_ids, free_count * sizeof *now.pool.free_ids);
            picture_drop(&now);
        }
        tsr_tiles_destroy(&tiles);
    }
    picture_drop(&first);
    tsr_context_destroy(&context);
}

/* Directions seen from a neighbour, against coordinates. */
static void moved_directions(void **unused)
{
    (void)unused;
    for (int32_t i = 0; i < 27; i++)
        for (int32_t seen = 0; seen < 27; seen++) {
            const int32_t x = i % 3 - 1 + seen % 3 - 1, y = i / 3 % 3 - 1 + seen / 3 % 3 - 1, z = i / 9 - 1 + seen / 9 - 1;
            const int near = abs(x) <= 1 && abs(y) <= 1 && abs(z) <= 1;
            assert_int_equal(tsr_directions_from(1u << seen, i), near ? 1u << (9 * (z + 1) + 3 * (y + 1) + x + 1) : 0u);
        }
}

/* A full list whose tiles ask for the same absent ones many times over: what is missing counts them (nearly) once. */
static void shortage_of_many_requests(void **unused)
{
    (void)unused;
    enum { SIDE = 9, SHEET = SIDE * SIDE, ABSENT = (SIDE + 2) * (SIDE + 2) * 3 - SHEET };
    tsr_context *context = test_context();
    tsr_tiles *tiles = make_tiles(context, 4, TSR_TILES_SORTED, (tsr_size3){ 0, 0, 0 }, 0);
    uint64_t keys[SHEET];
    for (int32_t i = 0; i < SHEET; i++) keys[i] = tsr_key_make(i % SIDE, i / SIDE, 5);
    insert_keys(tiles, keys, SHEET); /* an inserted tile asks for all around it */
    tiles_picture before = picture_of(tiles);
    const int32_t room = before.state.free_count;
    require_ok(context->backend->tiles->manage(context->queue, &tiles->pool));
    tiles_picture after = picture_of(tiles);
    assert_in_range(after.state.shortage, ABSENT - room, (ABSENT - room) * 5 / 4);
    require_ok(tsr_tiles_manage(tiles));
    picture_drop(&after);
    after = picture_of(tiles);
    assert_int_equal(after.state.count, SHEET + ABSENT);
    check_neighbours(&after);
    picture_drop(&before);
    picture_drop(&after);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* Running out of ids changes nothing and says how many are missing; after growing the pass gives the same list as with plenty of room. */
static void shortage_keeps_the_list(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    uint64_t random = test_seed(), keys[64];
    int rounds = test_is_slow() ? 3 : 30, short_of_ids = 0;
    for (int round = 0; round < rounds; round++) {
        tsr_tiles *tight = make_tiles(context, 4, TSR_TILES_SORTED, (tsr_size3){ 0, 0, 0 }, 0),
                  *roomy = make_tiles(context, 4, TSR_TILES_SORTED, (tsr_size3){ 0, 0, 0 }, 0);
        int32_t count = random_keys(&random, &tight->pool, 20, keys);
        require_ok(tsr_tiles_reserve(roomy, 2000));
        insert_keys(tight, keys, count);
        insert_keys(roomy, keys, count);
        tiles_picture a = picture_of(tight), other = picture_of(roomy);
        for (int32_t i = 0; i < count; i++) a.pool.activity[a.ids[i]] = other.pool.activity[other.ids[i]] = 1u << (test_random(&random) % 27);
        require_ok(context->backend->upload(context->queue, tight->pool.activity, a.pool.activity, (size_t)tight->pool.capacity * sizeof(uint32_t)));
        require_ok(
            context->backend->upload(context->queue, roomy->pool.activity, other.pool.activity, (size_t)roomy->pool.capacity * sizeof(uint32_t)));
        picture_drop(&other);
        require_ok(context->backend->tiles->manage(context->queue, &tight->pool));
        tiles_picture b = picture_of(tight);
        if (!b.state.managed) {
            short_of_ids++;
            assert_true(b.state.shortage > 0);
            assert_int_equal(b.state.count, count);
            assert_memory_equal(a.keys, b.keys, (size_t)count * sizeof *a.keys);
            check_ids(&b);
            check_neighbours(&b);
        }
        manage_anyhow(tight);
        manage_anyhow(roomy);
        if (b.state.managed) manage_anyhow(roomy);
        tiles_picture c = picture_of(tight), d = picture_of(roomy);
        check_ids(&c);
        check_neighbours(&c);
        assert_int_equal(c.state.count, d.state.count);
        assert_memory_equal(c.keys, d.keys, (size_t)c.state.count * sizeof *c.keys);
        picture_drop(&a);
        picture_drop(&b);
        picture_drop(&c);
        picture_drop(&d);
        tsr_tiles_destroy(&tight);
        tsr_tiles_destroy(&roomy);
    }
    assert_true(short_of_ids > 0);
    tsr_context_destroy(&context);
}

/* Compaction: ids 2, 3, ... in list order, everything else as it was; later passes of a compacted list and of one that was not give the same lists. */
static void compaction(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    uint64_t random = test_seed(), keys[128];
    const int rounds = test_is_slow() ? 3 : 24;
    for (int round = 0; round < rounds; round++) {
        const tsr_size3 domain = { round % 3 ? 60 : 0, round % 3 ? 50 : 0, round % 3 ? 40 : 0 };
        const int32_t edge = round & 1 ? 4 : 8;
        tsr_tiles *tiles = make_tiles(context, edge, round % 3 == 2 ? TSR_TILES_PAGED : TSR_TILES_SORTED, domain, round / 2 % 2 ? 32 : 64), *twin;
        insert_keys(tiles, keys, random_keys(&random, &tiles->pool, round % 5 ? 60 : 0, keys));
        for (int pass = 0; pass < 4; pass++) {
            random_activity(&random, tiles, TSR_TILE_OUTSIDE);
            manage_anyhow(tiles);
        }
        require_ok(tsr_tiles_need_age(tiles));
        require_ok(tsr_tiles_copy(tiles, context, &twin));
        const int64_t wanted = round & 1 ? 0 : 700;
        require_ok(tsr_tiles_compact(tiles, wanted));
        tiles_picture a = picture_of(tiles), b = picture_of(twin);
        assert_int_equal(a.state.count, b.state.count);
        assert_int_equal(a.state.inside_absent, b.state.inside_absent);
        assert_true(tiles->pool.capacity >= a.state.count + TSR_TILE_FIRST && (wanted == 0 || tiles->pool.capacity >= wanted));
        assert_memory_equal(a.keys, b.keys, (size_t)a.state.count * sizeof *a.keys);
        const size_t tile = sizeof(float) << (3 * a.pool.log2_edge);
        for (int32_t i = 0; i < a.state.count; i++) {
            assert_int_equal(a.ids[i], TSR_TILE_FIRST + i);
            assert_int_equal(a.pool.activity[a.ids[i]], b.pool.activity[b.ids[i]]);
            assert_memory_equal((const char *)a.phi + a.ids[i] * tile, (const char *)b.phi + b.ids[i] * tile, tile);
        }
        check_ids(&a);
        check_neighbours(&a);
        picture_drop(&a);
        picture_drop(&b);
        for (int pass = 0; pass < 3; pass++) { /* the same random activity for both, by place in the list */
            tiles_picture p = picture_of(tiles), q = picture_of(twin);
            for (int32_t i = 0; i < p.state.count; i++) p.pool.activity[p.ids[i]] = q.pool.activity[q.ids[i]] = 1u << (test_random(&random) % 27);
            require_ok(context->backend->upload(context->queue, tiles->pool.activity, p.pool.activity, (size_t)p.pool.capacity * sizeof(uint32_t)));
            require_ok(context->backend->upload(context->queue, twin->pool.activity, q.pool.activity, (size_t)q.pool.capacity * sizeof(uint32_t)));
            manage_anyhow(tiles);
            manage_anyhow(twin);
            tiles_picture c = picture_of(tiles), d = picture_of(twin);
            assert_int_equal(c.state.count, d.state.count);
            assert_memory_equal(c.keys, d.keys, (size_t)c.state.count * sizeof *c.keys);
            check_ids(&c);
            check_neighbours(&c);
            picture_drop(&p);
            picture_drop(&q);
            picture_drop(&c);
            picture_drop(&d);
        }
        tsr_tiles_destroy(&twin);
        tsr_tiles_destroy(&tiles);
    }
    require_error(tsr_tiles_compact(NULL, 0), TSR_ERROR_ARGUMENT, "NULL");
    tsr_context_destroy(&context);
}

/* A list that was large gives room back, once, down to what it holds and a little more, and not below what its owner asked for. */
static void trimming(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    uint64_t random = test_seed(), keys[64];
    tsr_tiles *tiles = make_tiles(context, 4, TSR_TILES_PAGED, (tsr_size3){ 60, 50, 40 }, 32);
    tsr_tile_state state;
    int trimmed = -1;
    const int32_t count = random_keys(&random, &tiles->pool, 40, keys);
    insert_keys(tiles, keys, count);
    require_ok(tsr_tiles_read_state(tiles, &state));
    require_ok(tsr_tiles_trim(tiles, &state, &trimmed));
    assert_int_equal(trimmed, 0); /* too small to be worth it */
    require_ok(tsr_tiles_reserve(tiles, 20000));
    const int64_t bytes = tiles->bytes;
    require_ok(tsr_tiles_read_state(tiles, &state));
    state.managed = 0;
    require_ok(tsr_tiles_trim(tiles, &state, &trimmed));
    assert_int_equal(trimmed, 0); /* the list is behind the field */
    state.managed = 1;
    require_ok(tsr_tiles_trim(tiles, &state, &trimmed));
    assert_int_equal(trimmed, 1);
    assert_in_range(tiles->pool.capacity, count + TSR_TILE_FIRST, (count + TSR_TILE_FIRST) * 9 / 8);
    assert_true(tiles->bytes < bytes / 100);
    tiles_picture after = picture_of(tiles);
    assert_int_equal(after.state.count, count);
    check_ids(&after);
    check_neighbours(&after);
    picture_drop(&after);
    require_ok(tsr_tiles_reserve(tiles, 20000));
    tiles->memory_limit = 1000; /* no room for the copy */
    require_ok(tsr_tiles_trim(tiles, &state, &trimmed));
    assert_int_equal(trimmed, 0);
    assert_int_equal(tiles->pool.capacity, 20000);
    tiles->memory_limit = 0;
    tiles->wished = 19000;
    require_ok(tsr_tiles_trim(tiles, &state, &trimmed));
    assert_int_equal(trimmed, 0);
    tiles->wished = 17000;
    for (int grown = 1; grown >= 0; grown--) { /* as long as it grows it keeps some room */
        tiles->seen = grown ? 0 : count;
        require_ok(tsr_tiles_trim(tiles, &state, &trimmed));
        assert_int_equal(trimmed, !grown);
    }
    assert_in_range(tiles->pool.capacity, 17000, 18100);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(traversal_equals_sort),
                                        cmocka_unit_test(request_masks),
                                        cmocka_unit_test(fast_path_equals_traversal),
                                        cmocka_unit_test(passes_of_a_large_list),
                                        cmocka_unit_test(passes_of_a_large_list_of_short_keys),
                                        cmocka_unit_test(few_changes_in_a_large_list),
                                        cmocka_unit_test(all_neighbours_vanish),
                                        cmocka_unit_test(shortage_keeps_the_list),
                                        cmocka_unit_test(compaction),
                                        cmocka_unit_test(moved_directions),
                                        cmocka_unit_test(shortage_of_many_requests),
                                        cmocka_unit_test(trimming),
                                        cmocka_unit_test(cases_of_a_page),
                                        cmocka_unit_test(places_repeat) };
    return cmocka_run_group_tests_name("tiles_manage", tests, NULL, NULL);
}
