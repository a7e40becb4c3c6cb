"use strict";
addEventListener("load", () => {
  // Tables that scroll sideways can be reached and scrolled by the keyboard.
  for (const table of document.querySelectorAll(".bd-article table")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  }
  // The arrows that unfold a part of the navigation have a name.
  for (const arrow of document.querySelectorAll(".bd-sidebar summary")) {
    arrow.setAttribute("aria-label", `Pages of ${arrow.closest("li").querySelector("a").textContent.trim()}`);
  }
});
