/* Films: Y4M byte for byte, chroma against a reference in double precision, numbered pictures, and processes played by small shell scripts. With
 * ffmpeg installed, it reads what we write and we read what it writes. */
#include "scratch.h"

#include <math.h>
#include <sys/wait.h>

/* ---- reference: BT.601 and BT.709 in double precision, from the constants of the recommendations --------------------------------- */

typedef struct {
    double kr, kb, y0, ys, c0, cs, most;
} standard;

static standard standard_of(const tsr_video_format *f)
{
    const double s = pow(2, f->bits - 8), full = pow(2, f->bits) - 1;
    standard r = { 0.299, 0.114, 16 * s, 219 * s, 128 * s, 224 * s, full };
    if (f->matrix == TSR_MATRIX_BT709) r.kr = 0.2126, r.kb = 0.0722;
    if (f->range == TSR_RANGE_FULL) r.y0 = 0, r.ys = full, r.cs = full;
    return r;
}
static double clamp(double v, double most) { return v < 0 ? 0 : v > most ? most : v; }
static void reference_rgb(const standard *s, double y, double cb, double cr, double rgb[3])
{
    const double l = (y - s->y0) / s->ys, b = (cb - s->c0) / s->cs * 2 * (1 - s->kb) + l, r = (cr - s->c0) / s->cs * 2 * (1 - s->kr) + l;
    rgb[0] = clamp(255 * r, 255);
    rgb[1] = clamp(255 * (l - s->kr * r - s->kb * b) / (1 - s->kr - s->kb), 255);
    rgb[2] = clamp(255 * b, 255);
}
static void reference_ycc(const standard *s, const double rgb[3], double ycc[3])
{
    const double l = s->kr * rgb[0] + (1 - s->kr - s->kb) * rgb[1] + s->kb * rgb[2];
    ycc[0] = s->y0 + s->ys * l;
    ycc[1] = s->c0 + s->cs * (rgb[2] - l) / (2 * (1 - s->kb));
    ycc[2] = s->c0 + s->cs * (rgb[0] - l) / (2 * (1 - s->kr));
}

/* Chroma at a real place in units of samples. */
static double between(const tsr_video_frame *f, int p, double x, double y)
{
    double sum = 0;
    x = fmin(fmax(x, 0), f->width[p] - 1);
    y = fmin(fmax(y, 0), f->height[p] - 1);
    for (int j = (int)y; j <= (int)y + 1 && j < f->height[p]; j++)
        for (int i = (int)x; i <= (int)x + 1 && i < f->width[p]; i++) {
            const double v = f->format.bits > 8 ? ((uint16_t *)f->plane[p])[j * f->width[p] + i] : ((uint8_t *)f->plane[p])[j * f->width[p] + i];
            sum += v * (1 - fabs(x - i)) * (1 - fabs(y - j));
        }
    return sum;
}

static void fill_random(tsr_video_frame *f, uint64_t *seed)
{
    for (int64_t i = 0; i < f->bytes; i++) ((uint8_t *)f->plane[0])[i] = (uint8_t)test_random(seed);
    for (int64_t i = 0; i < f->bytes / 2 && f->format.bits > 8; i++) ((uint16_t *)f->plane[0])[i] &= (uint16_t)((1 << f->format.bits) - 1);
}

/* The colours every table of the recommendations lists. */
static void known_colours(void **state)
{
    (void)state;
    static const struct {
        uint8_t rgb[3], bt601[3], bt709[3];
    } bars[] = {
        { { 255, 255, 255 }, { 235, 128, 128 }, { 235, 128, 128 } }, { { 0, 0, 0 }, { 16, 128, 128 }, { 16, 128, 128 } },
        { { 255, 0, 0 }, { 81, 90, 240 }, { 63, 102, 240 } },        { { 0, 255, 0 }, { 145, 54, 34 }, { 173, 42, 26 } },
        { { 0, 0, 255 }, { 41, 240, 110 }, { 32, 240, 118 } },
    };
    for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++)
        for (int m = 0; m < 2; m++) {
            tsr_video_format format = { .width = 1, .height = 1, .chroma = TSR_CHROMA_444, .matrix = m ? TSR_MATRIX_BT709 : TSR_MATRIX_DEFAULT };
            uint8_t rgb[3];
            memcpy(rgb, bars[i].rgb, 3);
            tsr_image image = { 1, 1, 3, rgb }, back = { 0 };
            tsr_video_frame frame;
            require_ok(tsr_video_frame_create(&format, &frame));
            require_ok(tsr_video_frame_from_image(&frame, &image));
            assert_memory_equal(frame.plane[0], m ? bars[i].bt709 : bars[i].bt601, 3);
            require_ok(tsr_video_frame_to_image(&frame, &back));
            for (int c = 0; c < 3; c++) assert_in_range(back.pixels[c] + 2, rgb[c], rgb[c] + 4);
            tsr_image_destroy(&back);
            tsr_video_frame_destroy(&frame);
        }
}

