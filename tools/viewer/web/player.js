// What modes with a row of pictures have: play, step, scrub, loop; below, modes of sliders and boxes. Settings are messages `set`.
import { Slider } from "./controls.js";
import { row } from "./panels.js";
import { listenToViews, viewSelect } from "./overlay.js";

export const playerPanel = `<section><h2>Film <span id="film-text" class="quiet"></span></h2>
  ${row("frame", "Frame")}${row("rate", "Rate", "/ s")}
  <div class="buttons five"><button id="to-begin" aria-label="First frame" title="First frame (Home)">|◀</button><button id="back" aria-label="One back" title="One back (,)">◀</button><button id="play" class="primary" title="Play or stop (Space)">▶ Play</button><button id="forth" aria-label="One forward" title="One forward (.)">▶</button></div>
  <div class="buttons"><label class="check"><input id="loop" type="checkbox"> again and again</label></div></section>`;
export const playerHelp = [["<kbd>Space</kbd>", "play or stop"], ["<kbd>,</kbd> <kbd>.</kbd>", "one frame back, one forward"], ["<kbd>Home</kbd>", "the first frame"]];
export const onePicture = { one: { label: "One", columns: "minmax(0,1fr)", rows: "minmax(0,1fr)", views: { volume: "1/1/2/2" } } };

export class Player {
  constructor(shell) {
    const { $, link, sliders } = shell;
    this.shell = shell;
    this.set = (name) => (value) => link.input({ type: "set", name, value });
    sliders.frame = new Slider("frame", { min: 0, max: 1, step: 1, digits: 7, least: 0, change: (v) => this.go(Math.round(v)) });
    sliders.rate = new Slider("rate", { min: 1, max: 60, step: 1, least: 0.1, most: 120, change: this.set("rate") });
    const actions = { "to-begin": () => this.go(0), back: () => this.step(-1), forth: () => this.step(1), play: () => this.set("playing")(shell.state.playing ? 0 : 1) };
    for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
    $("loop").addEventListener("change", () => this.set("loop")($("loop").checked ? 1 : 0));
    Object.assign(shell.keys, { " ": actions.play, ",": actions.back, ".": actions.forth, home: actions["to-begin"] });
  }

  go(frame) {
    if (this.shell.state.playing) this.set("playing")(0);
    const { known, frames } = this.shell.state;
    this.wanted = Math.max(0, known ? Math.min(frame, frames - 1) : frame);
    this.set("frame")(this.wanted);
  }

  step(by) { this.go((this.wanted ?? this.shell.state.frame) + by); }

  state(state) {
    const { $, sliders } = this.shell;
    if (state.frame === this.wanted || state.playing) this.wanted = null;
    sliders.frame.limits(0, Math.max(1, state.frames - 1), 1);
    sliders.frame.take(state.frame);
    sliders.rate.take(state.rate);
    $("loop").checked = state.loop;
    $("play").textContent = state.playing ? "❚❚ Stop" : "▶ Play";
    $("film-text").textContent = state.image ? `${state.frame + 1} of ${state.known ? state.frames : `${state.frames} or more`}` : "";
  }
}

export const show = (label, about) => ({
  windows: [{ view: "volume", kind: "volume", label, about, controls: viewSelect }], layouts: onePicture,
  tools: [{ id: "navigate", label: "Turn", sign: "⟲", key: "1", title: "Drag turns the view" }],
  help: [], saves: [["picture", "Picture", "What the window shows, PNG", ".png"]],
});

// sliders: id, label, unit, title, least, most, step, [most on the slider]; boxes: id, label; text: beside the title. `shell.set` is for further tools
export function settingsMode({ title, note, about, sliders, boxes, text, ...more }) {
  let shell;
  return {
    panel: `<section><h2>${title} <span id="mode-text" class="quiet"></span></h2>${sliders.map((s) => row(...s)).join("")}
      <div class="buttons">${boxes.map(([id, label]) => `<label class="check"><input id="${id}" type="checkbox"> ${label}</label>`).join("")}</div><p class="quiet">${note}</p></section>`,
    ...show(more.name, about),
    mount(given) {
      shell = given;
      shell.set = (name) => (value) => shell.link.input({ type: "set", name, value });
      for (const [id, , , , least, most, step, max = most] of sliders) shell.sliders[id] = new Slider(id, { min: least, max, step, least, most, change: shell.set(id) });
      for (const [id] of boxes) shell.$(id).addEventListener("change", () => shell.set(id)(+shell.$(id).checked));
      listenToViews(shell);
      this.shell = shell;
    },
    state(state) {
      for (const [id] of sliders) shell.sliders[id].take(state[id]);
      for (const [id] of boxes) shell.$(id).checked = state[id];
      shell.$("mode-text").textContent = text(state);
    },
    ...more,
  };
}
