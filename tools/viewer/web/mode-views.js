// New views of a rig's depth images: fly, jump to a camera, go along the way; how they are merged, and what is shown.
import { Slider } from "./controls.js";
import { row } from "./panels.js";
import { show } from "./player.js";

let shell, set;

const MERGE = ["overlay: nearest camera", "blend: mean of all", "csg: farthest surface", "freespace: what none saw through"], SHOWN = ["Colours", "Depths", "Which camera", "How many cameras"];
const BOXES = [["frusta", "cameras", "As pyramids; those of the picture in the colours of “Which camera”"], ["path", "way", "The way along all cameras"],
  ["cut", "cut at jumps", "No surface where depth jumps by a twentieth"], ["far", "to the far plane", "Where a camera sees nothing its surface runs to its far plane"]];
const STEPS = [["forward", 0.1, "Forward (W)", "▲", "w"], ["forward", -0.1, "Back (S)", "▼", "s"], ["right", -0.1, "To the left (A)", "◀", "a"], ["right", 0.1, "To the right (D)", "▶", "d"],
  ["up", 0.1, "Up (E)", "↥", "e"], ["up", -0.1, "Down (Q)", "↧", "q"]];
const NOTES = ["", "Nearer is brighter.", "The camera that a pixel is of; mixed where several are.", "Red: one camera sees it; green: all of the picture do."];
const options = (names) => names.map((name, i) => `<option value="${i}">${name}</option>`).join("");

// Drag turns the camera where it stands.
function lookRound(from) {
  let at = from, sent = from;
  return {
    move(to) { this.due = at = to; },
    send() {
      const w = shell.windows.volume.canvas;
      this.due = null;
      set("turn")(((sent[0] - at[0]) / w.width) * 60); // what is seen follows the hand
      set("tilt")(((at[1] - sent[1]) / w.height) * 40);
      sent = at;
    },
  };
}

