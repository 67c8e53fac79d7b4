# %% [markdown]
# # Denoising
# Noise is added to an MRI, so that what was lost is known, and wavelet shrinkage takes it away again, better than a Gaussian of the best width does.

# %%
import numpy as np
import tessera as ts
from _data import SMALL, real, show

path = real("mri/ch2.nii.gz")
if path:
    clean = ts.read(path).array[60:92, 80:144, 60:124] if SMALL else ts.read(path).array[50:130]
else:
    clean = np.clip(200 - 8 * np.abs(np.sqrt(sum((g - 24.0) ** 2 for g in np.mgrid[:48, :48, :48])) - 14), 0, 255)
clean = np.ascontiguousarray(clean, np.float32)
sigma = 12.0
noisy = clean + np.random.default_rng(5).normal(0, sigma, clean.shape).astype(np.float32)


def psnr(values):
    return 10 * np.log10(255.0**2 / np.mean((np.asarray(values, float) - clean) ** 2))


# %%
results = {"noisy": noisy, "Gaussian": ts.smooth(noisy, 0.7).array, "wavelets": ts.denoise(noisy, sigma=sigma).array, "wavelets, shifted": ts.denoise(noisy, sigma=sigma, shifts=2 if SMALL else 4).array}
for name, values in results.items():
    print(f"{name:20} {psnr(values):6.2f} dB")
assert psnr(results["wavelets, shifted"]) > psnr(results["Gaussian"]) + 0.3 and psnr(results["wavelets"]) > psnr(noisy) + 3
middle = clean.shape[0] // 2
sheet = np.concatenate([np.clip(results[k][middle], 0, 255).astype(np.uint8)[::-1] for k in ("noisy", "Gaussian", "wavelets, shifted")], axis=1)
show(ts.Image(sheet), "07_denoise.png")
