/* The parts of the plane sweep: its matrices against rays and points of the cameras, its stacks of pictures against sums and moments, scores of places of several
 * samples against those of finer places, what a level passes on. */
#include <math.h>

#include "device/backend.h"
#include "sweep_pinhole.h"
#include "vision/depth/sweep.h"

/* ---- geometry ------------------------------------------------------------------------------------------------------------------ */

static tsr_camera random_camera(uint64_t *state, int kind)
{
    tsr_camera c = pinhole(0, 0, 0, 40 + 30 * test_uniform(state));
    require_ok(tsr_camera_look_at(&c, (tsr_vec3){ test_uniform(state) - 0.5, test_uniform(state) - 0.5, 4 + test_uniform(state) },
                                  (tsr_vec3){ 0.3 * test_uniform(state), 0.3 * test_uniform(state), 0 }, (tsr_vec3){ 0.1, 1, 0 }));
    if (kind == 1) {
        c.projection = TSR_ORTHOGRAPHIC;
        c.height = 3;
    }
    c.offset[0] = kind == 0 ? 0.2 * test_uniform(state) : 0;
    return c;
}

/* Rows of the matrix, in float, against the ray of the depth camera's pixel and the projection of its points. */
static void matrices(void **unused)
{
    uint64_t state = test_seed();
    (void)unused;
    for (int n = 0; n < 300; n++) {
        const tsr_camera depth = random_camera(&state, n % 3 == 2), view = random_camera(&state, n % 5 == 4);
        tsr_plane_sweep_options o = TSR_PLANE_SWEEP_OPTIONS;
        tsr_planes_frame frame;
        double row[3][4];
        o.width = 320;
        o.height = 200;
        o.nearest = 2.5;
        o.farthest = n % 3 == 0 ? (double)INFINITY : 7;
        if (n % 3 == 2) o.farthest = 7;
        require_ok(tsr_planes_frame_make(&depth, &o, &frame));
        require_ok(tsr_planes_frame_rows(&frame, &view, 640, 480, row));
        tsr_planes_view_level level = { .width = 1 << 20, .height = 1 << 20 };
        for (int k = 0; k < 12; k++) level.row[k / 4][k % 4] = (float)row[k / 4][k % 4];
        const double pixel[2] = { 320 * test_uniform(&state), 200 * test_uniform(&state) }, t = 0.02 + 0.98 * test_uniform(&state);
        const double inverse = t / 2.5 + (isinf(o.farthest) ? 0 : (1 - t) / o.farthest), d = n % 3 == 2 ? 7 - t * 4.5 : 1 / inverse;
        tsr_vec3 origin, direction;
        double seen[2];
        require_ok(tsr_camera_ray(&depth, 320, 200, pixel, &origin, &direction));
        const tsr_vec3 point = { origin.x + d * direction.x, origin.y + d * direction.y, origin.z + d * direction.z };
        if (tsr_camera_project(&view, 640, 480, point, seen, NULL) != TSR_OK) continue;
        float q[3], at[2];
        level.width = level.height = 1 << 24;
        tsr_planes_ray(&level, (float)pixel[0], (float)pixel[1], q);
        double w = q[2] + (float)t * level.row[2][2];
        at[0] = (q[0] + (float)t * level.row[0][2]) / (float)w;
        at[1] = (q[1] + (float)t * level.row[1][2]) / (float)w;
        /* In double the same numbers; in float to 1e-4 pixels of places near the picture. */
        double r[3];
        for (int k = 0; k < 3; k++) r[k] = row[k][0] * pixel[0] + row[k][1] * pixel[1] + row[k][2] * t + row[k][3];
        assert_true(r[2] > 0 && fabs(r[0] / r[2] + 0.5 - seen[0]) < 1e-8 * (1 + fabs(seen[0])) &&
                    fabs(r[1] / r[2] + 0.5 - seen[1]) < 1e-8 * (1 + fabs(seen[1])));
        if (fabs(seen[0]) < 1000 && fabs(seen[1]) < 1000)
            assert_true(fabs((double)at[0] + 0.5 - seen[0]) < 1e-3 && fabs((double)at[1] + 0.5 - seen[1]) < 1e-3);
        /* And the depth. */
        double num = 0, den = 0;
        const double place[4] = { pixel[0], pixel[1], t, 1 };
        for (int k = 0; k < 4; k++) num += frame.numerator[k] * place[k], den += frame.denominator[k] * place[k];
        assert_true(fabs(num / den - d) < 1e-9 * d);
    }
}

