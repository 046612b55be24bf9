//! The znodes and sessions of one server, as of its last applied transaction.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use crate::zk::Stat;

/// A znode's absolute path.
pub(super) type Path = Arc<str>;

/// A znode. Servers share it: a transaction replaces it.
#[derive(Debug, Clone, Default)]
pub struct SimZnode {
    /// What `exists` and `getData` return beside the data.
    pub stat: Stat,
    /// The bytes of the last write.
    pub data: Vec<u8>,
    /// The transaction that last created or deleted a child of it.
    pub pzxid: i64,
    /// The number that its next sequential child gets: how many children were ever created (ZooKeeper's stored
    /// `cversion`).
    pub next: i32,
}

/// What a transaction does to a tree.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// A znode comes into being.
    Create(Path, Arc<SimZnode>),
    /// A znode's data are written.
    Set(Path, Arc<SimZnode>),
    /// A znode's data about its children change: `pzxid` and `next`.
    Parent(Path, Arc<SimZnode>),
    /// A znode goes.
    Delete(Path),
    /// A session is opened, with this timeout.
    Open(i64, Duration),
    /// A session is over.
    Close(i64),
}

/// The tree. Cloning shares the znodes.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    nodes: BTreeMap<Path, Arc<SimZnode>>,
    /// Lists of children that were asked for and have not changed since.
    lists: BTreeMap<Path, Arc<Vec<String>>>,
    ephemerals: BTreeSet<(i64, Path)>,
    /// The sessions that live, and their timeouts.
    pub(super) sessions: BTreeMap<i64, Duration>,
    /// The last transaction applied; after an election `epoch << 32`.
    pub(super) zxid: i64,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            nodes: BTreeMap::from([(Path::from("/"), Arc::default())]),
            lists: BTreeMap::new(),
            ephemerals: BTreeSet::new(),
            sessions: BTreeMap::new(),
            zxid: 0,
        }
    }
}

impl Tree {
    pub(super) fn get(&self, path: &str) -> Option<&Arc<SimZnode>> {
        self.nodes.get(path)
    }

    /// All znodes but the root, in the order of their paths.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&Path, &Arc<SimZnode>)> {
        self.nodes.iter().skip(1)
    }

    /// The names of the children of a znode, in the order of their names.
    pub(super) fn children<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        let prefix = if path == "/" {
            "/".to_string()
        } else {
            format!("{path}/")
        };
        // '0' follows '/'.
        let end = format!("{}0", &prefix[..prefix.len() - 1]);
        let bounds = (Bound::Excluded(prefix.as_str()), Bound::Excluded(end.as_str()));
        let below = self.nodes.range::<str, _>(bounds);
        let from = prefix.len();
        below
            .map(move |(path, _)| &path[from..])
            .filter(|name| !name.contains('/'))
    }

    /// The same, in memory that is shared until the list changes.
    pub(super) fn list(&mut self, path: &Path) -> Arc<Vec<String>> {
        if let Some(list) = self.lists.get(path) {
            return list.clone();
        }
        let list: Arc<Vec<String>> = Arc::new(self.children(path).map(str::to_string).collect());
        self.lists.insert(path.clone(), list.clone());
        list
    }

    pub(super) fn has_children(&self, path: &str) -> bool {
        self.children(path).next().is_some()
    }

    /// The ephemeral znodes of a session, in the order of their paths.
    pub(super) fn ephemerals(&self, session: i64) -> Vec<Path> {
        let from = (session, Path::from(""));
        let of = self.ephemerals.range(from..).take_while(|(owner, _)| *owner == session);
        of.map(|(_, path)| path.clone()).collect()
    }

    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::Create(path, node) => {
                if node.stat.ephemeral_owner != 0 {
                    self.ephemerals.insert((node.stat.ephemeral_owner, path.clone()));
                }
                self.nodes.insert(path.clone(), node.clone());
                self.lists.remove(parent(path));
            }
            Change::Set(path, node) | Change::Parent(path, node) => {
                self.nodes.insert(path.clone(), node.clone());
            }
            Change::Delete(path) => {
                let gone = self.nodes.remove(path);
                self.lists.remove(parent(path));
                if let Some(owner) = gone.map(|node| node.stat.ephemeral_owner).filter(|owner| *owner != 0) {
                    self.ephemerals.remove(&(owner, path.clone()));
                }
            }
            Change::Open(session, timeout) => {
                self.sessions.insert(*session, *timeout);
            }
            Change::Close(session) => {
                self.sessions.remove(session);
            }
        }
    }

    /// Sets the number that the next child of a znode gets.
    pub(super) fn number(&mut self, path: &str, next: i32) {
        if let Some(node) = self.nodes.get_mut(path) {
            Arc::make_mut(node).next = next;
        }
    }

    /// Takes a znode's change back: it becomes what it was before.
    pub(super) fn restore(&mut self, path: &Path, before: Option<Arc<SimZnode>>) {
        self.apply(&Change::Delete(path.clone()));
        if let Some(node) = before {
            self.apply(&Change::Create(path.clone(), node));
        }
    }
}

/// The path of a znode's parent.
pub(super) fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}
