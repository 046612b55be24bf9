//! `zooquake try`

use super::exit::{Code, Usage};
use super::interrupt;
use crate::backends::docker::pin;
use crate::planning::case::Subject;
use crate::planning::names::{self, NamedWorkload};
use crate::planning::recipe;
use crate::terminal::line;
use crate::trial::{self, ClientTrial, Finding, SentenceVerdict};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use zooquake_backend::Backend;
use zooquake_backend::docker::DockerBackend;
use zooquake_history::plan::Workload;

/// `try`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zooquake try ./my-lock
  zooquake try lock/fenced --json

Exit codes: 0 all that was tried holds, 1 a sentence is broken.")]
pub struct TrialOptions {
    /// Folder of a recipe, or a variant
    pub workload: String,
    /// JSON on stdout: each sentence with what was seen
    #[arg(long)]
    pub json: bool,
}

/// Holds a client against the protocol.
///
/// # Errors
/// [`Usage`] for a name that stands for no client; otherwise the harness failed.
pub async fn trial(options: &TrialOptions) -> Result<Code> {
    recipe::prepare(&options.workload).await?;
    let NamedWorkload { workload, subject } = names::named(&options.workload).map_err(Usage)?;
    if matches!(subject, Subject::Scenes(_)) {
        return Err(Usage(format!("{} has no clients to try", workload.name())).into());
    }
    let name = workload.name();
    let logs = tempfile::tempdir().context("making a folder for the logs")?;
    let mut interrupt = interrupt::listen()?;
    let ClientTrial { kit, findings } = tokio::select! {
        tried = on_docker(workload, logs.path()) => tried?,
        _ = interrupt.wait_for(|stop| *stop) => return Err(anyhow!("interrupted; `zooquake clean` removes what is left")),
    };
    let broken = findings
        .iter()
        .any(|finding| finding.outcome == SentenceVerdict::Broken);
    if options.json {
        let kit: Vec<&str> = kit.iter().map(|part| part.name()).collect();
        println!(
            "{}",
            json!({ "recipe": name, "sentences": findings, "holds": !broken, "kit": kit })
        );
    } else {
        let lines = findings.iter().map(shown).collect::<Vec<_>>().join("\n");
        lines.lines().for_each(|line| println!("{line}"));
        kit.iter().for_each(|part| println!("not tried {}", part.line()));
        let count = |outcome| findings.iter().filter(|finding| finding.outcome == outcome).count();
        let [held, wrong, rest] = [
            SentenceVerdict::Held,
            SentenceVerdict::Broken,
            SentenceVerdict::NotTried,
        ]
        .map(count);
        println!("{name}: {held} sentences hold, {wrong} are broken, {rest} were not tried");
    }
    if !broken {
        return Ok(Code::Valid);
    }
    for client in ["c1", "c2"] {
        tail(&logs.path().join(format!("{client}.log")), client);
    }
    Ok(Code::Invalid)
}

async fn on_docker(mut workload: Workload, logs: &Path) -> Result<ClientTrial> {
    let engine = DockerBackend::connect().await?;
    let backend: Arc<dyn Backend> = Arc::new(engine.with_images(None).await?);
    pin(&engine, None, &mut workload).await?;
    let run = format!("try-{:08x}", fastrand::u32(..));
    trial::conduct(&backend, &trial::case(workload)?, &run, logs.to_path_buf()).await
}

fn shown(finding: &Finding) -> String {
    let mark = match finding.outcome {
        SentenceVerdict::Held => "holds     ",
        SentenceVerdict::Broken => "BROKEN    ",
        SentenceVerdict::NotTried => "not tried ",
    };
    let seen = match finding.outcome {
        SentenceVerdict::Broken => format!("\n          seen: {}", line(&finding.seen)),
        SentenceVerdict::NotTried => format!("\n          since {}", line(&finding.seen)),
        SentenceVerdict::Held => String::new(),
    };
    format!("{mark}{}: {}{seen}", finding.sentence.name, finding.sentence.says)
}

/// The last lines that a client wrote on stderr.
fn tail(log: &Path, client: &str) {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    for text in &lines[lines.len().saturating_sub(10)..] {
        eprintln!("{client}: {}", line(text));
    }
}
