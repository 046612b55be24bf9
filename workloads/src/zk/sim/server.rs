//! A ZooKeeper in memory: one order of transactions, no delays of its own.

use std::collections::BTreeMap;

use super::script::Scripted;
use crate::zk::{CreateMode, Created, Error, MultiError, Op, OpResult, SessionState, Shared, Stat, WatchEvent};

/// The parents of contender znodes.
pub const PARENTS: &[&str] = &["/lock", "/rwlock", "/ha", "/election", "/election-ack", "/semaphore"];

/// What the server knows.
#[derive(Default)]
pub struct Server {
    zxid: i64,
    nodes: BTreeMap<String, Node>,
    watches: Vec<Watch>,
    /// The sessions, and what their clients know of them.
    pub sessions: BTreeMap<i64, Shared<SessionState>>,
    /// What to do to requests yet to come; each is used once, by the first request that fits.
    pub script: Vec<Scripted>,
    /// Whether a request that was on its way when its client lost the connection still arrives.
    pub late: bool,
}

#[derive(Clone)]
struct Node {
    stat: Stat,
    data: Vec<u8>,
    /// The next child's number.
    next: i32,
}

struct Watch {
    path: String,
    children: bool,
    fired: Shared<Option<WatchEvent>>,
}

impl Server {
    /// A server with these persistent znodes.
    pub fn with(paths: &[&str]) -> Self {
        let mut server = Self::default();
        for path in paths {
            server.ensure(path);
        }
        server
    }

    /// Creates a persistent znode, and its parents; those that are there are left as they are.
    pub fn ensure(&mut self, path: &str) {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        for end in ends {
            // The only error is that it is there.
            let _ = self.create(0, &path[..end], b"", CreateMode::Persistent);
        }
    }

    /// Sets the number that the next child of a znode gets; nothing happens where there is no such znode.
    pub fn number(&mut self, parent: &str, next: i32) {
        if let Some(node) = self.nodes.get_mut(parent) {
            node.next = next;
        }
    }

    /// The last transaction.
    pub fn zxid(&self) -> i64 {
        self.zxid
    }

    /// Begins an epoch: the transactions that follow have its number in their upper half.
    pub fn lead(&mut self, epoch: i64) {
        self.zxid = self.zxid.max(epoch << 32);
    }

