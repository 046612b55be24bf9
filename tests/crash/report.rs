//! What was seen of one crash, and which rules it broke.

use crate::common::{output_of, zooquake};
use crate::engine::Containers;
use crate::trial::Signal;
use serde_json::Value;
use std::fmt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

/// What was seen.
#[derive(Debug)]
pub struct CrashReport {
    pub signal: Signal,
    /// The variant and its faults.
    pub run: String,
    pub seed: u64,
    /// The phase, what the nemesis did last, and the moment aimed at.
    pub struck: String,
    /// How the harness ended; nothing if it did not in time.
    pub ended: Option<ExitStatus>,
    /// How long its watcher went on after it; nothing if it did not end in time.
    pub watched: Option<Duration>,
    /// The run's containers before `clean`.
    pub before: Containers,
    /// What was there of any run before `clean`.
    pub left_before: Vec<String>,
    /// The exit code of `clean`.
    pub cleaned: Option<i32>,
    /// The output of `clean`.
    pub cleaning: String,
    /// What was there of any run after it.
    pub left_after: Vec<String>,
    pub verdict: CheckVerdict,
}

/// The verdict of `check` on the run's folder.
#[derive(Debug, PartialEq, Eq)]
pub enum CheckVerdict {
    /// The run was struck before its history began.
    NoHistory,
    /// The verdict, and the kinds of the anomalies that are not advisory.
    Given(String, Vec<String>),
    /// `check` failed: its message.
    Failed(String),
}

impl CheckVerdict {
    /// Checks the folder of a run.
    pub fn check(run: &Path) -> Self {
        let checked = output_of(zooquake("check --json").arg(run));
        let results: Option<Value> = serde_json::from_str(&checked.stdout).ok();
        let verdict = results.as_ref().and_then(|results| results[0]["verdict"].as_str());
        let code = match verdict {
            Some("valid") => 0,
            Some("invalid") => 1,
            _ => 2,
        };
        match (verdict, &results) {
            (Some(verdict), Some(results)) if checked.code == Some(code) => {
                let anomalies = results[0]["anomalies"].as_array().into_iter().flatten();
                let kinds = anomalies.filter(|anomaly| anomaly["advisory"] != true);
                let kinds = kinds.filter_map(|anomaly| anomaly["kind"].as_str().map(str::to_string));
                Self::Given(verdict.to_string(), kinds.collect())
            }
            _ if !run.join("history.jsonl").exists() => Self::NoHistory,
            _ => Self::Failed(checked.to_string()),
        }
    }
}

/// How much is left, and an example.
fn amount(left: &[String]) -> String {
    format!("{} things, such as {}", left.len(), left[0])
}

impl CrashReport {
    /// The rules that were broken, each with what broke it.
    pub fn broken(&self) -> Vec<String> {
        let mut broken = self.before.damage();
        match (self.signal, self.ended.and_then(|status| status.code())) {
            (_, _) if self.ended.is_none() => broken.push("the run did not end".into()),
            (Signal::Kill | Signal::Begin, None) | (Signal::Hup | Signal::Stop, Some(0 | 2)) => {}
            (_, _) => broken.push("the run did not end as it should".into()),
        }
        if self.watched.is_none() {
            broken.push("the watcher did not end".into());
        }
        let killed = matches!(self.signal, Signal::Kill | Signal::Begin);
        if !killed && !self.left_before.is_empty() {
            broken.push(format!("not cleared away: {}", amount(&self.left_before)));
        }
        if self.cleaned != Some(0) {
            broken.push(format!("clean ended with {:?}", self.cleaned));
        }
        if !self.left_after.is_empty() {
            broken.push(format!(
                "left after clean: {}; with the output: {}",
                amount(&self.left_after),
                self.cleaning
            ));
        }
        match &self.verdict {
            CheckVerdict::Given(verdict, _) if verdict == "invalid" => broken.push("convicted".into()),
            CheckVerdict::NoHistory if self.signal == Signal::Stop => broken.push("no verdict".into()),
            CheckVerdict::Failed(message) => broken.push(format!("check failed: {message}")),
            CheckVerdict::Given(..) | CheckVerdict::NoHistory => {}
        }
        broken
    }
}

impl fmt::Display for CrashReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signal = format!("{:?}", self.signal).to_uppercase();
        write!(f, "SIG{signal} {} (seed {}) in {}; ", self.run, self.seed, self.struck)?;
        match self.ended {
            Some(status) => write!(f, "{status}; ")?,
            None => write!(f, "did not end; ")?,
        }
        match self.watched {
            Some(took) => write!(f, "watcher done after {:.1} s; ", took.as_secs_f64())?,
            None => write!(f, "watcher not done; ")?,
        }
        write!(f, "before clean {}; ", self.before)?;
        match self.left_after.as_slice() {
            [] => write!(f, "after clean nothing; ")?,
            left => write!(f, "after clean {}; ", amount(left))?,
        }
        match &self.verdict {
            CheckVerdict::NoHistory => write!(f, "no history")?,
            CheckVerdict::Given(verdict, kinds) if kinds.is_empty() => write!(f, "{verdict}, no anomaly")?,
            CheckVerdict::Given(verdict, kinds) => write!(f, "{verdict}, {}", kinds.join(" "))?,
            CheckVerdict::Failed(_) => write!(f, "no verdict")?,
        }
        match self.broken().as_slice() {
            [] => write!(f, "; ok"),
            broken => write!(f, "; BROKEN: {}", broken.join("; ")),
        }
    }
}