/* Even steps of t are even steps of disparity. */
static void even_disparity(void **unused)
{
    (void)unused;
    tsr_plane_sweep_options o = TSR_PLANE_SWEEP_OPTIONS;
    tsr_planes_frame frame;
    double row[2][3][4], last = 0, step = 0;
    o.width = 640;
    o.height = 480;
    o.nearest = 2;
    o.farthest = 50;
    const tsr_camera left = pinhole(0, 0, 0, 50), right = pinhole(0.2, 0, 0, 50);
    require_ok(tsr_planes_frame_make(&left, &o, &frame));
    require_ok(tsr_planes_frame_rows(&frame, &left, 640, 480, row[0]));
    require_ok(tsr_planes_frame_rows(&frame, &right, 640, 480, row[1]));
    for (int n = 0; n <= 40; n++) {
        const double p[4] = { 411.5, 77.5, n / 40.0, 1 };
        double u[2] = { 0, 0 };
        for (int v = 0; v < 2; v++) {
            double q[3] = { 0, 0, 0 };
            for (int r = 0; r < 3; r++)
                for (int k = 0; k < 4; k++) q[r] += row[v][r][k] * p[k];
            u[v] = q[0] / q[2];
        }
        const double disparity = u[0] - u[1];
        if (n == 1) step = disparity - last;
        if (n > 1) assert_true(fabs(disparity - last - step) < 1e-9);
        last = disparity;
    }
    assert_true(step > 0 && fabs(last - 240 / tan(25 * 3.14159265358979323846 / 180) * 0.2 / 2) < 1e-9);
}

/* ---- stacks -------------------------------------------------------------------------------------------------------------------- */

enum { SW = 41, SH = 33 };

static void *take(tsr_context *context, size_t bytes)
{
    void *p;
    require_ok(tsr_device_allocate(context, bytes, &p));
    return p;
}

/* Means of boxes of 3^k pixels, of those that count, at every pixel: against a sum over the box. An impulse is seen by nine places: three taps twice. */
static void box_stack(void **unused)
{
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    const tsr_backend *b = context->backend;
    uint8_t image[SW * SH * 3], mask[SW * SH];
    (void)unused;
    for (int masked = 0; masked < 2; masked++) {
        for (int i = 0; i < SW * SH * 3; i++) image[i] = (uint8_t)(test_random(&state) >> 30);
        for (int i = 0; i < SW * SH; i++) mask[i] = !masked || test_uniform(&state) > 0.4;
        uint8_t *di = take(context, sizeof image), *dm = take(context, sizeof mask);
        uint32_t *s[3];
        float *mean = take(context, SW * SH * 16), got[SW * SH * 4];
        enum { MARGIN = 13, WIDE = SW + 2 * MARGIN, HIGH = SH + 2 * MARGIN };
        for (int k = 0; k < 3; k++) s[k] = take(context, WIDE * HIGH * 16);
        require_ok(b->fill(context->queue, s[0], 0, WIDE * HIGH * 16));
        require_ok(b->upload(context->queue, di, image, sizeof image));
        require_ok(b->upload(context->queue, dm, mask, sizeof mask));
        const tsr_planes_load_job load = { .width = SW, .height = SH, .margin = MARGIN, .channels = 3, .image = di, .mask = dm, .sums = s[0] };
        require_ok(b->planes->load(context->queue, &load, SW * SH));
        for (int k = 1, reach = 1; k <= 3; k++, reach *= 3) {
            tsr_planes_box_job box = { .width = WIDE, .height = HIGH, .reach = reach, .from = s[k == 1 ? 0 : 2], .to = s[1] };
            require_ok(b->planes->box(context->queue, &box, 4 * WIDE * HIGH));
            box.along_y = 1;
            box.from = s[1];
            box.to = s[2];
            require_ok(b->planes->box(context->queue, &box, 4 * WIDE * HIGH));
            const tsr_planes_mean_job job = { .width = SW, .margin = MARGIN, .from = s[2], .to = mean };
            require_ok(b->planes->mean(context->queue, &job, SW * SH));
            require_ok(b->download(context->queue, got, mean, sizeof got));
            const int half = (3 * reach - 1) / 2;
            for (int y = 0; y < SH; y++)
                for (int x = 0; x < SW; x++) {
                    int64_t sum[3] = { 0, 0, 0 }, count = 0;
                    for (int v = y - half; v <= y + half; v++)
                        for (int u = x - half; u <= x + half; u++) {
                            if (u < 0 || v < 0 || u >= SW || v >= SH || !mask[v * SW + u]) continue;
                            count++;
                            for (int c = 0; c < 3; c++) sum[c] += image[(v * SW + u) * 3 + c];
                        }
                    assert_true(got[(y * SW + x) * 4 + 3] == (count ? 1.0f : 0.0f));
                    for (int c = 0; c < 3 && count; c++) assert_true(got[(y * SW + x) * 4 + c] == (float)sum[c] / (float)count);
                }
        }
        /* One box of an impulse: nine places, no more. */
        uint32_t impulse[SW * SH * 4] = { 0 };
        impulse[(16 * SW + 20) * 4] = 1;
        require_ok(b->upload(context->queue, s[0], impulse, sizeof impulse));
        tsr_planes_box_job box = { .width = SW, .height = SH, .reach = 3, .from = s[0], .to = s[1] };
        require_ok(b->planes->box(context->queue, &box, 4 * SW * SH));
        box.along_y = 1;
        box.from = s[1];
        box.to = s[2];
        require_ok(b->planes->box(context->queue, &box, 4 * SW * SH));
        require_ok(b->download(context->queue, impulse, s[2], sizeof impulse));
        int places = 0;
        for (int i = 0; i < SW * SH * 4; i++) places += impulse[i] != 0;
        assert_int_equal(places, 9);
        tsr_device_release(context, di, sizeof image);
        tsr_device_release(context, dm, sizeof mask);
        tsr_device_release(context, mean, SW * SH * 16);
        for (int k = 0; k < 3; k++) tsr_device_release(context, s[k], WIDE * HIGH * 16);
    }
    tsr_context_destroy(&context);
}

