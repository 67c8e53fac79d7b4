// The hand on a window: mouse, pen, touch and keys. What a tool does there says the mode: `begin` gives a drag of its own, or null.

const NOTCH = 50; // pixels of a wheel for a slice

export class Hand {
  change(change) {
    Object.assign(this.look, change);
    this.pending = { ...this.pending, ...change };
    this.schedule();
  }

  // One message per picture of the screen, with the newest of everything.
  schedule() {
    if (this.scheduled) return;
    this.scheduled = requestAnimationFrame(() => {
      this.scheduled = 0;
      if (this.pending) this.bench.link.input({ type: "view", view: this.view, ...this.pending });
      this.pending = null;
      if (this.stroke?.due) this.stroke.send();
    });
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * this.canvas.width, ((event.clientY - box.top) / box.height) * this.canvas.height];
  }

  turnSlice(by) {
    const size = this.bench.image?.size;
    if (!size) return;
    const position = Math.min(size[this.look.axis] - 1, Math.max(0, Math.round(this.look.position) + by));
    this.bench.cross = this.bench.cross?.map((v, i) => (i === this.look.axis ? position : v));
    this.change({ position });
    this.bench.follow(this);
  }

  // What lies under `at` (canvas pixels) stays there.
  zoom(factor, at) {
    const zoom = Math.min(40, Math.max(0.2, this.look.zoom * factor)), grown = this.pixelAt(zoom) - this.pixelAt(this.look.zoom), box = this.frameBox;
    const pan = at && [0, 1].map((i) => this.look.pan[i] + (at[i] - (i ? box.y + box.height / 2 : box.x + box.width / 2)) * grown);
    this.change(pan ? { zoom, pan } : { zoom });
  }

  pan(dx, dy) {
    const unit = this.pixelAt(this.look.zoom) || this.bench.extent / this.canvas.height / this.look.zoom;
    this.change({ pan: [this.look.pan[0] + dx * unit, this.look.pan[1] + dy * unit] });
  }

  setCross(at) {
    const voxel = this.voxel(...at);
    if (voxel && this.inside(voxel)) this.bench.setCross(voxel, this);
  }

  begin(event, at) {
    const tool = this.bench.driving ? this.bench.tool : "navigate", right = event.button === 2, pan = event.button === 1 || event.shiftKey || (right && !this.flat && tool === "navigate");
    this.moved = false;
    if (pan) this.drag = "pan";
    else if (right) this.drag = this.flat ? "grey" : this.turns ? "turn" : "pan"; // window and level
    else if (tool === "navigate") {
      this.drag = this.flat ? "cross" : this.turns ? "turn" : "pan";
      if (this.flat) this.setCross(at);
    } else {
      this.stroke = this.bench.mode.begin(this, at, event);
      this.drag = this.stroke ? "stroke" : null;
      if (this.stroke) this.schedule();
    }
  }

  // A finger may be the first of two: it paints when it has moved or stayed for a while, or when it is lifted.
  beginTouch(event, at) {
    this.touch = { event, at, timer: setTimeout(() => this.settleTouch(), 120) };
  }

  settleTouch() {
    const { event, at, timer } = this.touch;
    clearTimeout(timer);
    this.touch = null;
    this.begin(event, at);
  }

  dropTouch() {
    clearTimeout(this.touch?.timer);
    this.stroke?.drop?.();
    this.touch = this.stroke = this.drag = null;
  }

  // Right drag: to the right brighter contrast, upwards a brighter picture.
  changeGrey(dx, dy) {
    const { image, state, link } = this.bench;
    if (!image?.volume || !state || !this.bench.driving) return;
    const range = image.maximum - image.minimum, unit = range / 400;
    this.grey ??= [...state.window];
    const width = Math.max(range / 1000, this.grey[1] - this.grey[0] + dx * unit), middle = 0.5 * (this.grey[0] + this.grey[1]) + dy * unit;
    this.grey = [middle - width / 2, middle + width / 2];
    link.input({ type: "window", low: this.grey[0], high: this.grey[1] });
  }

  // A click in the 3-D window: the cross goes where the ray meets the surface or the clipping plane.
  locate(at) {
    const box = this.frameBox, x = (at[0] - box.x) / box.width, y = (at[1] - box.y) / box.height;
    if (x < 0 || x > 1 || y < 0 || y > 1 || this.look.mode === "mip" || !this.bench.driving) return;
    this.bench.picking = performance.now();
    this.bench.link.input({ type: "pick", x, y, action: "locate" });
  }

  move(event, at) {
    const before = this.pointers.get(event.pointerId);
    const [dx, dy] = [at[0] - before[0], at[1] - before[1]];
    this.pointers.set(event.pointerId, at);
    if (this.began && Math.hypot(at[0] - this.began[0], at[1] - this.began[1]) > 4) this.moved = true;
    if (this.touch && Math.hypot(at[0] - this.touch.at[0], at[1] - this.touch.at[1]) > 12) this.settleTouch();
    if (this.pointers.size === 2) { // two fingers: move and zoom
      const [a, b] = [...this.pointers.values()], apart = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (this.apart) this.zoom(apart / this.apart, [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]);
      this.apart = apart;
      return this.pan(dx / 2, dy / 2);
    }
    if (this.drag === "pan") this.pan(dx, dy);
    else if (this.drag === "turn")
      this.change({ azimuth: this.look.azimuth - (dx / this.canvas.width) * 240, elevation: Math.min(89, Math.max(-89, this.look.elevation + (dy / this.canvas.height) * 180)) });
    else if (this.drag === "cross") this.setCross(at);
    else if (this.drag === "grey") this.changeGrey(dx, -dy);
    else if (this.drag === "stroke") {
      this.stroke.move(at, event);
      this.schedule();
    }
  }

  listen() {
    const canvas = this.canvas, allowed = () => this.bench.looking() && this.bench.image;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.focus();
      if (!allowed()) return;
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, this.at(event));
      this.began = this.at(event);
      this.grey = null;
      this.apart = 0;
      if (this.pointers.size > 1) this.dropTouch();
      else if (event.pointerType === "touch" && this.bench.tool !== "navigate") this.beginTouch(event, this.at(event));
      else this.begin(event, this.at(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      const at = this.at(event);
      this.hover = event.pointerType === "touch" ? null : at;
      if (this.pointers.has(event.pointerId) && allowed()) this.move(event, at);
      if (this.bench.tool !== "navigate") this.draw();
      if (this.flat) this.bench.under(this.voxel(...at), this);
      this.bench.mode.hovered?.(this, at);
    });
    for (const type of ["pointerup", "pointercancel"])
      canvas.addEventListener(type, (event) => {
        if (this.touch && type === "pointerup" && allowed()) this.settleTouch();
        else if (this.touch) this.dropTouch();
        if (this.drag === "turn" && !this.moved && type === "pointerup" && event.button === 0) this.locate(this.at(event));
        if (this.drag === "stroke") this.stroke?.end?.(this.at(event));
        this.pointers.delete(event.pointerId);
        this.drag = this.pointers.size ? this.drag : null;
      });
    canvas.addEventListener("pointerleave", () => {
      this.hover = null;
      this.draw();
    });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (allowed() && !this.bench.mode.wheel?.(this, event)) this.wheel(event);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    this.element.querySelector(".maximise").addEventListener("click", () => this.maximise());
    this.slider?.addEventListener("input", () => this.turnSlice(this.slider.value - Math.round(this.look.position)));
    this.axis?.addEventListener("change", () => this.turnTo(+this.axis.value));
  }

  // A notch of a wheel is one slice; the many small events of a trackpad add up to one.
  wheel(event) {
    const delta = event.deltaY * [1, 33, 100][event.deltaMode];
    if (event.ctrlKey || !this.flat) // a pinch of a trackpad comes with Ctrl, in small steps
      return this.zoom(Math.exp(-delta * (event.ctrlKey && Math.abs(delta) < 50 ? 0.01 : 0.0015)), this.at(event));
    if (event.timeStamp - this.wheeled > 300 || delta * this.rolled < 0) this.rolled = 0;
    this.wheeled = event.timeStamp;
    this.rolled += delta;
    if (Math.abs(this.rolled) < NOTCH) return;
    this.turnSlice(this.rolled > 0 ? -1 : 1);
    this.rolled %= NOTCH;
  }

  turnTo(axis) {
    const size = this.bench.image?.size;
    if (!size) return;
    const cross = this.bench.cross;
    this.change({ axis, position: Math.round(cross ? cross[axis] : (size[axis] - 1) / 2), pan: [0, 0], zoom: 1 });
  }

  maximise() {
    const all = this.element.parentElement, on = !this.element.classList.contains("big");
    all.classList.toggle("one", on);
    this.element.hidden = false;
    for (const other of all.children) other.classList.toggle("big", on && other === this.element);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      ArrowUp: () => (this.flat ? this.turnSlice(1) : this.change({ elevation: Math.min(89, this.look.elevation + 5) })),
      ArrowDown: () => (this.flat ? this.turnSlice(-1) : this.change({ elevation: Math.max(-89, this.look.elevation - 5) })),
      ArrowLeft: () => (this.flat ? this.pan(20, 0) : this.change({ azimuth: this.look.azimuth - 5 })),
      ArrowRight: () => (this.flat ? this.pan(-20, 0) : this.change({ azimuth: this.look.azimuth + 5 })),
      "+": () => this.zoom(1.2), "=": () => this.zoom(1.2), "-": () => this.zoom(1 / 1.2),
      0: () => this.change({ zoom: 1, pan: [0, 0] }),
      m: () => this.maximise(),
      a: () => this.flat && this.turnTo((this.look.axis + 1) % 3),
    };
    if (this.bench.mode.windowKey?.(this, event)) return;
    const action = keys[event.key] || keys[event.key.toLowerCase()];
    if (!action || (!this.bench.looking() && event.key !== "m")) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }
}
