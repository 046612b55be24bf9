//! What an administrator asks of the ensemble in memory, through a server.

use super::cluster::SimCluster;
use anyhow::{Context, Result, bail, ensure};
use futures_util::future::{Either, select};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use zooquake_backend::{ServerState, lineage};
use zooquake_workloads::zk::{Connect, CreateMode, Error, Host, Zk, session_hex};

/// How long servers may take to serve.
const READY: Duration = Duration::from_secs(60);

/// How long an administrator waits for a server.
const ADMIN: Duration = Duration::from_secs(20);

/// How long a client may take to come back before that is not waited for any longer.
const BACK: Duration = Duration::from_secs(2);

impl SimCluster {
    /// Waits until something is so of servers or sessions; whether it came about in time.
    pub(super) async fn until(&self, limit: Duration, holds: impl Fn() -> bool) -> bool {
        let changes = self.net.server().changes();
        let comes = changes.until(|_| holds().then_some(()));
        matches!(select(pin!(comes), self.world.sleep(limit)).await, Either::Left(_))
    }

    /// A session through a server. To open one is a write, so that the server then has all that was acknowledged
    /// before.
    pub(super) async fn session(&self, server: &str) -> Result<Arc<dyn Zk>> {
        let opening = self.net.at(self.server(server)?).connect();
        match select(opening, self.world.sleep(ADMIN)).await {
            Either::Left((session, _)) => Ok(session),
            Either::Right(_) => bail!("{server} opened no session within {} s", ADMIN.as_secs()),
        }
    }

    pub(super) async fn create_through(&self, server: &str, paths: &[String]) -> Result<()> {
        let session = self.session(server).await?;
        for path in paths.iter().flat_map(|path| lineage(path)) {
            match session.create(path, b"", CreateMode::Persistent).await {
                Ok(_) | Err(Error::NodeExists) => {}
                Err(error) => bail!("creating {path} through {server}: {error}"),
            }
        }
        Ok(())
    }

    pub(super) fn state_of(&self, server: &str) -> Result<ServerState> {
        let state = self.net.server().state_of(self.server(server)?);
        let (mode, zxid) = state.with_context(|| format!("{server} does not serve"))?;
        Ok(ServerState {
            mode: mode.to_string(),
            zxid,
            version: "model".to_string(),
        })
    }

    pub(super) async fn until_ready(&self) -> Result<()> {
        let serve = || self.servers.iter().all(|server| self.state_of(server).is_ok());
        ensure!(
            self.until(READY, serve).await,
            "the ensemble does not serve after {} s",
            READY.as_secs()
        );
        Ok(())
    }

    pub(super) async fn come_back(&self, client: &str) -> Result<String> {
        let host = self.node(client)?;
        self.net.server().let_through(host);
        match self.until(BACK, || self.net.server().server_for(host).is_some()).await {
            true => Ok(format!("a server accepted the next connection of {client}")),
            false => Ok(format!("{client} has no connection, and none would be refused")),
        }
    }

    pub(super) async fn close_newest(&self, client: &str) -> Result<Option<String>> {
        let host = self.node(client)?;
        let (session, zxid) = {
            let mut ensemble = self.net.server();
            let Some(session) = ensemble.session_on(host) else {
                return Ok(None);
            };
            (session, ensemble.close_session(session).context("nobody leads")?)
        };
        let gone = || !self.net.server().sessions_alive().contains(&session);
        ensure!(
            self.until(ADMIN, gone).await,
            "session {} is still there",
            session_hex(session)
        );
        Ok(Some(format!(
            "session {} was closed, as zxid {zxid:#x}, and is refused since",
            session_hex(session)
        )))
    }

    pub(super) async fn silent_session(&self, server: &str, timeout: Duration) -> Result<u64> {
        let at = self.server(server)?;
        self.state_of(server)?;
        let silent = self.net.at(at).silent(timeout).connect().await;
        let (session, begun) = (silent.session(), self.world.now());
        let gone = || !self.net.server().has_session(at, session);
        ensure!(
            self.until(timeout * 10 + ADMIN, gone).await,
            "a silent session did not expire"
        );
        Ok(u64::try_from((self.world.now() - begun).as_millis()).unwrap_or(u64::MAX))
    }
}
