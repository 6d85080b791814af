"use strict";
(() => {
  // Sorting: a click on a column's head sorts by it, another one turns the order, a third gives the first order back.
  const seconds = { s: 1, min: 60, h: 3600 };
  const value = (row, k) => {
    const text = row.cells[k].textContent.trim();
    const time = text.match(/^(\d[\d.]*) (s|min|h)$/);
    if (time) return parseFloat(time[1]) * seconds[time[2]];
    const number = text.match(/^[-+−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?/i);
    return number ? parseFloat(number[0].replace(/,/g, "").replace("−", "-")) : /^–|^$/.test(text) ? null : text;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  const kept = (table, k, way) => {
    try { sessionStorage.setItem(location.pathname + table, JSON.stringify([k, way])); } catch { /* not kept, then */ }
  };
  document.querySelectorAll("table.sortable").forEach((table, number) => {
    const body = table.tBodies[0], first = [...body.rows], heads = [...table.tHead.rows[0].cells];
    if (first.length < 2) return;
    const sort = (k, way) => {
      heads.forEach((head, j) => (way && j === k ? head.setAttribute("aria-sort", way) : head.removeAttribute("aria-sort")));
      const sign = way === "ascending" ? 1 : -1;
      const empty = (row) => value(row, k) === null;
      const rows = way ? [...first].sort((a, b) => empty(a) - empty(b) || sign * compare(value(a, k), value(b, k))) : first;
      body.append(...rows);
    };
    heads.forEach((head, k) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      // Numbers are looked at from the largest down, names from A on.
      const numeric = first.some((row) => typeof value(row, k) === "number");
      const ways = numeric ? ["descending", "ascending", ""] : ["ascending", "descending", ""];
      button.addEventListener("click", () => {
        const way = ways[(ways.indexOf(head.getAttribute("aria-sort") || "") + 1) % 3];
        sort(k, way);
        kept(number, k, way);
      });
    });
    try {  // as it was before the page was read anew
      const [k, way] = JSON.parse(sessionStorage.getItem(location.pathname + number)) || [];
      if (way) sort(k, way);
    } catch { /* nothing was kept */ }
  });

  // A table that goes on to the right fades there.
  const fade = (box) => box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
  const boxes = [...document.querySelectorAll(".wide")];
  const fades = new ResizeObserver((seen) => seen.forEach(({ target }) => fade(target)));
  boxes.forEach((box) => { box.addEventListener("scroll", () => fade(box), { passive: true }); fades.observe(box); });

  // A link into something folded unfolds it.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // A page that is written as work goes on: how long ago, and whether that is too long.
  const written = document.querySelector("[data-written]");
  if (written) {
    const said = (s) => (s < 100 ? `${Math.round(s)} s` : s < 6000 ? `${Math.round(s / 60)} min` : `${(s / 3600).toFixed(1)} h`);
    const tell = () => {
      const ago = Math.max(0, Date.now() / 1000 - Number(written.dataset.written));
      written.textContent = `${said(ago)} ago`;
      const silent = document.getElementById("silent");
      if (silent) silent.hidden = ago < Math.max(120, 5 * Number(written.dataset.job || 0));
    };
    tell();
    setInterval(tell, 1000);
  }
})();
