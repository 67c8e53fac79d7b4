/* Texts of scenes: those that come with the library, where their shapes lie, and what is wrong with others. Radiance pictures. */
#include "light_support.h"
#include <stdio.h>

#include "light/light.h"

static void built_in(void **unused)
{
    const tsr_light_scene_info *info = NULL;
    tsr_context *on = test_context();
    int32_t i = 0;
    (void)unused;
    for (; (info = tsr_light_scene_at(i)); i++) {
        tsr_light_scene *s;
        tsr_light_matter *m;
        tsr_light_matter_info about = TSR_LIGHT_MATTER_INFO;
        int32_t lights;
        require_ok(tsr_light_scene_parse(info->text, info->name, NULL, &s));
        require_ok(tsr_light_scene_matter(on, s, 24, NULL, &m));
        require_ok(tsr_light_matter_describe(m, &about));
        assert_true(about.least_index >= 1 - 1e-6 && about.empty < 1);
        assert_true(tsr_light_scene_sources(s, &lights) != NULL && lights > 0);
        assert_true(tsr_light_scene_camera(s)->fov > 0);
        tsr_light_matter_destroy(&m);
        tsr_light_scene_destroy(&s);
    }
    assert_true(i >= 6 && !tsr_light_scene_at(-1));
    tsr_context_destroy(&on);
}

/* Shapes fill their share of the box. */
static void shapes(void **unused)
{
    static const struct {
        const char *shape;
        double volume;
    } known[] = {
        { "sphere a 0 0 0 0.8", 4.0 / 3 * M_PI * 0.512 },
        { "ellipsoid a 0 0 0 0.8 0.5 0.6", 4.0 / 3 * M_PI * 0.24 },
        { "box a -0.5 -0.25 -0.75 0.5 0.75 0.25", 1 },
        { "cylinder a 0 0 -0.5 0.5 0.6", M_PI * 0.36 },
        { "torus a 0 0 0 0.6 0.2", 2 * M_PI * M_PI * 0.6 * 0.04 },
        { "revolve a 0 0 0 -0.5 0.7 -0.5 0.7 0.5 0 0.5", M_PI * 0.49 },
        { "prism a -0.5 0.5 -0.6 -0.6 0.6 -0.6 0 0.6", 0.72 },
        { "volume a test_light_cube.nrrd 0 0 0 1 0 2", 9 * 9 * 9 / 512.0 }, /* half a cell beyond the outermost of nine samples */
    };
    tsr_context *on = test_context();
    tsr_write_options over = TSR_WRITE_OPTIONS;
    tsr_volume *cube;
    (void)unused;
    over.overwrite = 1;
    require_ok(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 9, 9, 9 }, NULL, &cube));
    memset(tsr_volume_data(cube), 2, 9 * 9 * 9);
    require_ok(tsr_volume_write(cube, "test_light_cube.nrrd", &over));
    tsr_volume_destroy(&cube);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[512];
        tsr_light_scene *s;
        tsr_light_matter *m;
        snprintf(text, sizeof text, "tessera-light 1\nbox -1 -1 -1 1 1 1\ncamera 0 -5 0 0 0 0 30\nmaterial a absorb 1 1 1\nshape %s\n",
                 known[i].shape);
        require_ok(tsr_light_scene_parse(text, "known", NULL, &s));
        require_ok(tsr_light_scene_matter(on, s, 24, NULL, &m)); /* of fewer voxels the soft edge of a thin ring is more than the ring */
        /* parallel rays lose 1 - exp(-d) on their way d: together at least half of what they would lose if it were d, the volume */
        const tsr_light_source light = { .kind = TSR_LIGHT_DIRECTIONAL, .direction = { 0, 0, -1 }, .color = { 1, 1, 1 } };
        tsr_light_report r = TSR_LIGHT_REPORT;
        tsr_light_field *f;
        tsr_light_options o = TSR_LIGHT_OPTIONS;
        o.capacity = 50000;
        o.grid = 16;
        o.steps = 120;
        require_ok(tsr_light_simulate(on, m, &light, 1, &o, &f, &r));
        if (!(r.absorbed[0] > 0.45 * known[i].volume && r.absorbed[0] < 1.02 * known[i].volume))
            fail_msg("%s: %g of a volume of %g", known[i].shape, r.absorbed[0], known[i].volume);
        tsr_light_field_destroy(&f);
        tsr_light_matter_destroy(&m);
        tsr_light_scene_destroy(&s);
    }
    tsr_context_destroy(&on);
}

