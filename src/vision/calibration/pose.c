/* vision/calibration/pose.c: poses in closed form and their refinement. docs/theory/calibration.md 3. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/vec3.h"
#include "vision/calibration/calibration.h"
#include "vision/calibration/dense.h"

static double turn_of(int i, int of) { return 2 * 3.14159265358979323846 * i / of; }

/* The roots of a[4] x^4 + ... + a[0], by the simultaneous iteration of Durand and Kerner. Returns how many: the degree. */
static int roots(const double a[5], double complex root[4])
{
    int degree = 4;
    double most = 0;
    for (int i = 0; i < 5; i++) most = fmax(most, fabs(a[i]));
    while (degree > 0 && fabs(a[degree]) <= 1e-13 * most) degree--;
    double radius = 0;
    for (int i = 0; i < degree; i++) radius = fmax(radius, fabs(a[i] / a[degree]));
    radius = 1 + radius > 1e6 ? 1e6 : 1 + radius;
    for (int i = 0; i < degree; i++) root[i] = 0.5 * radius * (cos(0.4 + turn_of(i, degree)) + (double complex)I * sin(0.4 + turn_of(i, degree)));
    for (int n = 0; n < 200; n++) {
        double change = 0;
        for (int i = 0; i < degree; i++) {
            double complex p = a[degree], q = a[degree];
            for (int k = degree - 1; k >= 0; k--) p = p * root[i] + a[k];
            for (int k = 0; k < degree; k++)
                if (k != i) q *= root[i] - root[k];
            if (cabs(q) < 1e-300) q = 1e-300;
            const double complex step = p / q;
            root[i] -= step;
            change = fmax(change, cabs(step) / (1 + cabs(root[i])));
        }
        if (change < 1e-15) break;
    }
    return degree;
}

static tsr_vec3 to_vec(const double v[3]) { return (tsr_vec3){ v[0], v[1], v[2] }; }

/* Columns: two edges made orthonormal and their normal. */
static int frame_of(const tsr_vec3 p[3], double f[3][3])
{
    const tsr_vec3 x = tsr_vec3_unit(tsr_vec3_sub(p[1], p[0])), d = tsr_vec3_sub(p[2], p[0]);
    const tsr_vec3 z = tsr_vec3_unit(tsr_vec3_cross(x, d)), y = tsr_vec3_cross(z, x);
    const tsr_vec3 c[3] = { x, y, z };
    for (int k = 0; k < 3; k++) {
        f[0][k] = c[k].x;
        f[1][k] = c[k].y;
        f[2][k] = c[k].z;
    }
    return tsr_vec3_length(z) > 0.5;
}

/* Newton on the three distances: the law of cosines for each pair. */
static int polish(const double side2[3], const double cosine[3], double s[3])
{
    for (int n = 0; n < 30; n++) {
        double f[3], m[3][3] = { { 0 } }, inverse[3][3], change = 0;
        for (int k = 0; k < 3; k++) { /* pair k: the two others */
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            f[k] = s[i] * s[i] + s[j] * s[j] - 2 * s[i] * s[j] * cosine[k] - side2[k];
            m[k][i] = 2 * (s[i] - s[j] * cosine[k]);
            m[k][j] = 2 * (s[j] - s[i] * cosine[k]);
        }
        if (!tsr_dense_invert3((const double(*)[3])m, inverse)) return 0;
        for (int i = 0; i < 3; i++) {
            const double step = inverse[i][0] * f[0] + inverse[i][1] * f[1] + inverse[i][2] * f[2];
            s[i] -= step;
            change = fmax(change, fabs(step));
        }
        if (!isfinite(s[0] + s[1] + s[2])) return 0;
        if (change < 1e-15 * (s[0] + s[1] + s[2])) break;
    }
    double worst = 0;
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        worst = fmax(worst, fabs(s[i] * s[i] + s[j] * s[j] - 2 * s[i] * s[j] * cosine[k] - side2[k]) / (side2[0] + side2[1] + side2[2]));
    }
    return worst < 1e-9 && s[0] > 0 && s[1] > 0 && s[2] > 0;
}

