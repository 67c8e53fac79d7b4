/* light/scene_list.c: the scenes that come with the library. */
#include "light/light_scene.h"

static const tsr_light_scene_info scenes[] = {
    { "wine-glass", "a glass of red wine in the evening sun, with its caustic on the table",
      "tessera-light 1\n"
      "# A glass of red wine, low sun from the left behind.\n"
      "box -1.05 -1.05 -0.02 1.05 1.05 2.98\n"
      "resolution 160\n"
      "smooth 0.7\n"
      "material glass index 1.5\n"
      "material wine index 1.34 absorb 0.35 3.4 2.6\n"
      "# the wine reaches into the middle of the wall, the glass is drawn over it\n"
      "shape revolve wine 0 0 0 1.24 0.14 1.25 0.42 1.38 0.66 1.60 0.79 1.92 0.79 1.95 0 1.95\n"
      "shape revolve glass 0 0 curve corner 0 0.02 0.70 0.02 0.76 0.05 0.70 0.085 0.22 0.15 0.085 0.34 0.075 0.70 0.085 1.00 \\\n"
      "  0.16 1.16 0.42 1.31 0.66 1.53 0.81 1.90 0.80 2.20 0.73 2.60 0.655 2.90 0.63 2.92 0.60 2.90 0.67 2.60 0.735 2.20 \\\n"
      "  0.745 1.90 0.61 1.57 0.39 1.38 0.14 1.27 corner 0 1.25 corner 0 0.6\n"
      "light directional 0.80 0.42 -0.62 3.2 3.0 2.6\n"
      "floor -0.03 extent 7 texels 1024 color 0.62 0.55 0.47 ambient 0.30 0.32 0.36 fade 16 gloss 0.02\n"
      "sky 0.30 0.27 0.25 0.80 0.82 0.86 0.42 0.52 0.68\n"
      "panel -1 0.35 0.55 30 44 7 6.6 6\n"
      "panel 1 0.2 0.5 16 50 2.6 2.8 3.1\n"
      "ambient 0.5 0.5 0.5\n"
      "camera 1.2 -7.4 2.9 0.42 0 1.08 27\n"
      "simulate go-on grid 96\n"
      "view size 800 800 samples 4 step 0.4 reflections 1\n"
      "tone exposure 0.85 white 3\n" },
    { "glass-sphere", "a ball of glass on a chequered floor under a lamp",
      "tessera-light 1\n"
      "box -1.1 -1.1 -0.02 1.1 1.1 2.18\n"
      "resolution 128\n"
      "material glass index 1.5 absorb 0.02 0.01 0.03\n"
      "shape sphere glass 0 0 1.05 1\n"
      "light point -3 -2.2 6.5 75 72 66\n"
      "floor -0.03 extent 8 texels 1024 color 0.7 0.7 0.7 second 0.18 0.2 0.24 square 0.7 ambient 0.22 0.24 0.28 fade 18\n"
      "sky 0.2 0.2 0.22 0.75 0.8 0.88 0.35 0.48 0.7\n"
      "panel -0.5 -0.4 0.9 26 26 9 9 8.6\n"
      "camera 2.6 -5.6 2.9 0.1 0.1 0.75 32\n"
      "simulate go-on grid 96\n"
      "view size 800 600 samples 4 step 0.4\n"
      "tone exposure 0.9 white 3\n" },
};

int tsr_light_scene_at(int32_t index, tsr_light_scene_info *info)
{
    if (index < 0 || index >= (int32_t)(sizeof scenes / sizeof *scenes) || !info) return 0;
    *info = scenes[index];
    return 1;
}
