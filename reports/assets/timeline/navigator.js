// The whole run in one strip: shows what part of it the timeline shows, and moves it.
const strip = document.getElementById("navigator");
const STRIP = 44;
let crowd = []; // operations that were sent, by column of the strip
let brush = null; // where a drag began, and whether it moves the frame: { x, view, moves }

const inStrip = (t) => LEFT + (t / D.end) * (right() - LEFT);
const stripTime = (x) => ((x - LEFT) / (right() - LEFT)) * D.end;
const COLUMN = 3;

function resizeNavigator(scale) {
  strip.style.height = `${STRIP}px`;
  strip.width = Math.round(width * scale);
  strip.height = Math.round(STRIP * scale);
  strip.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
  crowd = new Array(Math.max(1, Math.ceil((right() - LEFT) / COLUMN))).fill(0);
  for (const start of ops.start) crowd[Math.min(Math.floor((start / D.end) * crowd.length), crowd.length - 1)]++;
}

function drawNavigator() {
  const pen = strip.getContext("2d");
  pen.clearRect(0, 0, width, STRIP);
  pen.fillStyle = colors.panel;
  pen.fillRect(LEFT, 12, right() - LEFT, STRIP - 12);
  for (const band of D.bands) {
    pen.fillStyle = colors[band.class];
    pen.globalAlpha = 0.4;
    pen.fillRect(inStrip(band.from), 12, Math.max(inStrip(band.until ?? D.end) - inStrip(band.from), 1.5), STRIP - 12);
  }
  pen.globalAlpha = 1;
  pen.fillStyle = colors.work;
  const most = crowd.reduce((a, b) => Math.max(a, b), 1);
  crowd.forEach((n, i) => {
    const height = n && Math.max(1, (n / most) * (STRIP - 16));
    pen.fillRect(LEFT + i * COLUMN, STRIP - height, COLUMN - 0.5, height);
  });
  drawFlags(pen, inStrip, 1);
  const [from, until] = [inStrip(view.from), inStrip(view.until)];
  pen.fillStyle = colors.paper;
  pen.globalAlpha = 0.65;
  pen.fillRect(LEFT, 12, from - LEFT, STRIP - 12);
  pen.fillRect(until, 12, right() - until, STRIP - 12);
  pen.globalAlpha = 1;
  pen.strokeStyle = colors.ink;
  pen.lineWidth = 1.5;
  pen.strokeRect(from, 12.5, Math.max(until - from, 2), STRIP - 13.5);
  pen.fillStyle = colors.faint;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  pen.font = "11px system-ui, sans-serif";
  pen.fillText("whole run", LEFT - 8, STRIP / 2 + 6, LEFT - 12);
}

strip.addEventListener("pointerdown", (event) => {
  const at = stripTime(event.offsetX);
  const moves = view.until - view.from < D.end && at >= view.from && at <= view.until;
  brush = { x: event.offsetX, view: { ...view }, moves };
  strip.setPointerCapture(event.pointerId);
});
strip.addEventListener("pointermove", (event) => {
  if (!brush) return;
  const span = brush.view.until - brush.view.from;
  if (brush.moves) {
    const from = Math.min(Math.max(brush.view.from + stripTime(event.offsetX) - stripTime(brush.x), 0), D.end - span);
    show(from, from + span);
  } else if (Math.abs(event.offsetX - brush.x) > 4) {
    const ends = [stripTime(brush.x), stripTime(event.offsetX)].sort((a, b) => a - b);
    show(Math.max(ends[0], 0), Math.min(ends[1], D.end));
  }
});
strip.addEventListener("pointerup", (event) => {
  const still = brush && Math.abs(event.offsetX - brush.x) <= 4;
  const moves = brush?.moves;
  brush = null;
  if (!still) return;
  const flag = event.offsetY <= 12 ? flagAt(event.offsetX, inStrip) : null;
  if (flag !== null) return choose(flag);
  if (moves) return;
  const span = Math.min(view.until - view.from, D.end / 12), at = stripTime(event.offsetX);
  show(at - span / 2, at + span / 2);
});
strip.addEventListener("pointercancel", () => (brush = null));
