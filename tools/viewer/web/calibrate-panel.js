// The panel of calibration: which camera, its numbers, how pictures are compared, pairs and vanishing lines, snapshots.
import { row } from "./panels.js";

// name, label, unit, steps coarse and fine, slider's range (of places: shares of the proxy's extent)
export const PARAMETERS = [["yaw", "Yaw", "°", 1, 0.01, 180], ["pitch", "Pitch", "°", 1, 0.01, 90], ["roll", "Roll", "°", 1, 0.01, 180], ["x", "X", "", 0.01, 0.0001, 2], ["y", "Y", "", 0.01, 0.0001, 2], ["z", "Z", "", 0.01, 0.0001, 2],
  ["fov", "Field of view", "°", 0.5, 0.005, 120], ["aspect", "Aspect", "", 0.01, 0.0005, 2], ["cx", "Centre x", "px", 1, 0.05, 0], ["cy", "Centre y", "px", 1, 0.05, 0],
  ["k1", "k1", "", 0.01, 0.0005, 1], ["k2", "k2", "", 0.01, 0.0005, 1], ["p1", "p1", "", 0.001, 0.00005, 0.1], ["p2", "p2", "", 0.001, 0.00005, 0.1]];
export const BLENDS = ["alpha", "checker", "stripes", "difference", "edges", "onion"];
const check = (id, label, title) => `<label class="check" title="${title}"><input id="${id}" type="checkbox"> ${label}</label>`;
const button = (id, label, title) => `<button id="${id}" title="${title}">${label}</button>`;
const select = (id, label, values) => `<select id="${id}" aria-label="${label}">${values.map((v) => `<option>${v}</option>`).join("")}</select>`;

export const calibratePanel = `<section><h2>Camera</h2>
    <div class="buttons">${select("cam", "Camera that is edited (N: the next)", [])}${button("pitch-proxy", "Pitch", "A football pitch is the proxy; files: Load, below")}</div>
    <p id="residuals" class="quiet" role="status"></p>
    <div class="buttons">${check("fine", "fine", "Small steps (F)")}${check("rig", "all cameras", "Moves are of the whole rig")}${check("loupe", "loupe", "Eight times, under the mouse (L)")}</div></section>
  <section><h2>Pairs and lines</h2><p id="pair-text" class="quiet" role="status"></p>
    <div class="buttons five">${button("solve", "Solve", "Camera from its pairs: 3 pose, 4 field of view (S)")}${button("solve-all", "Solve all", "All cameras from all pairs at once; places that several were paired with may move by the tolerance")}${button("vanish", "Vanish", "Direction and field of view from lines along two axes")}</div>
    <div class="buttons five">${button("refine", "Refine", "Lines to edges, from some pixels off (R)")}${button("wide", "Search", "Lines to edges, from 5 degrees off")}${button("colours", "Colours", "To the colours that the other cameras see there, from some pixels off")}</div>
    <div class="buttons five">${button("unpair", "− Pairs", "Forget the camera's pairs")}${button("unline", "− Lines", "Forget its lines")}${select("axis", "Axis of the line that is drawn", ["x", "y", "z"])}</div>
    <div class="buttons">${check("free-k1", "k1", "Solve and Refine find k1, too")}${check("free-k2", "k2", "and k2")}${check("free-centre", "centre", "and the centre")}${check("one-lens", "one lens", "Solve all: field of view and lens of all cameras are the same")}</div>
    <div class="buttons"><label>Tolerance <input id="tolerance" type="number" min="0" step="any" value="0" title="Solve all: how far places of the proxy may be off, scene units; 0: they are right"></label></div></section>
  <section><h2>Compare</h2><div class="buttons">${select("blend", "How pictures are mixed (O: the next)", BLENDS)}${check("show-lines", "lines", "Of the proxy")}${check("show-shadow", "hidden", "What the proxy hides from a camera gets none of its picture")}</div>${row("mix", "Mix")}
    <div class="buttons five">${button("match", "Match", "Brightness and colour as the other cameras have it on the proxy (C)")}${button("unmatch", "As it came", "The picture without what Match found")}</div>
    <div class="buttons">${check("match-vignette", "vignette", "Match finds what darkens the corners, too")}${check("match-response", "response", "and the curve from light to value")}${check("match-all", "all", "All cameras at once, as the first one has it")}</div></section>
  <section><h2>Numbers</h2>${PARAMETERS.map(([id, label, unit]) => row(`p-${id}`, label, unit)).join("")}
    <div class="buttons locks" role="group" aria-label="Locks">${PARAMETERS.map(([id]) => check(`lock-${id}`, id, `Lock ${id}`)).join("")}</div></section>
  <section><h2>Snapshots</h2><div class="buttons"><input id="keep-name" type="text" aria-label="Name of the snapshot" value="before" spellcheck="false">${button("keep", "Keep", "The window Before shows the last (K)")}${button("reset", "Reset", "The camera as it was loaded")}</div>
    <div class="buttons">${select("kept", "Snapshots", [])}${button("restore", "Restore", "Back to it")}</div></section>`;
