"use strict";
// Tables that scroll sideways can be reached and scrolled by the keyboard.
addEventListener("load", () => {
  for (const table of document.querySelectorAll(".bd-article table")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  }
});