static void planes_to_image(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    static const int32_t bits[] = { 8, 10, 16 };
    for (int chroma = TSR_CHROMA_420; chroma <= TSR_CHROMA_MONO; chroma++)
        for (int n = 0; n < 3 * 2 * 2 * 3; n++) {
            tsr_video_format format = { .width = 13, .height = 7, .chroma = (tsr_chroma)chroma, .bits = bits[n % 3] };
            format.matrix = n / 3 % 2 ? TSR_MATRIX_BT709 : TSR_MATRIX_BT601;
            format.range = n / 6 % 2 ? TSR_RANGE_FULL : TSR_RANGE_LIMITED;
            format.siting = (tsr_siting)(n / 12);
            const double gx = chroma == TSR_CHROMA_444 ? 1 : chroma == TSR_CHROMA_411 ? 4 : 2, gy = chroma == TSR_CHROMA_420 ? 2 : 1;
            const double dx = chroma == TSR_CHROMA_420 && format.siting == TSR_SITING_CENTRE ? 0.5 : 0;
            const double dy = chroma == TSR_CHROMA_420 && format.siting != TSR_SITING_TOP_LEFT ? 0.5 : 0;
            tsr_video_frame frame;
            tsr_image image = { 0 };
            require_ok(tsr_video_frame_create(&format, &frame));
            const standard s = standard_of(&frame.format);
            fill_random(&frame, &seed);
            require_ok(tsr_video_frame_to_image(&frame, &image));
            assert_int_equal(image.channels, frame.planes);
            for (int y = 0; y < 7; y++)
                for (int x = 0; x < 13; x++) {
                    double rgb[3];
                    const double luma = between(&frame, 0, x, y), none = s.c0;
                    reference_rgb(&s, luma, frame.planes == 3 ? between(&frame, 1, (x - dx) / gx, (y - dy) / gy) : none,
                                  frame.planes == 3 ? between(&frame, 2, (x - dx) / gx, (y - dy) / gy) : none, rgb);
                    for (int c = 0; c < image.channels; c++) assert_true(fabs(image.pixels[(y * 13 + x) * image.channels + c] - rgb[c]) < 0.501);
                }
            tsr_image_destroy(&image);
            tsr_video_frame_destroy(&frame);
        }
}

/* Chroma of a picture that changes evenly is what lies at the sample's place, away from the border. */
static void image_to_planes(void **state)
{
    (void)state;
    for (int chroma = TSR_CHROMA_420; chroma <= TSR_CHROMA_MONO; chroma++)
        for (int n = 0; n < 12; n++) {
            tsr_video_format format = { .width = 22, .height = 10, .chroma = (tsr_chroma)chroma, .bits = n & 1 ? 12 : 8 };
            format.range = n & 2 ? TSR_RANGE_FULL : TSR_RANGE_LIMITED;
            format.siting = (tsr_siting)(n / 4);
            const int gx = chroma == TSR_CHROMA_444 ? 1 : chroma == TSR_CHROMA_411 ? 4 : 2, gy = chroma == TSR_CHROMA_420 ? 2 : 1;
            const double dx = chroma == TSR_CHROMA_420 && format.siting == TSR_SITING_CENTRE ? 0.5 : 0;
            const double dy = chroma == TSR_CHROMA_420 && format.siting != TSR_SITING_TOP_LEFT ? 0.5 : 0;
            tsr_video_frame frame;
            tsr_image image;
            require_ok(tsr_image_create(22, 10, 4, &image));
            for (int y = 0; y < 10; y++)
                for (int x = 0; x < 22; x++) {
                    const uint8_t pixel[4] = { (uint8_t)(20 + 8 * x), (uint8_t)(250 - 4 * x - 6 * y), (uint8_t)(30 + 12 * y), (uint8_t)(x * y) };
                    memcpy(image.pixels + 4 * (y * 22 + x), pixel, 4);
                }
            require_ok(tsr_video_frame_create(&format, &frame));
            const standard s = standard_of(&frame.format);
            require_ok(tsr_video_frame_from_image(&frame, &image));
            for (int p = 0; p < frame.planes; p++)
                for (int y = 1; y < frame.height[p] - 1; y++)
                    for (int x = 1; x < frame.width[p] - 1; x++) {
                        const double u = p ? x * gx + dx : x, v = p ? y * gy + dy : y;
                        const double rgb[3] = { (20 + 8 * u) / 255, (250 - 4 * u - 6 * v) / 255, (30 + 12 * v) / 255 };
                        double ycc[3];
                        reference_ycc(&s, rgb, ycc);
                        assert_true(fabs(between(&frame, p, x, y) - clamp(ycc[p], s.most)) < 0.501);
                    }
            tsr_image_destroy(&image);
            tsr_video_frame_destroy(&frame);
        }
}

/* ---- Y4M ------------------------------------------------------------------------------------------------------------------------ */

static void y4m_bytes(void **state)
{
    (void)state;
    static const char expected[] = "YUV4MPEG2 W3 H2 F30000:1001 It A1:1 C420jpeg XCOLORRANGE=LIMITED\nFRAME\n\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a"
                                   "FRAME\n\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14";
    const tsr_video_write_options options = { .struct_size = sizeof options, .aspect = { 1, 1 }, .interlacing = 't' };
    const tsr_video_format format = { .width = 3, .height = 2, .chroma = TSR_CHROMA_420 };
    tsr_video_writer *writer;
    tsr_video_frame frame;
    size_t size;
    require_ok(tsr_video_frame_create(&format, &frame));
    assert_int_equal(frame.bytes, 10);
    require_ok(tsr_video_writer_create(scratch("a.y4m"), 3, 2, 30000, 1001, &options, &writer));
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < 10; i++) ((uint8_t *)frame.plane[0])[i] = (uint8_t)(1 + 10 * n + i);
        require_ok(tsr_video_writer_append_frame(writer, &frame));
    }
    assert_int_equal(tsr_video_writer_frames(writer), 2);
    assert_int_not_equal(access(scratch("a.y4m"), F_OK), 0); /* not before it is complete */
    require_ok(tsr_video_writer_finish(&writer));
    assert_null(writer);
    char *bytes = (char *)scratch_read("a.y4m", &size);
    assert_int_equal(size, sizeof expected - 1);
    assert_memory_equal(bytes, expected, size);
    free(bytes);
    tsr_video_frame_destroy(&frame);

    tsr_video_reader *reader;
    int more;
    require_ok(tsr_video_reader_create(scratch("a.y4m"), NULL, &reader));
    const tsr_video_info *info = tsr_video_reader_info(reader);
    assert_int_equal(info->frames, 2);
    assert_int_equal(info->rate[0], 30000);
    assert_int_equal(info->rate[1], 1001);
    assert_int_equal(info->interlacing, 't');
    assert_int_equal(info->channels, 3);
    for (int n = 0; n < 2; n++) {
        require_ok(tsr_video_reader_next_frame(reader, &frame, &more));
        assert_int_equal(more, 1);
        assert_int_equal(((uint8_t *)frame.plane[2])[1], 10 + 10 * n);
    }
    require_ok(tsr_video_reader_next_frame(reader, &frame, &more));
    assert_int_equal(more, 0);
    require_ok(tsr_video_reader_next_frame(reader, &frame, &more)); /* and stays at the end */
    assert_int_equal(more, 0);
    tsr_video_reader_destroy(&reader);
    tsr_video_frame_destroy(&frame);
    tsr_file_kind kind;
    const char *name;
    require_ok(tsr_file_recognise(scratch("a.y4m"), &kind, &name));
    assert_int_equal(kind, TSR_FILE_VIDEO);
    assert_string_equal(name, "y4m");
    assert_true(tsr_video_recognise(scratch("a.y4m")) && tsr_video_recognise("x/b-%03d.png") && tsr_video_recognise("b.MP4"));
    assert_false(tsr_video_recognise("b.png") || tsr_video_recognise("-") || tsr_video_recognise("b.nii"));
    scratch_files(1);
}

