// Files that are dropped on the page go into the served folder and are loaded.
import { message } from "./controls.js";

export function acceptFiles(shell) {
  const over = (on) => document.body.classList.toggle("dropping", on);
  addEventListener("dragover", (event) => { event.preventDefault(); over(true); });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) over(false); });
  addEventListener("drop", async (event) => {
    event.preventDefault();
    over(false);
    for (const file of event.dataTransfer.files) await upload(shell, file);
  });
}

export async function upload(shell, file) {
  if (!shell.driving) return message("Take the controls before dropping files", "error");
  message(`taking ${file.name} …`, "notice");
  try {
    const answer = await fetch(`file/${encodeURIComponent(file.name)}`, { method: "POST", body: file });
    if (!answer.ok) return message(await answer.text(), "error");
    shell.link.send({ type: "files" });
    const kinds = shell.mode.opens;
    if (kinds.test(file.name) || /\.(session|txt)$/.test(file.name)) await shell.load(file.name);
    else shell.link.send({ type: "open", name: file.name });
  } catch {
    message(`${file.name}: could not be sent`, "error");
  }
}
