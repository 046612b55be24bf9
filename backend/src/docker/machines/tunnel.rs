//! The way to an engine through the system's ssh, which has the user's keys, hosts and configuration.

use super::address::SshTarget;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::task::JoinHandle;

/// How long a connection may take to be made. Nobody is there to type a password.
const OPENS_WITHIN: Duration = Duration::from_secs(30);

/// What is written through the tunnel and read again once it is open.
const GREETING: &str = "zooquake";

/// How the folder of a tunnel is called, before the id of its process.
const FOLDER: &str = "zooquake-ssh-";

/// Most bytes of ssh's complaint that are shown.
const COMPLAINT: u64 = 2_000;

/// Rest before a tunnel that has ended is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// A forwarded socket, which is forwarded again whenever that ends.
#[derive(Debug)]
pub struct Tunnel {
    folder: TempDir,
    keeping: JoinHandle<()>,
}

/// The ssh that forwards it. The command at its far end reads our stdin: when this program ends, however that comes
/// about, so does ssh.
#[derive(Debug)]
struct SshProcess {
    ssh: Child,
    _stdin: ChildStdin,
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.keeping.abort();
    }
}

impl Tunnel {
    /// Opens a tunnel to an engine's socket.
    ///
    /// # Errors
    /// If there is no ssh, or it does not connect, with its own words.
    pub async fn open(target: &SshTarget) -> Result<Self> {
        // No other user can look into a folder that is made so.
        remove_orphans();
        let prefix = format!("{FOLDER}{}-", std::process::id());
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir();
        let folder = folder.context("making a temporary folder for the socket of a tunnel")?;
        let local = socket(folder.path());
        let opened = SshProcess::start(target, &local).await?;
        Ok(Self {
            folder,
            keeping: tokio::spawn(keep(target.clone(), local, opened)),
        })
    }

    /// The socket of this machine that leads there.
    pub fn socket(&self) -> PathBuf {
        socket(self.folder.path())
    }
}

/// Opens a tunnel again whenever it ends, until the task is aborted.
async fn keep(target: SshTarget, local: PathBuf, mut opened: SshProcess) {
    loop {
        // Whatever its exit code is, it is over.
        drop(opened.ssh.wait().await);
        log::warn!("ssh to {} has ended, and is started again", target.destination);
        opened = loop {
            tokio::time::sleep(AGAIN).await;
            match SshProcess::start(&target, &local).await {
                Ok(opened) => break opened,
                Err(error) => log::info!("{error:#}"),
            }
        };
    }
}

impl SshProcess {
    /// Starts it, and sees that it is connected.
    async fn start(target: &SshTarget, local: &Path) -> Result<Self> {
        let mut ssh = Command::new("ssh")
            .args(arguments(target, local))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .process_group(0)
            .spawn()
            .context("starting `ssh`, which leads to this host")?;
        let (stdin, stdout) = (ssh.stdin.take(), ssh.stdout.take());
        let (mut stdin, stdout) = stdin.zip(stdout).context("ssh has no pipes")?;
        let greeted = async {
            stdin.write_all(format!("{GREETING}\n").as_bytes()).await?;
            stdin.flush().await?;
            BufReader::new(stdout).lines().next_line().await
        };
        match tokio::time::timeout(OPENS_WITHIN, greeted).await {
            Ok(Ok(Some(line))) if line == GREETING => {}
            Ok(_) => bail!(
                "ssh did not connect to {}: {}",
                target.destination,
                complaint(&mut ssh).await
            ),
            Err(_) => bail!(
                "ssh did not connect to {} in {} s",
                target.destination,
                OPENS_WITHIN.as_secs()
            ),
        }
        Ok(Self { ssh, _stdin: stdin })
    }
}

/// Removes the folders of programs that were killed. One that cannot be removed is another user's.
fn remove_orphans() {
    let entries = std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(FOLDER)?.split_once('-'));
        let Some((process, _)) = owner else { continue };
        let is_number = process.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && !Path::new("/proc").join(process).exists() {
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
}

fn socket(folder: &Path) -> PathBuf {
    folder.join("engine.sock")
}

/// Of `ssh`: forward the socket, ask nobody anything, end rather than run without it, and notice a host that is gone.
fn arguments(target: &SshTarget, local: &Path) -> Vec<String> {
    let options = [
        "BatchMode=yes",
        "ExitOnForwardFailure=yes",
        "StreamLocalBindUnlink=yes",
        "ServerAliveInterval=5",
        "ServerAliveCountMax=3",
        "ControlMaster=no",
        "ControlPath=none",
    ];
    let mut all: Vec<String> = vec!["-T".into()];
    all.extend(
        options
            .iter()
            .flat_map(|option| ["-o".to_owned(), (*option).to_owned()]),
    );
    all.extend(target.port.iter().flat_map(|port| ["-p".to_owned(), port.to_string()]));
    all.extend(["-L".to_owned(), format!("{}:{}", local.display(), target.socket)]);
    all.extend(["--".to_owned(), target.destination.clone(), "cat".to_owned()]);
    all
}

/// The end of what ssh wrote to its stderr.
async fn complaint(ssh: &mut Child) -> String {
    let mut text = Vec::new();
    if let Some(stderr) = ssh.stderr.take() {
        // What cannot be read in time is not shown.
        let mut stderr = stderr.take(COMPLAINT);
        let reading = stderr.read_to_end(&mut text);
        drop(tokio::time::timeout(Duration::from_secs(2), reading).await);
    }
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.is_empty() {
        true => "it ended without a word".to_owned(),
        false => lines.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_is_given_the_destination_behind_the_end_of_its_options() {
        let target = SshTarget {
            destination: "me@b".into(),
            port: Some(2222),
            socket: "/var/run/docker.sock".into(),
        };
        let all = arguments(&target, Path::new("/tmp/t/engine.sock"));
        let end = &all[all.len() - 7..];
        let expected = [
            "-p",
            "2222",
            "-L",
            "/tmp/t/engine.sock:/var/run/docker.sock",
            "--",
            "me@b",
            "cat",
        ];
        assert_eq!(end, expected);
        assert!(all.contains(&"BatchMode=yes".to_owned()));
    }
}
