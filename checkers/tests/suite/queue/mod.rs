//! Queues and barriers: histories by hand, random ones, and the definitions taken literally.

mod abandoned_items;
pub mod agreement;
pub mod barrier_definitions;
mod barriers;
pub mod brute_force;
mod carriers;
mod contradictions;
pub mod gate_definitions;
mod gates;
mod items;
mod logged_consumes;
mod nameless_takes;
mod orphans;
mod scale;
pub mod simulated_barriers;
mod simulated_clients;
pub mod simulated_gates;
pub mod simulated_queues;
pub mod stuck_items;
mod stuck_queue;
pub mod stuck_queue_definition;
mod unanswered_operations;

use crate::script::run;
use zooquake_history::Record;

pub fn fifo(text: &str) -> Record {
    run("fifo", text)
}

fn claimed(text: &str) -> Record {
    run("claimed", text)
}
