//! What a reader of a report sees and does, in a real browser.

mod chromium;
#[path = "../../reports/tests/suite/common/mod.rs"]
mod common;
mod history;
mod hostile;
mod index;
mod pages;
#[path = "../program/common/mod.rs"]
mod program;
mod readers;
mod tab;
mod timeline;
