// Cameras fitted by hand to a proxy. Every edit is a line of a session (docs/formats/rig-session.md); lines that begin with @ are of this page alone.
import { Slider } from "./controls.js";
import { BLENDS, PARAMETERS, calibratePanel } from "./calibrate-panel.js";
import { viewSelect, listenToViews } from "./overlay.js";

let shell, held = null;
const edit = (line) => shell.link.input({ type: "edit", line });
const on = (id) => shell.$(id).checked;
const text = (v) => String(+v.toPrecision(9));
const step = (name) => {
  const [, , , coarse, fine] = PARAMETERS.find((p) => p[0] === name), size = "xyz".includes(name) ? shell.state.diameter || 1 : 1;
  return (on("fine") ? fine : coarse) * size;
};
const value = (name) => shell.state.value[PARAMETERS.findIndex((p) => p[0] === name)];
const free = () => ["k1", "k2", "centre"].filter((n) => on(`free-${n}`)).map((n) => ` ${n}`).join("");
const middle = () => shell.state.pivot ?? shell.image?.middle ?? [0, 0, 0];
const ready = () => shell.state?.names.length > 0;

// Degrees, and world units at the proxy, of a pixel of the window.
const degrees = (w) => (value("fov") * (w.view === "source" || w.view === "second" ? w.pixel : shell.state.extents[1] / w.canvas.height)) / shell.state.extents[1];
const unit = (w) => (Math.hypot(...["x", "y", "z"].map((n, i) => value(n) - middle()[i])) * degrees(w) * Math.PI) / 180;

// What a drag by so many pixels is, and a notch of the wheel: lines of the proxy follow the hand.
const DRAGS = {
  turn: { drag: (w, dx, dy) => `turn ${text(-dx * degrees(w))} ${text(dy * degrees(w))} 0`, wheel: (n) => `turn 0 0 ${text(n * step("roll"))}` },
  move: { drag: (w, dx, dy) => `move ${text(-dx * unit(w))} ${text(dy * unit(w))} 0`, wheel: (n) => `move 0 0 ${text(n * step("x"))}` },
  lens: { drag: (w, dx, dy) => `add fov ${text(dy * degrees(w))}`, wheel: (n) => `add k1 ${text(n * step("k1"))}` },
  orbit: { drag: (w, dx, dy) => `orbit ${text(-dx * 0.2)} ${text(dy * 0.2)} ${middle().map(text).join(" ")}`, wheel: (n) => `dolly ${text(n * step("fov"))} ${middle().map(text).join(" ")}` },
};
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const BY_KEY = {
  turn: ([x, y]) => `turn ${text(x * step("yaw"))} ${text(y * step("pitch"))} 0`, move: ([x, y]) => `move ${text(x * step("x"))} ${text(y * step("x"))} 0`,
  lens: ([x, y]) => (y ? `add fov ${text(-y * step("fov"))}` : `add k1 ${text(x * step("k1"))}`), orbit: ([x, y]) => `orbit ${text(x * step("yaw"))} ${text(y * step("pitch"))} ${middle().map(text).join(" ")}`,
};

function place(w, at) {
  const b = w.frameBox, clamp = (v) => text(Math.min(1, Math.max(0, v)));
  return `${clamp((at[0] - b.x) / b.width)} ${clamp((at[1] - b.y) / b.height)}`;
}

function dragging(w, at) {
  const { drag } = DRAGS[shell.tool], fine = on("fine") ? 0.1 : 1;
  let last = at, next = at, line = "", moved = false;
  return {
    move(to) { next = to; this.due = true; moved ||= Math.hypot(to[0] - at[0], to[1] - at[1]) > 3; },
    send() {
      this.due = false;
      if (!moved) return;
      const begun = line;
      line = drag(w, (next[0] - last[0]) * fine, (next[1] - last[1]) * fine);
      last = next;
      edit((begun ? "+ " : "") + line);
    },
    end() { if (this.due) this.send(); if (!moved && shell.tool === "orbit") edit(`@pivot ${w.view} ${place(w, at)}`); },
    drop() { this.due = false; },
  };
}

