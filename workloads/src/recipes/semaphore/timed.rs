//! Leases that last for a time, by the clock (Gray and Cheriton 1989): a lease is a persistent znode that states its
//! holder and its end. It needs no session and leaves nothing behind: who dies, or never hears that it was granted one,
//! keeps others away until its end, and no longer.
//!
//! Who finds a lease that is over writes it anew by the version that it has read, so that one of several does. The end
//! is counted from before that write, and written by a clock that may differ from others' by [`MARGIN_MS`]; a holder
//! stops so much earlier.

use std::time::Duration;

use async_trait::async_trait;

use super::CAPACITY;
use crate::recipes::bug::Bug;
use crate::recipes::grant::{GrantRecipe, Mode, ZnodeName, not_held};
use crate::recipes::requests::overdue;
use crate::recipes::sessions::Handle;
use crate::recipes::{Env, Grant, HeldGrant, HolderState, OpError, OwnZnode};
use crate::service::SessionHandle;
use crate::zk::{CreateMode, Error, Zk};

/// The parent of the leases' znodes.
pub const PARENT: &str = "/leases";

/// For how many milliseconds a lease lasts.
pub const LEASE_MS: u64 = 1_500;

/// By how many milliseconds clocks may differ.
pub const MARGIN_MS: u64 = 50;

/// `semaphore/timed`.
pub struct TimedLeases {
    env: Env,
    handle: Handle,
    holder: HolderState,
}

/// What a lease's znode states.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LeaseData {
    /// Milliseconds of the wall's clock at which it ends; 0 of one that was given back.
    end_ms: u64,
    /// A name that no other holder has.
    holder: String,
}

impl LeaseData {
    fn data(&self) -> Vec<u8> {
        format!("{} {}", self.end_ms, self.holder).into_bytes()
    }

    fn parse(data: &[u8]) -> Option<Self> {
        let (end_ms, holder) = std::str::from_utf8(data).ok()?.split_once(' ')?;
        Some(Self {
            end_ms: end_ms.parse().ok()?,
            holder: holder.to_string(),
        })
    }
}

impl TimedLeases {
    /// A client that begins to open its session.
    pub fn new(env: &Env) -> Self {
        Self {
            env: env.clone(),
            handle: Handle::open(env),
            holder: HolderState::default(),
        }
    }

    async fn take(&self, name: &str) -> Result<Grant, OpError> {
        let zk = self.handle.live().await;
        for lease in 0..CAPACITY.get() {
            if let Some(grant) = self.take_one(zk.as_ref(), name, &format!("{PARENT}/{lease}")).await? {
                self.holder.hold(HeldGrant {
                    grant: grant.clone(),
                    zk,
                });
                return Ok(grant);
            }
        }
        Err(OpError::Fail("no lease is over".to_string()))
    }

    /// Takes one lease, if it is over; `None` if it is another client's.
    async fn take_one(&self, zk: &dyn Zk, name: &str, path: &str) -> Result<Option<Grant>, OpError> {
        let found = match zk.get(path).await {
            Ok((data, stat)) => Some((data, stat)),
            Err(Error::NoNode) => None,
            Err(error) => return Err(OpError::Fail(format!("read {path}: {error}"))),
        };
        let lasts = Duration::from_millis(LEASE_MS);
        let (now, wall) = (self.env.host.now(), self.env.host.wall());
        let taken =
            |data: &[u8]| LeaseData::parse(data).is_some_and(|lease| wall < Duration::from_millis(lease.end_ms));
        if found.as_ref().is_some_and(|(data, _)| taken(data)) {
            return Ok(None);
        }
        let end_ms = u64::try_from((wall + lasts).as_millis()).unwrap_or(u64::MAX);
        let lease = LeaseData {
            end_ms,
            holder: format!("{:032x}", self.env.host.random()),
        };
        let version = found.map(|(_, stat)| stat.version);
        let written = match version {
            None => zk.create(path, &lease.data(), CreateMode::Persistent).await.map(drop),
            Some(_) if self.env.has(Bug::TakenUnversioned) => zk.set(path, &lease.data(), None).await.map(drop),
            Some(_) => zk.set(path, &lease.data(), version).await.map(drop),
        };
        match written {
            Ok(()) => {}
            Err(Error::NodeExists | Error::BadVersion) => return Ok(None),
            Err(error) => return Err(OpError::from_error("take a lease", &error)),
        }
        let own = OwnZnode {
            path: path.to_string(),
            czxid: None,
            session: zk.session(),
        };
        Ok(Some(Grant {
            token: None,
            until: Some(now + lasts - Duration::from_millis(MARGIN_MS)),
            ..Grant::new(name, &own)
        }))
    }

    /// Writes that a lease of its own is over, so that others need not wait for its end.
    async fn give_back(&self, held: &HeldGrant) -> Result<(), OpError> {
        let path = &held.grant.path;
        let (data, stat) = held
            .zk
            .get(path)
            .await
            .map_err(|error| OpError::from_error("read", &error))?;
        let lease = LeaseData::parse(&data).filter(|_| held.grant.outlasts(self.env.host.now()));
        let Some(lease) = lease else {
            return Err(not_held());
        };
        let over = LeaseData { end_ms: 0, ..lease };
        match held.zk.set(path, &over.data(), Some(stat.version)).await {
            Ok(_) => Ok(()),
            Err(Error::BadVersion | Error::NoNode) => Err(not_held()),
            Err(error) => Err(OpError::from_error("give back", &error)),
        }
    }
}

#[async_trait]
impl GrantRecipe for TimedLeases {
    async fn acquire(&self, name: &str, _: Mode, deadline: Option<Duration>) -> Result<Grant, OpError> {
        self.env.within(deadline, self.take(name)).await.ok_or_else(overdue)?
    }

    async fn release(&self, name: &str, deadline: Option<Duration>) -> Result<Option<ZnodeName>, OpError> {
        let held = self.holder.let_go(name).ok_or_else(not_held)?;
        if !held.grant.outlasts(self.env.host.now()) {
            return Err(not_held());
        }
        self.env
            .within(deadline, self.give_back(&held))
            .await
            .ok_or_else(overdue)??;
        Ok(None)
    }

    fn holder(&self) -> &HolderState {
        &self.holder
    }

    async fn session(&self) -> SessionHandle {
        self.handle.session_handle().await
    }
}
