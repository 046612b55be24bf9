//! The timeline that zooms.
