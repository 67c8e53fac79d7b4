# %% [markdown]
# # A level set of your own speed
# The speed of a front is a function of the place that you write: in Python, as an array (here), or in C, as a module that the solver loads
# (`tessera_add_term`, docs/guide/levelset.md), which then runs on a GPU as well.

# %%
import numpy as np
import tessera as ts
from _data import SMALL, show

spacing = 1.0 if SMALL else 0.5
front = ts.shape("sphere", radius=4, spacing=spacing, centre=(0, 0, 0))
front


# %%
def speed(x, y, z):
    """Fast along a spiral that winds up z, slow elsewhere."""
    angle = np.arctan2(y, x)
    near = np.hypot(np.hypot(x, y) - 12, (z - 4 * (angle / np.pi)) % 8 - 4)
    return 1.5 * np.exp(-((near / 2.5) ** 2)) + 0.15 + (np.hypot(np.hypot(x, y), z) < 9)


reports = []
for _ in range(6 if SMALL else 24):
    reports.append(ts.evolve(front, speed=speed, duration=1.0 if SMALL else 0.75))
print(f"{sum(r.steps for r in reports)} steps, volume {front.measure().volume:.0f}")

# %%
# With a speed that is known everywhere the answer is, too: a ball under speed 1 grows by the time.
ball = ts.shape("sphere", radius=5, spacing=0.5)
ts.evolve(ball, speed=lambda x, y, z: np.ones_like(x), duration=2.0, space="weno5", time="rk3")
radius = (ball.measure().volume * 3 / 4 / np.pi) ** (1 / 3)
print(f"radius {radius:.3f}, expected 7")
assert abs(radius - 7) < 0.05
show(ts.render(front, azimuth=30, elevation=30, size=(320, 240) if SMALL else (960, 720)), "10_speed.png")
