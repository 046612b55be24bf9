// The data of the run, unpacked into columns.
const D = JSON.parse(document.getElementById("data").textContent);
document.documentElement.classList.add("with-js");

const WAIT = 0, WORK = 1, LEAVE = 2, OTHER = 3, CONTROL = 4, TAKE = 5;
const REFUSED = 0, TOOK = 1, NOTHING = 2, NO = 3; // the meaning of the answer to an operation

function sums(deltas) {
  const out = new Float64Array(deltas.length);
  let sum = 0;
  for (let i = 0; i < deltas.length; i++) out[i] = sum += deltas[i];
  return out;
}

// Columns of one entry per operation, and the entries of each client.
const ops = { start: sums(D.ops.start), event: sums(D.ops.event), end: null, shown: null, byLane: [] };
ops.end = ops.start.map((s, i) => (D.ops.took[i] < 0 ? D.end : s + D.ops.took[i]));
ops.shown = new Uint8Array(ops.start.length).fill(1);
const opClass = (i) => D.ops.classes[D.ops.class[i]];

const holds = { start: sums(D.holds.start), end: null, byLane: [] };
holds.end = holds.start.map((s, i) => (D.holds.took[i] < 0 ? D.end : s + D.holds.took[i]));

for (let lane = 0; lane < D.lanes.length; lane++) {
  ops.byLane.push([]);
  holds.byLane.push([]);
}
for (let i = 0; i < ops.start.length; i++) ops.byLane[opClass(i)[0]].push(i);

// Whether the end of an operation gets a mark: it failed, is unknown, or its answer has a meaning.
const marked = (i) => {
  const [, , role, outcome, mark] = opClass(i);
  return role !== CONTROL && outcome !== 3 && (outcome > 0 || mark !== NOTHING);
};
function pickShown() {
  ops.shownByLane = ops.byLane.map((lane) => lane.filter((i) => ops.shown[i]));
  ops.endsByLane = ops.shownByLane.map((lane) => lane.filter(marked).sort((a, b) => ops.end[a] - ops.end[b]));
}
pickShown();
for (let i = 0; i < holds.start.length; i++) holds.byLane[D.holds.lane[i]].push(i);

// Texts from their forms: each `#` is a number, given as its difference to the last one in the same place.
function texts(forms, formOf, numbers, count) {
  const last = forms.map(() => []);
  let next = 0;
  return Array.from({ length: count }, (_, i) => {
    const before = last[formOf(i)];
    const number = (place) => (before[place] = (before[place] ?? 0) + numbers[next++]);
    return forms[formOf(i)].split("#").reduce((text, part, place) => text + number(place) + part);
  });
}
const details = texts(D.ops.forms, (i) => opClass(i)[5], D.ops.numbers, ops.start.length);
const grants = texts(D.holds.forms, (i) => D.holds.form[i], D.holds.numbers, holds.start.length);

const errorOf = new Map(D.ops.error.map(([op, error]) => [op, D.ops.errors[error]]));

function duration(us) {
  if (us < 1000) return `${us.toFixed(0)} µs`;
  if (us < 1e6) return `${(us / 1000).toPrecision(3)} ms`;
  return `${(us / 1e6).toFixed(us < 1e7 ? 2 : 1)} s`;
}
const moment = (us) => `${(Math.floor(us / 1000) / 1000).toFixed(3)} s`; // cut, as the checkers write it
