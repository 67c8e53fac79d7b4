// What the page itself draws over pictures: the scale of a slice, distances, the cube that shows which way the 3-D window looks.

const shade = (c, text, x, y, align = "left") => {
  c.font = "12px system-ui, sans-serif";
  c.textAlign = align;
  c.lineWidth = 3;
  c.strokeStyle = "#000c";
  c.strokeText(text, x, y);
  c.fillStyle = "#fff";
  c.fillText(text, x, y);
};

// A bar of 1, 2 or 5 times a power of ten, about an eighth of the window.
export function scaleBar(w) {
  const most = (w.frameBox.width / 5) * w.pixel, power = 10 ** Math.floor(Math.log10(most));
  const length = [5, 2, 1].map((n) => n * power).find((n) => n <= most);
  return { length, pixels: length / w.pixel };
}

export function drawScale(c, w) {
  const { length, pixels } = scaleBar(w), box = w.frameBox, x = box.x + box.width - 14 - pixels, y = box.y + box.height - 26;
  if (!Number.isFinite(pixels)) return;
  c.lineWidth = 4;
  c.strokeStyle = "#000a";
  for (const [width, colour] of [[4, "#000a"], [1.5, "#fff"]]) {
    c.lineWidth = width;
    c.strokeStyle = colour;
    c.beginPath();
    c.moveTo(x, y - 4);
    c.lineTo(x, y);
    c.lineTo(x + pixels, y);
    c.lineTo(x + pixels, y - 4);
    c.stroke();
  }
  shade(c, `${+length.toPrecision(2)} mm`, x + pixels / 2, y - 7, "center");
}

export function millimetres(a, b, spacing) { return Math.hypot(...a.map((v, i) => (v - b[i]) * spacing[i])); }

export function drawRuler(c, w, ruler) {
  const spacing = w.bench.image?.spacing;
  if (!ruler || ruler.view !== w.view || !spacing || Math.abs(ruler.a[w.look.axis] - w.look.position) > 0.6) return;
  const [a, b] = [w.place(ruler.a), w.place(ruler.b)];
  for (const [width, colour] of [[4, "#000a"], [1.5, "#5ac8fa"]]) {
    c.lineWidth = width;
    c.strokeStyle = colour;
    c.beginPath();
    c.moveTo(...a);
    c.lineTo(...b);
    c.stroke();
  }
  shade(c, `${millimetres(ruler.a, ruler.b, spacing).toFixed(1)} mm`, b[0] + 8, b[1] - 8);
}

// Right, up and towards the eye of the 3-D window, in the axes right, front, head of the patient.
export function axesOf({ azimuth, elevation }) {
  const a = (azimuth * Math.PI) / 180, e = (elevation * Math.PI) / 180, [sa, ca, se, ce] = [Math.sin(a), Math.cos(a), Math.sin(e), Math.cos(e)];
  return [[-ca, -sa, 0], [sa * se, -ca * se, ce], [-sa * ce, ca * ce, se]];
}

const FACES = [[0, 1, "R"], [0, -1, "L"], [1, 1, "A"], [1, -1, "P"], [2, 1, "S"], [2, -1, "I"]];

export function drawCube(c, w) {
  const [right, up, eye] = axesOf(w.look), size = 15, box = w.frameBox, x0 = box.x + 38, y0 = box.y + box.height - 38, plain = w.bench.image?.space === "none";
  const project = (p) => [x0 + size * (p[0] * right[0] + p[1] * right[1] + p[2] * right[2]), y0 - size * (p[0] * up[0] + p[1] * up[1] + p[2] * up[2])];
  for (const [axis, sign, letter] of FACES) {
    if (sign * eye[axis] <= 0.02) continue; // looks away
    const corner = (s, t) => { const p = [0, 0, 0]; p[axis] = sign; p[(axis + 1) % 3] = s; p[(axis + 2) % 3] = t; return project(p); };
    c.beginPath();
    [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)].forEach((p, i) => (i ? c.lineTo(...p) : c.moveTo(...p)));
    c.closePath();
    c.fillStyle = `rgb(40 52 72 / ${0.55 + 0.4 * sign * eye[axis]})`;
    c.fill();
    c.lineWidth = 1;
    c.strokeStyle = "#9fb3d1";
    c.stroke();
    const centre = [0, 0, 0];
    centre[axis] = sign;
    const [x, y] = project(centre);
    c.fillStyle = "#fff";
    c.font = `${Math.round(6 + 8 * sign * eye[axis])}px system-ui, sans-serif`;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillText(plain ? (sign > 0 ? "+" : "−") + "XYZ"[axis] : letter, x, y);
    c.textBaseline = "alphabetic";
  }
}

export const VIEWS = { front: [0, 0], back: [180, 0], left: [90, 0], right: [-90, 0], above: [0, 89], below: [0, -89] };
export const viewSelect = `<select class="preset-view" aria-label="View from" title="Look from one side"><option value="">View …</option><option value="front">Front (A)</option><option value="back">Back (P)</option>
  <option value="left">Left (L)</option><option value="right">Right (R)</option><option value="above">Above (S)</option><option value="below">Below (I)</option></select>`;
export function listenToViews(shell) {
  for (const select of document.querySelectorAll(".preset-view"))
    select.addEventListener("change", () => {
      const view = VIEWS[select.value];
      if (view && shell.looking()) shell.windows.volume.change({ azimuth: view[0], elevation: view[1] });
      select.value = "";
    });
}