/* Grunert's quartic in v = s3 / s1. `unit`: rays of length 1. */
static int three(const tsr_vec3 point[3], const tsr_vec3 unit[3], tsr_pose pose[4])
{
    double side2[3], cosine[3], found[4][3], world[3][3];
    int count = 0;
    for (int k = 0; k < 3; k++) {
        const tsr_vec3 e = tsr_vec3_sub(point[(k + 1) % 3], point[(k + 2) % 3]);
        side2[k] = tsr_vec3_dot(e, e);
        cosine[k] = tsr_vec3_dot(unit[(k + 1) % 3], unit[(k + 2) % 3]);
    }
    if (!frame_of(point, world)) return -1;
    const double a2 = side2[0], b2 = side2[1], c2 = side2[2], ca = cosine[0], cb = cosine[1], cg = cosine[2];
    const double m = (a2 - c2) / b2, p = (a2 + c2) / b2;
    const double a[5] = { (1 + m) * (1 + m) - 4 * a2 / b2 * cg * cg, 4 * (-m * (1 + m) * cb + 2 * a2 / b2 * cg * cg * cb - (1 - p) * ca * cg),
                          2 * (m * m - 1 + 2 * m * m * cb * cb + 2 * (b2 - c2) / b2 * ca * ca - 4 * p * ca * cb * cg + 2 * (b2 - a2) / b2 * cg * cg),
                          4 * (m * (1 - m) * cb - (1 - p) * ca * cg + 2 * c2 / b2 * ca * ca * cb), (m - 1) * (m - 1) - 4 * c2 / b2 * ca * ca };
    double complex root[4];
    const int degree = roots(a, root);
    for (int r = 0; r < degree; r++) {
        const double v = creal(root[r]);
        if (!(v > 0) || fabs(cimag(root[r])) > 1e-3 * (1 + v)) continue;
        const double s1 = sqrt(b2 / (1 + v * v - 2 * v * cb)), inner = c2 / (s1 * s1) - 1 + cg * cg;
        for (int turn = -1; turn <= 1; turn += 2) { /* s2 / s1 from the first side; the polish keeps what fits the second */
            double s[3] = { s1, s1 * (cg + turn * sqrt(fmax(inner, 0))), s1 * v };
            int known = 0;
            if (!(s[1] > 0) || !polish(side2, cosine, s)) continue;
            for (int k = 0; k < count; k++)
                if (fabs(found[k][0] - s[0]) + fabs(found[k][1] - s[1]) + fabs(found[k][2] - s[2]) < 1e-7 * (s[0] + s[1] + s[2])) known = 1;
            if (known || count == 4) continue;
            memcpy(found[count], s, sizeof s);
            tsr_vec3 seen[3];
            double eye[3][3];
            for (int k = 0; k < 3; k++) seen[k] = tsr_vec3_scale(unit[k], s[k]);
            if (!frame_of(seen, eye)) continue;
            tsr_pose *q = &pose[count++];
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++) q->rotation[i][k] = eye[i][0] * world[k][0] + eye[i][1] * world[k][1] + eye[i][2] * world[k][2];
            const double from[3] = { seen[0].x, seen[0].y, seen[0].z }, x[3] = { point[0].x, point[0].y, point[0].z };
            for (int i = 0; i < 3; i++) q->translation[i] = from[i] - q->rotation[i][0] * x[0] - q->rotation[i][1] * x[1] - q->rotation[i][2] * x[2];
        }
    }
    return count;
}

/* Sum of squared distances of places; infinite for a point behind. */
static double cost_of(const tsr_pose *pose, const tsr_vec3 *point, const double (*place)[2], int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double y[3];
        const double x[3] = { point[i].x, point[i].y, point[i].z };
        tsr_pose_apply(pose, x, y);
        if (!(y[2] > 0)) return INFINITY;
        const double d[2] = { y[0] / y[2] - place[i][0], y[1] / y[2] - place[i][1] };
        sum += d[0] * d[0] + d[1] * d[1];
    }
    return sum;
}

