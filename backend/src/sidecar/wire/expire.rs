//! A session that is closed from another connection, which takes it up with its id and password.

use super::frame::{self, Session};
use super::relay::Upstream;
use super::{Proxy, locked};
use anyhow::{Context, Result, anyhow, ensure};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

/// How long a server may take to answer.
const ANSWERS_WITHIN: Duration = Duration::from_millis(1_500);

/// How long all of it may take.
const EXPIRES_WITHIN: Duration = Duration::from_secs(6);

/// The number of the only request after the first.
const XID: i32 = 1;

/// What was seen when a session was closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpiryEffect {
    /// Its id, as `0x…`.
    pub session: String,
    /// The zxid of the transaction that closed it.
    pub zxid: i64,
}

impl Proxy {
    /// Closes the session of the client's newest connection over another one, to the first of these servers that takes
    /// it up, and sees it refused afterwards; `None` if the client has no connection, or its session is over already.
    ///
    /// Connections that the client makes meanwhile wait: a server that is asked for one session twice ends one of the
    /// two connections, or leaves it without an answer.
    ///
    /// # Errors
    /// If no server answers, the session is not closed in time, or it can be taken up afterwards.
    pub async fn expire(&self, servers: &[SocketAddr]) -> Result<Option<ExpiryEffect>> {
        self.held.send_replace(true);
        let expired = timeout(EXPIRES_WITHIN, self.close_newest(servers)).await;
        self.held.send_replace(false);
        expired.context("the session was not closed in time")?
    }

    /// Waits while connections are held back.
    pub(super) async fn not_held(&self) {
        // The proxy keeps the channel open as long as it is asked.
        let _ = self.held.subscribe().wait_for(|held| !held).await;
    }

    async fn close_newest(&self, servers: &[SocketAddr]) -> Result<Option<ExpiryEffect>> {
        let newest = locked(&self.sessions)
            .iter()
            .max_by_key(|(connection, _)| **connection)
            .map(|(_, newest)| newest.clone());
        let Some((its_server, session)) = newest else {
            return Ok(None);
        };
        // The client's own server would end its connection before the session is closed.
        let mut servers = servers.to_vec();
        servers.sort_by_key(|server| *server == its_server);
        let mut why = anyhow!("there is no server");
        for server in servers {
            match take_up(server, &session).await {
                Ok(Some(own)) => {
                    let zxid = close(own)
                        .await
                        .with_context(|| format!("closing session {session:?}"))?;
                    // What `Proxy::reconnect` waits for can only be another session.
                    self.mark.store(*self.accepted.borrow(), Ordering::Relaxed);
                    let again = take_up(server, &session).await?;
                    ensure!(again.is_none(), "session {session:?} was taken up after its end");
                    let session = format!("{session:?}");
                    return Ok(Some(ExpiryEffect { session, zxid }));
                }
                Ok(None) => return Ok(None),
                Err(error) => why = error,
            }
        }
        Err(why.context(format!("taking up session {session:?}")))
    }
}

/// Takes a session up over another connection; `None` if the server refuses it because it is over.
async fn take_up(server: SocketAddr, session: &Session) -> Result<Option<Upstream>> {
    let answer = async {
        let mut own = Upstream::connect(server).await?;
        own.out.write_all(&session.take_up()).await?;
        let first = own.answers.next().await?;
        Ok(first.map(|first| frame::session(&first).map(|_| own)))
    };
    answered(answer).await.with_context(|| format!("asking {server}"))
}

/// Closes the session of a connection; the zxid of that.
async fn close(mut own: Upstream) -> Result<i64> {
    let answer = async {
        own.out.write_all(&frame::close(XID)).await?;
        Ok(own.answers.next().await?.map(|reply| frame::replied(&reply)))
    };
    let reply = answered(answer).await?.context("the answer is none")?;
    ensure!((reply.xid, reply.err) == (XID, 0), "answered by {reply:?}");
    Ok(reply.zxid)
}

async fn answered<T>(answer: impl Future<Output = std::io::Result<Option<T>>>) -> Result<T> {
    let answer = timeout(ANSWERS_WITHIN, answer).await.context("no answer in time")??;
    answer.context("the connection ended without an answer")
}
