//! The checkers against histories written by hand, against a brute force, and against damage.

mod agree;
mod brute;
mod commit;
mod damage;
mod election;
mod ensemble;
mod leaderless;
mod naive;
mod notation;
mod queue;
mod register;
mod safety;
mod scale;
mod script;
mod search;
mod shutdown;
mod teller;
mod terms;
mod verdicts;
mod witness;
mod world;
