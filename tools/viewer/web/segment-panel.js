// What the panel, the windows and the tools of segmentation look like.
import { clipPanel, greyPanel, modeSelect, row } from "./panels.js";
import { viewSelect } from "./overlay.js";
import { labelPanel } from "./labels.js";

export const panel = `
<ol id="steps" aria-label="Three steps to a segmentation">
  <li data-step="probe"><button><b>1</b> Probe</button><small>drag over what you look for</small></li>
  <li data-step="paint"><button><b>2</b> Paint</button><small>a spot inside it</small></li>
  <li data-step="start"><button><b>3</b> Start</button><small>and watch it grow</small></li>
</ol>
<section class="run">
  <button id="start" class="primary" title="Start or pause (Space)">▶ Start</button>
  <button id="step" title="10 steps (S), a single one with Shift">Step</button>
  <button id="reset" title="No surface, no probes">Reset</button>
  <dl id="numbers">
    <div><dt>steps</dt><dd id="n-steps">0</dd></div><div><dt>steps/s</dt><dd id="n-rate">0</dd></div>
    <div><dt>volume</dt><dd id="n-volume">0</dd></div><div><dt title="Voxels in which the surface moves">moving</dt><dd id="n-active">0</dd></div>
  </dl>
  <p id="settled" class="quiet" role="status" aria-label="The run"></p>
</section>
<section>
  <h2>What to look for <span id="probe-text" class="quiet"></span></h2>
  ${row("target", "Grey value", "T", "The surface grows where the image has this value …")}
  ${row("epsilon", "Tolerance", "ε", "… give or take this much")}
  ${row("alpha", "Detail", "α", "Left smooth, right detailed: how much the grey values count beside the smoothness of the surface")}
  ${row("smoothing", "Blur", "σ mm", "The image is smoothed before it is looked at: against noise")}
  ${row("brush", "Brush", "mm", "Radius for painting and erasing; the probe has a third of it")}
  <p id="probe-warning" class="warn" role="status" aria-label="Warning about the probe" hidden></p>
  <div class="buttons"><select id="probe-sets" aria-label="What the probe sets" title="What the probe sets: what the surface looks for, or the transfer function of the 3-D window"><option value="speed">→ interval</option><option value="colours">→ colours</option></select>
    <button id="probe-undo">Undo probe</button><button id="probe-reset" title="Forget all probes">Forget</button></div>
</section>
<section>
  <h2>Inside</h2>
  <div class="buttons"><label for="fill">Fill</label><input id="fill" type="range" min="0" max="1" step="0.05" value="0" aria-label="Opacity of the filled inside"><input id="fill-colour" type="color" value="#f2c230" aria-label="Colour of the filled inside">
    <button id="load-mask" title="The chosen file below becomes the surface: go on from it">From mask</button></div>
  <details id="measures"><summary>Statistics <button id="measure" title="Volume, area and grey values of the inside">Measure</button></summary>
    <dl id="measured"></dl><canvas id="inside-histogram" height="40" role="img" aria-label="Histogram of the grey values inside" hidden></canvas></details>
</section>
${labelPanel}${greyPanel}${clipPanel}`;

const slice = (view, label, about, controls) => ({ view, kind: "slice", label, about, controls });
export const windows = [
  slice("source", "first", "Slice of the image with the surface as a yellow line"),
  slice("second", "second", "Second slice of the image with the surface as a yellow line"),
  slice("third", "third", "Third slice of the image with the surface as a yellow line"),
  slice("speed", "speed", "Speed of the surface: red where it grows, blue where it shrinks",
    `<select id="speed" aria-label="Which speed the window shows" title="Of the grey values alone (D), or with the curvature of the surface, what moves it now (F)"><option value="data">grey values (D)</option><option value="total">with curvature (F)</option></select>
     <span class="legend"><i class="grows"></i>grows <i class="shrinks"></i>shrinks</span>`),
  { view: "volume", kind: "volume", label: "3-D", about: "Surface and volume in three dimensions",
    controls: modeSelect([["combined", "Surface and volume"], ["surface", "Surface"], ["volume", "Volume"], ["inside", "Inside only"], ["mip", "Maximum intensity"]]) + viewSelect +
      `<p id="no-surface" hidden>No surface yet: paint one into a slice (3), or show the volume.</p>` },
];

export const layouts = {
  four: { label: "2 × 2", columns: "minmax(0,1fr) minmax(0,1fr)", rows: "minmax(0,1fr) minmax(0,1fr)",
    views: { source: "1/1/2/2", second: "1/2/2/3", third: "2/1/3/2", volume: "2/2/3/3" } },
  speed: { label: "With speed", columns: "minmax(0,5fr) minmax(0,6fr)", rows: "minmax(0,1fr) minmax(0,1fr)", views: { source: "1/1/2/2", speed: "2/1/3/2", volume: "1/2/3/3" } },
  large: { label: "1 + 3", columns: "minmax(0,3fr) minmax(0,1fr)", rows: "repeat(3,minmax(0,1fr))",
    views: { volume: "1/1/4/2", source: "1/2/2/3", second: "2/2/3/3", third: "3/2/4/3" } },
  two: { label: "Slice, 3-D", columns: "minmax(0,1fr) minmax(0,1fr)", rows: "minmax(0,1fr)", views: { source: "1/1/2/2", volume: "1/2/2/3" } },
};

export const tools = [
  { id: "navigate", label: "Navigate", sign: "+", key: "1", title: "Look around: drag sets the cross, right drag changes black and white, wheel turns slices" },
  { id: "probe", label: "Probe", sign: "⊙", key: "2", title: "Drag over the structure: grey value and tolerance from what is there" },
  { id: "paint", label: "Paint", sign: "●", key: "3", title: "Drag to add spheres to the surface", brush: true },
  { id: "erase", label: "Erase", sign: "○", key: "4", title: "Drag to take spheres away", brush: true },
  { id: "ruler", label: "Ruler", sign: "⟷", key: "5", title: "Drag in a slice to measure a distance" },
];

export const help = [
  ["<kbd>1</kbd> … <kbd>5</kbd>", "navigate, probe, paint, erase, ruler"],
  ["<kbd>Space</kbd> <kbd>S</kbd>", "start or pause, 10 steps (with Shift a single one)"],
  ["<kbd>P</kbd> or <kbd>Enter</kbd> in a slice", "the tool at the cross, without a mouse (<kbd>I</kbd> <kbd>J</kbd> <kbd>K</kbd> <kbd>L</kbd> move it)"],
  ["Right drag in a slice", "contrast (to the right) and brightness (upwards)"],
  ["Histogram", "drag points; double click adds or removes one; drag the ends of the window at the bottom, the interval at the top"],
];

export const saves = [["mask", "Mask", "NIfTI, 1 inside", "-mask.nii.gz"], ["mesh", "Mesh", "PLY", ".ply"], ["field", "Field", "Level set, NIfTI", "-field.nii.gz"],
  ["picture", "Picture", "3-D window, PNG", ".png"], ["session", "Session", "Script: repeats this segmentation exactly", ".session"],
  ["labels", "Labels", "NIfTI with the labels, and a text file with their names and colours", "-labels.nii.gz"]];
