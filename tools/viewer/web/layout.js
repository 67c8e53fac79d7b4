// The windows of a mode: made of its list, arranged as the user wants, one of them large and back.
import { Window } from "./windows.js";

export class Layout {
  constructor(shell) {
    this.shell = shell;
    this.root = document.getElementById("windows");
    this.select = document.getElementById("layout");
    this.select.addEventListener("change", () => this.choose(this.select.value));
  }

  build(mode) {
    this.layouts = mode.layouts;
    this.root.innerHTML = mode.windows.map((w) => this.article(w)).join("");
    for (const element of this.root.children) this.shell.windows[element.dataset.view] = new Window(element, this.shell);
    this.select.replaceChildren(...Object.entries(mode.layouts).map(([name, { label }]) => new Option(label, name)));
    this.select.hidden = Object.keys(mode.layouts).length < 2;
    let kept = null;
    try { kept = localStorage.getItem(`layout-${mode.name}`); } catch { /* private windows */ }
    this.choose(mode.layouts[kept] ? kept : Object.keys(mode.layouts)[0]);
  }

  article({ view, kind, label, controls = "", about, pans = "" }) {
    const slice = kind === "slice";
    return `<article class="window" data-view="${view}" data-kind="${kind}" data-pans="${pans}" aria-label="${about}">
      <canvas tabindex="0" role="img" aria-label="${about}"></canvas>
      <div class="label">${slice ? `<select class="axis" aria-label="Slice direction of the ${label} window"></select><output class="place"></output>` : ""}${controls}</div>
      ${slice ? `<input class="slice" type="range" min="0" max="1" step="1" aria-label="Slice of the ${label} window">` : ""}
      <button class="maximise" aria-label="Enlarge the ${label} window" title="Enlarge and back (M)">⤢</button>
      ${slice ? ["left", "right", "top", "bottom"].map((side) => `<span class="edge ${side}"></span>`).join("") : ""}
    </article>`;
  }

  choose(name) {
    if (!this.layouts[name]) return;
    this.name = this.select.value = name;
    const { views, columns, rows } = this.layouts[name];
    this.root.classList.remove("one");
    Object.assign(this.root.style, { gridTemplateColumns: columns, gridTemplateRows: rows });
    for (const element of this.root.children) {
      const place = views[element.dataset.view];
      element.classList.remove("big");
      element.hidden = !place;
      if (place) element.style.gridArea = place;
    }
    try { localStorage.setItem(`layout-${this.shell.mode.name}`, name); } catch { /* private windows */ }
    for (const w of Object.values(this.shell.windows)) w.shownOrNot();
  }

  next() {
    const names = Object.keys(this.layouts);
    this.choose(names[(names.indexOf(this.name) + 1) % names.length]);
  }
}
