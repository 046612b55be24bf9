//! Networks of consensus protocols, in memory and in virtual time: messages take their time, are lost, doubled and
//! overtaken, links are cut, processes die, start again from their disks, and freeze. No ZooKeeper takes part.
//!
//! A [`world`] plays a [`scenario`], and an [`observer`] follows it: [`judging`] for searches, [`recording`] for runs,
//! [`tracing`] for a [`script`] of what happened. What disturbs it is a [`disturbance`]; [`draft`] draws disturbances
//! and requests, and has them as windows and clients of a plan; [`transit`] decides how long messages take;
//! [`mod@play`] plays a plan.

pub mod disturbance;
pub mod draft;
mod host;
pub mod judging;
pub mod observer;
pub mod play;
mod queue;
pub mod recording;
pub mod scenario;
pub mod script;
#[cfg(test)]
mod tests;
pub mod tracing;
pub mod transit;
pub mod world;
