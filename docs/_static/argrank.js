"use strict";
// Results of a search have excerpts, for which the pages are fetched; a browser does not fetch from disk.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return;
  const textOf = Search.htmlToText;  // excerpts begin with the page itself, not with the way to it
  Search.htmlToText = (html, anchor) => textOf(html.replace(/<nav[^]*?<\/nav>/g, ""), anchor);
});
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
