// The workbench: what ties windows, panel and server together. docs/guide/workbench.md is its manual.
import { Connection } from "./connection.js";
import { Slider, ask, endWarnings, message, returnKeys, stem } from "./controls.js";
import { Transfer } from "./transfer.js";
import { Window } from "./windows.js";

const $ = (id) => document.getElementById(id);
const link = new Connection();
const bench = { link, driving: false, image: null, state: null, tool: "navigate", brush: 8, probeRadius: 3, cross: null, extent: 200 };

// ---- windows ----

const windows = Object.fromEntries([...document.querySelectorAll(".window")].map((e) => [e.dataset.view, new Window(e, bench)]));
const slices = [windows.source, windows.speed];

bench.setCross = (voxel, from) => {
  bench.cross = voxel.map((v, i) => (i === from.look.axis ? from.look.position : v));
  for (const other of slices)
    if (other !== from && other.look.axis !== from.look.axis) other.change({ position: Math.round(Math.max(0, bench.cross[other.look.axis])) });
  for (const w of slices) w.draw();
};
// The windows of one direction show the same slice.
bench.follow = (from) => {
  for (const other of slices) if (other !== from && other.look.axis === from.look.axis) other.change({ position: from.look.position });
};
bench.under = (voxel, w) => {
  if (!voxel || !bench.image || !w.inside(voxel)) return;
  w.canvas.title = "";
};

link.addEventListener("frame", ({ detail: frame }) => windows[frame.view].show(frame));

// ---- panel ----

const set = (name) => (value) => link.input({ type: "set", name, value });
const clip = (name) => (value) => windows.volume.change({ [name]: value });
const windowRange = (low, high) => low < high && link.input({ type: "window", low, high }) > 0;
const sliders = {
  target: new Slider("target", { change: set("target") }),
  epsilon: new Slider("epsilon", { least: 0, change: (v) => v > 0 && set("epsilon")(v) }),
  alpha: new Slider("alpha", { max: 1, step: 0.01, least: 0, most: 1, change: set("alpha") }),
  smoothing: new Slider("smoothing", { max: 4, step: 0.1, least: 0, change: set("smoothing") }),
  brush: new Slider("brush", { min: 1, max: 40, step: 0.5, least: 0.1, change: (v) => { bench.brush = v; bench.probeRadius = Math.max(1, bench.brush / 3); } }),
  low: new Slider("window-low", { change: (v) => windowRange(v, bench.state.window[1]) }),
  high: new Slider("window-high", { change: (v) => windowRange(bench.state.window[0], v) }),
  clip_offset: new Slider("clip_offset", { min: -1, max: 1, least: -1, most: 1, change: clip("clip_offset") }),
  clip_azimuth: new Slider("clip_azimuth", { min: -180, max: 180, step: 1, least: -180, most: 180, change: clip("clip_azimuth") }),
  clip_elevation: new Slider("clip_elevation", { min: -90, max: 90, step: 1, least: -90, most: 90, change: clip("clip_elevation") }),
  quality: new Slider("quality", { min: 0.01, max: 1, least: 0.01, most: 1, change: clip("quality") }),
};
sliders.brush.set(bench.brush, false);

const transfer = new Transfer($("histogram"), {
  points: (points) => link.input({ type: "transfer", points }),
  window: windowRange,
  speed: (name, value) => set(name)(value),
});
link.addEventListener("histogram", ({ detail }) => transfer.takeHistogram(detail));

function chooseTool(tool) {
  bench.tool = tool;
  for (const button of document.querySelectorAll("[data-tool]")) button.setAttribute("aria-checked", button.dataset.tool === tool);
  for (const w of Object.values(windows)) {
    w.canvas.style.cursor = tool === "navigate" ? "crosshair" : w.flat ? "none" : "cell";
    w.draw();
  }
}
for (const button of document.querySelectorAll("[data-tool]")) button.addEventListener("click", () => chooseTool(button.dataset.tool));
chooseTool("navigate");

