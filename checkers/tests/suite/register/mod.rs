//! The register: each anomaly by one history, silence on its nearest innocent twins, and the definitions taken literally.

mod agree;
pub mod brute;
mod linear;
mod lost;
mod scale;
mod stale;
pub mod told;
mod verdicts;
pub mod world;
