/* light/ray_step.h: one step of a ray through a varying index of refraction, in float or double: the file is included once for each, with
 *
 *   TSR_RAY_REAL    float, double, or several of them side by side
 *   TSR_RAY_ONE     float or double
 *   TSR_RAY_STEP    what a step is: one for all, or one each
 *   TSR_RAY(name)   the function's name in that precision
 *   TSR_RAY_MEDIUM  type of the pointer that the sampler is given
 *   TSR_RAY_SAMPLE  the sampler: (medium, place[3], sample[4]) sets the index n and its gradient
 *
 * Ray equation d/ds (n dx/ds) = grad n, v = n dx/ds, so that |v| = n along an exact ray. In equal time (light's own, dt = n ds): dx/dt = v / n^2,
 * dv/dt = grad n / n; in arc length: dx/ds = v / n, dv/ds = grad n; in tau, dt = n^2 dtau: d2x/dtau2 = n grad n. See docs/theory/light.md. */

/* Slopes of place and speed where the sample is s. */
TSR_HD void TSR_RAY(slope)(int form, const TSR_RAY_REAL s[4], const TSR_RAY_REAL v[3], TSR_RAY_REAL dx[3], TSR_RAY_REAL dv[3])
{
    const TSR_RAY_REAL inverse = (TSR_RAY_ONE)1 / s[0], square = form == TSR_RAY_TIME ? inverse * inverse : inverse;
    for (int k = 0; k < 3; k++) {
        dx[k] = v[k] * square;
        dv[k] = form == TSR_RAY_TIME ? s[k + 1] * inverse : s[k + 1];
    }
}
TSR_HD void TSR_RAY(ahead)(const TSR_RAY_REAL x[3], const TSR_RAY_REAL d[3], TSR_RAY_STEP h, TSR_RAY_REAL to[3])
{
    for (int k = 0; k < 3; k++) to[k] = x[k] + h * d[k];
}

/* Sets the speed's length to the index of the sample. */
TSR_HD void TSR_RAY(project)(const TSR_RAY_REAL s[4], TSR_RAY_REAL v[3])
{
    const TSR_RAY_REAL scale = s[0] / TSR_RAY(root)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++) v[k] = v[k] * scale;
}

/* h is a step of the parameter that `form` names, of tau for Stoermer and Verlet's scheme whatever the form; `first` is the sample at x. */
TSR_HD void TSR_RAY(step)(int integrator, int form, TSR_RAY_MEDIUM medium, const TSR_RAY_REAL first[4], TSR_RAY_REAL x[3], TSR_RAY_REAL v[3],
                          TSR_RAY_STEP h)
{
    TSR_RAY_REAL dx[4][3], dv[4][3], px[3], pv[3], s[4];
    const TSR_RAY_STEP half = (TSR_RAY_ONE)0.5 * h;
    if (integrator == TSR_RAY_VERLET) {
        for (int k = 0; k < 3; k++) v[k] = v[k] + half * (first[0] * first[k + 1]);
        for (int k = 0; k < 3; k++) x[k] = x[k] + h * v[k];
        TSR_RAY_SAMPLE(medium, x, s);
        for (int k = 0; k < 3; k++) v[k] = v[k] + half * (s[0] * s[k + 1]);
        return;
    }
    TSR_RAY(slope)(form, first, v, dx[0], dv[0]);
    if (integrator == TSR_RAY_EULER) {
        TSR_RAY(ahead)(x, dx[0], h, x);
        TSR_RAY(ahead)(v, dv[0], h, v);
        return;
    }
    TSR_RAY(ahead)(x, dx[0], half, px);
    TSR_RAY(ahead)(v, dv[0], half, pv);
    TSR_RAY_SAMPLE(medium, px, s);
    TSR_RAY(slope)(form, s, pv, dx[1], dv[1]);
    if (integrator == TSR_RAY_MIDPOINT) {
        TSR_RAY(ahead)(x, dx[1], h, x);
        TSR_RAY(ahead)(v, dv[1], h, v);
        return;
    }
    TSR_RAY(ahead)(x, dx[1], half, px);
    TSR_RAY(ahead)(v, dv[1], half, pv);
    TSR_RAY_SAMPLE(medium, px, s);
    TSR_RAY(slope)(form, s, pv, dx[2], dv[2]);
    TSR_RAY(ahead)(x, dx[2], h, px);
    TSR_RAY(ahead)(v, dv[2], h, pv);
    TSR_RAY_SAMPLE(medium, px, s);
    TSR_RAY(slope)(form, s, pv, dx[3], dv[3]);
    const TSR_RAY_STEP sixth = h * (TSR_RAY_ONE)(1.0 / 6.0);
    for (int k = 0; k < 3; k++) {
        x[k] = x[k] + sixth * (dx[0][k] + (TSR_RAY_ONE)2 * (dx[1][k] + dx[2][k]) + dx[3][k]);
        v[k] = v[k] + sixth * (dv[0][k] + (TSR_RAY_ONE)2 * (dv[1][k] + dv[2][k]) + dv[3][k]);
    }
}

/* A step h of arc length with one sample s: x is where half of it has led along the direction d before it. The speed changes there and is as long as the index in the middle
 * of its change; d becomes its new direction, and the other half goes along it. Second order, the same backwards. */
TSR_HD void TSR_RAY(turn)(const TSR_RAY_REAL s[4], TSR_RAY_REAL x[3], TSR_RAY_REAL v[3], TSR_RAY_REAL d[3], TSR_RAY_STEP h)
{
    const TSR_RAY_STEP half = (TSR_RAY_ONE)0.5 * h;
    TSR_RAY(ahead)(v, s + 1, half, v);
    TSR_RAY(project)(s, v);
    TSR_RAY(ahead)(v, s + 1, half, v);
    const TSR_RAY_REAL scale = (TSR_RAY_ONE)1 / TSR_RAY(root)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++) d[k] = v[k] * scale;
    TSR_RAY(ahead)(x, d, half, x);
}

/* A step dt of light's own time with one sample s, in its middle: half of it straight on, there the speed changes as in `turn`, and half of it along the new direction, each as fast as the
 * speed says. */
TSR_HD void TSR_RAY(leap)(TSR_RAY_MEDIUM medium, TSR_RAY_REAL s[4], TSR_RAY_REAL x[3], TSR_RAY_REAL v[3], TSR_RAY_STEP dt)
{
    const TSR_RAY_STEP half = (TSR_RAY_ONE)0.5 * dt;
    const TSR_RAY_REAL before = half / (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++) x[k] = x[k] + before * v[k];
    TSR_RAY_SAMPLE(medium, x, s);
    const TSR_RAY_REAL kick = half / s[0];
    for (int k = 0; k < 3; k++) v[k] = v[k] + kick * s[k + 1];
    TSR_RAY(project)(s, v);
    for (int k = 0; k < 3; k++) v[k] = v[k] + kick * s[k + 1];
    const TSR_RAY_REAL after = half / (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++) x[k] = x[k] + after * v[k];
}

#undef TSR_RAY_REAL
#undef TSR_RAY_ONE
#undef TSR_RAY_STEP
#undef TSR_RAY
#undef TSR_RAY_MEDIUM
#undef TSR_RAY_SAMPLE
