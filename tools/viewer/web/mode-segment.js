// Segmentation: probe, paint, start.
import { Slider } from "./controls.js";
import { GreyAndClip } from "./panels.js";
import { Labels } from "./labels.js";
import { drawRuler, listenToViews } from "./overlay.js";
import { Stroke } from "./stroke.js";
import * as look from "./segment-panel.js";

let shell, grey, labels, ruler = null, measuredAt = -1;
const COLOURS = { probe: "#5ac8fa", paint: "#f2c230", erase: "#ff7b72" };
const MOST_OF_HISTOGRAM = 0.6, NARROW = 0.02; // shares of the image, of its range

function mount(given) {
  shell = given;
  const { $, link, sliders } = shell, set = (name) => (value) => link.input({ type: "set", name, value });
  Object.assign(sliders, {
    target: new Slider("target", { change: set("target") }),
    epsilon: new Slider("epsilon", { least: 0, change: (v) => v > 0 && set("epsilon")(v) }),
    alpha: new Slider("alpha", { max: 1, step: 0.01, least: 0, most: 1, change: set("alpha") }),
    smoothing: new Slider("smoothing", { max: 4, step: 0.1, least: 0, change: set("smoothing") }),
    brush: new Slider("brush", { min: 1, max: 40, step: 0.5, least: 0.1, change: (v) => { shell.brush = v; shell.probeRadius = Math.max(1, shell.brush / 3); } }),
  });
  shell.probeRadius = 3;
  sliders.brush.set(shell.brush, false);
  grey = new GreyAndClip(shell, (name, value) => set(name)(value));
  const run = {
    start: () => { shell.endWarnings(); link.input({ type: shell.state?.running ? "pause" : "start" }); },
    step: (event) => link.input({ type: "step", count: event?.shiftKey ? 1 : 10 }),
    reset: () => link.input({ type: "reset" }),
    "probe-undo": () => link.input({ type: "probe-undo" }),
    "probe-reset": () => link.input({ type: "probe-reset" }),
    measure: (event) => { event.preventDefault(); $("measures").open = true; link.input({ type: "statistics" }); },
    "load-mask": () => shell.load($("files").value, "mask"),
  };
  for (const [id, action] of Object.entries(run)) $(id).addEventListener("click", action);
  Object.assign(shell.keys, { " ": run.start, s: run.step });
  for (const step of document.querySelectorAll("#steps li"))
    step.querySelector("button").addEventListener("click", () => (step.dataset.step === "start" ? run.start() : shell.chooseTool(step.dataset.step)));
  $("speed").addEventListener("change", () => shell.windows.speed.change({ speed: $("speed").value }));
  $("probe-sets").addEventListener("change", () => { shell.probesColours = $("probe-sets").value === "colours"; });
  const fill = () => link.input({ type: "mask", opacity: +$("fill").value, colour: [1, 3, 5].map((i) => parseInt($("fill-colour").value.slice(i, i + 2), 16) / 255) });
  for (const id of ["fill", "fill-colour"]) $(id).addEventListener("input", fill);
  listenToViews(shell);
  labels = new Labels(shell);
}

// ---- tools ----

function messages(tool) {
  const radius = tool === "probe" ? shell.probeRadius : shell.brush, colours = tool === "probe" && shell.probesColours ? { colours: true } : {};
  return {
    slice: ({ from, to, first }) => (tool === "probe"
      ? { type: "probe", at: to, radius, ...colours, ...(colours.colours ? { begin: first } : {}) }
      : { type: tool, from, ...(first ? { begin: true } : { to }), radius }),
    ray: ({ x, y, first }) => ({ type: "pick", x, y, action: tool, begin: first, radius, ...colours }),
  };
}

function begin(w, at) {
  if (shell.tool === "ruler") {
    const a = w.flat && w.voxel(...at);
    if (!a || !w.inside(a)) return null;
    a[w.look.axis] = w.look.position;
    ruler = { view: w.view, a, b: a };
    return { move: (to) => { ruler.b = w.voxel(...to).map((v, i) => (i === w.look.axis ? w.look.position : v)); w.draw(); } };
  }
  const stroke = new Stroke(w, at, messages(shell.tool));
  return stroke.valid ? stroke : null;
}

function draw(c, w) {
  drawRuler(c, w, ruler);
  if (w.flat && COLOURS[shell.tool]) w.drawBrush(c, shell.tool === "probe" ? shell.probeRadius : shell.brush, COLOURS[shell.tool]);
}

// Without a mouse: i, j, k, l move the cross in the slice that has the keys, Enter or p uses the tool there.
function windowKey(w, event) {
  if (!w.flat || !w.frame || !shell.cross || !shell.driving) return false;
  const [x, y] = w.place(shell.cross), step = 2 / w.pixel * (event.shiftKey ? 5 : 1), by = { j: [-step, 0], l: [step, 0], i: [0, -step], k: [0, step] }[event.key.toLowerCase()];
  if (by) {
    const to = w.voxel(x + by[0], y + by[1]);
    if (w.inside(to)) shell.setCross(to, w);
  } else if ((event.key === "Enter" || event.key === "p") && ["probe", "paint", "erase"].includes(shell.tool)) {
    const say = messages(shell.tool).slice;
    shell.link.input(say({ from: shell.cross, to: shell.cross, first: true }));
  } else return false;
  event.preventDefault();
  event.stopPropagation();
  return true;
}

// ---- what the server says ----

