//! zooquake shakes real ZooKeeper ensembles until the recipes built on them break, and proves it from the history.

// Before all others, whose macros it brings.
#[macro_use]
mod terminal;

mod alive;
mod cli;
mod cluster;
mod compare;
mod faults;
mod images;
mod journal;
mod judge;
mod naming;
mod nightly;
mod pack;
mod replay;
mod run;
mod sidecar;
mod txnlog;
mod watcher;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