/* The recursive Gaussian: a constant stays, an impulse keeps its sum and gets the variance of the box it stands for. */
static void recursive_gauss(void **unused)
{
    enum { N = 201 };
    tsr_context *context = test_context();
    const tsr_backend *b = context->backend;
    static float line[N * 4];
    (void)unused;
    for (int k = 1; k <= 3; k++) {
        const double sigma = sqrt((pow(9, k) - 1) / 12), q = sigma >= 2.5 ? 0.98711 * sigma - 0.96330 : 3.97156 - 4.14554 * sqrt(1 - 0.26891 * sigma);
        const double b0 = 1.57825 + 2.44413 * q + 1.4281 * q * q + 0.422205 * q * q * q;
        const double b1 = (2.44413 * q + 2.85619 * q * q + 1.26661 * q * q * q) / b0, b2 = -(1.4281 * q * q + 1.26661 * q * q * q) / b0,
                     b3 = 0.422205 * q * q * q / b0;
        tsr_planes_gauss_job job = { .width = N, .height = 1, .gain = (float)(1 - b1 - b2 - b3), .before = { (float)b1, (float)b2, (float)b3 } };
        for (int i = 0; i < N; i++) {
            line[4 * i] = 37;
            line[4 * i + 1] = i == N / 2;
            line[4 * i + 2] = line[4 * i + 3] = 0;
        }
        job.data = take(context, sizeof line);
        require_ok(b->upload(context->queue, job.data, line, sizeof line));
        require_ok(b->planes->gauss(context->queue, &job, 4));
        require_ok(b->download(context->queue, line, job.data, sizeof line));
        double sum = 0, mean = 0, variance = 0;
        for (int i = 0; i < N; i++) {
            assert_true(fabs((double)line[4 * i] - 37) < 1e-3);
            sum += (double)line[4 * i + 1];
            mean += i * (double)line[4 * i + 1];
        }
        mean /= sum;
        for (int i = 0; i < N; i++) variance += (i - mean) * (i - mean) * (double)line[4 * i + 1] / sum;
        print_message("level %d: variance %.3f of %.3f\n", k, variance, sigma * sigma);
        assert_true(fabs(sum - 1) < 1e-3 && fabs(mean - N / 2) < 0.01 &&
                    fabs(variance / (sigma * sigma) - 1) < (k > 1 ? 0.25 : 0.7)); /* narrow ones come out wider */
        tsr_device_release(context, job.data, sizeof line);
    }
    tsr_context_destroy(&context);
}

