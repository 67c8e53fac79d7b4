// A vector field by its contours: lines that follow the view.
import { settingsMode } from "./player.js";

export default settingsMode({
  name: "flow", opens: /\.(vtk|vti|npy)$/i, title: "Contours", about: "The vector field",
  sliders: [["thinning", "Apart", "cells", "Least distance between the places where lines begin", 0, 20, 0.25, 8], ["steps", "Length", "steps", "", 1, 2000, 1, 500],
    ["width", "Width", "cells", "", 0.05, 3, 0.05, 1.5]],
  boxes: [["relevance", "by relevance"], ["box", "box"]],
  note: "Turn the view: the lines are those that face it. By relevance they grow and shrink, they do not pop. Blue is slow, red is fast.",
  text: (state) => (state.lines ? `${state.lines.toLocaleString("en")} lines, ${state.milliseconds.toFixed(0)} ms` : ""),
});
