// The shell: connection, driving and watching, files, tabs, theme, keys, undo and redo, windows. What a page is for comes from a mode, an ES module that the
// server names in its state (docs/guide/workbench-mode.md). docs/guide/workbench.md is the manual.
import { Connection } from "./connection.js";
import { ask, endWarnings, message, returnKeys, stem } from "./controls.js";
import { acceptFiles } from "./drop.js";
import { Layout } from "./layout.js";

const $ = (id) => document.getElementById(id);
const link = new Connection();
export const shell = { link, driving: false, own: false, image: null, state: null, mode: null, tool: "navigate", brush: 8, cross: null, extent: 200, sliders: {}, windows: {}, keys: {},
  $, message, endWarnings };
const layout = new Layout(shell);
shell.setLayout = (name) => layout.choose(name);

// ---- the mode ----

let mounting = null;
async function mount(name) {
  const { default: mode } = await import(`./mode-${name}.js`);
  document.body.dataset.mode = name;
  $("panel").innerHTML = mode.panel;
  $("saves").innerHTML = mode.saves.map(([what, label, title]) => `<button data-save="${what}" title="${title}">${label}</button>`).join("");
  document.querySelector(".tools").innerHTML = mode.tools.map(({ id, label, sign, key, title }) =>
    `<button role="radio" data-tool="${id}" aria-checked="false" title="${title} (${key})"><b aria-hidden="true">${sign}</b> <span>${label}</span> <kbd>${key}</kbd></button>`).join("");
  $("keys").innerHTML = [...COMMON_KEYS, ...mode.help].map(([keys, what]) => `<div><dt>${keys}</dt><dd>${what}</dd></div>`).join("");
  shell.mode = mode;
  layout.build(mode);
  mode.saves.forEach(([what, , , ending], i) =>
    $("saves").children[i].addEventListener("click", () => {
      const wanted = $("save-name").value.trim(), own = mode.endings?.test(wanted) && what !== "session" && what !== "picture" && !ending.startsWith("-") && wanted.endsWith(ending);
      link.input({ type: "save", what, name: own ? wanted : (stem(wanted) || name) + ending, replace: $("replace").checked });
    }));
  for (const tool of mode.tools) {
    document.querySelector(`[data-tool=${tool.id}]`).addEventListener("click", () => chooseTool(tool.id));
    shell.keys[tool.key] = () => chooseTool(tool.id);
  }
  mode.mount(shell);
  chooseTool(mode.tools[0].id);
  document.querySelector(".tools").addEventListener("keydown", (event) => { // one group, as radio buttons are
    const ids = mode.tools.map((t) => t.id), by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    chooseTool(ids[(ids.indexOf(shell.tool) + by + ids.length) % ids.length]);
    document.querySelector(`[data-tool=${shell.tool}]`).focus();
  });
}

function chooseTool(tool) {
  shell.tool = tool;
  for (const button of document.querySelectorAll("[data-tool]")) {
    button.setAttribute("aria-checked", button.dataset.tool === tool);
    button.tabIndex = button.dataset.tool === tool ? 0 : -1;
  }
  shell.mode.toolChosen?.(tool);
  for (const w of Object.values(shell.windows)) {
    w.canvas.style.cursor = shell.mode.tools.find((t) => t.id === tool).brush ? "none" : tool === "navigate" ? "crosshair" : "cell";
    w.draw();
  }
}
shell.chooseTool = chooseTool;

// ---- places ----