const views = {
  name: "views", cube: false, opens: /\.(json|par|out|yml|yaml|xml|geocast|tum|kitti)$/i,
  panel: `<section><h2>Views <span id="views-text" class="quiet"></span></h2>
    <div class="buttons"><label for="merge">Merge</label><select id="merge" title="How the cameras of the picture become one (V)">${options(MERGE)}</select></div>
    <div class="buttons"><label for="shown">Show</label><select id="shown" title="What a pixel says (C)">${options(SHOWN)}</select></div><p id="shown-text" class="quiet"></p>
    ${row("most", "At most", "", "That take part in a picture: those that look most nearly as it does")}${row("size", "Pyramids", "", "Share of the scene")}
    <div class="buttons locks">${BOXES.map(([id, label, title]) => `<label class="check" title="${title}"><input id="${id}" type="checkbox"> ${label}</label>`).join("")}</div>
    <ul id="taking-part" aria-label="Cameras of the picture: a press looks from there"></ul></section>
    <section><h2>Camera <span id="camera-text" class="quiet"></span></h2>${row("camera", "Jump to", "", "A camera of the rig (, and .)")}${row("place", "On the way", "", "Along all cameras")}${row("rate", "Flight", "/ s", "Cameras a second")}
    <div class="buttons five"><button id="fly" class="primary" title="From here along all cameras (Space)">▶ Fly</button><button id="overview" title="From outside, about the scene (O)">Overview</button></div>
    <div class="buttons five" role="group" aria-label="Steps">${STEPS.map(([, , title, sign], i) => `<button id="step-${i}" aria-label="${title}" title="${title}">${sign}</button>`).join("")}</div></section>`,
  ...show("views", "The new view"),
  help: [["<kbd>W</kbd> <kbd>S</kbd> <kbd>A</kbd> <kbd>D</kbd> <kbd>E</kbd> <kbd>Q</kbd>", "forward, back, left, right, up, down"], ["<kbd>,</kbd> <kbd>.</kbd>", "look from the camera before, the next"],
    ["<kbd>Space</kbd> <kbd>O</kbd>", "fly along all cameras, overview"], ["<kbd>V</kbd> <kbd>C</kbd>", "next way to merge, next kind of picture"]],
  begin: (w, at) => lookRound(at),
  windowKey(w, event) { // these are keys of windows elsewhere
    if (event.key.toLowerCase() !== "a" || !shell.driving) return false;
    shell.keys.a();
    event.preventDefault();
    event.stopPropagation();
    return true;
  },
  mount(given) {
    shell = given;
    set = (name) => (value) => shell.link.input({ type: "set", name, value });
    const { $, sliders, keys } = shell, slider = (id, of) => { sliders[id] = new Slider(id, { ...of, change: (v) => set(id)(of.step === 1 ? Math.round(v) : v) }); };
    const jump = (by) => () => set("camera")((shell.state.camera + by + shell.state.cameras) % shell.state.cameras), next = (name, most) => () => set(name)((shell.state[name] + 1) % most);
    slider("most", { min: 1, max: 16, step: 1, least: 1, most: 16 });
    slider("size", { min: 0.01, max: 0.5, step: 0.01, least: 0.001, most: 1 });
    slider("camera", { min: 0, max: 1, step: 1, least: 0 });
    slider("place", { min: 0, max: 1, step: 0.01, least: 0 });
    slider("rate", { min: 0.1, max: 5, step: 0.1, least: 0.05, most: 10 });
    for (const [id] of BOXES) $(id).addEventListener("change", () => set(id)(+$(id).checked));
    $("merge").addEventListener("change", () => set("merge")(+$("merge").value));
    $("shown").addEventListener("change", () => set("show")(+$("shown").value));
    const actions = { fly: () => set("playing")(shell.state.playing ? 0 : 1), overview: () => set("overview")(1) };
    for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
    STEPS.forEach(([name, by, , , key], i) => {
      keys[key] = () => set(name)(by);
      $(`step-${i}`).addEventListener("click", keys[key]);
    });
    Object.assign(keys, { " ": actions.fly, o: actions.overview, ",": jump(-1), ".": jump(1), v: next("merge", MERGE.length), c: next("show", SHOWN.length) });
  },
  state(state) {
    const { $, sliders } = shell, last = Math.max(1, state.cameras - 1);
    sliders.camera.limits(0, last, 1, 0, last);
    sliders.place.limits(0, last, 0.01, 0, last);
    for (const id of ["most", "size", "camera", "place", "rate"]) sliders[id].take(state[id]);
    for (const [id] of BOXES) $(id).checked = state[id];
    $("merge").value = state.merge;
    $("shown").value = state.show;
    $("shown-text").textContent = NOTES[state.show];
    $("fly").textContent = state.playing ? "❚❚ Stop" : "▶ Fly";
    $("views-text").textContent = state.cameras ? `${state.used.length} of ${state.depths}, ${state.milliseconds.toFixed(0)} ms` : "";
    $("camera-text").textContent = state.cameras ? state.name || `camera ${state.camera}` : "";
    const said = JSON.stringify(state.used);
    if (said === this.said) return;
    this.said = said;
    $("taking-part").replaceChildren(...state.used.map(({ camera, name, colour }) => {
      const item = document.createElement("li"), button = document.createElement("button"), spot = document.createElement("i");
      spot.style.background = `rgb(${colour})`;
      button.append(spot, name || `camera ${camera}`);
      button.title = `Look from ${name || `camera ${camera}`}`;
      button.addEventListener("click", () => set("camera")(camera));
      item.append(button);
      return item;
    }));
  },
};
views.windows = views.windows.map((w) => ({ ...w, controls: "" }));
views.tools = [{ id: "navigate", label: "Turn", sign: "⟲", key: "1", title: "Drag turns about what is in front" }, { id: "look", label: "Look round", sign: "◉", key: "2", title: "Drag turns the camera where it stands" }];
export default views;
