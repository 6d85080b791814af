// The page: one canvas, two views on it, and the panel that says what is chosen.

const data = JSON.parse(document.getElementById("data").textContent);
const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8a8f98"];
const RAMP = ["#00336f", "#39486b", "#575d6d", "#707173", "#8a8779", "#a69d75", "#c4b56c", "#e4cf5b", "#ffea46"]; // cividis
const el = (id) => document.getElementById(id);
const canvas = el("canvas"), g = canvas.getContext("2d");
const disc = new Disc(data.colours), map = new ItemMap(data.items);
let view = disc, queued = false;
const unit = data.level === "node" && data.items.node ? "Nodes" : "Graphs";
const several = data.graphs.id.length > 1, FEW = 4; // columns that are shown without asking

function make(tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text; // names from data are text, whatever they contain
  if (className) node.className = className;
  return node;
}

const style = () => Object.fromEntries(["line", "edge", "mark", "soft", "text", "back"].map((name) => [name, getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim()]));
let ink = null;

function draw() {
  queued = false;
  const ratio = window.devicePixelRatio || 1, { clientWidth: w, clientHeight: h } = canvas;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) { canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio); }
  ink = ink || style();
  view.resize(w, h);
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, w, h);
  const start = performance.now();
  view.draw(g, ink);
  window.wlhn.frame = performance.now() - start;
}
function redraw() { if (!queued) { queued = true; requestAnimationFrame(draw); } }

// Colours of dots.
const className = (k) => data.classes[k] ?? "?";
const classColour = (k) => PALETTE[k % PALETTE.length];
const shade = (t) => RAMP[Math.max(0, Math.min(RAMP.length - 1, Math.round(t * (RAMP.length - 1))))];
const largest = (counts) => counts.reduce((best, v, k) => (v > counts[best] ? k : best), 0);

function options() {
  const c = data.colours, list = [];
  if (view === disc) {
    if (c.class) list.push(["class", "class (most frequent)"]);
    if (c.answer) list.push(["answer", "prediction (most frequent)"], ["wrong", "error (share of wrong answers)"]);
    list.push(["depth", "depth"]);
    for (const name of Object.keys(c.columns)) list.push(["column " + name, name]);
  } else {
    if (data.items.true.some((v) => v !== null)) list.push(["class", "true class"]);
    if (data.items.answer.some((v) => v !== null)) list.push(["answer", "prediction"], ["wrong", "error"]);
    if (!list.length) list.push(["plain", "nothing"]);
  }
  return list;
}

function legend(rows, ramp) {
  const box = el("legend");
  box.replaceChildren();
  for (const [colour, text] of rows.slice(0, 12)) { const row = make("div"), dot = make("span", "", "dot"); dot.style.background = colour; row.append(dot, make("span", text)); box.append(row); }
  if (rows.length > 12) box.append(make("div", `and ${rows.length - 12} more`));
  if (ramp) { const row = make("div"), bar = make("span", "", "ramp"); bar.style.background = `linear-gradient(to right, ${RAMP.join(",")})`; row.append(make("span", ramp[0]), bar, make("span", ramp[1])); box.append(row); }
}

function spectrum(values, from, to) {
  const known = values.filter((v) => v !== null), low = from ?? Math.min(...known), high = to ?? Math.max(...known);
  legend([], [String(low), String(high)]);
  return values.map((v) => (v === null ? "#8a8f98" : shade((v - low) / (high - low || 1))));
}

function kinds(values) {
  const times = new Map();
  for (const v of values) times.set(v, (times.get(v) || 0) + 1);
  const names = [...times.keys()].sort((a, b) => times.get(b) - times.get(a));
  const colour = new Map(names.map((name, k) => [name, PALETTE[Math.min(k, PALETTE.length - 1)]]));
  const last = PALETTE.length - 1, rest = names.length - last;
  legend([...names.slice(0, last).map((name) => [colour.get(name), name ?? "none"]), ...(rest > 0 ? [[PALETTE[last], rest === 1 ? names[last] : `${rest} others`]] : [])]);
  return values.map((v) => colour.get(v));
}

