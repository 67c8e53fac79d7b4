// Parts of panels that several modes have: grey values with the transfer function, the clipping plane.
import { Slider } from "./controls.js";
import { Transfer } from "./transfer.js";

export const row = (id, label, unit = "", title = "") => `<div class="slider" id="${id}-row"${title ? ` title="${title}"` : ""}><label for="${id}">${label} <small>${unit}</small></label>
  <input id="${id}" type="range"><input id="${id}-n" type="number" step="any" aria-label="${label}, number"></div>`;

export const greyPanel = `<section>
  <h2>Grey values and transfer function</h2>
  <canvas id="histogram" height="88" tabindex="0" role="img" aria-label="Histogram of the image with the window and the transfer function"></canvas>
  <div class="buttons"><select id="preset" aria-label="Preset of the transfer function"><option value="">Preset …</option><option value="mri-head">MRI head</option>
    <option value="mri-brain">MRI brain</option><option value="ct-bone">CT bone</option><option value="ct-soft">CT soft tissue</option><option value="grey">Grey</option></select>
    <input id="point-color" type="color" aria-label="Colour of the selected point" disabled><button id="window-reset" title="The window that suits the image">Full window</button></div>
  ${row("window-low", "Black")}${row("window-high", "White", "", "Right drag in a slice changes both")}
</section>`;

export const clipPanel = `<section>
  <h2><label><input id="clip" type="checkbox"> Clipping plane</label></h2>
  ${row("clip_offset", "Place")}${row("clip_azimuth", "Turn")}${row("clip_elevation", "Tilt")}${row("quality", "Detail", "MIP", "Share of the coefficients of the maximum intensity")}${row("see_through", "See through", "", "How far the surface shines through what hides it")}
</section>`;

export const modeSelect = (modes) => `<select id="mode" aria-label="What the 3-D window shows">${modes.map(([value, label]) => `<option value="${value}">${label}</option>`).join("")}</select>`;

export class GreyAndClip {
  constructor(shell, speed) {
    const { $, link, sliders } = shell, clip = (name) => (value) => shell.windows.volume.change({ [name]: value });
    const windowRange = (low, high) => low < high && link.input({ type: "window", low, high }) > 0;
    this.shell = shell;
    Object.assign(sliders, {
      low: new Slider("window-low", { change: (v) => windowRange(v, shell.state.window[1]) }),
      high: new Slider("window-high", { change: (v) => windowRange(shell.state.window[0], v) }),
      clip_offset: new Slider("clip_offset", { min: -1, max: 1, least: -1, most: 1, change: clip("clip_offset") }),
      clip_azimuth: new Slider("clip_azimuth", { min: -180, max: 180, step: 1, least: -180, most: 180, change: clip("clip_azimuth") }),
      clip_elevation: new Slider("clip_elevation", { min: -90, max: 90, step: 1, least: -90, most: 90, change: clip("clip_elevation") }),
      quality: new Slider("quality", { min: 0.01, max: 1, least: 0.01, most: 1, change: clip("quality") }),
      see_through: new Slider("see_through", { min: 0, max: 1, least: 0, most: 1, change: clip("see_through") }),
    });
    this.transfer = new Transfer($("histogram"), { points: (points) => link.input({ type: "transfer", points }), window: windowRange, speed });
    if (shell.histogram) this.transfer.takeHistogram(shell.histogram);
    $("window-reset").addEventListener("click", () => shell.image && windowRange(shell.image.window_low, shell.image.window_high));
    $("mode").addEventListener("change", () => shell.windows.volume.change({ mode: $("mode").value }));
    $("clip").addEventListener("change", () => shell.windows.volume.change({ clip: $("clip").checked }));
    $("preset").addEventListener("change", () => {
      if ($("preset").value) link.input({ type: "transfer", preset: $("preset").value });
      $("preset").value = "";
    });
  }

  image(image) {
    const step = (image.maximum - image.minimum) / 512;
    for (const id of ["low", "high"]) this.shell.sliders[id].limits(image.minimum, image.maximum, step, image.minimum, image.maximum);
  }

  state(state) {
    const { $, sliders } = this.shell, look = state.views.volume;
    sliders.low.take(state.window[0]);
    sliders.high.take(state.window[1]);
    for (const name of ["clip_offset", "clip_azimuth", "clip_elevation", "quality", "see_through"]) sliders[name].take(look[name]);
    $("mode").value = look.mode;
    $("clip").checked = look.clip;
    $("quality-row").hidden = look.mode !== "mip";
    $("see_through-row").hidden = look.mode !== "combined";
    this.transfer.take(state);
  }
}
