/* Slices on a device, frames in its memory: the stages of several pictures at once, by their bytes; whole encoders and decoders from and to the host, one
 * and several beside each other; long groups by stages. Included by bench_dirac.c, whose film and stream it uses. */
enum { DEVICE_AHEAD = 8, DEVICE_STREAMS = 8 };

static struct {
    int ahead; /* pictures together */
    tsr_slice_coder coder;
    tsr_slice_flight flight;
    tsr_dirac_transform transform;
    tsr_dirac_layout layout[3];
    char *planes; /* of FRAMES frames, device memory */
    const uint8_t *slices[FRAMES];
    int64_t slice_bytes[FRAMES];
    int stage;
} v;

static void fraction(int64_t bytes, int64_t count, tsr_dirac_transform *t)
{
    int64_t a = bytes, b = count;
    while (b) {
        const int64_t r = a % b;
        a = b;
        b = r;
    }
    t->numerator = (uint32_t)(bytes / a);
    t->denominator = (uint32_t)(count / a);
    t->scaler = (uint32_t)((bytes / count + 254) / 255);
}

static void make_device_shapes(void)
{
    const tsr_video_frame *f = &s.frame[0];
    tsr_dirac_transform *t = &v.transform;
    *t = (tsr_dirac_transform){ .wavelet = 1, .wavelet_horizontal = 1, .depth = 3, .high_quality = 1 };
    t->slices_x = (f->width[0] + 31) / 32;
    t->slices_y = (f->height[0] + 7) / 8;
    if (!tsr_dirac_default_matrix(t, t->matrix)) exit(1);
    fraction(s.options.picture_bytes, (int64_t)t->slices_x * t->slices_y, t);
    for (int c = 0; c < 3; c++) tsr_dirac_layout_make(t, f->width[c], f->height[c], &v.layout[c]);
}

/* Where picture k's components lie. */
static void place_planes(int k, void *plane[3])
{
    char *at = v.planes + (size_t)(k % FRAMES) * (size_t)s.frame[0].bytes;
    for (int c = 0; c < 3; c++) {
        plane[c] = at;
        at += (size_t)s.frame[0].width[c] * (size_t)s.frame[0].height[c] * 2;
    }
}

static tsr_status add_frames(void)
{
    v.coder.count = 0;
    for (int k = 0; k < v.ahead; k++) {
        tsr_dirac_load_job load[3];
        void *plane[3];
        place_planes(k, plane);
        for (int c = 0; c < 3; c++) load[c] = (tsr_dirac_load_job){ .plane = plane[c], .plane_stride = s.frame[0].width[c], .bytes = 2, .depth = 10 };
        TSR_TRY(tsr_slice_coder_add(&v.coder, load));
    }
    return TSR_OK;
}

/* One stage, or all: v.stage. */
static tsr_status device_encode_call(void *user)
{
    (void)user;
    v.coder.count = v.ahead;
    if (v.stage < 0 || v.stage == TSR_DIRAC_COMBINE) TSR_TRY(add_frames());
    if (v.stage < 0 || v.stage == TSR_DIRAC_WAVELET_TRANSFORM) TSR_TRY(tsr_slice_coder_transform(&v.coder));
    if (v.stage < 0 || v.stage == TSR_DIRAC_RESIDUAL_DECODE) TSR_TRY(tsr_slice_coder_plan(&v.coder, -1, 1));
    return TSR_OK;
}

static tsr_status device_decode_call(void *user)
{
    (void)user;
    v.flight.count = v.ahead;
    return tsr_slice_flight_run(&v.flight);
}

/* Seconds of a stage of the flight: told when stages begin. */
static double stage_seconds[TSR_DIRAC_STAGES], stage_since;
static int stage_now = -1;
static void stage_begins(void *user, int stage)
{
    (void)user;
    MUST(tsr_context_synchronize(s.b.context));
    const double now = bench_seconds();
    if (stage_now >= 0) stage_seconds[stage_now] += now - stage_since;
    stage_now = stage;
    stage_since = now;
}

