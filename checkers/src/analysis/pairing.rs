//! Events that no pairing of requests and answers fits.
//!
//! A process has one operation at a time, and each operation one completion, of its own name. Where that is not so, the
//! pairing of answers and requests is ambiguous: a reason against `valid`.
//!
//! An anomaly is found only if every execution that fits the history has it. An answer is disputed if it names another
//! operation than the open one, if its request got another answer too, or if it has no request and repeats an earlier
//! answer of its process: no anomaly has one among its witness. Where two requests of one name were open at once an
//! answer counts by its own fields alone, as one whose request was sent at any time; that an operation *failed* does
//! not count, as the failure may be another one's.

use crate::text::if_any;
use std::collections::{BTreeSet, HashMap, HashSet};
use zooquake_history::{Event, EventType, Process};

/// How many a reason names; of more it gives the number.
const NAMED: usize = 3;

/// Why an event fits no pairing. Positions are those of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// A request while the one sent at this event was not answered.
    Busy(usize),
    /// An answer to another operation than the one sent at this event, which was open.
    Other(usize),
    /// A second answer, after the one at this event.
    Again(usize),
    /// An answer to no request.
    Unasked,
}

/// The answers of numbered processes that fit no request and repeat an earlier answer of the same process, and those
/// earlier answers. If they are of different kinds, which of them was given is unknown.
pub fn repeated(events: &[Event], misfits: &[(usize, Misfit)]) -> Vec<usize> {
    let odd = misfits.iter().flat_map(|&(at, misfit)| match misfit {
        Misfit::Busy(_) => [None, None],
        Misfit::Again(first) => [Some(first), Some(at)],
        Misfit::Other(_) | Misfit::Unasked => [Some(at), None],
    });
    let odd: BTreeSet<usize> = odd.flatten().collect();
    let processes: HashSet<&Process> = odd.iter().map(|&at| &events[at].process).collect();
    let mut said: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, event) in events.iter().enumerate() {
        let numbered = matches!(event.process, Process::Number(_));
        if numbered && event.kind != EventType::Invoke && processes.contains(&event.process) {
            let key = (&event.process, event.f.as_str(), event.value.to_string());
            said.entry(key).or_default().push(at);
        }
    }
    let mut repeated = Vec::new();
    for mut same in said.into_values() {
        let last = same.iter().rposition(|at| odd.contains(at));
        same.truncate(last.map_or(0, |last| last + 1));
        if same.iter().any(|at| !odd.contains(at)) {
            repeated.append(&mut same);
        }
    }
    repeated
}

/// The misfits of a history as one reason; `None` if there is none.
pub fn reason(events: &[Event], misfits: &[(usize, Misfit)]) -> Option<String> {
    let words: Vec<String> = misfits.iter().take(NAMED).map(|misfit| words(events, misfit)).collect();
    let more = if_any(misfits.len() - words.len(), |more| format!("; {more} more"));
    let number = misfits.len();
    (number > 0).then(|| {
        format!(
            "requests and answers do not pair at {number} events, so that it is not certain what happened: {}{more}",
            words.join("; ")
        )
    })
}

fn words(events: &[Event], &(at, misfit): &(usize, Misfit)) -> String {
    let Event { process, f, .. } = &events[at];
    match misfit {
        Misfit::Busy(open) => format!(
            "event {at} asks process {process} for `{f}` while its `{}` of event {open} is not answered",
            events[open].f
        ),
        Misfit::Other(open) => format!(
            "event {at} answers `{f}` for process {process}, which was asked for `{}` at event {open}",
            events[open].f
        ),
        Misfit::Again(first) => {
            format!("event {at} answers the `{f}` of process {process} that event {first} had answered")
        }
        Misfit::Unasked => format!("event {at} answers `{f}` for process {process}, which was not asked for it"),
    }
}