// A press shows the loupe; where the hand lets go is the place.
function pointing(w, at) {
  let next = at;
  return {
    due: true,
    move(to) { next = to; this.due = true; },
    send() { this.due = false; edit(`@loupe ${w.view} ${place(w, next)}`); },
    end() { this.due = false; edit(`@pair ${w.view} ${place(w, next)}`); if (!on("loupe")) edit("@loupe off"); },
    drop() { this.due = false; edit("@loupe off"); },
  };
}

function drawing(w, at) {
  if (w.view !== "source") return null;
  let to = at;
  return { move(next) { to = next; }, end() { if (Math.hypot(to[0] - at[0], to[1] - at[1]) > 4) edit(`@line ${shell.$("axis").value} ${place(w, at)} ${place(w, to)}`); }, drop() {} };
}

function mount(given) {
  shell = given;
  const { $, link, sliders } = shell, set = (name, v) => link.input({ type: "set", name, value: v });
  for (const [id, , , coarse, , reach] of PARAMETERS) {
    const slider = (sliders[id] = new Slider(`p-${id}`, { min: -reach, max: reach, step: coarse, digits: 5, change: (v) => {
      if (!ready()) return false;
      edit(`${slider.held && held === id ? "+ " : ""}set ${id} ${text(v)}`);
      held = slider.held ? id : null;
    } }));
    $(`lock-${id}`).addEventListener("change", () => edit(`${on(`lock-${id}`) ? "lock" : "unlock"} ${id}`));
  }
  sliders.mix = new Slider("mix", { min: 0, max: 1, least: 0, most: 1, change: (v) => set("mix", v) });
  const actions = { "pitch-proxy": () => edit("proxy pitch"), solve: () => edit(`solve${free()}`), vanish: () => edit("vanish"), unpair: () => edit("unpair all"), unline: () => edit("unline all"),
    refine: () => edit(`refine${free()}`), wide: () => edit(`refine wide${free()}`), colours: () => edit(`refine colours${free()}`),
    "solve-all": () => edit(`solve all${$("one-lens").checked ? " shared" : ""}${$("tolerance").value > 0 ? ` points ${$("tolerance").value}` : ""}${free()}`), keep: () => edit(`snapshot ${$("keep-name").value.trim().replace(/\s+/g, "-") || "before"}`),
    match: () => edit(`match${["vignette", "response", "all"].filter((n) => on(`match-${n}`)).map((n) => ` ${n}`).join("")}`), unmatch: () => edit("match none"),
    restore: () => $("kept").value && edit(`restore ${$("kept").value}`), reset: () => edit("reset") };
  for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
  const next = (by) => () => ready() && edit(`camera ${(shell.state.active + by) % shell.state.names.length}`), flip = (id) => () => $(id).click();
  $("cam").addEventListener("change", () => edit(`camera ${$("cam").selectedIndex}`));
  $("rig").addEventListener("change", () => edit(`rig ${on("rig") ? "on" : "off"}`));
  $("fine").addEventListener("change", steps);
  $("loupe").addEventListener("change", () => on("loupe") || edit("@loupe off"));
  $("blend").addEventListener("change", () => set("blend", $("blend").selectedIndex));
  for (const id of ["lines", "shadow"]) $(`show-${id}`).addEventListener("change", () => set(id, on(`show-${id}`) ? 1 : 0));
  Object.assign(shell.keys, { n: next(1), s: actions.solve, r: actions.refine, k: actions.keep, c: actions.match, f: flip("fine"), l: flip("loupe"), o: () => set("blend", (BLENDS.indexOf(shell.state.blend) + 1) % BLENDS.length), escape: () => edit("@drop") });
  listenToViews(shell);
}

function steps() {
  for (const [id] of PARAMETERS) shell.$(`p-${id}-n`).step = shell.$(`p-${id}`).step = ready() ? text(step(id)) : "any";
}

