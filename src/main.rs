//! zooquake shakes real ZooKeeper ensembles until the recipes built on them break, and proves it from the history.

// The standard macros panic when their reader has gone; those of `output`, which take their place, do not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod output;

mod backends;
mod calendar;
mod campaign;
mod cli;
mod compare;
mod confirm;
mod explore;
mod faults;
mod judge;
mod live;
mod measure;
mod merge;
mod nightly;
mod pack;
mod planning;
mod replay;
mod run;
mod selftest;
mod shell;
mod shrink;
mod template;
mod terminal;
mod trial;
mod version;

use std::process::ExitCode;

#[cfg(target_env = "gnu")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