/* Is p in the shape? By its definition, not by its distance. */
static int in_sphere(const double p[3]) { return pow(p[0] - 0.35, 2) + pow(p[1] + 0.3, 2) + pow(p[2] - 0.05, 2) < 0.6 * 0.6; }
static int in_ellipsoid(const double p[3]) { return pow((p[0] - 0.1) / 0.8, 2) + pow((p[1] + 0.4) / 0.5, 2) + pow((p[2] - 0.05) / 0.6, 2) < 1; }
static int in_cushion(const double p[3]) { return pow(p[0] / 0.8, 4) + pow((p[1] - 0.1) / 0.5, 4) + pow(p[2] / 0.6, 4) < 1; }
static int in_box(const double p[3]) { return fabs(p[0]) < 0.5 && fabs(p[1] - 0.25) < 0.5 && fabs(p[2] + 0.25) < 0.5; }
static int in_cylinder(const double p[3]) { return hypot(p[0] - 0.35, p[1] + 0.3) < 0.6 && p[2] > -0.6 && p[2] < 0.5; }
static int in_torus(const double p[3]) { return hypot(hypot(p[0] - 0.2, p[1] + 0.2) - 0.45, p[2] + 0.5) < 0.3; }
static int in_cone(const double p[3]) { return p[2] > -0.7 && p[2] < 0.6 && hypot(p[0] - 0.3, p[1] + 0.2) < 0.7 - 0.4 * (p[2] + 0.7) / 1.3; }
static int in_prism(const double p[3]) { return p[1] > -0.5 && p[1] < 0.6 && p[2] > -0.6 && fabs(p[0]) < 0.7 * (0.7 - p[2]) / 1.3; }
static int in_letter(const double p[3]) /* L: down, and to the right */
{
    const double down = fmin(fmax(p[2], -0.6), 0.6), right = fmin(fmax(p[0], -0.7), 0.1);
    return hypot(hypot(p[0] + 0.7, p[2] - down), p[1] - 0.1) < 0.25 || hypot(hypot(p[0] - right, p[2] + 0.6), p[1] - 0.1) < 0.25;
}
static int in_cut_sphere(const double p[3]) { return in_sphere(p) && p[2] > -0.3 && p[2] < 0.4; }
static int in_cut_torus(const double p[3]) { return in_torus(p) && p[2] > -0.7 && p[2] < -0.3; }
static int in_mesh(const double p[3]) { return fabs(p[0] - 0.1) < 0.7 && fabs(p[1] + 0.1) < 0.49 && fabs(p[2] - 0.05) < 0.35; }
static int in_cube(const double p[3]) { return fabs(p[0] - 0.1) < 0.5625 && fabs(p[1]) < 0.5625 && fabs(p[2] + 0.1) < 0.5625; }
static int in_part(const double p[3]) { return fabs(p[0] - 0.3) < 0.4 && fabs(p[1]) < 0.5 && fabs(p[2] + 0.2) < 0.6; }

/* Files of a mesh (2 x 1.4 x 1, far from the origin), of a volume and of a scene. */
static void write_parts(void)
{
    tsr_write_options over = TSR_WRITE_OPTIONS;
    tsr_volume *cube;
    over.overwrite = 1;
    require_ok(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 9, 9, 9 }, NULL, &cube));
    memset(tsr_volume_data(cube), 2, 9 * 9 * 9);
    require_ok(tsr_volume_write(cube, "test_light_part.nrrd", &over));
    tsr_volume_destroy(&cube);
    FILE *file = fopen("test_light_part.obj", "w");
    assert_non_null(file);
    for (int k = 0; k < 8; k++) fprintf(file, "v %g %g %g\n", 3 + (k & 1 ? 2.0 : 0), -5 + (k & 2 ? 1.4 : 0), 7 + (k & 4 ? 1.0 : 0));
    fprintf(file, "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
    assert_int_equal(fclose(file), 0);
    file = fopen("test_light_part.txt", "w");
    assert_non_null(file);
    fprintf(file, "tessera-light 1\nbox -1 -1 -1 1 1 1\ncamera 0 -5 0 0 0 0 30\nmaterial b absorb 1 1 1\nshape box b -0.4 -0.5 -0.6 0.4 0.5 0.6\n");
    assert_int_equal(fclose(file), 0);
}