static void report_pictures(const char *name, bench_time t, double bytes, const char *bar, double most)
{
    t.median /= v.ahead;
    t.min /= v.ahead;
    t.max /= v.ahead;
    bench_report(&s.b, &(bench_case){ .name = name, .n = s.frame[0].bytes, .time = t, .bytes = bytes, .bar = bar, .holds = t.median <= most });
    if (t.runs) printf("  %.0f pictures a second\n", 1 / t.median);
}

/* The bytes of each picture wait in the flight, decoded again and again. */
static int board_flight(void)
{
    int usable = 0;
    uint8_t *bytes = (uint8_t *)malloc((size_t)v.coder.room + TSR_BITS_SLACK);
    tsr_slice_target target = { .plane_stride = { s.frame[0].width[0], s.frame[0].width[1], s.frame[0].width[2] }, .bytes = 2, .depth = { 10, 10 } };
    if (!bytes) exit(1);
    MUST(tsr_slice_flight_make(&v.flight, s.b.context, v.ahead, &v.transform, v.layout, &usable));
    for (int k = 0; k < v.ahead && usable; k++) {
        int64_t whole = 0;
        MUST(tsr_slice_coder_take(&v.coder, k, bytes, NULL));
        v.transform.scaler = (uint32_t)v.coder.totals[k].scaler;
        const tsr_bits bits = { bytes, 0, 8 * v.coder.totals[k].bytes };
        place_planes(k, target.plane);
        MUST(tsr_slice_flight_add(&v.flight, &v.transform, &bits, &target, &whole));
        if (whole != v.flight.slices) exit(1);
    }
    free(bytes);
    return usable;
}

static void report_encode_stages(double samples, double stream, double frame)
{
    v.stage = TSR_DIRAC_COMBINE;
    report_pictures("device encode: samples", bench_measure(&s.b, device_encode_call, NULL, NULL), frame + 4 * samples, NULL, 0);
    v.stage = TSR_DIRAC_WAVELET_TRANSFORM;
    report_pictures("device encode: transform", bench_measure(&s.b, device_encode_call, NULL, NULL), 8 * samples, NULL, 0);
    v.stage = TSR_DIRAC_RESIDUAL_DECODE;
    report_pictures("device encode: slices", bench_measure(&s.b, device_encode_call, NULL, NULL), 8 * samples + stream, NULL, 0);
    v.stage = -1;
}

static void report_decode_stages(double samples, double stream, double frame)
{
    static const struct {
        int stage;
        const char *name;
    } stages[] = { { TSR_DIRAC_RESIDUAL_DECODE, "device decode: slices" },
                   { TSR_DIRAC_WAVELET_TRANSFORM, "device decode: transform" },
                   { TSR_DIRAC_COMBINE, "device decode: samples" } };
    const double bytes[] = { stream + 4 * samples, 8 * samples, 4 * samples + frame };
    enum { TURNS = 20 };
    v.flight.stage = stage_begins;
    for (int k = 0; k < TURNS; k++) MUST(device_decode_call(NULL));
    v.flight.stage = NULL;
    for (int k = 0; k < 3; k++) {
        const double t = stage_seconds[stages[k].stage] / TURNS;
        report_pictures(stages[k].name, (bench_time){ t, t, t, TURNS }, bytes[k], NULL, 0);
    }
}

/* The film at hand, `ahead` pictures together; with `stages`, these too. */
static void measure_device_pictures(const char *what, int ahead, int stages, const char *bar)
{
    const double samples = (double)s.frame[0].bytes / 2, stream = (double)s.options.picture_bytes, frame = (double)s.frame[0].bytes;
    char name[96];
    int usable = 0;
    v.ahead = ahead;
    v.stage = -1;
    make_device_shapes();
    MUST(tsr_slice_coder_make(&v.coder, s.b.context, ahead, &v.transform, v.layout, s.options.picture_bytes, &usable));
    if (!usable) return;
    MUST(tsr_device_allocate(s.b.context, FRAMES * (size_t)s.frame[0].bytes, (void **)&v.planes));
    for (int t = 0; t < FRAMES; t++)
        MUST(s.b.context->backend->upload(s.b.context->queue, v.planes + (size_t)t * (size_t)s.frame[0].bytes, s.frame[t].plane[0],
                                          (size_t)s.frame[t].bytes));
    const bench_time encode = bench_measure(&s.b, device_encode_call, NULL, NULL);
    if (stages) report_encode_stages(samples, stream, frame);
    snprintf(name, sizeof name, "device encode, %s", what);
    report_pictures(name, encode, frame + stream, bar, 1e-4);
    if (board_flight()) {
        const bench_time decode = bench_measure(&s.b, device_decode_call, NULL, NULL);
        if (stages) report_decode_stages(samples, stream, frame);
        snprintf(name, sizeof name, "device decode, %s", what);
        report_pictures(name, decode, frame + stream, bar, 1e-4);
    }
    tsr_slice_flight_free(&v.flight);
    tsr_slice_coder_free(&v.coder);
    tsr_device_release(s.b.context, v.planes, FRAMES * (size_t)s.frame[0].bytes);
}

