//! Exploring consensus protocols on networks: [`schedules`] plays one schedule after the other, in microseconds each;
//! [`search`] does so on all cores; [`failures`] has what is found as runs.

pub mod failures;
pub mod schedules;
pub mod search;
