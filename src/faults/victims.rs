//! Whom a window hits, once its trigger has fired.

use crate::backend::Cluster;
use crate::engine::Fired;
use anyhow::{Context, Result};
use futures_util::future::join_all;
use zooquake_history::plan::{Target, Window};

/// The nodes that a window hits.
///
/// # Errors
/// If there is none at the moment: nobody leads, nobody holds, or the holder is not connected.
pub async fn victims(cluster: &dyn Cluster, window: &Window, fired: &Fired) -> Result<Vec<String>> {
    Ok(match &window.target {
        Target::Node(name) => vec![name.clone()],
        Target::Servers(names) => names.clone(),
        Target::Client => vec![fired.client.clone().context("the trigger names no client")?],
        Target::Leader => vec![leader(cluster).await.context("no server led")?],
        Target::HolderServer => {
            let holder = fired
                .holder
                .as_deref()
                .or(fired.client.as_deref())
                .context("nobody held")?;
            let server = cluster.server_of(holder).await?;
            vec![server.with_context(|| format!("{holder} was not connected to a server"))?]
        }
    })
}

/// The server that leads: of those that say so, the one with the highest epoch, because a deposed leader goes on saying
/// it for a while.
pub async fn leader(cluster: &dyn Cluster) -> Option<String> {
    let servers = cluster.servers();
    let states = join_all(servers.iter().map(|server| cluster.server_state(server))).await;
    let leading = servers
        .into_iter()
        .zip(states)
        .filter_map(|(server, state)| Some((server, state.ok()?)));
    leading
        .filter(|(_, state)| state.leads())
        .max_by_key(|(_, state)| state.epoch())
        .map(|(server, _)| server)
}