const run = {
  start: () => {
    endWarnings();
    link.input({ type: bench.state?.running ? "pause" : "start" });
  },
  step: (event) => link.input({ type: "step", count: event?.shiftKey ? 1 : 10 }),
  undo: () => link.input({ type: "undo" }),
  redo: () => link.input({ type: "redo" }),
  reset: () => link.input({ type: "reset" }),
  "probe-undo": () => link.input({ type: "probe-undo" }),
  "probe-reset": () => link.input({ type: "probe-reset" }),
  drive: () => link.send({ type: "drive" }),
  "window-reset": () => bench.image && windowRange(bench.image.window_low, bench.image.window_high),
  load: async () => {
    const name = $("files").value;
    if (!name) return;
    if (!/\.(session|txt)$/.test(name) && bench.state?.unsaved) { // of a session Undo goes back
      $("ask-load-name").textContent = name;
      if (!(await ask("ask-load"))) return;
    }
    endWarnings();
    link.input({ type: "load", name });
  },
  "help-button": () => $("help").showModal(),
  theme: () => setTheme(document.documentElement.dataset.theme === "light" ? "dark" : "light"),
};
for (const [id, action] of Object.entries(run)) $(id).addEventListener("click", action);
returnKeys(document);
$("speed").addEventListener("change", () => windows.speed.change({ speed: $("speed").value }));
$("mode").addEventListener("change", () => windows.volume.change({ mode: $("mode").value }));
$("probe-sets").addEventListener("change", () => { bench.probesColours = $("probe-sets").value === "colours"; });
$("clip").addEventListener("change", () => windows.volume.change({ clip: $("clip").checked }));
$("preset").addEventListener("change", () => {
  if ($("preset").value) link.input({ type: "transfer", preset: $("preset").value });
  $("preset").value = "";
});
for (const type of ["pointerdown", "focus"]) $("files").addEventListener(type, () => link.send({ type: "files" }));
addEventListener("focus", () => link.send({ type: "files" }));

const ENDING = { mask: "-mask.nii.gz", mesh: ".ply", field: "-field.nii.gz", picture: ".png", session: ".session" };
for (const button of document.querySelectorAll("[data-save]"))
  button.addEventListener("click", () => {
    const what = button.dataset.save, name = (stem($("save-name").value) || "segmentation") + ENDING[what];
    link.input({ type: "save", what, name, replace: $("replace").checked });
  });

// ---- what the server says ----

function showImage(image) {
  const fresh = image?.name !== bench.image?.name || image?.version !== bench.image?.version;
  bench.image = image;
  $("image-name").textContent = image ? image.name : "no image";
  $("image-about").textContent = image ? `${image.size.join(" × ")}, ${image.spacing.map((v) => +v.toPrecision(3)).join(" × ")} mm` : "";
  document.title = image ? `${image.name} – tessera` : "tessera workbench";
  if (!image || !fresh) return;
  const range = image.maximum - image.minimum, step = range / 512;
  bench.extent = Math.max(...image.size.map((n, i) => n * image.spacing[i]));
  bench.cross = image.size.map((n) => (n - 1) / 2);
  for (const id of ["target", "low", "high"]) sliders[id].limits(image.minimum, image.maximum, step, image.minimum, image.maximum);
  sliders.epsilon.limits(step, range / 2, step, 0, range);
  sliders.smoothing.limits(0, 4, 0.1, 0, bench.extent / 4);
  sliders.brush.limits(Math.min(1, bench.extent / 50), Math.max(1, Math.round(bench.extent / 5)), bench.extent > 50 ? 0.5 : bench.extent / 500, bench.extent / 1000, bench.extent / 2);
  sliders.brush.set(+(bench.extent / 25).toPrecision(2), true);
  $("save-name").value = stem(image.name) || image.name;
}

link.addEventListener("state", ({ detail: state }) => {
  if (bench.state && bench.state.session !== state.session)
    message("The server was started anew: surface, probes and steps of before are gone unless they were saved. Saved sessions can be loaded.", "warning");
  bench.state = state;
  showImage(state.image);
  for (const name of ["target", "epsilon", "alpha", "smoothing"]) sliders[name].take(state[name]);
  sliders.low.take(state.window[0]);
  sliders.high.take(state.window[1]);
  for (const [view, w] of Object.entries(windows)) w.take(state.views[view], state.image);
  const look = state.views.volume;
  for (const name of ["clip_offset", "clip_azimuth", "clip_elevation", "quality"]) sliders[name].take(look[name]);
  $("mode").value = look.mode;
  $("speed").value = state.views.speed.speed;
  $("clip").checked = look.clip;
  $("quality-row").hidden = look.mode !== "mip";
  transfer.take(state);
  $("start").textContent = state.busy ? `${state.busy} …` : state.running ? "❚❚ Pause" : "▶ Start";
  $("start").disabled = !!state.busy || !state.image;
  $("step").disabled = state.running || !state.surface;
  $("undo").disabled = !state.undo;
  $("redo").disabled = !state.redo;
  $("no-surface").hidden = !state.image || state.surface || (look.mode !== "surface" && look.mode !== "inside");
  $("n-steps").textContent = state.steps.toLocaleString("en");
  $("n-rate").textContent = state.running ? Math.round(state.steps_per_second).toLocaleString("en") : "–";
  $("n-volume").textContent = state.volume >= 1000 ? `${(state.volume / 1000).toPrecision(4)} ml` : `${Math.round(state.volume)} mm³`;
  $("n-active").textContent = state.surface && !state.active_voxels ? "–" : state.active_voxels >= 10000 ? `${Math.round(state.active_voxels / 1000)} k` : state.active_voxels;
  $("probe-text").textContent = state.probe.count ? `probed ${state.probe.mean.toPrecision(3)} ± ${state.probe.deviation.toPrecision(2)} (${state.probe.count})` : "not probed yet";
});

