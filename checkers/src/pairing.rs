//! Events that no pairing of requests and answers fits.
//!
//! A process has one operation at a time, and each operation one completion, of its own name. Where that is not so, nobody
//! can tell which answer belongs to which request: a reason against `valid`. What an answer says itself still counts; that
//! an operation *failed* does not, as the failure may be another one's.

use crate::history::Event;

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

/// The misfits of a history as one reason; `None` if there is none.
pub fn reason(events: &[Event], misfits: &[(usize, Misfit)]) -> Option<String> {
    let words: Vec<String> = misfits.iter().take(NAMED).map(|misfit| words(events, misfit)).collect();
    let more = match misfits.len() - words.len() {
        0 => String::new(),
        more => format!("; {more} more"),
    };
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
