// Sculpting: brushes, selections, objects. What is done becomes lines of an editing script on the server; menus send such lines themselves.
import { Slider, stem } from "./controls.js";
import { listenToViews } from "./overlay.js";
import { Stroke } from "./stroke.js";
import { Widget } from "./widget.js";
import * as look from "./sculpt-panel.js";

let shell, widget, selection = null, strength = 50;
const BRUSHES = ["grow", "shrink", "smooth", "attract"], OTHER = { grow: "shrink", shrink: "grow", attract: "repel", smooth: "smooth" };
const COLOURS = { grow: "#f2c230", shrink: "#ff7b72", smooth: "#5ac8fa", attract: "#7ee0a0" };
const MOST_CORNERS = 48, MOST_PLACES = 24; // of a lasso; of a stroke in a slice, which is a line of a script
const edit = (line) => shell.link.input({ type: "edit", line });
const active = () => shell.state?.active;
const text = (v) => String(+v.toPrecision(9));

function mount(given) {
  shell = given;
  widget = new Widget(shell, edit);
  const { $, link, sliders } = shell;
  Object.assign(sliders, {
    brush: new Slider("brush", { min: 1, max: 40, step: 0.1, least: 1e-6, change: (v) => { shell.brush = v; shell.windows.volume.draw(); } }),
    strength: new Slider("strength", { min: 5, max: 100, step: 5, least: 1, most: 100, change: (v) => { strength = v; } }),
  });
  sliders.brush.set(shell.brush, false);
  sliders.strength.set(strength, false);
  const at = () => world(shell.cross).map(text).join(" ");
  const actions = {
    cut: () => act("cut"), copy: () => act("copy"), delete: () => act("delete"), keep: () => act("keep"),
    add: () => shell.image && edit(shapeLine($("shape").value, freeName($("shape").value), at(), shell.brush)),
    "add-file": () => $("files").value && edit(`load ${freeName("part")} ${$("files").value}`),
    combine: () => $("other").value && edit(`${$("operation").value} ${active()} ${$("other").value}${$("operation").value === "blend" ? ` ${text(Math.min(2 * shell.state.voxel[0], shell.brush))}` : ""}`),
    duplicate: () => edit(`copy ${active()} ${freeName(active())}`),
    split: () => edit(`split ${active()}`),
    remove: () => edit(`remove ${active()}`),
    move: () => edit(`move ${active()} ${["x", "y", "z"].map((k) => text(+$(`move-${k}`).value || 0)).join(" ")}`),
    turn: () => edit(`turn ${active()} ${at()} ${$("turn-axis").value} ${text(+$("turn-by").value || 0)}`),
    scale: () => edit(`scale ${active()} ${at()} ${text(+$("scale-by").value || 1)}`),
    smooth: () => edit(`smooth ${active()} ${text(4 * shell.state.voxel[0] ** 2)}`),
    relax: () => edit(`relax ${active()} ${text(4 * shell.state.voxel[0] ** 2)}`),
    dilate: () => edit(`dilate ${active()} ${text(shell.brush / 20)}`),
    erode: () => edit(`erode ${active()} ${text(shell.brush / 20)}`),
    stop: () => link.input({ type: "pause" }),
    "new-sphere": () => edit("sphere body 0 0 0 32"),
  };
  for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
  $("mirror").addEventListener("change", () => link.input({ type: "set", name: "mirror", value: $("mirror").checked ? 1 : 0 }));
  $("draft").addEventListener("change", () => link.input({ type: "set", name: "draft", value: $("draft").checked ? 1 : 0 }));
  $("resolution").addEventListener("change", () => link.input({ type: "set", name: "resolution", value: Math.round(+$("resolution").value) }));
  Object.assign(shell.keys, { x: actions.cut, c: actions.copy, delete: actions.delete, escape: actions.stop });
  listenToViews(shell);
}

function freeName(base) {
  const names = new Set(shell.state.objects.map((o) => o.name));
  let name = base;
  for (let i = 2; names.has(name); i++) name = `${base}${i}`;
  return name;
}

function shapeLine(kind, name, at, size) {
  const r = text(size), half = text(size / 2), third = text(size / 3);
  return { sphere: `sphere ${name} ${at} ${r}`, box: `box ${name} ${at} ${r} ${r} ${r}`, torus: `torus ${name} ${at} ${r} ${third}`, cylinder: `cylinder ${name} ${at} ${half} ${r}`,
    capsule: `capsule ${name} ${at} ${half} ${r}`, animal: `animal ${name} ${at} ${text(2 * size)}` }[kind];
}

// ---- selections ----

// So many corners of a line, evenly along it.
function thin(corners, most = MOST_CORNERS) {
  const step = Math.max(1, corners.length / most), chosen = [];
  for (let i = 0; i < corners.length && chosen.length < most; i += step) chosen.push(corners[Math.floor(i)]);
  return chosen;
}

