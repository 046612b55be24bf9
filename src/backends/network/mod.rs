//! Networks of consensus protocols, in virtual time.

pub mod disturbance;
pub mod draft;
mod host;
pub mod judging;
pub mod observer;
mod queue;
pub mod script;
pub mod transit;
pub mod world;
