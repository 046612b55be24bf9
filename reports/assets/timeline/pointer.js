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

// Below the rows, the sessions.
function sessionAt(x, y) {
  const lane = D.sessions[Math.floor((y - sessionsTop()) / SERVER)];
  if (!lane || y < sessionsTop() || x < LEFT) return null;
  const at = toTime(x);
  return lane[1].findLast(([from, until]) => from <= at && (until ?? D.end) >= at)?.[5] ?? null;
}

// Above the rows, the faults.
function bandAt(x, y) {
  if (y > TOP - 4 || x < LEFT) return null;
  const at = toTime(x);
  const on = D.bands.filter((band) => band.from <= at && (band.until ?? D.end) >= at);
  const sure = ({ from, verified }) => (verified === null ? ", not verified" : verified > from ? `, verified at ${moment(verified)}` : "");
  const describe = (band) =>
    `${band.label}\n${moment(band.from)} – ${band.until === null ? "never healed" : moment(band.until)}${sure(band)}, ` +
    (band.counts ? "counts" : "does not count");
  return on.length ? on.map(describe).join("\n") : null;
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
  const text = x === null ? null : bandAt(x, y) ?? sessionAt(x, y) ?? opAt(x, y);
  tip.textContent = text ?? "";
  tip.classList.toggle("on", text !== null);
  if (text === null) return;
  tip.style.left = `${Math.min(x + 14, width - tip.offsetWidth - 4)}px`;
  tip.style.top = `${y + 16}px`;
}

// Fingers on the canvas, or the mouse's button: id to place.
const down = new Map();
const spread = () => {
  const [a, b] = [...down.values()];
  return { apart: Math.max(Math.abs(a - b), 10), middle: (a + b) / 2 };
};
let pinch = null; // what two fingers showed when the second came down: { apart, at, span }

canvas.addEventListener("pointerdown", (event) => {
  down.set(event.pointerId, event.offsetX);
  canvas.setPointerCapture(event.pointerId);
  hover(null);
  drag = { x: event.offsetX, view: { ...view }, zoom: event.shiftKey };
  if (down.size === 2) {
    const { apart, middle } = spread();
    pinch = { apart, at: toTime(middle), span: view.until - view.from };
  }
});
canvas.addEventListener("pointermove", (event) => {
  if (!down.has(event.pointerId)) return hover(event.offsetX, event.offsetY);
  down.set(event.pointerId, event.offsetX);
  if (pinch && down.size === 2) {
    const { apart, middle } = spread();
    const span = Math.min(Math.max((pinch.span * pinch.apart) / apart, SHORTEST), D.end);
    const from = pinch.at - ((middle - LEFT) / (right() - LEFT)) * span;
    return show(from, from + span);
  }
  if (!drag || pinch) return;
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
  const far = drag && Math.abs(event.offsetX - drag.x) > 4;
  if (drag?.zoom && far) {
    const [a, b] = [toTime(drag.x), toTime(event.offsetX)];
    show(Math.min(a, b), Math.max(a, b));
  } else if (drag && !far && !pinch) {
    const flag = chosen === null && event.offsetY < TOP + 4 ? flagAt(event.offsetX, toX) : null;
    if (flag !== null) choose(flag);
    else hover(event.offsetX, event.offsetY); // a finger does not hover
  }
  lift(event);
});
function lift(event) {
  down.delete(event.pointerId);
  if (down.size === 0) drag = pinch = null;
}
canvas.addEventListener("pointercancel", lift);
canvas.addEventListener("pointerleave", () => hover(null));
canvas.addEventListener("dblclick", (event) => zoom(0.4, toTime(event.offsetX)));
// A wheel over the canvas scrolls the page, as everywhere, unless the reader has turned to the canvas.
canvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
  event.preventDefault();
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / 800);
  else zoom(Math.exp(event.deltaY / 300), toTime(event.offsetX));
}, { passive: false });

const keys = { ArrowLeft: "left", ArrowRight: "right", "+": "in", "=": "in", "-": "out", 0: "all", Home: "all", Escape: "all", n: "next", p: "previous" };
canvas.addEventListener("keydown", (event) => {
  const motion = keys[event.key];
  if (!motion || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  motions[motion]();
});
for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", motions[button.dataset.do]);
}
