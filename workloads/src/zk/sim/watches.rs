//! The watches that a server keeps for its connections. Each fires once.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Change, Path, Tree, parent};
use crate::zk::WatchEvent;

/// What is watched of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Aspect {
    /// The znode and its data.
    Data,
    /// Whether there is such a znode: set where it was missing.
    Missing,
    /// Its list of children.
    Children,
}

/// The watches of one server, by path. A connection hears each event of a path once, however many of its requests watch
/// it.
#[derive(Debug, Default)]
pub(super) struct Watches {
    data: BTreeMap<Path, BTreeSet<usize>>,
    children: BTreeMap<Path, BTreeSet<usize>>,
}

impl Watches {
    pub(super) fn add(&mut self, wire: usize, path: &str, aspect: Aspect) {
        let table = match aspect {
            Aspect::Children => &mut self.children,
            Aspect::Data | Aspect::Missing => &mut self.data,
        };
        table.entry(Path::from(path)).or_default().insert(wire);
    }

    /// The connection is gone, and its watches with it.
    pub(super) fn forget(&mut self, wire: usize) {
        for table in [&mut self.data, &mut self.children] {
            table.retain(|_, wires| {
                wires.remove(&wire);
                !wires.is_empty()
            });
        }
    }

    /// Takes what a change fires: the connections, and what each hears.
    pub(super) fn fire(&mut self, change: &Change) -> Vec<(usize, Path, WatchEvent)> {
        let mut fired = Vec::new();
        let mut fire = |wires: Option<BTreeSet<usize>>, path: &Path, event: WatchEvent| {
            let wires = wires.unwrap_or_default().into_iter();
            fired.extend(wires.map(|wire| (wire, path.clone(), event.clone())));
        };
        match change {
            Change::Create(path, _) => {
                fire(self.data.remove(path), path, WatchEvent::Created);
                let above = Path::from(parent(path));
                fire(self.children.remove(&above), &above, WatchEvent::ChildrenChanged);
            }
            Change::Set(path, _) => fire(self.data.remove(path), path, WatchEvent::DataChanged),
            Change::Delete(path) => {
                let mut wires = self.data.remove(path).unwrap_or_default();
                wires.extend(self.children.remove(path).unwrap_or_default());
                fire(Some(wires), path, WatchEvent::Deleted);
                let above = Path::from(parent(path));
                fire(self.children.remove(&above), &above, WatchEvent::ChildrenChanged);
            }
            Change::Parent(..) | Change::Open(..) | Change::Close(_) => {}
        }
        fired
    }

    /// Sets a watch again that a client has had since a transaction: what happened meanwhile is one event, at once.
    pub(super) fn again(
        &mut self,
        tree: &Tree,
        (wire, since): (usize, i64),
        path: &str,
        aspect: Aspect,
    ) -> Option<WatchEvent> {
        let node = tree.get(path);
        let event = match (aspect, node) {
            (Aspect::Missing, Some(_)) => Some(WatchEvent::Created),
            (Aspect::Data | Aspect::Children, None) => Some(WatchEvent::Deleted),
            (Aspect::Data, Some(node)) if node.stat.mzxid > since => Some(WatchEvent::DataChanged),
            (Aspect::Children, Some(node)) if node.pzxid > since => Some(WatchEvent::ChildrenChanged),
            _ => None,
        };
        if event.is_none() {
            self.add(wire, path, aspect);
        }
        event
    }
}