static void y4m_round_trip(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    static const int32_t bits[] = { 8, 9, 10, 12, 14, 16 };
    for (int n = 0; n < 5 * 6 * 3; n++) {
        tsr_video_format format = {
            .width = 9, .height = 5, .chroma = (tsr_chroma)(1 + n % 5), .bits = bits[n / 5 % 6], .siting = (tsr_siting)(n / 30)
        };
        format.range = n & 1 ? TSR_RANGE_FULL : TSR_RANGE_LIMITED;
        format.matrix = n & 2 ? TSR_MATRIX_BT709 : TSR_MATRIX_BT601;
        const int known = format.bits == 8 ? 1 : format.chroma != TSR_CHROMA_411 && !(format.chroma == TSR_CHROMA_420 && format.siting);
        if (format.chroma != TSR_CHROMA_420 && format.siting) continue;
        const tsr_video_write_options options = { .struct_size = sizeof options,
                                                  .overwrite = 1,
                                                  .chroma = format.chroma,
                                                  .bits = format.bits,
                                                  .siting = format.siting,
                                                  .range = format.range,
                                                  .matrix = format.matrix };
        tsr_video_writer *writer;
        tsr_video_reader *reader;
        tsr_video_frame frame[2], back = { 0 };
        int more;
        require_ok(tsr_video_writer_create(scratch("r.y4m"), 9, 5, 0, 0, &options, &writer));
        for (int i = 0; i < 2; i++) {
            require_ok(tsr_video_frame_create(&format, &frame[i]));
            fill_random(&frame[i], &seed);
            if (known) require_ok(tsr_video_writer_append_frame(writer, &frame[i]));
            else require_error(tsr_video_writer_append_frame(writer, &frame[i]), TSR_ERROR_UNSUPPORTED, "Y4M has no word");
        }
        if (known) {
            require_ok(tsr_video_writer_finish(&writer));
            require_ok(tsr_video_reader_create(scratch("r.y4m"), NULL, &reader));
            for (int i = 0; i < 2; i++) {
                require_ok(tsr_video_reader_next_frame(reader, &back, &more));
                assert_true(more && back.bytes == frame[i].bytes && back.format.range == format.range && back.format.matrix == format.matrix &&
                            back.format.siting == format.siting);
                assert_memory_equal(back.plane[0], frame[i].plane[0], (size_t)back.bytes);
            }
            tsr_video_reader_destroy(&reader);
        }
        tsr_video_writer_destroy(&writer);
        tsr_video_frame_destroy(&frame[0]);
        tsr_video_frame_destroy(&frame[1]);
        tsr_video_frame_destroy(&back);
    }
    scratch_files(1);
}

static void bad_headers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        tsr_status code;
    } bad[] = {
        { "", "empty", TSR_ERROR_FORMAT },
        { "YUV4MPEG W2 H2\n", "does not begin with", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 W2 H2", "truncated in the line of the header", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 W2\n", "field H is missing", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 H2\n", "field W is missing", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 W0 H2\n", "'W0'", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 W-2 H2\n", "'W-2'", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 W2 H99999999999999999999\n", "'H9999", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 W2 H65536\n", "'H65536'", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 W2 W2 H2\n", "W occurs twice", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 W2 H2 F25\n", "'F25'", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 W2 H2 F25:0\n", "'F25:0'", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 W2 H2 A1:1x\n", "'A1:1x'", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 W2 H2 Iq\n", "'Iq'", TSR_ERROR_FORMAT },
        { "YUV4MPEG2 W2 H2 C444alpha\n", "'C444alpha'", TSR_ERROR_UNSUPPORTED },
        { "YUV4MPEG2 W2 H2 C420p11\n", "'C420p11'", TSR_ERROR_UNSUPPORTED },
        { "YUV4MPEG2 W2 H2 Z1\n", "'Z1' is not one of", TSR_ERROR_FORMAT },
    };
    tsr_video_reader *reader;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        scratch_write("bad.y4m", bad[i].text, strlen(bad[i].text));
        require_error(tsr_video_reader_create(scratch("bad.y4m"), NULL, &reader), bad[i].code, bad[i].says);
        assert_null(reader);
        assert_non_null(strstr(tsr_error_message(), "bad.y4m"));
    }
    char longest[2000];
    memset(longest, ' ', sizeof longest);
    memcpy(longest, "YUV4MPEG2 W2 H2", 15);
    scratch_write("bad.y4m", longest, sizeof longest);
    require_error(tsr_video_reader_create(scratch("bad.y4m"), NULL, &reader), TSR_ERROR_FORMAT, "over 1024 bytes");
    scratch_write("bad.y4m", "YUV4MPEG2 W2\0 H2\n", 17);
    require_error(tsr_video_reader_create(scratch("bad.y4m"), NULL, &reader), TSR_ERROR_FORMAT, "zero byte");
    require_error(tsr_video_reader_create(scratch("none.y4m"), NULL, &reader), TSR_ERROR_IO, "none.y4m: cannot open");
    require_error(tsr_video_reader_create(scratch_folder, NULL, &reader), TSR_ERROR_IO, "is a folder");
    const tsr_video_read_options odd = { .struct_size = sizeof odd, .format = "theora" };
    require_error(tsr_video_reader_create(scratch("bad.y4m"), &odd, &reader), TSR_ERROR_ARGUMENT, "'theora'");
    scratch_files(1);
}

