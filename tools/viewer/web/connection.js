// The socket: JSON both ways, pictures one way, and the clock of inputs: how long until a picture shows them.

const AGAIN = 1500; // milliseconds before the next try
const HEADER = 96, VIEWS = ["source", "speed", "volume", "second", "third"];

export class Connection extends EventTarget {
  constructor() {
    super();
    this.lastInput = 0;
    this.lastEdit = 0; // the last that is no look
    this.waiting = new Map(); // input -> { time, edit, view }
    this.latencies = [];
    this.shown = []; // times of pictures
    this.byView = Object.fromEntries(VIEWS.map((view) => [view, []]));
    this.patience = { ping: 5000, silence: 7000 }; // milliseconds: between two pings, until one without an answer is the end of the line
    this.pings = this.received = this.sent = 0; // received, sent: bytes
    this.connect();
    setInterval(() => this.listen(), 2500);
  }

  connect() {
    const tab = new URLSearchParams(location.search).get("tab"), here = new URL(tab ? `socket/${tab}` : "socket", location.href);
    here.protocol = here.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(here);
    this.socket.binaryType = "arraybuffer";
    this.pinged = this.heard = performance.now(); // opening is the first question
    this.open = false;
    this.newest = {}; // of each view, the number of the picture that is shown: pictures are decoded side by side, and a later one may be ready before
    this.socket.onopen = () => {
      this.open = true;
      this.heard = performance.now();
      this.tell("open");
    };
    this.socket.onclose = () => this.lose();
    this.socket.onmessage = (event) => {
      this.heard = performance.now();
      this.take(event);
    };
  }

  take(event) {
    this.received += event.data.length ?? event.data.byteLength;
    return typeof event.data === "string" ? this.text(event.data) : this.picture(event.data);
  }

  // A line can die without a word: what answers no ping for a while is given up, and does not come back.
  listen() {
    const now = performance.now(), asked = !this.open || this.heard < this.pinged;
    if (!this.socket) return;
    if (asked) { // hidden pages have slow clocks: only a question without an answer counts, not the time since the last word
      if (now - this.pinged > this.patience.silence) this.lose();
    } else if (now - this.pinged > this.patience.ping) {
      this.pinged = now;
      this.send({ type: "ping", id: ++this.pings });
    }
  }

  lose() {
    const socket = this.socket;
    this.socket = null;
    this.open = false;
    if (socket) {
      socket.onopen = socket.onclose = socket.onmessage = null;
      socket.close();
    }
    this.waiting.clear();
    this.tell("closed", { reason: "none" });
    this.reason().then((reason) => this.open || this.tell("closed", { reason }));
    setTimeout(() => this.connect(), AGAIN);
  }

  // Is there a server, and does it know this address?
  async reason() {
    try {
      const answer = await fetch(location.pathname, { cache: "no-store", signal: AbortSignal.timeout(3000) });
      return answer.status === 404 || answer.status === 403 ? "stranger" : answer.ok ? "busy" : "none";
    } catch {
      return "none";
    }
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  text(text) {
    const message = JSON.parse(text);
    this.tell(message.type, message);
  }

  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    const text = JSON.stringify(message);
    this.sent += text.length;
    this.socket.send(text);
  }

  // A message whose effect is to be seen: its number comes back with the picture that shows it.
  input(message) {
    const id = ++this.lastInput;
    const look = message.type === "view" || ["window", "transfer", "mask", "isovalue", "overlay"].includes(message.type);
    if (!look) this.lastEdit = id;
    this.waiting.set(id, { time: performance.now(), edit: !look, view: message.view });
    if (this.waiting.size > 500) this.waiting.delete(this.waiting.keys().next().value);
    this.send({ ...message, input: id });
    return id;
  }

  async picture(buffer) {
    const data = new DataView(buffer);
    const view = VIEWS[data.getUint8(5)];
    const number = (at) => data.getUint32(at, true), real = (at) => data.getFloat32(at, true), three = (at) => [real(at), real(at + 4), real(at + 8)];
    const frame = { view, draft: data.getUint8(6), sequence: number(8), width: number(12), height: number(16), viewInput: number(20), editInput: number(24),
      steps: number(28) + 2 ** 32 * number(32), origin: three(36), right: three(48), down: three(60), pixel: real(72), milliseconds: real(76), zoom: real(80), bytes: buffer.byteLength };
    const begun = performance.now(), newest = this.newest;
    try {
      frame.bitmap = await createImageBitmap(new Blob([new Uint8Array(buffer, HEADER)], { type: "image/jpeg" }));
      frame.decoded = performance.now() - begun;
      if (newest !== this.newest || frame.sequence < newest[view]) {
        frame.bitmap.close();
        return;
      }
      newest[view] = frame.sequence;
      this.tell("frame", frame);
      this.measure(frame);
    } finally {
      if (newest === this.newest) this.send({ type: "shown", view, sequence: frame.sequence });
    }
  }

  measure(frame) {
    const now = performance.now();
    const keep = (list) => {
      list.push(now);
      while (list.length && now - list[0] > 2000) list.shift();
    };
    keep(this.shown);
    keep(this.byView[frame.view]);
    for (const [id, input] of this.waiting) {
      const seen = input.edit ? frame.editInput >= id : frame.viewInput >= id && (!input.view || input.view === frame.view);
      if (!seen) continue;
      this.waiting.delete(id);
      this.latencies.push(now - input.time);
      if (this.latencies.length > 400) this.latencies.shift();
    }
  }

  // Pictures per second over the last two seconds, latency in milliseconds (median, 95 %) of the inputs since the last call with `clear`.
  statistics(clear) {
    const now = performance.now(), rate = (list) => list.filter((t) => now - t <= 2000).length / 2;
    const sorted = [...this.latencies].sort((a, b) => a - b), at = (share) => (sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] : null);
    const result = { pictures: rate(this.shown), source: rate(this.byView.source), speed: rate(this.byView.speed), volume: rate(this.byView.volume),
      median: at(0.5), most: at(0.95), inputs: sorted.length };
    if (clear) this.latencies.length = 0;
    return result;
  }
}