function paint() {
  const by = el("paint").value, c = data.colours, i = data.items, classes = () => legend(data.classes.map((name, k) => [classColour(k), name]));
  if (view === map) {
    map.ring = i.true.map((t, k) => (i.answer[k] !== null && t !== null && t !== i.answer[k] ? classColour(i.answer[k]) : null));
    if (by === "plain") { map.fill = i.true.map(() => PALETTE[0]); legend([]); }
    else if (by === "wrong") { map.fill = map.ring.map((r) => (r ? PALETTE[5] : PALETTE[6])); map.ring = map.ring.map(() => null); legend([[PALETTE[6], "right"], [PALETTE[5], "wrong"]]); }
    else { map.fill = i[by === "class" ? "true" : "answer"].map((v) => (v === null ? PALETTE[6] : classColour(v))); classes(); if (map.ring.some(Boolean)) el("legend").append(make("div", "ring: wrong answer, in the colour of the answer")); }
  } else if (by === "class" || by === "answer") { disc.fill = c[by].map((v) => classColour(largest(v))); classes(); }
  else if (by === "wrong") disc.fill = spectrum(c.wrong, 0, 1);
  else if (by === "depth") disc.fill = spectrum(c.depth);
  else { const values = c.columns[by.slice(7)]; disc.fill = values.some((v) => typeof v === "string") ? kinds(values) : spectrum(values); }
  redraw();
}

// Words about a dot.
const counted = (v, what) => `${v.toLocaleString("en")} ${what}${v === 1 ? "" : "s"}`;
const about = (k) => { const c = data.colours; return `${counted(c.count[k], "node")}${several ? ` in ${counted(c.spread[k], "graph")}` : ""}, ${c.depth[k] < 0 ? "root" : "depth " + c.depth[k]}`; };
const hidden = (k) => `${counted(data.colours.hidden[k], "rarer colour")} below not shown`;
const percent = (v, total) => `${Math.round((100 * v) / (total || 1))} %`;
function path(k) { const names = []; for (let v = k; v >= 0; v = data.colours.parent[v]) names.unshift(data.colours.name[v]); return names; }
function shares(counts) { const total = counts.reduce((a, b) => a + b, 0); return counts.map((v, k) => [k, v, total]).filter(([, v]) => v).sort((a, b) => b[1] - a[1]); }

function brief(k) {
  if (view === map) return itemWords(k).join("\n");
  const c = data.colours, lines = [c.name[k], about(k)];
  if (c.class) lines.push(shares(c.class[k]).slice(0, 4).map(([j, v, t]) => `${className(j)} ${percent(v, t)}`).join(", "));
  if (c.hidden[k]) lines.push(hidden(k));
  lines.push(path(k).join(" › "));
  return lines.join("\n");
}
function itemWords(k) {
  const i = data.items, lines = [`${unit.slice(0, -1)} ${i.name[k]}`];
  if (i.true[k] !== null) lines.push(`true: ${className(i.true[k])}`);
  if (i.answer[k] !== null) lines.push(`predicted: ${className(i.answer[k])}${i.true[k] === i.answer[k] ? "" : " (wrong)"}`);
  return lines;
}

function choose(k, centre) {
  if (k < 0) return;
  view.chosen = k;
  if (centre) view.centreOn(k);
  el("live").textContent = brief(k);
  if (view === disc) showColour(k); else showItem(k);
  redraw();
}

