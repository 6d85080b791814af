// The colour tree in the disc: moved by dragging, as if the plane were carried under one's hand.

class Disc {
  constructor(colours) {
    this.c = colours;
    this.n = colours.x.length;
    this.x = Float64Array.from(colours.x); this.y = Float64Array.from(colours.y);
    this.px = new Float64Array(this.n); this.py = new Float64Array(this.n);
    this.children = colours.parent.map(() => []);
    colours.parent.forEach((p, k) => { if (p >= 0) this.children[p].push(k); });
    this.size = colours.count.map((v) => 2 + 1.1 * Math.log2(1 + v) ** 0.8);
    this.depth = Math.max(...colours.depth.slice(-1), 0);
    this.motion = STILL; this.zoom = 1; this.chosen = -1; this.hovered = -1;
    this.fill = new Array(this.n).fill("#0072B2");
  }

  get count() { return this.n; }
  reset() { this.motion = STILL; this.zoom = 1; }
  visible(k) { return this.c.depth[k] <= this.depth; }

  resize(width, height) {
    this.width = width; this.height = height;
    this.radius = 0.47 * Math.min(width, height);
  }

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
    const { px, py, c } = this, scale = this.radius * this.zoom, ox = this.width / 2, oy = this.height / 2;
    moveAll(this.motion, this.x, this.y, px, py);
    g.strokeStyle = style.line; g.lineWidth = 1;
    g.beginPath(); g.arc(ox, oy, scale, 0, 7); g.stroke();
    g.beginPath();
    for (let k = 0; k < this.n; k++) {
      const p = c.parent[k];
      if (p < 0 || !this.visible(k)) continue;
      const x0 = ox + px[p] * scale, y0 = oy + py[p] * scale, x1 = ox + px[k] * scale, y1 = oy + py[k] * scale;
      const length = Math.abs(x1 - x0) + Math.abs(y1 - y0);
      if (length < 2) continue;
      g.moveTo(x0, y0);
      if (length < 14) g.lineTo(x1, y1);
      else {
        const [mx, my] = middle(px[p], py[p], px[k], py[k]);
        g.quadraticCurveTo(2 * (ox + mx * scale) - (x0 + x1) / 2, 2 * (oy + my * scale) - (y0 + y1) / 2, x1, y1);
      }
    }
    g.strokeStyle = style.edge; g.lineWidth = 0.8; g.stroke();
    const byFill = new Map();
    for (let k = 0; k < this.n; k++) {
      if (!this.visible(k)) continue;
      let list = byFill.get(this.fill[k]);
      if (!list) byFill.set(this.fill[k], (list = []));
      list.push(k);
    }
    for (const [fill, list] of byFill) {
      g.fillStyle = fill; g.beginPath();
      for (const k of list) {
        const x = ox + px[k] * scale, y = oy + py[k] * scale, size = this.shown(k);
        if (size < 1.6) g.rect(x - size, y - size, 2 * size, 2 * size);
        else { g.moveTo(x + size, y); g.arc(x, y, size, 0, 6.2832); }
      }
      g.fill();
    }
    for (const [k, width] of [[this.hovered, 1.5], [this.chosen, 3]]) {
      if (k < 0 || !this.visible(k)) continue;
      g.strokeStyle = style.mark; g.lineWidth = width; g.beginPath();
      g.arc(ox + px[k] * scale, oy + py[k] * scale, this.shown(k) + 3, 0, 7); g.stroke();
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
    const k = this.chosen, p = k < 0 ? -1 : this.c.parent[k];
    if (k < 0) return 0;
    const family = p < 0 ? [k] : this.children[p], i = family.indexOf(k);
    if (key === "p") return p < 0 ? k : p;
    if (key === "c") return this.children[k].length && this.c.depth[k] < this.depth ? this.children[k][0] : k;
    return family[(i + (key === "n" ? 1 : family.length - 1)) % family.length];
  }
}
