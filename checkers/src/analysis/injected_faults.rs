//! Fault windows as the history records them: the one reading of which faults were on, and from when to when.

use crate::text::seconds;
use std::collections::BTreeMap;
use zooquake_history::Event;

/// A fault window, with the events of its phases by their places in the history: the first of each, of `off` all.
///
/// A window *begins* with the first of its events `begin`, `on` and `heal`: its effect may come before `on` is
/// recorded. One that was skipped was never on, unless `on` was recorded of it. It is *healed* by its last `off`, if
/// that has `"verified":true`: healing is tried again, and the last try decides. Without such an `off` it is on until
/// the end of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InjectedFault<'a> {
    /// Its number in the plan.
    pub id: i64,
    /// The kind of fault, such as `pause`.
    pub fault: &'a str,
    /// Whom it hit, such as `c3` or `n1,n2`; empty if that was not recorded.
    pub target: &'a str,
    /// The orchestrator began to inject it.
    pub begin: Option<usize>,
    /// The event from which it was in effect.
    pub on: Option<usize>,
    /// The orchestrator began to heal it.
    pub heal: Option<usize>,
    /// Where each try to heal it ended, in order, and whether it was verified.
    tries: Vec<(usize, bool)>,
    /// It was given up before it struck.
    pub skipped: Option<usize>,
}

impl<'a> InjectedFault<'a> {
    fn new(id: i64, event: &'a Event) -> Self {
        Self {
            id,
            fault: &event.f,
            target: "",
            begin: None,
            on: None,
            heal: None,
            tries: Vec::new(),
            skipped: None,
        }
    }

    /// The event from which on it may have had an effect; `None` if none was recorded.
    pub fn began(&self) -> Option<usize> {
        [self.begin, self.on, self.heal].into_iter().flatten().min()
    }

    /// Whether it was on at some time.
    pub fn was_on(&self) -> bool {
        self.on.is_some() || self.began().is_some() && self.skipped.is_none()
    }

    /// The event by which it was healed; `None` if it is on until the end of the history.
    pub fn healed(&self) -> Option<usize> {
        self.tries.last().filter(|(_, verified)| *verified).map(|&(at, _)| at)
    }

    /// The event at which it ceased to be in effect at the earliest, if it was healed: where healing began, or the
    /// effect was verified after that; where healing was tried several times, where the last try ended.
    pub fn healing(&self) -> Option<usize> {
        let healed = self.healed()?;
        let began = self.heal.map(|heal| self.on.map_or(heal, |on| on.max(heal)));
        let once = began.filter(|&began| self.tries.len() == 1 && began < healed);
        Some(once.unwrap_or(healed))
    }

    /// Where the last try to heal it ended.
    pub fn off(&self) -> Option<usize> {
        self.tries.last().map(|&(at, _)| at)
    }

    /// Whether it was on at some time at which the other one was, in a history of so many events.
    pub fn overlaps(&self, other: &Self, events: usize) -> bool {
        let span = |window: &Self| Some((window.began()?, window.healed().unwrap_or(events)));
        match (span(self), span(other)) {
            (Some((from, until)), Some((other_from, other_until))) => from <= other_until && other_from <= until,
            _ => false,
        }
    }

    /// Whether it is the loss of an engine of containers, which no plan has.
    pub fn is_engine_loss(&self) -> bool {
        self.fault == ENGINE_LOSS
    }

    /// Whether the last try to heal it that ended before an event was verified; `None` if none did.
    pub fn healed_before(&self, by: usize) -> Option<bool> {
        let ended = self.tries.partition_point(|&(at, _)| at < by);
        self.tries[..ended].last().map(|&(_, verified)| verified)
    }
}

/// The name of what is no fault of a plan: the loss of an engine of containers, from when it did not answer until all
/// did again.
pub const ENGINE_LOSS: &str = "engine-loss";

/// A window by its number: `window 3`; what the plan does not have is `outside the plan`.
pub fn numbered(id: i64) -> String {
    match id {
        ..0 => "outside the plan".to_owned(),
        _ => format!("window {id}"),
    }
}

impl InjectedFault<'_> {
    /// It in words: `window 3`; `the loss of the Docker engine at 1.204 s`.
    pub fn words(&self, events: &[Event]) -> String {
        let lost = self.on.filter(|_| self.is_engine_loss()).map(|on| &events[on]);
        match lost {
            Some(lost) => {
                let engines: Vec<&str> = lost.unreachable().into_iter().flatten().collect();
                format!("the loss of {} at {}", engines.join(", "), seconds(lost.time))
            }
            None => numbered(self.id),
        }
    }
}

