// The example of docs/guide/workbench-mode.md: what is shown turns by itself, as fast as the slider says, until the space bar stops it.
import { Slider } from "./controls.js";
import { row } from "./panels.js";

let shell, turning = true, last = 0;

function turn(now) {
  const seconds = Math.min(0.2, (now - last) / 1000), w = shell.windows.volume;
  last = now;
  if (turning && shell.driving && shell.image && !w.pointers.size) w.change({ azimuth: (w.look.azimuth + shell.sliders.speed.value * seconds) % 360 });
  requestAnimationFrame(turn);
}

function mount(given) {
  shell = given;
  shell.sliders.speed = new Slider("speed", { min: -90, max: 90, step: 5, least: -360, most: 360, change: () => {} });
  shell.sliders.speed.set(30, false);
  const toggle = () => { turning = !turning; shell.$("turn").textContent = turning ? "❚❚ Stop" : "▶ Turn"; };
  shell.$("turn").addEventListener("click", toggle);
  shell.keys[" "] = toggle;
  requestAnimationFrame(turn);
}

export default {
  name: "turntable",
  opens: /\.(nii|nii\.gz|nrrd|ply|obj|stl|off|tsr)$/i, // dropped on the page these are loaded here, others in a tab of their own
  panel: `<section><h2>Turntable</h2>${row("speed", "Speed", "° / s")}<div class="buttons"><button id="turn" class="primary">❚❚ Stop</button></div></section>`,
  windows: [{ view: "volume", kind: "volume", label: "3-D", about: "What turns" }],
  layouts: { one: { label: "3-D", columns: "minmax(0,1fr)", rows: "minmax(0,1fr)", views: { volume: "1/1/2/2" } } },
  tools: [{ id: "navigate", label: "Turn", sign: "⟲", key: "1", title: "Drag turns by hand" }],
  help: [["<kbd>Space</kbd>", "stop, go on"]],
  saves: [["picture", "Picture", "3-D window, PNG", ".png"]],
  mount,
  state(state) { shell.$("turn").disabled = !state.image; },
};
