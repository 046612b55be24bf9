//! Queues and barriers: histories by hand, random ones, and the definitions taken literally.

mod agree;
mod barriers;
pub mod brute;
mod carriers;
mod contradictions;
mod items;
mod logged;
pub mod meetings;
mod nameless;
mod orphans;
pub mod pending;
mod scale;
mod stuck;
mod unanswered;
pub mod world;

use crate::script::run;
use zooquake_checkers::Record;

fn fifo(text: &str) -> Record {
    run("fifo", text)
}

fn claimed(text: &str) -> Record {
    run("claimed", text)
}
