// Which clients, operations and outcomes are shown.
const off = { client: new Set(), operation: new Set(), outcome: new Set() };

// Of a chosen anomaly, only what proves it, unless what happened around it is asked for.
function applyFilters() {
  const only = chosen === null || around ? null : D.anomalies[chosen];
  const proof = new Set(only?.ops), involved = new Set(only?.steps.map(([, , lane]) => lane));
  involved.delete(null);
  visibleLanes = D.lanes.map((_, i) => i).filter((i) => (involved.size ? involved.has(i) : !off.client.has(i)));
  const hidden = D.ops.classes.map(([, name, , outcome]) => off.operation.has(name) || off.outcome.has(outcome));
  for (let i = 0; i < ops.shown.length; i++) ops.shown[i] = (only ? proof.has(i) : !hidden[D.ops.class[i]]) ? 1 : 0;
  pickShown();
  resize();
}

function group(title, names) {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.textContent = title;
  details.append(summary);
  const box = document.createElement("div");
  names.forEach((name, i) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "checkbox";
    input.checked = true;
    input.addEventListener("change", () => {
      off[title][input.checked ? "delete" : "add"](i);
      summary.textContent = off[title].size ? `${title} (${off[title].size} hidden)` : title;
      applyFilters();
    });
    label.append(input, ` ${name}`);
    box.append(label);
  });
  details.append(box);
  return details;
}

document.getElementById("filters").append(
  group("client", D.lanes),
  group("operation", D.ops.names),
  group("outcome", D.ops.outcomes),
);
if (D.ops.all > ops.start.length) {
  const note = document.createElement("p");
  note.className = "note";
  note.textContent = `The timeline shows ${ops.start.length} of ${D.ops.all} operations, evenly chosen.`;
  document.getElementById("timeline").prepend(note);
}
// A click elsewhere closes an open filter, as it does for a menu.
document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll("#filters details[open]")) {
    if (!open.contains(event.target)) open.open = false;
  }
});
