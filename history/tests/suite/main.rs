//! The readers of plans, histories and evidence: the values they read, their messages about damage, and the round trip
//! through the writers.

mod damage;
mod edn;
mod hostile;
mod json;
mod keyed;
mod log;
mod missing_files;
mod operation;
mod provenance;
mod there_and_back;
mod txnlog;
mod value;
