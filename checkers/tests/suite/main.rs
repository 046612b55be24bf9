//! The checkers against histories written by hand, against a brute force, and against damage.

mod agree;
mod brute;
mod damage;
mod naive;
mod safety;
mod scale;
mod script;
mod shutdown;
mod teller;
mod verdicts;
mod witness;
mod world;
