#!/usr/bin/env python3
"""Caustic of a glass ball, or pictures of a ball and a block, by tessera and by Mitsuba 3 (PyPI mitsuba), in the same run.

    light_mitsuba.py TESSERA [FOLDER] [--quick] [--pictures]

The floor's light under a ball of index 1.5 in parallel light: tessera's wavefronts beside Mitsuba's `ptracer`, run until it has converged. Two references: glass as it is, which reflects
(wavefronts lose what surfaces reflect and do not follow it), and glass that only refracts (a BSDF of this file; `simulate no-fresnel`). The peer's time at equal error comes from its error
at a known number of photons, which falls with the root of their number. Times are processor seconds. --pictures:
views of a ball and a block by both, side by side in FOLDER, and nothing else."""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import drjit
import mitsuba

# pictures need no BSDF of this file, so they do without LLVM, which on some processors fails to compile them
mitsuba.set_variant("scalar_rgb" if "--pictures" in sys.argv else "llvm_ad_rgb")
import numpy

HEIGHT, HALF, TEXELS = 1.08, 1.2, 96  # of the ball's middle; half the square that is compared, and its texels along x
FINE = 4  # tessera's texels along one of those: it gives each ray to four texels, which blurs
FLAT = 2  # texels along y are so much longer: the camera's height over its distance is 1 / FLAT
AWAY = 0.95  # the square's middle along y: light falls from behind the ball, which then does not hide its caustic from the camera
SUN = (0.0, 0.5, -(0.75**0.5))

BALL = f"""tessera-light 1
box -1.1 -1.1 {HEIGHT - 1.06} 1.1 1.1 {HEIGHT + 1.06}
resolution 96
smooth {{smooth}}
material glass index 1.5
shape sphere glass 0 0 {HEIGHT} 1
light directional {SUN[0]} {SUN[1]} {SUN[2]} 1 1 1
floor 0 extent {4 * HALF} texels {2 * FINE * TEXELS} color 0.5 0.5 0.5
camera 0 8 4 0 0 1 30
simulate go-on {{fresnel}} faint {{faint}} extent {{extent}}
view size 64 64 samples 1
"""


class Refracts(mitsuba.BSDF if "--pictures" not in sys.argv else object):
    """A smooth surface that refracts all light, and reflects only where reflection is total."""

    def __init__(self, props):
        mitsuba.BSDF.__init__(self, props)
        self.eta = props["eta"] if "eta" in props else 1.5
        transmission = mitsuba.BSDFFlags.DeltaTransmission | mitsuba.BSDFFlags.FrontSide | mitsuba.BSDFFlags.BackSide
        self.m_components = [transmission]
        self.m_flags = transmission

    def sample(self, ctx, si, sample1, sample2, active=True):
        cos_in = mitsuba.Frame3f.cos_theta(si.wi)
        share, cos_out, eta_it, eta_ti = mitsuba.fresnel(cos_in, self.eta)
        total = share > 0.99999
        out = mitsuba.BSDFSample3f()
        out.wo = drjit.select(total, mitsuba.reflect(si.wi), mitsuba.refract(si.wi, cos_out, eta_ti))
        out.pdf = drjit.select(active, mitsuba.Float(1), 0)
        out.eta = drjit.select(total, 1, eta_it)
        out.sampled_type = mitsuba.UInt32(int(mitsuba.BSDFFlags.DeltaTransmission))
        out.sampled_component = mitsuba.UInt32(0)
        scale = drjit.sqr(eta_ti) if ctx.mode == mitsuba.TransportMode.Radiance else mitsuba.Float(1)
        return out, mitsuba.Color3f(drjit.select(total, 1, scale)) & active

    def eval(self, ctx, si, wo, active=True):
        return mitsuba.Color3f(0)

    def pdf(self, ctx, si, wo, active=True):
        return mitsuba.Float(0)

    def eval_pdf(self, ctx, si, wo, active=True):
        return mitsuba.Color3f(0), mitsuba.Float(0)

    def to_string(self):
        return "Refracts[]"


if "--pictures" not in sys.argv:
    mitsuba.register_bsdf("refracts", lambda props: Refracts(props))
transform = mitsuba.ScalarTransform4f