/* Halved pictures are box means at the centres of their texels, and between them something else: of a step, at the texel's border. */
static void halved_is_not_box(void **unused)
{
    enum { N = 16 };
    tsr_context *context = test_context();
    const tsr_backend *b = context->backend;
    float step[N * 2 * 4], half[N / 2 * 4];
    (void)unused;
    for (int i = 0; i < N * 2; i++) {
        const float v = i % N < 8 ? 0.0f : 100.0f;
        for (int k = 0; k < 4; k++) step[4 * i + k] = k == 3 ? 1.0f : v;
    }
    float *from = take(context, sizeof step), *to = take(context, sizeof half);
    require_ok(b->upload(context->queue, from, step, sizeof step));
    const tsr_planes_halve_job job = { .width = N, .height = 2, .half_width = N / 2, .from = from, .to = to };
    require_ok(b->planes->halve(context->queue, &job, N / 2));
    require_ok(b->download(context->queue, half, to, sizeof half));
    tsr_planes_view_level level = { .texels = half, .width = N / 2, .height = 1 };
    for (int i = 1; i < N / 2 - 1; i++) {
        float at[2] = { (float)i, 0.0f }, colour[3];
        assert_true(tsr_planes_colour(&level, at, colour));
        assert_true(colour[0] == 0.5f * (step[8 * i] + step[8 * i + 4])); /* the box of its two pixels */
    }
    /* One pixel to the left of the step's texel centre, the box of two pixels holds none of the bright side; the interpolation does. */
    float at[2] = { 3.5f - 0.25f, 0.0f }, colour[3];
    assert_true(tsr_planes_colour(&level, at, colour));
    assert_true(colour[0] > 20.0f);
    tsr_device_release(context, from, sizeof step);
    tsr_device_release(context, to, sizeof half);
    tsr_context_destroy(&context);
}

/* A straight edge between two depths: the median leaves it, the mean does not. */
static void median_keeps_edges(void **unused)
{
    enum { N = 12 };
    tsr_context *context = test_context();
    const tsr_backend *b = context->backend;
    float map[N * N], got[N * N];
    uint8_t states[N * N] = { 0 };
    (void)unused;
    for (int vertical = 0; vertical < 2; vertical++)
        for (int mean = 0; mean < 2; mean++) {
            for (int i = 0; i < N * N; i++) map[i] = (vertical ? i % N : i / N) < 5 ? 0.25f : 0.75f;
            float *from = take(context, sizeof map), *to = take(context, sizeof map);
            uint8_t *state = take(context, sizeof states), *out = take(context, sizeof states);
            require_ok(b->upload(context->queue, from, map, sizeof map));
            require_ok(b->upload(context->queue, state, states, sizeof states));
            const tsr_planes_median_job job = {
                .width = N, .height = N, .reach = 1, .mean = mean, .from = from, .state = state, .to = to, .to_state = out
            };
            require_ok(b->planes->median(context->queue, &job, N * N));
            require_ok(b->download(context->queue, got, to, sizeof got));
            assert_int_equal(memcmp(got, map, sizeof map) == 0, !mean);
            tsr_device_release(context, from, sizeof map);
            tsr_device_release(context, to, sizeof map);
            tsr_device_release(context, state, sizeof states);
            tsr_device_release(context, out, sizeof states);
        }
    tsr_context_destroy(&context);
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}
/* Maps with holes, against sorting: the lower middle of what is known in the window, the mean where that is asked for; held places keep theirs, empty ones get
 * one where a neighbour has one. */