/* Wherever a voxel and all around it lie in a shape, the shape covers it; where none does, it is empty. */
static void places(void **unused)
{
    static const struct {
        const char *line;
        int (*in)(const double p[3]);
        int32_t margin; /* voxels */
    } known[] = {
        { "shape sphere a 0.35 -0.3 0.05 0.6", in_sphere, 1 },
        { "shape ellipsoid a 0.1 -0.4 0.05 0.8 0.5 0.6", in_ellipsoid, 1 },
        { "shape ellipsoid a 0 0.1 0 0.8 0.5 0.6 4", in_cushion, 1 },
        { "shape box a -0.5 -0.25 -0.75 0.5 0.75 0.25", in_box, 1 },
        { "shape cylinder a 0.35 -0.3 -0.6 0.5 0.6", in_cylinder, 1 },
        { "shape torus a 0.2 -0.2 -0.5 0.45 0.3", in_torus, 1 },
        { "shape revolve a 0.3 -0.2 0 -0.7 0.7 -0.7 0.3 0.6 0 0.6", in_cone, 1 },
        { "shape prism a -0.5 0.6 -0.7 -0.6 0.7 -0.6 0 0.7", in_prism, 1 },
        { "shape text a -0.7 0.1 -0.6 1.2 0.25 L", in_letter, 1 },
        { "shape sphere a 0.35 -0.3 0.05 0.6 clip -0.3 0.4", in_cut_sphere, 1 },
        { "shape torus a 0.2 -0.2 -0.5 0.45 0.3 clip -0.7 -0.3", in_cut_torus, 1 },
        { "shape mesh a test_light_part.obj 0.1 -0.1 0.05 1.4", in_mesh, 2 },
        { "shape volume a test_light_part.nrrd 0.1 0 -0.1 1 0 2", in_cube, 3 }, /* half a cell beyond the outermost of nine samples */
        { "scene test_light_part.txt 0.3 0 -0.2", in_part, 1 },
    };
    tsr_context *on = test_context();
    (void)unused;
    write_parts();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[512];
        tsr_light_scene *s;
        tsr_light_matter *m;
        snprintf(text, sizeof text, "tessera-light 1\nbox -1 -1 -1 1 1 1\nsmooth 0.1\ncamera 0 -5 0 0 0 0 30\nmaterial a absorb 1 1 1\n%s\n",
                 known[i].line);
        require_ok(tsr_light_scene_parse(text, "known", NULL, &s));
        require_ok(tsr_light_scene_matter(on, s, 40, NULL, &m));
        const int32_t *n = m->medium.size;
        const int64_t count = (int64_t)n[0] * n[1] * n[2];
        float *dim = (float *)malloc((size_t)count * 16);
        uint8_t *in = (uint8_t *)malloc((size_t)count);
        const int32_t margin = known[i].margin;
        int64_t full = 0, empty = 0;
        require_ok(tsr_device_move(NULL, dim, on, m->medium.dim, (size_t)count * 16));
        for (int64_t v = 0; v < count; v++) {
            const int64_t at[3] = { v % n[0], v / n[0] % n[1], v / n[0] / n[1] };
            double p[3];
            for (int k = 0; k < 3; k++) p[k] = m->origin[k] + m->voxel * (double)at[k];
            in[v] = (uint8_t)known[i].in(p);
        }
        for (int64_t v = 0; v < count; v += 3) {
            const int32_t x = (int32_t)(v % n[0]), y = (int32_t)(v / n[0] % n[1]), z = (int32_t)(v / n[0] / n[1]);
            int least = 1, most = 0;
            for (int32_t c = tsr_maxi(z - margin, 0); c <= tsr_mini(z + margin, n[2] - 1); c++)
                for (int32_t b = tsr_maxi(y - margin, 0); b <= tsr_mini(y + margin, n[1] - 1); b++)
                    for (int32_t a = tsr_maxi(x - margin, 0); a <= tsr_mini(x + margin, n[0] - 1); a++) {
                        const int is = in[((int64_t)c * n[1] + b) * n[0] + a];
                        least &= is;
                        most |= is;
                    }
            if (least != most) continue;
            const double cover = (double)dim[v * 4] / m->voxel;
            full += least;
            empty += !least;
            if (fabs(cover - least) > 1e-3) fail_msg("%s: voxel %d %d %d is covered by %g, expected %d", known[i].line, x, y, z, cover, least);
        }
        if (full < 20 || empty < 1000) fail_msg("%s: %d voxels within, %d outside", known[i].line, (int)full, (int)empty);
        free(in);
        free(dim);
        tsr_light_matter_destroy(&m);
        tsr_light_scene_destroy(&s);
    }
    tsr_context_destroy(&on);
}

