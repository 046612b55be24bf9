//! The servers' transaction logs, as bytes that the engine hands out: no program of an image takes part, and no server
//! has to run.

use super::DockerCluster;
use super::cluster::DockerNode;
use crate::Cluster;
use crate::txnlog::{Chunks, FolderLogs, read_archive};
use anyhow::{Context, Result, anyhow};
use futures_util::{StreamExt, stream};
use std::io;
use std::pin::pin;
use std::time::Duration;
use testcontainers::bollard::Docker;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::query_parameters::{DownloadFromContainerOptionsBuilder, InspectContainerOptions};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use zooquake_history::Node;
use zooquake_history::txnlog::{ServerEntries, TxnLogs, union};

/// How long it may take to read the logs of one server, all attempts together.
const LIMIT: Duration = Duration::from_secs(20);

/// How often they are read if something is wrong with what was read: a server that writes meanwhile may leave a hole in
/// it.
const ATTEMPTS: usize = 2;

/// How many servers' logs are read at a time: each takes the memory of a file.
const AT_A_TIME: usize = 2;

/// The folders of a server, by the variables of the official image, with what they are where a variable is not set.
const FOLDERS: [(&str, &str); 2] = [("ZOO_DATA_LOG_DIR", "/datalog"), ("ZOO_DATA_DIR", "/data")];

impl DockerCluster {
    /// The transaction logs of all servers.
    pub(super) async fn read_transactions(&self) -> TxnLogs {
        let logs = self.servers().into_iter().map(|server| self.server_entries(server));
        union(stream::iter(logs).buffered(AT_A_TIME).collect().await)
    }

    async fn server_entries(&self, server: Node) -> ServerEntries {
        let FolderLogs { entries, problems } = self.server_log(&server).await;
        ServerEntries {
            voter: self.plan.cluster.voters().contains(&server),
            server: server.to_string(),
            entries,
            problems,
        }
    }

    /// The logs of one server, by the attempt that read all of them, else by the one that read most.
    async fn server_log(&self, server: &Node) -> FolderLogs {
        let deadline = Instant::now() + LIMIT;
        let mut best: Option<FolderLogs> = None;
        for _ in 0..ATTEMPTS {
            let read = timeout_at(deadline, self.folders(server)).await;
            let read = read.unwrap_or_else(|_| Err(anyhow!("reading took longer than {} s", LIMIT.as_secs())));
            let logs = read.unwrap_or_else(|error| FolderLogs {
                entries: Vec::new(),
                problems: vec![format!("{error:#}")],
            });
            if logs.problems.is_empty() {
                return logs;
            }
            if best.as_ref().is_none_or(|best| best.entries.len() < logs.entries.len()) {
                best = Some(logs);
            }
        }
        best.unwrap_or_default()
    }

    /// The logs of a server out of each of its folders. One that is not there holds none, but one has to be there.
    async fn folders(&self, server: &Node) -> Result<FolderLogs> {
        let DockerNode { docker, host, .. } = self.node(server)?;
        let details = docker
            .inspect_container(&host.id, None::<InspectContainerOptions>)
            .await;
        let environment = details.context("asking for the variables of its container")?.config;
        let environment = environment.and_then(|config| config.env).unwrap_or_default();
        let mut folders = FOLDERS.map(|(name, default)| {
            let mut set = environment
                .iter()
                .filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            set.next_back().unwrap_or(default).trim_end_matches('/').to_owned()
        });
        let mut logs = None::<FolderLogs>;
        folders.sort_unstable();
        let same = folders[0] == folders[1];
        for folder in &folders[usize::from(same)..] {
            let doing = || format!("reading {folder}/version-2");
            if let Some(read) = folder_logs(docker, &host.id, folder).await.with_context(doing)? {
                let all = logs.get_or_insert_default();
                all.entries.extend(read.entries);
                all.problems.extend(read.problems);
            }
        }
        logs.with_context(|| {
            format!(
                "its container has none of the folders {}",
                folders.map(|one| one + "/version-2").join(" and ")
            )
        })
    }
}

/// The logs in a folder; `None` if there is no such folder, or no such container.
async fn folder_logs(docker: &Docker, container: &str, folder: &str) -> Result<Option<FolderLogs>> {
    // The dot makes the engine follow a link, and refuse what is no folder.
    let path = format!("{folder}/version-2/.");
    let options = DownloadFromContainerOptionsBuilder::default().path(&path).build();
    let mut archive = pin!(docker.download_from_container(container, Some(options)).peekable());
    if let Some(Err(Error::DockerResponseServerError { status_code: 404, .. })) = archive.as_mut().peek().await {
        return Ok(None);
    }
    let (sender, receiver) = mpsc::channel(2);
    let reading = tokio::task::spawn_blocking(|| read_archive(Chunks::from(receiver)));
    while let Some(chunk) = archive.next().await {
        // The reader stops once the archive is over, or at a bound.
        if sender.send(chunk.map_err(io::Error::other)).await.is_err() {
            break;
        }
    }
    drop(sender);
    Ok(Some(reading.await.context("reading an archive")?))
}
