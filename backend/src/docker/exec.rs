//! Processes in containers, each with a stream of its own.

use super::POLL;
use crate::Stdin;
use crate::retry::{Attempts, again};
use anyhow::{Context, Result, bail, ensure};
use futures_util::StreamExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use testcontainers::bollard::Docker;
use testcontainers::bollard::container::LogOutput;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::exec::{CreateExecOptions, StartExecOptions, StartExecResults};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use zooquake_history::protocol::ProcessOutput;

/// Most bytes that a process's log takes; the rest is left out, so that no process fills the disk.
const LOG: u64 = 256 << 20;

/// Most bytes of a line; a longer one is handed on in pieces. The tree of a large ensemble is one line.
const LINE: usize = 32 << 20;

/// Most bytes that a process writes which is run to its end.
const OUTPUT: usize = 64 << 20;

/// Longest time that such a process takes.
const RUNS_WITHIN: Duration = Duration::from_secs(120);

/// A process whose streams were lost with the answer to its start ends within this time, because its stdin does.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// What to start.
#[derive(Debug, Clone)]
pub struct Command {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Environment, added to the container's.
    pub env: Vec<(String, String)>,
    /// File that its stderr is appended to, and its stdout too if `log_stdout`.
    pub log: PathBuf,
    /// Whether stdout is a log as well, rather than lines of a protocol.
    pub log_stdout: bool,
}

/// A process that was started.
#[derive(Debug)]
pub struct StartedProcess {
    /// The way to it.
    pub stdin: Stdin,
    /// Its id at the engine.
    pub exec: String,
}

/// Starts a process in the container; `on_output` receives all of its output, in order, from one task.
///
/// # Errors
/// If the container does not take the process: it is gone, paused, or lacks the program.
pub async fn spawn(
    docker: &Docker,
    container: &str,
    command: &Command,
    mut on_output: impl FnMut(ProcessOutput) + Send + 'static,
) -> Result<StartedProcess> {
    let config = CreateExecOptions {
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        cmd: Some(command.argv.clone()),
        env: Some(command.env.iter().map(|(k, v)| format!("{k}={v}")).collect()),
        ..Default::default()
    };
    let what = || format!("starting `{}` in container {container}", command.argv.join(" "));
    let (exec, started) = start(docker, container, config).await.with_context(what)?;
    let StartExecResults::Attached { mut output, input } = started else {
        bail!("{}: the engine did not attach its streams", what());
    };
    let mut log = tokio::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&command.log)
        .await
        .with_context(|| format!("opening the log {}", command.log.display()))?;
    let log_stdout = command.log_stdout;
    tokio::spawn(async move {
        let mut partial = Vec::new();
        let mut left = LOG;
        while let Some(Ok(chunk)) = output.next().await {
            match chunk {
                LogOutput::StdOut { message } if !log_stdout => lines(&mut partial, &message, &mut on_output),
                other if left > 0 => {
                    let bytes = other.into_bytes();
                    left = left.saturating_sub(bytes.len() as u64);
                    // A log that cannot be written (disk full) must not stop the run.
                    let _ = log.write_all(&bytes).await;
                    if left == 0 {
                        let _ = log
                            .write_all(b"\nzooquake: this log is full, the rest is left out\n")
                            .await;
                    }
                }
                _ => {}
            }
        }
        let _ = log.flush().await;
        on_output(ProcessOutput::Ended);
    });
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(write_lines(input, receiver));
    Ok(StartedProcess {
        stdin: Stdin::new(sender),
        exec,
    })
}

/// Starts a process, and starts it again if the engine fails: once the first one has ended, of which nobody would hear.
/// Returns its id, and its streams.
async fn start(
    docker: &Docker,
    container: &str,
    config: CreateExecOptions<String>,
) -> Result<(String, StartExecResults), Error> {
    let mut attempts = Attempts::new();
    loop {
        let exec = again(|| docker.create_exec(container, config.clone())).await?.id;
        let options = StartExecOptions {
            detach: false,
            tty: false,
            output_capacity: Some(1 << 16),
        };
        match docker.start_exec(&exec, Some(options)).await {
            Err(error) if attempts.another(&error).await && ends(docker, &exec).await => {}
            started => return started.map(|started| (exec, started)),
        }
    }
}

/// Whether a process ends in time, or never ran, as one does whose streams have ended.
pub async fn ends(docker: &Docker, exec: &str) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < ENDS_WITHIN {
        let seen = again(|| docker.inspect_exec(exec)).await;
        if seen.is_ok_and(|seen| seen.running != Some(true)) {
            return true;
        }
        tokio::time::sleep(POLL).await;
    }
    false
}

/// Cuts complete lines out of the stream; what is left waits in `partial`.
fn lines(partial: &mut Vec<u8>, bytes: &[u8], on_output: &mut impl FnMut(ProcessOutput)) {
    for byte in bytes {
        if *byte == b'\n' || partial.len() == LINE {
            on_output(ProcessOutput::Line(String::from_utf8_lossy(partial).into_owned()));
            partial.clear();
        }
        if *byte != b'\n' {
            partial.push(*byte);
        }
    }
}

async fn write_lines(mut input: std::pin::Pin<Box<dyn AsyncWrite + Send>>, mut lines: mpsc::UnboundedReceiver<String>) {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        if input.write_all(line.as_bytes()).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
    // The process sees the end of its stdin; an error means that it has gone already.
    let _ = input.shutdown().await;
}

/// Runs a process in the container to its end and returns its stdout.
///
/// # Errors
/// If it does not start, ends with another code than 0 (the message has its last lines), goes on for two minutes, or
/// writes more than 64 MiB.
pub async fn run(docker: &Docker, container: &str, argv: &[&str]) -> Result<Vec<u8>> {
    let whole = tokio::time::timeout(RUNS_WITHIN, run_to_end(docker, container, argv)).await;
    whole.with_context(|| {
        let seconds = RUNS_WITHIN.as_secs();
        format!(
            "running `{}` in container {container} took longer than {seconds} s",
            argv.join(" ")
        )
    })?
}

async fn run_to_end(docker: &Docker, container: &str, argv: &[&str]) -> Result<Vec<u8>> {
    let config = CreateExecOptions {
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        cmd: Some(argv.iter().map(|a| (*a).to_string()).collect()),
        ..Default::default()
    };
    let what = || format!("running `{}` in container {container}", argv.join(" "));
    let exec = again(|| docker.create_exec(container, config.clone()))
        .await
        .with_context(what)?;
    let StartExecResults::Attached { mut output, .. } = docker
        .start_exec(&exec.id, None::<StartExecOptions>)
        .await
        .with_context(what)?
    else {
        bail!("{}: the engine did not attach its streams", what());
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    while let Some(chunk) = output.next().await {
        match chunk.with_context(what)? {
            LogOutput::StdErr { message } => stderr.extend_from_slice(&message),
            other => stdout.extend_from_slice(&other.into_bytes()),
        }
        ensure!(
            stdout.len() + stderr.len() <= OUTPUT,
            "{} wrote more than {} MiB",
            what(),
            OUTPUT >> 20
        );
    }
    let code = again(|| docker.inspect_exec(&exec.id))
        .await
        .with_context(what)?
        .exit_code;
    if code != Some(0) {
        let text = String::from_utf8_lossy(if stderr.is_empty() { &stdout } else { &stderr }).into_owned();
        let tail: Vec<&str> = text.lines().rev().take(10).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        bail!("{} ended with code {code:?}:\n{}", what(), tail.join("\n"));
    }
    Ok(stdout)
}