const unit = (v) => Math.min(1, Math.max(0, v));
const world = (voxel) => { const a = shell.image.affine; return [0, 1, 2].map((r) => a[4 * r] * voxel[0] + a[4 * r + 1] * voxel[1] + a[4 * r + 2] * voxel[2] + a[4 * r + 3]); };

function select(w, at, kind) {
  const start = at;
  let line = [at];
  const show = () => { selection = { view: w.view, line }; w.draw(); };
  show();
  return {
    move(to) {
      line = kind === "box" ? [start, [to[0], start[1]], to, [start[0], to[1]]] : [...line, to];
      show();
    },
    end() {
      if (kind === "along") {
        while (line.length < 3) line.push(line.at(-1));
        const radius = shell.brush, box = w.frameBox;
        selection = { view: w.view, line, radius, ...(w.flat ? { places: thin(line, MOST_PLACES).map((p) => world(w.voxel(...p)).map((v) => +v.toPrecision(6)).join(" ")) }
          : { message: { radius, corners: thin(line).map(([x, y]) => [unit((x - box.x) / box.width), unit((y - box.y) / box.height)]) } }) };
        return showSelection();
      }
      const xs = line.map((p) => p[0]), ys = line.map((p) => p[1]);
      if (line.length < 3 || Math.max(...xs) - Math.min(...xs) < 5 || Math.max(...ys) - Math.min(...ys) < 5) return drop();
      const box = w.frameBox;
      if (w.flat) { // through all slices
        const a = w.voxel(Math.min(...xs), Math.min(...ys)), b = w.voxel(Math.max(...xs), Math.max(...ys)), axis = w.look.axis;
        a[axis] = -1;
        b[axis] = shell.image.size[axis];
        selection = { view: w.view, line, message: { from: a, to: b } };
      } else selection = { view: w.view, line, message: { corners: thin(line).map(([x, y]) => [unit((x - box.x) / box.width), unit((y - box.y) / box.height)]) } };
      showSelection();
    },
  };
}

function drop() {
  selection = null;
  showSelection();
}

function showSelection() {
  const ready = chosen() && !!active();
  for (const id of ["cut", "copy", "delete", "keep"]) shell.$(id).disabled = !ready;
  shell.$("selection-text").textContent = ready ? "ready: what shall become of it?" : "none: draw a box, a lasso or a stroke";
  for (const w of Object.values(shell.windows)) w.draw();
}

const chosen = () => !!(selection?.message || selection?.places);

function act(what, name) {
  if (!chosen()) return;
  const { message, places, radius } = selection, made = name ?? (what === "cut" || what === "copy" ? freeName("part") : "");
  if (message) shell.link.input({ type: "region", do: what, ...(name ? { name } : {}), ...message });
  else edit(`${what} ${active()} ${made && `${made} `}stroke ${text(radius)} ${places.join(" ")}`);
  drop();
}

// ---- tools ----

function messages(tool, event) {
  const kind = event?.ctrlKey ? OTHER[tool] : tool, pressure = event?.pointerType === "pen" && event.pressure > 0 ? event.pressure : 1;
  const common = { tool: kind, radius: shell.brush, strength: Math.min(1, (strength / 100) * pressure) };
  return {
    slice: ({ from, to, first }) => ({ type: "sculpt", from, ...(first ? { begin: true } : { to }), ...common }),
    ray: ({ x, y, first }) => ({ type: "pick", action: "sculpt", x, y, begin: first, ...common }),
  };
}

function begin(w, at, event) {
  if (shell.tool === "widget") return widget.begin(w, at) ?? turn(w, at);
  if (["box", "lasso", "along"].includes(shell.tool)) return select(w, at, shell.tool);
  const stroke = new Stroke(w, at, messages(shell.tool, event));
  return stroke.valid ? stroke : null;
}

// Beside the widget a drag turns the view.
function turn(w, at) {
  let last = at;
  return { move: (to) => {
    w.change({ azimuth: w.look.azimuth - ((to[0] - last[0]) / w.canvas.width) * 240, elevation: Math.min(89, Math.max(-89, w.look.elevation + ((to[1] - last[1]) / w.canvas.height) * 180)) });
    last = to;
  } };
}

// What is selected becomes an object of its own, which the widget then has.
function toolChosen(tool) {
  if (tool !== "widget" || !chosen() || !active()) return;
  const name = freeName("part");
  act("cut", name);
  shell.link.input({ type: "object", name });
}

function sphere(c, w) {
  const [x, y] = w.hover, r = Math.max(3, shell.brush / w.pixel), colour = COLOURS[shell.tool], light = c.createRadialGradient(x - r / 3, y - r / 3, r / 10, x, y, r);
  light.addColorStop(0, `${colour}55`);
  light.addColorStop(1, `${colour}10`);
  c.fillStyle = light;
  c.strokeStyle = colour;
  c.lineWidth = 1.5;
  c.beginPath();
  c.arc(x, y, r, 0, 2 * Math.PI);
  c.fill();
  c.stroke();
  c.lineWidth = 0.7;
  c.beginPath();
  c.ellipse(x, y, r, r * 0.3, 0, 0, 2 * Math.PI);
  c.stroke();
}

