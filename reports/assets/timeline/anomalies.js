// Jumping to an anomaly, and the part of the overview that the timeline shows.
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

function jump(index) {
  const anomaly = D.anomalies[index];
  if (!anomaly) return;
  chosen = index;
  const lanes = anomaly.steps.map(([, , lane]) => lane);
  if (lanes.some((lane) => off.client.has(lane))) {
    for (const box of document.querySelectorAll("#filters input:not(:checked)")) box.click();
  }
  const air = (anomaly.until - anomaly.from) * 0.08;
  show(anomaly.from - air, anomaly.until + air);
  document.getElementById("timeline").scrollIntoView({ block: "center" });
  canvas.focus({ preventScroll: true });
}

for (const button of document.querySelectorAll("[data-anomaly]")) {
  button.addEventListener("click", (event) => {
    event.preventDefault();
    jump(Number(button.dataset.anomaly));
  });
}

// The overview: shows what part is zoomed in on, and moves it by a click.
const overview = document.getElementById("overview");
let frame = null;

function moveWindow() {
  if (!overview) return;
  const height = overview.viewBox.baseVal.height;
  if (!frame) {
    frame = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    frame.setAttribute("class", "frame");
    frame.setAttribute("y", 1);
    frame.setAttribute("height", height - 22);
    overview.append(frame);
  }
  const place = (t) => D.overview.left + (t / D.end) * (D.overview.right - D.overview.left);
  const whole = view.until - view.from >= D.end;
  frame.setAttribute("x", place(view.from));
  frame.setAttribute("width", whole ? 0 : Math.max(place(view.until) - place(view.from), 2));
}

overview?.addEventListener("click", (event) => {
  const box = overview.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * D.overview.width;
  const at = ((x - D.overview.left) / (D.overview.right - D.overview.left)) * D.end;
  const span = Math.min(view.until - view.from, D.end / 12);
  show(at - span / 2, at + span / 2);
});

readColors();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColors();
  redraw();
});
addEventListener("resize", resize);
resize();
