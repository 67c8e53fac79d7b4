// A moving mesh with the textures of many cameras: turn it while it plays, see what no camera saw.
import { listenToViews } from "./overlay.js";
import { Player, playerHelp, playerPanel, show } from "./player.js";

let shell, player;

export default {
  name: "mvv", opens: /\.mvv$/i,
  panel: `${playerPanel}<section><h2>Textures <span id="seen" class="quiet"></span></h2><div class="buttons"><label for="only">From</label><select id="only"></select></div>
    <div class="buttons"><label class="check" title="What no camera saw stands out"><input id="masks" type="checkbox"> show masks</label></div></section>`,
  ...show("mesh", "The moving mesh"),
  help: playerHelp,
  mount(given) {
    shell = given;
    player = new Player(shell);
    shell.$("only").addEventListener("change", () => player.set("only")(+shell.$("only").value));
    shell.$("masks").addEventListener("change", () => player.set("masks")(shell.$("masks").checked ? 1 : 0));
    listenToViews(shell);
  },
  state(state) {
    const { $ } = shell;
    player.state(state);
    if ($("only").options.length !== state.cameras.length + 1) $("only").replaceChildren(...["all cameras", ...state.cameras].map((name, i) => new Option(name || `camera ${i}`, i)));
    $("only").value = state.only;
    $("masks").checked = state.masks;
    $("seen").textContent = state.frames ? `${Math.round(100 * state.seen)} % seen` : "";
  },
};