static void medians_by_sorting(void **unused)
{
    enum { MW = 19, MH = 11 };
    float map[MW * MH], to[MW * MH];
    uint8_t states[MW * MH], out[MW * MH];
    uint64_t seed = test_seed();
    int64_t filled = 0, held = 0;
    (void)unused;
    for (int turn = 0; turn < 24; turn++) {
        const tsr_planes_median_job job = {
            .width = MW, .height = MH, .reach = 1 + turn % 2, .mean = turn / 2 % 2, .from = map, .state = states, .to = to, .to_state = out
        };
        const double known = turn % 3 ? 0.9 : 0.15;
        for (int i = 0; i < MW * MH; i++) {
            map[i] = (float)(test_random(&seed) % 16) / 16; /* equal ones, too */
            states[i] = test_uniform(&seed) < known ? (uint8_t)(test_random(&seed) % 2) : TSR_PLANES_EMPTY;
            if (states[i] == TSR_PLANES_EMPTY) map[i] = NAN;
        }
        for (int i = 0; i < MW * MH; i++) {
            float near[25], sum = 0;
            int count = 0;
            tsr_planes_median_at(&job, i);
            for (int y = i / MW - job.reach; y <= i / MW + job.reach; y++)
                for (int x = i % MW - job.reach; x <= i % MW + job.reach; x++) {
                    if (x < 0 || y < 0 || x >= MW || y >= MH || isnan(map[y * MW + x])) continue;
                    sum += map[y * MW + x];
                    near[count++] = map[y * MW + x];
                }
            qsort(near, (size_t)count, sizeof *near, by_value);
            if (states[i] == TSR_PLANES_HELD || !count) {
                held++;
                assert_true(!memcmp(&to[i], &map[i], sizeof *to) && out[i] == states[i]);
                continue;
            }
            filled += states[i] == TSR_PLANES_EMPTY;
            assert_int_equal(out[i], TSR_PLANES_SEARCHED);
            if (job.mean) assert_true(fabsf(to[i] - sum / (float)count) < 1e-6f);
            else assert_true(to[i] == near[(count - 1) / 2]);
        }
    }
    assert_true(filled > 100 && held > 100);
}

/* What a search finds follows from its scores: the first of the best, the best further than a step from it, the parabola through its neighbours, and what it holds
 * where too few views contribute or where no score is above `flat`. */
static void found_by_its_scores(void **unused)
{
    enum { VW = 40, VH = 32, KINDS = 11, PLACES = VW * VH };
    static float texels[3][VW * VH * 4], t[PLACES], score[PLACES], second[PLACES], scores[PLACES * KINDS], base[PLACES];
    static uint8_t count[PLACES], state[PLACES], base_state[PLACES];
    uint64_t seed = test_seed();
    int64_t met[6] = { 0 };
    (void)unused;
    for (int turn = 0; turn < 32; turn++) {
        tsr_planes_view_level view[3];
        for (int v = 0; v < 3; v++) {
            view[v] = (tsr_planes_view_level){ .texels = texels[v], .width = VW, .height = VH, .masked = 1 };
            for (int i = 0; i < VW * VH * 4; i++) texels[v][i] = i % 4 == 3 ? (float)(test_uniform(&seed) > 0.3) : (float)(test_random(&seed) % 3);
            view[v].row[0][0] = view[v].row[1][1] = view[v].row[2][3] = 1;
            view[v].row[0][2] = (float)(20 * v * test_uniform(&seed));
            view[v].row[0][3] = view[v].row[1][3] = -0.5f;
        }
        for (int i = 0; i < PLACES; i++) {
            base[i] = test_uniform(&seed) > 0.1 ? (float)test_uniform(&seed) : NAN;
            base_state[i] = (uint8_t)(test_random(&seed) % 2); /* searched or held */
        }
        const tsr_planes_search_job j = { .view = view,
                                          .views = 3,
                                          .measure = turn % 3,
                                          .window = 1,
                                          .least_count = 2,
                                          .width = VW,
                                          .height = VH,
                                          .spacing = 1,
                                          .samples = 1,
                                          .base = turn % 4 ? base : NULL,
                                          .base_state = base_state,
                                          .base_width = VW,
                                          .base_height = VH,
                                          .base_spacing = 1,
                                          .first = turn % 4 ? -0.3f : 0.0f,
                                          .step = turn % 4 ? 0.0625f : 0.1f,
                                          .hypotheses = KINDS,
                                          .parabola = turn / 4 % 2,
                                          .flat = turn / 8 % 2 ? 2.5f : 0.0f,
                                          .t = t,
                                          .score = score,
                                          .second = second,
                                          .count = count,
                                          .state = state,
                                          .scores = scores };
        for (int i = 0; i < PLACES; i++) tsr_planes_search_at(&j, i);
        for (int i = 0; i < PLACES; i++) {
            const float from = j.base ? base[i] : 0, *s = scores + i * KINDS;
            int at = -1;
            float other = 3.0e38f, worst = 0;
            if (isnan(from)) {
                assert_true(isnan(t[i]) && state[i] == TSR_PLANES_EMPTY && count[i] == 0);
                met[0]++;
                continue;
            }
            if (j.base && base_state[i] == TSR_PLANES_HELD && j.flat > 0) {
                assert_true(t[i] == from && state[i] == TSR_PLANES_HELD && count[i] == 0);
                met[1]++;
                continue;
            }
            for (int k = 0; k < KINDS; k++) {
                if (s[k] < 0) continue;
                worst = fmaxf(worst, s[k]);
                if (at < 0 || s[k] < s[at]) at = k;
            }
            for (int k = 0; at >= 0 && k < KINDS; k++)
                if (s[k] >= 0 && abs(k - at) > 1) other = fminf(other, s[k]);
            if (at < 0) {
                assert_int_equal(state[i], j.base ? TSR_PLANES_HELD : TSR_PLANES_EMPTY);
                assert_true(j.base ? t[i] == from : isnan(t[i]));
                met[2]++;
                continue;
            }
            assert_true(score[i] == s[at] && second[i] == other && count[i] >= 2 && count[i] <= 3);
            if (j.base && j.flat > 0 && worst <= j.flat) {
                assert_true(t[i] == from && state[i] == TSR_PLANES_HELD);
                met[3]++;
                continue;
            }
            double part = 0;
            if (j.parabola && at > 0 && at + 1 < KINDS && s[at - 1] >= 0 && s[at + 1] >= 0) {
                const double before = (double)s[at - 1], behind = (double)s[at + 1], curve = before - 2 * (double)s[at] + behind;
                if (curve > 0) part = 0.5 * (before - behind) / curve, met[4]++;
            }
            const double expected = fmin(fmax((double)from + (double)j.first + (at + part) * (double)j.step, 0), 1);
            if (!(fabs((double)t[i] - expected) < 1e-6)) fail_msg("turn %d, place %d: t %g, expected %g", turn, i, (double)t[i], expected);
            assert_int_equal(state[i], TSR_PLANES_SEARCHED);
            met[5]++;
        }
    }
    for (int k = 0; k < 6; k++) assert_true(met[k] > 20);
}

