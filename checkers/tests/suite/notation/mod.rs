//! Other people's notations: what is read, what is said of damage, and what comes back when it is written again.

mod edn;
mod hostile;
mod log;
mod there_and_back;
