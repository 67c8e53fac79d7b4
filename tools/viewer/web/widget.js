// The widget of an object: arrows move it, rings turn it, the square scales it. One drag is one line of the script.
import { axesOf } from "./overlay.js";

const COLOURS = ["#ff6b6b", "#6bd968", "#5aa9ff"], REACH = 80, NEAR = 9, SIDES = 40, HALF_VIEW = Math.PI / 12; // of the server's camera
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const text = (v) => String(+v.toPrecision(9));

export class Widget {
  constructor(shell, edit) {
    Object.assign(this, { shell, edit, drag: null });
  }

  get object() { return this.shell.state?.objects?.find((o) => o.name === this.shell.state.active && o.visible && o.box); }

  // Where the object's middle lies in the 3-D window, and how large things are there.
  frame(w) {
    const o = this.object, image = this.shell.image, f = w.frame;
    if (!o || !image?.middle || !f?.zoom || w.flat) return null;
    const axes = image.space === "LPS" ? axesOf(w.look).map(([x, y, z]) => [-x, -y, z]) : axesOf(w.look), [right, up, eye] = axes, box = w.frameBox;
    const middle = [0, 1, 2].map((k) => (o.box[k] + o.box[k + 3]) / 2), from = middle.map((v, k) => v - image.middle[k]);
    const away = (f.pixel * f.height) / (2 * Math.tan(HALF_VIEW)), unit = (w.pixel * Math.max(0.05 * away, away - dot(from, eye))) / away; // world units of a pixel there
    const x = box.x + box.width / 2 + (dot(from, right) + w.look.pan[0]) / unit, y = box.y + box.height / 2 + (-dot(from, up) + w.look.pan[1]) / unit;
    return { w, o, middle, x, y, right, up, eye, unit, flat: (v) => [dot(v, right), -dot(v, up)] };
  }

  // Points of the ring about an axis, in pixels, seen with what lies in front.
  ring(f, axis) {
    return Array.from({ length: SIDES + 1 }, (_, i) => {
      const v = [0, 0, 0], a = (2 * Math.PI * i) / SIDES, r = REACH * 0.8;
      v[(axis + 1) % 3] = r * Math.cos(a);
      v[(axis + 2) % 3] = r * Math.sin(a);
      const [dx, dy] = f.flat(v);
      return { x: f.x + dx, y: f.y + dy, front: dot(v, f.eye) >= -r * 0.1 };
    });
  }

  arrow(f, axis) {
    const v = [0, 0, 0];
    v[axis] = REACH;
    const [dx, dy] = f.flat(v);
    return [f.x + dx, f.y + dy];
  }

  // What the hand is on: { kind, axis }.
  hit(f, [x, y]) {
    const near = (a, b) => {
      const d = [b[0] - a[0], b[1] - a[1]], l = d[0] ** 2 + d[1] ** 2, t = l ? Math.min(1, Math.max(0, ((x - a[0]) * d[0] + (y - a[1]) * d[1]) / l)) : 0;
      return Math.hypot(x - a[0] - t * d[0], y - a[1] - t * d[1]);
    };
    if (Math.hypot(x - f.x, y - f.y) < NEAR + 3) return { kind: "scale" };
    for (const axis of [0, 1, 2]) {
      const end = this.arrow(f, axis);
      if (Math.hypot(end[0] - f.x, end[1] - f.y) > 14 && near([f.x + (end[0] - f.x) * 0.3, f.y + (end[1] - f.y) * 0.3], end) < NEAR) return { kind: "move", axis };
    }
    for (const axis of [0, 1, 2])
      if (this.ring(f, axis).some((p, i, all) => i && p.front && near([all[i - 1].x, all[i - 1].y], [p.x, p.y]) < NEAR)) return { kind: "turn", axis };
    return null;
  }

