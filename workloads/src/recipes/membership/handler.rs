//! The operations of a member: `register`, `update`, `deregister`; and what it shows of its group.

use std::time::Duration;

use async_trait::async_trait;
use zooquake_history::operation::ZnodeName;
use zooquake_history::operation::membership::{
    MembershipAnswer as Answered, MembershipRequest as Asked, RegisteredMember, f,
};

use super::{ShownGroup, path, value};
use crate::protocol::Request;
use crate::recipes::{OpError, OwnZnode, WorkGuard};
use crate::service::{Answer, Service, SessionHandle, WatchedGroup, parse};
use crate::zk::{Stat, Zk, session_hex};

/// The entry by which a client is a member, as it was written last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnMember {
    /// The name of the member.
    pub member: String,
    /// Its znode's stat.
    pub stat: Stat,
    /// The session that the client made it in, or took it over in.
    pub session: i64,
    /// Its value; `None` if the znode's data are no value.
    pub value: Option<i64>,
}

impl OwnMember {
    /// The entry of this name that a session finds with this stat and these data.
    pub fn read(member: &str, zk: &dyn Zk, stat: Stat, data: &[u8]) -> Self {
        Self {
            member: member.to_string(),
            stat,
            session: zk.session(),
            value: value(data),
        }
    }

    /// Its znode, as the client names it.
    pub fn znode(&self) -> OwnZnode {
        OwnZnode {
            path: path(&self.member),
            czxid: Some(self.stat.czxid),
            session: self.session,
        }
    }
}

/// A client of a group: one operation at a time, each polled to its end. Each answers by `deadline`, a moment of the
/// host's clock.
#[async_trait]
pub trait GroupMember: Send + Sync {
    /// Becomes a member.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if nothing of the attempt is left; with [`super::REGISTERED_ALREADY`] if the client is a
    /// member.
    async fn register(&self, member: &str, value: i64, deadline: Option<Duration>) -> Result<OwnMember, OpError>;

    /// Changes the value of its entry.
    ///
    /// # Errors
    /// [`OpError::Fail`] only if the value is certainly not written; with [`super::NOT_REGISTERED`] if the client is no
    /// member.
    async fn update(&self, value: i64, deadline: Option<Duration>) -> Result<OwnMember, OpError>;

    /// Becomes a member no more. The znode that this removed; `None` if it cannot be named for certain.
    ///
    /// # Errors
    /// As [`GroupMember::update`].
    async fn deregister(&self, deadline: Option<Duration>) -> Result<Option<OwnZnode>, OpError>;

    /// The entry by which it believes to be a member.
    fn registered(&self) -> Option<OwnMember>;

    /// What it shows its application of the group.
    fn group(&self) -> &ShownGroup;

    /// The session that the client has now.
    async fn session(&self) -> SessionHandle;

    /// Waits until nothing goes on in the background whose end changes [`GroupMember::registered`].
    async fn idle(&self) {}
}

/// A member, as the client program drives it.
pub struct MembershipHandler<M>(pub M);

#[async_trait]
impl<M: GroupMember> Service for MembershipHandler<M> {
    fn operations(&self) -> Vec<&'static str> {
        vec![f::REGISTER, f::UPDATE, f::DEREGISTER]
    }

    async fn serve(
        &self,
        request: &Request,
        deadline: Option<Duration>,
    ) -> Result<(Answer, Option<WorkGuard>), Answer> {
        let answered = match parse(request)? {
            Asked::Register { member, .. } if member.is_empty() || member.contains('/') => {
                return Err(Answer::fail(format!("`{member}` is no name of a member")));
            }
            Asked::Register { member, value } => {
                let own = self.0.register(&member, value, deadline).await?;
                Answered::Registered {
                    znode: ZnodeName::from(&own.znode()),
                    session: session_hex(own.session),
                }
            }
            Asked::Update { value } => {
                let own = self.0.update(value, deadline).await?;
                let (path, mzxid) = (path(&own.member), own.stat.mzxid);
                Answered::Updated { path, mzxid }
            }
            Asked::Deregister {} => {
                let removed = self.0.deregister(deadline).await?;
                let removed = removed.as_ref().map(ZnodeName::from);
                Answered::Deregistered { removed }
            }
        };
        Ok((Answer::ok(answered), None))
    }

    async fn session(&self) -> SessionHandle {
        self.0.session().await
    }

    fn has_group(&self) -> bool {
        true
    }

    async fn worked_off(&self) -> Option<WatchedGroup> {
        let view = self.0.group().worked_off().await;
        let registered = self.0.registered().map(|own| RegisteredMember {
            znode: ZnodeName::from(&own.znode()),
            member: own.member,
        });
        Some(WatchedGroup { view, registered })
    }

    async fn znodes(&self) -> Vec<OwnZnode> {
        self.0.registered().iter().map(OwnMember::znode).collect()
    }

    async fn idle(&self) {
        self.0.idle().await;
    }
}