shell.slices = () => Object.values(shell.windows).filter((w) => w.flat);
shell.setCross = (voxel, from) => {
  shell.picking = undefined;
  shell.cross = voxel.map((v, i) => (i === from.look.axis ? from.look.position : v));
  for (const other of shell.slices())
    if (other !== from && other.look.axis !== from.look.axis) other.change({ position: Math.round(Math.max(0, shell.cross[other.look.axis])) });
  for (const w of shell.slices()) w.draw();
};
// The windows of one direction show the same slice.
shell.follow = (from) => {
  for (const other of shell.slices()) if (other !== from && other.look.axis === from.look.axis) other.change({ position: from.look.position });
};
// What lies under the cursor: place at once, values when the server has said them.
let asked = 0, place = "", waiting = null;
shell.under = (voxel, w) => {
  if (!voxel || !shell.image || !w.inside(voxel)) return;
  const v = voxel.map(Math.round), a = shell.image.affine, mm = a && [0, 1, 2].map((r) => a[4 * r] * voxel[0] + a[4 * r + 1] * voxel[1] + a[4 * r + 2] * voxel[2] + a[4 * r + 3]);
  place = `voxel ${v.join(", ")}${mm ? `  ·  ${mm.map((x) => x.toFixed(1)).join(", ")} mm` : ""}`;
  $("under").textContent = place;
  const at = voxel.map((x, i) => (i === w.look.axis ? w.look.position : x));
  if (!waiting) setTimeout(() => { link.send({ type: "value", at: waiting, id: (asked = (Math.random() * 2 ** 31) >>> 0) }); waiting = null; }, 50);
  waiting = at;
};
link.addEventListener("value", ({ detail }) => {
  if (detail.id !== asked || waiting) return; // of a place before
  const level = detail.level === null ? "" : `  ·  ${detail.level < 0 ? "inside" : "outside"}, ${Math.abs(detail.level).toFixed(1)} mm from the surface`;
  $("under").textContent = place + (detail.grey === null ? "" : `  ·  grey value ${+detail.grey.toPrecision(4)}`) + level;
});

link.addEventListener("frame", ({ detail: frame }) => shell.windows[frame.view]?.show(frame));
link.addEventListener("histogram", ({ detail }) => { shell.histogram = detail; shell.mode?.histogram?.(detail); });
link.addEventListener("statistics", ({ detail }) => shell.mode?.statistics?.(detail));

// ---- what the server says ----

function showImage(image) {
  const fresh = image?.name !== shell.image?.name || image?.version !== shell.image?.version;
  shell.image = image;
  $("image-name").textContent = image ? image.name : "no file";
  $("image-about").textContent = !image || shell.state?.rate || shell.state?.seeds >= 0 || shell.state?.names ? "" : !image.volume ? `voxels of ${+image.spacing[0].toPrecision(3)} mm` : `${image.size.join(" × ")}, ${image.spacing.map((v) => +v.toPrecision(3)).join(" × ")} mm`;
  document.title = image ? `${image.name} – tessera` : "tessera workbench";
  if (!image || !fresh) return;
  shell.extent = Math.max(...image.size.map((n, i) => n * image.spacing[i]));
  shell.cross = image.size.map((n) => (n - 1) / 2);
  if (!$("save-name").value || $("save-name").dataset.of !== image.name) $("save-name").value = stem(image.name) || image.name;
  $("save-name").dataset.of = image.name;
  shell.mode.imageChanged?.(image);
}

async function takeState(state) {
  if (!shell.mode) await (mounting ??= mount(state.mode));
  if (shell.state && shell.state.session !== state.session)
    message("The server was started anew: what was done before is gone unless it was saved. Saved sessions can be loaded.", "warning");
  shell.state = state;
  showImage(state.image);
  for (const [view, w] of Object.entries(shell.windows)) w.take(state.views[view], state.image);
  if (performance.now() - (shell.picking ?? -1e9) < 2000) { // the cross goes where the 3-D window was clicked, slice by slice
    for (const w of shell.slices()) shell.cross[state.views[w.view].axis] = state.views[w.view].position;
    for (const w of shell.slices()) w.draw();
  }
  $("undo").disabled = !state.undo;
  $("redo").disabled = !state.redo;
  shell.mode.state?.(state);
}
link.addEventListener("state", ({ detail }) => takeState(detail));

