// A slider and a number that are one value between `least` and `most`. While the hand is on it, what the server says waits. What `change` or the server
// refuses gives way to the server's value.

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
  }

  limits(min, max, step) {
    Object.assign(this.range, { min, max, step });
    if (this.value !== undefined) this.show();
  }

  show() {
    this.range.value = this.value;
    if (document.activeElement !== this.number || this.held) this.number.value = +this.value.toPrecision(this.digits + 1);
  }

  set(value, tell) {
    value = Math.min(this.most, Math.max(this.least, value));
    this.value = value;
    this.range.value = value;
    this.number.value = +value.toPrecision(this.digits + 1);
    if (!tell || this.scheduled) return;
    this.scheduled = requestAnimationFrame(() => { // the newest value once per picture of the screen
      this.scheduled = 0;
      if (this.change(this.value) === false) this.restore();
    });
  }

  restore() {
    if (this.served === undefined || this.held || this.scheduled) return;
    this.value = this.range.value = this.served;
    this.number.value = +this.served.toPrecision(this.digits + 1);
  }

  take(value) {
    this.served = value;
    if (this.held || this.scheduled || value === undefined || value === this.value) return;
    this.value = value;
    this.show();
  }
}

export function message(text, kind) {
  const line = document.createElement("p");
  line.textContent = text;
  line.className = kind;
  const all = document.getElementById("messages");
  all.append(line);
  while (all.children.length > 3) all.firstChild.remove();
  setTimeout(() => line.remove(), kind === "error" ? 7000 : 3500);
}