// Sliders reach where the proxy and the picture do.
function limits(state) {
  const shown = `${state.diameter} ${state.extents}`;
  if (shell.$("cam").dataset.limits === shown) return;
  shell.$("cam").dataset.limits = shown;
  for (const [id, , , , , reach] of PARAMETERS) {
    const place = "xyz".indexOf(id), at = place >= 0 ? (shell.image?.middle?.[place] ?? 0) : id === "cx" ? state.extents[0] / 2 : id === "cy" ? state.extents[1] / 2 : id === "aspect" ? 1 : 0;
    const wide = place >= 0 ? reach * (state.diameter || 1) : id === "cx" || id === "cy" ? at / 2 : id === "aspect" ? 0.5 : reach;
    shell.sliders[id].limits(id === "fov" ? 1 : at - wide, at + wide, "any");
  }
  steps();
}

const number = (v, unit) => (v === null ? "–" : `${+v.toPrecision(3)}${unit}`);
const matched = ({ gain, response, vignetting }) => gain && (response !== 1 || gain.some((g) => g !== 1) || vignetting.some((v) => v !== 0));
const tone = ({ gain, response, vignetting: [a, b] }) => ` · gain ${gain.map((g) => +g.toPrecision(3)).join(" ")}${response !== 1 ? `, response ${+response.toPrecision(3)}` : ""}${a || b ? `, corners ${(100 * Math.exp(a + b)).toFixed(0)} %` : ""}`;
function residuals(state) {
  const worst = state.sigma.map((s, i) => [s, PARAMETERS[i][0]]).filter(([s]) => s > 0).map(([s, n]) => `${n} ±${+s.toPrecision(2)}`);
  return `${state.extents.join(" × ")} · pairs ${state.own_pairs ? `${number(state.pair_rms, " px")} (${state.own_pairs})` : "–"} · edges ${number(state.edge, " px")} · colours ${number(state.difference, "")}` +
    (state.condition ? ` · condition ${state.condition?.toExponential(1) ?? "∞"} · ${worst.join(", ")}` : "") + (matched(state) ? tone(state) : "");
}

function state(state) {
  const { $, sliders } = shell, names = JSON.stringify([state.names, state.kept]);
  if ($("cam").dataset.shown !== names) {
    $("cam").replaceChildren(...state.names.map((n) => new Option(n)));
    $("kept").replaceChildren(...state.kept.map((n) => new Option(n)));
    $("kept").selectedIndex = state.kept.length - 1;
    $("cam").dataset.shown = names;
  }
  sliders.mix.take(state.mix);
  $("blend").value = state.blend;
  for (const id of ["lines", "shadow"]) $(`show-${id}`).checked = state[id];
  $("pair-text").textContent = ["Pair: click a place of the proxy and where it is in the picture", "Pair: now where it is in the picture", "Pair: now the place of the proxy, from above or in the free view"][state.pending ?? 0];
  for (const id of ["solve", "solve-all", "vanish", "unpair", "unline", "refine", "wide", "keep", "restore", "reset"]) $(id).disabled = !ready();
  for (const id of ["colours", "match"]) $(id).disabled = !ready() || shell.state.names.length < 2;
  $("unmatch").disabled = !matched(state);
  if (!ready()) { $("residuals").textContent = "Load a picture and a proxy"; return; }
  limits(state);
  $("cam").selectedIndex = state.active;
  $("rig").checked = state.rig;
  PARAMETERS.forEach(([id], i) => {
    sliders[id].take(state.value[i]);
    $(`lock-${id}`).checked = (state.locked >> i) & 1;
  });
  $("residuals").textContent = residuals(state);
}

