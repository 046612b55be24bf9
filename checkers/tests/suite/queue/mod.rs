//! Queues and barriers: histories by hand, random ones, and the definitions taken literally.

mod agree;
mod barriers;
mod brute;
mod contradictions;
mod items;
mod meetings;
mod scale;
pub mod told;
mod world;
