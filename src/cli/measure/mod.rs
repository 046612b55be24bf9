//! `zooquake measure`: what recipes and the harness cost on a real ensemble without faults. One measurement a file.

pub mod args;
mod bench;
mod channel;
mod commit;
mod crowd;
mod herd;
mod outcome;
mod points;

use super::exit::Code;
use super::paths;
use anyhow::Result;
use args::{CommitOptions, HerdOptions, MeasureOptions, Measurement};

/// Measures what was asked for.
///
/// # Errors
/// [`super::exit::Usage`] for a variant that does not exist; otherwise the harness failed.
pub async fn measure(options: MeasureOptions) -> Result<Code> {
    if let Measurement::Herd(HerdOptions { common, .. }) | Measurement::Commit(CommitOptions { common, .. }) =
        &options.what
    {
        paths::output_folder(&common.out, "--out")?;
    }
    match options.what {
        Measurement::Herd(options) => herd::herd(options).await,
        Measurement::Commit(options) => commit::commit(options).await,
        Measurement::Channel(options) => channel::channel(&options).await,
    }
}
