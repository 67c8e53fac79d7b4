# %% [markdown]
# # A film of water
# A dam breaks: particles are simulated, drawn, and written as a film and as a VC-2 stream that gives back the same pictures.

# %%
import numpy as np
import tessera as ts
from _data import OUT, SMALL, show

frames, size = (3, (192, 128)) if SMALL else (100, (960, 540))
sim = ts.FluidSim.scene("fluid-dam", count=1200 if SMALL else 60000)
print(ts.FluidSim.scenes()["fluid-dam"])
positions = sim.points().positions
solids = sim.solids().vertices
lower, upper = np.minimum(positions.min(axis=0), solids.min(axis=0)), np.maximum(positions.max(axis=0), solids.max(axis=0))
reach = float(np.linalg.norm(upper - lower))
middle = (lower + upper) / 2
camera = ts.Camera.look_at(middle + np.array([0.15, -1.0, 0.45]) * reach, middle, fov=35)

# %%
painter = ts.Fluid()
painter.sky("day")
pictures = []
for frame in range(frames):
    sim.advance(0.06 if SMALL else 0.02)
    pictures.append(painter.draw(sim.points(), camera, size, look="water", floor=(lower, upper)))
facts = sim.describe()
print(f"{facts.time:.2f} s, {facts.particles} particles, density error {facts.density_error:.1e}")
assert facts.density_error < 0.01 and pictures[0].array.std() > 5
show(pictures[-1], "05_fluid.png")

# %%
with ts.VideoWriter(OUT / "05_fluid.y4m", size, (50, 1), chroma="444") as film:
    for picture in pictures:
        film.append(picture)
given = [ts.VideoFrame.from_image(p, "420") for p in pictures]
stream = ts.dirac_encode(given, lossless=True)
back = list(ts.dirac_decode(stream))
assert all((a == b).all() for f, g in zip(given, back) for a, b in zip(f.planes, g.planes))
small = ts.dirac_encode(given, coding="arithmetic", quantiser=25)
psnr = [f.compare(g).psnr[0] for f, g in zip(ts.dirac_decode(small), given)]
samples = sum(p.nbytes for f in given for p in f.planes)
print(f"without loss 1 : {samples / len(stream):.1f}; with loss 1 : {samples / len(small):.0f} at {np.mean(psnr):.1f} dB")
