// SPDX-License-Identifier: Apache-2.0
// Conveniences only: the page says everything without them.
"use strict";
(() => {
  const all = (where, what) => [...where.querySelectorAll(what)];
  // a link into a fold opens it
  const reveal = () => {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place) return;
    for (let at = place; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    place.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (e) => {
    const link = e.target.closest('a[href^="#"]');
    // the same link again changes no hash
    if (link && link.hash === location.hash) reveal();
  });
  for (const box of all(document, ".cmd")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "copy";
    button.onclick = async () => {
      const code = box.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = document.execCommand("copy") ? "copied" : "selected";
      }
      setTimeout(() => (button.textContent = "copy"), 1500);
    };
    box.append(button);
  }
  const list = document.getElementById("joblist");
  if (list) {
    const body = list.tBodies[0], rows = [...body.rows];
    const form = document.getElementById("filter");
    const [words, verdict, shown] = ["words", "verdict", "shown"].map((id) => document.getElementById(id));
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const filter = () => {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      rows.forEach((row, n) => {
        const fits = (!verdict.value || row.className === verdict.value) && wanted.every((w) => texts[n].includes(w));
        row.hidden = !fits;
        count += fits;
      });
      shown.textContent = `${count} of ${rows.length}`;
    };
    words.oninput = verdict.onchange = filter;
    form.hidden = false;
    filter();
    // a count of jobs leads to just these
    document.addEventListener("click", (e) => {
      const link = e.target.closest("a[data-filter]");
      if (!link) return;
      words.value = link.dataset.filter;
      verdict.value = "";
      filter();
    });
    all(list, "th[data-sort]").forEach((head) => {
      const sort = () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        all(list, "th").forEach((h) => h.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const of = (row) => row.cells[head.cellIndex].textContent;
        const number = head.dataset.sort === "n";
        const by = (a, b) => (number ? (parseFloat(of(a)) || 0) - (parseFloat(of(b)) || 0) : of(a).localeCompare(of(b)));
        body.append(...[...rows].sort((a, b) => (down ? by(b, a) : by(a, b))));
      };
      head.tabIndex = 0;
      head.onclick = sort;
      head.onkeydown = (e) => e.key === "Enter" && sort();
    });
  }
  if (location.hash) reveal();
})();
