//! After the faults: healing, recovery with its canary, and one more operation of each client.

use super::control::QUIESCE;
use super::interpreter::Interpreter;
use super::recorder::{Entry, Stalls};
use super::script::Mode;
use super::slot::Slot;
use super::steady::{Leader, steady_and_silent, still_leads};
use anyhow::Result;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Longest wait for all faults to be healed and all clients to run.
const HEALING: Duration = Duration::from_secs(60);

/// Least bound of liveness after recovery.
const LIVENESS: Duration = Duration::from_secs(10);

/// What the engine waits beyond that bound, so that the checkers, which compute it from the history, find it reached.
const BEYOND: Duration = Duration::from_millis(300);

/// How long what waited unread in a stall may take to be read and followed by the rest of each client's last cycle.
const AFTER_STALL: Duration = Duration::from_secs(2);

/// An operation that has been pending for less than this may yet be answered as those before it.
const SHORT: Duration = Duration::from_secs(1);

/// How often recovery is begun, for whatever reason.
const ATTEMPTS: usize = 3;

/// An attempt at recovery that is to be followed by another one, with the reason.
type Again = String;

impl Interpreter {
    /// Ends the faults and waits until all are healed and every killed process runs again; tells whether that is so, and
    /// records why not.
    pub(super) async fn heal(&mut self) -> Result<bool> {
        self.disarm();
        self.enter("heal", Mode::Drain)?;
        let healed = |run: &Self| run.nemesis_done && run.slots.iter().all(Slot::runs);
        self.until(Instant::now() + HEALING, healed).await?;
        let dead = self.slots.iter().filter(|slot| !slot.runs());
        let dead: Vec<&str> = dead.map(|slot| slot.name.as_str()).collect();
        let Some(why) = unhealed(&self.unhealed, &dead, self.nemesis_done) else {
            return Ok(true);
        };
        self.not_recovered(&why)?;
        Ok(false)
    }

    fn not_recovered(&mut self, why: &str) -> Result<()> {
        let mut entry = Entry::lane("run", "phase", json!("not-recovered"));
        entry.error = Some(why.to_string());
        self.recorder.record(entry)?;
        Ok(())
    }

    /// Waits until the run counts as recovered, and until each client has finished one more operation or the bound of
    /// liveness has passed. Begins anew where it can prove neither; records `not-recovered` if that does not help.
    pub(super) async fn recover(&mut self) -> Result<()> {
        let mut why = Again::new();
        for _ in 0..ATTEMPTS {
            match self.attempt().await? {
                Ok(()) => return self.drain_if_any().await,
                Err(_) if self.interrupted() => return Ok(()),
                Err(again) => why = again,
            }
        }
        self.not_recovered(&format!("in {ATTEMPTS} attempts; the last one: {why}"))
    }

    async fn drain_if_any(&mut self) -> Result<()> {
        if self.script.drains() && !self.interrupted() {
            self.drain().await?;
        }
        Ok(())
    }

    async fn attempt(&mut self) -> Result<Result<(), Again>> {
        self.enter("recover", Mode::Drain)?;
        let (cluster, timing) = (self.cluster.clone(), self.plan.cluster.timing);
        let steady = async move { steady_and_silent(&cluster, timing.sync_ms(), timing.session_ms).await };
        let leader = match self.unless_interrupted(steady).await? {
            Some(Ok(leader)) => leader,
            Some(Err(error)) => return Ok(Err(format!("no steady leader: {error:#}"))),
            None => return Ok(Err("interrupted".to_string())),
        };
        if let Err(silent) = self.all_answer(QUIESCE).await? {
            return Ok(Err(silent));
        }
        self.restart_free_time();
        let bound = self.bound();
        self.script.recovered(bound);
        self.enter("recovered", Mode::Final)?;
        self.last_operations(&leader, bound + BEYOND).await
    }