// Share of the voxels that are not background whose value lies in the interval: a probe that takes in most of the image finds nothing.
function share(state) {
  const h = shell.histogram;
  if (!h) return 0;
  const part = (h.upper - h.lower) / h.counts.length, first = h.counts.indexOf(Math.max(...h.counts)) === 0 ? 1 : 0;
  let all = 0, within = 0;
  h.counts.forEach((n, i) => {
    const v = h.lower + (i + 0.5) * part;
    if (i < first) return;
    all += n;
    if (Math.abs(v - state.target) <= state.epsilon) within += n;
  });
  return all ? within / all : 0;
}

function warnOfProbe(state) {
  const most = share(state), warning = shell.$("probe-warning"), range = state.image ? state.image.maximum - state.image.minimum : 0;
  const narrow = state.epsilon < NARROW * range;
  warning.hidden = !(state.probe.count && (narrow || most > MOST_OF_HISTOGRAM));
  if (!warning.hidden)
    warning.textContent = narrow ? "The interval is very narrow: the surface may find nothing to grow into. Probe a wider part of the structure, its edge too, or make the tolerance larger." : `The interval takes in ${Math.round(100 * most)} % of the image: the surface will not stop at the structure. Forget the probes and drag over it alone, or make the tolerance smaller.`;
}

function showSteps(state) {
  const done = { probe: state.probe.count > 0, paint: state.surface, start: state.steps > 0 };
  shell.$("steps").hidden = done.start && state.surface;
  let next = true;
  for (const step of document.querySelectorAll("#steps li")) {
    const is = done[step.dataset.step];
    step.classList.toggle("done", is);
    if (!is && next) step.setAttribute("aria-current", "step");
    else step.removeAttribute("aria-current");
    next &&= is;
  }
}

const volume = (v) => (v >= 1000 ? `${(v / 1000).toPrecision(4)} ml` : `${Math.round(v)} mm³`);

function state(state) {
  const { $, sliders } = shell, busy = state.busy;
  for (const name of ["target", "epsilon", "alpha", "smoothing"]) sliders[name].take(state[name]);
  grey.state(state);
  labels.state(state);
  $("speed").value = state.views.speed.speed;
  if (document.activeElement !== $("fill")) $("fill").value = state.mask[0];
  $("start").textContent = busy ? `${busy} …` : state.running ? "❚❚ Pause" : "▶ Start";
  $("start").disabled = !!busy || !state.image;
  $("step").disabled = state.running || !state.surface;
  $("measure").disabled = !state.surface;
  $("load-mask").disabled = !state.image;
  const mode = state.views.volume.mode;
  $("no-surface").hidden = !state.image || state.surface || (mode !== "surface" && mode !== "inside");
  $("n-steps").textContent = state.steps.toLocaleString("en");
  $("n-rate").textContent = state.running ? Math.round(state.steps_per_second).toLocaleString("en") : "–";
  $("n-volume").textContent = volume(state.volume);
  $("n-active").textContent = state.surface && !state.active_voxels ? "–" : state.active_voxels >= 10000 ? `${Math.round(state.active_voxels / 1000)} k` : state.active_voxels;
  $("probe-text").textContent = state.probe.count ? `probed ${state.probe.mean.toPrecision(3)} ± ${state.probe.deviation.toPrecision(2)} (${state.probe.count})` : "not probed yet";
  $("settled").textContent = state.running ? "moving …" : state.surface && state.steps ? "at rest" : "";
  if (measuredAt >= 0 && state.inside_voxels !== measuredAt) $("measured").classList.add("old");
  showSteps(state);
  warnOfProbe(state);
}

function statistics(s) {
  const { $ } = shell, rows = { Volume: `${(s.volume / 1000).toPrecision(4)} ml`, Area: `${Math.round(s.area).toLocaleString("en")} mm²`, "Grey values": `${s.mean.toPrecision(4)} ± ${s.deviation.toPrecision(3)}`,
    Range: `${+s.minimum.toPrecision(4)} to ${+s.maximum.toPrecision(4)}`, Voxels: s.voxels.toLocaleString("en"), Pieces: s.components };
  measuredAt = s.voxels;
  $("measured").classList.remove("old");
  $("measured").innerHTML = Object.entries(rows).map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join("");
  const canvas = $("inside-histogram"), c = canvas.getContext("2d"), most = Math.log1p(Math.max(1, ...s.counts));
  canvas.hidden = false;
  canvas.width = 512;
  s.counts.forEach((n, i) => {
    c.fillStyle = "#f2c230";
    c.fillRect(i * 2, 40 - (Math.log1p(n) / most) * 38, 2, 40);
  });
}

function imageChanged(image) {
  const { sliders, extent } = shell, range = image.maximum - image.minimum, step = range / 512;
  ruler = null;
  measuredAt = -1;
  shell.$("measured").replaceChildren();
  sliders.target.limits(image.minimum, image.maximum, step, image.minimum, image.maximum);
  grey.image(image);
  sliders.epsilon.limits(step, range / 2, step, 0, range);
  sliders.smoothing.limits(0, 4, 0.1, 0, extent / 4);
  sliders.brush.limits(Math.min(1, extent / 50), Math.max(1, Math.round(extent / 5)), extent > 50 ? 0.5 : extent / 500, extent / 1000, extent / 2);
  sliders.brush.set(+(extent / 25).toPrecision(2), true);
}

export default { name: "segment", ...look, opens: /\.(nii|nii\.gz|nrrd|nhdr|mha|mhd|inr|inr\.gz|tsc|hdr)$/i, mount, begin, draw, windowKey, state, statistics, imageChanged,
  histogram: (h) => grey.transfer.takeHistogram(h), ruler: () => ruler };
