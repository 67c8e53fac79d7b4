// A slider and a number that are one value between `least` and `most`. While the hand is on it, what the server says waits. What `change` or the server
// refuses gives way to the server's value.

// So many digits, and no more behind the point than a number needs to be seen whole.
const shown = (value, digits) => +(+value.toPrecision(digits + 1)).toFixed(Math.max(digits, 3));

export class Slider {
  constructor(id, { min = 0, max = 1, step = 0.01, digits = 3, least = -Infinity, most = Infinity, change }) {
    this.least = least;
    this.most = most;
    this.range = document.getElementById(id);
    this.number = document.getElementById(`${id}-n`);
    this.digits = digits;
    this.change = change;
    this.limits(min, max, step);
    this.held = false;
    for (const type of ["pointerdown", "keydown"]) this.range.addEventListener(type, () => { this.held = true; });
    for (const type of ["pointerup", "keyup", "blur"]) this.range.addEventListener(type, () => { this.held = false; });
    this.range.addEventListener("input", () => this.set(+this.range.value, true));
    this.number.addEventListener("change", () => {
      const value = parseFloat(this.number.value);
      if (Number.isFinite(value)) this.set(value, true);
      else this.restore();
    });
    this.number.addEventListener("keydown", (event) => { // done: keys are shortcuts again
      if (event.key !== "Enter" && event.key !== "Escape") return;
      if (event.key === "Escape") this.number.value = shown(this.value, this.digits);
      this.number.blur();
    });
  }

  // Of the slider, and of the values that may be typed.
  limits(min, max, step, least = this.least, most = this.most) {
    Object.assign(this.range, { min, max, step });
    Object.assign(this, { least, most });
    if (this.value !== undefined) this.show();
  }

  show() {
    this.range.value = this.value;
    if (document.activeElement !== this.number || this.held) this.number.value = shown(this.value, this.digits);
  }

  set(value, tell) {
    value = Math.min(this.most, Math.max(this.least, value));
    this.value = value;
    this.range.value = value;
    this.number.value = shown(value, this.digits);
    if (!tell || this.scheduled) return;
    this.scheduled = requestAnimationFrame(() => { // the newest value once per picture of the screen
      this.scheduled = 0;
      if (this.change(this.value) === false) this.restore();
    });
  }

  restore() {
    if (this.served === undefined || this.held || this.scheduled) return;
    this.value = this.range.value = this.served;
    this.number.value = shown(this.served, this.digits);
  }

  take(value) {
    this.served = value;
    if (this.held || this.scheduled || value === undefined || value === this.value) return;
    this.value = value;
    this.show();
  }
}

// A button or a list that the mouse used gives the keys back to the shortcuts; who goes by the keyboard stays where they are.
export function returnKeys(root) {
  let pointed = null;
  root.addEventListener("pointerdown", (event) => { pointed = event.target; }, true);
  root.addEventListener("keydown", () => { pointed = null; }, true);
  const back = (event) => {
    const control = event.target.closest?.("button, select, input[type=checkbox]");
    if (control && pointed && control.contains(pointed) && !control.closest("dialog")) control.blur();
  };
  root.addEventListener("click", (event) => event.target.closest?.("select") || back(event));
  root.addEventListener("change", back);
}

// One line at the bottom; a warning stays until it is closed, or until `endWarnings`.
export function message(text, kind) {
  const line = document.createElement("p");
  line.textContent = text;
  line.className = kind;
  const all = document.getElementById("messages");
  for (const old of all.children) if (old.dataset.text === text) old.remove();
  line.dataset.text = text;
  if (kind === "warning") {
    const close = document.createElement("button");
    close.textContent = "×";
    close.setAttribute("aria-label", "Close this message");
    close.addEventListener("click", () => line.remove());
    line.append(close);
  }
  all.append(line);
  const passing = [...all.querySelectorAll("p:not(.warning)")];
  for (const old of passing.slice(0, Math.max(0, passing.length - 3))) old.remove();
  if (kind !== "warning") setTimeout(() => line.remove(), kind === "error" ? 7000 : 3500);
}

export function endWarnings() {
  for (const line of document.querySelectorAll("#messages .warning")) line.remove();
}

// The name of a file without the endings that it has or is given here.
export function stem(name) {
  const endings = /(\.(nii|nrrd|nhdr|mha|mhd|inr|tsc|hdr|gz|ply|stl|obj|off|png|session|txt|calib|geoscene|yml)|-(mask|field|labels|colmap))$/i;
  let short = name.trim();
  while (endings.test(short) && short.replace(endings, "")) short = short.replace(endings, "");
  return short;
}

// Asks in a dialog of the page: true where the answer is its first button.
export function ask(id) {
  const dialog = document.getElementById(id);
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((answered) => dialog.addEventListener("close", () => answered(dialog.returnValue === "yes"), { once: true }));
}
