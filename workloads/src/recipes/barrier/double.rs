//! The double barrier: members enter together and leave together. Each round has a parent of its own.
//!
//! The watch for `ready` is set before the own znode is created, so that no peer can pass in between unseen; `ready` is
//! persistent, is not counted, and is never deleted. A name carries a GUID, so that a create is known by its
//! NodeExists, and its client, who counts once: the znode of a session that the client has given up stands until the
//! servers end that session. Who leaves deletes its znode, and by that write sees every member who had entered before.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::select;
use zooquake_history::operation::ZnodeName;
use zooquake_history::operation::barrier::{BarrierAnswer as Answered, BarrierRequest as Asked, f};

use super::{ROUNDS, ensure, overdue, steady};
use crate::protocol::Request;
use crate::recipes::bug::Bug;
use crate::recipes::sessions::Handle;
use crate::recipes::{Env, HolderState, NOT_HELD, OpError, OwnZnode, WorkGuard};
use crate::service::{Answer, Service, SessionHandle, parse, unknown};
use crate::zk::{CreateMode, Error, SessionState, SharedValue, WatchEvent, Zk, session_hex};

/// Prefix of the name of the znode that marks the barrier as complete.
const READY: &str = "ready";

/// The client whose znode has this name.
fn client_of(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(client, _)| client)
}

/// `barrier/double`.
pub struct Double {
    env: Env,
    handle: Handle,
    holder: HolderState,
    /// The round that the client is in, and its znode there.
    inside: SharedValue<Option<(i64, OwnZnode)>>,
}

impl Double {
    /// A client that begins to open its session.
    pub fn new(env: &Env) -> Self {
        Self {
            env: env.clone(),
            handle: Handle::open(env),
            holder: HolderState::default(),
            inside: SharedValue::new(None),
        }
    }

    async fn enter(&self, round: i64, members: usize) -> Result<Answer, OpError> {
        loop {
            let zk = self.handle.live().await;
            let (parent, client, guid) = (self.parent(round), &self.env.client, self.env.host.random());
            let own = format!("{parent}/{client}-{guid:032x}");
            let mut mine = None;
            while !zk.state().is_over() {
                match self.pass(zk.as_ref(), (round, members), &own, &mut mine).await {
                    Ok(true) => {
                        let Some(mine) = mine else { break };
                        let answer = Answered::Member {
                            round,
                            znode: ZnodeName::from(&mine),
                            session: session_hex(zk.session()),
                        };
                        self.inside.update(|inside| *inside = Some((round, mine)));
                        return Ok(Answer::ok(answer));
                    }
                    Ok(false) => {}
                    Err(error) if error.is_definite() => return Err(OpError::unknown("enter", &error)),
                    Err(_) => _ = steady(&self.env, zk.as_ref()).await,
                }
            }
            // Its znode goes with the session; the next one begins anew.
            self.holder.disown_session(zk.session());
        }
    }

    /// Tries to enter. False if something else than `ready` happened, after which it has to look again.
    async fn pass(
        &self,
        zk: &dyn Zk,
        (round, members): (i64, usize),
        own: &str,
        mine: &mut Option<OwnZnode>,
    ) -> Result<bool, Error> {
        let (parent, ready) = (self.parent(round), self.ready(round));
        ensure(zk, ROUNDS).await?;
        ensure(zk, &parent).await?;
        if mine.is_none() && self.env.has(Bug::WatchesReadyLate) {
            // The others may pass before it watches.
            *mine = Some(self.appear(zk, own).await?);
        }
        let (there, watch) = zk.exists_and_watch(&ready).await?;
        if mine.is_none() {
            *mine = Some(self.appear(zk, own).await?);
        }
        if there.is_some() {
            return Ok(true);
        }
        let names = zk.children(&parent).await?;
        let counts = |name: &&String| self.env.has(Bug::FormerReadyCounted) || !name.starts_with(READY);
        let present: BTreeSet<&str> = names.iter().filter(counts).map(|name| client_of(name)).collect();
        if present.len() >= members {
            return match zk.create(&ready, b"", CreateMode::Persistent).await {
                Ok(_) | Err(Error::NodeExists) => Ok(true),
                Err(error) => Err(error),
            };
        }
        if self.env.has(Bug::AnyEventOpens) {
            // Any event of the session lets it in, too.
            select(watch, zk.changed(SessionState::Connected)).await;
            return Ok(true);
        }
        Ok(watch.await == WatchEvent::Created)
    }