/* Frames of twice the width and height, each four times the one that was there: slices are as dear to code. */
static void enlarge_film(void)
{
    for (int t = 0; t < FRAMES; t++) {
        const tsr_video_frame small = s.frame[t];
        const tsr_video_format format = {
            .width = 2 * small.width[0], .height = 2 * small.height[0], .chroma = small.format.chroma, .bits = small.format.bits
        };
        s.frame[t] = (tsr_video_frame){ 0 };
        MUST(tsr_video_frame_create(&format, &s.frame[t]));
        for (int c = 0; c < 3; c++)
            for (int32_t y = 0; y < s.frame[t].height[c]; y++)
                for (int half = 0; half < 2; half++) {
                    const size_t row = 2 * (size_t)small.width[c];
                    memcpy((char *)s.frame[t].plane[c] + ((size_t)y * 2 + (size_t)half) * row,
                           (const char *)small.plane[c] + (size_t)(y % small.height[c]) * row, row);
                }
        tsr_video_frame destroyed = small;
        tsr_video_frame_destroy(&destroyed);
    }
}

/* ---- from and to the host ------------------------------------------------------------------------------------------------------------------ */

enum { ROUNDS = 6 };

/* One of several streams beside each other, each with a context of its own. */
static void *decode_beside(void *user)
{
    tsr_context *context = NULL;
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    tsr_dirac_decode_options o = TSR_DIRAC_DECODE_OPTIONS;
    tsr_video_frame frame = { 0 };
    pthread_barrier_t *barrier = (pthread_barrier_t *)user;
    options.device = s.b.device;
    options.threads = 1;
    MUST(tsr_context_create(&options, &context));
    o.ahead = DEVICE_AHEAD;
    for (int round = -1; round < ROUNDS; round++) {
        tsr_dirac_decoder *decoder = NULL;
        int more = 1;
        if (!round) pthread_barrier_wait(barrier);
        MUST(tsr_dirac_decoder_create(context, &o, &decoder));
        MUST(tsr_dirac_decoder_push(decoder, s.stream, s.size));
        MUST(tsr_dirac_decoder_end(decoder));
        while (more) MUST(tsr_dirac_decoder_next(decoder, &frame, NULL, &more));
        tsr_dirac_decoder_destroy(&decoder);
    }
    pthread_barrier_wait(barrier);
    tsr_video_frame_destroy(&frame);
    tsr_context_destroy(&context);
    return NULL;
}

static void *encode_beside(void *user)
{
    tsr_context *context = NULL;
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    tsr_dirac_encode_options o = s.options;
    tsr_dirac_encoder *encoder = NULL;
    pthread_barrier_t *barrier = (pthread_barrier_t *)user;
    const void *bytes;
    size_t size;
    options.device = s.b.device;
    options.threads = 1;
    MUST(tsr_context_create(&options, &context));
    o.ahead = DEVICE_AHEAD;
    MUST(tsr_dirac_encoder_create(context, &o, &encoder));
    for (int round = -1; round < ROUNDS; round++) {
        if (!round) pthread_barrier_wait(barrier);
        for (int t = 0; t < FRAMES; t++) MUST(tsr_dirac_encoder_frame(encoder, &s.frame[t], &bytes, &size));
    }
    pthread_barrier_wait(barrier);
    tsr_dirac_encoder_destroy(&encoder);
    tsr_context_destroy(&context);
    return NULL;
}

