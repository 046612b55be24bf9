//! The nemesis: carries out the fault schedule, one window after the other, and says what it saw.

use super::victims::{peers, victims};
use crate::cluster::{Cluster, Directions};
use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};
use zooquake_checkers::plan::{Cut, Window};

/// How long a server may take from its start to serving.
const RESTART_PATIENCE: Duration = Duration::from_secs(20);

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
    Killing(String),
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
        let fired = self.triggered(window).await?;
        let victims = victims(&*self.cluster, window, &fired).await?;
        let target = victims.join(",");
        // On disk before it happens, so that a crash of ours can be healed from the record.
        self.record(window, json!({ "phase": "begin", "target": target })).await;
        let struck = self.strike(window, &victims).await;
        let on = match &struck {
            Ok(detail) => json!({ "phase": "on", "target": target, "verified": true, "detail": detail }),
            Err(error) => {
                json!({ "phase": "on", "target": target, "verified": false, "detail": format!("{error:#}") })
            }
        };
        self.record(window, on).await;
        self.last(window).await;
        self.record(window, json!({ "phase": "heal", "target": target })).await;
        let healed = self.heal(window, &victims).await;
        let (verified, detail) = match healed {
            Ok(detail) => (true, detail),
            Err(error) => (false, format!("{error:#}")),
        };
        self.record(
            window,
            json!({ "phase": "off", "target": target, "verified": verified, "detail": detail }),
        )
        .await;
        Ok(())
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

    async fn strike(&self, window: &Window, victims: &[String]) -> Result<String> {
        let details = try_join_all(victims.iter().map(|victim| self.strike_one(window, victim, victims))).await?;
        Ok(details.join("; "))
    }

    async fn strike_one(&self, window: &Window, victim: &str, victims: &[String]) -> Result<String> {
        match window.cut {
            Some(cut) => {
                let directions = Directions {
                    inbound: cut != Cut::Mute,
                    outbound: cut != Cut::Deaf,
                };
                self.cluster
                    .cut(victim, &peers(&*self.cluster, victim, victims, cut), directions)
                    .await
            }
            None if window.fault == "pause" => self.cluster.pause(victim).await,
            None => {
                let _ = self.ask.send(Ask::Killing(victim.to_string()));
                self.cluster.kill(victim).await
            }
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

    async fn heal(&self, window: &Window, victims: &[String]) -> Result<String> {
        let details = try_join_all(victims.iter().map(|victim| self.heal_one(window, victim, victims))).await?;
        Ok(details.join("; "))
    }

    async fn heal_one(&self, window: &Window, victim: &str, victims: &[String]) -> Result<String> {
        match window.cut {
            Some(cut) => {
                self.cluster
                    .heal(victim, &peers(&*self.cluster, victim, victims, cut))
                    .await
            }
            None if window.fault == "pause" => self.cluster.resume(victim).await,
            None if victim.starts_with('n') => {
                self.cluster.restart_server(victim).await?;
                self.serves_again(victim).await
            }
            None => {
                let (greeted, hello) = oneshot::channel();
                self.ask
                    .send(Ask::Restart {
                        client: victim.to_string(),
                        greeted,
                    })
                    .context("the run has ended")?;
                hello.await.context("its process did not say hello")?;
                Ok("started again, and it said hello".to_string())
            }
        }
    }

    /// Waits until a server that was started again serves.
    async fn serves_again(&self, server: &str) -> Result<String> {
        let begun = Instant::now();
        loop {
            match self.cluster.server_state(server).await {
                Ok(state) => return Ok(format!("started again, and it serves as {}", state.mode)),
                Err(error) if begun.elapsed() > RESTART_PATIENCE => {
                    return Err(error.context(format!("not serving {} s after its start", RESTART_PATIENCE.as_secs())));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }
}
