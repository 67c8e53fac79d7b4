/* render/frame.h: one picture to draw, as plain data for every backend. Positions are relative to the scene's
 * centre ("frame position"), in world units. */
#ifndef TSR_RENDER_FRAME_H
#define TSR_RENDER_FRAME_H

#include "render/bvh.h"
#include "render/field.h"
#include "render/lookup.h"
#include "render/transfer.h"

enum { TSR_FACE_CAP = 0, TSR_FACE_OPEN, TSR_FACE_QUAD };

/* The source as a slice: grey or diverging, and the surface's contour. */
typedef struct tsr_slice_look {
    int32_t palette, nearest, contour; /* contour: the surface field is drawn as a line */
    float low, inverse_width;          /* grey = (value - low) * inverse_width; diverging: low = -m, inverse_width = 1 / (2 m) */
    float half_line;                   /* pixels */
    tsr_float3 line_color, outside;    /* linear */
    int32_t transparent_outside;
} tsr_slice_look;

typedef struct tsr_frame {
    int32_t width, height, samples; /* samples x samples rays per pixel */
    /* Ray of pixel position (x, y), y down: corner + x right + y down is its direction from `origin` (perspective) or the origin of a ray along
     * `forward` (orthographic). */
    int32_t orthographic;
    tsr_float3 origin, corner, right, down, forward;
    float pixel_size;         /* of a pixel at distance 1 (perspective) or anywhere (orthographic) */
    float t_near, depth_shift; /* least t; depth = t + depth_shift */

    int32_t show_surface, show_volume, mip;
    float dt, inverse_dt;      /* distance of samples on the global lattice */
    int32_t jitter;
    tsr_field volume, surface;
    tsr_bvh bvh;
    tsr_float3 mesh_origin;    /* frame position of the mesh's own origin */
    float radius;              /* of the scene */

    int32_t clip, clip_surface, clip_volume, clip_face;
    tsr_float3 clip_normal;    /* unit */
    float clip_offset;
    int32_t region; /* 0 all, 1 inside, 2 outside, 3 tint */
    int32_t layers, flat;
    int32_t pass;  /* pictures averaged before */
    int32_t shell; /* the surface is a medium: */
    float shell_extinction;
    const uint8_t *shell_skip;          /* [bricks of the surface] as tsr_field.skip, of its transfer function */
    tsr_transfer_linear shell_transfer; /* value: phi, gradient: distance from the clipping plane */
    tsr_lookup_view lookup;             /* of the volume's transfer function */

    int32_t shaded;
    float extinction;          /* opacity exponent per world unit */
    float gradient_low, gradient_high;

    tsr_float3 surface_color, to_key_light, up;
    float opacity, occlusion, specular;
    tsr_slice_look look;
    int32_t transparent;
    tsr_float3 background[2];
} tsr_frame;

typedef struct tsr_slice_frame {
    int32_t width, height, samples;
    tsr_float3 corner, right, down; /* frame position of pixel position (x, y) = corner + x right + y down */
    float pixel_size;
    tsr_field volume, surface;
    tsr_slice_look look;
} tsr_slice_frame;

typedef struct tsr_pixel { float r, g, b, a, depth; } tsr_pixel;

#endif
