// A window: a picture from the server, the cross, the scale and what the mode draws on top. Mouse, touch and keys: hand.js.
import { Hand } from "./hand.js";
import { drawCube, drawScale } from "./overlay.js";

const PLANES = ["Sagittal", "Coronal", "Axial"];
const EDGES = { 0: ["A", "P", "S", "I"], 1: ["R", "L", "S", "I"], 2: ["R", "L", "A", "P"] }; // left, right, top, bottom, by world axis

export class Window extends Hand {
  constructor(element, bench) {
    super();
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

  get flat() { return this.element.dataset.kind === "slice"; }
  get turns() { return !this.flat && this.bench.mode.turns !== false && !this.element.dataset.pans; }
  get shown() { return !this.element.hidden; }

  shownOrNot() {
    if (!this.bench.looking()) return;
    if (this.shown) this.resize();
    else this.bench.link.input({ type: "view", view: this.view, visible: false });
  }

  resize(look = {}) {
    if (!this.shown) return;
    const ratio = Math.min(devicePixelRatio || 1, 1.5), box = this.canvas.getBoundingClientRect();
    const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
    if (width < 16 || height < 16) return;
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.draw();
    }
    const fits = Math.min(1, 4096 / Math.max(width, height));
    if (this.bench.looking())
      this.bench.link.input({ type: "view", view: this.view, ...look, visible: true, width: Math.max(16, Math.floor(width * fits)), height: Math.max(16, Math.floor(height * fits)) });
  }

  show(frame) {
    this.frame?.bitmap.close();
    this.frame = frame;
    this.draw();
  }

  // What the server says this window shows; while a drag is on, the drag knows better.
  take(look, image) {
    if (this.pointers.size && this.bench.driving) return;
    if (!this.bench.own) this.look = { ...look };
    look = this.look;
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
    if (!this.flat) {
      if (this.frame.zoom && this.turns && this.bench.mode.cube !== false) drawCube(c, this);
      this.bench.mode.draw?.(c, this);
      return;
    }
    if (this.bench.image?.volume !== undefined) drawScale(c, this);
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
    this.bench.mode.draw?.(c, this);
  }

  // The circle of a brush under the cursor; radius in world units.
  drawBrush(c, radius, colour) {
    if (!this.hover || !this.frame) return;
    c.strokeStyle = colour;
    c.lineWidth = 1.5;
    c.beginPath();
    c.arc(this.hover[0], this.hover[1], Math.max(3, radius / this.pixel), 0, 2 * Math.PI);
    c.stroke();
  }
}
