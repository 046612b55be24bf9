//! What an interrupt does at the moment, in words for the user.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What it does where several runs go on at once.
pub const SEVERAL: &str = "healing and clearing away what goes on, then checking what was recorded";

/// The text of each stage that was entered, by the stage's number.
static STAGES: Mutex<BTreeMap<u64, &str>> = Mutex::new(BTreeMap::new());

fn stages() -> MutexGuard<'static, BTreeMap<u64, &'static str>> {
    STAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an interrupt does to one run, or to a command. Clones share it; with the last of them it ends. The default is
/// that of a run in silence, for which nothing is printed.
#[derive(Debug, Clone, Default)]
pub struct Stage(Option<Arc<StageNumber>>);

#[derive(Debug)]
struct StageNumber(u64);

impl Drop for StageNumber {
    fn drop(&mut self) {
        stages().remove(&self.0);
    }
}

impl Stage {
    /// A stage with this text.
    pub fn begin(does: &'static str) -> Self {
        let mut stages = stages();
        let number = stages.last_key_value().map_or(0, |(last, _)| last + 1);
        stages.insert(number, does);
        Self(Some(Arc::new(StageNumber(number))))
    }

    /// Sets the text for what an interrupt does from now on.
    pub fn enter(&self, does: &'static str) {
        if let Some(stage) = &self.0 {
            stages().insert(stage.0, does);
        }
    }
}

/// What an interrupt does now; empty where nothing is to be printed.
pub fn on_interrupt() -> &'static str {
    of_stages(&stages())
}

fn of_stages(stages: &BTreeMap<u64, &'static str>) -> &'static str {
    match stages.len() {
        0 => "",
        1 => stages.values().next().copied().unwrap_or_default(),
        _ => SEVERAL,
    }
}

/// What an interrupt does in a phase of a run.
pub fn of_phase(phase: &str) -> &'static str {
    match phase {
        "ops" | "heal" => "healing, then checking what was recorded",
        "recover" | "recovered" | "calm" | "final" => "giving up the recovery, then checking what was recorded",
        "audit" => "finishing the audit, then checking",
        _ => "checking what was recorded",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_is_described_for_one_run_and_for_several() {
        let texts = |texts: &[&'static str]| (0..).zip(texts.iter().copied()).collect();
        assert_eq!(of_stages(&texts(&[])), "");
        assert_eq!(of_stages(&texts(&["healing"])), "healing");
        assert_eq!(of_stages(&texts(&["healing", "clearing"])), SEVERAL);
    }

    #[test]
    fn a_stage_has_its_text_until_the_last_clone_ends() {
        let stage = Stage::begin("healing");
        let number = stage.0.as_ref().unwrap().0;
        let text = || stages().get(&number).copied();
        assert_eq!(text(), Some("healing"));
        Stage::default().enter("nothing");
        stage.enter("checking");
        let clone = stage.clone();
        drop(stage);
        assert_eq!(text(), Some("checking"));
        drop(clone);
        assert_ne!(text(), Some("checking"));
    }
}
