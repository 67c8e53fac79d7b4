// Light through matter: it is simulated anew while its source is dragged.
import { settingsMode } from "./player.js";

const light = settingsMode({
  name: "light", opens: /\.txt$/i, title: "Light", about: "The scene",
  sliders: [["turn", "Turn", "°", "Of the lights, around", -180, 180, 1], ["rise", "Rise", "°", "", -90, 90, 1], ["resolution", "Voxels", "", "Along the longest edge", 16, 256, 8, 128]],
  boxes: [["caustics", "beyond caustics"]],
  note: "Drag with the second tool: the light moves.", text: (s) => (s.patches ? `${s.voxels}³, ${s.milliseconds.toFixed(0)} ms` : ""),
  begin(w, from) {
    const { set, state: { turn, rise } } = this.shell;
    let to;
    return {
      move(at) { this.due = to = at; },
      send() {
        this.due = null;
        set("turn")((((turn + (to[0] - from[0]) / 2 + 540) % 360) + 360) % 360 - 180);
        set("rise")(Math.max(-90, Math.min(90, rise + (from[1] - to[1]) / 2)));
      },
    };
  },
});
light.tools.push({ id: "lamp", label: "Light", sign: "☀", key: "2", title: "Drag moves the light" });
export default light;