/* A film cut off anywhere gives the frames before the cut, and an error unless it is cut between frames. */
static void cut_off(void **state)
{
    (void)state;
    static const char film[] = "YUV4MPEG2 W2 H1 Cmono F1:1\nFRAME\nabFRAME Ip XY\ncdFRAME\nef";
    static const size_t ends[] = { 27, 35, 49, 57 };
    for (size_t size = 27; size < sizeof film; size++) {
        tsr_video_reader *reader;
        tsr_image image = { 0 };
        int frames = 0, more = 1, whole = 0, expected = 0;
        scratch_write("cut.y4m", film, size);
        for (int i = 0; i < 4; i++) {
            whole |= ends[i] == size;
            expected += i && ends[i] <= size;
        }
        require_ok(tsr_video_reader_create(scratch("cut.y4m"), NULL, &reader));
        tsr_status status = TSR_OK;
        while (status == TSR_OK && more) {
            status = tsr_video_reader_next(reader, &image, &more);
            frames += more;
        }
        assert_int_equal(frames, expected);
        assert_int_equal(status, whole ? TSR_OK : TSR_ERROR_FORMAT);
        if (!whole) assert_non_null(strstr(tsr_error_message(), "cut.y4m"));
        tsr_image_destroy(&image);
        tsr_video_reader_destroy(&reader);
    }
    tsr_video_reader *reader;
    tsr_image image = { 0 };
    tsr_video_frame frame = { 0 };
    int more;
    scratch_write("cut.y4m", "YUV4MPEG2 W65535 H65535 C444p16\nFRAME\nx", 40); /* 26 GB are not asked for */
    require_ok(tsr_video_reader_create(scratch("cut.y4m"), NULL, &reader));
    tsr_status status = tsr_video_reader_next(reader, &image, &more);
    assert_true(status == TSR_ERROR_FORMAT || status == TSR_ERROR_MEMORY);
    tsr_video_reader_destroy(&reader);
    const tsr_video_read_options little = { .struct_size = sizeof little, .memory_limit = 1 };
    scratch_write("cut.y4m", film, sizeof film - 1);
    require_ok(tsr_video_reader_create(scratch("cut.y4m"), &little, &reader));
    require_error(tsr_video_reader_next(reader, &image, &more), TSR_ERROR_MEMORY, "over the memory limit of 1");
    tsr_video_reader_destroy(&reader);
    scratch_write("cut.y4m", "YUV4MPEG2 W2 H1 Cmono\nFRAMES\nab", 31);
    require_ok(tsr_video_reader_create(scratch("cut.y4m"), NULL, &reader));
    require_error(tsr_video_reader_next(reader, &image, &more), TSR_ERROR_FORMAT, "no frame at byte 22");
    tsr_video_reader_destroy(&reader);
    scratch_write("cut.y4m", "YUV4MPEG2 W2 H1 Cmono10\nFRAME\n\xff\x03\x00\x04", 34);
    require_ok(tsr_video_reader_create(scratch("cut.y4m"), NULL, &reader));
    require_error(tsr_video_reader_next_frame(reader, &frame, &more), TSR_ERROR_FORMAT, "1024 at (1, 0), over the largest of 10 bits");
    tsr_video_reader_destroy(&reader);
    tsr_video_frame_destroy(&frame);
    scratch_files(1);
}

/* ---- images, pictures ------------------------------------------------------------------------------------------------------------ */

static void paint(tsr_image *image, int n)
{
    for (int64_t i = 0; i < (int64_t)image->width * image->height * image->channels; i++) image->pixels[i] = (uint8_t)(40 + 17 * n + i % 97);
}

