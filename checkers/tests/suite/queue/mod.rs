//! Queues and barriers: histories by hand, random ones, and the definitions taken literally.

mod agree;
mod barriers;
pub mod brute;
mod contradictions;
mod items;
pub mod meetings;
mod nameless;
mod orphans;
mod scale;
pub mod told;
pub mod world;