/// How long an engine may have been lost before that is recorded, in nanoseconds: a second until it is asked for a sign
/// of life, five in which it may give one, and what the record takes.
const UNNOTICED: u64 = 7_000_000_000;

/// The losses of engines, each as a window that strikes by itself: by numbers below zero. It begins when the engine may
/// have been lost.
fn engine_losses(events: &[Event]) -> Vec<InjectedFault<'_>> {
    let mut losses: Vec<InjectedFault<'_>> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let Some(mut engines) = event.unreachable() else {
            continue;
        };
        let since = event.time.saturating_sub(UNNOTICED);
        let before = || events[..at].iter().rposition(|event| event.time < since);
        let number = losses.len() as i64;
        let open = losses.last_mut().filter(|loss| loss.tries.is_empty());
        match (engines.next().is_some(), open) {
            (true, None) => losses.push(InjectedFault {
                fault: ENGINE_LOSS,
                begin: Some(before().map_or(0, |before| before + 1)),
                on: Some(at),
                ..InjectedFault::new(-1 - number, event)
            }),
            (false, Some(loss)) => {
                loss.heal = Some(at);
                loss.tries.push((at, true));
            }
            _ => {}
        }
    }
    losses
}

/// The windows of a history by their numbers, and the losses of engines. Events of the nemesis without a number or a
/// known phase belong to none.
pub fn injected(events: &[Event]) -> BTreeMap<i64, InjectedFault<'_>> {
    let mut all: BTreeMap<i64, InjectedFault<'_>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate().filter(|(_, event)| event.is_of("nemesis")) {
        let (Some(id), Some(phase)) = (event.window(), event.phase()) else {
            continue;
        };
        let window = all.entry(id).or_insert_with(|| InjectedFault::new(id, event));
        window.target = event.target().filter(|_| phase != "off").unwrap_or(window.target);
        match phase {
            "begin" => window.begin = window.begin.or(Some(at)),
            "on" => window.on = window.on.or(Some(at)),
            "heal" => window.heal = window.heal.or(Some(at)),
            "skipped" => window.skipped = window.skipped.or(Some(at)),
            "off" => window.tries.push((at, event.verified() == Some(true))),
            _ => {}
        }
    }
    all.extend(engine_losses(events).into_iter().map(|loss| (loss.id, loss)));
    all
}

#[cfg(test)]
mod tests {
    use super::injected;
    use serde_json::json;
    use zooquake_history::{Event, EventType, Process};

    fn history(phases: &[(&str, Option<bool>)]) -> Vec<Event> {
        let event = |(index, (phase, verified)): (usize, &(&str, Option<bool>))| Event {
            index,
            time: index as u64,
            process: Process::Name("nemesis".into()),
            kind: EventType::Info,
            f: "pause".into(),
            value: json!({ "window": 1, "phase": phase, "target": "c3", "verified": verified }).into(),
            error: None,
            node: None,
        };
        phases.iter().enumerate().map(event).collect()
    }

    /// Where the window began, whether it was on, and where it was healed.
    fn read(phases: &[(&str, Option<bool>)]) -> (Option<usize>, bool, Option<usize>) {
        let events = history(phases);
        let window = &injected(&events)[&1];
        (window.began(), window.was_on(), window.healed())
    }

    const BEGIN: (&str, Option<bool>) = ("begin", None);
    const ON: (&str, Option<bool>) = ("on", Some(true));
    const OFF: (&str, Option<bool>) = ("off", Some(true));
    const FAILED: (&str, Option<bool>) = ("off", Some(false));

    #[test]
    fn the_last_try_to_heal_decides_and_only_a_verified_one_heals() {
        assert_eq!(read(&[BEGIN, ON, OFF]), (Some(0), true, Some(2)));
        assert_eq!(read(&[BEGIN, ON, FAILED]), (Some(0), true, None));
        assert_eq!(read(&[BEGIN, ON, FAILED, OFF]), (Some(0), true, Some(3)));
        assert_eq!(read(&[BEGIN, ON, OFF, FAILED]), (Some(0), true, None));
        let found = read(&[BEGIN, ON, ("off", None)]);
        assert_eq!(found, (Some(0), true, None), "it does not say");
        assert_eq!(read(&[BEGIN, ON]), (Some(0), true, None));
    }

    #[test]
    fn a_window_that_was_skipped_was_on_only_if_it_is_recorded_so() {
        assert_eq!(read(&[BEGIN, ("skipped", None)]), (Some(0), false, None));
        assert_eq!(read(&[("skipped", None)]), (None, false, None));
        assert_eq!(read(&[BEGIN, ON, ("skipped", None), OFF]), (Some(0), true, Some(3)));
        assert_eq!(read(&[BEGIN]), (Some(0), true, None), "it may have had an effect");
    }
}
