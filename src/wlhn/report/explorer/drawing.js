// Small drawings of graphs: places by stress (distances on paper follow distances in the graph), atoms and bonds as SVG.

const MOST_DRAWN = 70;

// The nodes within `radius` steps of a node, or the whole graph (node < 0), at most MOST_DRAWN.
function neighbourhood(data, graph, node, radius) {
  const start = data.node_ptr[graph], stop = data.node_ptr[graph + 1];
  if (stop === undefined) return null;
  const near = adjacency(data, start, stop);
  const found = new Map([[node < 0 ? start : node, 0]]);
  const queue = [...found.keys()];
  for (let k = 0; k < queue.length && found.size < MOST_DRAWN; k++) {
    const step = found.get(queue[k]);
    if (node >= 0 && step >= radius) continue;
    for (const [other] of near.get(queue[k]) || []) {
      if (!found.has(other) && found.size < MOST_DRAWN) { found.set(other, step + 1); queue.push(other); }
    }
  }
  if (node < 0) for (let v = start; v < stop && found.size < MOST_DRAWN; v++) if (!found.has(v)) found.set(v, 0);
  const nodes = [...found.keys()], place = new Map(nodes.map((v, k) => [v, k])), edges = [];
  for (const v of nodes) for (const [w, order] of near.get(v) || []) if (v < w && place.has(w)) edges.push([place.get(v), place.get(w), order]);
  const whole = node < 0 ? stop - start : found.size;
  return { nodes, edges, cut: found.size >= MOST_DRAWN && whole > MOST_DRAWN };
}

function adjacency(data, start, stop) {
  const near = new Map();
  let k = lowerBound(data.to, start);
  for (; k < data.to.length && data.to[k] < stop; k++) { // edges are ordered by their end
    const u = data.from[k], v = data.to[k], order = data.order ? data.order[k] : 1;
    for (const [a, b] of [[u, v], [v, u]]) { if (!near.has(a)) near.set(a, []); near.get(a).push([b, order]); }
  }
  return near;
}

function lowerBound(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) { const mid = (low + high) >> 1; if (sorted[mid] < value) low = mid + 1; else high = mid; }
  return low;
}

function layout(n, edges) {
  const steps = Array.from({ length: n }, () => new Array(n).fill(Infinity));
  const near = Array.from({ length: n }, () => []);
  for (const [u, v] of edges) { near[u].push(v); near[v].push(u); }
  for (let s = 0; s < n; s++) {
    const queue = [s]; steps[s][s] = 0;
    for (let k = 0; k < queue.length; k++) for (const v of near[queue[k]]) if (steps[s][v] === Infinity) { steps[s][v] = steps[s][queue[k]] + 1; queue.push(v); }
  }
  const far = Math.sqrt(n) + 1;
  const x = [], y = [];
  for (let k = 0; k < n; k++) { x.push(Math.cos(2.4 * k) * Math.sqrt(k + 1)); y.push(Math.sin(2.4 * k) * Math.sqrt(k + 1)); }
  const pairs = [];
  for (let u = 0; u < n; u++) for (let v = 0; v < u; v++) pairs.push([u, v, Math.min(steps[u][v], far)]);
  let seed = 7; // the same drawing every time
  for (let round = 0; round < 80; round++) {
    const rate = 4 * Math.exp(-round / 14);
    for (let k = pairs.length - 1; k > 0; k--) { seed = (seed * 16807) % 2147483647; const j = seed % (k + 1); [pairs[k], pairs[j]] = [pairs[j], pairs[k]]; }
    for (const [u, v, d] of pairs) {
      const dx = x[u] - x[v], dy = y[u] - y[v], length = Math.hypot(dx, dy) || 1e-6;
      const pull = (Math.min(rate / (d * d), 1) * (length - d)) / (2 * length);
      x[u] -= pull * dx; y[u] -= pull * dy; x[v] += pull * dx; y[v] += pull * dy;
    }
  }
  return [x, y];
}

function svg(tag, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const ATOM_COLOURS = { C: "#7a7f87", N: "#0072B2", O: "#D55E00", F: "#009E73", Cl: "#009E73", Br: "#CC79A7", I: "#CC79A7", S: "#E69F00", P: "#E69F00" };

// A drawing of part of a graph; `centre` is ringed.
function drawGraph(data, graph, node, radius, caption) {
  const part = neighbourhood(data, graph, node, radius);
  const box = document.createElement("div");
  if (!part) { box.textContent = "This graph is not on the page."; return box; }
  const [x, y] = layout(part.nodes.length, part.edges);
  const least = [Math.min(...x), Math.min(...y)], most = [Math.max(...x), Math.max(...y)];
  const scale = Math.min(300 / (most[0] - least[0] || 1), 150 / (most[1] - least[1] || 1), 34);
  const px = (k) => (x[k] - (least[0] + most[0]) / 2) * scale, py = (k) => (y[k] - (least[1] + most[1]) / 2) * scale;
  const picture = svg("svg", { viewBox: "-175 -100 350 200", class: "graph", role: "img", "aria-label": caption });
  for (const [u, v, order] of part.edges) {
    const dx = px(v) - px(u), dy = py(v) - py(u), l = Math.hypot(dx, dy) || 1, lines = order === 3 ? [-3, 0, 3] : order === 2 || order === 1.5 ? [-1.8, 1.8] : [0];
    lines.forEach((o, i) => picture.append(svg("line", {
      x1: px(u) - (o * dy) / l, y1: py(u) + (o * dx) / l, x2: px(v) - (o * dy) / l, y2: py(v) + (o * dx) / l,
      ...(order === 1.5 && i ? { "stroke-dasharray": "3 3" } : {}),
    })));
  }
  const size = Math.max(3.5, Math.min(8, 0.33 * scale));
  part.nodes.forEach((v, k) => {
    const name = data.names ? data.names[v] : "";
    if (v === node) picture.append(svg("circle", { cx: px(k), cy: py(k), r: size + 4, fill: "none", stroke: "var(--mark)", "stroke-width": 2.2 }));
    const spot = svg("circle", { cx: px(k), cy: py(k), r: size, fill: ATOM_COLOURS[name] || "#56B4E9", stroke: "var(--back)" });
    spot.append(svg("title", {}, (data.node_ids ? data.node_ids[v] : "node " + (v - data.node_ptr[graph])) + (name ? ": " + name : "")));
    picture.append(spot);
    if (name && scale > 16) picture.append(Object.assign(svg("text", { x: px(k), y: py(k), style: "fill:#fff;pointer-events:none" }, name.length > 3 ? name.slice(0, 2) + "…" : name)));
  });
  box.append(picture);
  if (part.cut) { const note = document.createElement("p"); note.className = "small"; note.textContent = `The first ${MOST_DRAWN} nodes.`; box.append(note); }
  return box;
}