/* ---- places -------------------------------------------------------------------------------------------------------------------- */

/* Several samples a place are places of their own: the score of a place of s x s samples is the sum of those of the s x s places of a grid s times as fine,
 * about whose depths the level before says the same; fewer contributors than asked for anywhere, or t beyond its range, and there is none. Against a sum over
 * places of one sample, for every measure and number of views; spacings are powers of two, so that places are the same bits. */
static void samples_are_places(void **unused)
{
    enum { VW = 50, VH = 40, BW = 7, BH = 6, VIEWS = 3 };
    static float texels[VIEWS][VW * VH * 4], base[BW * BH];
    static uint8_t base_state[BW * BH];
    uint64_t state = test_seed();
    int64_t known = 0, missing = 0;
    (void)unused;
    for (int turn = 0; turn < 400; turn++) {
        tsr_planes_view_level view[VIEWS];
        for (int v = 0; v < VIEWS; v++) {
            view[v] = (tsr_planes_view_level){ .texels = texels[v], .width = VW, .height = VH, .masked = turn % 3 == 0 };
            for (int i = 0; i < VW * VH * 4; i++)
                texels[v][i] = i % 4 == 3 ? (float)(test_uniform(&state) > 0.2) : (float)(255 * test_uniform(&state));
            view[v].row[0][0] = view[v].row[1][1] = view[v].row[2][3] = 1;
            view[v].row[0][2] = (float)(6 * v * test_uniform(&state)); /* moves with t */
            view[v].row[1][2] = (float)(2 * test_uniform(&state) - 1);
            view[v].row[0][3] = view[v].row[1][3] = (float)(-0.5 * test_uniform(&state));
            view[v].row[2][2] = (float)(0.1 * test_uniform(&state));
        }
        for (int i = 0; i < BW * BH; i++) {
            base[i] = (float)(1.1 * test_uniform(&state));
            base_state[i] = test_uniform(&state) > 0.2 ? TSR_PLANES_SEARCHED : TSR_PLANES_HELD;
        }
        const int samples = 2 << turn % 2, measure = turn % 5;
        tsr_planes_search_job whole = { .view = view,
                                        .views = turn / 5 % 2 ? 2 : VIEWS,
                                        .measure = measure,
                                        .window = 3,
                                        .least_count = 2,
                                        .raw = turn / 10 % 2,
                                        .spacing = (float)samples,
                                        .samples = samples,
                                        .first = -0.25f,
                                        .step = 0.125f,
                                        .base_width = BW,
                                        .base_height = BH,
                                        .base_spacing = 8,
                                        .linear = turn / 20 % 2,
                                        .base_state = base_state };
        if (turn % 4) whole.base = base;
        tsr_planes_search_job fine = whole;
        fine.spacing = 1;
        fine.samples = 1;
        if (measure >= TSR_PLANES_CENSUS) whole.window = fine.window = 1; /* windows are as wide as the spacing */
        for (int i = 0; i < 60; i++) {
            const int32_t px = (int32_t)(test_random(&state) % (VW / samples)), py = (int32_t)(test_random(&state) % (VH / samples));
            const int32_t k = (int32_t)(test_random(&state) % 10);
            float score = -1, sum = 0;
            int32_t fewest = 1 << 30;
            const int32_t count = tsr_planes_score(&whole, px, py, 0, k, &score);
            for (int32_t n = 0; n < samples * samples && fewest >= 2; n++) {
                const int32_t x = px * samples + n % samples, y = py * samples + n / samples;
                float t, own = 0;
                tsr_planes_base(&fine, (float)x + 0.5f, (float)y + 0.5f, &t);
                const int32_t here = tsr_planes_score(&fine, x, y, t, k, &own);
                fewest = here < fewest ? here : fewest;
                sum += own;
            }
            assert_true(count >= 2 ? count == fewest : fewest < 2);
            if (count >= 2) assert_true(score == sum);
            else assert_true(score == -1);
            known += count >= 2;
            missing += count < 2;
        }
    }
    assert_true(known > 1000 && missing > 1000);
}

