// The histogram: grey values (log counts), the interval T +- epsilon as the tent of the speed, the window, and the transfer function's points.

const PAD = 6, POINTS = 16, PROBE_BINS = 256;
const css = (c) => `rgb(${c.map((v) => Math.round(255 * v)).join(" ")})`;
const hex = (c) => "#" + c.map((v) => Math.round(255 * v).toString(16).padStart(2, "0")).join("");

export class Transfer {
  constructor(canvas, tell) {
    this.canvas = canvas;
    this.tell = tell; // { points, window, speed }
    this.points = [];
    this.selected = -1;
    this.state = null;
    this.color = document.getElementById("point-color");
    this.color.addEventListener("input", () => {
      const p = this.points[this.selected];
      if (!p) return;
      for (let i = 0; i < 3; i++) p[2 + i] = parseInt(this.color.value.slice(1 + 2 * i, 3 + 2 * i), 16) / 255;
      this.changed();
    });
    canvas.addEventListener("pointerdown", (e) => this.down(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    canvas.addEventListener("pointerup", () => { this.drag = null; });
    canvas.addEventListener("dblclick", (e) => this.double(e));
    canvas.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  takeHistogram(histogram) {
    this.histogram = histogram;
    this.draw();
  }

  take(state) {
    this.state = state;
    if (!this.drag && !this.scheduled) {
      this.points = state.transfer.map((p) => [...p]);
      if (this.selected >= this.points.length) this.select(-1);
    }
    this.draw();
  }

  select(i) {
    this.selected = i;
    this.color.disabled = i < 0;
    if (i >= 0) this.color.value = hex(this.points[i].slice(2));
    this.draw();
  }

  x(value) {
    const h = this.histogram;
    return PAD + ((value - h.lower) / (h.upper - h.lower)) * (this.canvas.clientWidth - 2 * PAD);
  }
  value(x) {
    const h = this.histogram;
    return h.lower + ((x - PAD) / (this.canvas.clientWidth - 2 * PAD)) * (h.upper - h.lower);
  }
  y(alpha) { return this.canvas.clientHeight - 14 - Math.sqrt(alpha) * (this.canvas.clientHeight - 30); } // small opacities need room
  alpha(y) { return Math.min(1, Math.max(0, (this.canvas.clientHeight - 14 - y) / (this.canvas.clientHeight - 30))) ** 2; }

  draw() {
    const canvas = this.canvas, ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (!w || !this.histogram || !this.state) return;
    if (canvas.width !== Math.round(w * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
    }
    const c = canvas.getContext("2d"), counts = this.histogram.counts, floor = h - 14;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, w, h);
    const most = Math.log1p(Math.max(...counts)), wide = (w - 2 * PAD) / counts.length;
    c.fillStyle = "#4a5262";
    counts.forEach((n, i) => {
      const high = (Math.log1p(n) / most) * (floor - 16);
      c.fillRect(PAD + i * wide, floor - high, wide + 0.4, high);
    });
    const { target, epsilon, probed, window: [low, high] } = this.state;
    const mostProbed = Math.log1p(Math.max(1, ...probed)), part = (w - 2 * PAD) / PROBE_BINS; // parts of the image's range, as those of the histogram
    c.fillStyle = "#f2c230c0";
    probed.forEach((n, i) => {
      const high = (Math.log1p(n) / mostProbed) * (floor - 16) * 0.8;
      if (n) c.fillRect(PAD + i * part, floor - high, Math.max(part, 1), high);
    });
    c.fillStyle = "#f2c23030"; // the tent: where the surface grows
    c.strokeStyle = "#f2c230";
    c.beginPath();
    c.moveTo(this.x(target - epsilon), 14);
    c.lineTo(this.x(target), 3);
    c.lineTo(this.x(target + epsilon), 14);
    c.stroke();
    c.fillRect(this.x(target - epsilon), 14, this.x(target + epsilon) - this.x(target - epsilon), floor - 14);
    const ramp = c.createLinearGradient(this.x(low), 0, Math.max(this.x(high), this.x(low) + 1), 0); // the window
    ramp.addColorStop(0, "#000");
    ramp.addColorStop(1, "#fff");
    c.fillStyle = ramp;
    c.fillRect(PAD, h - 10, w - 2 * PAD, 6);
    c.fillStyle = "#5ac8fa";
    for (const end of [low, high]) c.fillRect(this.x(end) - 2, h - 13, 4, 12);
    c.strokeStyle = "#e4e7ec";
    c.lineWidth = 1.2;
    c.beginPath();
    this.points.forEach((p, i) => (i ? c.lineTo(this.x(p[0]), this.y(p[1])) : c.moveTo(this.x(p[0]), this.y(p[1]))));
    c.stroke();
    this.points.forEach((p, i) => {
      c.beginPath();
      c.arc(this.x(p[0]), this.y(p[1]), i === this.selected ? 6 : 4.5, 0, 2 * Math.PI);
      c.fillStyle = css(p.slice(2));
      c.fill();
      c.strokeStyle = i === this.selected ? "#f2c230" : "#e4e7ec";
      c.stroke();
    });
  }

  near(x, y) { return this.points.findIndex((p) => Math.hypot(this.x(p[0]) - x, this.y(p[1]) - y) < 9); }

  down(event) {
    if (!this.histogram || !this.state) return;
    const { offsetX: x, offsetY: y } = event, { target, epsilon, window: [low, high] } = this.state;
    this.canvas.setPointerCapture(event.pointerId);
    const point = this.near(x, y);
    if (point >= 0) {
      this.drag = { point };
      return this.select(point);
    }
    if (y > this.canvas.clientHeight - 14) this.drag = { end: Math.abs(x - this.x(low)) < Math.abs(x - this.x(high)) ? 0 : 1 };
    else if (y < 18) this.drag = Math.abs(x - this.x(target)) < 8 ? { tent: "target" } : { tent: "epsilon" };
    else this.select(-1);
    if (this.drag?.tent) this.drag.epsilon = epsilon;
  }

  move(event) {
    if (!this.drag) return;
    const { offsetX: x, offsetY: y } = event, h = this.histogram, v = Math.min(h.upper, Math.max(h.lower, this.value(x))), tiny = (h.upper - h.lower) / 1024;
    if (this.drag.end !== undefined) {
      const ends = [...this.state.window];
      ends[this.drag.end] = this.drag.end ? Math.max(v, ends[0] + tiny) : Math.min(v, ends[1] - tiny);
      this.later(() => this.tell.window(...ends));
    } else if (this.drag.tent) {
      const value = this.drag.tent === "target" ? v : Math.max(tiny, Math.abs(v - this.state.target));
      this.later(() => this.tell.speed(this.drag?.tent ?? "target", value));
    } else {
      const i = this.drag.point, p = this.points[i];
      p[0] = Math.min((this.points[i + 1]?.[0] ?? h.upper + tiny) - tiny, Math.max((this.points[i - 1]?.[0] ?? h.lower - tiny) + tiny, v));
      p[1] = this.alpha(y);
      this.changed();
    }
  }

  double(event) {
    if (!this.histogram) return;
    const i = this.near(event.offsetX, event.offsetY);
    if (i >= 0 && this.points.length > 2) this.points.splice(i, 1);
    else if (i < 0 && this.points.length < POINTS) {
      const v = this.value(event.offsetX), after = this.points.find((p) => p[0] > v) ?? this.points.at(-1) ?? [0, 0, 1, 1, 1];
      this.points.push([v, this.alpha(event.offsetY), ...after.slice(2)]);
      this.points.sort((a, b) => a[0] - b[0]);
    }
    this.select(-1);
    this.changed();
  }

  key(event) {
    const p = this.points[this.selected], by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 0.02], ArrowDown: [0, -0.02] }[event.key];
    if (event.key === "n") this.select((this.selected + 1) % this.points.length); // next point
    if (!p || !by) return;
    event.preventDefault();
    p[0] += (by[0] * (this.histogram.upper - this.histogram.lower)) / 256;
    p[1] = Math.min(1, Math.max(0, p[1] + by[1]));
    this.points.sort((a, b) => a[0] - b[0]);
    this.selected = this.points.indexOf(p);
    this.changed();
  }

  changed() {
    this.draw();
    this.later(() => {
      const rising = this.points.filter((p, i) => !i || p[0] > this.points[i - 1][0]);
      if (rising.length) this.tell.points(rising);
    });
  }

  later(action) {
    this.action = action;
    this.scheduled ||= requestAnimationFrame(() => {
      this.scheduled = 0;
      this.action();
    });
  }
}
