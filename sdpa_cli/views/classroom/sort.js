"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    button.hidden = false;
    head.querySelector("span").hidden = true;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      const numeric = head.classList.contains("n");
      const value = (row) => {
        const text = row.cells[column].dataset.value ?? row.cells[column].textContent;
        return numeric ? (text === "" ? -Infinity : Number(text)) : text;
      };
      const compare = numeric ? (a, b) => a - b : new Intl.Collator(document.documentElement.lang, { numeric: true }).compare;
      const rows = [...body.rows].map((row) => [value(row), row]);
      rows.sort((a, b) => (down ? compare(b[0], a[0]) : compare(a[0], b[0])));
      body.append(...rows.map((pair) => pair[1]));
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
  });
}
