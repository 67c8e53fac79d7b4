// A film, a stream of Dirac or VC-2, or a row of numbered pictures: play, step, scrub; the wheel zooms about the cursor, a drag moves the picture. Over a stream
// what its pictures are put together from.
import { Player, onePicture, playerHelp, playerPanel } from "./player.js";

let shell, player;

export default {
  name: "film", turns: false,
  opens: /\.(y4m|mp4|mkv|webm|avi|mov|m4v|vc2|drc)$|\d\.png$/i,
  panel: `${playerPanel}<section><h2>Picture</h2><p id="extents" class="quiet"></p></section>
    <section id="overlay-panel" hidden><h2>Over it</h2><select id="overlay" aria-label="Over the picture"><option value="0">nothing</option><option value="1">blocks</option><option value="2">vectors</option><option value="3">quantisers</option></select>
    <p class="quiet">Red: a constant; green, blue: from the first, the second reference; yellow: from both. Quantisers of slices: blue fine, red coarse.</p></section>`,
  windows: [{ view: "volume", kind: "volume", label: "film", about: "The film" }],
  layouts: onePicture,
  tools: [{ id: "navigate", label: "Look", sign: "+", key: "1", title: "Drag moves the picture, the wheel zooms" }],
  help: playerHelp,
  saves: [["picture", "Picture", "What the window shows, PNG", ".png"]],
  mount(given) {
    shell = given;
    player = new Player(shell);
    shell.$("overlay").addEventListener("change", () => player.set("overlay")(Number(shell.$("overlay").value)));
  },
  state(state) {
    player.state(state);
    shell.$("overlay-panel").hidden = !state.stream;
    shell.$("overlay").value = String(state.overlay ?? 0);
    shell.$("extents").textContent = state.image ? `${state.extents.join(" × ")} pixels` : "";
  },
};
