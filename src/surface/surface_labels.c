/* surface/surface_labels.c: the surface of one label of a label map: of its mask, cut out of the map with a voxel round it. */
#include "volume/labels.h"
#include "surface/surface.h"
#include "tessera/filter.h"
#include "tessera/surface.h"

tsr_status tsr_surface_extract_label(tsr_context *context, const tsr_volume *volume, const tsr_label *label, const tsr_surface_options *options,
                                     tsr_mesh **mesh, tsr_surface_report *report)
{
    TSR_RETURNS(mesh);
    TSR_NEEDS(context, volume, label);
    tsr_surface_options own = TSR_SURFACE_OPTIONS;
    tsr_volume *cut = NULL, *mask = NULL;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    const tsr_size3 a = label->lower, b = label->upper, n = volume->size;
    if (a.x < 0 || a.y < 0 || a.z < 0 || a.x >= b.x || a.y >= b.y || a.z >= b.z || b.x > n.x || b.y > n.y || b.z > n.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: the box of label %lld does not lie in the volume", (long long)label->value);
    const tsr_size3 lower = { tsr_max64(a.x - 1, 0), tsr_max64(a.y - 1, 0), tsr_max64(a.z - 1, 0) };
    const tsr_size3 upper = { tsr_min64(b.x + 1, n.x), tsr_min64(b.y + 1, n.y), tsr_min64(b.z + 1, n.z) };
    own.isovalue = 0.5;
    own.inside = TSR_SURFACE_INSIDE_ABOVE;
    TSR_TRY(tsr_volume_crop(context, volume, lower, upper, &cut));
    if (volume->dtype == TSR_F32 || volume->dtype == TSR_F64 || tsr_label_scaled(volume))
        TSR_TRY_GOTO(tsr_volume_threshold(context, cut, (double)label->value, (double)label->value, &mask), done);
    else TSR_TRY_GOTO(tsr_volume_threshold_integers(context, cut, label->value, label->value, &mask), done);
    TSR_TRY_GOTO(tsr_surface_extract(context, mask, &own, mesh, report), done);
done:
    tsr_volume_destroy(&mask);
    tsr_volume_destroy(&cut);
    return status;
}
