/* Two ways to predict overlapped blocks on a GPU: the library's, by regions, and one that gathers (predict_gather.h), by turns, what they say compared
 * first. Included by bench_dirac.c. */
static struct {
    predict_gather_call by_gathering;
    tsr_dirac_predict_job job;
} ways;

static tsr_status regions_call(void *user)
{
    (void)user;
    return s.b.context->backend->dirac->predict(s.b.context->queue, &ways.job);
}
static tsr_status gather_call(void *user)
{
    (void)user;
    return ways.by_gathering(s.b.context->queue, &ways.job) ? TSR_OK : TSR_ERROR_DEVICE;
}

static uint32_t ways_chance(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Vectors as a moving scene has them: a pan, a little other in each unit of 4 x 4 blocks; of some units the blocks differ. */
static void make_blocks(const tsr_dirac_predict_job *j, tsr_dirac_block *blocks)
{
    uint64_t state = 1;
    for (int32_t y = 0; y < j->p.blocks_y; y += 4)
        for (int32_t x = 0; x < j->p.blocks_x; x += 4) {
            const int32_t split = ways_chance(&state) % 4 == 0;
            tsr_dirac_block b = { .mode = 0 };
            for (int32_t k = 0; k < 16; k++) {
                if (!k || split) {
                    b.mode = (uint8_t)(ways_chance(&state) % 50 == 0 ? 0 : j->p.references == 1 ? 1 : 1 + ways_chance(&state) % 3);
                    for (int r = 0; r < 2; r++)
                        for (int axis = 0; axis < 2; axis++) b.vector[r][axis] = (int16_t)((9 - 18 * r) + (int32_t)(ways_chance(&state) % 13) - 6);
                    for (int c = 0; c < 3; c++) b.dc[c] = (int16_t)((int32_t)(ways_chance(&state) % 200) - 100);
                }
                blocks[(int64_t)(y + k / 4) * j->p.blocks_x + x + k % 4] = b;
            }
        }
}

/* What both ways say; how many samples they do not agree about. */
static int64_t ways_differ(int32_t *memory, int64_t count)
{
    const size_t bytes = (size_t)count * sizeof *memory;
    for (int way = 0; way < 2; way++) {
        memset(memory + way * count, way, bytes);
        MUST(s.b.context->backend->upload(s.b.context->queue, ways.job.predicted, memory + way * count, bytes));
        MUST(way ? gather_call(NULL) : regions_call(NULL));
        MUST(s.b.context->backend->download(s.b.context->queue, memory + way * count, ways.job.predicted, bytes));
    }
    int64_t others = 0;
    for (int64_t k = 0; k < count; k++) others += memory[k] != memory[count + k];
    return others;
}

static void measure_ways(int32_t length, int32_t separation, int32_t references)
{
    const int32_t width = s.b.quick ? 480 : 1920, height = s.b.quick ? 270 : 1080, super = 4 * separation;
    const int64_t plane = (int64_t)width * height;
    const size_t grid = 4 * (size_t)plane * sizeof(int16_t), bytes = (size_t)plane * sizeof(int32_t);
    tsr_dirac_predict_job *j = &ways.job;
    void *reference[2], *blocks;
    char name[96];
    *j = (tsr_dirac_predict_job){ .bytes = 2, .stride = width, .width = width, .height = height, .depth = 8 };
    j->p = (tsr_dirac_prediction){ .references = references,
                                   .length = { length, length },
                                   .separation = { separation, separation },
                                   .precision = 2,
                                   .weight_bits = 1,
                                   .weight = { 1, 1 },
                                   .blocks_x = (width + super - 1) / super * 4,
                                   .blocks_y = (height + super - 1) / super * 4 };
    const size_t block_bytes = (size_t)j->p.blocks_x * (size_t)j->p.blocks_y * sizeof(tsr_dirac_block);
    int32_t *memory = (int32_t *)malloc(2 * bytes + block_bytes);
    if (!memory) exit(1);
    for (int r = 0; r < 2; r++) {
        uint64_t state = (uint64_t)r + 7;
        for (int64_t k = 0; k < plane; k++) ((int16_t *)memory)[k] = (int16_t)((int32_t)(ways_chance(&state) % 256) - 128);
        MUST(tsr_device_allocate(s.b.context, grid, &reference[r]));
        MUST(s.b.context->backend->upload(s.b.context->queue, reference[r], memory, (size_t)plane * sizeof(int16_t)));
        const tsr_dirac_half_job half = { .grid = reference[r], .bytes = 2, .width = width, .height = height, .low = -128, .high = 127 };
        MUST(s.b.context->backend->dirac->half(s.b.context->queue, &half));
        j->reference[r] = reference[r];
    }
    MUST(tsr_device_allocate(s.b.context, block_bytes, &blocks));
    MUST(tsr_device_allocate(s.b.context, bytes, (void **)&j->predicted));
    make_blocks(j, (tsr_dirac_block *)memory);
    MUST(s.b.context->backend->upload(s.b.context->queue, blocks, memory, block_bytes));
    j->blocks = (const tsr_dirac_block *)blocks;
    const int64_t others = ways_differ(memory, plane);
    if (others) {
        fprintf(stderr, "bench dirac: what gathers differs in %lld samples\n", (long long)others);
        exit(1);
    }
    bench_time regions, gather;
    bench_measure_pair(&s.b, regions_call, gather_call, NULL, &regions, &gather);
    snprintf(name, sizeof name, "predict 1080p luma, blocks of %d every %d, references: %d", length, separation, references);
    bench_report(&s.b, &(bench_case){ .name = name,
                                      .n = plane,
                                      .time = regions,
                                      .bytes = (double)plane * (4 + 8 * references),
                                      .peer = "gathering",
                                      .peer_time = gather,
                                      .bar = "the default is the faster way",
                                      .holds = regions.median <= gather.median });
    tsr_device_release(s.b.context, j->predicted, bytes);
    tsr_device_release(s.b.context, blocks, block_bytes);
    for (int r = 0; r < 2; r++) tsr_device_release(s.b.context, reference[r], grid);
    free(memory);
}

static void measure_regions(void)
{
    static const int32_t preset[][2] = { { 8, 4 }, { 12, 8 }, { 16, 12 }, { 24, 16 } };
    const int emulated = s.b.context->device.kind == TSR_DEVICE_EMU;
    void *module = bench_module(emulated ? "libtessera_emu.so" : "libbench_predict_gather.so");
    if (module) *(void **)&ways.by_gathering = dlsym(module, "predict_by_gathering");
    if (!ways.by_gathering) {
        printf("no prediction that gathers beside: %s\n", dlerror());
        return;
    }
    for (size_t k = 0; k < sizeof preset / sizeof *preset; k++)
        for (int32_t references = 1; references <= 2; references++) measure_ways(preset[k][0], preset[k][1], references);
}
