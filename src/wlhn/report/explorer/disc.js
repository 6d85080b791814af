// The colour tree in the disc: moved by dragging, as if the plane were carried under one's hand.
//
// Ten thousand dots are redrawn at every move of the pointer, and painting them is what takes time. Towards the boundary
// most lie on top of each other: of dots in one cell of the screen only those larger than the ones before them are
// painted, and of a parent's edges to one cell only the first. Nothing is allocated while dragging.

const CELL = 2; // pixels
const MOST_NAMES = 36, NAME_LENGTH = 24; // names on the largest dots, as many as have room
const BATCH = 64; // dots or edges in a path: the longer a path, the slower each of its parts

class Disc {
  constructor(colours) {
    const n = colours.x.length;
    this.c = colours; this.n = n;
    this.x = Float64Array.from(colours.x); this.y = Float64Array.from(colours.y);
    this.px = new Float64Array(n); this.py = new Float64Array(n);
    this.parent = Int32Array.from(colours.parent); this.depthOf = Int32Array.from(colours.depth);
    this.children = colours.parent.map(() => []);
    colours.parent.forEach((p, k) => { if (p >= 0) this.children[p].push(k); });
    this.size = Float64Array.from(colours.count, (v) => 2 + 1.1 * Math.log2(1 + v) ** 0.8);
    this.depth = Math.max(...colours.depth.slice(-1), 0);
    this.candidates = colours.count.map((_, k) => k).sort((a, b) => (colours.depth[b] <= 0) - (colours.depth[a] <= 0) || colours.count[b] - colours.count[a] || a - b).slice(0, 400);
    this.named = []; // the dots that have their names beside them
    this.motion = STILL; this.zoom = 1; this.chosen = -1; this.hovered = -1;
    this.kind = new Uint8Array(n); this.painted = new Int32Array(n); // dots to paint, those of one fill side by side
    this.fill = new Array(n).fill("#0072B2");
  }

  set fill(fills) {
    this.fills = [...new Set(fills)];
    const number = new Map(this.fills.map((fill, i) => [fill, i])), count = new Int32Array(this.fills.length + 1);
    fills.forEach((fill, k) => { this.kind[k] = number.get(fill); count[this.kind[k] + 1]++; });
    this.start = count.map((v, i) => count.subarray(0, i + 1).reduce((a, b) => a + b, 0));
    this.end = this.start.slice();
  }

  get count() { return this.n; }
  reset() { this.motion = STILL; this.zoom = 1; }
  visible(k) { return this.depthOf[k] <= this.depth; }

  resize(width, height) {
    this.width = width; this.height = height;
    this.radius = 0.47 * Math.min(width, height);
    this.columns = Math.ceil(width / CELL); const cells = this.columns * Math.ceil(height / CELL);
    if (this.largest?.length !== cells) { this.largest = new Uint8Array(cells); this.reached = new Int32Array(cells); }
  }

  // The cell of a place, −1 outside of the picture.
  cell(x, y) { return x >= 0 && y >= 0 && x < this.width && y < this.height ? Math.floor(y / CELL) * this.columns + Math.floor(x / CELL) : -1; }

  toDisc(px, py) {
    let x = (px - this.width / 2) / (this.radius * this.zoom), y = (py - this.height / 2) / (this.radius * this.zoom);
    const length = Math.hypot(x, y);
    if (length > 0.98) { x *= 0.98 / length; y *= 0.98 / length; }
    return [x, y];
  }

  // Carry the plane so that what is under the first place comes under the second.
  drag(x0, y0, x1, y1) {
    const [px, py] = this.toDisc(x0, y0), [qx, qy] = this.toDisc(x1, y1);
    this.motion = after(after(shift(qx, qy), shift(-px, -py)), this.motion);
  }

  centreOn(k) {
    moveAll(this.motion, this.x, this.y, this.px, this.py);
    this.motion = after(shift(-this.px[k], -this.py[k]), this.motion);
  }

  draw(g, style) {
    const scale = this.radius * this.zoom, ox = this.width / 2, oy = this.height / 2;
    moveAll(this.motion, this.x, this.y, this.px, this.py);
    g.strokeStyle = style.line; g.lineWidth = 1;
    g.beginPath(); g.arc(ox, oy, scale, 0, 7); g.stroke();
    g.strokeStyle = style.edge; g.lineWidth = 0.8;
    this.drawEdges(g, scale, ox, oy);
    this.drawDots(g, scale, ox, oy);
    this.drawNames(g, style, scale, ox, oy);
    for (const [k, width] of [[this.hovered, 1.5], [this.chosen, 3]]) {
      if (k < 0 || !this.visible(k)) continue;
      g.strokeStyle = style.mark; g.lineWidth = width; g.beginPath();
      g.arc(ox + this.px[k] * scale, oy + this.py[k] * scale, this.shown(k) + 3, 0, 7); g.stroke();
    }
  }