function showColour(k) {
  const c = data.colours, box = el("details");
  el("what").textContent = c.name[k];
  box.replaceChildren(make("p", about(k) + (c.hidden[k] ? `; ${hidden(k)}.` : ".")));
  box.append(make("p", "From the root: " + path(k).join(" › "), "small"));
  if (c.class) box.append(bars(c.class[k]));
  if (c.wrong) box.append(make("p", `The model errs on ${percent(c.wrong[k], 1)} of ${unit === "Nodes" ? "these nodes" : "these nodes' graphs"}.`));
  const table = make("table"), columns = Object.entries(c.columns);
  for (const [name, values] of columns) { const row = make("tr"); row.append(make("th", name), make("td", values[k] === null ? "none" : String(values[k]))); table.append(row); }
  const folded = make("details");
  folded.append(make("summary", "Features of these nodes, on average"), table);
  box.append(columns.length > FEW ? folded : table, make("h3", "Example"));
  const d = data.graphs, node = c.example[k], own = c.graphs[k][0];
  box.append(drawGraph(d, own, node, Math.max(c.depth[k], 1), `Neighbourhood of ${c.name[k]} in graph ${d.id[own]}`));
  box.append(make("p", `${several ? `In graph ${d.id[own]}: the` : "The"} ringed node and ${counted(Math.max(c.depth[k], 1), "step")} around it.`, "small"));
  if (!several) return;
  box.append(make("h3", `Graphs that contain it (${c.spread[k].toLocaleString("en")})`));
  const links = make("div", undefined, "links");
  for (const j of c.graphs[k]) { const button = make("button", d.id[j]); button.onclick = () => openGraph(j); links.append(button); }
  box.append(links);
  if (c.spread[k] > c.graphs[k].length) box.append(make("p", `The first ${c.graphs[k].length} are listed.`, "small"));
}

function bars(counts) {
  const table = make("table");
  for (const [j, v, total] of shares(counts)) {
    const row = make("tr"), cell = make("td"), bar = make("div", "", "bar");
    bar.style.width = `${(100 * v) / total}%`; bar.style.background = classColour(j);
    cell.append(bar); cell.style.width = "45%"; row.append(make("th", className(j)), make("td", percent(v, total)), cell); table.append(row);
  }
  return table;
}

function showItem(k) {
  const i = data.items, box = el("details"), words = itemWords(k);
  el("what").textContent = words[0];
  box.replaceChildren(...words.slice(1).map((text) => make("p", text)));
  box.append(drawGraph(data.graphs, i.graph[k], i.node ? i.node[k] : -1, 2, words[0]));
  box.append(make("h3", `Nearest (${i.measure})`));
  const table = make("table");
  i.near[k].forEach((j, m) => {
    const row = make("tr"), name = make("td"), button = make("button", i.name[j]);
    button.onclick = () => choose(j, true);
    name.append(button); row.append(name, make("td", i.true[j] === null ? "" : className(i.true[j])), make("td", i.distance[k][m].toFixed(3))); table.append(row);
  });
  box.append(table);
}

function openGraph(j) {
  const k = data.items.graph.indexOf(j);
  show(map);
  if (k >= 0) choose(k, true);
  else { el("what").textContent = `Graph ${data.graphs.id[j]}`; el("details").replaceChildren(drawGraph(data.graphs, j, -1, 0, `Graph ${data.graphs.id[j]}`)); }
}

function show(which) {
  view = which;
  el("tab-disc").setAttribute("aria-selected", String(view === disc));
  el("tab-map").setAttribute("aria-selected", String(view === map));
  el("depth-label").hidden = view !== disc;
  canvas.setAttribute("aria-label", view === disc ? `Colour tree of ${data.title} in the Poincaré disc, ${disc.count} colours` : `Map of ${map.count} ${unit.toLowerCase()}`);
  el("paint").replaceChildren(...options().map(([value, text]) => Object.assign(make("option", text), { value })));
  el("tip").hidden = true;
  paint();
}