  begin(w, at) {
    const f = this.frame(w), hit = f && this.hit(f, at);
    if (!hit) return null;
    const drag = (this.drag = { ...hit, f, value: hit.kind === "scale" ? 1 : 0 }), angle = ([x, y]) => Math.atan2(y - f.y, x - f.x), axis = [0, 1, 2].map((k) => +(k === hit.axis));
    let last = angle(at);
    return {
      move: (to) => {
        if (hit.kind === "move") {
          const d = f.flat(axis), l = d[0] ** 2 + d[1] ** 2;
          drag.value = l > 0.01 ? (((to[0] - at[0]) * d[0] + (to[1] - at[1]) * d[1]) / l) * f.unit : 0;
        } else if (hit.kind === "turn") {
          const now = angle(to), by = ((now - last + 3 * Math.PI) % (2 * Math.PI)) - Math.PI;
          drag.value += ((dot(axis, f.eye) >= 0 ? -by : by) * 180) / Math.PI;
          last = now;
        } else drag.value = Math.min(8, Math.max(0.125, Math.exp((to[0] - at[0] - (to[1] - at[1])) / 150)));
        w.draw();
      },
      end: () => {
        const { value } = drag, name = f.o.name, middle = f.middle.map(text).join(" ");
        this.drag = null;
        if (hit.kind === "move" && value) this.edit(`move ${name} ${axis.map((a) => text(a * value)).join(" ")}`);
        if (hit.kind === "turn" && Math.abs(value) > 0.2) this.edit(`turn ${name} ${middle} ${axis.join(" ")} ${text(value)}`);
        if (hit.kind === "scale" && Math.abs(value - 1) > 0.005) this.edit(`scale ${name} ${middle} ${text(value)}`);
        w.draw();
      },
      drop: () => { this.drag = null; w.draw(); },
    };
  }

  draw(c, w) {
    const f = this.frame(w), drag = this.drag;
    if (!f) return;
    const over = drag ?? (w.hover && this.hit(f, w.hover)), is = (kind, axis) => over?.kind === kind && over.axis === axis;
    this.box(c, f, drag);
    for (const axis of [0, 1, 2]) {
      c.strokeStyle = COLOURS[axis];
      c.lineWidth = is("turn", axis) ? 4 : 1.5;
      c.beginPath();
      this.ring(f, axis).forEach((p, i, all) => (i && p.front && all[i - 1].front ? c.lineTo(p.x, p.y) : c.moveTo(p.x, p.y)));
      c.stroke();
      const [x, y] = this.arrow(f, axis), l = Math.hypot(x - f.x, y - f.y) || 1, [ux, uy] = [(x - f.x) / l, (y - f.y) / l];
      c.lineWidth = is("move", axis) ? 5 : 2.5;
      c.beginPath();
      c.moveTo(f.x, f.y);
      c.lineTo(x, y);
      if (l > 14) for (const side of [-1, 1]) { c.moveTo(x, y); c.lineTo(x - 9 * ux + side * 5 * uy, y - 9 * uy - side * 5 * ux); }
      c.stroke();
    }
    c.fillStyle = over?.kind === "scale" ? "#f2c230" : "#fff";
    c.fillRect(f.x - 6, f.y - 6, 12, 12);
    if (!drag) return;
    c.font = "13px system-ui, sans-serif";
    c.textAlign = "left";
    c.fillText({ move: `${"XYZ"[drag.axis]} ${drag.value.toPrecision(3)} mm`, turn: `${drag.value.toFixed(1)}°`, scale: `× ${drag.value.toFixed(2)}` }[drag.kind], f.x + REACH, f.y - REACH);
  }

  // The box of the object, where it will be.
  box(c, f, drag) {
    const { o, middle } = f, a = drag?.kind === "turn" ? (drag.value * Math.PI) / 180 : 0, [i, j] = drag ? [(drag.axis + 1) % 3, (drag.axis + 2) % 3] : [];
    const corner = (n) => {
      const v = [0, 1, 2].map((k) => (n >> k & 1 ? o.box[k + 3] : o.box[k]) - middle[k]);
      if (drag?.kind === "move") v[drag.axis] += drag.value;
      if (drag?.kind === "scale") v.forEach((x, k) => { v[k] = x * drag.value; });
      if (a) [v[i], v[j]] = [v[i] * Math.cos(a) - v[j] * Math.sin(a), v[i] * Math.sin(a) + v[j] * Math.cos(a)];
      const [dx, dy] = f.flat(v);
      return [f.x + dx / f.unit, f.y + dy / f.unit];
    };
    c.strokeStyle = drag ? "#f2c230" : "#fff5";
    c.lineWidth = 1;
    c.beginPath();
    for (let n = 0; n < 8; n++) for (const k of [1, 2, 4]) if (!(n & k)) { c.moveTo(...corner(n)); c.lineTo(...corner(n | k)); }
    c.stroke();
  }
}