static void measure_beside(const char *what, void *(*work)(void *), int streams)
{
    pthread_t thread[DEVICE_STREAMS];
    pthread_barrier_t barrier;
    char name[96];
    pthread_barrier_init(&barrier, NULL, (unsigned)streams + 1);
    for (int k = 0; k < streams; k++)
        if (pthread_create(&thread[k], NULL, work, &barrier)) exit(1);
    pthread_barrier_wait(&barrier);
    const double began = bench_seconds();
    pthread_barrier_wait(&barrier);
    const double t = (bench_seconds() - began) / (ROUNDS * FRAMES * streams);
    for (int k = 0; k < streams; k++) pthread_join(thread[k], NULL);
    pthread_barrier_destroy(&barrier);
    snprintf(name, sizeof name, "%s, host to host, %d streams", what, streams);
    bench_report(&s.b, &(bench_case){ .name = name,
                                      .n = s.frame[0].bytes,
                                      .time = { t, t, t, 1 },
                                      .bytes = (double)s.frame[0].bytes + (double)s.size / FRAMES,
                                      .bar = streams > 1 ? ">= 5000 a second" : NULL,
                                      .holds = t <= 2e-4 });
    printf("  %.0f pictures a second\n", 1 / t);
}

static void make_device_film(void)
{
    make_film(s.b.quick ? 480 : 1920, s.b.quick ? 272 : 1080, TSR_CHROMA_422, 10);
    s.options = (tsr_dirac_encode_options)TSR_DIRAC_ENCODE_OPTIONS;
    s.options.format = s.frame[0].format;
    s.options.picture_bytes = s.frame[0].bytes * 1250000 / 8294400;
}

static void measure_device(void)
{
    make_device_film();
    measure_device_pictures("1080p 4:2:2 10 bits", DEVICE_AHEAD, 1, ">= 10000 a second");
    make_stream();
    for (int streams = 1; streams <= DEVICE_STREAMS; streams *= DEVICE_STREAMS) {
        measure_beside("encode", encode_beside, streams);
        measure_beside("decode", decode_beside, streams);
    }
    enlarge_film();
    s.options.format = s.frame[0].format;
    s.options.picture_bytes *= 4;
    measure_device_pictures("4K 4:2:2 10 bits, one frame", 1, 0, "<= 0.1 ms");
    measure_device_pictures("4K 4:2:2 10 bits, 8 frames together", DEVICE_AHEAD, 0, NULL);
}

/* The stream at hand again, and all its frames. */
static void decode_round(tsr_dirac_decoder *decoder)
{
    tsr_dirac_device_frame frame = TSR_DIRAC_DEVICE_FRAME;
    MUST(tsr_dirac_decoder_push(decoder, s.stream, s.size));
    for (int more = 1; more;) MUST(tsr_dirac_decoder_next_on_device(decoder, &frame, NULL, &more));
    MUST(tsr_context_synchronize(s.b.context));
}

/* The stages of the stream at hand, waited for and not, by a decoder that has had it once: its memory is there. The most of the stages of a device in
 * seconds a picture: device_bar; below 0: each stage is a case of its own. */
