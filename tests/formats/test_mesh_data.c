/* Real meshes (scripts/get-data.sh meshes) against measures taken by trimesh 5.2. TESSERA_DATA names the folder that holds meshes/. */
#include "support.h"

#include <math.h>
#include <unistd.h>

static const struct { const char *name; int64_t vertices, triangles, euler; double area, volume; } known[] = {
    { "armadillo.off", 26002, 52000, 2, 38164.90354, 237850.3168 },
    { "elephant.off", 2775, 5558, -4, 1.244960079, 0.04620123473 },
    { "knot1.off", 3200, 6400, 0, 2.411392881, 0.09517472677 },
};

static int find(const char *name, char path[512])
{
    const char *data = getenv("TESSERA_DATA");
    static const char *const folders[] = { "meshes", "meshes/meshes" };
    for (int i = 0; data && i < 2; i++) {
        snprintf(path, 512, "%s/%s/%s", data, folders[i], name);
        if (!access(path, R_OK)) return 1;
    }
    return 0;
}

static void measures_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char path[512];
        tsr_mesh *mesh;
        tsr_mesh_measures m = TSR_MESH_MEASURES;
        if (!find(known[i].name, path)) {
            print_message("skipped: no %s under TESSERA_DATA/meshes; scripts/get-data.sh meshes fetches it\n", known[i].name);
            skip();
        }
        require_ok(tsr_mesh_read(path, NULL, &mesh));
        require_ok(tsr_mesh_measure(mesh, &m));
        tsr_mesh_destroy(&mesh);
        assert_int_equal(m.vertices, known[i].vertices);
        assert_int_equal(m.triangles, known[i].triangles);
        assert_int_equal(m.euler, known[i].euler);
        assert_int_equal(m.boundary_edges + m.nonmanifold_edges + m.misoriented_edges + m.degenerate_triangles, 0);
        assert_int_equal(m.components, 1);
        assert_true(fabs(m.area / known[i].area - 1) < 1e-6 && fabs(m.volume / known[i].volume - 1) < 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(measures_agree) };
    return cmocka_run_group_tests_name("mesh_data", tests, NULL, NULL);
}
