// Particles as a liquid: the look, the smoother, the resolution; a row of files is a film.
import { Slider } from "./controls.js";
import { row } from "./panels.js";
import { listenToViews } from "./overlay.js";
import { Player, playerHelp, playerPanel, show } from "./player.js";

const LOOKS = ["Water", "Oil", "Milk", "Lava", "Honey"];
const SMOOTHERS = ["Curvature flow", "Flow, exact normal", "Flow, implicit", "Flow, multigrid", "Narrow range", "Bilateral, two passes", "Bilateral", "Gaussian", "Binomial", "None: the spheres"];
const options = (names) => names.map((name, i) => `<option value="${i}">${name}</option>`).join("");
let shell, player;

export default {
  name: "fluid",
  opens: /\.(bgeo|vtp|csv|xyz|pts|pcd|ply)$/i,
  panel: `<section><h2>Liquid <span id="particles" class="quiet"></span></h2>
    <div class="buttons"><label for="look">Look</label><select id="look">${options(LOOKS)}</select></div>
    <div class="buttons"><label for="smoother">Smoother</label><select id="smoother">${options(SMOOTHERS)}</select></div>
    ${row("iterations", "Iterations", "", "How often the depths are smoothed; 0: as often as is usual")}
    ${row("scale", "Size", "×", "Particles are drawn so many times as large")}
    <div class="buttons"><label for="resolution">Passes at</label><select id="resolution"><option value="1">every pixel</option><option value="2">every second</option><option value="4">every fourth</option></select></div>
    ${row("split", "Split", "", "To its left the spheres, not smoothed: drag in the picture with the tool Split")}
    <p id="fluid-text" class="quiet" role="status"></p></section>${playerPanel}`,
  ...show("liquid", "The liquid"),
  tools: [...show().tools, { id: "split", label: "Split", sign: "◫", key: "2", title: "Drag: to the left the spheres, not smoothed" }],
  help: [["<kbd>1</kbd> <kbd>2</kbd>", "turn, split"], ...playerHelp],
  mount(given) {
    shell = given;
    player = new Player(shell);
    const { $, sliders } = shell;
    for (const id of ["look", "smoother", "resolution"]) $(id).addEventListener("change", () => player.set(id)(+$(id).value));
    Object.assign(sliders, {
      iterations: new Slider("iterations", { min: 0, max: 150, step: 1, least: 0, most: 1000, change: (v) => player.set("iterations")(Math.round(v)) }),
      scale: new Slider("scale", { min: 0.5, max: 3, step: 0.05, least: 0.2, most: 5, change: player.set("scale") }),
      split: new Slider("split", { min: 0, max: 1, step: 0.01, least: 0, most: 1, change: player.set("split") }),
    });
    listenToViews(shell);
  },
  begin(w, at) {
    const go = (to) => shell.sliders.split.set((to[0] - w.frameBox.x) / w.frameBox.width, true);
    go(at);
    return { move: go };
  },
  state(state) {
    const { $, sliders } = shell;
    player.state(state);
    for (const id of ["iterations", "scale", "split"]) sliders[id].take(state[id]);
    for (const id of ["look", "smoother", "resolution"]) if (document.activeElement !== $(id)) $(id).value = state[id];
    $("particles").textContent = state.particles ? `${state.particles.toLocaleString("en")} particles` : "";
    $("fluid-text").textContent = state.milliseconds ? `${state.milliseconds.toFixed(0)} ms for a picture, radius ${state.radius.toPrecision(3)}` : "";
  },
};
