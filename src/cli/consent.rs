//! Asking before a file, rather than the user, decides what is pulled, built and run.

use super::exit::Usage;
use crate::terminal::line;
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
    let hosts: Vec<String> = plan.cluster.hosts.iter().map(|host| host.address.clone()).collect();
    if !hosts.is_empty() {
        let asked = format!("The plan of {run:?} names the hosts {}", line(&hosts.join(", ")));
        ask(
            &asked,
            "Connect to them and run it there?",
            "--yes does so without asking",
        )
        .await?;
    }
    let engine = DockerBackend::connect_to(hosts).await?;
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
    let there = match &recipe.digest {
        Some(digest) => engine.image_id(digest).await?.is_some(),
        None => false,
    };
    let asked = executed(run, &plan.workload.name(), recipe, there);
    ask(&asked, "Execute that here?", "--yes does so without asking").await
}

/// What replaying a run executes that has kept a recipe; `there` if the image that its clients ran in is on this
/// engine.
fn executed(run: &Path, name: &str, recipe: &RecipeSource, there: bool) -> String {
    let hash = |path: &str| match recipe.files.get(path) {
        Some(hash) => format!("sha256:{hash}"),
        None => "no hash of it in the plan".to_owned(),
    };
    let image = match (&recipe.image, &recipe.build) {
        (Some(image), _) => format!("{}, pulled if it is not on this engine", line(image)),
        (None, Some(folder)) => {
            let file = match folder.as_str() {
                "." => "Dockerfile".to_owned(),
                folder => format!("{folder}/Dockerfile"),
            };
            line(&format!(
                "built from {file} ({}), whose commands run while it is built",
                hash(&file)
            ))
        }
        (None, None) => "zooquake-client, which zooquake itself builds".to_owned(),
    };
    let digest = match (&recipe.digest, there) {
        (Some(digest), true) => format!("{}, which is on this engine", line(digest)),
        (Some(digest), false) => format!("{}, which is not on this engine", line(digest)),
        (None, _) => "the plan names none".to_owned(),
    };
    let below = |named: &String| -> Vec<String> {
        let files = recipe.files.keys().filter(|path| Path::new(path).starts_with(named));
        match files.cloned().collect::<Vec<_>>() {
            files if files.is_empty() => vec![named.clone()],
            files => files,
        }
    };
    let files = recipe.carried.iter().flat_map(below);
    let files: Vec<String> = files.map(|path| line(&format!("{path} ({})", hash(&path)))).collect();
    let prepare = match recipe.prepare.is_empty() {
        true => String::new(),
        false => format!(
            "\n  not executed: {}, which made files on its host",
            shown(&recipe.prepare)
        ),
    };
    format!(
        "{run:?} has kept the recipe {name}, from the folder {:?} of the machine that ran it. Replaying it executes, in \
         containers:\n  command: {}\n  image: {image}\n  image that ran: {digest}\n  files, from {run:?}: {}{prepare}",
        recipe.folder,
        shown(&recipe.command),
        if files.is_empty() {
            "none".to_owned()
        } else {
            files.join(", ")
        },
    )
}

/// A command line as it is executed; what a terminal would not show is made visible.
fn shown(command: &[String]) -> String {
    line(&format!("`{}`", command.join(" ")))
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
    use super::{agrees, executed};
    use std::path::Path;
    use zooquake_history::plan::RecipeSource;

    #[test]
    fn what_is_executed_is_named_and_forges_no_line() {
        let recipe = RecipeSource {
            folder: "./my-lock".into(),
            build: Some(".".into()),
            prepare: vec!["make".into()],
            command: vec!["java".into(), "Lock\n  command: `true`".into()],
            carried: vec!["run.sh".into()],
            files: [("Dockerfile", "ab12"), ("run.sh", "cd34")]
                .map(|(path, hash)| (path.to_string(), hash.to_string()))
                .into(),
            digest: Some("sha256:ef56".into()),
            ..RecipeSource::default()
        };
        let text = executed(Path::new("failure.zooquake.tar.gz"), "lock/my-lock", &recipe, false);
        for part in [
            "\"failure.zooquake.tar.gz\" has kept the recipe lock/my-lock, from the folder \"./my-lock\"",
            "\n  command: `java Lock",
            "\n  image: built from Dockerfile (sha256:ab12)",
            "\n  image that ran: sha256:ef56, which is not on this engine",
            "\n  files, from \"failure.zooquake.tar.gz\": run.sh (sha256:cd34)",
            "\n  not executed: `make`",
        ] {
            assert!(text.contains(part), "{text} should contain {part}");
        }
        assert_eq!(text.matches("\n  command: ").count(), 1, "{text}");
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        assert!(agrees("y\n") && agrees(" Yes\n"));
        assert!(!agrees("") && !agrees("\n") && !agrees("n\n") && !agrees("yellow\n"));
    }
}