static void writer_mistakes(void **state)
{
    (void)state;
    tsr_video_writer *writer = NULL;
    tsr_image image, other;
    require_ok(tsr_image_create(6, 4, 3, &image));
    require_ok(tsr_image_create(4, 6, 3, &other));
    require_error(tsr_video_writer_create(scratch("film"), 6, 4, 25, 1, NULL, &writer), TSR_ERROR_ARGUMENT, "needs an extension");
    require_error(tsr_video_writer_create("-", 6, 4, 25, 1, NULL, &writer), TSR_ERROR_ARGUMENT, "standard output needs its format named");
    require_error(tsr_video_writer_create(scratch("a.y4m"), 0, 4, 25, 1, NULL, &writer), TSR_ERROR_ARGUMENT, "0 x 4 pixels");
    require_error(tsr_video_writer_create(scratch("a.y4m"), 6, 4, 25, 0, NULL, &writer), TSR_ERROR_ARGUMENT, "rate is 25 / 0");
    require_error(tsr_video_writer_create(scratch("a-%d.mp4"), 6, 4, 25, 1, NULL, &writer), TSR_ERROR_ARGUMENT, "expected an extension .png");
    tsr_video_write_options odd = { .struct_size = sizeof odd, .bits = 7 };
    require_error(tsr_video_check_output("a.y4m", &odd), TSR_ERROR_ARGUMENT, "bits is 7");
    odd = (tsr_video_write_options){ .struct_size = sizeof odd, .interlacing = 'x' };
    require_error(tsr_video_check_output("a.y4m", &odd), TSR_ERROR_ARGUMENT, "interlacing is 'x'");
    require_ok(tsr_video_check_output("a-%02d.png", NULL));

    require_ok(tsr_video_writer_create(scratch("a.y4m"), 6, 4, 25, 1, NULL, &writer));
    require_error(tsr_video_writer_append(writer, &other), TSR_ERROR_ARGUMENT, "4 x 6 pixels, expected 6 x 4");
    require_error(tsr_video_writer_finish(&writer), TSR_ERROR_STATE, "no frames");
    assert_null(writer);
    require_ok(tsr_video_writer_create(scratch("a.y4m"), 6, 4, 25, 1, NULL, &writer));
    require_ok(tsr_video_writer_append(writer, &image));
    tsr_video_writer_destroy(&writer); /* not finished: nothing stays */
    assert_int_equal(scratch_files(0), 0);
    scratch_write("a.y4m", "old", 3);
    require_error(tsr_video_writer_create(scratch("a.y4m"), 6, 4, 25, 1, NULL, &writer), TSR_ERROR_IO, "exists");
    tsr_image_destroy(&image);
    tsr_image_destroy(&other);
    scratch_files(1);
}

static void pictures(void **state)
{
    (void)state;
    const tsr_video_write_options options = { .struct_size = sizeof options, .first = 8 };
    tsr_video_writer *writer;
    tsr_video_reader *reader;
    tsr_image image, back = { 0 };
    int more;
    require_ok(tsr_image_create(5, 3, 4, &image));
    require_ok(tsr_video_writer_create(scratch("p-%02d.png"), 5, 3, 25, 1, &options, &writer));
    for (int n = 0; n < 3; n++) {
        paint(&image, n);
        require_ok(tsr_video_writer_append(writer, &image));
    }
    require_ok(tsr_video_writer_finish(&writer));
    assert_int_equal(scratch_files(0), 3);
    assert_int_equal(access(scratch("p-08.png"), F_OK) | access(scratch("p-09.png"), F_OK) | access(scratch("p-10.png"), F_OK), 0);
    require_ok(tsr_video_reader_create(scratch("p-%02d.png"), NULL, &reader)); /* finds the first by itself */
    assert_int_equal(tsr_video_reader_info(reader)->frames, 3);
    assert_int_equal(tsr_video_reader_info(reader)->channels, 4);
    for (int n = 0; n < 3; n++) {
        paint(&image, n);
        require_ok(tsr_video_reader_next(reader, &back, &more));
        assert_true(more && back.channels == 4);
        assert_memory_equal(back.pixels, image.pixels, 5 * 3 * 4);
    }
    require_ok(tsr_video_reader_next(reader, &back, &more));
    assert_int_equal(more, 0);
    tsr_video_reader_destroy(&reader);
    require_error(tsr_video_writer_create(scratch("p-%02d.png"), 5, 3, 25, 1, &options, &writer), TSR_ERROR_IO, "p-08.png: exists");
    require_error(tsr_video_reader_create(scratch("q-%02d.png"), NULL, &reader), TSR_ERROR_IO, "no picture of a number from 0 to 9");
    /* a picture in the way: what got its name before loses it again */
    const tsr_video_write_options early = { .struct_size = sizeof early, .first = 7 };
    require_ok(tsr_video_writer_create(scratch("p-%02d.png"), 5, 3, 25, 1, &early, &writer));
    require_ok(tsr_video_writer_append(writer, &image));
    require_ok(tsr_video_writer_append(writer, &image));
    require_error(tsr_video_writer_finish(&writer), TSR_ERROR_IO, "p-08.png");
    assert_int_equal(scratch_files(0), 3);
    /* pictures are replaced all together or not at all */
    const tsr_video_write_options over = { .struct_size = sizeof over, .first = 8, .overwrite = 1 };
    char *before, *after;
    size_t sizes[2];
    assert_int_equal(mkdir(scratch("p-12.png"), 0700), 0);
    before = (char *)scratch_read("p-09.png", &sizes[0]);
    require_ok(tsr_video_writer_create(scratch("p-%02d.png"), 5, 3, 25, 1, &over, &writer));
    memset(image.pixels, 77, 5 * 3 * 4);
    for (int n = 0; n < 6; n++) require_ok(tsr_video_writer_append(writer, &image));
    require_error(tsr_video_writer_finish(&writer), TSR_ERROR_IO, "p-12.png: cannot be given its name");
    assert_int_equal(scratch_files(0), 4); /* 8 to 10, and what is in the way */
    after = (char *)scratch_read("p-09.png", &sizes[1]);
    assert_true(sizes[0] == sizes[1] && !memcmp(before, after, sizes[0]));
    free(after);
    assert_int_equal(rmdir(scratch("p-12.png")), 0);
    assert_int_equal(chmod(scratch("p-09.png"), 0600), 0);
    require_ok(tsr_video_writer_create(scratch("p-%02d.png"), 5, 3, 25, 1, &over, &writer));
    for (int n = 0; n < 3; n++) require_ok(tsr_video_writer_append(writer, &image));
    require_ok(tsr_video_writer_finish(&writer));
    assert_int_equal(scratch_files(0), 3);
    after = (char *)scratch_read("p-09.png", &sizes[1]);
    assert_true(sizes[0] != sizes[1] || memcmp(before, after, sizes[0]));
    free(after);
    free(before);
    struct stat about;
    assert_true(!stat(scratch("p-09.png"), &about) && (about.st_mode & 0777) == 0600);
    for (int n = 0; n < 3; n++) { /* as they were, for what follows */
        char name[16];
        snprintf(name, sizeof name, "p-%02d.png", 8 + n);
        paint(&image, n);
        require_ok(tsr_image_write(&image, scratch(name), &(tsr_write_options){ .struct_size = sizeof(tsr_write_options), .overwrite = 1 }));
    }
    /* one of another size */
    tsr_image_destroy(&image);
    require_ok(tsr_image_create(4, 3, 4, &image));
    require_ok(tsr_image_write(&image, scratch("p-11.png"), NULL));
    const tsr_video_read_options from = { .struct_size = sizeof from, .first = 10 };
    require_ok(tsr_video_reader_create(scratch("p-%02d.png"), &from, &reader));
    require_ok(tsr_video_reader_next(reader, &back, &more));
    require_error(tsr_video_reader_next(reader, &back, &more), TSR_ERROR_FORMAT, "p-11.png: 4 x 3 pixels with 4 channels, expected 5 x 3");
    tsr_video_reader_destroy(&reader);
    /* one picture is a film */
    require_ok(tsr_video_reader_create(scratch("p-11.png"), NULL, &reader));
    assert_int_equal(tsr_video_reader_info(reader)->frames, 1);
    tsr_video_reader_destroy(&reader);
    tsr_image_destroy(&image);
    tsr_image_destroy(&back);
    scratch_files(1);
}

