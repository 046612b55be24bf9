//! The nemesis: carries out its schedule, one step after the other, or its windows, of which several may be on at
//! once, and records what it observed.

use super::Fault;
use super::overlap::Reach;
use super::strike::{MissedStrike, Strike, StrikeEffect, victims};
use anyhow::{Context, Result, bail};
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use zooquake_backend::{Clock, Cluster};
use zooquake_engine::{HistoryEntry, NemesisAnswer, NemesisReport, TriggerFiring};
use zooquake_history::operation::nemesis::{WindowEvent, WindowPhase};
use zooquake_history::plan::{Plan, Scene, Target, Window};
use zooquake_history::{Node, node};

/// How long after a healing that failed it is tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// A report to the engine, and the way back for the answer; dropped, it refuses.
pub type NemesisMessage = (NemesisReport, oneshot::Sender<NemesisAnswer>);

/// The nemesis's way to the engine.
#[derive(Debug, Clone)]
pub struct EngineLink {
    reports: mpsc::UnboundedSender<NemesisMessage>,
}

impl EngineLink {
    /// The way on which reports come out here.
    pub fn new(reports: mpsc::UnboundedSender<NemesisMessage>) -> Self {
        Self { reports }
    }

    /// Reports, and waits for the answer; `None` if what was asked is refused.
    ///
    /// # Errors
    /// If the run has ended.
    pub async fn report(&self, report: NemesisReport) -> Result<Option<NemesisAnswer>> {
        let (answer, answered) = oneshot::channel();
        self.reports.send((report, answer)).context("the run has ended")?;
        Ok(answered.await.ok())
    }
}