    /// The parent of a round; all have the same where those of earlier ones are to be seen.
    fn parent(&self, round: i64) -> String {
        match self.env.has(Bug::FormerReadyCounted) {
            true => format!("{ROUNDS}/all"),
            false => format!("{ROUNDS}/{round}"),
        }
    }

    fn ready(&self, round: i64) -> String {
        match self.env.has(Bug::FormerReadyCounted) {
            true => format!("{}/{READY}-{round}", self.parent(round)),
            false => format!("{}/{READY}", self.parent(round)),
        }
    }

    /// Creates the own znode, and does not answer before it is known to be there or the session to be over.
    async fn appear(&self, zk: &dyn Zk, own: &str) -> Result<OwnZnode, Error> {
        let _busy = self.holder.busy();
        let created = match zk.create(own, b"", CreateMode::Ephemeral).await {
            Ok(created) => created.stat,
            // An earlier try has made it: no other client uses its name.
            Err(Error::NodeExists) => None,
            Err(error) => return Err(error),
        };
        let czxid = match created {
            Some(stat) => stat.czxid,
            None => {
                zk.exists(own)
                    .await?
                    .ok_or(Error::Unknown("it is gone".to_string()))?
                    .czxid
            }
        };
        let owned = OwnZnode {
            path: own.to_string(),
            czxid: Some(czxid),
            session: zk.session(),
        };
        self.holder.own(owned.clone());
        Ok(owned)
    }

    async fn leave(&self, round: i64) -> Result<Answer, OpError> {
        let inside = self.inside.with(Clone::clone);
        let Some((_, own)) = inside.filter(|(other, _)| *other == round) else {
            return Err(OpError::Fail(NOT_HELD.to_string()));
        };
        let mut removed = None;
        loop {
            let zk = self.handle.live().await;
            if self.env.has(Bug::WatchesReadyLate) {
                // As recipes do that use one parent again; who has not seen it waits for ever.
                drop(zk.delete(&self.ready(round), None).await);
            }
            // In each session anew, and be there nothing to delete: by a write of its own it sees all that was before.
            match zk.delete(&own.path, None).await {
                Ok(()) => removed = Some(ZnodeName::from(&own)),
                Err(Error::NoNode) => {}
                Err(error) if error.is_definite() => return Err(OpError::unknown("leave", &error)),
                Err(_) => {
                    steady(&self.env, zk.as_ref()).await;
                    continue;
                }
            }
            self.holder.disown(&own.path);
            if self.emptied(&zk, round).await? {
                self.inside.update(|inside| *inside = None);
                return Ok(Answer::ok(Answered::Left { round, removed }));
            }
        }
    }

    /// Waits until nobody is in a round. False if the session is over before.
    async fn emptied(&self, zk: &Arc<dyn Zk>, round: i64) -> Result<bool, OpError> {
        while !zk.state().is_over() {
            match zk.children_and_watch(&self.parent(round)).await {
                Ok((names, _)) if names.iter().all(|name| name.starts_with(READY)) => return Ok(true),
                Ok(_) if self.env.has(Bug::SecondListIgnored) => {
                    if let Ok((_, watch)) = zk.children_and_watch(&self.parent(round)).await {
                        watch.await;
                    }
                }
                Ok((_, watch)) => _ = watch.await,
                Err(error) if error.is_definite() => return Err(OpError::unknown("leave", &error)),
                Err(_) => _ = steady(&self.env, zk.as_ref()).await,
            }
        }
        Ok(false)
    }

    async fn answer(&self, request: &Request) -> Result<Answer, Answer> {
        Ok(match parse(request)? {
            Asked::Enter { round, members } => self.enter(round, members).await?,
            Asked::Leave { round } => self.leave(round).await?,
            _ => return Err(unknown(request)),
        })
    }
}

#[async_trait]
impl Service for Double {
    fn operations(&self) -> Vec<&'static str> {
        vec![f::ENTER, f::LEAVE]
    }

    async fn serve(
        &self,
        request: &Request,
        deadline: Option<Duration>,
    ) -> Result<(Answer, Option<WorkGuard>), Answer> {
        let answer = self.env.within(deadline, self.answer(request)).await;
        Ok((answer.ok_or_else(overdue)??, None))
    }

    async fn session(&self) -> SessionHandle {
        self.handle.session_handle().await
    }

    fn holder(&self) -> Option<&HolderState> {
        Some(&self.holder)
    }
}