/* Levenberg-Marquardt on the six numbers of a pose. Returns the cost. */
static double refine(tsr_pose *pose, const tsr_vec3 *point, const double (*place)[2], int64_t count)
{
    double cost = cost_of(pose, point, place, count), damp = 1e-4;
    for (int n = 0; n < 60 && isfinite(cost) && cost > 0; n++) {
        double a[36] = { 0 }, g[6] = { 0 };
        for (int64_t i = 0; i < count; i++) {
            double y[3];
            const double x[3] = { point[i].x, point[i].y, point[i].z };
            tsr_pose_apply(pose, x, y);
            const double z = 1 / y[2], u = y[0] * z, v = y[1] * z;
            const double j[2][6] = { { -u * v, 1 + u * u, -v, z, 0, -u * z }, { -1 - v * v, u * v, u, 0, z, -v * z } };
            const double r[2] = { place[i][0] - u, place[i][1] - v };
            for (int k = 0; k < 2; k++)
                for (int p = 0; p < 6; p++) {
                    g[p] += j[k][p] * r[k];
                    for (int q = 0; q < 6; q++) a[6 * p + q] += j[k][p] * j[k][q];
                }
        }
        int better = 0;
        double before = cost;
        for (int tries = 0; tries < 12 && !better; tries++) {
            double m[36], step[6];
            memcpy(m, a, sizeof m);
            memcpy(step, g, sizeof step);
            for (int p = 0; p < 6; p++) m[7 * p] += damp * a[7 * p] + 1e-300;
            if (tsr_dense_cholesky(6, m, NULL)) {
                tsr_dense_solve(6, m, step);
                tsr_pose next = *pose;
                tsr_pose_step(&next, step);
                const double after = cost_of(&next, point, place, count);
                if (after < cost) {
                    *pose = next;
                    cost = after;
                    better = 1;
                }
            }
            damp = better ? damp * 0.1 : damp * 10;
        }
        if (!better || before - cost < 1e-15 * before) break;
    }
    return cost;
}

/* Linear equations for the 3 x 4 matrix of at least six points in space. */
static int linear(const tsr_vec3 *point, const double (*place)[2], int64_t count, const double centre[3], double scale, tsr_pose *pose)
{
    double a[144] = { 0 }, value[12], vector[144];
    for (int64_t i = 0; i < count; i++) {
        const double x[4] = { (point[i].x - centre[0]) * scale, (point[i].y - centre[1]) * scale, (point[i].z - centre[2]) * scale, 1 };
        for (int r = 0; r < 2; r++) {
            double row[12] = { 0 };
            for (int k = 0; k < 4; k++) {
                row[4 * r + k] = x[k];
                row[8 + k] = -place[i][r] * x[k];
            }
            for (int k = 0; k < 144; k++) a[k] += row[k / 12] * row[k % 12];
        }
    }
    tsr_dense_eigen(12, a, value, vector);
    double m[3][3], t[3], determinant = 0;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) m[i][k] = vector[4 * i + k];
        t[i] = vector[4 * i + 3];
    }
    for (int k = 0; k < 3; k++) determinant += m[0][k] * (m[1][(k + 1) % 3] * m[2][(k + 2) % 3] - m[1][(k + 2) % 3] * m[2][(k + 1) % 3]);
    const double length = cbrt(determinant);
    if (!isfinite(1 / length)) return 0;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) pose->rotation[i][k] = m[i][k] / length;
        pose->translation[i] = t[i] / length / scale;
    }
    if (!tsr_dense_rotation(pose->rotation)) return 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) pose->translation[i] -= pose->rotation[i][k] * centre[k];
    return 1;
}

enum { CANDIDATES_MOST = 96, TRIPLES_MOST = 20 };