static void mistakes(void **unused)
{
#define HEAD "tessera-light 1\nbox 0 0 0 1 1 1\ncamera 3 3 3 0 0 0 40\n"
    static const struct {
        const char *text, *says;
    } wrong[] = {
        { "", "the text is empty" },
        { "tessera-light 2\n", "version '2' of scenes" },
        { "box 0 0 0 1 1 1\n", "a scene begins with 'tessera-light 1'" },
        { "tessera-light 1\ncamera 3 3 3 0 0 0 40\n", "there is no box" },
        { "tessera-light 1\nbox 0 0 0 1 1 1\n", "there is no camera" },
        { "tessera-light 1\nbox 0 0 0 1 0 1\n", "line 2: the box ends at 0 where it begins at 0" },
        { HEAD "shape sphere glass 0 0 0 1\n", "line 4: there is no material 'glass' above" },
        { HEAD "shape sphere air 0 0 0\n", "line 4: the line ends where a radius is expected" },
        { HEAD "shape sphere air 0 0 zero 1\n", "line 4: 'zero' is no number" },
        { HEAD "shape pear air 0\n", "'pear' is no shape" },
        { HEAD "material glass index 0\n", "index is 0, expected 0.05 to 10" },
        { HEAD "material glass g 1\n", "g is 1, expected" },
        { HEAD "material glass absorb -1 0 0\n", "absorb is -1" },
        { HEAD "material air index 2\n", "there is a material 'air' already" },
        { HEAD "light directional 0 0 0 1 1 1\n", "the light's direction is 0" },
        { HEAD "light lamp 0\n", "'lamp' is no light" },
        { HEAD "light point 0 0 0 1 1 1 mask x.png\n", "a point light has no mask" },
        { HEAD "light spot 0 0 3 0 0 -1 20 0 1 1 1 mask ../x.png\n", "expected one beside the scene" },
        { HEAD "floor 0.5\n", "the floor's height is 0.5, expected at most 0" },
        { HEAD "shape text air 0 0 0 1 0.1 A\xc3\xa4\n", "has no strokes" },
        { HEAD "shape revolve air 0 0 1 1 2 2\n", "2 points, expected 3 at least" },
        { HEAD "shape revolve air 0 0 -1 1 2 2 3 3\n", "expected at least 0" },
        { HEAD "simulate gather layers 2\n", "layers are of the strongest rays" },
        { HEAD "resolution 12.5\n", "expected a whole number" },
        { HEAD "resolution 64 64\n", "'64': expected the end of the line" },
        { HEAD "smooth 1 throughout\n", "'throughout': expected the end of the line" },
        { HEAD "glitter\n", "'glitter': expected box" },
        { "tessera-light 1\nbox 0 0 0 1 1 1\ncamera 0 0 0 0 0 0 40\n", "the camera looks nowhere" },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tsr_light_scene *s = NULL;
        require_error(tsr_light_scene_parse(wrong[i].text, "some.txt", NULL, &s), TSR_ERROR_FORMAT, wrong[i].says);
        assert_null(s);
    }
    tsr_light_scene *s;
    require_ok(
        tsr_light_scene_parse("# all on one\ntessera-light 1 # here\r\nbox 0 0 0 \\\n 1 1 1\n\ncamera 3 3 3 0 0 0 40 0 1 0\n", "lines", NULL, &s));
    tsr_light_scene_destroy(&s);
    require_error(tsr_light_scene_read("there-is-none.txt", NULL, &s), TSR_ERROR_IO, "there-is-none.txt");
    static const char *const files[] = { "shape mesh air there-is-none.ply 0 0 0 1", "shape volume air there-is-none.nrrd 0 0 0 1",
                                         "scene there-is-none.txt 0 0 0", "panorama there-is-none.hdr",
                                         "light spot 0 0 3 0 0 -1 20 0 1 1 1 mask there-is-none.png" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) { /* which line asked for a file that is missing */
        char text[200];
        snprintf(text, sizeof text, "%s%s\n", HEAD, files[i]);
        require_error(tsr_light_scene_parse(text, "some.txt", NULL, &s), TSR_ERROR_IO, "some.txt, line 4: there-is-none");
    }
}

