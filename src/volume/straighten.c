/* volume/straighten.c: the directions of index axes: which way they run, turning them without a change, and straight grids to resample onto. */
#include <math.h>
#include <string.h>

#include "core/vec3.h"
#include "volume/volume.h"
#include "tessera/filter.h"

static tsr_vec3 column_of(const tsr_geometry *g, int c) { return (tsr_vec3){ g->affine[0][c], g->affine[1][c], g->affine[2][c] }; }

/* Which world axis each index axis stands for: the permutation whose cosines are the largest together, of equals the first. */
static void nearest_axes(const tsr_geometry *g, int world[3])
{
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    double best = -1;
    for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int a = 0; a < 3; a++) sum += fabs(g->affine[orders[i][a]][a]) / tsr_vec3_length(column_of(g, a));
        if (sum > best + 1e-9) {
            best = sum;
            memcpy(world, orders[i], sizeof orders[i]);
        }
    }
}

void tsr_geometry_orientation(const tsr_geometry *geometry, char letters[4])
{
    if (!geometry || !letters) return;
    const tsr_geometry ras = tsr_geometry_convert(geometry, TSR_SPACE_RAS);
    int world[3];
    nearest_axes(&ras, world);
    for (int a = 0; a < 3; a++) letters[a] = (ras.affine[world[a]][a] > 0 ? "RAS" : "LPI")[world[a]];
    letters[3] = 0;
}

/* "RAS" as world axes and signs. */
static tsr_status parse_letters(const char *letters, int want[3], int sign[3])
{
    static const char known[] = "RASLPI";
    int seen = 0;
    for (int a = 0; a < 3 && letters && letters[a]; a++) {
        const char upper = (char)(letters[a] >= 'a' && letters[a] <= 'z' ? letters[a] - 'a' + 'A' : letters[a]), *at = strchr(known, upper);
        if (!at) break;
        want[a] = (int)(at - known) % 3;
        sign[a] = at - known < 3 ? 1 : -1;
        seen |= 1 << want[a];
    }
    if (seen != 7 || strlen(letters) != 3)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "reorient: '%.20s', expected three letters, one each of R or L, A or P, and S or I, such as RAS",
                 letters ? letters : "");
    return TSR_OK;
}

tsr_status tsr_volume_reorient(tsr_context *context, const tsr_volume *volume, const char *letters, tsr_volume **turned)
{
    TSR_RETURNS(turned);
    TSR_NEEDS(context, volume);
    int want[3] = { 0 }, sign[3] = { 0 }, world[3];
    int32_t axes[3] = { 0 }, flip[3] = { 0 };
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    TSR_TRY(parse_letters(letters, want, sign));
    if (volume->geometry.space == TSR_SPACE_NONE)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "reorient: the volume names no world frame (RAS or LPS), so that nothing says where %s lies", letters);
    const tsr_geometry ras = tsr_geometry_convert(&volume->geometry, TSR_SPACE_RAS);
    nearest_axes(&ras, world);
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++)
            if (world[k] == want[a]) {
                axes[a] = k;
                flip[a] = (ras.affine[world[k]][k] > 0 ? 1 : -1) != sign[a];
            }
    TSR_TRY(tsr_volume_permute(context, volume, axes, flip, turned));
    return TSR_OK;
}

/* ---- straight grids --------------------------------------------------------------------------------------------------------------------------------- */

/* Perpendicular unit axes and spacings. Deshear: x stays, y and z lose what lies along the axes before (Gram and Schmidt), so that slices keep their planes
 * and their distance. */
static void straight_axes(const tsr_geometry *g, tsr_straightening way, tsr_vec3 axis[3], double spacing[3])
{
    int world[3];
    if (way == TSR_STRAIGHTEN_ALIGN) {
        nearest_axes(g, world);
        for (int k = 0; k < 3; k++) axis[k] = (tsr_vec3){ k == 0, k == 1, k == 2 };
        for (int k = 0; k < 3; k++) spacing[world[k]] = tsr_vec3_length(column_of(g, k));
        return;
    }
    for (int k = 0; k < 3; k++) {
        tsr_vec3 rest = column_of(g, k);
        for (int j = 0; j < k; j++) rest = tsr_vec3_sub(rest, tsr_vec3_scale(axis[j], tsr_vec3_dot(rest, axis[j])));
        spacing[k] = tsr_vec3_length(rest);
        axis[k] = tsr_vec3_scale(rest, 1 / spacing[k]);
    }
}

tsr_status tsr_geometry_straighten(const tsr_geometry *geometry, tsr_size3 size, tsr_straightening way, tsr_geometry *straight,
                                   tsr_size3 *straight_size)
{
    TSR_NEEDS(geometry, straight, straight_size);
    const int64_t n[3] = { size.x, size.y, size.z };
    int64_t m[3];
    tsr_vec3 axis[3], origin = { 0, 0, 0 };
    double spacing[3] = { 0 };
    TSR_TRY(tsr_geometry_check(geometry));
    if ((unsigned)way > TSR_STRAIGHTEN_ALIGN)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "straighten: way %d, expected TSR_STRAIGHTEN_DESHEAR or TSR_STRAIGHTEN_ALIGN", (int)way);
    for (int k = 0; k < 3; k++)
        if (n[k] < 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "straighten: size %c is %lld, expected a positive number", "xyz"[k], (long long)n[k]);
    straight_axes(geometry, way, axis, spacing);
    *straight = (tsr_geometry){ .space = geometry->space };
    for (int k = 0; k < 3; k++) {
        /* the corners' places along the axis, from voxel 0; whole steps from it unless the box begins elsewhere */
        const tsr_vec3 zero = tsr_geometry_to_world(geometry, (tsr_vec3){ 0, 0, 0 });
        double low = 0, high = 0;
        for (int corner = 1; corner < 8; corner++) {
            const tsr_vec3 at = { corner & 1 ? (double)(n[0] - 1) : 0, corner & 2 ? (double)(n[1] - 1) : 0, corner & 4 ? (double)(n[2] - 1) : 0 };
            const double along = tsr_vec3_dot(tsr_vec3_sub(tsr_geometry_to_world(geometry, at), zero), axis[k]) / spacing[k];
            low = fmin(low, along);
            high = fmax(high, along);
        }
        const double slack = 1e-6 + 1e-9 * (high - low), first = floor(low + slack), last = ceil(high - slack);
        if (!(last - first < 0x1p53)) TSR_FAIL(TSR_ERROR_ARGUMENT, "straighten: %g voxels along %c", last - first, "xyz"[k]);
        m[k] = (int64_t)(last - first) + 1;
        origin = tsr_vec3_add(origin, tsr_vec3_scale(axis[k], tsr_vec3_dot(zero, axis[k]) + first * spacing[k]));
        const double a[3] = { axis[k].x, axis[k].y, axis[k].z };
        for (int r = 0; r < 3; r++) straight->affine[r][k] = a[r] * spacing[k];
    }
    const double o[3] = { origin.x, origin.y, origin.z };
    for (int r = 0; r < 3; r++) straight->affine[r][3] = o[r];
    *straight_size = (tsr_size3){ m[0], m[1], m[2] };
    return TSR_OK;
}
