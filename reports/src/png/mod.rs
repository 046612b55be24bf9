//! Pictures for places that show no pages.
pub mod latency;
pub mod rate;
pub mod timeline;