/* ---- processes ------------------------------------------------------------------------------------------------------------------ */

static const char *script(const char *name, const char *text)
{
    scratch_write(name, text, strlen(text));
    assert_int_equal(chmod(scratch(name), 0755), 0);
    return scratch(name);
}

static int calls_left;
static int cancel_after(void *user, double fraction, const char *stage)
{
    (void)user;
    (void)fraction;
    (void)stage;
    return calls_left-- <= 0;
}
static void no_child_left(void) { assert_true(waitpid(-1, NULL, WNOHANG) < 0); }

/* What a program that plays ffmpeg says is read; what it complains of is told. */
static void read_through_process(void **state)
{
    (void)state;
    tsr_video_reader *reader;
    tsr_image image = { 0 };
    int more;
    tsr_video_read_options options = TSR_VIDEO_READ_OPTIONS;
    scratch_write("film.mkv", "matroska", 8);
    options.ffmpeg = script("plays", "#!/bin/sh\nprintf 'YUV4MPEG2 W2 H1 Cmono F7:2\\nFRAME\\nABFRAME\\nCD'\n");
    require_ok(tsr_video_reader_create(scratch("film.mkv"), &options, &reader));
    assert_string_equal(tsr_video_reader_info(reader)->container, "ffmpeg");
    assert_int_equal(tsr_video_reader_info(reader)->frames, -1);
    assert_int_equal(tsr_video_reader_info(reader)->rate[0], 7);
    require_ok(tsr_video_reader_next(reader, &image, &more));
    require_ok(tsr_video_reader_next(reader, &image, &more));
    assert_true(more && image.channels == 1);
    assert_int_equal(image.pixels[1], (int)lround(255.0 * ('D' - 16) / 219));
    require_ok(tsr_video_reader_next(reader, &image, &more));
    assert_int_equal(more, 0);
    tsr_video_reader_destroy(&reader);

    /* a complaint counts, though the process ends in peace: ffmpeg's way with a file that is damaged or ends early */
    options.ffmpeg = script("warns", "#!/bin/sh\nprintf 'YUV4MPEG2 W2 H1 Cmono\\nFRAME\\nABFRAME\\nCD'\necho 'corrupt packet' >&2\n");
    require_ok(tsr_video_reader_create(scratch("film.mkv"), &options, &reader));
    for (int n = 0; n < 2; n++) require_ok(tsr_video_reader_next(reader, &image, &more));
    require_error(tsr_video_reader_next(reader, &image, &more), TSR_ERROR_FORMAT, "film.mkv: damaged or truncated after 2 frames: corrupt packet");
    tsr_video_reader_destroy(&reader);
    /* and so does the number of frames of the header, where fewer can be found (ffprobe lies beside the program) */
    scratch_write("ffprobe", "", 0);
    script("ffprobe", "#!/bin/sh\necho nb_frames=24\necho nb_read_packets=10\n");
    options.ffmpeg = script("ffmpeg", "#!/bin/sh\nprintf 'YUV4MPEG2 W2 H1 Cmono\\nFRAME\\nABFRAME\\nCD'\n");
    require_ok(tsr_video_reader_create(scratch("film.mkv"), &options, &reader));
    for (int n = 0; n < 2; n++) require_ok(tsr_video_reader_next(reader, &image, &more));
    require_error(tsr_video_reader_next(reader, &image, &more), TSR_ERROR_FORMAT, "truncated: 2 frames came, its header says 24");
    tsr_video_reader_destroy(&reader);
    options.ffmpeg = script("fails", "#!/bin/sh\necho 'no such codec' >&2\necho 'giving up' >&2\nexit 3\n");
    require_error(tsr_video_reader_create(scratch("film.mkv"), &options, &reader), TSR_ERROR_FORMAT,
                  "film.mkv: fails failed (exit code 3): no such codec; giving up");
    options.ffmpeg = script("dies", "#!/bin/sh\nprintf 'YUV4MPEG2 W2 H1 Cmono\\nFRAME\\nABFRAME\\nC'\nkill -9 $$\n");
    require_ok(tsr_video_reader_create(scratch("film.mkv"), &options, &reader));
    require_ok(tsr_video_reader_next(reader, &image, &more));
    require_error(tsr_video_reader_next(reader, &image, &more), TSR_ERROR_FORMAT, "ended by signal 9");
    tsr_video_reader_destroy(&reader);
    options.ffmpeg = "/nonexistent/ffmpeg";
    require_error(tsr_video_reader_create(scratch("film.mkv"), &options, &reader), TSR_ERROR_IO, "'/nonexistent/ffmpeg' is not installed");
    /* more complaints than a pipe holds do not stop it */
    options.ffmpeg = script("chatty", "#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' x >&2\nprintf 'YUV4MPEG2 W1 H1 Cmono\\nFRAME\\nA'\n");
    require_ok(tsr_video_reader_create(scratch("film.mkv"), &options, &reader));
    require_ok(tsr_video_reader_next(reader, &image, &more));
    tsr_video_reader_destroy(&reader);
    /* a program that hangs is waited for no longer than the caller wants, and is gone then */
    options.ffmpeg = script("hangs", "#!/bin/sh\nexec sleep 600\n");
    options.progress.report = cancel_after;
    calls_left = 1;
    require_error(tsr_video_reader_create(scratch("film.mkv"), &options, &reader), TSR_ERROR_CANCELLED, "cancelled");
    no_child_left();
    tsr_image_destroy(&image);
    scratch_files(1);
}

