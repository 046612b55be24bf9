//! What recipes and the harness cost on a real ensemble without faults. One measurement a file.
//!
//! [`herd`] and [`commit`] measure a [`chart`] with the clients of a [`crowd`] on an [`ensemble`]; [`channel`] measures
//! the way to one client, [`clients`] those to more and more of them. Points stay in a [`chart_record`] until all are
//! measured.

pub mod channel;
pub mod chart;
mod chart_record;
pub mod clients;
pub mod commit;
mod cost;
mod crowd;
pub mod ensemble;
pub mod herd;
mod ping;