/* A panorama of these bytes, by way of a file. */
static tsr_status panorama_of(const uint8_t *bytes, size_t size, tsr_volume **map)
{
    FILE *file = fopen("panorama.hdr", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    const tsr_status status = tsr_panorama_read("panorama.hdr", NULL, map);
    remove("panorama.hdr");
    return status;
}

/* Rays through a ball, from all sides, go where Snell's law sends them, wherever its surface lies between voxels. */
static void ball(void **unused)
{
    enum { RAYS = 512 };
    static tsr_light_ray rays[RAYS];
    static double wanted[RAYS][3];
    tsr_context *on = test_context();
    tsr_light_scene *s;
    tsr_light_matter *m;
    double squares = 0;
    (void)unused;
    require_ok(tsr_light_scene_parse(
        "tessera-light 1\nbox -1.1 -1.1 -1.1 1.1 1.1 1.1\ncamera 0 -5 0 0 0 0 30\nmaterial glass index 1.5\nshape sphere glass 0.01 0 0 1\n", "ball",
        NULL, &s));
    require_ok(tsr_light_scene_matter(on, s, 64, NULL, &m));
    for (int i = 0; i < RAYS; i++) {
        const double z = (2 * i + 1.0) / RAYS - 1, a = 2.399963 * i, across = sqrt(1 - z * z), b = 0.3 * sqrt(fmod(0.754878 * i, 1)),
                     turn = 2 * (asin(b) - asin(b / 1.5));
        const double d[3] = { across * cos(a), across * sin(a), z }, e[3] = { -sin(a), cos(a), 0 };
        for (int k = 0; k < 3; k++) {
            rays[i].position[k] = (k ? 0 : 0.01) + b * e[k] - 1.08 * d[k];
            rays[i].speed[k] = d[k];
            wanted[i][k] = cos(turn) * d[k] - sin(turn) * e[k];
        }
    }
    require_ok(tsr_light_trace(on, m, NULL, rays, RAYS));
    for (int i = 0; i < RAYS; i++)
        for (int k = 0; k < 3; k++) squares += (rays[i].speed[k] - wanted[i][k]) * (rays[i].speed[k] - wanted[i][k]);
    if (!(squares < RAYS * 3e-4 * 3e-4)) fail_msg("%g rad beside Snell's law", sqrt(squares / RAYS));
    tsr_light_matter_destroy(&m);
    tsr_light_scene_destroy(&s);
    tsr_context_destroy(&on);
}

/* Where sharp glass sends a ray along (0, 0, -1), x and y beside the ball's middle: its place at the height `low` below it. */
static void through_ball(double x, double y, double low, double to[2])
{
    const double r = sqrt(x * x + y * y);
    to[0] = x;
    to[1] = y;
    if (r >= 1 || r < 1e-12) return;
    const double in = asin(r), glass = asin(r / 1.5), turn = 2 * (in - glass),
                 out = in + M_PI - 2 * glass; /* it leaves at this angle from the ball's top */
    const double z = cos(out), across = sin(out), far = across - (z + low) * tan(turn);
    for (int k = 0; k < 2; k++) to[k] *= far / r;
}
/* The floor's light under a ball beside that of exact rays, in squares of an eighth of its radius; through soft edges it is worse. */
static void caustic(void **unused)
{
    enum { TEXELS = 20, FINE = 4, RAYS = 1200 };
    static double exact[TEXELS * TEXELS];
    tsr_context *on = test_context();
    const double low = 1.2, half = 1.25, cell = 2 * half / TEXELS;
    double error[2];
    (void)unused;
    memset(exact, 0, sizeof exact);
    for (int i = 0; i < RAYS * RAYS; i++) {
        double to[2];
        through_ball((2 * (i % RAYS) + 1.0) / RAYS * half - half, (2 * (i / RAYS) + 1.0) / RAYS * half - half, low, to);
        const int x = (int)floor((to[0] + half) / cell), y = (int)floor((to[1] + half) / cell);
        if (x >= 0 && y >= 0 && x < TEXELS && y < TEXELS) exact[y * TEXELS + x] += TEXELS * TEXELS / (double)RAYS / RAYS;
    }
    for (int soft = 0; soft < 2; soft++) {
        char text[400];
        tsr_light_scene *s;
        tsr_light_matter *m;
        tsr_light_field *f;
        tsr_volume *light;
        int32_t lights;
        tsr_light_report r = TSR_LIGHT_REPORT;
        double squares = 0, all = 0;
        snprintf(text, sizeof text,
                 "tessera-light 1\nbox -1.2 -1.2 -1.2 1.2 1.2 1.2\nsmooth 0.7%s\ncamera 0 -5 0 0 0 0 30\nmaterial glass index 1.5\nshape sphere "
                 "glass 0 0 0 1\n"
                 "light directional 0 0 -1 1 1 1\nfloor -1.2 extent %g texels %d\nsimulate go-on no-fresnel faint 0.003\n",
                 soft ? " through" : "", 2 * half, TEXELS * FINE);
        require_ok(tsr_light_scene_parse(text, "caustic", NULL, &s));
        require_ok(tsr_light_scene_matter(on, s, 40, NULL, &m));
        require_ok(tsr_light_simulate(on, m, tsr_light_scene_sources(s, &lights), 1, tsr_light_scene_options(s), &f, &r));
        assert_true(r.balance < 1e-5 && r.crowded == 0);
        require_ok(tsr_light_field_ground(on, f, &light));
        const float *v = (const float *)tsr_volume_data_const(light);
        for (int i = 0; i < TEXELS * TEXELS; i++) {
            double own = 0;
            for (int k = 0; k < FINE * FINE; k++)
                own += (double)v[((int64_t)(i / TEXELS * FINE + k / FINE) * TEXELS + i % TEXELS) * FINE + k % FINE] / (FINE * FINE);
            squares += (own - exact[i]) * (own - exact[i]);
            all += exact[i] * exact[i];
        }
        error[soft] = sqrt(squares / all);
        tsr_volume_destroy(&light);
        tsr_light_field_destroy(&f);
        tsr_light_matter_destroy(&m);
        tsr_light_scene_destroy(&s);
    }
    if (!(error[0] < 0.02 && error[1] > 2 * error[0])) fail_msg("the caustic is %.4f beside exact rays, %.4f through soft edges", error[0], error[1]);
    tsr_context_destroy(&on);
}

/* Both packings of Radiance pictures, and broken ones. */
static void radiance(void **unused)
{
    static const uint8_t plain[] = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\nEXPOSURE=2\n\n-Y 2 +X 2\n\200\100\0\201\200\100\0\201\200\100\0\201\1\1\1\1";
    static const uint8_t packed[] = "#?RGBE\n\n-Y 2 +X 8\n\2\2\0\10\210\100\210\2\210\3\210\200\2\2\0\10\10abcdefgh\210\2\204\3\204\4\210\177";
    tsr_volume *map;
    (void)unused;
    require_ok(panorama_of(plain, sizeof plain - 1, &map));
    const float *v = (const float *)tsr_volume_data_const(map);
    for (int i = 0; i < 4; i++) assert_true(fabs((double)v[i] - 128.5 * pow(2, 129 - 136) / 2) < 1e-6 && v[4 + i] < v[i]);
    tsr_volume_destroy(&map);
    require_ok(panorama_of(packed, sizeof packed - 1, &map));
    v = (const float *)tsr_volume_data_const(map);
    assert_true(fabs((double)v[0] - 64.5 / 256) < 1e-6 && fabs((double)v[8] - ('a' + 0.5) / 512) < 1e-6 &&
                fabs((double)v[15] - ('h' + 0.5) / 512) < 1e-6);
    tsr_volume_destroy(&map);
    for (size_t n = 0; n < sizeof packed - 1; n++) {
        assert_true(panorama_of(packed, n, &map) != TSR_OK);
        assert_null(map);
    }
    require_error(panorama_of((const uint8_t *)"#?RGBE\n\n-Y 99999999 +X 8\n", 25, &map), TSR_ERROR_FORMAT, "expected 1 to");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(built_in), cmocka_unit_test(shapes),   cmocka_unit_test(places),  cmocka_unit_test(ball),
                                        cmocka_unit_test(caustic),  cmocka_unit_test(mistakes), cmocka_unit_test(radiance) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
