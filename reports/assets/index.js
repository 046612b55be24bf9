// Filters and sorts the list of runs; without this it is sorted newest first.
document.documentElement.classList.add("with-js");
const body = document.querySelector(".runs tbody");
const rows = [...body.rows];
const texts = rows.map((row) => row.textContent.toLowerCase());
const element = (id) => document.getElementById(id);

function filter() {
  const words = element("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const [verdict, variant, fault] = ["verdict", "variant", "fault"].map((id) => element(id).value);
  let shown = 0;
  rows.forEach((row, i) => {
    const { verdict: v, variant: w, faults, new: news } = row.dataset;
    const fits = words.every((word) => texts[i].includes(word)) && (!verdict || v === verdict) && (!variant || w === variant) &&
      (!fault || faults.split(" ").includes(fault)) && (!element("new").checked || news !== "0");
    row.hidden = !fits;
    shown += fits;
  });
  element("count").textContent = `${shown} of ${rows.length} shown`;
}
for (const id of ["find", "verdict", "variant", "fault", "new"]) element(id).addEventListener("input", filter);
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());

const heads = [...document.querySelectorAll(".runs th")];
const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
const compare = new Intl.Collator("en", { numeric: true }).compare;
heads.forEach((head, column) => {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const was = head.getAttribute("aria-sort");
    const down = was ? was === "ascending" : "down" in head.dataset;
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.toSorted((a, b) => compare(key(a, column), key(b, column)) * (down ? -1 : 1)).forEach((row) => body.append(row));
  });
});
filter();
