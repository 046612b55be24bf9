//! Reports of runs of every family, of nights and comparisons, as files.

mod causes;
mod common;
mod diagrams;
mod elections;
mod families;
mod history;
mod hostile;
mod index;
mod measurement;
mod messages;
mod night;
mod nights;
mod numbers;
mod page;
mod pair;
mod pictures;
mod provenance;
mod sessions;
mod strikes;
mod witnesses;