/* The last argument is the target: our films end in the file the program makes of them. */
static void write_through_process(void **state)
{
    (void)state;
    tsr_video_writer *writer;
    tsr_image image;
    size_t size;
    tsr_video_write_options options = TSR_VIDEO_WRITE_OPTIONS;
    require_ok(tsr_image_create(640, 300, 1, &image)); /* more than a socket holds */
    paint(&image, 1);
    options.codec = "of-choice";
    options.ffmpeg = script("keeps", "#!/bin/sh\nfor last; do :; done\ncat >\"${last#file:}\"\necho \"$*\" >>\"${last#file:}\"\n");
    require_ok(tsr_video_writer_create(scratch("out.mkv"), 640, 300, 0, 0, &options, &writer));
    require_ok(tsr_video_writer_append(writer, &image));
    assert_int_not_equal(access(scratch("out.mkv"), F_OK), 0);
    require_ok(tsr_video_writer_finish(&writer));
    char *bytes = (char *)scratch_read("out.mkv", &size);
    assert_int_equal(strncmp(bytes, "YUV4MPEG2 W640 H300 F25:1 Ip A0:0 Cmono", 39), 0);
    assert_non_null(strstr(bytes + size - 200, "-c:v of-choice"));
    free(bytes);
    assert_int_equal(scratch_files(0), 2); /* the film and the script: no temporary file */
    /* less than all was written, or something was said: no film, the old one stays */
    options.overwrite = 1;
    script("ffprobe", "#!/bin/sh\necho nb_read_packets=1\n");
    options.ffmpeg = script("ffmpeg", "#!/bin/sh\ncat >/dev/null\n");
    require_ok(tsr_video_writer_create(scratch("out.mkv"), 640, 300, 0, 0, &options, &writer));
    for (int n = 0; n < 2; n++) require_ok(tsr_video_writer_append(writer, &image));
    require_error(tsr_video_writer_finish(&writer), TSR_ERROR_IO, "ffmpeg wrote 1 of 2 frames");
    options.ffmpeg = script("full", "#!/bin/sh\ncase \"$*\" in *-version) exit 0;; esac\ncat >/dev/null\necho 'No space left on device' >&2\n");
    require_ok(tsr_video_writer_create(scratch("out.mkv"), 640, 300, 0, 0, &options, &writer));
    require_ok(tsr_video_writer_append(writer, &image));
    require_error(tsr_video_writer_finish(&writer), TSR_ERROR_IO, "could not write the film: No space left on device");
    bytes = (char *)scratch_read("out.mkv", &size);
    assert_int_equal(strncmp(bytes, "YUV4MPEG2 W640 H300 F25:1 Ip A0:0 Cmono", 39), 0);
    free(bytes);
    for (int k = 0; k < 3; k++) assert_int_equal(unlink(scratch(((const char *[]){ "ffprobe", "ffmpeg", "full" })[k])), 0);
    options.overwrite = 0;
    options.ffmpeg = script("refuses", "#!/bin/sh\ncase $4 in version) exit 0;; esac\necho 'width not even' >&2\nexit 1\n");
    require_ok(tsr_video_writer_create(scratch("two.mkv"), 640, 300, 24, 1, &options, &writer));
    tsr_status status = TSR_OK;
    for (int n = 0; n < 8 && status == TSR_OK; n++) status = tsr_video_writer_append(writer, &image);
    if (status == TSR_OK) status = tsr_video_writer_finish(&writer);
    assert_int_equal(status, TSR_ERROR_IO);
    assert_non_null(strstr(tsr_error_message(), "refuses failed (exit code 1): width not even"));
    tsr_video_writer_destroy(&writer);
    assert_int_equal(scratch_files(0), 3);
    options.ffmpeg = script("hangs", "#!/bin/sh\nexec sleep 600\n");
    options.progress.report = cancel_after;
    calls_left = 3;
    require_ok(tsr_video_writer_create(scratch("two.mkv"), 640, 300, 24, 1, &options, &writer));
    for (status = TSR_OK; status == TSR_OK;) status = tsr_video_writer_append(writer, &image);
    assert_int_equal(status, TSR_ERROR_CANCELLED);
    tsr_video_writer_destroy(&writer);
    no_child_left();
    assert_int_equal(scratch_files(0), 4);
    options.progress.report = NULL;
    options.ffmpeg = "/nonexistent/ffmpeg";
    require_error(tsr_video_writer_create(scratch("two.mkv"), 640, 300, 24, 1, &options, &writer), TSR_ERROR_IO, "not installed");
    tsr_image_destroy(&image);
    scratch_files(1);
}

