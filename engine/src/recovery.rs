//! After the faults: healing, and recovery with its canary.

use super::effect::{Effect, Entry, Leader, Question};
use super::generator::Phase;
use super::stage::{Seen, Stage, Turn};
use super::{Deadline, Engine};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

/// Longest wait for all faults to be healed and all clients to run.
pub(super) const HEALING: Duration = Duration::from_secs(60);

/// Least bound of liveness.
const LIVENESS: Duration = Duration::from_secs(10);

/// How often recovery is begun, for whatever reason.
const ATTEMPTS: usize = 3;

impl Engine {
    /// Waits until every window is seen healed and every killed process runs again; records why not.
    pub(super) fn healing(&mut self, by: Deadline) -> Turn {
        if !(self.nemesis_done && self.all_run() || self.passed(by)) {
            return Turn::Stays(Stage::Healing(by));
        }
        let dead = self.workers.iter().filter(|worker| !worker.runs());
        let dead: Vec<&str> = dead.map(|worker| worker.name.as_str()).collect();
        let unhealed = unhealed(&self.unhealed, &dead, self.nemesis_done);
        if let Some(why) = &unhealed {
            self.not_recovered(why);
        }
        Turn::Moves(match unhealed {
            _ if self.interrupted => self.give_up(),
            None => self.recover(),
            Some(_) => self.audit(),
        })
    }

    fn not_recovered(&mut self, why: &str) {
        let mut entry = Entry::named("run", "phase", json!("not-recovered"));
        entry.error = Some(why.to_string());
        self.record(entry);
    }

    fn recover(&mut self) -> Stage {
        self.enter("recover", Phase::Drain);
        self.emit(Effect::Ask(Question::Steady));
        Stage::Steady
    }

    /// An attempt at recovery has failed: another one follows, three in all.
    pub(super) fn recover_again(&mut self, why: String) -> Stage {
        if self.interrupted {
            return self.give_up();
        }
        self.attempts += 1;
        if self.attempts < ATTEMPTS {
            return self.recover();
        }
        self.not_recovered(&format!("in {ATTEMPTS} attempts; the last one: {why}"));
        self.audit()
    }

    pub(super) fn after_recovery(&mut self) -> Stage {
        match self.interrupted {
            true => self.give_up(),
            false => self.audit(),
        }
    }

    pub(super) fn steadying(&mut self, seen: Option<Seen>) -> Turn {
        match seen {
            _ if self.interrupted => Turn::Moves(self.give_up()),
            Some(Seen::Steady(Ok(leader))) => Turn::Moves(self.quiesce(leader)),
            Some(Seen::Steady(Err(error))) => Turn::Moves(self.recover_again(format!("no steady leader: {error}"))),
            _ => Turn::Stays(Stage::Steady),
        }
    }

    /// The run counts as recovered: the bound of liveness begins.
    pub(super) fn recovered(&mut self, leader: Leader) -> Stage {
        self.restart_free_time();
        let bound = self.bound();
        self.generator.recovered(bound);
        self.enter("recovered", Phase::Final);
        self.begin_last_ops(leader, bound)
    }

    /// The bound of liveness: ten times the median of the waits that were answered.
    fn bound(&mut self) -> Duration {
        self.waited.sort_unstable();
        LIVENESS.max(self.waited.get(self.waited.len() / 2).copied().unwrap_or_default() * 10)
    }
}

/// Why not everything is healed; `None` if it is.
fn unhealed(windows: &BTreeSet<i64>, dead: &[&str], nemesis_done: bool) -> Option<String> {
    let mut whys = Vec::new();
    if !windows.is_empty() {
        let windows: Vec<String> = windows.iter().map(i64::to_string).collect();
        whys.push(format!("not seen to be healed: window {}", windows.join(", ")));
    } else if !nemesis_done {
        whys.push("the faults are not over".to_string());
    }
    if !dead.is_empty() {
        whys.push(format!("not running: {}", dead.join(", ")));
    }
    (!whys.is_empty()).then(|| format!("after {} s {}", HEALING.as_secs(), whys.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_and_every_client_must_be_back() {
        assert_eq!(unhealed(&BTreeSet::new(), &[], true), None);
        let said = |windows: &[i64], dead: &[&str], done| unhealed(&windows.iter().copied().collect(), dead, done);
        assert_eq!(
            said(&[2, 5], &["c3"], true).unwrap(),
            "after 60 s not seen to be healed: window 2, 5; not running: c3"
        );
        assert_eq!(said(&[], &[], false).unwrap(), "after 60 s the faults are not over");
    }
}
