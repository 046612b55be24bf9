// Drawing: nothing here costs a DOM node, and what falls on one pixel is drawn once.
const pen = canvas.getContext("2d");
let colors = {};

function readColors() {
  const style = getComputedStyle(document.documentElement);
  const names = "ink faint line panel paper hold holdline shared sharedline wait work take leave other ok bad unknown violation lead follow silent";
  colors = {};
  for (const name of [...names.split(" "), ...D.bands.map((band) => band.class)]) colors[name] = style.getPropertyValue(`--${name}`).trim();
}

function draw() {
  pen.clearRect(0, 0, width, stageHeight());
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  drawAxis();
  pen.save();
  pen.beginPath();
  pen.rect(LEFT, 0, right() - LEFT, stageHeight());
  pen.clip();
  drawBands();
  visibleLanes.forEach((lane, row) => drawLane(lane, TOP + row * ROW));
  drawServers();
  drawSessions();
  if (chosen !== null) drawSteps(D.anomalies[chosen].steps);
  else drawFlags(pen, toX, TOP - 7);
  pen.restore();
  drawNames();
  drawNavigator();
  tellRange();
  tellLink();
}

// What is shown, in words: for the eye, and for who cannot see the picture.
function tellRange() {
  const inView = (i) => ops.end[i] >= view.from && ops.start[i] <= view.until;
  const seen = visibleLanes.flatMap((lane) => ops.shownByLane[lane].filter(inView));
  const control = seen.filter((i) => opClass(i)[2] === CONTROL).length;
  const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
  const text = `${moment(view.from)} – ${moment(view.until)}: ${count(seen.length - control, "operation")}` +
    (control ? ` and ${count(control, "control request")}` : "");
  const range = document.getElementById("range");
  if (range.textContent !== text) range.textContent = text;
}

function drawAxis() {
  const seconds = (view.until - view.from) / 1e6;
  const raw = seconds / Math.max(2, Math.floor((right() - LEFT) / 110));
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw);
  const digits = Math.max(0, -Math.floor(Math.log10(step * 1.000001)));
  pen.textAlign = "center";
  for (let n = Math.ceil(view.from / 1e6 / step); n * step * 1e6 <= view.until; n++) {
    const x = toX(n * step * 1e6);
    pen.fillStyle = colors.line;
    pen.fillRect(x, TOP - 6, 1, stageHeight() - TOP - BOTTOM + 10);
    pen.fillStyle = colors.faint;
    pen.fillText(`${(n * step).toFixed(digits)} s`, x, stageHeight() - BOTTOM / 2 + 2);
  }
}

function drawBands() {
  const rows = [-1e9, -1e9];
  pen.textAlign = "left";
  for (const band of D.bands) {
    const until = band.until ?? D.end;
    if (until < view.from || band.from > view.until) continue;
    const x = toX(band.from), w = Math.max(toX(until) - x, 1.5);
    const sure = Math.min(Math.max(toX(band.verified ?? until), x), x + w); // paler until it was verified
    const high = stageHeight() - TOP - BOTTOM + 6;
    pen.fillStyle = colors[band.class];
    pen.globalAlpha = 0.07;
    pen.fillRect(x, TOP - 6, sure - x, high);
    pen.globalAlpha = 0.16;
    pen.fillRect(sure, TOP - 6, x + w - sure, high);
    pen.globalAlpha = 0.35;
    for (const lane of band.lanes) {
      const row = visibleLanes.indexOf(lane);
      if (row >= 0) pen.fillRect(x, TOP + row * ROW + 2, w, ROW - 4);
    }
    pen.fillRect(x, TOP - 8, sure - x, 3);
    pen.globalAlpha = 1;
    pen.fillRect(sure, TOP - 8, x + w - sure, 3);
    if (band.verified !== null && sure > x + 1) pen.fillRect(sure, TOP - 11, 1, 6);
    const left = Math.max(x, LEFT);
    const row = rows.findIndex((end) => end <= left);
    if (row < 0) continue;
    pen.fillStyle = colors.ink;
    pen.fillText(band.label, left + 1, 8 + row * 14);
    rows[row] = left + pen.measureText(band.label).width + 8;
  }
}

// Calls `bar` for each entry in view, and once for entries of the same key that are too close to distinguish, with
// how many they are; those of a higher rank come later, and so lie on top.
function sweep(entries, column, key, bar, rank = () => 0) {
  const open = new Map(), runs = [];
  const scale = (right() - LEFT) / (view.until - view.from);
  const { start, end } = column;
  for (const i of entries) {
    if (start[i] > view.until) break;
    if (end[i] < view.from) continue;
    const x1 = Math.max(LEFT + (start[i] - view.from) * scale, LEFT - 5);
    const x2 = Math.min(Math.max(LEFT + (end[i] - view.from) * scale, x1 + 1), right() + 5);
    const k = key(i), run = open.get(k);
    if (run && x1 <= run.x2 + 0.5) {
      run.x2 = Math.max(run.x2, x2);
      run.n++;
      continue;
    }
    const next = { i, x1, x2, n: 1 };
    open.set(k, next);
    runs.push(next);
  }
  runs.sort((a, b) => rank(a.i) - rank(b.i));
  for (const { i, x1, x2, n } of runs) bar(i, x1, x2, n);
}

const RANK = [1, 2, 0, 0, 3, 2]; // by role: work must not be hidden by what is shorter