/* What the level before says between its places: a plane, bilinear; the nearest where it is asked to be, where the place was not searched, or where one of the
 * four has none. */
static void bases_are_planes(void **unused)
{
    enum { BW = 9, BH = 7 };
    float base[BW * BH], t;
    uint8_t base_state[BW * BH] = { 0 };
    (void)unused;
    for (int i = 0; i < BW * BH; i++) base[i] = 0.125f + 0.0625f * (float)(i % BW) + 0.03125f * (float)(i / BW);
    tsr_planes_search_job j = { .base = base, .base_state = base_state, .base_width = BW, .base_height = BH, .base_spacing = 4, .linear = 1 };
    for (int y = 0; y < 4 * BH * 2; y++)
        for (int x = 0; x < 4 * BW * 2; x++) {
            const float px = 0.5f * (float)x + 0.25f, py = 0.5f * (float)y + 0.25f;
            const double u = fmin(fmax((double)px / 4 - 0.5, 0), BW - 1), v = fmin(fmax((double)py / 4 - 0.5, 0), BH - 1);
            j.linear = 1;
            assert_int_equal(tsr_planes_base(&j, px, py, &t), TSR_PLANES_SEARCHED);
            assert_true(fabs((double)t - (0.125 + 0.0625 * u + 0.03125 * v)) < 1e-6);
            j.linear = 0;
            assert_int_equal(tsr_planes_base(&j, px, py, &t), TSR_PLANES_SEARCHED);
            assert_true(t == base[y / 8 * BW + x / 8]);
        }
    j.linear = 1;
    tsr_planes_base(&j, 4 * BW, 4 * BH, &t); /* at the far border: the last place */
    assert_true(t == base[BW * BH - 1]);
    base[3 * BW + 4] = NAN;
    assert_int_equal(tsr_planes_base(&j, 4 * 3.9f, 4 * 3.5f, &t), TSR_PLANES_SEARCHED); /* between 3 and 4 */
    assert_true(t == base[3 * BW + 3]);
    base_state[2 * BW + 2] = TSR_PLANES_HELD;
    assert_int_equal(tsr_planes_base(&j, 4 * 2.9f, 4 * 2.1f, &t), TSR_PLANES_HELD);
    assert_true(t == base[2 * BW + 2]);
    j.base = NULL;
    assert_int_equal(tsr_planes_base(&j, 5, 5, &t), TSR_PLANES_SEARCHED);
    assert_true(t == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(matrices),           cmocka_unit_test(even_disparity),
                                        cmocka_unit_test(box_stack),          cmocka_unit_test(recursive_gauss),
                                        cmocka_unit_test(halved_is_not_box),  cmocka_unit_test(median_keeps_edges),
                                        cmocka_unit_test(medians_by_sorting), cmocka_unit_test(found_by_its_scores),
                                        cmocka_unit_test(samples_are_places), cmocka_unit_test(bases_are_planes) };
    return cmocka_run_group_tests_name("plane sweep, its parts", tests, NULL, NULL);
}