  drawEdges(g, scale, ox, oy) {
    const { px, py, parent, reached, width, height } = this;
    let batch = 0;
    reached.fill(-1); g.beginPath();
    for (let k = 0; k < this.n; k++) {
      const p = parent[k];
      if (p < 0 || !this.visible(k)) continue;
      const x0 = ox + px[p] * scale, y0 = oy + py[p] * scale, x1 = ox + px[k] * scale, y1 = oy + py[k] * scale;
      const length = Math.abs(x1 - x0) + Math.abs(y1 - y0);
      if (length < 2 || Math.max(x0, x1) < 0 || Math.max(y0, y1) < 0 || Math.min(x0, x1) > width || Math.min(y0, y1) > height) continue;
      const cell = this.cell(x1, y1);
      if (cell >= 0) { if (reached[cell] === p) continue; reached[cell] = p; }
      g.moveTo(x0, y0);
      if (length < 14) g.lineTo(x1, y1);
      else {
        const m = middle(px[p], py[p], px[k], py[k]);
        g.quadraticCurveTo(2 * (ox + m[0] * scale) - (x0 + x1) / 2, 2 * (oy + m[1] * scale) - (y0 + y1) / 2, x1, y1);
      }
      if (++batch % BATCH === 0) { g.stroke(); g.beginPath(); }
    }
    g.stroke();
  }

  drawDots(g, scale, ox, oy) {
    const { px, py, largest, painted, kind, start, end } = this;
    largest.fill(0); end.set(start);
    for (let k = 0; k < this.n; k++) { // in the order of the tree, so that no fill hides the others
      const cell = this.visible(k) ? this.cell(ox + px[k] * scale, oy + py[k] * scale) : -1;
      if (cell < 0) continue;
      const size = Math.ceil(this.shown(k));
      if (largest[cell] >= size) continue;
      largest[cell] = size; painted[end[kind[k]]++] = k;
    }
    this.fills.forEach((fill, i) => {
      g.fillStyle = fill; g.beginPath();
      for (let j = start[i]; j < end[i]; j++) {
        const k = painted[j], x = ox + px[k] * scale, y = oy + py[k] * scale, size = this.shown(k);
        if (size < 1.6) g.rect(x - size, y - size, 2 * size, 2 * size);
        else { g.moveTo(x + size, y); g.arc(x, y, size, 0, 6.2832); }
        if ((j - start[i]) % BATCH === BATCH - 1) { g.fill(); g.beginPath(); }
      }
      g.fill();
    });
  }

  // Names beside the largest dots and what nodes begin as, away from the middle, where they cover neither each other nor a large dot.
  drawNames(g, style, scale, ox, oy) {
    const taken = [], { px, py } = this, hits = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    const large = this.candidates.filter((k) => this.visible(k) && (k === this.chosen || this.depthOf[k] <= 0 || this.shown(k) >= 2.1));
    if (this.chosen >= 0 && !large.includes(this.chosen) && this.visible(this.chosen)) large.push(this.chosen);
    large.sort((a, b) => (b === this.chosen) - (a === this.chosen) || this.shown(b) - this.shown(a));
    for (const k of large.slice(0, 60)) { const s = this.shown(k), x = ox + px[k] * scale, y = oy + py[k] * scale; taken.push([x - s, y - s, x + s, y + s]); }
    g.font = "12px system-ui, sans-serif"; g.textBaseline = "middle"; g.lineJoin = "round"; g.lineWidth = 3; g.strokeStyle = style.back; g.fillStyle = style.text;
    this.named = [];
    for (const k of large) {
      if (this.named.length >= MOST_NAMES) break;
      const full = this.c.name[k], text = full.length > NAME_LENGTH ? full.slice(0, NAME_LENGTH - 1) + "…" : full;
      const s = this.shown(k) + (k === this.chosen ? 8 : 4), w = g.measureText(text).width, x = ox + px[k] * scale, y = oy + py[k] * scale;
      const right = [x + s, y - 7], left = [x - s - w, y - 7], below = [x - w / 2, y + s], above = [x - w / 2, y - s - 14];
      for (const [tx, ty] of px[k] < 0 ? [left, right, below, above] : [right, left, below, above]) {
        const box = [tx - 1, ty, tx + w + 1, ty + 14];
        if (box[0] < 0 || box[1] < 0 || box[2] > this.width || box[3] > this.height || taken.some((other) => hits(box, other))) continue;
        taken.push(box); this.named.push(k);
        g.strokeText(text, tx, ty + 7); g.fillText(text, tx, ty + 7);
        break;
      }
    }
  }

  // Dots shrink towards the boundary, as everything does there.
  shown(k) { return Math.max(0.8, this.size[k] * (1 - this.px[k] ** 2 - this.py[k] ** 2) ** 0.6); }

  at(mx, my, reach = 14) {
    const scale = this.radius * this.zoom;
    let best = -1, least = reach;
    for (let k = 0; k < this.n; k++) {
      if (!this.visible(k)) continue;
      const d = Math.hypot(this.width / 2 + this.px[k] * scale - mx, this.height / 2 + this.py[k] * scale - my);
      if (d < least) { least = d; best = k; }
    }
    return best;
  }

  screen(k) { const s = this.radius * this.zoom; return [this.width / 2 + this.px[k] * s, this.height / 2 + this.py[k] * s]; }

  step(key) {
    const k = this.chosen, p = k < 0 ? -1 : this.parent[k];
    if (k < 0) return 0;
    const family = p < 0 ? [k] : this.children[p], i = family.indexOf(k);
    if (key === "p") return p < 0 ? k : p;
    if (key === "c") return this.children[k].length && this.depthOf[k] < this.depth ? this.children[k][0] : k;
    return family[(i + (key === "n" ? 1 : family.length - 1)) % family.length];
  }
}