/// A window, and the fault that strikes in it; `None` if there is none of its name.
pub type ScheduledWindow = (Window, Option<&'static Fault>);

/// What is done to one ensemble.
#[derive(Clone)]
pub enum NemesisSchedule {
    /// It is struck in windows, and healed, while clients work.
    Windows(Vec<ScheduledWindow>),
    /// It is brought from its first start into the state of a scene, without clients.
    Scene(Scene),
}

impl NemesisSchedule {
    /// What a plan does to its ensembles, one after the other; at least one. The faults are those of its windows.
    pub fn from_plan(plan: &Plan, faults: &[Option<&'static Fault>]) -> Vec<Self> {
        match plan.scenes.is_empty() {
            true => vec![Self::Windows(
                plan.windows.iter().cloned().zip(faults.iter().copied()).collect(),
            )],
            false => plan.scenes.iter().cloned().map(Self::Scene).collect(),
        }
    }
}

/// Carries out a schedule.
pub struct Nemesis {
    pub cluster: Arc<dyn Cluster>,
    pub clock: Arc<dyn Clock>,
    /// The engine.
    pub link: EngineLink,
    /// Becomes true when the operations are over: the current window is healed at once, no other is begun, and a scene
    /// is broken off.
    pub over: watch::Receiver<bool>,
}

impl Nemesis {
    /// Runs through the schedule.
    pub async fn run(self, schedule: NemesisSchedule) {
        match schedule {
            NemesisSchedule::Windows(windows) => self.windows(&windows).await,
            NemesisSchedule::Scene(scene) => self.scene(&scene).await,
        }
        // The receiver is gone once the run has ended.
        let _ = self.link.report(NemesisReport::Done).await;
    }

    async fn windows(&self, windows: &[ScheduledWindow]) {
        let on = WindowsOn::default();
        let (beside, others): (Vec<_>, Vec<_>) = windows.iter().partition(|(window, _)| window.beside);
        let others = async {
            for window in others {
                self.window(window, &on).await;
            }
        };
        join(
            others,
            join_all(beside.into_iter().map(|window| self.window(window, &on))),
        )
        .await;
    }

    /// Carries one window out, unless the operations are over, and records why it did not strike.
    async fn window(&self, (window, fault): &ScheduledWindow, on: &WindowsOn) {
        if *self.over.borrow() {
            return;
        }
        if let Err(error) = self.carry_out(window, *fault, on).await {
            let skipped = WindowEvent {
                detail: Some(format!("{error:#}")),
                ..event(window, WindowPhase::Skipped, None)
            };
            self.tell(window, skipped).await;
        }
    }

    async fn tell(&self, window: &Window, event: WindowEvent) {
        self.record("nemesis", &window.fault, json!(event)).await;
    }

    pub(super) async fn record(&self, process: &str, f: &str, value: Value) {
        // A run that ends meanwhile needs no record any more.
        let _ = self
            .link
            .report(NemesisReport::Record(HistoryEntry::named(process, f, value)))
            .await;
    }

    async fn carry_out(&self, window: &Window, fault: Option<&Fault>, others: &WindowsOn) -> Result<()> {
        let fault = fault.with_context(|| format!("there is no fault `{}`", window.fault))?;
        let fired = self.triggered(window).await?;
        let victims = victims(&*self.cluster, window, &fired).await?;
        let _on = others.enter(window, &victims)?;
        let target = node::join(&victims, ",");
        // On disk before it happens, so that a crash of ours can be healed from the record.
        self.tell(window, event(window, WindowPhase::Begin, Some(&target)))
            .await;
        let strike = Strike {
            cluster: &*self.cluster,
            clock: &*self.clock,
            link: &self.link,
            over: &self.over,
            window,
            victims: &victims,
        };
        let mut on = event(window, WindowPhase::On, Some(&target));
        // All are waited for: what a strike has asked of an engine is carried out, whatever became of the others.
        let struck = join_all(victims.iter().map(|victim| (fault.strike)(&strike, victim))).await;
        match struck.into_iter().collect::<Result<Vec<StrikeEffect>>>() {
            Ok(seen) => {
                (on.verified, on.detail) = (Some(true), Some(sentence(window, &seen)));
                on.evidence = seen.into_iter().find_map(|seen| seen.evidence);
            }
            Err(error) if error.is::<MissedStrike>() => return Err(error),
            Err(error) => {
                (on.verified, on.detail) = (Some(false), Some(format!("{error:#}")));
            }
        }
        self.tell(window, on).await;
        self.last(window).await;
        self.tell(window, event(window, WindowPhase::Heal, Some(&target))).await;
        self.heal(fault, &strike, &target).await;
        Ok(())
    }

    async fn heal(&self, fault: &Fault, strike: &Strike<'_>, target: &str) {
        // A client that was started again must not be so twice: what was seen healed is left alone.
        let healed: Vec<OnceLock<StrikeEffect>> = vec![OnceLock::new(); strike.victims.len()];
        let heal = async || {
            let each = strike.victims.iter().zip(&healed).map(|(victim, healed)| async move {
                match healed.get() {
                    Some(_) => Ok(()),
                    None => (fault.heal)(strike, victim).await.map(|seen| drop(healed.set(seen))),
                }
            });
            join_all(each).await.into_iter().collect::<Result<()>>()?;
            Ok(healed.iter().filter_map(OnceLock::get).cloned().collect())
        };
        let tell = |HealOutcome {
                        verified,
                        detail,
                        evidence,
                    }| {
            let off = WindowEvent {
                verified: Some(verified),
                detail: Some(detail),
                evidence,
                ..event(strike.window, WindowPhase::Off, Some(target))
            };
            self.tell(strike.window, off)
        };
        until_healed((&*self.clock, &self.over), heal, tell).await;
    }

    async fn triggered(&self, window: &Window) -> Result<TriggerFiring> {
        let mut over = self.over.clone();
        let arming = self.link.report(NemesisReport::Arm(Box::new(window.clone())));
        // The engine lets go of a trigger that has waited too long.
        tokio::select! {
            biased;
            _ = over.wait_for(|over| *over) => bail!("the operations were over before its trigger fired"),
            answer = arming => match answer? {
                Some(NemesisAnswer::Fired(fired)) => Ok(fired),
                _ => bail!("its trigger did not fire in time"),
            },
        }
    }

    /// Lets the fault last its time, or until the operations are over.
    async fn last(&self, window: &Window) {
        let mut over = self.over.clone();
        tokio::select! {
            biased;
            () = self.clock.sleep(Duration::from_millis(window.duration_ms)) => {}
            _ = over.wait_for(|over| *over) => {}
        }
    }
}

/// The windows that are on, each with its victims.
#[derive(Default)]
struct WindowsOn(Mutex<Vec<(Window, Vec<Node>)>>);

impl WindowsOn {
    fn lock(&self) -> MutexGuard<'_, Vec<(Window, Vec<Node>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a window be on until what is returned is dropped.
    ///
    /// # Errors
    /// If another one is on beside which it cannot be: a sentence.
    fn enter(&self, window: &Window, victims: &[Node]) -> Result<EnteredWindow<'_>> {
        let mut on = self.lock();
        let own = Reach::of_victims(window, victims);
        for (other, struck) in &*on {
            if let Some(why) = own.excludes(&Reach::of_victims(other, struck)) {
                bail!("window {} ({}) was on, and {why}", other.id, other.fault);
            }
        }
        on.push((window.clone(), victims.to_vec()));
        Ok(EnteredWindow {
            windows: self,
            id: window.id,
        })
    }
}

/// A window that is on until this is dropped.
struct EnteredWindow<'a> {
    windows: &'a WindowsOn,
    id: usize,
}