link.addEventListener("driver", ({ detail }) => {
  const driving = detail.driver === detail.you, began = driving && !shell.driving;
  shell.driving = driving;
  document.body.classList.toggle("watching", !driving);
  shell.own &&= !driving;
  $("drive").hidden = $("follow").hidden = driving;
  showOwn();
  $("pages").textContent = detail.clients > 1 ? `${detail.clients} pages` : "";
  if (began) for (const w of Object.values(shell.windows)) w.resize();
});
// A page that watches shows what the driver sees, or has views of its own.
function showOwn() {
  $("follow").setAttribute("aria-pressed", shell.own);
  document.body.classList.toggle("own", shell.own);
}
function setOwn(on) {
  shell.own = on;
  showOwn();
  if (on) for (const w of Object.values(shell.windows)) w.resize(w.look);
  else {
    link.send({ type: "follow" });
    for (const [view, w] of Object.entries(shell.windows)) w.take(shell.state.views[view], shell.image);
  }
}
link.addEventListener("error", ({ detail }) => {
  if (shell.own && detail.text.includes("views of their own")) setOwn(false);
  message(detail.text, "error");
  for (const slider of Object.values(shell.sliders)) slider.restore();
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
link.addEventListener("tabs", ({ detail }) => {
  $("tabs").hidden = detail.tabs.length < 2;
  $("tabs").replaceChildren(...detail.tabs.map(({ tab, mode, name }) => {
    const anchor = document.createElement("a");
    anchor.href = tab ? `?tab=${tab}` : "?";
    anchor.textContent = name || mode;
    anchor.title = `${mode}: ${name}`;
    if (tab === detail.tab) anchor.setAttribute("aria-current", "page");
    return anchor;
  }));
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
  shell.driving = false;
  document.body.classList.add("watching");
  $("drive").hidden = $("follow").hidden = true;
  shell.own = false;
  showOwn();
  $("lost").hidden = false;
  $("link").classList.remove("on");
  $("link").title = "no connection";
  $("link").setAttribute("aria-label", "no connection");
});

// ---- buttons and keys of every mode ----

shell.load = async (name, as) => {
  if (!name) return;
  if (!as && !shell.mode?.adds?.test(name) && (shell.state?.mode === "sculpt" || !/\.(session|txt)$/.test(name)) && shell.state?.unsaved) { // of a session of segmentation Undo goes back
    $("ask-load-name").textContent = name;
    if (!(await ask("ask-load"))) return;
  }
  endWarnings();
  link.input({ type: "load", name, ...(as ? { as } : {}) });
};
const actions = { undo: () => link.input({ type: "undo" }), redo: () => link.input({ type: "redo" }), drive: () => link.send({ type: "drive" }), follow: () => setOwn(!shell.own),
  load: () => shell.load($("files").value), open: () => $("files").value && link.send({ type: "open", name: $("files").value }), "help-button": () => $("help").showModal(),
  theme: () => setTheme(document.documentElement.dataset.theme === "light" ? "dark" : "light") };
for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
returnKeys(document);
for (const type of ["pointerdown", "focus"]) $("files").addEventListener(type, () => link.send({ type: "files" }));
addEventListener("focus", () => link.send({ type: "files" }));
acceptFiles(shell);

const COMMON_KEYS = [["Wheel, <kbd>↑</kbd> <kbd>↓</kbd>", "next slice; in the 3-D window nearer"],
  ["Ctrl + wheel, pinch, <kbd>+</kbd> <kbd>−</kbd>", "zoom; with the mouse about its place"],
  ["Shift + drag, middle drag, two fingers", "move the picture"],
  ["Drag in the 3-D window, <kbd>←</kbd> <kbd>→</kbd>", "turn (navigate); a click sets the cross"],
  ["<kbd>A</kbd> <kbd>M</kbd> <kbd>0</kbd> <kbd>W</kbd>", "next slice direction, enlarge the window, whole picture, next layout"],
  ["<kbd>Z</kbd> <kbd>Y</kbd>", "undo, redo"], ["<kbd>[</kbd> <kbd>]</kbd>", "smaller, larger brush"], ["<kbd>Shift</kbd> + <kbd>D</kbd>", "times and bytes, for developers"]];
const brush = (factor) => () => shell.sliders.brush?.set(shell.brush * factor, true);
Object.assign(shell.keys, { z: actions.undo, y: actions.redo, "[": brush(1 / 1.15), "]": brush(1.15), "?": actions["help-button"], w: () => layout.next() });
shell.looking = () => shell.driving || shell.own;
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input[type=text], input[type=number], select, dialog *") || event.altKey || event.metaKey) return;
  if (event.ctrlKey && !"zyZ".includes(event.key)) return;
  const key = event.key.toLowerCase(), action = key === "z" && event.shiftKey ? actions.redo : key === "d" && event.shiftKey ? () => import("./dev.js").then((dev) => dev.toggle(shell)) : shell.keys[key];
  if (!action || (event.key === " " && event.target.matches("button, a, summary, input:not([type=range])"))) return; // who came to a button by Tab presses it
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

window.tessera = { bench: shell, link, windows: shell.windows, sliders: shell.sliders, statistics: (clear) => link.statistics(clear) }; // for tests and the curious
