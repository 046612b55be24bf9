// What is shown, as a link: `#t=12.3-15.6` is a part of the run, in seconds, and `#a3` its third anomaly.
function follow() {
  const anomaly = /^#a(\d+)$/.exec(location.hash);
  const part = /^#t=([\d.]+)-([\d.]+)$/.exec(location.hash);
  if (anomaly && D.anomalies[anomaly[1] - 1]) choose(anomaly[1] - 1);
  else if (part) show(Math.round(part[1] * 1e6), Math.round(part[2] * 1e6));
}

// Renewed once the reader rests: browsers take only so many changes of an address in a while.
let resting = null;
function tellLink() {
  clearTimeout(resting);
  resting = setTimeout(() => {
    const whole = view.from === 0 && view.until === D.end;
    const part = `#t=${Math.floor(view.from) / 1e6}-${Math.floor(view.until) / 1e6}`;
    const ours = /^#(t=|a\d+$)/.test(location.hash);
    const link = chosen !== null ? `#a${chosen + 1}` : whole ? "" : part;
    if (link === location.hash || (!link && !ours)) return;
    history.replaceState(null, "", link || location.pathname + location.search);
  }, 250);
}
addEventListener("hashchange", follow);