    /// All znodes, in the order of their paths.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, Stat, &[u8])> {
        self.nodes
            .iter()
            .map(|(path, node)| (path.as_str(), node.stat, node.data.as_slice()))
    }

    /// Opens a session.
    pub fn open(&mut self) -> (i64, Shared<SessionState>) {
        let session = 0x100 + self.sessions.len() as i64;
        let state = Shared::new(SessionState::Connected);
        self.sessions.insert(session, state.clone());
        (session, state)
    }

    /// Changes what a client knows of its session.
    pub fn tell(&self, session: i64, to: SessionState) {
        self.sessions[&session].update(|state| {
            if !state.is_over() {
                *state = to;
            }
        });
    }

    /// Ends a session: its ephemerals go, and its client is told.
    pub fn end(&mut self, session: i64, state: SessionState) {
        let owned: Vec<_> = self
            .nodes
            .iter()
            .filter(|(_, node)| node.stat.ephemeral_owner == session)
            .collect();
        let owned: Vec<_> = owned.into_iter().map(|(path, _)| path.clone()).collect();
        for path in owned {
            // What its session owns is there.
            let _ = self.delete(&path, None);
        }
        self.tell(session, state);
    }

    /// Creates a znode of a session.
    ///
    /// # Errors
    /// If it is there, or its parent is not.
    pub fn create(&mut self, session: i64, path: &str, data: &[u8], mode: CreateMode) -> Result<Created, Error> {
        self.zxid += 1;
        let parent = parent(path);
        let sequential = matches!(mode, CreateMode::EphemeralSequential | CreateMode::PersistentSequential);
        let ephemeral = matches!(mode, CreateMode::EphemeralSequential | CreateMode::Ephemeral);
        let mut path = path.to_string();
        if parent != "/" {
            let node = self.nodes.get_mut(&parent).ok_or(Error::NoNode)?;
            if sequential {
                path += &format!("{:010}", node.next);
            }
            node.next = node.next.wrapping_add(1);
        }
        if self.nodes.contains_key(&path) {
            return Err(Error::NodeExists);
        }
        let ephemeral_owner = if ephemeral { session } else { 0 };
        let stat = Stat {
            czxid: self.zxid,
            mzxid: self.zxid,
            version: 0,
            ephemeral_owner,
        };
        self.nodes.insert(
            path.clone(),
            Node {
                stat,
                data: data.to_vec(),
                next: 0,
            },
        );
        self.fire(&path, WatchEvent::Created);
        Ok(Created { path, stat: Some(stat) })
    }

    /// Deletes a znode, of this version only if one is given.
    ///
    /// # Errors
    /// If it is not there, or of another version.
    pub fn delete(&mut self, path: &str, version: Option<i32>) -> Result<(), Error> {
        self.zxid += 1;
        self.check(path, version)?;
        self.nodes.remove(path);
        self.fire(path, WatchEvent::Deleted);
        Ok(())
    }

    /// Writes a znode, of this version only if one is given.
    ///
    /// # Errors
    /// If it is not there, or of another version.
    pub fn set(&mut self, path: &str, data: &[u8], version: Option<i32>) -> Result<Stat, Error> {
        self.zxid += 1;
        self.check(path, version)?;
        let node = self.nodes.get_mut(path).ok_or(Error::NoNode)?;
        node.data = data.to_vec();
        node.stat.mzxid = self.zxid;
        node.stat.version += 1;
        let stat = node.stat;
        self.fire(path, WatchEvent::DataChanged);
        Ok(stat)
    }

    /// All or none, in one transaction. Watches of what is taken back may fire, as spurious ones are allowed to.
    ///
    /// # Errors
    /// That of the first part that fails.
    pub fn multi(&mut self, session: i64, ops: &[Op]) -> Result<Vec<OpResult>, MultiError> {
        let (before, zxid) = (self.nodes.clone(), self.zxid);
        let mut results = Vec::new();
        for (index, op) in ops.iter().enumerate() {
            self.zxid = zxid;
            let result = match op {
                Op::Check(path, version) => self.check(path, *version).map(|()| OpResult::Checked),
                Op::Create(path, data, mode) => self.create(session, path, data, *mode).map(OpResult::Created),
                Op::Set(path, data, version) => self.set(path, data, *version).map(OpResult::Set),
                Op::Delete(path, version) => self.delete(path, *version).map(|()| OpResult::Deleted),
            };
            self.zxid = zxid + 1;
            match result {
                Ok(result) => results.push(result),
                Err(error) => {
                    self.nodes = before;
                    return Err(MultiError {
                        index: Some(index),
                        error,
                    });
                }
            }
        }
        Ok(results)
    }

    /// Reads a znode.
    ///
    /// # Errors
    /// If it is not there.
    pub fn get(&self, path: &str) -> Result<(Vec<u8>, Stat), Error> {
        self.nodes
            .get(path)
            .map(|node| (node.data.clone(), node.stat))
            .ok_or(Error::NoNode)
    }

    /// A znode's stat, if it is there.
    pub fn exists(&self, path: &str) -> Option<Stat> {
        self.nodes.get(path).map(|node| node.stat)
    }

    /// The names of a znode's children, in an order that nobody may rely on.
    ///
    /// # Errors
    /// If it is not there.
    pub fn children(&self, path: &str) -> Result<Vec<String>, Error> {
        self.get(path)?;
        let below = self.nodes.keys().rev().filter(|child| parent(child) == path);
        Ok(below.map(|child| child[path.len() + 1..].to_string()).collect())
    }

    /// Watches a znode, or its list of children.
    pub fn watch(&mut self, path: &str, children: bool) -> Shared<Option<WatchEvent>> {
        let fired = Shared::new(None);
        self.watches.push(Watch {
            path: path.to_string(),
            children,
            fired: fired.clone(),
        });
        fired
    }

    fn check(&self, path: &str, version: Option<i32>) -> Result<(), Error> {
        let (_, stat) = self.get(path)?;
        if version.is_some_and(|version| version != stat.version) {
            Err(Error::BadVersion)
        } else {
            Ok(())
        }
    }

    fn fire(&mut self, path: &str, event: WatchEvent) {
        let parent = parent(path);
        for watch in self.watches.extract_if(.., |watch| {
            if watch.children {
                watch.path == parent
            } else {
                watch.path == path
            }
        }) {
            let event = if watch.children {
                WatchEvent::ChildrenChanged
            } else {
                event.clone()
            };
            watch.fired.update(|fired| *fired = Some(event));
        }
    }
}

fn parent(path: &str) -> String {
    match path.rfind('/') {
        Some(0) | None => "/".to_string(),
        Some(at) => path[..at].to_string(),
    }
}