static void planar(const tsr_vec3 *point, const double (*place)[2], int64_t count, double axis[3][3], const double centre[3], tsr_pose *candidate,
                   int *found)
{
    double h[3][3];
    tsr_pose flat;
    void *room = NULL;
    if (tsr_host_allocate(NULL, (size_t)count * 16, &room) != TSR_OK) return;
    double(*plane)[2] = (double(*)[2])room;
    for (int64_t i = 0; i < count; i++) {
        const double d[3] = { point[i].x - centre[0], point[i].y - centre[1], point[i].z - centre[2] };
        for (int k = 0; k < 2; k++) plane[i][k] = d[0] * axis[2 - k][0] + d[1] * axis[2 - k][1] + d[2] * axis[2 - k][2];
    }
    const int solved = tsr_homography_solve((const double(*)[2])plane, place, count, h);
    tsr_host_release(NULL, room, (size_t)count * 16);
    if (!solved || !tsr_pose_of_plane((const double(*)[3])h, &flat)) return;
    for (int turn = 0; turn < 2; turn++) {
        double r[3][3];
        memcpy(r, flat.rotation, sizeof r);
        if (turn) { /* the other pose that looks almost alike from afar: mirrored at the plane across the line of sight */
            const tsr_vec3 d = tsr_vec3_unit(to_vec(flat.translation));
            const double n[3] = { d.x, d.y, d.z };
            for (int k = 0; k < 2; k++) {
                const double along = n[0] * r[0][k] + n[1] * r[1][k] + n[2] * r[2][k];
                for (int i = 0; i < 3; i++) r[i][k] -= 2 * along * n[i];
            }
            for (int i = 0; i < 3; i++) r[i][2] = r[(i + 1) % 3][0] * r[(i + 2) % 3][1] - r[(i + 2) % 3][0] * r[(i + 1) % 3][1];
        }
        tsr_pose p;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) p.rotation[i][k] = r[i][0] * axis[2][k] + r[i][1] * axis[1][k] + r[i][2] * axis[0][k];
        for (int i = 0; i < 3; i++) {
            p.translation[i] = flat.translation[i];
            for (int k = 0; k < 3; k++) p.translation[i] -= p.rotation[i][k] * centre[k];
        }
        candidate[(*found)++] = p;
    }
}

int tsr_pose_of_places(const tsr_vec3 *point, const double (*place)[2], int64_t count, tsr_pose *pose)
{
    double value[3], axis[3][3], centre[3], best = INFINITY;
    tsr_pose candidate[CANDIDATES_MOST];
    int found = 0;
    if (count < 3) return 0;
    tsr_points_extent(point, count, value, axis, centre);
    const int rank = tsr_points_rank(value);
    if (rank == TSR_POINTS_LINE) return 0;
    if (rank == TSR_POINTS_PLANE && count >= 4) planar(point, place, count, axis, centre, candidate, &found);
    if (rank == TSR_POINTS_SPACE && count >= 6 && linear(point, place, count, centre, sqrt((double)count / value[2]), &candidate[found])) found++;
    if (rank == TSR_POINTS_SPACE || !found) { /* three at a time, spread over the points */
        uint64_t state = 88172645463325252u;
        const int all = count <= 5;
        for (int n = 0, i = 0, j = 1, k = 2; n < TRIPLES_MOST; n++) {
            int64_t at[3] = { i, j, k };
            if (!all) {
                for (int m = 0; m < 3; m++) {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    at[m] = (int64_t)(state % (uint64_t)count);
                }
                if (at[0] == at[1] || at[1] == at[2] || at[0] == at[2]) continue;
            }
            tsr_vec3 p[3], unit[3];
            for (int m = 0; m < 3; m++) {
                p[m] = point[at[m]];
                unit[m] = tsr_vec3_unit((tsr_vec3){ place[at[m]][0], place[at[m]][1], 1 });
            }
            const int solved = three(p, unit, candidate + found);
            if (solved > 0) found += solved;
            if (all) {
                if (++k == (int)count && ++j < (int)count - 1) k = j + 1;
                else if (k == (int)count) {
                    j = ++i + 1;
                    k = j + 1;
                }
                if (k >= (int)count) break;
            }
        }
    }
    /* the best few are refined: a start may be best by chance alone */
    for (int turn = 0; turn < 4 && found > 0; turn++) {
        int least = 0;
        double cost = INFINITY;
        for (int n = 0; n < found; n++) {
            const double c = cost_of(&candidate[n], point, place, count);
            if (c < cost) {
                cost = c;
                least = n;
            }
        }
        if (!isfinite(cost)) break;
        tsr_pose p = candidate[least];
        candidate[least] = candidate[--found];
        if (count > 3) cost = refine(&p, point, place, count);
        if (cost < best) {
            best = cost;
            *pose = p;
        }
        if (count == 3) break;
    }
    return isfinite(best);
}

