// Anomalies: flags where each was complete, and the way to the steps that prove it.
const flagX = (anomaly, place) => place(anomaly.steps.at(-1)?.[1] ?? anomaly.until);

function drawFlags(pen, place, y) {
  for (const anomaly of D.anomalies.toReversed()) { // the worst come first, and must lie on top
    const x = flagX(anomaly, place);
    pen.fillStyle = anomaly.advisory ? colors.faint : colors.violation;
    pen.fill(new Path2D(`M${x - 5} ${y}h10l-5 9z`));
  }
}

function flagAt(x, place) {
  const hit = D.anomalies.findIndex((anomaly) => Math.abs(flagX(anomaly, place) - x) <= 6);
  return hit < 0 ? null : hit;
}

function drawSteps(steps) {
  const taken = new Map();
  pen.textAlign = "center";
  steps.forEach(([number, time, lane], i) => {
    const row = visibleLanes.indexOf(lane);
    const y = row < 0 ? serversTop() - 4 : TOP + row * ROW + 10;
    const foot = toX(time);
    const x = Math.max(foot, (taken.get(row) ?? -1e9) + 17);
    taken.set(row, x);
    const last = i + 1 === steps.length;
    pen.strokeStyle = pen.fillStyle = last ? colors.violation : colors.ink;
    pen.lineWidth = 1;
    if (last) {
      pen.setLineDash([4, 3]);
      pen.stroke(new Path2D(`M${foot} ${TOP - 6}V${stageHeight() - BOTTOM}`));
      pen.setLineDash([]);
    }
    pen.stroke(new Path2D(`M${x} ${y}L${foot} ${y + 15}`));
    pen.beginPath();
    pen.arc(x, y, 8, 0, 7);
    pen.fill();
    pen.fillStyle = colors.paper;
    pen.fillText(number, x, y + 0.5);
  });
}

// Shows an anomaly's window and steps, or the whole run again.
function choose(index) {
  chosen = index;
  const anomaly = D.anomalies[index];
  document.getElementById("chosen").hidden = !anomaly;
  const steps = document.getElementById("proof");
  steps.replaceChildren();
  if (anomaly) {
    document.getElementById("chosen-name").textContent = `Anomaly ${index + 1} of ${D.anomalies.length}: ${anomaly.kind}`;
    const listed = document.querySelector(`#a${index + 1} .steps`);
    if (listed) steps.append(listed.cloneNode(true));
  }
  applyFilters();
  if (!anomaly) return show(0, D.end);
  const air = (anomaly.until - anomaly.from) * 0.08;
  show(anomaly.from - air, anomaly.until + air);
}

function jump(index) {
  if (!D.anomalies[index]) return;
  choose(index);
  document.getElementById("timeline").scrollIntoView({ block: "start" });
  canvas.focus({ preventScroll: true });
}

for (const button of document.querySelectorAll("[data-anomaly]")) {
  button.addEventListener("click", (event) => {
    event.preventDefault(); // the button lies in a summary, which would close
    jump(Number(button.dataset.anomaly));
  });
}
document.getElementById("around").addEventListener("change", (event) => {
  around = event.target.checked;
  applyFilters();
});
