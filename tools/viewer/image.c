/* viewer/image.c: the image of a session, whatever its kind: what there is to know of it, and that pages and painter learn of it. */
#include "session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int viewer_image_describe(tsr_context *context, viewer_image *image, const tsr_volume *volume)
{
    tsr_statistics statistics = TSR_STATISTICS;
    int64_t counts[VIEWER_BINS + 3] = { 0 };
    if (tsr_volume_check_finite(context, volume, image->name) != TSR_OK || tsr_volume_statistics(context, volume, &statistics) != TSR_OK) return -1;
    image->minimum = statistics.minimum;
    image->maximum = statistics.maximum > statistics.minimum ? statistics.maximum : statistics.minimum + 1;
    if (tsr_volume_histogram(context, volume, image->minimum, image->maximum, VIEWER_BINS, counts) != TSR_OK) return -1;
    memcpy(image->histogram, counts, sizeof image->histogram);
    double most = (double)statistics.count * 0.995, sum = 0;
    int bin = 0;
    while (bin < VIEWER_BINS - 1 && (sum += (double)counts[bin]) < most) bin++;
    image->window_low = image->minimum;
    image->window_high = image->minimum + (image->maximum - image->minimum) * (bin + 1) / VIEWER_BINS;
    return 0;
}

/* For slices and picks. */
void viewer_image_set_box(viewer_image *image, tsr_box b)
{
    const double longest = fmax(b.upper.x - b.lower.x, fmax(b.upper.y - b.lower.y, b.upper.z - b.lower.z)), h = longest > 0 ? longest / 256 : 1;
    const double n[3] = { ceil((b.upper.x - b.lower.x) / h) + 1, ceil((b.upper.y - b.lower.y) / h) + 1, ceil((b.upper.z - b.lower.z) / h) + 1 };
    image->bounds = b;
    image->geometry = tsr_geometry_make((tsr_vec3){ h, h, h }, b.lower, TSR_SPACE_NONE);
    image->spacing = (tsr_vec3){ h, h, h };
    image->size = (tsr_size3){ (int64_t)n[0], (int64_t)n[1], (int64_t)n[2] };
    image->maximum = image->window_high = 1;
}

/* Takes the place of the one before, of which the session keeps no reference then. */
void viewer_image_show(viewer_session *s, viewer_image *image, int fresh)
{
    const int64_t n[3] = { image->size.x, image->size.y, image->size.z };
    pthread_mutex_lock(&s->lock);
    image->references++; /* the session's */
    s->image = image;
    s->image_version++;
    s->window_low = image->window_low;
    s->window_high = image->window_high;
    if (image->volume && tsr_transfer_make(image->minimum < -200 ? TSR_TRANSFER_CT_SOFT : TSR_TRANSFER_MRI_HEAD, s->window_low, s->window_high,
                                           &s->transfer) != TSR_OK)
        s->transfer = (tsr_transfer){ 0 };
    for (int v = 0; v < VIEWER_WINDOWS; v++) {
        viewer_look *look = &s->look[v];
        s->look_version[v]++;
        if (!fresh) continue;
        look->position = 0.5 * (double)(n[look->axis] - 1);
        look->zoom = 1;
        look->pan[0] = look->pan[1] = 0;
    }
    viewer_session_changed(s);
    pthread_mutex_unlock(&s->lock);
}

/* Who started the program with a file looks at its terminal, not at the page. */
void viewer_cannot_load(viewer_session *s, const char *error)
{
    pthread_mutex_lock(&s->lock);
    if (s->first_load) snprintf(s->trouble, sizeof s->trouble, "%s", error);
    s->first_load = 0;
    pthread_mutex_unlock(&s->lock);
    viewer_session_tell(s, "error", "%s", error);
}