const window_ = (view, label, about, more) => ({ view, kind: "volume", label, about, controls: `<span>${label}</span>`, pans: "1", ...more });
export default {
  name: "calibrate", adds: /\.(?!calib$)\w+$/, opens: /\.(calib|png|jpe?g|ppm|pgm|csv|ply|obj|stl|off|json|ya?ml|geoscene|y4m|mp4)$/i, panel: calibratePanel,
  windows: [window_("source", "camera", "What the camera saw, with the proxy"), window_("second", "before", "The same with the camera of the last snapshot"), window_("third", "above", "Pictures on the proxy from above"),
    window_("volume", "free", "Pictures on the proxy from anywhere", { pans: "", controls: viewSelect })],
  layouts: { work: { label: "Camera + above + free", columns: "minmax(0,2fr) minmax(0,1fr)", rows: "minmax(0,1fr) minmax(0,1fr)", views: { source: "1/1/3/2", third: "1/2/2/3", volume: "2/2/3/3" } },
    before: { label: "Before + after", columns: "minmax(0,1fr) minmax(0,1fr)", rows: "minmax(0,1fr)", views: { second: "1/1/2/2", source: "1/2/2/3" } },
    four: { label: "Four", columns: "minmax(0,1fr) minmax(0,1fr)", rows: "minmax(0,1fr) minmax(0,1fr)", views: { source: "1/1/2/2", second: "1/2/2/3", third: "2/1/3/2", volume: "2/2/3/3" } },
    one: { label: "Camera", columns: "minmax(0,1fr)", rows: "minmax(0,1fr)", views: { source: "1/1/2/2" } } },
  tools: [{ id: "navigate", label: "Look", sign: "⟲", key: "1", title: "Drag and wheel move the views" }, { id: "turn", label: "Turn", sign: "⤾", key: "2", title: "Drag turns the camera, the wheel rolls it" },
    { id: "move", label: "Move", sign: "✢", key: "3", title: "Drag moves the camera sideways and up, the wheel forward" }, { id: "lens", label: "Lens", sign: "◎", key: "4", title: "Drag changes the field of view, the wheel k1" },
    { id: "orbit", label: "Orbit", sign: "◉", key: "5", title: "Click picks a point; drag goes round it, the wheel zooms and walks so that it keeps its size" },
    { id: "pair", label: "Pair", sign: "⊕", key: "6", title: "A place of the proxy, and where the camera saw it" }, { id: "line", label: "Line", sign: "╱", key: "7", title: "Drag along a line of the picture that runs along an axis" }],
  help: [["<kbd>←</kbd> <kbd>→</kbd> <kbd>↑</kbd> <kbd>↓</kbd>", "a step of the tool"], ["<kbd>F</kbd> <kbd>L</kbd> <kbd>O</kbd> <kbd>N</kbd>", "fine steps, loupe, next way to mix, next camera"], ["<kbd>S</kbd> <kbd>R</kbd> <kbd>C</kbd> <kbd>K</kbd> <kbd>Esc</kbd>", "solve, refine, match colours, keep a snapshot, drop half a pair"]],
  saves: [["cameras", "GeoCast", "All cameras, V2", ".geoscene"], ["cameras", "OpenCV", "All cameras, YAML", ".yml"], ["cameras", "COLMAP", "A folder: text model", "-colmap"], ["session", "Session", "Every edit, to go on or to repeat", ".calib"], ["picture", "Picture", "The free view, PNG", ".png"]],
  mount, state,
  begin(w, at) { return !ready() ? null : DRAGS[shell.tool] ? dragging(w, at) : shell.tool === "pair" ? pointing(w, at) : drawing(w, at); },
  wheel(w, event) {
    if (!DRAGS[shell.tool] || event.ctrlKey || !ready() || !shell.driving) return false;
    edit(DRAGS[shell.tool].wheel(event.deltaY > 0 ? -1 : 1));
    return true;
  },
  windowKey(w, event) {
    const make = BY_KEY[shell.tool] ?? (w.turns ? null : BY_KEY.turn);
    if (!ARROWS[event.key] || !make || !ready() || !shell.driving) return false;
    event.preventDefault();
    event.stopPropagation();
    edit(make(ARROWS[event.key]));
    return true;
  },
  hovered(w, at) { if (on("loupe") && shell.driving && !w.pointers.size) loupe(w, at); },
};

let waiting = 0;
function loupe(w, at) {
  if (waiting) return;
  waiting = setTimeout(() => { waiting = 0; if (on("loupe")) edit(`@loupe ${w.view} ${place(w, at)}`); }, 60);
}
