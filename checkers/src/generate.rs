//! Generated histories of simulated objects as histories of events.

use crate::search::recorded;
use zooquake_history::{Event, EventType, History, Process};
use zooquake_linearizability::generate::{self, EventType as GeneratedType, GeneratedEvent as Generated};

pub use zooquake_linearizability::generate::{GeneratedLoad, Object, Options, Values};

/// The history that [`generate::generate`] makes; a microsecond lies between its events.
///
/// # Errors
/// If no history is like that.
pub fn generate(options: &Options) -> Result<History, String> {
    let events = generate::generate(options)?;
    Ok(History {
        events: events.into_iter().enumerate().map(event).collect(),
    })
}

fn event((index, generated): (usize, Generated)) -> Event {
    Event {
        index,
        time: 1000 * index as u64,
        process: Process::Number(generated.process),
        kind: match generated.kind {
            GeneratedType::Invoke => EventType::Invoke,
            GeneratedType::Ok => EventType::Ok,
            GeneratedType::Fail => EventType::Fail,
            GeneratedType::Info => EventType::Info,
        },
        f: generated.f.into(),
        value: recorded(&generated.value),
        error: generated.error.map(str::to_owned),
        node: None,
    }
}
