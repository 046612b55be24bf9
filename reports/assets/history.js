// Each picture begins where its order ends.
const reveal = chart => {
  const stuck = chart.querySelector('[id^="stuck-"]');
  if (!stuck) return;
  const at = stuck.getBoundingClientRect(), box = chart.getBoundingClientRect();
  chart.scrollLeft += at.left + Math.min(at.width, box.width / 2) / 2 - box.left - box.width / 2;
  chart.scrollTop += at.top - box.top - box.height / 2;
};
document.querySelectorAll(".chart").forEach(reveal);
document.querySelectorAll("details.object").forEach(one =>
  one.addEventListener("toggle", () => one.querySelectorAll(".chart").forEach(reveal)));
