// The run goes on: when there is news of it, the page is loaded anew, with the same part of the timeline in view and the same
// details open, unless the reader points at the timeline or holds something.
{ // All scripts of the page share its outermost scope.
  const details = () => {
    const all = [...document.querySelectorAll("details:not(#filters details)")];
    return all.map((one) => [one.querySelector("summary").textContent, one]);
  };
  const known = new Map(JSON.parse(sessionStorage.getItem("details") ?? "[]"));
  for (const [summary, one] of details()) one.open = known.get(summary) ?? one.open;
  addEventListener("pagehide", () => {
    sessionStorage.setItem("details", JSON.stringify(details().map(([summary, one]) => [summary, one.open])));
  });
}

const live = document.getElementById("live");
const news = new EventSource(`events?of=${encodeURIComponent(live.dataset.of)}`);
let newer = false;
const busy = () => document.hidden || document.querySelector("#canvas:hover, #navigator:hover, :active") !== null;
const renew = () => newer && !busy() && location.reload();
news.addEventListener("newer", () => {
  newer = true;
  renew();
});
news.addEventListener("error", () => {
  news.close();
  newer = false;
  live.textContent = "zooquake has ended: this page grows no more, and the run's folder has its report.";
});
document.addEventListener("visibilitychange", renew);
for (const event of ["pointermove", "pointerup"]) addEventListener(event, () => setTimeout(renew));