// Pointer, wheel, keys.
let held = null, moved = false;
canvas.addEventListener("pointerdown", (e) => { held = [e.offsetX, e.offsetY]; moved = false; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener("pointermove", (e) => {
  if (held) {
    if (!moved && Math.hypot(e.offsetX - held[0], e.offsetY - held[1]) < 4) return;
    moved = true; el("tip").hidden = true;
    view.drag(held[0], held[1], e.offsetX, e.offsetY); held = [e.offsetX, e.offsetY]; redraw(); return;
  }
  const k = view.at(e.offsetX, e.offsetY), tip = el("tip");
  if (k !== view.hovered) { view.hovered = k; redraw(); }
  tip.hidden = k < 0;
  if (k >= 0) { tip.textContent = brief(k); tip.style.left = Math.min(e.offsetX + 14, canvas.clientWidth - 250) + "px"; tip.style.top = Math.max(4, Math.min(e.offsetY + 14, canvas.clientHeight - tip.offsetHeight - 6)) + "px"; }
});
canvas.addEventListener("pointerup", (e) => { if (held && !moved) choose(view.at(e.offsetX, e.offsetY), false); held = null; });
canvas.addEventListener("pointerleave", () => { view.hovered = -1; el("tip").hidden = true; redraw(); });
canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(-e.deltaY / 500)); }, { passive: false });
function zoom(factor) { view.zoom = Math.max(0.5, Math.min(40, view.zoom * factor)); redraw(); }
canvas.addEventListener("keydown", (e) => {
  const w = view.width / 2, h = view.height / 2, key = e.key.toLowerCase();
  const arrow = { arrowleft: [40, 0], arrowright: [-40, 0], arrowup: [0, 40], arrowdown: [0, -40] }[key];
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (arrow) { view.drag(w, h, w + arrow[0], h + arrow[1]); redraw(); }
  else if (key === "+" || key === "=") zoom(1.25);
  else if (key === "-") zoom(0.8);
  else if (key === "home") { view.reset(); redraw(); }
  else if ("pcnb".includes(key) && key.length === 1) choose(view.step(key), true);
  else if (key === "enter") choose(view.at(w, h, Infinity), true);
  else return;
  e.preventDefault();
});

el("title").textContent = `${data.title}${data.model ? " · " + data.model : ""}`;
el("tab-map").textContent = unit;
el("tab-disc").onclick = () => show(disc);
el("tab-map").onclick = () => show(map);
el("paint").onchange = paint;
el("zoom-in").onclick = () => zoom(1.3);
el("zoom-out").onclick = () => zoom(1 / 1.3);
el("reset").onclick = () => { view.reset(); redraw(); };
el("depth").max = disc.depth; el("depth").value = disc.depth; el("depth-value").textContent = disc.depth;
el("depth").oninput = (e) => { disc.depth = Number(e.target.value); el("depth-value").textContent = disc.depth; redraw(); };
function theme(dark) { document.documentElement.classList.toggle("dark", dark); el("theme").setAttribute("aria-pressed", String(dark)); ink = null; redraw(); }
el("theme").onclick = () => theme(!document.documentElement.classList.contains("dark"));
for (const note of data.notes) el("notes").querySelector("ul").append(make("li", note));
const frequent = data.colours.count.map((v, k) => k).sort((a, b) => data.colours.count[b] - data.colours.count[a] || a - b).slice(0, 150);
for (const k of frequent) { const button = make("button", `${data.colours.name[k]} · ${about(k)}`); button.onclick = () => { show(disc); choose(k, true); }; el("list").append(button); }
window.wlhn = { disc, map, frame: 0, draw }; // for tests and the curious
window.addEventListener("resize", redraw);
show(disc);
choose(data.start, false);
el("details").prepend(make("p", (data.colours.class ? "To begin with: the substructure whose classes differ most from those of all nodes." : "To begin with: a frequent substructure.") + " Click another dot to read about it.", "small"));
if (data.grown_from) el("details").prepend(make("p", data.grown_from, "small"));
theme(window.matchMedia("(prefers-color-scheme: dark)").matches);
