// Each picture begins where its order ends.
const reveal = chart => {
  const stuck = chart.querySelector('[id^="stuck-"]');
  if (!stuck) return;
  const at = stuck.getBoundingClientRect(), box = chart.getBoundingClientRect();
  chart.scrollLeft += at.left + Math.min(at.width, box.width / 2) / 2 - box.left - box.width / 2;
  chart.scrollTop += at.top - box.top - box.height / 2;
};
// The words on a bar that begins outside the box stay in it.
const follow = chart => chart.querySelectorAll(".bar").forEach(bar => {
  const words = bar.querySelector(".words"), shape = bar.querySelector("rect, path").getBBox();
  const last = shape.x + shape.width - words.getComputedTextLength() - 4;
  words.setAttribute("x", Math.max(shape.x + 4, Math.min(last, chart.scrollLeft + 4)));
});
const show = chart => { reveal(chart); follow(chart); };
const charts = document.querySelectorAll(".chart");
charts.forEach(chart => { show(chart); chart.addEventListener("scroll", () => follow(chart)); });
document.querySelectorAll("details.object").forEach(one =>
  one.addEventListener("toggle", () => one.querySelectorAll(".chart").forEach(show)));