static void measure_stages(const char *what, double device_bar)
{
    static const char *const names[] = { "motion decode", "motion render", "residual decode", "wavelet transform", "combine", "upsample" };
    const int rounds = s.b.quick ? 1 : 4;
    for (int synchronise = 1; synchronise >= 0; synchronise--) {
        tsr_dirac_profile profile = TSR_DIRAC_PROFILE;
        tsr_dirac_decode_options o = TSR_DIRAC_DECODE_OPTIONS;
        tsr_dirac_decoder *decoder = NULL;
        double on_device = 0;
        profile.synchronise = synchronise;
        o.profile = &profile;
        MUST(tsr_dirac_decoder_create(s.b.context, &o, &decoder));
        decode_round(decoder);
        memset(profile.seconds, 0, sizeof profile.seconds);
        memset(profile.pictures, 0, sizeof profile.pictures);
        const double began = bench_seconds();
        for (int k = 0; k < rounds; k++) decode_round(decoder);
        const double all = bench_seconds() - began;
        tsr_dirac_decoder_destroy(&decoder);
        const int64_t count = profile.pictures[0] + profile.pictures[1] + profile.pictures[2];
        printf("  %s, ms a picture, %s: intra (%lld), one reference (%lld), two (%lld), all\n", what,
               synchronise ? "each stage waited for" : "as it runs", (long long)profile.pictures[0], (long long)profile.pictures[1],
               (long long)profile.pictures[2]);
        for (int k = 0; k < TSR_DIRAC_STAGES; k++) {
            double sum = 0;
            printf("    %-18s", names[k]);
            for (int kind = 0; kind < 3; kind++) {
                printf(" %9.4f", profile.pictures[kind] ? 1e3 * profile.seconds[k][kind] / (double)profile.pictures[kind] : 0);
                sum += profile.seconds[k][kind];
            }
            printf(" %9.4f\n", 1e3 * sum / (double)count);
            if (synchronise && device_bar < 0) {
                const double t = sum / (double)count;
                char stage[64];
                snprintf(stage, sizeof stage, "stage %s", names[k]);
                bench_report(&s.b, &(bench_case){ .name = stage, .n = s.frame[0].bytes, .time = { t, t, t, 1 } });
            }
            if (k != TSR_DIRAC_MOTION_DECODE && k != TSR_DIRAC_RESIDUAL_DECODE) on_device += sum;
        }
        printf("    whole %.4f\n", 1e3 * all / (double)count);
        if (!synchronise) continue;
        char name[96];
        const double t = on_device / (double)count;
        snprintf(name, sizeof name, "stages 2, 4, 5, 6: %s", what);
        bench_report(&s.b, &(bench_case){ .name = name,
                                          .n = s.frame[0].bytes,
                                          .time = { t, t, t, 1 },
                                          .bytes = (double)s.frame[0].bytes,
                                          .bar = device_bar > 0 ? ">= 4000 a second" : NULL,
                                          .holds = t <= device_bar });
    }
}

/* The stream at hand, its arithmetic codes decoded by threads of the CPU and by the device, frames staying there. */
static void measure_arithmetic(const char *what)
{
    static const int32_t together[] = { 0, 16, 64 };
    double by_threads = 0;
    for (size_t k = 0; k < sizeof together / sizeof *together; k++) {
        tsr_dirac_decode_options o = TSR_DIRAC_DECODE_OPTIONS;
        tsr_dirac_device_frame frame = TSR_DIRAC_DEVICE_FRAME;
        char name[128];
        double seconds[3];
        o.arithmetic = together[k];
        for (int run = -1; run < 3; run++) { /* the first makes memory */
            tsr_dirac_decoder *decoder = NULL;
            int more = 1;
            const double began = bench_seconds();
            MUST(tsr_dirac_decoder_create(s.b.context, &o, &decoder));
            for (int again = 0; again < (s.b.quick ? 2 : 64 / FRAMES); again++) MUST(tsr_dirac_decoder_push(decoder, s.stream, s.size));
            MUST(tsr_dirac_decoder_end(decoder));
            while (more) MUST(tsr_dirac_decoder_next_on_device(decoder, &frame, NULL, &more));
            MUST(tsr_context_synchronize(s.b.context));
            tsr_dirac_decoder_destroy(&decoder);
            if (run >= 0) seconds[run] = (bench_seconds() - began) / (s.b.quick ? 2 * FRAMES : 64);
        }
        const double low = fmin(fmin(seconds[0], seconds[1]), seconds[2]), high = fmax(fmax(seconds[0], seconds[1]), seconds[2]);
        const bench_time t = { .median = seconds[0] + seconds[1] + seconds[2] - low - high, .min = low, .max = high, .runs = 3 };
        if (together[k]) snprintf(name, sizeof name, "%s: codes on the device, %d pictures together", what, together[k]);
        else snprintf(name, sizeof name, "%s: codes on %d threads", what, s.b.threads);
        if (!together[k]) by_threads = t.median;
        bench_report(&s.b, &(bench_case){ .name = name,
                                          .n = s.frame[0].bytes,
                                          .time = t,
                                          .bytes = (double)s.frame[0].bytes + (double)s.size / FRAMES,
                                          .bar = together[k] ? "faster than the threads" : NULL,
                                          .holds = t.median < by_threads });
        printf("  %.0f pictures a second\n", 1 / t.median);
    }
}
