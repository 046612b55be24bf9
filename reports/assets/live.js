// The run goes on: when there is news of it, the page is loaded anew, with the same part of the timeline in view, unless the
// reader points at the timeline or holds something.
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
