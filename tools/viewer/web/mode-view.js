// Looking: a volume through a transfer function, as maximum intensity, the surface of one of its values; meshes and tile lists.
import { Slider } from "./controls.js";
import { GreyAndClip, clipPanel, greyPanel, modeSelect, row } from "./panels.js";
import { drawRuler, listenToViews, viewSelect } from "./overlay.js";
import { layouts as segmentLayouts, windows as segmentWindows } from "./segment-panel.js";

let shell, grey, ruler = null;
const { four, large, two } = segmentLayouts;

function mount(given) {
  shell = given;
  const { $, link, sliders } = shell;
  grey = new GreyAndClip(shell, () => {});
  sliders.isovalue = new Slider("isovalue", { change: (value) => link.input({ type: "isovalue", value }) });
  const fill = shell.windows.volume;
  for (const button of document.querySelectorAll("[data-show]")) button.addEventListener("click", () => {
    fill.change({ mode: button.dataset.show });
    if (button.dataset.show === "surface" && shell.state.isovalue === null && shell.image?.volume) link.input({ type: "isovalue", value: 0.5 * (shell.state.window[0] + shell.state.window[1]) });
  });
  listenToViews(shell);
}

function state(state) {
  grey.state({ ...state, probed: [], target: NaN, epsilon: 0 });
  shell.sliders.isovalue.take(state.isovalue ?? 0.5 * (state.window[0] + state.window[1]));
  for (const button of document.querySelectorAll("[data-show]")) button.setAttribute("aria-pressed", button.dataset.show === state.views.volume.mode);
  const volume = !!state.image?.volume;
  document.body.classList.toggle("flat-file", !volume);
}

export default {
  name: "view", opens: /\.(nii|nii\.gz|nrrd|nhdr|mha|mhd|inr|inr\.gz|tsc|hdr|ply|obj|stl|off|tsr|nvdb)$/i,
  layouts: { three: { label: "3-D", columns: "minmax(0,1fr)", rows: "minmax(0,1fr)", views: { volume: "1/1/2/2" } }, four, large, two },
  windows: [...segmentWindows.filter((w) => w.kind === "slice" && w.view !== "speed"),
    { view: "volume", kind: "volume", label: "3-D", about: "The file in three dimensions",
      controls: modeSelect([["volume", "Volume"], ["mip", "Maximum intensity"], ["surface", "Surface"], ["combined", "Surface and volume"], ["inside", "Inside only"]]) + viewSelect }],
  tools: [{ id: "navigate", label: "Navigate", sign: "+", key: "1", title: "Drag turns the 3-D window, sets the cross in slices" },
    { id: "ruler", label: "Ruler", sign: "⟷", key: "2", title: "Drag in a slice to measure a distance" }],
  panel: `<section><h2>Show</h2><div class="buttons five"><button data-show="volume">Volume</button><button data-show="mip">MIP</button><button data-show="surface">Surface</button><button data-show="combined">Both</button></div>
    ${row("isovalue", "Surface at", "", "The value of the image where the surface lies")}</section>${greyPanel}${clipPanel}`,
  help: [["<kbd>1</kbd> <kbd>2</kbd>", "navigate, ruler"], ["Right drag in a slice", "contrast and brightness"]],
  saves: [["picture", "Picture", "3-D window, PNG", ".png"]],
  mount, state,
  begin(w, at) {
    const a = w.flat && w.voxel(...at);
    if (!a || !w.inside(a)) return null;
    a[w.look.axis] = w.look.position;
    ruler = { view: w.view, a, b: a };
    return { move: (to) => { ruler.b = w.voxel(...to).map((v, i) => (i === w.look.axis ? w.look.position : v)); w.draw(); } };
  },
  draw: (c, w) => drawRuler(c, w, ruler),
  histogram: (h) => grey.transfer.takeHistogram(h),
  imageChanged(image) {
    ruler = null;
    grey.image(image);
    shell.sliders.isovalue.limits(image.minimum, image.maximum, (image.maximum - image.minimum) / 512, image.minimum, image.maximum);
  },
};
