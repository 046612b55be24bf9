//! Processes in containers, each with a stream of its own.

use crate::{Output, Stdin};
use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use std::path::PathBuf;
use testcontainers::bollard::Docker;
use testcontainers::bollard::container::LogOutput;
use testcontainers::bollard::exec::{CreateExecOptions, StartExecOptions, StartExecResults};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

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

/// Starts a process in the container and hands all it says to `on_output`, in order, from one task.
///
/// # Errors
/// If the container does not take the process: it is gone, paused, or lacks the program.
pub async fn spawn(
    docker: &Docker,
    container: &str,
    command: &Command,
    mut on_output: impl FnMut(Output) + Send + 'static,
) -> Result<Stdin> {
    let config = CreateExecOptions {
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        cmd: Some(command.argv.clone()),
        env: Some(command.env.iter().map(|(k, v)| format!("{k}={v}")).collect()),
        ..Default::default()
    };
    let what = || format!("starting `{}` in container {container}", command.argv.join(" "));
    let exec = docker.create_exec(container, config).await.with_context(what)?;
    let start = Some(StartExecOptions {
        detach: false,
        tty: false,
        output_capacity: Some(1 << 16),
    });
    let StartExecResults::Attached { mut output, input } =
        docker.start_exec(&exec.id, start).await.with_context(what)?
    else {
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
        while let Some(Ok(chunk)) = output.next().await {
            match chunk {
                LogOutput::StdOut { message } if !log_stdout => lines(&mut partial, &message, &mut on_output),
                other => {
                    // A log that cannot be written (disk full) must not stop the run.
                    let _ = log.write_all(&other.into_bytes()).await;
                }
            }
        }
        let _ = log.flush().await;
        on_output(Output::Ended);
    });
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(write_lines(input, receiver));
    Ok(Stdin::new(sender))
}

/// Cuts complete lines out of the stream; what is left waits in `partial`.
fn lines(partial: &mut Vec<u8>, bytes: &[u8], on_output: &mut impl FnMut(Output)) {
    for byte in bytes {
        if *byte == b'\n' {
            on_output(Output::Line(String::from_utf8_lossy(partial).into_owned()));
            partial.clear();
        } else {
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
/// If it does not start or ends with another code than 0; the message has its last lines.
pub async fn run(docker: &Docker, container: &str, argv: &[&str]) -> Result<Vec<u8>> {
    let config = CreateExecOptions {
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        cmd: Some(argv.iter().map(|a| (*a).to_string()).collect()),
        ..Default::default()
    };
    let what = || format!("running `{}` in container {container}", argv.join(" "));
    let exec = docker.create_exec(container, config).await.with_context(what)?;
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
    }
    let code = docker.inspect_exec(&exec.id).await.with_context(what)?.exit_code;
    if code != Some(0) {
        let text = String::from_utf8_lossy(if stderr.is_empty() { &stdout } else { &stderr }).into_owned();
        let tail: Vec<&str> = text.lines().rev().take(10).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        bail!("{} ended with code {code:?}:\n{}", what(), tail.join("\n"));
    }
    Ok(stdout)
}
