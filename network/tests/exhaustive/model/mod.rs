//! Consensus protocols explored exhaustively within bounds, by [Stateright](stateright): every order in which messages
//! arrive, timers run out and processes die and start again.
//!
//! An [`actor`] is any protocol as an actor of Stateright; time is not modelled, so a timer that is set may run out at
//! any moment. [`bounds`] limit rounds, timers and restarts, [`judging`] has each state judged by the judge of the
//! checkers, and [`mod@search`] finds all states, or the shortest path to one that violates something. Such a path
//! becomes a [`script`] of a network, and its run a [`folder`].

pub mod actor;
pub mod bounds;
pub mod digest;
pub mod folder;
pub mod judging;
pub mod script;
pub mod search;