tsr_status tsr_pose_from_three(const tsr_vec3 point[3], const tsr_vec3 ray[3], tsr_pose pose[4], int *count)
{
    if (!point || !ray || !pose || !count) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !point ? "point" : !ray ? "ray" : !pose ? "pose" : "count");
    tsr_vec3 unit[3];
    double value[3], axis[3][3], centre[3];
    *count = 0;
    for (int k = 0; k < 3; k++) {
        unit[k] = tsr_vec3_unit(ray[k]);
        if (!(tsr_vec3_length(unit[k]) > 0.5) || !tsr_vec3_finite(point[k]))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "pair %d: a ray of length 0 or a point that is not finite", k);
    }
    tsr_points_extent(point, 3, value, axis, centre);
    if (tsr_points_rank(value) == TSR_POINTS_LINE) TSR_FAIL(TSR_ERROR_ARGUMENT, "the three points lie on a line, expected a triangle");
    const int found = three(point, unit, pose);
    *count = found > 0 ? found : 0;
    return TSR_OK;
}

tsr_status tsr_pose_from_points(tsr_pinhole *camera, const tsr_vec3 *point, const double (*pixel)[2], int64_t count)
{
    tsr_pose pose;
    double value[3], axis[3][3], centre[3];
    void *room = NULL;
    if (!camera || !point || !pixel) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !camera ? "camera" : !point ? "point" : "pixel");
    if (count < 3 || count > INT32_MAX) TSR_FAIL(TSR_ERROR_ARGUMENT, "%lld pairs, expected at least 3 for a pose", (long long)count);
    if (!(camera->fx > 0 && camera->fy > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera: focal lengths %g and %g, expected numbers above 0", camera->fx, camera->fy);
    tsr_points_extent(point, count, value, axis, centre);
    if (!isfinite(value[2])) TSR_FAIL(TSR_ERROR_ARGUMENT, "a point is not finite");
    if (tsr_points_rank(value) == TSR_POINTS_LINE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "all %lld points lie on a line, from which no pose follows: add one beside it", (long long)count);
    TSR_TRY(tsr_host_allocate(NULL, (size_t)count * 16, &room));
    double(*place)[2] = (double(*)[2])room;
    const tsr_view_model model = tsr_view_model_of(camera);
    int64_t bad = -1;
    for (int64_t i = 0; i < count && bad < 0; i++)
        if (!tsr_view_normalise(&model, pixel[i], place[i])) bad = i;
    const int found = bad < 0 && tsr_pose_of_places(point, (const double(*)[2])place, count, &pose);
    tsr_host_release(NULL, room, (size_t)count * 16);
    if (bad >= 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "pair %lld: the lens shows nothing at (%g, %g)", (long long)bad, pixel[bad][0], pixel[bad][1]);
    if (!found) TSR_FAIL(TSR_ERROR_ARGUMENT, "no pose shows the %lld points in front of the camera", (long long)count);
    memcpy(camera->rotation, pose.rotation, sizeof pose.rotation);
    memcpy(camera->translation, pose.translation, sizeof pose.translation);
    return TSR_OK;
}
