/* What a decoder holds in memory, and how far behind a live stream comes out. Included by bench_dirac.c, whose film and stream it uses. */

/* In pictures (dirac_held.h). */
static void measure_memory(const char *what)
{
    int64_t most = 0, references = 0;
    char name[128], bar[32];
    MUST(dirac_held(s.b.context, s.stream, s.size, &most, &references));
    const double pictures = (double)most / (double)s.frame[0].bytes;
    snprintf(name, sizeof name, "memory, %s: %.1f pictures beyond references", what, pictures);
    snprintf(bar, sizeof bar, "<= %d pictures", DIRAC_HELD_MOST);
    bench_report(&s.b, &(bench_case){ .name = name, .n = most, .time = { 1e-9, 1e-9, 1e-9, 1 }, .bar = bar, .holds = pictures <= DIRAC_HELD_MOST });
    printf("  %.1f MB, references %.1f MB, a picture %.2f MB\n", 1e-6 * (double)most, 1e-6 * (double)references, 1e-6 * (double)s.frame[0].bytes);
}

/* A frame goes into an encoder, its bytes into a decoder: pictures that this is behind, and seconds from the frame's coming to what comes out. */
static void measure_latency(const char *what)
{
    tsr_dirac_encoder *encoder = NULL;
    tsr_dirac_decoder *decoder = NULL;
    bench_time t = { .min = 1e9, .runs = 2 * FRAMES };
    double seconds[2 * FRAMES];
    int out = 0, behind = 0;
    char name[128];
    MUST(tsr_dirac_encoder_create(s.b.context, &s.options, &encoder));
    MUST(tsr_dirac_decoder_create(s.b.context, NULL, &decoder));
    for (int k = 0; k < 2 * FRAMES; k++) {
        const void *bytes;
        size_t size;
        int more = 1;
        const double began = bench_seconds();
        MUST(tsr_dirac_encoder_frame(encoder, &s.frame[k % FRAMES], &bytes, &size));
        MUST(tsr_dirac_decoder_push(decoder, bytes, size));
        for (; more; out += more) MUST(tsr_dirac_decoder_next(decoder, &s.decoded, NULL, &more));
        seconds[k] = bench_seconds() - began;
        if (k + 1 - out > behind) behind = k + 1 - out;
    }
    tsr_dirac_encoder_destroy(&encoder);
    tsr_dirac_decoder_destroy(&decoder);
    for (int k = 0; k < 2 * FRAMES; k++) {
        t.min = fmin(t.min, seconds[k]);
        t.max = fmax(t.max, seconds[k]);
        t.median += seconds[k] / (2 * FRAMES);
    }
    snprintf(name, sizeof name, "live, %s: %d pictures behind", what, behind);
    bench_report(&s.b, &(bench_case){ .name = name,
                                      .n = s.frame[0].bytes,
                                      .time = t,
                                      .bytes = 2 * (double)s.frame[0].bytes,
                                      .bar = s.options.coding == TSR_DIRAC_CODING_HIGH_QUALITY ? "<= 1 picture" : NULL,
                                      .holds = behind <= 1 });
}