function draw(c, w) {
  if (shell.tool === "widget") widget.draw(c, w);
  if (BRUSHES.includes(shell.tool) && w.hover && (w.flat || w.frame?.zoom)) w.flat ? w.drawBrush(c, shell.brush, COLOURS[shell.tool]) : sphere(c, w);
  if (selection?.view !== w.view) return;
  c.beginPath();
  selection.line.forEach((p, i) => (i ? c.lineTo(...p) : c.moveTo(...p)));
  if (shell.tool === "along" || selection.radius) { // as wide as the brush
    Object.assign(c, { strokeStyle: "#5ac8fa66", lineWidth: 2 * Math.max(3, (selection.radius ?? shell.brush) / w.pixel), lineCap: "round", lineJoin: "round" });
    return c.stroke();
  }
  c.strokeStyle = "#5ac8fa";
  c.fillStyle = "#5ac8fa22";
  c.lineWidth = 1.5;
  c.setLineDash([6, 4]);
  c.closePath();
  c.fill();
  c.stroke();
  c.setLineDash([]);
}

function windowKey(w, event) {
  if (w.flat || event.key !== "Enter" || !BRUSHES.includes(shell.tool) || !shell.driving) return false;
  event.preventDefault();
  shell.link.input(messages(shell.tool).ray({ x: 0.5, y: 0.5, first: true }));
  return true;
}

// ---- what the server says ----

function showObjects(state) {
  const { $ } = shell, shown = JSON.stringify([state.objects, state.active]);
  if ($("objects").dataset.shown === shown) return;
  $("objects").dataset.shown = shown;
  // A tree: what was cut out of an object, copied or split off stands below it.
  const below = (of, depth) => state.objects.filter((o) => (o.parent ?? "") === of && depth < 8).flatMap((o) => [{ ...o, depth }, ...below(o.name, depth + 1)]);
  $("objects").replaceChildren(...below("", 0).map(({ name, visible, tiles, depth }) => {
    const item = document.createElement("li"), choose = document.createElement("button"), eye = document.createElement("input");
    choose.textContent = name;
    choose.setAttribute("role", "radio");
    choose.setAttribute("aria-checked", name === state.active);
    choose.title = `${tiles} tiles: work on this one`;
    choose.addEventListener("click", () => shell.link.input({ type: "object", name }));
    Object.assign(eye, { type: "checkbox", checked: visible, title: "shown" });
    eye.setAttribute("aria-label", `${name} is shown`);
    eye.addEventListener("change", () => shell.link.input({ type: "object", name, visible: eye.checked }));
    item.style.paddingLeft = `${14 * depth}px`;
    item.append(eye, choose);
    return item;
  }));
  const others = state.objects.filter((o) => o.name !== state.active).map((o) => o.name), before = $("other").value;
  $("other").replaceChildren(...others.map((name) => new Option(name)));
  if (others.includes(before)) $("other").value = before;
  $("combine").disabled = !others.length;
  for (const id of ["duplicate", "split", "remove", "move", "turn", "scale", "smooth", "relax", "dilate", "erode"]) $(id).disabled = !state.active;
  showSelection();
}

function state(state) {
  const { $ } = shell;
  showObjects(state);
  $("mirror").checked = state.mirror;
  $("draft").checked = state.draft;
  if (document.activeElement !== $("resolution")) $("resolution").value = state.resolution;
  $("stop").disabled = !state.busy;
  $("new-sphere").disabled = state.objects.length > 0;
  $("said").textContent = state.busy ? `${state.busy} …` : state.edits ? `${state.milliseconds.toFixed(0)} ms, ${state.touched} tiles touched` : state.objects.length ? "drag over the surface" : "load a mesh below, or begin with a new sphere";
  $("history-text").textContent = `${state.undo} back, ${state.redo} forward`;
  const lines = state.lines.join("\n");
  if ($("lines").dataset.shown === lines) return;
  $("lines").dataset.shown = lines;
  $("lines").replaceChildren(...state.lines.map((line) => Object.assign(document.createElement("li"), { textContent: line.replace(/-?\d+\.\d+/g, (n) => +(+n).toPrecision(4)) })));
  $("lines").scrollTop = $("lines").scrollHeight;
}

function imageChanged(image) {
  if (shell.$("save-name").value === stem(image.name)) shell.$("save-name").value += "-sculpted"; // beside the file that it came from
  const { sliders, extent } = shell, body = extent / 2;
  drop();
  sliders.brush.limits(body / 200, body / 2, body / 500, body / 2000, extent);
  sliders.brush.set(+(body / 12).toPrecision(2), true);
}

export default { name: "sculpt", ...look, opens: /\.(ply|obj|stl|off|tsr|nvdb|nii|nii\.gz|nrrd|nhdr|mha|mhd|inr|tsc)$/i, mount, begin, draw, toolChosen, widget: () => widget, windowKey, state, imageChanged, selection: () => selection };