def own_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def tessera_run(*arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True, env=dict(os.environ, OMP_WAIT_POLICY="passive", TESSERA_DEVICE="cpu")).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tessera_floor(tessera, resolution, fresnel, faint, extent, folder):
    scene, out = os.path.join(folder, "ball.txt"), os.path.join(folder, "floor.npy")
    with open(scene, "w", encoding="ascii") as file:
        file.write(BALL.format(smooth=0.7, fresnel=fresnel, faint=faint, extent=extent))
    text, seconds = tessera_run(tessera, "light", scene, "--resolution", str(resolution), "-o", os.path.join(folder, "ball.png"), "--force", "--floor-out", out, "--json")
    light = numpy.load(out)
    n = 2 * TEXELS
    light = light.reshape(3, n * FINE, n * FINE)[1] if light.shape[0] == 3 else light.reshape(n * FINE, n * FINE, 3)[..., 1]
    light = light.reshape(n, FINE, n, FINE).mean(axis=(1, 3))
    x, y = TEXELS // 2, int(round((AWAY - HALF + 2 * HALF) / (2 * HALF) * TEXELS))
    return light[y : y + TEXELS, x : x + TEXELS].reshape(TEXELS // FLAT, FLAT, TEXELS).mean(axis=1), seconds, json.loads(text)


def mitsuba_floor(glass, rays, seed):
    """Irradiance of the square by `rays` photons a texel; processor seconds."""
    ahead, distance = numpy.array([0, -((1 - 1 / FLAT**2) ** 0.5), -1 / FLAT]), 600.0  # so far that rays are parallel
    target = numpy.array([0, AWAY, 0.0])
    scene = mitsuba.load_dict({
        "type": "scene",
        "integrator": {"type": "ptracer", "samples_per_pass": 16 * TEXELS * TEXELS * 16, "max_depth": 24, "rr_depth": 100},
        "sensor": {"type": "perspective", "near_clip": 1.0, "far_clip": 1000.0, "fov_axis": "x", "fov": float(numpy.degrees(2 * numpy.arctan(HALF / distance))),
                   "to_world": transform().look_at(origin=list(target - distance * ahead), target=list(target), up=[0, 0, 1]),
                   "film": {"type": "hdrfilm", "width": TEXELS, "height": TEXELS // FLAT, "rfilter": {"type": "box"}, "pixel_format": "rgb"},
                   "sampler": {"type": "independent", "sample_count": rays}},
        "light": {"type": "directional", "direction": list(SUN), "irradiance": {"type": "rgb", "value": [1, 1, 1]}},
        "ball": {"type": "sphere", "center": [0, 0, HEIGHT], "radius": 1.0, "bsdf": glass},
        "floor": {"type": "rectangle", "to_world": transform().translate([0, AWAY, 0]) @ transform().scale([HALF, HALF, 1]),
                  "bsdf": {"type": "diffuse", "reflectance": {"type": "rgb", "value": 0.5}}},
    })
    before = own_seconds()
    total, passes = numpy.zeros((TEXELS // FLAT, TEXELS)), max(1, rays // 256)
    for i in range(passes):
        image = mitsuba.render(scene, spp=min(rays, 256), seed=seed * 10007 + i)
        total += numpy.array(image)[..., 1]
    light = total / passes * numpy.pi / 0.5
    return light, own_seconds() - before  # the picture's top is far away, where y is small


def error(a, b):
    """Root of the mean square, of the reference's own."""
    return float(numpy.linalg.norm(a - b) / numpy.linalg.norm(b))


def of_range(a, b):
    return float(numpy.sqrt(numpy.mean((a - b) ** 2)) / (b.max() - b.min()))


WIDTH, HEIGHT_OF_PICTURE = 320, 240
LOOK = f"""floor 0 extent 9 texels 1024 color 0.5 0.5 0.5 ambient 1 1 1
light directional 0.4 0.5 -0.77 3 3 3
sky 1 1 1 1 1 1 1 1 1
camera 3.2 -6.4 3.2 0 0 0.9 30
simulate go-on faint 0.003
view size {WIDTH} {HEIGHT_OF_PICTURE} samples 4 step 0.4
tone exposure 0.35 white 4
"""
OBJECTS = {
    "ball": ("box -1.1 -1.1 0.02 1.1 1.1 2.14\nresolution 96\nsmooth 0.7\nmaterial glass index 1.5\nshape sphere glass 0 0 1.08 1\n",
             {"type": "sphere", "center": [0, 0, 1.08], "radius": 1.0}),
    "block": ("box -1.1 -1.1 0.02 1.1 1.1 1.5\nresolution 96\nsmooth 0.7\nmaterial glass index 1.5\nshape box glass -1 -0.7 0.1 1 0.7 1.4\n",
              {"type": "cube", "to_world": None}),
}


def mitsuba_picture(name, rays):
    """Path tracing does not find caustics of parallel light through smooth glass: a small sun stands for it, which rays may hit."""
    shape = dict(OBJECTS[name][1], bsdf={"type": "dielectric", "int_ior": 1.5, "ext_ior": 1.0})
    if name == "block":
        shape["to_world"] = transform().translate([0, 0, 0.75]) @ transform().scale([1, 0.7, 0.65])
    sun = numpy.array([0.4, 0.5, -0.77])
    sun /= numpy.linalg.norm(sun)
    size = 0.03  # of its distance; radiance so that the irradiance is 3
    scene = mitsuba.load_dict({
        "type": "scene",
        "integrator": {"type": "path", "max_depth": 10},
        "sensor": {"type": "perspective", "fov_axis": "y", "fov": 30, "to_world": transform().look_at(origin=[3.2, -6.4, 3.2], target=[0, 0, 0.9], up=[0, 0, 1]),
                   "film": {"type": "hdrfilm", "width": WIDTH, "height": HEIGHT_OF_PICTURE, "rfilter": {"type": "box"}, "pixel_format": "rgb"},
                   "sampler": {"type": "independent", "sample_count": rays}},
        "sky": {"type": "constant", "radiance": {"type": "rgb", "value": 1.0}},
        "sun": {"type": "disk", "to_world": transform().look_at(origin=list(-sun * 60), target=[0, 0, 0], up=[0, 0, 1]) @ transform().scale([60 * size, 60 * size, 1]),
                "emitter": {"type": "area", "radiance": {"type": "rgb", "value": 3 / (numpy.pi * size**2)}}},
        "thing": shape,
        "floor": {"type": "rectangle", "to_world": transform().scale([40, 40, 1]), "bsdf": {"type": "diffuse", "reflectance": {"type": "rgb", "value": 0.5}}},
    })
    before = own_seconds()
    total = sum(numpy.array(mitsuba.render(scene, spp=min(rays, 64), seed=i)) for i in range(max(1, rays // 64)))
    return total / max(1, rays // 64), own_seconds() - before


def pictures(tessera, folder, rays):
    rows = []
    for name, (text, _) in OBJECTS.items():
        scene = os.path.join(folder, name + ".txt")
        with open(scene, "w", encoding="ascii") as file:
            file.write("tessera-light 1\n" + text + LOOK)
        _, seconds = tessera_run(tessera, "light", scene, "-o", os.path.join(folder, name + "-tessera.png"), "--force", "--radiance-out", os.path.join(folder, name + ".npy"))
        radiance, peer_seconds = mitsuba_picture(name, rays)
        light = numpy.maximum(radiance * 0.35, 0)
        grey = light @ numpy.array([0.2126, 0.7152, 0.0722])
        light = light * ((1 + grey / 16) / (1 + grey))[..., None]  # the tone curve of LOOK
        light = numpy.where(light <= 0.0031308, 12.92 * light, 1.055 * numpy.maximum(light, 1e-9) ** (1 / 2.4) - 0.055)
        peer = (numpy.clip(light, 0, 1) * 255 + 0.5).astype(numpy.uint8)
        own = numpy.array(mitsuba.Bitmap(os.path.join(folder, name + "-tessera.png")))[..., :3]
        rows.append(numpy.concatenate([own, numpy.full((HEIGHT_OF_PICTURE, 8, 3), 255, numpy.uint8), peer], axis=1))
        print(f"view of the {name}: tessera {seconds:.1f} s with its light, Mitsuba's path tracer {peer_seconds:.1f} s at {rays} rays a pixel; they differ by {of_range(own / 255.0, peer / 255.0):.4f}"
              " of the range", flush=True)
    mitsuba.Bitmap(numpy.concatenate([rows[0], numpy.full((8, rows[0].shape[1], 3), 255, numpy.uint8), rows[1]], axis=0)).write(os.path.join(folder, "light-mitsuba.png"))


def main():
    quick = "--quick" in sys.argv
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    tessera = arguments[0]
    folder = tempfile.mkdtemp()
    if "--pictures" in sys.argv:
        pictures(tessera, arguments[1] if len(arguments) > 1 else folder, 64 if quick else 256)
        return
    rays = 512 if quick else 4096
    kinds = {"only refracting": {"type": "refracts", "eta": 1.5}, "reflecting": {"type": "dielectric", "int_ior": 1.5, "ext_ior": 1.0}}
    references = {}
    for name, glass in kinds.items():
        mitsuba_floor(glass, 16, 99)  # compiled
        few, few_seconds = mitsuba_floor(glass, 256, 1)
        reference, seconds = mitsuba_floor(glass, rays, 2)
        references[name] = reference, few, few_seconds
        print(f"ptracer, {name}: {rays} photons a texel, {seconds:.1f} s, error about {error(few, reference) * (256 / rays) ** 0.5:.4f}", flush=True)
    for resolution in (48, 96) if quick else (48, 96, 192):
        for name, (reference, few, few_seconds) in references.items():
            light, seconds, _ = tessera_floor(tessera, resolution, "no-fresnel" if name == "only refracting" else "", 0.003, 0.75, folder)
            own, peer = error(light, reference), error(few, reference)
            equal = few_seconds * (peer / own) ** 2
            print(f"tessera {resolution}^3, {name}: error {own:.4f} of the root mean square, {of_range(light, reference):.5f} of the range, {seconds:.2f} s;"
                  f" ptracer takes {equal:.3f} s to that error: {equal / seconds:.2f} x", flush=True)


if __name__ == "__main__":
    main()
