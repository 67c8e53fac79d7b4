// The three windows: pictures from the server, the cross and the brush on top, mouse, touch and keys.

const NOTCH = 50; // pixels of a wheel for a slice
const PLANES = ["Sagittal", "Coronal", "Axial"];
const EDGES = { 0: ["A", "P", "S", "I"], 1: ["R", "L", "S", "I"], 2: ["R", "L", "A", "P"] }; // left, right, top, bottom, by world axis

export class Window {
  constructor(element, bench) {
    this.element = element;
    this.bench = bench;
    this.view = element.dataset.view;
    this.canvas = element.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.look = { zoom: 1, pan: [0, 0] };
    this.pointers = new Map();
    this.hover = null;
    this.pending = null;
    this.rolled = this.wheeled = 0;
    this.axis = element.querySelector(".axis");
    this.slider = element.querySelector(".slice");
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.canvas);
  }

  get flat() { return this.view !== "volume"; }

  resize() {
    const ratio = Math.min(devicePixelRatio || 1, 1.5), box = this.canvas.getBoundingClientRect();
    const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
    if (width < 16 || height < 16) return;
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.draw();
    }
    const fits = Math.min(1, 4096 / Math.max(width, height));
    if (this.bench.driving)
      this.bench.link.input({ type: "view", view: this.view, width: Math.max(16, Math.floor(width * fits)), height: Math.max(16, Math.floor(height * fits)) });
  }

  show(frame) {
    this.frame?.bitmap.close();
    this.frame = frame;
    this.draw();
  }

  // What the server says this window shows; while a drag is on, the drag knows better.
  take(look, image) {
    if (this.pointers.size && this.bench.driving) return;
    this.look = { ...look };
    if (!this.flat || !image) return;
    this.slider.max = image.size[look.axis] - 1;
    this.slider.value = look.position;
    this.element.querySelector(".place").value = `${Math.round(look.position) + 1} / ${image.size[look.axis]}`;
    const shown = `${image.version} ${image.name}`;
    if (this.axis.dataset.image !== shown) {
      this.axis.replaceChildren(...[2, 1, 0].map((world) => {
        const axis = image.axes.indexOf(world);
        return new Option(image.space === "none" ? "xyz"[axis].toUpperCase() + " slice" : PLANES[world], axis);
      }));
      this.axis.dataset.image = shown;
    }
    this.axis.value = look.axis;
    const letters = image.space === "none" ? ["", "", "", ""] : EDGES[image.axes[look.axis]];
    ["left", "right", "top", "bottom"].forEach((side, i) => { this.element.querySelector(`.edge.${side}`).textContent = letters[i]; });
  }

  // ---- places: canvas pixels, voxel indices ----

  // Where the picture stands in the canvas. It has the shape of the window that drives: in another it is never stretched, its borders stay empty. Drafts
  // are rounded to whole pixels: what that makes of the shape is none.
  get frameBox() {
    const f = this.frame, { width, height } = this.canvas;
    if (!f || Math.abs(f.width * height - f.height * width) <= Math.max(width, height)) return { x: 0, y: 0, width, height };
    const scale = Math.min(width / f.width, height / f.height), w = Math.round(f.width * scale), h = Math.round(f.height * scale);
    return { x: Math.floor((width - w) / 2), y: Math.floor((height - h) / 2), width: w, height: h };
  }

  voxel(x, y) {
    const f = this.frame;
    if (!f || !this.flat) return null;
    const box = this.frameBox, u = ((x - box.x) / box.width) * f.width, v = ((y - box.y) / box.height) * f.height;
    return f.origin.map((o, i) => o + u * f.right[i] + v * f.down[i]);
  }

  place(voxel) {
    const f = this.frame, d = voxel.map((v, i) => v - f.origin[i]), dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const box = this.frameBox;
    return [box.x + (dot(d, f.right) / dot(f.right, f.right) / f.width) * box.width, box.y + (dot(d, f.down) / dot(f.down, f.down) / f.height) * box.height];
  }

  // World units per canvas pixel: of the picture that is shown, and at a zoom.
  get pixel() { return this.frame ? (this.frame.pixel * this.frame.width) / this.frameBox.width : 1; }
  pixelAt(zoom) { return this.frame?.zoom ? (this.pixel * this.frame.zoom) / zoom : 0; }

  inside(voxel) {
    const size = this.bench.image?.size;
    return size && voxel.every((v, i) => v >= -0.5 && v <= size[i] - 0.5);
  }

  // ---- drawing ----

  draw() {
    const c = this.context, { width, height } = this.canvas;
    c.imageSmoothingQuality = "high";
    const box = this.frameBox;
    c.clearRect(0, 0, width, height);
    if (!this.frame) return;
    c.drawImage(this.frame.bitmap, box.x, box.y, box.width, box.height);
    if (!this.flat) return;
    const cross = this.bench.cross;
    if (cross && this.bench.tool === "navigate") {
      const [x, y] = this.place(cross);
      c.strokeStyle = "rgba(90, 200, 250, 0.55)";
      c.lineWidth = 1;
      c.beginPath();
      for (const [x0, y0, x1, y1] of [[box.x, y, x - 9, y], [x + 9, y, box.x + box.width, y], [x, box.y, x, y - 9], [x, y + 9, x, box.y + box.height]]) {
        c.moveTo(x0, y0);
        c.lineTo(x1, y1);
      }
      c.stroke();
    }
    if (this.hover && this.bench.tool !== "navigate") {
      const probe = this.bench.tool === "probe", radius = Math.max(3, (probe ? this.bench.probeRadius : this.bench.brush) / this.pixel);
      c.strokeStyle = { probe: "#5ac8fa", paint: "#f2c230", erase: "#ff7b72" }[this.bench.tool];
      c.lineWidth = 1.5;
      c.beginPath();
      c.arc(this.hover[0], this.hover[1], radius, 0, 2 * Math.PI);
      c.stroke();
    }
  }

  // ---- input ----

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
      if (this.stroke?.next) this.sendStroke();
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
    const tool = this.bench.tool, pan = event.button === 1 || event.button === 2 || event.shiftKey;
    if (pan) this.drag = "pan";
    else if (tool === "navigate") {
      this.drag = this.flat ? "cross" : "turn";
      if (this.flat) this.setCross(at);
    } else if (!this.flat) {
      this.drag = "pick";
      this.stroke = { next: at, first: true };
      this.schedule();
    } else {
      const voxel = this.voxel(...at);
      if (!voxel || !this.inside(voxel)) return;
      this.drag = "stroke";
      this.stroke = { last: voxel, next: voxel, first: true };
      this.schedule();
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
    this.touch = this.stroke = null;
    this.drag = null;
  }

  // The server continues the stroke from where the last ray met something.
  sendPick() {
    const { next, first } = this.stroke, tool = this.bench.tool, box = this.frameBox, x = (next[0] - box.x) / box.width, y = (next[1] - box.y) / box.height;
    this.stroke.next = null;
    if (x < 0 || x > 1 || y < 0 || y > 1) return;
    this.stroke.first = false;
    this.bench.link.input({ type: "pick", x, y, action: tool, begin: first, radius: tool === "probe" ? this.bench.probeRadius : this.bench.brush,
      ...(tool === "probe" && this.bench.probesColours ? { colours: true } : {}) });
  }

  sendStroke() {
    if (!this.flat) return this.sendPick();
    const { last, next, first } = this.stroke, tool = this.bench.tool;
    if (tool === "probe")
      this.bench.link.input({ type: "probe", at: next, radius: this.bench.probeRadius,
        ...(this.bench.probesColours ? { colours: true, begin: first } : {}) });
    else this.bench.link.input({ type: tool, from: last, ...(first ? { begin: true } : { to: next }), radius: this.bench.brush });
    this.stroke = { last: next, next: null, first: false };
  }

  move(event, at) {
    const before = this.pointers.get(event.pointerId);
    const [dx, dy] = [at[0] - before[0], at[1] - before[1]];
    this.pointers.set(event.pointerId, at);
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
    else if (this.drag === "pick") {
      this.stroke.next = at;
      this.schedule();
    } else if (this.drag === "stroke") {
      const voxel = this.voxel(...at);
      if (voxel && this.inside(voxel)) this.stroke.next = voxel;
      this.schedule();
    }
  }

  listen() {
    const canvas = this.canvas, allowed = () => this.bench.driving && this.bench.image;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.focus();
      if (!allowed()) return;
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, this.at(event));
      this.apart = 0;
      if (this.pointers.size > 1) this.dropTouch();
      else if (event.pointerType === "touch" && this.bench.tool !== "navigate") this.beginTouch(event, this.at(event));
      else this.begin(event, this.at(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      const at = this.at(event);
      this.hover = event.pointerType === "touch" ? null : at;
      if (this.pointers.has(event.pointerId) && allowed()) this.move(event, at);
      if (this.flat && this.bench.tool !== "navigate") this.draw();
      if (this.flat) this.bench.under(this.voxel(...at), this);
    });
    for (const type of ["pointerup", "pointercancel"])
      canvas.addEventListener(type, (event) => {
        if (this.touch && type === "pointerup" && allowed()) this.settleTouch();
        else if (this.touch) this.dropTouch();
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
      if (!allowed()) return;
      this.wheel(event);
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
    const action = keys[event.key] || keys[event.key.toLowerCase()];
    if (!action || (!this.bench.driving && event.key !== "m")) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }
}
