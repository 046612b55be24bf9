//! Linearizability by general search: is there an order of the operations that fits their intervals and the type?
//!
//! The algorithm is that of Wing and Gong ("Testing and verifying concurrent objects", 1993) with the memoisation of
//! Lowe ("Testing for linearizability", 2017) and the entry list of Horn and Kroening ("Faster linearizability checking
//! via P-compositionality", 2015). It works for any type that a [`Model`] describes, and takes exponential time at
//! worst: hence the [`Budget`]. Where a checker of the type itself exists, it is faster and its anomalies are more
//! specific.
//!
//! `search` is that algorithm. [`Model::decide`] decides by what is soonest: [`Model::near`], and where that does not
//! suffice [`Model::explore`]: for registers and mutexes the search takes turns with sweeps over configurations
//! (`models::register::sweep`). [`shrink`] makes a minimal [`Witness`], and [`longest_order`] finds how far orders
//! reach, with the states on the way.
//!
//! [`models`] are the types that are there, a file or a folder each: how operations that were recorded ([`Call`]) are
//! read, the sequential type with what is decided without a search, and a generator of histories; `models::registry`
//! names them all. [`keys`] sorts operations by independent keys (P-compositionality), [`equality`] defines which
//! values are equal, and [`generate`] makes random histories.
//!
//! # A model of one's own
//!
//! ```
//! use zooquake_linearizability::{Budget, Model, Op, SearchDecision};
//!
//! /// A flag that is raised once: each raise is answered with whether it was the first.
//! struct Flag;
//!
//! impl Model for Flag {
//!     type State = bool;
//!     /// Raised, and whether that was the first time.
//!     type Input = bool;
//!
//!     fn initial(&self) -> bool {
//!         false
//!     }
//!     fn step(&self, raised: &bool, first: &bool) -> Option<bool> {
//!         (*first != *raised).then_some(true)
//!     }
//!     fn is_read(&self, first: &bool) -> bool {
//!         !first
//!     }
//!     fn after(&self, _: &bool) -> Option<bool> {
//!         Some(true)
//!     }
//! }
//!
//! let mut budget = Budget { steps: 1_000_000, bytes: 1 << 20, expired: &mut || false };
//! let both_first = [Op::done(true, 0, 2), Op::done(true, 1, 3)];
//! assert_eq!(Flag.decide(&both_first, &mut budget), SearchDecision::Not { stuck: 1 });
//! let one_unknown = [Op::unknown(true, 0), Op::done(false, 1, 2)];
//! assert_eq!(Flag.decide(&one_unknown, &mut budget), SearchDecision::Linearizable);
//! ```

#![warn(missing_docs)]

mod call;
pub mod equality;
pub mod generate;
mod judgement;
pub mod keys;
mod model;
pub mod models;
mod proof;
mod search;
pub mod unique;
mod value;

pub use call::{Call, CallOutcome, Conventions, InputError, Remark};
pub use judgement::{CallOrder, Judgement, OrderStep, OrderTerms, Violation};
pub use model::{BrokenClaim, Contradiction, Model, NearLinearDecision, Op, Witness};
pub use models::registry::{ListedModel, ModelKind};
pub use proof::{prefix, reduce, shrink};
pub use search::{Budget, Limit, LongestOrder, OrderEnd, SearchDecision, SearchOutcome, longest_order, search};
pub use value::Value;

/// The code of the README compiles and holds.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
