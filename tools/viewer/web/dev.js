// For developers (Shift + D): how long pictures take and what they weigh, of each window. Loaded when it is asked for.

const KEEP = 120;
let box = null, timer = 0, since = 0, bytes = 0, texts = 0;
const frames = {};

function take({ detail: f }) {
  const list = (frames[f.view] ??= []);
  list.push({ draw: f.milliseconds, decode: f.decoded, bytes: f.bytes, width: f.width, height: f.height, draft: f.draft, time: performance.now() });
  if (list.length > KEEP) list.shift();
}

const at = (list, share) => (list.length ? [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(share * list.length))] : NaN);
const ms = (v) => (Number.isFinite(v) ? v.toFixed(v < 10 ? 1 : 0) : "–");

export function numbers(link) {
  const now = performance.now(), rows = Object.entries(frames).map(([view, list]) => ({ view, rate: list.filter((f) => now - f.time < 2000).length / 2,
    draw: at(list.map((f) => f.draw), 0.5), drawMost: at(list.map((f) => f.draw), 0.95), decode: at(list.map((f) => f.decode), 0.5), bytes: list.reduce((s, f) => s + f.bytes, 0) / list.length, last: list.at(-1) }));
  const all = link.statistics(false);
  return { rows, latency: all.median, latencyMost: all.most, inputs: all.inputs, received: link.received, sent: link.sent };
}

function show(link) {
  const n = numbers(link), now = performance.now(), seconds = (now - since) / 1000 || 1;
  box.innerHTML = `<table><thead><tr><th>window<th>pictures/s<th>draw + pack ms<th>95 %<th>decode ms<th>kB each<th>last</tr></thead><tbody>${n.rows.map((r) =>
    `<tr><td>${r.view}<td>${r.rate.toFixed(1)}<td>${ms(r.draw)}<td>${ms(r.drawMost)}<td>${ms(r.decode)}<td>${(r.bytes / 1000).toFixed(1)}<td>${r.last.width} × ${r.last.height}${r.last.draft ? " draft" : ""}</tr>`).join("")}</tbody></table>
    <p>input to picture ${ms(n.latency ?? NaN)} ms, 95 % ${ms(n.latencyMost ?? NaN)} ms (${n.inputs} inputs) · in ${((n.received - bytes) / seconds / 1000).toFixed(0)} kB/s, out ${((n.sent - texts) / seconds / 1000).toFixed(1)} kB/s</p>`;
  [bytes, texts, since] = [n.received, n.sent, now];
}

export function toggle(shell) {
  if (box) {
    clearInterval(timer);
    shell.link.removeEventListener("frame", take);
    box.remove();
    box = null;
    return;
  }
  box = Object.assign(document.createElement("div"), { id: "dev" });
  box.setAttribute("aria-label", "Numbers for developers");
  shell.$("stage").append(box);
  [bytes, texts, since] = [shell.link.received, shell.link.sent, performance.now()];
  shell.link.addEventListener("frame", take);
  timer = setInterval(() => show(shell.link), 500);
  show(shell.link);
}
