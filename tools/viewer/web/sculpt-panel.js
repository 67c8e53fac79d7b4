// What the panel, the windows and the tools of sculpting look like.
import { row } from "./panels.js";
import { viewSelect } from "./overlay.js";

const button = (id, label, title) => `<button id="${id}" title="${title}">${label}</button>`;
const number = (id, label, value) => `<label class="mini">${label}<input id="${id}" type="number" step="any" value="${value}"></label>`;

export const panel = `
<section>
  <h2>Brush</h2>
  ${row("brush", "Size", "mm", "Radius of the sphere under the cursor: nothing beyond it changes")}
  ${row("strength", "Strength", "%", "How far a place of a stroke moves the surface; with a pen its pressure counts too")}
  <div class="buttons"><label class="check"><input id="mirror" type="checkbox"> mirror left and right</label></div>
  <p id="said" class="quiet" role="status" aria-label="What the last step did"></p>
</section>
<section>
  <h2>Selection <span id="selection-text" class="quiet">none: draw a box, a lasso or a stroke</span></h2>
  <div class="buttons five">${button("cut", "Cut out", "What is selected becomes an object of its own")}${button("copy", "Copy", "A copy of what is selected, as an object")}
    ${button("delete", "Delete", "What is selected goes")}${button("keep", "Keep", "Only what is selected stays")}</div>
</section>
<section>
  <h2>Objects</h2>
  <ul id="objects" role="radiogroup" aria-label="Objects; the chosen one is worked on"></ul>
  <div class="buttons"><select id="shape" aria-label="Shape to add"><option value="sphere">Sphere</option><option value="box">Box</option><option value="torus">Torus</option><option value="cylinder">Cylinder</option><option value="capsule">Capsule</option><option value="animal">Animal</option></select>
    ${button("add", "Add", "As large as the brush, at the cross")}${button("add-file", "Add file", "The file chosen below, as one more object")}</div>
  <div class="buttons"><select id="other" aria-label="The other object"></select><select id="operation" aria-label="What to do with it"><option value="union">paste: union</option><option value="blend">blend</option><option value="difference">take away</option><option value="intersection">intersect</option></select>${button("combine", "Do", "The chosen object becomes the result; the other one stays")}</div>
  <div class="buttons five">${button("duplicate", "Duplicate", "A copy of the chosen object")}${button("split", "Split", "Pieces that hang apart become objects")}${button("remove", "Remove", "The chosen object goes")}</div>
</section>
<section>
  <h2>Move, turn, scale</h2>
  <div class="buttons trio">${number("move-x", "X", 0)}${number("move-y", "Y", 0)}${number("move-z", "Z", 0)}${button("move", "Move", "By so many mm")}</div>
  <div class="buttons trio"><select id="turn-axis" aria-label="Axis to turn about"><option value="0 0 1">about Z</option><option value="1 0 0">about X</option><option value="0 1 0">about Y</option></select>${number("turn-by", "°", 30)}${button("turn", "Turn", "About the middle of the object")}
</div><div class="buttons trio">${number("scale-by", "Factor", 1.2)}${button("scale", "Scale", "About the middle of the object")}</div>
</section>
<section>
  <h2>The whole object</h2>
  <div class="buttons five">${button("smooth", "Smooth", "Flow by curvature: bumps go first")}${button("relax", "Relax", "The same, and the volume stays")}${button("dilate", "Grow", "Outwards by a twentieth of the brush")}${button("erode", "Shrink", "Inwards by a twentieth of the brush")}${button("stop", "Stop", "Ends what takes long: the object stays as it was (Esc)")}</div>
</section>
<section>
  <h2>History <span id="history-text" class="quiet"></span></h2>
  <ol id="lines" aria-label="Lines of the script, newest last" tabindex="0"></ol>
</section>
<section>
  <h2>New</h2>
  <div class="buttons"><label for="resolution">Voxels across</label><input id="resolution" type="number" min="16" max="1024" value="128" aria-label="Voxels across the next document"><label class="check" title="First-order schemes in the next document: faster, less accurate"><input id="draft" type="checkbox"> draft</label></div><div class="buttons">${button("new-sphere", "New sphere", "Begin with a sphere where nothing is loaded")}</div>
</section>`;

export const windows = [
  { view: "volume", kind: "volume", label: "3-D", about: "The surface in three dimensions", controls: viewSelect },
  ...["source", "second", "third"].map((view, i) => ({ view, kind: "slice", label: ["first", "second", "third"][i], about: "A slice: the surface as a yellow line" })),
];

export const layouts = {
  three: { label: "3-D", columns: "minmax(0,1fr)", rows: "minmax(0,1fr)", views: { volume: "1/1/2/2" } },
  large: { label: "1 + 3", columns: "minmax(0,3fr) minmax(0,1fr)", rows: "repeat(3,minmax(0,1fr))", views: { volume: "1/1/4/2", source: "1/2/2/3", second: "2/2/3/3", third: "3/2/4/3" } },
  four: { label: "2 × 2", columns: "minmax(0,1fr) minmax(0,1fr)", rows: "minmax(0,1fr) minmax(0,1fr)", views: { source: "1/1/2/2", second: "1/2/2/3", third: "2/1/3/2", volume: "2/2/3/3" } },
};

export const tools = [
  { id: "navigate", label: "Turn", sign: "⟲", key: "1", title: "Drag turns the view" },
  { id: "grow", label: "Grow", sign: "▲", key: "2", title: "Drag to raise the surface under the brush; with Ctrl it sinks", brush: true },
  { id: "shrink", label: "Dent", sign: "▼", key: "3", title: "Drag to dent the surface under the brush; with Ctrl it rises", brush: true },
  { id: "smooth", label: "Smooth", sign: "≈", key: "4", title: "Drag to smooth the surface under the brush", brush: true },
  { id: "attract", label: "Pull", sign: "⇡", key: "5", title: "Drag: the surface is pulled to the cursor; with Ctrl pushed away", brush: true },
  { id: "box", label: "Box", sign: "▭", key: "6", title: "Drag a rectangle: what lies in it, all the way through, is selected" },
  { id: "lasso", label: "Lasso", sign: "◌", key: "7", title: "Draw around what is to be selected, all the way through" },
  { id: "along", label: "Along", sign: "∿", key: "8", title: "Drag over the surface: what the brush passes is selected" },
  { id: "widget", label: "Move", sign: "✥", key: "9", title: "Arrows move the chosen object, rings turn it, the square scales it; what is selected becomes an object first" },
];

export const help = [
  ["<kbd>1</kbd> … <kbd>9</kbd>", "turn, grow, dent, smooth, pull, box, lasso, along, move"],
  ["Right drag", "turn, whatever the tool"],
  ["Ctrl + drag", "the other way round: grow dents, pull pushes"],
  ["<kbd>X</kbd> <kbd>C</kbd> <kbd>Delete</kbd>", "cut out, copy, delete what is selected"],
  ["<kbd>Esc</kbd>", "stops what takes long"],
  ["<kbd>Enter</kbd> in the 3-D window", "the brush in the middle of it, without a mouse"],
];

export const saves = [["mesh", "Mesh", "PLY", ".ply"], ["field", "Field", "Level set as a tile list", ".tsr"], ["picture", "Picture", "3-D window, PNG", ".png"],
  ["session", "Session", "Script: `tessera edit` gives the same bits from it", ".session"]];
