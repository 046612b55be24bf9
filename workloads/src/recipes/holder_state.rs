//! A client's own state: the grant it believes to hold, the znodes recorded as its own, and its unfinished work.

use std::sync::Arc;
use std::time::Duration;

use zooquake_history::operation::ZnodeName;

use crate::zk::{SharedValue, Zk};

/// A grant: the right to the resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its name, chosen by the orchestrator.
    pub name: String,
    /// The znode it rests on.
    pub path: String,
    /// The transaction that created this znode; `None` where the recipe cannot determine it.
    pub czxid: Option<i64>,
    /// The session it rests on.
    pub session: i64,
    /// What is sent with each write; `None` for variants without fencing.
    pub token: Option<i64>,
    /// The znode with which the client has acknowledged that it leads; `None` for variants without acknowledgements.
    pub ack: Option<OwnZnode>,
    /// The moment of the host's clock at which a lease ends that lasts for a time, and rests on no session; `None` if
    /// it lasts as long as its znode.
    pub until: Option<Duration>,
}

impl Grant {
    /// A grant that rests on this znode, and nothing more.
    pub fn new(name: &str, own: &OwnZnode) -> Self {
        Self {
            name: name.to_string(),
            path: own.path.clone(),
            czxid: own.czxid,
            session: own.session,
            token: None,
            ack: None,
            until: None,
        }
    }

    /// Whether it lasts beyond this moment of the host's clock, as far as that ends it.
    pub fn outlasts(&self, moment: Duration) -> bool {
        self.until.is_none_or(|until| moment < until)
    }

    /// Whether a write in this session confirms it.
    pub fn rests_on(&self, session: i64) -> bool {
        self.until.is_some() || self.session == session
    }

    /// The znode that it rests on.
    pub fn znode(&self) -> ZnodeName {
        ZnodeName {
            path: self.path.clone(),
            czxid: self.czxid,
        }
    }
}

/// A grant that is held, and the session it rests on.
#[derive(Clone)]
pub struct HeldGrant {
    /// What the client was granted.
    pub grant: Grant,
    /// Its session.
    pub zk: Arc<dyn Zk>,
}

/// A znode that a client has recorded as its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnZnode {
    /// Absolute path, with the sequence number if it has one.
    pub path: String,
    /// The transaction that created it; `None` where the recipe cannot determine it.
    pub czxid: Option<i64>,
    /// The session that owns it.
    pub session: i64,
}

impl From<&OwnZnode> for ZnodeName {
    fn from(own: &OwnZnode) -> Self {
        Self {
            path: own.path.clone(),
            czxid: own.czxid,
        }
    }
}

/// The connection as belief sees it: a grant may be taken only if nothing was lost since one began to look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BeliefLink {
    /// Whether the session is connected.
    pub connected: bool,
    /// How often a connection was lost.
    pub drops: u64,
}

#[derive(Default)]
struct HolderBooks {
    held: Option<HeldGrant>,
    znodes: Vec<OwnZnode>,
    link: BeliefLink,
    busy: usize,
    working: usize,
}

/// The books of one client. Clones share them.
#[derive(Clone, Default)]
pub struct HolderState {
    state: SharedValue<HolderBooks>,
}

impl HolderState {
    /// The grant that the client believes to hold.
    pub fn held(&self) -> Option<HeldGrant> {
        self.state.with(|state| state.held.clone())
    }

    /// Believes to hold.
    pub fn hold(&self, held: HeldGrant) {
        self.state.update(|state| state.held = Some(held));
    }

    /// Believes to hold, unless a connection was lost since `seen`. Returns whether it does.
    pub fn hold_if(&self, held: HeldGrant, seen: BeliefLink) -> bool {
        self.state.update(|state| {
            let still = state.link == seen && seen.connected;
            if still {
                state.held = Some(held);
            }
            still
        })
    }

    /// Holds no more, if it is this grant that it holds. Gives back what it held.
    pub fn let_go(&self, name: &str) -> Option<HeldGrant> {
        self.state
            .update(|state| state.held.take_if(|held| held.grant.name == name))
    }

    /// Assigns the grant that it holds to this session from now on, like a client whose belief is a flag without a
    /// session.
    pub fn rest_on(&self, zk: &Arc<dyn Zk>) {
        self.state.update(|state| {
            if let Some(held) = &mut state.held {
                (held.grant.session, held.zk) = (zk.session(), zk.clone());
            }
        });
    }

    /// The connection.
    pub fn link(&self) -> BeliefLink {
        self.state.with(|state| state.link)
    }

    /// Waits until the connection is another than `seen`.
    pub async fn link_changed(&self, seen: BeliefLink) -> BeliefLink {
        self.state
            .until(|state| (state.link != seen).then_some(state.link))
            .await
    }

    /// The connection is there (again).
    pub fn connected(&self) {
        self.state.update(|state| state.link.connected = true);
    }

    /// The connection is lost, and with it, at once, what was held.
    pub fn disconnected(&self) -> Option<HeldGrant> {
        self.state.update(|state| {
            state.link = BeliefLink {
                connected: false,
                drops: state.link.drops + 1,
            };
            state.held.take()
        })
    }

    /// Records a znode as its own.
    pub fn own(&self, znode: OwnZnode) {
        self.state.update(|state| state.znodes.push(znode));
    }

    /// Forgets a znode.
    pub fn disown(&self, path: &str) {
        self.state
            .update(|state| state.znodes.retain(|znode| znode.path != path));
    }

    /// Forgets the znodes of a session that is over.
    pub fn disown_session(&self, session: i64) {
        self.state
            .update(|state| state.znodes.retain(|znode| znode.session != session));
    }

    /// Forgets all znodes, as one who has lost track of what it made.
    pub fn forget(&self) {
        self.state.update(|state| state.znodes.clear());
    }

    /// The znodes recorded as its own: those it holds or waits with.
    pub fn znodes(&self) -> Vec<OwnZnode> {
        self.state.with(|state| state.znodes.clone())
    }

    /// Is doing something whose end changes [`HolderState::znodes`].
    pub fn busy(&self) -> BusyGuard {
        self.state.update(|state| state.busy += 1);
        BusyGuard(self.state.clone())
    }

    /// Waits until it is doing nothing of that kind.
    pub async fn idle(&self) {
        self.state.until(|state| (state.busy == 0).then_some(())).await
    }

    /// Begins to work under this grant, if it believes to hold it.
    pub fn work(&self, name: &str) -> Option<(Grant, WorkGuard)> {
        self.state.update(|state| {
            let grant = state
                .held
                .as_ref()
                .map(|held| held.grant.clone())
                .filter(|grant| grant.name == name)?;
            state.working += 1;
            Some((grant, WorkGuard(self.state.clone())))
        })
    }

    /// Waits until nothing works under a grant.
    pub async fn rested(&self) {
        self.state.until(|state| (state.working == 0).then_some(())).await
    }
}

/// Something is being done, until this is dropped.
pub struct BusyGuard(SharedValue<HolderBooks>);

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.update(|state| state.busy -= 1);
    }
}

/// Work under a grant goes on, until this is dropped. A lock that is lost meanwhile keeps its znode that long, so that
/// nobody else is granted while the session lives.
pub struct WorkGuard(SharedValue<HolderBooks>);

impl Drop for WorkGuard {
    fn drop(&mut self) {
        self.0.update(|state| state.working -= 1);
    }
}
