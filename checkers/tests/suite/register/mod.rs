//! The register: each anomaly by one history, silence on its nearest innocent twins, and the definitions taken literally.

mod agree;
mod brute;
mod linear;
mod lost;
mod scale;
mod stale;
mod told;
mod verdicts;
mod world;
