// Graphs or nodes as points of a plane map; a wrong answer is a ring of the wrong class around the true one.

class ItemMap {
  constructor(items) {
    this.c = items;
    this.n = items.x.length;
    this.zoom = 1; this.ox = 0; this.oy = 0; this.chosen = -1; this.hovered = -1;
    this.fill = new Array(this.n).fill("#0072B2");
    this.ring = new Array(this.n).fill(null);
  }

  get count() { return this.n; }
  reset() { this.zoom = 1; this.ox = 0; this.oy = 0; }
  resize(width, height) { this.width = width; this.height = height; this.radius = 0.46 * Math.min(width, height); }
  screen(k) { const s = this.radius * this.zoom; return [this.width / 2 + (this.c.x[k] + this.ox) * s, this.height / 2 - (this.c.y[k] + this.oy) * s]; }
  drag(x0, y0, x1, y1) { const s = this.radius * this.zoom; this.ox += (x1 - x0) / s; this.oy -= (y1 - y0) / s; }
  centreOn(k) { this.ox = -this.c.x[k]; this.oy = -this.c.y[k]; }

  draw(g, style) {
    const near = new Set(this.chosen < 0 ? [] : this.c.near[this.chosen]);
    if (this.chosen >= 0) {
      g.strokeStyle = style.soft; g.lineWidth = 1; g.beginPath();
      for (const k of near) { g.moveTo(...this.screen(this.chosen)); g.lineTo(...this.screen(k)); }
      g.stroke();
    }
    for (let k = 0; k < this.n; k++) {
      const [x, y] = this.screen(k);
      g.fillStyle = this.fill[k]; g.beginPath(); g.arc(x, y, 4.5, 0, 7); g.fill();
      if (this.ring[k]) { g.strokeStyle = this.ring[k]; g.lineWidth = 2.5; g.beginPath(); g.arc(x, y, 7, 0, 7); g.stroke(); }
    }
    for (const [k, width] of [[this.hovered, 1.5], [this.chosen, 3], ...[...near].map((k) => [k, 1])]) {
      if (k < 0) continue;
      g.strokeStyle = style.mark; g.lineWidth = width; g.beginPath(); g.arc(...this.screen(k), 10, 0, 7); g.stroke();
    }
  }

  at(mx, my, reach = 14) {
    let best = -1, least = reach;
    for (let k = 0; k < this.n; k++) {
      const [x, y] = this.screen(k), d = Math.hypot(x - mx, y - my);
      if (d < least) { least = d; best = k; }
    }
    return best;
  }

  step(key) {
    if (this.chosen < 0) return 0;
    if (key === "p" || key === "c") return this.c.near[this.chosen][0] ?? this.chosen;
    return (this.chosen + (key === "n" ? 1 : this.n - 1)) % this.n;
  }
}