/* H.264 halves chroma of whole pairs only: said before ffmpeg starts (which is not there), by the first frame at the latest. */
static void odd_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *name, *codec, *says;
        int32_t width, height;
    } films[] = { { "odd.mp4", NULL, "width 63 of a film in H.264, chroma 420, expected an even one", 63, 48 },
                  { "odd.mkv", NULL, "height 47 of a film in H.264, chroma 420, expected an even one", 64, 47 },
                  { "odd.avi", "libx264", "width 1 of a film", 1, 2 },
                  { "odd.webm", NULL, NULL, 63, 47 },
                  { "odd.mkv", "ffv1", NULL, 63, 47 } };
    for (size_t i = 0; i < sizeof films / sizeof *films; i++) {
        const tsr_video_write_options options = { .struct_size = sizeof options, .codec = films[i].codec, .ffmpeg = "/bin/cat" };
        tsr_video_writer *writer;
        tsr_image image = { 0 };
        require_ok(tsr_image_create(films[i].width, films[i].height, 3, &image));
        require_ok(tsr_video_writer_create(scratch(films[i].name), films[i].width, films[i].height, 25, 1, &options, &writer));
        if (films[i].says) {
            require_error(tsr_video_writer_begin(writer, 3), TSR_ERROR_ARGUMENT, films[i].says);
            require_error(tsr_video_writer_begin(writer, 2), TSR_ERROR_ARGUMENT, "2 channels, expected 1, 3 or 4");
        }
        const tsr_status status = tsr_video_writer_append(writer, &image);
        if (films[i].says) require_error(status, TSR_ERROR_ARGUMENT, films[i].says);
        else if (status == TSR_ERROR_ARGUMENT) fail_msg("%s: %s", films[i].name, tsr_error_message()); /* cat may have ended before the frame */
        tsr_video_writer_destroy(&writer);
        tsr_image_destroy(&image);
    }
    scratch_files(0);
}

/* The real one: it reads our Y4M and gives the same planes back through a lossless codec; its Y4M is ours. */
static void with_ffmpeg(void **state)
{
    (void)state;
    if (system("command -v ffmpeg >/dev/null 2>&1")) {
        print_message("ffmpeg is not installed: its films are not read\n");
        skip();
    }
    uint64_t seed = test_seed();
    for (int n = 0; n < 6; n++) {
        tsr_video_format format = { .width = 34, .height = 18, .chroma = (tsr_chroma)(1 + n % 3), .bits = n < 3 ? 8 : 10 };
        const tsr_video_write_options options = { .struct_size = sizeof options, .codec = "ffv1", .chroma = format.chroma, .bits = format.bits };
        tsr_video_writer *writer;
        tsr_video_reader *reader;
        tsr_video_frame frame[3], back = { 0 };
        int more;
        require_ok(tsr_video_writer_create(scratch("ours.mkv"), 34, 18, 10, 1, &options, &writer));
        for (int i = 0; i < 3; i++) {
            require_ok(tsr_video_frame_create(&format, &frame[i]));
            fill_random(&frame[i], &seed);
            require_ok(tsr_video_writer_append_frame(writer, &frame[i]));
        }
        require_ok(tsr_video_writer_finish(&writer));
        require_ok(tsr_video_reader_create(scratch("ours.mkv"), NULL, &reader));
        assert_int_equal(tsr_video_reader_info(reader)->format.chroma, format.chroma);
        assert_int_equal(tsr_video_reader_info(reader)->format.bits, format.bits);
        for (int i = 0; i < 3; i++) {
            require_ok(tsr_video_reader_next_frame(reader, &back, &more));
            assert_true(more && back.bytes == frame[i].bytes);
            assert_memory_equal(back.plane[0], frame[i].plane[0], (size_t)back.bytes);
            tsr_video_frame_destroy(&frame[i]);
        }
        require_ok(tsr_video_reader_next_frame(reader, &back, &more));
        assert_int_equal(more, 0);
        tsr_video_reader_destroy(&reader);
        tsr_video_frame_destroy(&back);
        scratch_files(1);
    }
    /* its colours: the same picture as PNG, made by ffmpeg from our 4:4:4 film, is ours within its rounding */
    char command[1024];
    tsr_image image, back = { 0 };
    tsr_video_writer *writer;
    require_ok(tsr_image_create(16, 8, 3, &image));
    paint(&image, 2);
    require_ok(tsr_video_writer_create(scratch("c.y4m"), 16, 8, 25, 1, NULL, &writer));
    require_ok(tsr_video_writer_append(writer, &image));
    require_ok(tsr_video_writer_finish(&writer));
    snprintf(command, sizeof command, "ffmpeg -v error -i %s -sws_flags accurate_rnd+full_chroma_int -pix_fmt rgb24 %s", scratch("c.y4m"),
             scratch("c.png"));
    assert_int_equal(system(command), 0);
    require_ok(tsr_image_read(scratch("c.png"), NULL, &back));
    for (int i = 0; i < 16 * 8 * 3; i++) assert_in_range(back.pixels[i] + 3, image.pixels[i], image.pixels[i] + 6);
    tsr_image_destroy(&image);
    tsr_image_destroy(&back);
    scratch_files(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_colours),
        cmocka_unit_test(planes_to_image),
        cmocka_unit_test(image_to_planes),
        cmocka_unit_test(y4m_bytes),
        cmocka_unit_test(y4m_round_trip),
        cmocka_unit_test(bad_headers),
        cmocka_unit_test(cut_off),
        cmocka_unit_test(writer_mistakes),
        cmocka_unit_test(pictures),
        cmocka_unit_test(read_through_process),
        cmocka_unit_test(write_through_process),
        cmocka_unit_test(odd_sizes),
        cmocka_unit_test(with_ffmpeg),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
