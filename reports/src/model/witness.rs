//! The events that prove an anomaly, in order and in words.

use super::RunModel;
use zooquake_checkers::Anomaly;

/// The most steps shown of one witness.
const MAX: usize = 60;

/// One event of a witness.
#[derive(Debug)]
pub struct WitnessStep {
    /// Its number in pictures and lists, from 1.
    pub number: usize,
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

/// The steps of an anomaly's witness.
pub fn steps(model: &RunModel<'_>, anomaly: &Anomaly) -> Vec<WitnessStep> {
    let events = &model.record.history.events;
    let found = anomaly.witness.iter().filter_map(|&i| events.get(i));
    found
        .take(MAX)
        .enumerate()
        .map(|(i, event)| {
            let lane = model.lanes.row(event);
            let who = lane.map_or_else(|| event.process.to_string(), |l| model.lanes.names()[l].clone());
            WitnessStep {
                number: i + 1,
                index: event.index,
                time: event.time,
                lane,
                who: crate::text::clip(&who, 24),
                item: event.item(),
                what: model.words(event),
                value: crate::text::value(&event.value, crate::text::LONG),
            }
        })
        .collect()
}