    /// The bound of liveness: ten times the median of the waits that were answered.
    fn bound(&mut self) -> Duration {
        self.waited.sort_unstable();
        LIVENESS.max(self.waited.get(self.waited.len() / 2).copied().unwrap_or_default() * 10)
    }

    /// Lets each client finish what it has pending and go through one more cycle, within the bound of liveness. If one does
    /// not, that must be its own doing: everybody answers all the time and at the end, and the same server leads.
    async fn last_operations(&mut self, leader: &Leader, bound: Duration) -> Result<Result<(), Again>> {
        let before = self.recorder.stalls();
        // What was sent before recovery counts from recovery.
        for slot in &mut self.slots {
            slot.failing = false;
            slot.quiesced = true;
            slot.op.iter_mut().for_each(|op| op.free_at = Duration::ZERO);
        }
        self.enter("final", Mode::Final)?;
        let deadline = Instant::now() + bound * 3;
        let every = Duration::from_millis(self.plan.cluster.timing.session_ms);
        let over = |run: &Self| run.settled(bound) || run.recorder.stalls() != before || run.interrupted();
        while !self.until(deadline.min(Instant::now() + every), over).await? && Instant::now() < deadline {
            // Who does not run for a while in the middle of the bound has had less than the bound.
            if let Some(silent) = self.silent(every) {
                return Ok(Err(silent));
            }
            self.ask_quiesce()?;
            self.see_running().await?;
        }
        if self.recorder.stalls() != before {
            self.until(Instant::now() + AFTER_STALL, Self::finished).await?;
        }
        if self.finished() || self.interrupted() {
            return Ok(Ok(()));
        }
        let last = match self.recorder.stalls() == before {
            true => self.still_recovered(leader, every).await?,
            false => Ok(()),
        };
        Ok(match stall_since(before, self.recorder.stalls()) {
            _ if self.finished() => Ok(()),
            Some(stalled) => Err(stalled),
            None => last,
        })
    }

    /// At the end of the bound: whether every client answers, and the same server leads; why not.
    async fn still_recovered(&mut self, leader: &Leader, limit: Duration) -> Result<Result<(), Again>> {
        if let Err(silent) = self.all_answer(limit).await? {
            return Ok(Err(silent));
        }
        let (cluster, leader) = (self.cluster.clone(), leader.clone());
        let leads = self.during(async move { still_leads(&cluster, &leader).await }).await?;
        Ok(leads.map_err(|error| format!("at the end of the bound {error:#}")))
    }

    /// Whether each client has finished its last operation.
    fn finished(&self) -> bool {
        (0..self.slots.len()).all(|n| self.script.finished(n))
    }

    /// Whether each client has finished, or has had the bound for it.
    fn settled(&self, bound: Duration) -> bool {
        let free = self.free_time();
        let mut slots = self.slots.iter().enumerate();
        slots.all(|(n, slot)| self.script.finished(n) || had_its_time(slot, free, bound))
    }

    /// Asks every client for an answer; the reason if one gives none within the time.
    async fn all_answer(&mut self, limit: Duration) -> Result<Result<(), Again>> {
        self.ask_quiesce()?;
        self.see_running().await?;
        let answered = |run: &Self| run.interrupted() || run.slots.iter().all(|slot| slot.quiesced);
        self.until(Instant::now() + limit, answered).await?;
        Ok(self.silent(limit).map_or(Ok(()), Err))
    }

    /// Who has not answered the `quiesce` sent last, in words.
    fn silent(&self, limit: Duration) -> Option<String> {
        let silent = self.slots.iter().filter(|slot| !slot.quiesced);
        let silent: Vec<&str> = silent.map(|slot| slot.name.as_str()).collect();
        let ms = limit.as_millis();
        (!silent.is_empty()).then(|| format!("{} did not answer quiesce within {ms} ms", silent.join(", ")))
    }
}

