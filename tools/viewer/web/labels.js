// Several regions of an image, one of which is the surface; and what slices show over the image.

const hex = (c) => "#" + c.map((v) => Math.round(255 * v).toString(16).padStart(2, "0")).join("");
const parts = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16) / 255);

export const labelPanel = `<section>
  <h2>Labels</h2>
  <ul id="labels" role="radiogroup" aria-label="Labels; the chosen one is the surface"></ul>
  <div class="buttons five"><button id="label-add" title="One more region; the surface that is there stays the one before">+ Label</button><button id="load-labels" title="Labels of the file chosen below">Labels of file</button></div>
  <div class="buttons"><label for="over">Over it</label><select id="over" title="What slices show over the image"><option value="none">nothing</option><option value="image">second image</option><option value="speed">speed</option></select>
    <input id="over-opacity" type="range" min="0" max="1" step="0.05" value="0.5" aria-label="Opacity of what lies over the image"><button id="load-overlay" title="The file chosen below becomes the second image">File</button></div>
</section>`;

export class Labels {
  constructor(shell) {
    const { $, link } = shell;
    this.shell = shell;
    $("label-add").addEventListener("click", () => {
      const used = new Set((shell.state.labels.length ? shell.state.labels : [{ label: 1 }]).map((l) => l.label));
      let label = 1;
      while (used.has(label)) label++;
      link.input({ type: "label", label, active: true });
    });
    $("load-labels").addEventListener("click", () => shell.load($("files").value, "labels"));
    $("load-overlay").addEventListener("click", () => shell.load($("files").value, "overlay"));
    for (const id of ["over", "over-opacity"]) $(id).addEventListener("input", () => link.input({ type: "overlay", over: $("over").value, opacity: +$("over-opacity").value }));
  }

  row({ label, name, visible, voxels, colour }, active) {
    const item = document.createElement("li"), say = (what) => this.shell.link.input({ type: "label", label, ...what });
    const make = (tag, more, about, event, action) => {
      const made = Object.assign(document.createElement(tag), more);
      made.setAttribute("aria-label", about);
      made.title = about;
      made.addEventListener(event, () => action(made));
      item.append(made);
      return made;
    };
    make("input", { type: "checkbox", checked: visible }, `${name} is shown`, "change", (e) => say({ visible: e.checked }));
    make("input", { type: "color", value: hex(colour) }, `Colour of ${name}`, "change", (e) => say({ colour: parts(e.value) }));
    if (active) make("input", { type: "text", value: name, maxLength: 60 }, `Name of label ${label}`, "change", (e) => e.value.trim() && say({ name: e.value.trim().replaceAll('"', "'") }));
    else make("button", { textContent: name }, `${name}: work on this one`, "click", () => say({ active: true }));
    const count = document.createElement("small");
    count.textContent = active ? "active" : voxels.toLocaleString("en");
    item.append(count);
    make("button", { textContent: "×" }, `${name} goes`, "click", () => say({ remove: true }));
    item.firstChild.nextSibling.nextSibling.setAttribute("role", "radio");
    item.firstChild.nextSibling.nextSibling.setAttribute("aria-checked", active);
    return item;
  }

  state(state) {
    const { $ } = this.shell, shown = JSON.stringify([state.labels, state.label]);
    if ($("labels").dataset.shown !== shown && !$("labels").contains(document.activeElement?.closest("input[type=text], input[type=color]"))) {
      $("labels").dataset.shown = shown;
      $("labels").replaceChildren(...state.labels.map((l) => this.row(l, l.label === state.label)));
    }
    for (const id of ["label-add", "load-labels", "load-overlay"]) $(id).disabled = !state.image;
    $("over").options[1].disabled = !state.overlay.image;
    $("over").options[1].textContent = state.overlay.image ?? "second image";
    if (document.activeElement !== $("over")) $("over").value = state.overlay.over;
    if (document.activeElement !== $("over-opacity")) $("over-opacity").value = state.overlay.opacity;
    const own = state.labels.find((l) => l.label === state.label);
    if (own && document.activeElement !== $("fill-colour")) $("fill-colour").value = hex(own.colour);
  }
}
