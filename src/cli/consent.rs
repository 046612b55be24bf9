//! Asking before a file, rather than the user, decides what is pulled, built and run.

use super::exit::Usage;
use anyhow::{Context, Result};
use std::io::{IsTerminal, stderr, stdin};
use std::path::Path;
use zooquake_backend::docker::DockerBackend;
use zooquake_backend::images::ImageRequest;
use zooquake_history::plan::{Plan, RecipeSource};

/// Asks whether the image that a run's plan names may be pulled, if it is not there, and whether the recipe that the
/// run has kept may be run.
///
/// # Errors
/// [`Usage`] if one may not, or nobody can be asked; otherwise if no engine answers.
pub async fn to_run(run: &Path, plan: &Plan) -> Result<()> {
    let engine = DockerBackend::connect().await?;
    let request = ImageRequest::from_name(plan.cluster.image.as_deref());
    if let Some(image) = engine.to_pull(&request).await? {
        let asked = format!("The plan of {run:?} names the image {image}, which is not on this engine");
        ask(
            &asked,
            "Pull and run it?",
            "--yes pulls and runs it, and so does `docker pull` before",
        )
        .await?;
    }
    let Some(recipe) = &plan.workload.recipe else {
        return Ok(());
    };
    let image = match &recipe.digest {
        Some(digest) if engine.image_id(digest).await?.is_none() => ", in an image that is not on this engine",
        _ => "",
    };
    let (does, command) = (doing(recipe), shown(&recipe.command));
    let asked = format!(
        "The run {run:?} has kept the recipe {}, whose clients ran {command}{image}",
        plan.workload.name()
    );
    ask(&asked, &format!("{does} it here?"), "--yes does so without asking").await
}

/// What running a recipe comes to.
fn doing(recipe: &RecipeSource) -> &'static str {
    match (&recipe.image, &recipe.build) {
        (Some(_), _) => "Pull its image, if that is not there, and run",
        (None, Some(_)) => "Build its Dockerfile, and run",
        (None, None) => "Run",
    }
}

fn shown(command: &[String]) -> String {
    crate::terminal::plain(&format!("`{}`", command.join(" ")))
}

async fn ask(asked: &str, question: &str, way_out: &str) -> Result<()> {
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        return Err(Usage(format!("{asked}: {way_out}")).into());
    }
    eprint!("{}. {question} [y/N] ", crate::terminal::plain(asked));
    let answer = tokio::task::spawn_blocking(|| {
        let mut answer = String::new();
        stdin().read_line(&mut answer).map(|_| answer)
    });
    let answer = answer.await.context("asking")?.context("reading the answer")?;
    match agrees(&answer) {
        true => Ok(()),
        false => Err(Usage(format!("{asked}. Nothing was run")).into()),
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
