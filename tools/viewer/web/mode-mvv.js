// A moving mesh with the textures of many cameras: turn it while it plays, with fewer bits, in one coding or the other; see what it is made of, and what no camera saw.
import { Slider } from "./controls.js";
import { listenToViews } from "./overlay.js";
import { row } from "./panels.js";
import { Player, playerHelp, playerPanel, show } from "./player.js";

let shell, player, said = "";

const layers = ["textures", "averages over the cameras", "their master over the steps", "textures less averages", "averages less the master"];
const choices = { only: "From", show: "Show", codec: "Coded" };

export default {
  name: "mvv", opens: /\.mvv$/i,
  panel: `${playerPanel}<section><h2>Textures <span id="seen" class="quiet"></span></h2>
    ${Object.entries(choices).map(([id, label]) => `<div class="buttons"><label for="${id}">${label}</label><select id="${id}"></select></div>`).join("")}
    ${row("bits", "Bits", "a texel")}<p id="coded" class="quiet"></p>
    <div class="buttons"><label class="check" title="What no camera saw stands out"><input id="masks" type="checkbox"> show masks</label></div></section>`,
  ...show("mesh", "The moving mesh"),
  help: playerHelp,
  mount(given) {
    shell = given;
    player = new Player(shell);
    shell.sliders.bits = new Slider("bits", { min: 0.01, max: 4, step: 0.01, least: 0.001, most: 64, change: player.set("bits") });
    for (const id of Object.keys(choices)) shell.$(id).addEventListener("change", () => player.set(id)(+shell.$(id).value));
    shell.$("masks").addEventListener("change", () => player.set("masks")(shell.$("masks").checked ? 1 : 0));
    listenToViews(shell);
  },
  // Over the picture: how far the textures are.
  draw(c, w) {
    if (!said) return;
    c.font = "15px system-ui, sans-serif";
    c.fillStyle = "#fff";
    c.textAlign = "center";
    c.fillText(said, w.frameBox.x + w.frameBox.width / 2, w.frameBox.y + 26);
    c.textAlign = "start";
  },
  state(state) {
    const { $, sliders } = shell;
    const choose = (id, names) => {
      if ($(id).options.length !== names.length) $(id).replaceChildren(...names.map((name, i) => new Option(name, i)));
      $(id).value = state[id];
    };
    player.state(state);
    this.cube = !state.turned;
    choose("only", ["all cameras", ...state.cameras.map((name, i) => name || `camera ${i}`)]);
    choose("show", layers);
    choose("codec", [`as in the file (${state.file_codec})`, "spiht4d", "diff2d"]);
    $("bits-row").hidden = !state.bits_most;
    if (state.bits_most) {
      sliders.bits.limits(Math.min(0.01, state.bits_most / 2), state.bits_most, 0.001, 0, state.bits_most);
      sliders.bits.take(state.bits || state.bits_most);
    }
    const work = state.reading ? "reading the textures" : state.codec ? "coding these steps" : "reading these steps", before = said;
    said = state.coding ? `${work}, ${Math.floor(100 * state.share)} % …` : "";
    $("coded").textContent = said || (state.psnr && state.bits ? `${state.ratio.toFixed(1)} : 1, luma ${state.psnr.toFixed(1)} dB` : "");
    if (said !== before) shell.windows.volume?.draw();
    $("masks").checked = state.masks;
    $("seen").textContent = state.frames ? `${Math.round(100 * state.seen)} % seen` : "";
  },
};