/// Why not everything is healed; `None` if it is.
fn unhealed(windows: &BTreeSet<u64>, dead: &[&str], nemesis_done: bool) -> Option<String> {
    let mut whys = Vec::new();
    if !windows.is_empty() {
        let windows: Vec<String> = windows.iter().map(u64::to_string).collect();
        whys.push(format!("not seen to be healed: window {}", windows.join(", ")));
    } else if !nemesis_done {
        whys.push("the faults are not over".to_string());
    }
    if !dead.is_empty() {
        whys.push(format!("not running: {}", dead.join(", ")));
    }
    (!whys.is_empty()).then(|| format!("after {} s {}", HEALING.as_secs(), whys.join("; ")))
}

/// A stall since then, in words.
fn stall_since(before: Stalls, now: Stalls) -> Option<String> {
    let ms = now.last.as_millis();
    (now != before).then(|| format!("the harness itself stood still for {ms} ms, and something did not finish"))
}

/// Whether a client that has not finished has had the bound for it, of which `free` has passed since recovery: with what it
/// has pending, or with failing again and again, or without anything to do.
fn had_its_time(slot: &Slot, free: Duration, bound: Duration) -> bool {
    match &slot.op {
        Some(op) => {
            let pending = free.saturating_sub(op.free_at);
            pending >= bound || slot.failing && pending < SHORT && free >= bound
        }
        None => free >= bound && (slot.failing || slot.due.is_none()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::slot::{Op, OpKind};

    const BOUND: Duration = Duration::from_secs(10);

    fn slot(failing: bool, pending_since: Option<u64>, due: bool) -> Slot {
        let op = |since| Op {
            id: 1,
            f: "acquire",
            kind: OpKind::Acquire,
            grant: "g1".to_string(),
            work_ms: 0,
            since: Instant::now(),
            free_at: Duration::from_secs(since),
        };
        Slot {
            failing,
            op: pending_since.map(op),
            due: due.then(Instant::now),
            ..Slot::new(0)
        }
    }

    #[test]
    fn a_pending_operation_has_the_bound_from_its_own_sending() {
        let late = |failing| had_its_time(&slot(failing, Some(4), false), Duration::from_secs(13), BOUND);
        assert!(!late(false) && !late(true));
        assert!(had_its_time(
            &slot(false, Some(4), false),
            Duration::from_secs(14),
            BOUND
        ));
    }

    #[test]
    fn a_client_that_fails_again_and_again_has_the_bound_from_recovery() {
        for (op, due) in [(None, true), (Some(10), false)] {
            assert!(had_its_time(&slot(true, op, due), BOUND, BOUND));
            assert!(!had_its_time(&slot(true, op, due), Duration::from_secs(9), BOUND));
        }
    }

    #[test]
    fn a_client_between_two_operations_is_waited_for_and_an_idle_one_is_not() {
        assert!(!had_its_time(&slot(false, None, true), BOUND, BOUND));
        assert!(had_its_time(&slot(false, None, false), BOUND, BOUND));
    }

    #[test]
    fn every_window_and_every_client_must_be_back() {
        assert_eq!(unhealed(&BTreeSet::new(), &[], true), None);
        let said = |windows: &[u64], dead: &[&str], done| unhealed(&windows.iter().copied().collect(), dead, done);
        assert_eq!(
            said(&[2, 5], &["c3"], true).unwrap(),
            "after 60 s not seen to be healed: window 2, 5; not running: c3"
        );
        assert_eq!(said(&[], &[], false).unwrap(), "after 60 s the faults are not over");
    }

    #[test]
    fn only_a_stall_since_then_is_a_reason_to_begin_again() {
        let stalls = |count, last| Stalls {
            count,
            last: Duration::from_millis(last),
            lost: Duration::ZERO,
        };
        assert_eq!(stall_since(stalls(1, 1_500), stalls(1, 1_500)), None);
        let why = stall_since(stalls(1, 1_500), stalls(2, 22_000)).unwrap();
        assert!(why.contains("22000 ms"), "{why}");
    }
}
