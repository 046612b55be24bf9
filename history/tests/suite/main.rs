//! The readers of plans, histories and evidence: what is read, what is said of damage, and what comes back when it is
//! written again.

mod damage;
mod edn;
mod hostile;
mod keyed;
mod log;
mod operation;
mod renamed;
mod there_and_back;
mod txnlog;
mod value;
