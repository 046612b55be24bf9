//! Asking before an image is pulled that a file names, rather than the user.

use super::exit::Usage;
use crate::backend::docker;
use crate::images;
use anyhow::{Context, Result};
use std::io::{IsTerminal, stderr, stdin};
use std::path::Path;
use zooquake_checkers::plan::Plan;

/// Asks whether the image that a run's plan names may be pulled, if it is not there.
///
/// # Errors
/// [`Usage`] if it may not, or nobody can be asked; otherwise if no engine answers.
pub async fn to_pull(run: &Path, plan: &Plan) -> Result<()> {
    let request = images::Request::of(plan.cluster.image.as_deref());
    let Some(image) = images::to_pull(&docker::connect().await?, &request).await? else {
        return Ok(());
    };
    let asked = format!("The plan of {run:?} names the image {image}, which is not on this engine");
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        return Err(Usage(format!(
            "{asked}: --yes pulls and runs it, and so does `docker pull` before"
        ))
        .into());
    }
    eprint!("{}. Pull and run it? [y/N] ", crate::terminal::plain(&asked));
    let answer = tokio::task::spawn_blocking(|| {
        let mut answer = String::new();
        stdin().read_line(&mut answer).map(|_| answer)
    });
    let answer = answer.await.context("asking")?.context("reading the answer")?;
    match agrees(&answer) {
        true => Ok(()),
        false => Err(Usage(format!("{image} is not pulled, so {run:?} is not replayed")).into()),
    }
}

fn agrees(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::agrees;

    #[test]
    fn only_a_yes_is_a_yes() {
        assert!(agrees("y\n") && agrees(" Yes\n"));
        assert!(!agrees("") && !agrees("\n") && !agrees("n\n") && !agrees("yellow\n"));
    }
}
