//! What the orchestrator asks of ZooKeeper itself: set-up, probe writes, readings of the tree, the canary session.
//!
//! Asked from a sidecar through its own server's loopback, so that the orchestrator needs no route to the containers.

use crate::lineage;
use anyhow::{Context, Result, bail};
use std::time::{Duration, Instant};
use zookeeper_client::{Acls, Client, CreateMode, Error};
use zooquake_history::evidence::{Znode, data_text};

const SERVER: &str = "127.0.0.1:2181";
/// The znode that probe writes set.
pub(super) const PROBE: &str = "/zooquake/probe";
const CANARY: &str = "/zooquake/canary";

/// Opens a session on this host's server.
///
/// # Errors
/// If it opens none within its timeout.
pub(super) async fn connect() -> Result<Client> {
    Client::connector()
        .with_session_timeout(Duration::from_secs(4))
        .with_fail_eagerly()
        .connect(SERVER)
        .await
        .context("connecting to the host's server")
}

async fn create(client: &Client, path: &str, mode: CreateMode) -> Result<()> {
    match client.create(path, b"", &mode.with_acls(Acls::anyone_all())).await {
        Ok(_) | Err(Error::NodeExists) => Ok(()),
        Err(error) => Err(error).with_context(|| format!("creating {path}")),
    }
}

/// Creates persistent znodes, and those above them; one that exists is left as it is.
///
/// # Errors
/// If one cannot be created.
pub async fn setup(paths: &[String]) -> Result<()> {
    let client = connect().await?;
    for path in paths.iter().flat_map(|path| lineage(path)) {
        create(&client, path, CreateMode::Persistent).await?;
    }
    Ok(())
}

/// Writes the probe; the zxid of that.
async fn write_probe(client: &Client) -> Result<i64> {
    create(client, "/zooquake", CreateMode::Persistent).await?;
    create(client, PROBE, CreateMode::Persistent).await?;
    let stat = client.set_data(PROBE, b"probe", None).await;
    Ok(stat.context("writing the probe")?.mzxid)
}

/// Writes through this host's server, which needs a quorum; the zxid of the write.
///
/// # Errors
/// If the write is not acknowledged.
pub async fn probe_write() -> Result<i64> {
    write_probe(&connect().await?).await
}

/// Whether a znode is there, asked after a write in the same session, so that all that was acknowledged is seen.
///
/// # Errors
/// If the server cannot be asked.
pub async fn exists(path: &str) -> Result<bool> {
    let client = connect().await?;
    write_probe(&client).await?;
    let stat = client.check_stat(path).await;
    Ok(stat.with_context(|| format!("looking for {path}"))?.is_some())
}

/// Reads all znodes but ZooKeeper's own, after a write in the same session, so that all that was acknowledged is seen.
///
/// # Errors
/// If the server cannot be asked.
pub async fn tree() -> Result<Vec<Znode>> {
    let client = connect().await?;
    write_probe(&client).await?;
    let mut found = Vec::new();
    let mut todo = vec!["/".to_string()];
    while let Some(parent) = todo.pop() {
        let children = match client.list_children(&parent).await {
            Ok(children) => children,
            Err(Error::NoNode) => continue,
            Err(error) => return Err(error).with_context(|| format!("listing {parent}")),
        };
        for child in children {
            let path = format!("{}/{child}", parent.trim_end_matches('/'));
            if path == "/zookeeper" {
                continue;
            }
            match client.get_data(&path).await {
                Ok((data, stat)) => found.push(znode(&path, &data, &stat)),
                Err(Error::NoNode) => continue,
                Err(error) => return Err(error).with_context(|| format!("reading {path}")),
            }
            todo.push(path);
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn znode(path: &str, data: &[u8], stat: &zookeeper_client::Stat) -> Znode {
    Znode {
        path: path.to_string(),
        czxid: stat.czxid,
        mzxid: stat.mzxid,
        version: stat.version,
        owner: (stat.ephemeral_owner != 0).then(|| format!("{:#x}", stat.ephemeral_owner)),
        data: data_text(data),
    }
}

/// Opens a session with the clients' timeout, leaves it silent, and waits until the ensemble has expired it.
///
/// Every session that fell silent earlier under the same leader has expired by then too.
///
/// # Errors
/// If it does not expire within ten times its timeout and five seconds.
pub async fn canary(session_ms: u64) -> Result<u64> {
    let timeout = Duration::from_millis(session_ms);
    let silent = Client::connector()
        .with_session_timeout(timeout)
        .with_fail_eagerly()
        .with_detached()
        .connect(SERVER)
        .await
        .context("opening the canary session")?;
    create(&silent, "/zooquake", CreateMode::Persistent).await?;
    let path = format!("{CANARY}-{}", silent.session_id());
    create(&silent, &path, CreateMode::Ephemeral).await?;
    // Detached: the last clone closes the connection and leaves the session to its timeout.
    drop(silent);
    let begun = Instant::now();
    let observer = connect().await?;
    loop {
        let (stat, watcher) = observer
            .check_and_watch_stat(&path)
            .await
            .context("watching the canary")?;
        if stat.is_none() {
            return Ok(begun.elapsed().as_millis() as u64);
        }
        let limit = timeout * 10 + Duration::from_secs(5);
        if tokio::time::timeout(limit.saturating_sub(begun.elapsed()), watcher.changed())
            .await
            .is_err()
        {
            bail!(
                "the canary session of {session_ms} ms has not expired after {} ms",
                begun.elapsed().as_millis()
            );
        }
    }
}
