/* What a decoder holds in memory, and how far behind a live stream comes out. Included by bench_dirac.c, whose film and stream it uses. */

/* Bytes that are held now: on the CPU all of them, on a device those of its memory, too. */
static int64_t bytes_held(void)
{
    const struct mallinfo2 m = mallinfo2();
    const int64_t host = (int64_t)(m.uordblks + m.hblkhd);
    return s.b.context->device.kind == TSR_DEVICE_CPU ? host : host + tsr_context_memory(s.b.context)->current_bytes;
}

static int64_t reference_bytes(const tsr_dirac_decoder *d)
{
    int64_t all = 0;
    for (int k = 0; k < TSR_DIRAC_REFERENCES; k++) all += 4 * d->reference[k].elements * d->reference[k].bytes;
    return all;
}

/* The most that is held between frames of the stream at hand, beyond what was before, the caller's frame and what references take, in
 * pictures. */
static void measure_memory(const char *what)
{
    enum { LITTLE = 1 << 16 };
    const int64_t before = bytes_held();
    tsr_dirac_decoder *decoder = NULL;
    tsr_video_frame frame = { 0 };
    int64_t most = 0, references = 0;
    char name[128];
    int more = 0;
    MUST(tsr_dirac_decoder_create(s.b.context, NULL, &decoder));
    for (size_t at = 0; at < s.size; at += LITTLE) {
        MUST(tsr_dirac_decoder_push(decoder, s.stream + at, s.size - at < LITTLE ? s.size - at : LITTLE));
        if (at + LITTLE >= s.size) MUST(tsr_dirac_decoder_end(decoder));
        do {
            MUST(tsr_dirac_decoder_next(decoder, &frame, NULL, &more));
            const int64_t own = bytes_held() - before - reference_bytes(decoder) - frame.bytes; /* that one is the caller's */
            if (own <= most) continue;
            most = own;
            references = reference_bytes(decoder);
        } while (more);
    }
    tsr_dirac_decoder_destroy(&decoder);
    tsr_video_frame_destroy(&frame);
    const double pictures = (double)most / (double)s.frame[0].bytes;
    snprintf(name, sizeof name, "memory, %s: %.1f pictures beyond references", what, pictures);
    bench_report(&s.b, &(bench_case){ .name = name, .n = most, .time = { 1e-9, 1e-9, 1e-9, 1 }, .bar = "<= 12 pictures", .holds = pictures <= 12 });
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
