// What part of the run is shown, and where on the canvas things are.
const canvas = document.getElementById("canvas");
const LEFT = 64, TOP = 40, ROW = 40, SERVER = 13, BOTTOM = 26, SHORTEST = 200;
const serversTop = () => TOP + visibleLanes.length * ROW + 6;
const sessionsTop = () => serversTop() + D.servers.length * SERVER + (D.sessions.length ? 4 : 0);
const stageHeight = () => sessionsTop() + D.sessions.length * SERVER + BOTTOM;

let view = { from: 0, until: D.end };
let visibleLanes = D.lanes.map((_, i) => i);
let chosen = null; // the anomaly whose steps are marked
let around = false; // whether what happened around these steps is shown as well
let width = 0;
let waiting = false;

const right = () => width - 8;
const toX = (t) => LEFT + ((t - view.from) / (view.until - view.from)) * (right() - LEFT);
const toTime = (x) => view.from + ((x - LEFT) / (right() - LEFT)) * (view.until - view.from);

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw();
  });
}

function show(from, until) {
  const span = Math.min(Math.max(until - from, SHORTEST), D.end);
  from = Math.min(Math.max(from + (until - from - span) / 2, 0), D.end - span);
  view = { from, until: from + span };
  redraw();
}

function zoom(factor, at = (view.from + view.until) / 2) {
  const span = Math.min(Math.max((view.until - view.from) * factor, SHORTEST), D.end);
  const share = (at - view.from) / (view.until - view.from);
  show(at - span * share, at - span * share + span);
}

function pan(share) {
  const by = (view.until - view.from) * share;
  const from = Math.min(Math.max(view.from + by, 0), D.end - (view.until - view.from));
  show(from, from + (view.until - view.from));
}

function resize() {
  width = canvas.parentElement.clientWidth;
  const scale = window.devicePixelRatio || 1;
  canvas.style.height = `${stageHeight()}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(stageHeight() * scale);
  canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
  resizeNavigator(scale);
  redraw();
}

const motions = {
  in: () => zoom(0.5),
  out: () => zoom(2),
  left: () => pan(-0.25),
  right: () => pan(0.25),
  all: () => choose(null),
  next: () => D.anomalies.length && choose(chosen === null ? 0 : (chosen + 1) % D.anomalies.length),
  previous: () => D.anomalies.length && choose((chosen || D.anomalies.length) - 1),
};
