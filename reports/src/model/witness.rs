//! What a page shows of an anomaly: the events that prove it, in order and in words, and what it comes from.

use super::RunModel;
use std::collections::BTreeSet;
use zooquake_checkers::{Anomaly, Cause};
use zooquake_history::Event;

/// The most steps shown of one witness; of a longer one as many of its beginning as of its end.
const MAX: usize = 40;
/// The most events that are drawn of one cause.
const CAUSES: usize = 4;

/// An anomaly as a picture shows it.
#[derive(Debug, Default)]
pub struct DrawnWitness {
    /// The steps of its proof.
    pub steps: Vec<WitnessStep>,
    /// What it comes from, if that is known.
    pub cause: Option<DrawnCause>,
}

/// One event of a witness.
#[derive(Debug)]
pub struct WitnessStep {
    /// Its number in pictures and lists, from 1; 0 of what the anomaly comes from. Numbers skip the steps that are not
    /// shown.
    pub number: usize,
    /// Whether the proof ends with it.
    pub last: bool,
    /// Its index in the history.
    pub index: usize,
    /// Nanoseconds since the run began.
    pub time: u64,
    /// Row of its client; `None` if it is no client's.
    pub lane: Option<usize>,
    /// Whose: `c3`, `nemesis`.
    pub who: String,
    /// The item that it is about, if it is about one.
    pub item: Option<i64>,
    /// What happened, in words.
    pub what: String,
    /// The event's value, clipped.
    pub value: String,
}

/// What an anomaly comes from, as a picture shows it.
#[derive(Debug)]
pub struct DrawnCause {
    /// Whether the evidence decides it.
    pub proven: bool,
    /// The moments of its events that are no steps of the proof, each with the row of its client; `None` if it is no
    /// client's.
    pub events: Vec<(u64, Option<usize>)>,
    /// The number of its fault window, if it is one that was on.
    pub window: Option<i64>,
    /// The row of the first client that the fault hit.
    pub victim: Option<usize>,
    /// What happened first of it, as the step 0; `None` if the proof has all of it.
    pub step: Option<WitnessStep>,
}

impl DrawnWitness {
    /// Reads an anomaly; indexes that the history does not have are left out.
    pub fn new(model: &RunModel<'_>, anomaly: &Anomaly) -> Self {
        let cause = anomaly.cause.as_ref();
        let cause = cause.map(|cause| DrawnCause::new(model, cause, &anomaly.witness));
        Self {
            steps: steps(model, anomaly),
            cause: cause.filter(|cause| !cause.events.is_empty() || cause.window.is_some()),
        }
    }

    /// From the first moment that the picture must show to the last: of the steps and of their cause. `None` if there
    /// is neither.
    pub fn span(&self, model: &RunModel<'_>) -> Option<(u64, u64)> {
        let events = self.cause.iter().flat_map(|cause| &cause.events);
        let struck = self.cause.iter().filter_map(|cause| model.band(cause.window?));
        let steps = self.steps.iter().map(|step| step.time);
        let times = steps
            .chain(events.map(|(time, _)| *time))
            .chain(struck.map(|band| band.from));
        times.clone().min().zip(times.max())
    }
}

impl DrawnCause {
    /// Reads the cause of an anomaly with this proof.
    fn new(model: &RunModel<'_>, cause: &Cause, proof: &[usize]) -> Self {
        let events = &model.record.history.events;
        let new = |at: &usize| *at < events.len() && !proof.contains(at);
        let band = cause.window.and_then(|id| model.band(id));
        let injected = band.and_then(|band| model.analysis.injected.get(&band.id));
        let began = injected.and_then(|injected| injected.began());
        let struck = injected.and_then(|injected| injected.on);
        // What a fault took is known when it struck, not when it was begun.
        let known = |at: usize| struck.filter(|_| Some(at) == began).unwrap_or(at);
        let found: BTreeSet<usize> = cause.events.iter().copied().map(known).filter(new).collect();
        let victim = band.and_then(|band| band.targets.iter().find_map(|target| model.lanes.row_of(target)));
        let place = |&at: &usize| (events[at].time, model.lanes.row(&events[at]).or(victim));
        let first = found.first().copied().or(struck.filter(new));
        Self {
            proven: cause.proven,
            events: found.iter().take(CAUSES).map(place).collect(),
            window: band.map(|band| band.id),
            victim,
            step: first.map(|at| WitnessStep::new(model, &events[at], 0)),
        }
    }
}

impl WitnessStep {
    /// An event, under a number.
    fn new(model: &RunModel<'_>, event: &Event, number: usize) -> Self {
        let lane = model.lanes.row(event);
        let who = lane.map_or_else(|| event.process.to_string(), |l| model.lanes.names[l].clone());
        Self {
            number,
            last: false,
            index: event.index,
            time: event.time,
            lane,
            who: crate::text::clip(&who, 24),
            item: event.item(),
            what: model.words(event),
            value: crate::text::value(&event.value, crate::text::LONG),
        }
    }
}

/// The steps of an anomaly's witness.
fn steps(model: &RunModel<'_>, anomaly: &Anomaly) -> Vec<WitnessStep> {
    let events = &model.record.history.events;
    let found: Vec<_> = anomaly.witness.iter().filter_map(|&at| events.get(at)).collect();
    let step = |at: usize| WitnessStep {
        last: at + 1 == found.len(),
        ..WitnessStep::new(model, found[at], at + 1)
    };
    kept(found.len(), MAX).map(step).collect()
}

/// The steps that are listed, by time: what the anomaly comes from, and of its proof the first and the last ones, at
/// most so many; each with how many steps were left out before it.
pub fn listed(witness: &DrawnWitness, most: usize) -> Vec<(usize, &WitnessStep)> {
    let mut listed = summary(&witness.steps, most);
    if let Some(step) = witness.cause.as_ref().and_then(|cause| cause.step.as_ref()) {
        let place = listed.iter().take_while(|(_, other)| other.time < step.time).count();
        listed.insert(place, (0, step));
    }
    listed
}

/// The first and the last of these steps, at most so many, each with how many steps were left out before it.
fn summary(steps: &[WitnessStep], most: usize) -> Vec<(usize, &WitnessStep)> {
    let mut before = 0;
    let step = |at: usize| {
        let step = &steps[at];
        let missing = step.number - before - 1;
        before = step.number;
        (missing, step)
    };
    kept(steps.len(), most).map(step).collect()
}

/// The places that are shown of so many: all of them, or the first and the last ones.
fn kept(count: usize, most: usize) -> impl Iterator<Item = usize> {
    // One that is left out would take no less room than its number does.
    let all = count <= most + 1;
    let (first, last) = if all {
        (count, count)
    } else {
        (most.div_ceil(2), count - most / 2)
    };
    (0..first).chain(last..count)
}

#[cfg(test)]
mod tests {
    use super::kept;

    #[test]
    fn a_long_proof_keeps_its_beginning_and_its_end() {
        assert!(kept(5, 5).eq(0..5) && kept(6, 5).eq(0..6));
        assert!(kept(7, 5).eq([0, 1, 2, 5, 6]));
        assert_eq!(kept(0, 5).count(), 0);
    }
}
