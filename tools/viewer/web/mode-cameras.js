// A rig: its cameras as pyramids, the view through one, a flight through all.
import { Slider } from "./controls.js";
import { row } from "./panels.js";
import { listenToViews } from "./overlay.js";
import { show } from "./player.js";

let shell;

export default {
  name: "cameras", opens: /\.(json|par|out|yml|yaml|xml|geocast|tum|kitti)$/i,
  panel: `<section><h2>Cameras <span id="rig-text" class="quiet"></span></h2>${row("camera", "Camera")}${row("size", "Size", "", "Of the pyramids")}${row("rate", "Flight", "/ s")}
    <div class="buttons five"><button id="fly" class="primary" title="From camera to camera (Space)">▶ Fly</button><button id="through" title="Look through the chosen camera (T)">Look through</button></div>
    <div class="buttons"><label class="check"><input id="points" type="checkbox"> points</label><label class="check"><input id="path" type="checkbox"> path</label></div>
    <p id="camera-text" class="quiet" role="status"></p></section>`,
  ...show("rig", "The cameras"),
  help: [["<kbd>Space</kbd> <kbd>T</kbd>", "fly, look through the chosen camera"], ["<kbd>,</kbd> <kbd>.</kbd>", "the camera before, the next"]],
  mount(given) {
    shell = given;
    const { $, link, sliders } = shell, set = (name) => (value) => link.input({ type: "set", name, value }), toggle = (name) => () => set(name)(shell.state[name] ? 0 : 1);
    const step = (by) => () => set("camera")((shell.state.camera + by + shell.state.cameras) % shell.state.cameras);
    sliders.camera = new Slider("camera", { min: 0, max: 1, step: 1, least: 0, change: (v) => set("camera")(Math.round(v)) });
    sliders.size = new Slider("size", { min: 0.005, max: 0.3, step: 0.005, least: 0.001, most: 1, change: set("size") });
    sliders.rate = new Slider("rate", { min: 0.1, max: 5, step: 0.1, least: 0.05, most: 10, change: set("rate") });
    for (const id of ["points", "path"]) $(id).addEventListener("change", () => set(id)($(id).checked ? 1 : 0));
    $("fly").addEventListener("click", toggle("flying"));
    $("through").addEventListener("click", toggle("through"));
    Object.assign(shell.keys, { " ": toggle("flying"), t: toggle("through"), ",": step(-1), ".": step(1) });
    listenToViews(shell);
  },
  state(state) {
    const { $, sliders } = shell;
    sliders.camera.limits(0, Math.max(1, state.cameras - 1), 1);
    for (const id of ["camera", "size", "rate"]) sliders[id].take(state[id]);
    for (const id of ["points", "path"]) $(id).checked = state[id];
    $("fly").textContent = state.flying ? "❚❚ Stop" : "▶ Fly";
    $("through").setAttribute("aria-pressed", state.through);
    $("rig-text").textContent = state.cameras ? `${state.cameras}, ${state.scene_points.toLocaleString("en")} points` : "";
    $("camera-text").textContent = state.cameras ? `${state.name || `camera ${state.camera}`}: ${state.extents.join(" × ")}, ${state.fov.toFixed(1)}° high` : "";
  },
};
