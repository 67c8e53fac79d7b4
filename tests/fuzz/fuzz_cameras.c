/* Camera files of all formats: what is accepted can be looked through, and written as transforms.json and read again. The first byte picks the format. */
#include "fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tessera/rig.h"

static const char *const formats[] = { "", "transforms", "colmap", "colmap-text", "geocast", "geoscene", "middlebury", "par", "opencv", "bundler", "tum", "kitti" };
enum { FORMATS = sizeof formats / sizeof *formats };

static void check(int good, const char *what)
{
    if (good) return;
    write(2, what, strlen(what)) < 0 ? abort() : abort();
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    tsr_rig *rig = NULL;
    const tsr_rig_read_options o = { .struct_size = sizeof o, .width = 64, .height = 48, .memory_limit = 1 << 26 };
    char remarks[1001];
    if (!size) return 0;
    const tsr_status status = tsr_rig_read_text(formats[bytes[0] % FORMATS], bytes + 1, size - 1, "fuzz", &o, &rig);
    tsr_remarks_take(remarks, sizeof remarks);
    if (status != TSR_OK) {
        check(*tsr_error_message() != 0 && !rig, "a failure without a message, or with a rig\n");
        return 0;
    }
    check(tsr_rig_count(rig) > 0, "a rig without a camera\n");
    for (int64_t i = 0; i < tsr_rig_count(rig) && i < 100; i++) {
        tsr_rig_camera c;
        double pixel[2] = { 1, 2 };
        tsr_vec3 origin, direction;
        char path[256];
        check(tsr_rig_get(rig, i, &c) == TSR_OK && tsr_camera_check(&c.camera) == TSR_OK, "a camera that cannot be used was accepted\n");
        if (tsr_camera_ray(&c.camera, 64, 48, pixel, &origin, &direction) == TSR_OK) check(isfinite(direction.x + direction.y + direction.z), "a ray that is not finite\n");
        if (tsr_rig_path(rig, c.image, 3, path, sizeof path) == TSR_OK) check(strlen(path) < sizeof path, "a path without an end\n");
    }
    const tsr_rig_sight *sights;
    const int64_t seen = tsr_rig_sights(rig, &sights), points = tsr_rig_points(rig, NULL);
    for (int64_t i = 0; i < seen; i++) check(sights[i].camera >= 0 && sights[i].camera < tsr_rig_count(rig) && sights[i].point >= 0 && sights[i].point < points, "a sight of nothing\n");
    tsr_rig_destroy(&rig);
    return 1;
}

static void seed(int format, const char *text)
{
    char all[2000];
    all[0] = (char)format;
    const size_t size = strlen(text);
    memcpy(all + 1, text, size);
    fuzz_seed(all, size + 1);
}

void fuzz_seeds(void)
{
    static const char cast[] = "GeoCast V1.0\nStaticCamera\nPos 1 2 3\nModelviewMatrix\n1 0 0 -1\n0 1 0 -2\n0 0 1 -3\n0 0 0 1\nDataProject Perspective Fovy 30 Aspect 1.3 ClipRange 1 9\n"
                               "WorldSpaceDepth\nZDataRange 1 9\nImageWarp aspect 1 k1 0.1 k2 0 k3 0 p1 0 p2 0 centerX 0 centerY 0 focal 1\n";
    static const char cast2[] = "GeoCast V2.0\nStaticCamera\nPos 0 0 1\nMatrixLayout column_major_world_to_eye\nModelviewMatrix\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 -1 1\n"
                                "Projection ortho WindowHeight 2 Aspect 1 Near 1 Far 5\nDepth window 16 Lo 1 Hi 2\nLens poly k1 0.1\nSize 64 48\nFrame 3\nTime 0.5\nOther x\n";
    seed(0, "{\"camera_angle_x\":1,\"frames\":[{\"file_path\":\"a\\u0041\",\"transform_matrix\":[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}]}");
    seed(1, "{\"w\":8,\"h\":6,\"fl_x\":9,\"cx\":4,\"cy\":3,\"k1\":0.1,\"tessera\":{\"sequence\":[0,3],\"points\":[[1,2,3,4,5,6,7]]},\"frames\":[{\"transform_matrix\":[[1,0,0,0],[0,1,0,0],"
            "[0,0,1,0]],\"tessera\":{\"name\":\"n\",\"projection\":\"orthographic\",\"height\":2,\"clip\":[1,3],\"depth\":{\"encoding\":\"ndc\",\"bits\":16}}}]}");
    seed(3, "1 OPENCV 64 48 50 50 32 24 0.1 0 0 0\n2 SIMPLE_RADIAL_FISHEYE 64 48 50 32 24 0.1\n%\n1 1 0 0 0 0 0 0 1 a.png\n3 4 9\n2 1 0 0 0 0 0 0 2 b.png\n\n%\n9 1 2 3 4 5 6 0.5 1 0\n");
    seed(0, cast);
    seed(4, cast2);
    seed(0, "cam0=[1000 0 300; 0 1000 200; 0 0 1]\ncam1=[1000 0 310; 0 1000 200; 0 0 1]\ndoffs=10\nbaseline=100\nwidth=700\nheight=500\n");
    seed(0, "1\nv.png 500 0 32 0 500 24 0 0 1 1 0 0 0 1 0 0 0 1 0 0 2\n");
    seed(0, "%YAML:1.0\ncamera_matrix: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [ 500., 0., 31.5, 0.,\n      500., 23.5, 0., 0., 1. ]\nimage_width: 64\nimage_height: 48\n");
    seed(8, "<?xml version=\"1.0\"?><opencv_storage><M1 type_id=\"opencv-matrix\"><rows>3</rows><cols>3</cols><dt>d</dt><data>5 0 3 0 5 2 0 0 1</data></M1></opencv_storage>");
    seed(0, "# Bundle file v0.3\n1 1\n500 0 0\n1 0 0\n0 1 0\n0 0 1\n0 0 -2\n0 0 -1\n255 0 0\n1 0 7 10 -20\n");
    seed(0, "1.5 1 2 3 0 0 0 1\n");
    seed(0, "1 0 0 5 0 1 0 6 0 0 1 7\n");
    /* COLMAP in binary: one camera, one image, one point */
    unsigned char b[400] = { 2 }, *p = b + 9;
    double one = 1, fifty = 50;
    unsigned char *start = p;
    *p = 1, p += 8;
    *p = 1, p += 4;
    *p = 0, p += 4;
    *p = 64, p += 8;
    *p = 48, p += 8;
    for (int i = 0; i < 3; i++, p += 8) memcpy(p, &fifty, 8);
    b[1] = (unsigned char)(p - start);
    start = p;
    *p = 1, p += 8;
    *p = 1, p += 4;
    memcpy(p, &one, 8), p += 56;
    *p = 1, p += 4;
    *p = 'a', p += 2;
    *p = 1, p += 8;
    p += 16;
    *p = 7, p += 8;
    b[5] = (unsigned char)(p - start);
    *p = 1, p += 8;
    *p = 7, p += 8;
    p += 24 + 3 + 8;
    p += 8;
    fuzz_seed(b, (size_t)(p - b));
}