link.addEventListener("driver", ({ detail }) => {
  const driving = detail.driver === detail.you, began = driving && !bench.driving;
  bench.driving = driving;
  document.body.classList.toggle("watching", !driving);
  $("drive").hidden = driving;
  $("pages").textContent = detail.clients > 1 ? `${detail.clients} pages` : "";
  if (began) for (const w of Object.values(windows)) w.resize();
});
link.addEventListener("error", ({ detail }) => {
  message(detail.text, "error");
  for (const slider of Object.values(sliders)) slider.restore();
});
link.addEventListener("warning", ({ detail }) => message(detail.text, "warning"));
link.addEventListener("notice", ({ detail }) => message(detail.text, "notice"));
link.addEventListener("saved", ({ detail }) => {
  const item = document.createElement("li"), anchor = document.createElement("a");
  anchor.href = `file/${encodeURIComponent(detail.text)}`;
  anchor.download = anchor.textContent = detail.text;
  item.append(anchor);
  $("saved").prepend(item);
  while ($("saved").children.length > 5) $("saved").lastChild.remove();
  item.scrollIntoView({ block: "nearest" });
  message(`saved ${detail.text}`, "notice");
  link.send({ type: "files" });
});
link.addEventListener("files", ({ detail }) => {
  const chosen = $("files").value;
  $("files").replaceChildren(...detail.names.map((name) => new Option(name)));
  if (detail.names.includes(chosen)) $("files").value = chosen;
});
link.addEventListener("open", () => {
  $("lost").hidden = true;
  $("link").classList.add("on");
  $("link").title = "connected";
  $("link").setAttribute("aria-label", "connected");
  link.send({ type: "files" });
});
const LOST = { none: "No connection to the server: what the windows show is old. Trying again …",
  busy: "The server answers but takes no more pages, or has just come back: what the windows show is old. Trying again …",
  stranger: "The server was started anew and does not know this address: what the windows show is old. Open the address that it has printed." };
link.addEventListener("closed", ({ detail }) => {
  $("lost").textContent = LOST[detail.reason];
  bench.driving = false;
  document.body.classList.add("watching");
  $("drive").hidden = true;
  $("lost").hidden = false;
  $("link").classList.remove("on");
  $("link").title = "no connection";
  $("link").setAttribute("aria-label", "no connection");
});

// ---- keys, theme, meter ----

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input[type=text], input[type=number], select, dialog *") || event.altKey || event.metaKey) return;
  if (event.ctrlKey && !"zyZ".includes(event.key)) return;
  const keys = { 1: () => chooseTool("navigate"), 2: () => chooseTool("probe"), 3: () => chooseTool("paint"), 4: () => chooseTool("erase"), " ": run.start, s: run.step, z: run.undo,
    y: run.redo, "[": () => sliders.brush.set(bench.brush / 1.15, true), "]": () => sliders.brush.set(bench.brush * 1.15, true), "?": run["help-button"] };
  const key = event.key.toLowerCase(), action = key === "z" && event.shiftKey ? run.redo : keys[key];
  if (!action || (event.key === " " && event.target.matches("button, input:not([type=range])"))) return; // who came to a button by Tab presses it
  event.preventDefault();
  action(event);
});

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("theme", theme); } catch { /* private windows */ }
}
let stored = null;
try { stored = localStorage.getItem("theme"); } catch { /* private windows */ }
setTheme(stored ?? (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark"));

setInterval(() => {
  const s = link.statistics(false);
  $("meter").textContent = s.pictures ? `${s.pictures.toFixed(0)} pictures/s` + (s.median === null ? "" : `, ${s.median.toFixed(0)} ms`) : ""; // empty at rest
}, 500);

window.tessera = { bench, link, windows, sliders, statistics: (clear) => link.statistics(clear) }; // for tests and the curious
