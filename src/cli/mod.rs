//! The command line.

mod args;
mod campaign;
mod check;
mod compare;
mod consent;
mod convert;
mod defaults;
#[cfg(test)]
mod documents;
mod exit;
mod explore;
mod generate;
mod help;
mod interrupt;
mod limits;
mod list;
mod measure;
mod merge;
#[cfg(test)]
mod names;
mod new;
mod nightly;
mod pack;
mod paths;
mod replay;
mod report;
mod run;
mod run_args;
mod schema;
mod selftest;
mod series;
mod shard;
mod shrink;
mod trial;
mod upkeep;

use crate::output::{self, Level};
use anyhow::{Result, anyhow};
use args::Command;
use exit::Code;
use std::process::ExitCode;
use zooquake_workloads::client;

/// Parses the command line and runs the command; returns the exit code.
pub fn main() -> ExitCode {
    let folder = std::env::current_dir().unwrap_or_default();
    let (arguments, told) = match defaults::parse(std::env::args_os().collect(), &folder) {
        Ok(parsed) => parsed,
        Err(error) => return not_parsed(&error),
    };
    output::say_up_to(match (arguments.quiet, arguments.verbose) {
        (true, _) => Level::Quiet,
        (false, true) => Level::Detail,
        (false, false) => Level::Progress,
    });
    output::install_logger();
    if let Some(told) = told {
        progress!("{told}");
    }
    if let Some(Err(error)) = arguments.command.is_of_users().then(limits::check) {
        eprintln!("zooquake: {error:#}");
        return Code::Harness.into();
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("zooquake: starting the runtime: {error}");
            return Code::Harness.into();
        }
    };
    let outcome = runtime.block_on(dispatch(arguments.command));
    // A blocked read of stdin must not keep the process.
    runtime.shutdown_background();
    match outcome.and_then(all_was_printed) {
        Ok(code) => code.into(),
        Err(error) => {
            eprintln!("zooquake: {error:#}");
            exit::code_of(&error).into()
        }
    }
}

/// How a command line ends that is none, or asks for help.
fn not_parsed(error: &anyhow::Error) -> ExitCode {
    let Some(error) = error.downcast_ref::<clap::Error>() else {
        eprintln!("zooquake: {error:#}");
        return exit::code_of(error).into();
    };
    // A closed terminal is no reason to fail differently.
    let _ = error.print();
    match error.use_stderr() {
        true => Code::Usage.into(),
        false => ExitCode::SUCCESS,
    }
}

/// Incomplete results are a failure, whatever the verdict.
fn all_was_printed(code: Code) -> Result<Code> {
    match output::lost() {
        None => Ok(code),
        Some(why) => Err(anyhow!("writing the results to stdout: {why}")),
    }
}

async fn dispatch(command: Command) -> Result<Code> {
    match command {
        Command::List(options) => list::list(&options),
        Command::New(options) => new::new(&options),
        Command::Run(options) => run::run(options).await,
        Command::Try(options) => trial::trial(&options).await,
        Command::Replay(options) => replay::replay(options).await,
        Command::Explore(options) => explore::explore(options).await,
        Command::Selftest(options) => selftest::selftest(options).await,
        Command::Shrink(options) => shrink::shrink(options).await,
        Command::Pack(options) => pack::pack(&options),
        Command::Check(options) => check::check(&options),
        Command::Compare(options) => compare::compare(options).await,
        Command::Nightly(options) => nightly::nightly(options).await,
        Command::Merge(options) => merge::merge(&options),
        Command::Convert(options) => convert::convert(&options),
        Command::Generate(options) => generate::generate(&options),
        Command::Report(options) => report::report(&options),
        Command::Images(options) => upkeep::images(&options).await,
        Command::Clean(options) => upkeep::clean(&options).await,
        Command::Measure(options) => measure::measure(options).await,
        Command::Schema(options) => schema::schema(&options),
        Command::Completions(options) => Ok(help::completions(&options)),
        Command::Man(options) => help::man(&options),
        Command::Crowd => client::run_crowd(client::Config::from_env()?)
            .await
            .map(|()| Code::Valid),
        Command::Client => client::run(client::Config::from_env()?).await.map(|()| Code::Valid),
        Command::Sidecar => zooquake_backend::sidecar::serve().await.map(|()| Code::Valid),
        Command::HealHost => {
            if zooquake_backend::sidecar::heal().await? {
                println!("healed");
            }
            Ok(Code::Valid)
        }
        Command::Lease => zooquake_backend::docker::hold_lease().await.map(|()| Code::Valid),
        Command::Watch { run, history, hosts } => zooquake_backend::docker::watch(&run, history.as_deref(), &hosts)
            .await
            .map(|()| Code::Valid),
    }
}
