"use strict";
(() => {
  const body = document.body;
  const all = new Map(); // chunk ordinal -> everything that belongs to it
  const add = (c, node, role) => { if (!all.has(c)) all.set(c, []); all.get(c).push([node, role]); };
  for (const node of document.querySelectorAll("[data-c]")) add(node.dataset.c, node, "on");
  for (const node of document.querySelectorAll("[data-h]")) {
    const box = document.querySelectorAll(`.mark[data-e="${node.id.slice(2)}"]`);
    for (const c of node.dataset.h.split(" ")) { add(c, node, "head"); for (const b of box) add(c, b, "head"); }
  }
  let lit = null, kept = null;
  const show = (c) => {
    if (c === lit) return;
    if (lit !== null) for (const [node] of all.get(lit) || []) node.classList.remove("on", "head");
    lit = c;
    body.classList.toggle("lit", c !== null);
    if (c !== null) for (const [node, role] of all.get(c) || []) node.classList.add(role);
  };
  const chunkOf = (target) => target.closest ? target.closest("[data-c]") : null;
  const scrollIntoSheet = (c) => {
    const mark = document.querySelector(`.mark[data-c="${c}"]`);
    const sheet = mark && mark.closest(".sheet");
    if (!sheet || getComputedStyle(sheet).position !== "sticky") return;
    const r = mark.getBoundingClientRect(), s = sheet.getBoundingClientRect();
    if (r.top < s.top || r.bottom > s.bottom) sheet.scrollBy({ top: r.top - s.top - 60 });
  };
  document.addEventListener("mouseover", (e) => {
    const node = chunkOf(e.target);
    show(node ? node.dataset.c : kept);
    if (node && !node.classList.contains("mark")) scrollIntoSheet(node.dataset.c);
  });
  document.addEventListener("focusin", (e) => { const node = chunkOf(e.target); if (node) show(node.dataset.c); });
  document.addEventListener("click", (e) => {
    if (e.target.closest("summary, nav, a:not(.mark)")) return;
    const node = chunkOf(e.target);
    kept = node && node.dataset.c !== kept ? node.dataset.c : null;
    show(kept);
    if (kept !== null) scrollIntoSheet(kept);
  });
  const views = document.querySelectorAll("[data-show]");
  for (const button of views) button.addEventListener("click", () => {
    body.dataset.view = button.dataset.show;
    for (const b of views) b.setAttribute("aria-pressed", String(b === button));
  });
  document.getElementById("boxes").addEventListener("change", (e) => body.classList.toggle("noboxes", !e.target.checked));
  const jump = document.getElementById("jump");
  if (jump) {
    jump.addEventListener("change", () => document.getElementById(`page-${jump.value}`).scrollIntoView());
    const seen = new IntersectionObserver((entries) => {
      for (const x of entries) if (x.isIntersecting && x.target.id !== "page-0") jump.value = x.target.id.slice(5);
    }, { rootMargin: "-20% 0px -70% 0px" });
    for (const page of document.querySelectorAll(".page")) seen.observe(page);
  }
  const order = [...document.querySelectorAll(".chunkhead")].map((n) => n.dataset.c);
  const go = (c) => {
    kept = c; show(c);
    const heads = document.querySelectorAll(`.chunkhead[data-c="${c}"], .chunk[data-c="${c}"]`);
    for (const h of heads) if (h.offsetParent) h.scrollIntoView({ block: "center" });
    scrollIntoSheet(c);
  };
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /INPUT|SELECT/.test(e.target.tagName)) return;
    if (e.key === "Escape") { kept = null; show(null); }
    const step = { n: 1, p: -1 }[e.key];
    if (!step || !order.length) return;
    const at = order.indexOf(kept ?? lit);
    go(order[Math.min(order.length - 1, Math.max(0, at < 0 ? 0 : at + step))]);
  });
  const arrive = () => {
    const found = /^#chunk-(\d+)$/.exec(location.hash);
    if (found) go(String(Number(found[1]) - 1));
  };
  addEventListener("hashchange", arrive);
  arrive();
})();