function drawLane(lane, y) {
  pen.textAlign = "left";
  // Only pages with shared holds have the column.
  const shared = (i) => D.holds.shared[i] === 1;
  sweep(holds.byLane[lane], holds, shared, (i, x1, x2, n) => {
    pen.fillStyle = shared(i) ? colors.shared : colors.hold;
    pen.fillRect(x1, y + 13, x2 - x1, ROW - 16);
    if (n === 1 && x2 - x1 > 60) {
      pen.fillStyle = shared(i) ? colors.sharedline : colors.holdline;
      pen.fillText(`${D.holds.verb} ${grants[i]}`, x1 + 4, y + 19, x2 - x1 - 8);
    }
  });
  const paint = [colors.wait, colors.work, colors.leave, colors.other, colors.leave, colors.take];
  sweep(ops.shownByLane[lane], ops, (i) => D.ops.class[i], (i, x1, x2) => {
    const role = opClass(i)[2];
    pen.fillStyle = paint[role];
    if (role === CONTROL) pen.fillRect(x1, y + ROW - 4, x2 - x1, 2);
    else pen.fillRect(x1, y + 25, x2 - x1, 10);
  }, (i) => RANK[opClass(i)[2]]);
  // In a second pass, so that no later bar covers them.
  const ends = ops.endsByLane[lane];
  const inView = (i) => ops.end[i] >= view.from && ops.end[i] <= view.until;
  const room = ends.filter(inView).length * 14 < right() - LEFT;
  sweep(ends, endsOnly, (i) => D.ops.class[i], (i) => drawEnd(i, y + 30, room));
}

const endsOnly = { start: ops.end, end: ops.end };

// How an operation ended: filled discs for the meaning of its answer, a cross for fail, a ring for info;
// ticks only where there is room for all of the row.
function drawEnd(i, y, room) {
  const [, , , outcome, mark] = opClass(i);
  const x = toX(ops.end[i]);
  if (mark !== NOTHING && (mark === TOOK ? room : view.until - view.from < 2e7)) {
    pen.fillStyle = [colors.bad, colors.ok, "", colors.ink][mark];
    pen.beginPath();
    pen.arc(x, y, 5, 0, 7);
    pen.fill();
    pen.strokeStyle = colors.paper;
    pen.lineWidth = 1.5;
    const signs = { [REFUSED]: `M${x - 2} ${y - 2}l4 4m0-4l-4 4`, [TOOK]: `M${x - 2.4} ${y}l2 2l3-4`, [NO]: `M${x - 2.5} ${y}h5` };
    pen.stroke(new Path2D(signs[mark]));
  } else if (outcome === 1) {
    pen.strokeStyle = colors.bad;
    pen.lineWidth = 1.5;
    pen.stroke(new Path2D(`M${x - 3} ${y - 3}l6 6m0-6l-6 6`));
  } else if (outcome === 2) {
    pen.strokeStyle = colors.unknown;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.arc(x, y, 3.5, 0, 7);
    pen.stroke();
  }
}

function drawServers() {
  D.servers.forEach(([, spans], row) => {
    const y = serversTop() + row * SERVER;
    for (const [mode, epoch, from, until] of spans) {
      if (until < view.from || from > view.until) continue;
      const leads = mode === "leader" || mode === "standalone";
      pen.fillStyle = leads ? colors.lead : mode === "follower" || mode === "observer" ? colors.follow : colors.silent;
      const x = Math.max(toX(from), LEFT), w = Math.max(toX(until) - x, 1);
      pen.fillRect(x, y, w, leads ? SERVER - 2 : SERVER - 6);
      const words = `leads the ensemble, epoch ${epoch}`;
      if (leads && w > pen.measureText(words).width + 8) {
        pen.fillStyle = colors.paper;
        pen.fillText(words, x + 4, y + SERVER / 2 - 0.5);
      }
    }
  });
}

// Each client's sessions: paler where it was not connected, with a mark where it moved or was ended.
function drawSessions() {
  D.sessions.forEach(([, sessions], row) => {
    const y = sessionsTop() + row * SERVER;
    for (const [from, until, , away] of sessions) {
      if ((until ?? D.end) < view.from || from > view.until) continue;
      const x = toX(from), end = toX(until ?? D.end);
      pen.fillStyle = colors.other;
      pen.fillRect(x, y + 1, Math.max(end - x - 1, 1), SERVER - 6);
      pen.fillStyle = colors.silent;
      for (const [left, right] of away) pen.fillRect(toX(left), y + 1, Math.max(toX(right) - toX(left), 1), SERVER - 6);
    }
    for (const [, until, expired, , moves] of sessions) { // later bars must not cover them
      const end = toX(until ?? D.end);
      pen.fillStyle = colors.work;
      for (const at of moves) pen.fill(new Path2D(`M${toX(at)} ${y}l4 4.5l-4 4.5l-4-4.5z`));
      if (until === null) continue;
      pen.strokeStyle = expired ? colors.bad : colors.ink;
      pen.lineWidth = 1.5;
      pen.stroke(new Path2D(expired ? `M${end - 3} ${y + 1}l6 6m0-6l-6 6` : `M${end} ${y}v9`));
    }
  });
}

function drawNames() {
  pen.textAlign = "right";
  pen.fillStyle = colors.ink;
  visibleLanes.forEach((lane, row) => {
    pen.fillText(D.lanes[lane], LEFT - 8, TOP + row * ROW + 29, LEFT - 12);
    pen.fillStyle = colors.line;
    pen.fillRect(LEFT, TOP + (row + 1) * ROW - 1, right() - LEFT, 1);
    pen.fillStyle = colors.ink;
  });
  pen.fillStyle = colors.faint;
  D.servers.forEach(([name], row) => pen.fillText(name, LEFT - 8, serversTop() + row * SERVER + 5));
  D.sessions.forEach(([name], row) => pen.fillText(`${name} session`, LEFT - 8, sessionsTop() + row * SERVER + 5, LEFT - 10));
}
