//! What a reader sees and does, in a real browser.

mod chromium;
#[path = "../common/mod.rs"]
mod common;
mod hostile;
mod index;
mod pages;
mod readers;
mod tab;
mod timeline;
