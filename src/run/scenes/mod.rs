//! Runs made of scenes: fresh ensembles without clients, brought into a given state step by step.

mod steps;
mod textbook;

use super::execute::{Order, Place, clear};
use super::folder::Folder;
use super::progress::Progress;
use super::recorder::Recorder;
use super::samples::Samples;
use crate::backend::BringUp;
use crate::engine::Entry;
use anyhow::{Context, Result};
use serde_json::json;
use zooquake_checkers::evidence::ServerSample;
use zooquake_checkers::plan::{Cluster, Plan, Scene, Workload};
use zooquake_history::operation::nemesis::{Phase, StepEvent};

/// A variant that is a run of scenes.
#[derive(Debug)]
pub struct Variant {
    /// What it is.
    pub workload: fn() -> Workload,
    /// Its plan from a seed and the shape asked for.
    pub plan: fn(u64, Cluster) -> Plan,
    /// The numbers of servers that it is played on.
    pub servers: usize,
    /// Observers, unless another number is asked for.
    pub observers: usize,
}

/// All of them.
pub const VARIANTS: &[Variant] = &[Variant {
    workload: textbook::workload,
    plan: textbook::plan,
    servers: 5,
    observers: 1,
}];

/// The variant of this name.
pub fn find(name: &str) -> Option<&'static Variant> {
    VARIANTS.iter().find(|variant| (variant.workload)().name() == name)
}

/// Plays all scenes of a plan, one after the other, and leaves their logs and what was seen in the folder.
pub(super) async fn play(order: Order, folder: &Folder, run: &str) -> Result<()> {
    let mut progress = Progress::new();
    progress.say(&format!("{} in {}", order.plan.workload.name(), folder.path.display()));
    let mut recorder = Recorder::create(&folder.file("history.jsonl"), order.backend.clock())?;
    recorder.read_clock()?;
    let confined = order.backend.confinement().await?;
    recorder.record(Entry::named("run", "confinement", confined))?;
    let mut samples = Vec::new();
    let mut interrupt = order.interrupt.clone();
    let scenes = order.plan.scenes.len();
    for (number, scene) in order.plan.scenes.iter().enumerate() {
        progress.say(&format!("scene {} of {scenes}: {}", number + 1, scene.name));
        let mut stage = Stage {
            recorder: &mut recorder,
            progress: &mut progress,
            scene,
        };
        // After an interrupt the evidence of the scenes that were played is kept.
        let keep = order.keep && number + 1 == scenes;
        let interrupted = tokio::select! {
            biased;
            seen = stage.play(&order, folder, run, keep) => { samples.extend(seen?); false }
            _ = interrupt.wait_for(|stop| *stop) => true,
        };
        if interrupted {
            recorder.record(Entry::named("run", "phase", json!("interrupted")))?;
            order.backend.clear(run).await?;
            break;
        }
    }
    folder.write_jsonl("servers.jsonl", &samples)?;
    recorder.record(Entry::named("run", "phase", json!("done")))?;
    Ok(())
}

/// One scene on its ensemble.
struct Stage<'a> {
    recorder: &'a mut Recorder,
    progress: &'a mut Progress,
    scene: &'a Scene,
}

impl Stage<'_> {
    /// Plays the scene, and clears its ensemble away; returns what the servers said of themselves meanwhile.
    async fn play(&mut self, order: &Order, folder: &Folder, run: &str, keep: bool) -> Result<Vec<ServerSample>> {
        let logs = folder.file("logs").join(&self.scene.name);
        std::fs::create_dir(&logs).with_context(|| format!("making the folder {}", logs.display()))?;
        let what = BringUp {
            run,
            plan: &order.plan,
            logs,
        };
        let place = Place {
            cluster: order.backend.bring_up(what).await?,
            clock: order.backend.clock(),
        };
        let samples = Samples::start(&place, self.recorder.begun());
        for number in 0..self.scene.steps.len() {
            if !self.step(&place, number).await? {
                break;
            }
        }
        let samples = samples.stop().await;
        clear(&*place.cluster, keep).await;
        Ok(samples)
    }

    /// Does one step; tells whether its effect was seen.
    async fn step(&mut self, place: &Place, number: usize) -> Result<bool> {
        let step = &self.scene.steps[number];
        let name = step.act.name();
        let mut event = StepEvent {
            scene: self.scene.name.clone(),
            step: number + 1,
            servers: step.servers.clone(),
            phase: Phase::Begin,
            verified: None,
            detail: None,
            zxids: None,
            leader: None,
        };
        self.recorder.record(Entry::named("scene", name, json!(event)))?;
        // On disk before it happens, as a fault's begin is.
        self.recorder.sync()?;
        let seen = steps::take(place, number + 1, step).await;
        let verified = seen.is_ok();
        (event.phase, event.verified) = (Phase::Done, Some(verified));
        let detail = match seen {
            Ok(seen) => {
                (event.zxids, event.leader) = (Some(seen.zxids), seen.leader);
                seen.detail
            }
            Err(error) => format!("{error:#}"),
        };
        self.progress.say(&format!("  {name}: {detail}"));
        event.detail = Some(detail);
        self.recorder.record(Entry::named("scene", name, json!(event)))?;
        Ok(verified)
    }
}
