// Strokes of a brush: on a slice from place to place, in the 3-D window along the rays. One message per picture of the screen, with the newest place; in 3-D the
// server continues the stroke from where the last ray met something.

export class Stroke {
  // say: { slice({ from, to, first }), ray({ x, y, first }) }: the messages.
  constructor(w, at, say) {
    Object.assign(this, { w, at, say, first: true, due: true });
    if (w.flat) {
      const voxel = w.voxel(...at);
      if (voxel && w.inside(voxel)) this.last = this.next = voxel;
    } else this.next = at;
  }

  get valid() { return !!this.next; }

  move(at) {
    if (at[0] === this.at[0] && at[1] === this.at[1]) return; // the hand is still: only the picture below it may be another
    this.at = at;
    const next = this.w.flat ? this.w.voxel(...at) : at;
    if (this.w.flat && !(next && this.w.inside(next))) return;
    this.next = next;
    this.due = true;
  }

  send() {
    const { w, next, first } = this;
    this.due = false;
    if (w.flat) {
      w.bench.link.input(this.say.slice({ from: first ? next : this.last, to: next, first }));
      this.last = next;
    } else {
      const box = w.frameBox, x = (next[0] - box.x) / box.width, y = (next[1] - box.y) / box.height;
      if (x < 0 || x > 1 || y < 0 || y > 1) return;
      w.bench.link.input(this.say.ray({ x, y, first }));
    }
    this.first = false;
  }

  end() { if (this.due) this.send(); }
  drop() { this.due = false; }
}
