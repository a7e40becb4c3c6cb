"use strict";
// What the page does besides the explorer: sections that open, tabs, a system highlighted in all charts, scroll hints.
(() => {
  // ---- a link into a folded section opens it; all of them print --------------------------------------------------
  const details = () => document.querySelectorAll("details");
  function reveal() {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    const inside = target.querySelector(":scope > details.part");
    if (inside) inside.open = true;
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  reveal();
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...details()].filter((one) => !one.open);
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });

  // ---- where the reader is ---------------------------------------------------------------------------------------
  const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
  const watch = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-25% 0px -70% 0px" });
  for (const section of document.querySelectorAll("main > section")) watch.observe(section);

  // ---- one system highlighted in every chart, by its key or by a tap on its line --------------------------------
  let lit = null;
  document.addEventListener("click", (event) => {
    const system = event.target.closest("[data-system]")?.dataset.system;
    if (system === undefined) return;
    lit = lit === system ? null : system;
    document.body.classList.toggle("lit", lit !== null);
    for (const one of document.querySelectorAll("[data-system]")) {
      one.classList.toggle("on", one.dataset.system === lit);
      if (one.tagName === "BUTTON") one.setAttribute("aria-pressed", String(one.dataset.system === lit));
    }
  });

  // ---- tabs ------------------------------------------------------------------------------------------------------
  for (const list of document.querySelectorAll("[role=tablist]")) {
    const tabs = [...list.children];
    const show = (chosen) => {
      for (const tab of tabs) {
        const on = tab === chosen;
        tab.setAttribute("aria-selected", String(on));
        tab.tabIndex = on ? 0 : -1;
        document.getElementById(tab.getAttribute("aria-controls")).hidden = !on;
      }
    };
    list.addEventListener("click", (event) => { if (event.target.role === "tab") show(event.target); });
    list.addEventListener("keydown", (event) => {
      const at = tabs.indexOf(event.target), n = tabs.length;
      const to = { ArrowRight: (at + 1) % n, ArrowLeft: (at + n - 1) % n, Home: 0, End: n - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      tabs[to].focus();
      show(tabs[to]);
    });
    show(tabs[0]);
    list.parentElement.classList.add("live");
  }

  // ---- tables wider than the screen say so, and the keyboard can scroll them ------------------------------------
  const sizes = new ResizeObserver((entries) => { for (const { target } of entries) hint(target.closest(".scroll")); });
  function hint(box) {
    const wide = box.scrollWidth > box.clientWidth + 1;
    box.classList.toggle("wide", wide);
    if (!wide) { box.removeAttribute("tabindex"); return; }
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "A table that scrolls sideways");
  }
  for (const box of document.querySelectorAll(".scroll")) {
    sizes.observe(box);
    if (box.firstElementChild) sizes.observe(box.firstElementChild);
  }
})();
