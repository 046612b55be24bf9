//! The counter: each anomaly by one history, silence on its nearest innocent twins, and the definitions taken literally.

mod agree;
pub mod brute;
pub mod told;
mod verdicts;
pub mod world;
