// Mouse, touch, keys and the tooltip.
const tip = document.getElementById("tip");
let drag = null; // where a drag began: { x, view, zoom }

function opAt(x, y) {
  const lane = visibleLanes[Math.floor((y - TOP) / ROW)];
  if (lane === undefined || y < TOP || x < LEFT) return null;
  const slack = 3;
  let best = null;
  for (const i of ops.shownByLane[lane]) {
    const x1 = toX(ops.start[i]), x2 = toX(ops.end[i]);
    if (x1 > x + slack) break;
    if (x2 >= x - slack) best = i; // the last to begin lies on top
  }
  if (best !== null) return describeOp(best);
  for (const i of holds.byLane[lane]) {
    if (toX(holds.start[i]) <= x && toX(holds.end[i]) >= x) return describeHold(i);
  }
  return null;
}

function describeOp(i) {
  const [lane, name, , outcome, mark] = opClass(i);
  const ends = D.ops.took[i] < 0 ? "not answered" : `took ${duration(D.ops.took[i])}`;
  const says = D.ops.marks[mark];
  const lines = [
    `${D.lanes[lane]} ${D.ops.names[name]} ${details[i]}`,
    `${D.ops.outcomes[outcome]}${says ? `, ${says}` : ""}, ${ends}`,
    `from ${moment(ops.start[i])}, event ${ops.event[i]}`,
  ];
  if (errorOf.has(i)) lines.push(errorOf.get(i));
  return lines.join("\n");
}

function describeHold(i) {
  const ended = D.holds.took[i] < 0 ? "not ended" : `for ${duration(D.holds.took[i])}, ${D.holds.ends[D.holds.ended[i]]}`;
  return `${D.lanes[D.holds.lane[i]]} ${D.holds.verb} ${grants[i]}\nfrom ${moment(holds.start[i])}, ${ended}`;
}

function hover(x, y) {
  const text = x === null ? null : opAt(x, y);
  tip.textContent = text ?? "";
  tip.classList.toggle("on", text !== null);
  if (text === null) return;
  tip.style.left = `${Math.min(x + 14, width - tip.offsetWidth - 4)}px`;
  tip.style.top = `${y + 16}px`;
}

canvas.addEventListener("pointerdown", (event) => {
  drag = { x: event.offsetX, view: { ...view }, zoom: event.shiftKey };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  if (!drag) return hover(event.offsetX, event.offsetY);
  hover(null);
  if (drag.zoom) {
    draw();
    pen.fillStyle = colors.work;
    pen.globalAlpha = 0.25;
    pen.fillRect(Math.min(drag.x, event.offsetX), 0, Math.abs(event.offsetX - drag.x), stageHeight());
    pen.globalAlpha = 1;
    return;
  }
  const by = ((drag.x - event.offsetX) / (right() - LEFT)) * (drag.view.until - drag.view.from);
  const from = Math.min(Math.max(drag.view.from + by, 0), D.end - (drag.view.until - drag.view.from));
  show(from, from + drag.view.until - drag.view.from);
});
canvas.addEventListener("pointerup", (event) => {
  if (drag?.zoom && Math.abs(event.offsetX - drag.x) > 4) {
    const [a, b] = [toTime(drag.x), toTime(event.offsetX)];
    show(Math.min(a, b), Math.max(a, b));
  }
  drag = null;
});
canvas.addEventListener("pointercancel", () => (drag = null));
canvas.addEventListener("pointerleave", () => hover(null));
canvas.addEventListener("dblclick", (event) => zoom(0.4, toTime(event.offsetX)));
// A wheel over the canvas scrolls the page, as everywhere, unless the reader has turned to the canvas.
canvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
  event.preventDefault();
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / 800);
  else zoom(Math.exp(event.deltaY / 300), toTime(event.offsetX));
}, { passive: false });

const keys = { ArrowLeft: "left", ArrowRight: "right", "+": "in", "=": "in", "-": "out", 0: "all", Home: "all" };
canvas.addEventListener("keydown", (event) => {
  const motion = keys[event.key];
  if (!motion || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  motions[motion]();
});
for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", motions[button.dataset.do]);
}
