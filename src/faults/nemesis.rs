//! The nemesis: carries out the fault schedule, one window after the other, and says what it saw.

use super::Fault;
use super::scene::{Missed, Scene, Seen};
use super::victims::victims;
use crate::cluster::Cluster;
use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use zooquake_checkers::plan::Window;

/// How long after a healing that failed it is tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// What the interpreter knew when a trigger fired.
#[derive(Debug, Clone, Default)]
pub struct Fired {
    /// The client whose state fired it.
    pub client: Option<String>,
    /// The client that held.
    pub holder: Option<String>,
}

/// What the nemesis asks of the interpreter, which alone writes the history and knows the clients' states.
#[derive(Debug)]
pub enum Ask {
    /// Write an event and say when it is on disk.
    Record {
        /// The fault.
        fault: String,
        /// The event's value.
        value: Value,
        /// Answered when the event is written.
        done: oneshot::Sender<()>,
    },
    /// Answer when the window's trigger fires.
    Arm {
        /// The window.
        window: Box<Window>,
        /// Answered then.
        fired: oneshot::Sender<Fired>,
    },
    /// A client's process is about to be killed on purpose.
    Killing {
        /// Its name.
        client: String,
        /// Answered when the interpreter expects its end.
        expected: oneshot::Sender<()>,
    },
    /// A killed client is to be started again.
    Restart {
        /// Its name.
        client: String,
        /// Answered when its process has said hello.
        greeted: oneshot::Sender<()>,
    },
    /// Nothing more will come.
    Done,
}

/// Carries out one plan's windows.
#[derive(Debug)]
pub struct Nemesis<C> {
    /// The cluster.
    pub cluster: Arc<C>,
    /// The interpreter.
    pub ask: mpsc::UnboundedSender<Ask>,
    /// Becomes true when the operations are over: the current window is healed at once, no other is begun.
    pub over: watch::Receiver<bool>,
}

impl<C: Cluster> Nemesis<C> {
    /// Runs through the windows.
    pub async fn run(mut self, windows: Vec<Window>) {
        for window in windows {
            if *self.over.borrow() {
                break;
            }
            if let Err(error) = self.window(&window).await {
                self.record(&window, json!({ "phase": "skipped", "detail": format!("{error:#}") }))
                    .await;
            }
        }
        // The interpreter has ended if nobody listens.
        let _ = self.ask.send(Ask::Done);
    }

    async fn record(&self, window: &Window, mut value: Value) {
        value["window"] = json!(window.id);
        let (done, written) = oneshot::channel();
        if self
            .ask
            .send(Ask::Record {
                fault: window.fault.clone(),
                value,
                done,
            })
            .is_ok()
        {
            // An interpreter that ends meanwhile needs no record any more.
            let _ = written.await;
        }
    }

    async fn window(&mut self, window: &Window) -> Result<()> {
        let fault = super::find(&window.fault).with_context(|| format!("there is no fault `{}`", window.fault))?;
        let fired = self.triggered(window).await?;
        let victims = victims(&*self.cluster, window, &fired).await?;
        let target = victims.join(",");
        // On disk before it happens, so that a crash of ours can be healed from the record.
        self.record(window, json!({ "phase": "begin", "target": target })).await;
        let scene = Scene {
            cluster: &*self.cluster,
            ask: &self.ask,
            over: &self.over,
            window,
            victims: &victims,
        };
        let mut on = json!({ "phase": "on", "target": target, "verified": true });
        match try_join_all(victims.iter().map(|victim| (fault.strike)(&scene, victim))).await {
            Ok(seen) => {
                on["detail"] = json!(Seen::sentence(&seen));
                if let Some(evidence) = seen.into_iter().find_map(|seen| seen.evidence) {
                    on["evidence"] = evidence;
                }
            }
            Err(error) if error.is::<Missed>() => return Err(error),
            Err(error) => {
                on["verified"] = json!(false);
                on["detail"] = json!(format!("{error:#}"));
            }
        }
        self.record(window, on).await;
        self.last(window).await;
        self.record(window, json!({ "phase": "heal", "target": target })).await;
        self.heal(fault, &scene, &target).await;
        Ok(())
    }

    async fn heal(&self, fault: &Fault, scene: &Scene<'_>, target: &str) {
        let heal = || try_join_all(scene.victims.iter().map(|victim| (fault.heal)(scene, victim)));
        let tell = |verified, detail| {
            let off = json!({ "phase": "off", "target": target, "verified": verified, "detail": detail });
            self.record(scene.window, off)
        };
        until_healed(&self.over, heal, tell).await;
    }

    async fn triggered(&mut self, window: &Window) -> Result<Fired> {
        let (sender, receiver) = oneshot::channel();
        self.ask
            .send(Ask::Arm {
                window: Box::new(window.clone()),
                fired: sender,
            })
            .context("the run has ended")?;
        // The interpreter keeps the clock, and lets go of a trigger that has waited too long.
        tokio::select! {
            fired = receiver => fired.context("its trigger did not fire in time"),
            _ = self.over.wait_for(|over| *over) => anyhow::bail!("the operations were over before its trigger fired"),
        }
    }

    /// Lets the fault last its time, or until the operations are over.
    async fn last(&self, window: &Window) {
        let mut over = self.over.clone();
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(window.duration_ms)) => {}
            _ = over.wait_for(|over| *over) => {}
        }
    }
}

/// Heals until that is verified, so that nothing else strikes before, or until the run waits for it no longer, which closes
/// `over`. Tells each outcome that differs from the one before.
async fn until_healed<H, T>(over: &watch::Receiver<bool>, heal: impl Fn() -> H, tell: impl Fn(bool, String) -> T)
where
    H: Future<Output = Result<Vec<Seen>>>,
    T: Future<Output = ()>,
{
    let mut told = None;
    loop {
        let outcome = match heal().await {
            Ok(seen) => (true, Seen::sentence(&seen)),
            Err(error) => (false, format!("{error:#}")),
        };
        if told.as_ref() != Some(&outcome) {
            tell(outcome.0, outcome.1.clone()).await;
        }
        if outcome.0 || over.has_changed().is_err() {
            return;
        }
        told = Some(outcome);
        tokio::time::sleep(AGAIN).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;
    use std::cell::{Cell, RefCell};

    /// What is told of a healing that succeeds at the given try, or never; the run gives up after three.
    fn told(succeeds_at: Option<usize>) -> Vec<(bool, String)> {
        let (sender, over) = watch::channel(false);
        let (tries, sender, told) = (Cell::new(0), Cell::new(Some(sender)), RefCell::new(Vec::new()));
        let heal = async || {
            tries.set(tries.get() + 1);
            if tries.get() == 3 {
                drop(sender.take());
            }
            match succeeds_at {
                Some(at) if tries.get() >= at => Ok(vec![Seen::from("thawed".to_string())]),
                _ => bail!("still frozen"),
            }
        };
        let tell = async |verified, detail| told.borrow_mut().push((verified, detail));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(until_healed(&over, heal, tell));
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