impl Drop for EnteredWindow<'_> {
    fn drop(&mut self) {
        self.windows.lock().retain(|(window, _)| window.id != self.id);
    }
}

/// What was seen of a strike, in words; of a whole host with its name.
fn sentence(window: &Window, seen: &[StrikeEffect]) -> String {
    let sentence = StrikeEffect::sentence(seen);
    match &window.target {
        Target::Host(host) => format!("all on the host {host}: {sentence}"),
        _ => sentence,
    }
}

/// An event of a window, of which nothing was seen yet.
fn event(window: &Window, phase: WindowPhase, target: Option<&str>) -> WindowEvent {
    WindowEvent {
        window: window.id,
        phase,
        target: target.map(str::to_string),
        verified: None,
        detail: None,
        evidence: None,
        hit: None,
    }
}

/// How a try to heal ended.
#[derive(Debug, Clone, PartialEq)]
struct HealOutcome {
    /// Whether the healing was seen.
    verified: bool,
    /// What was seen, or why nothing was.
    detail: String,
    /// The same as JSON, where there is more than the sentence.
    evidence: Option<Value>,
}

/// Heals until that is verified, so that nothing else strikes before, or until the run waits for it no longer, which
/// closes `over`. Calls `tell` with each outcome that differs from the one before.
async fn until_healed<H, T>(
    (clock, over): (&dyn Clock, &watch::Receiver<bool>),
    heal: impl Fn() -> H,
    tell: impl Fn(HealOutcome) -> T,
) where
    H: Future<Output = Result<Vec<StrikeEffect>>>,
    T: Future<Output = ()>,
{
    let mut told = None;
    loop {
        let outcome = match heal().await {
            Ok(seen) => HealOutcome {
                verified: true,
                detail: StrikeEffect::sentence(&seen),
                evidence: seen.into_iter().find_map(|seen| seen.evidence),
            },
            Err(error) => HealOutcome {
                verified: false,
                detail: format!("{error:#}"),
                evidence: None,
            },
        };
        if told.as_ref() != Some(&outcome) {
            tell(outcome.clone()).await;
        }
        if outcome.verified || over.has_changed().is_err() {
            return;
        }
        told = Some(outcome);
        clock.sleep(AGAIN).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use zooquake_backend::RealClock;

    /// The reports on a healing that succeeds at the given try, or never; the run gives up after three.
    fn told(succeeds_at: Option<usize>) -> Vec<(bool, String)> {
        let (sender, over) = watch::channel(false);
        let (tries, sender, told) = (Cell::new(0), Cell::new(Some(sender)), RefCell::new(Vec::new()));
        let heal = async || {
            tries.set(tries.get() + 1);
            if tries.get() == 3 {
                drop(sender.take());
            }
            match succeeds_at {
                Some(at) if tries.get() >= at => Ok(vec![StrikeEffect::from("thawed".to_string())]),
                _ => bail!("still frozen"),
            }
        };
        let tell = async |outcome: HealOutcome| told.borrow_mut().push((outcome.verified, outcome.detail));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(until_healed((&RealClock, &over), heal, tell));
        told.into_inner()
    }

    #[test]
    fn what_is_not_seen_to_be_healed_is_healed_again_until_the_run_gives_up() {
        let (healed, failed) = ((true, "thawed".to_string()), (false, "still frozen".to_string()));
        assert_eq!(told(None), vec![failed.clone()]);
        assert_eq!(told(Some(2)), vec![failed, healed.clone()]);
        assert_eq!(told(Some(1)), vec![healed]);
    }
}
