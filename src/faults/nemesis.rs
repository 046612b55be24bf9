//! The nemesis: carries out the fault schedule, one window after the other, and says what it saw.

use super::Fault;
use super::scene::{Missed, Scene, Seen};
use super::victims::victims;
use crate::cluster::Cluster;
use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};
use zooquake_checkers::plan::Window;

/// How long a fault that is not healed is healed again and again after the operations are over: a little less than the
/// interpreter waits for it.
const PATIENCE: Duration = Duration::from_secs(50);

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

    /// Heals until that is verified, or until the operations have been over for [`PATIENCE`]: nothing else may strike before.
    /// Each outcome that differs from the last one is recorded.
    async fn heal(&self, fault: &Fault, scene: &Scene<'_>, target: &str) {
        let (mut told, mut over_since) = (None, None);
        loop {
            let healed = try_join_all(scene.victims.iter().map(|victim| (fault.heal)(scene, victim))).await;
            let outcome = match healed {
                Ok(seen) => (true, Seen::sentence(&seen)),
                Err(error) => (false, format!("{error:#}")),
            };
            let verified = outcome.0;
            if told.as_ref() != Some(&outcome) {
                let (_, detail) = &outcome;
                let off = json!({ "phase": "off", "target": target, "verified": verified, "detail": detail });
                self.record(scene.window, off).await;
                told = Some(outcome);
            }
            // A channel that is closed means that the run has ended.
            if *self.over.borrow() || self.over.has_changed().is_err() {
                over_since.get_or_insert_with(Instant::now);
            }
            if verified || over_since.is_some_and(|since: Instant| since.elapsed() >= PATIENCE) {
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
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
