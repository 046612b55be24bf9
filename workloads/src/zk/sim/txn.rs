//! Transactions: what the leader makes of a write, every server applies in the same order, and the servers' logs have.

use std::sync::Arc;
use std::time::Duration;

use zooquake_history::evidence::{self, TxnPart, data_text};

use super::tree::{Change, Path, SimZnode, Tree, parent};
use crate::zk::{CreateMode, CreatedZnode, Error, MultiError, MultiOp, OpResult, Stat, session_hex};

/// A request that changes something.
#[derive(Debug, Clone)]
pub(super) enum Write {
    One(MultiOp),
    Multi(Vec<MultiOp>),
    Open(Duration),
    Close,
}

/// What a write answers.
pub(super) type TxnOutcome = Result<Vec<OpResult>, MultiError>;

/// The request that waits for a transaction, on a connection of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) server: usize,
    pub(super) wire: usize,
    pub(super) request: u64,
}

/// A transaction. One that failed has a place in the order, too.
#[derive(Debug)]
pub(super) struct Txn {
    pub(super) zxid: i64,
    pub(super) session: i64,
    pub(super) write: Write,
    pub(super) changes: Vec<Change>,
    pub(super) outcome: TxnOutcome,
    pub(super) origin: Option<Origin>,
}

impl Txn {
    /// Makes the next transaction, and changes the tree by it.
    pub(super) fn prepare(tree: &mut Tree, zxid: i64, session: i64, write: Write, origin: Option<Origin>) -> Self {
        let mut making = TransactionDraft {
            tree,
            zxid,
            session,
            changes: Vec::new(),
            undo: Vec::new(),
        };
        let outcome = match &write {
            Write::One(op) => making.all(std::slice::from_ref(op)),
            Write::Multi(ops) => making.all(ops).map(without_stats),
            Write::Open(timeout) => {
                making.change(Change::Open(session, *timeout));
                Ok(Vec::new())
            }
            Write::Close => {
                making.close();
                Ok(Vec::new())
            }
        };
        let changes = making.changes;
        Self {
            zxid,
            session,
            write,
            changes,
            outcome,
            origin,
        }
    }

    /// The place in the order that a refused request takes.
    pub(super) fn refused(zxid: i64, session: i64, write: Write, why: &str, origin: Option<Origin>) -> Self {
        let error = Error::Unknown(why.to_string());
        Self {
            zxid,
            session,
            write,
            changes: Vec::new(),
            outcome: Err(MultiError { index: None, error }),
            origin,
        }
    }

    /// Whether its session was not allowed to ask.
    pub(super) fn is_refused(&self) -> bool {
        matches!(&self.outcome, Err(MultiError { index: None, .. }))
    }
}

/// A multi's answer has no stats of what it created (ZOOKEEPER-4026).
fn without_stats(mut results: Vec<OpResult>) -> Vec<OpResult> {
    for result in &mut results {
        if let OpResult::Created(created) = result {
            created.stat = None;
        }
    }
    results
}

/// A transaction that is being made.
struct TransactionDraft<'a> {
    tree: &'a mut Tree,
    zxid: i64,
    session: i64,
    changes: Vec<Change>,
    /// The znodes that were changed, as they were before.
    undo: Vec<(Path, Option<Arc<SimZnode>>)>,
}

impl TransactionDraft<'_> {
    /// All or none.
    fn all(&mut self, ops: &[MultiOp]) -> TxnOutcome {
        let mut results = Vec::with_capacity(ops.len());
        for (index, op) in ops.iter().enumerate() {
            match self.one(op) {
                Ok(result) => results.push(result),
                Err(error) => {
                    while let Some((path, before)) = self.undo.pop() {
                        self.tree.restore(&path, before);
                    }
                    self.changes.clear();
                    let index = Some(index);
                    return Err(MultiError { index, error });
                }
            }
        }
        Ok(results)
    }

    fn one(&mut self, op: &MultiOp) -> Result<OpResult, Error> {
        match op {
            MultiOp::Check(path, version) => self.checked(path, *version).map(|_| OpResult::Checked),
            MultiOp::Create(path, data, mode) => self.create(path, data, *mode).map(OpResult::Created),
            MultiOp::Set(path, data, version) => self.set(path, data, *version).map(OpResult::Set),
            MultiOp::Delete(path, version) => self.delete(path, *version).map(|()| OpResult::Deleted),
        }
    }

    fn change(&mut self, change: Change) {
        if let Change::Create(path, _) | Change::Set(path, _) | Change::Parent(path, _) | Change::Delete(path) = &change
        {
            self.undo.push((path.clone(), self.tree.get(path).cloned()));
        }
        self.tree.apply(&change);
        self.changes.push(change);
    }

    fn node(&self, path: &str) -> Result<Arc<SimZnode>, Error> {
        self.tree.get(path).cloned().ok_or(Error::NoNode)
    }

    fn checked(&self, path: &str, version: Option<i32>) -> Result<Arc<SimZnode>, Error> {
        let node = self.node(path)?;
        if version.is_some_and(|version| version != -1 && version != node.stat.version) {
            return Err(Error::BadVersion);
        }
        Ok(node)
    }

    fn create(&mut self, path: &str, data: &[u8], mode: CreateMode) -> Result<CreatedZnode, Error> {
        let above = self.node(parent(path))?;
        let sequential = matches!(mode, CreateMode::EphemeralSequential | CreateMode::PersistentSequential);
        let path = if sequential {
            format!("{path}{:010}", above.next)
        } else {
            path.to_string()
        };
        if self.tree.get(&path).is_some() {
            return Err(Error::NodeExists);
        }
        if above.stat.ephemeral_owner != 0 {
            return Err(Error::NoChildrenForEphemerals);
        }
        let stat = Stat {
            czxid: self.zxid,
            mzxid: self.zxid,
            version: 0,
            ephemeral_owner: if mode.is_ephemeral() { self.session } else { 0 },
        };
        let node = SimZnode {
            stat,
            data: data.to_vec(),
            pzxid: self.zxid,
            next: 0,
        };
        let next = above.next.wrapping_add(1);
        self.parent(parent(&path), &above, next);
        self.change(Change::Create(Path::from(path.as_str()), Arc::new(node)));
        Ok(CreatedZnode { path, stat: Some(stat) })
    }

    /// Notes in a parent that its children changed.
    fn parent(&mut self, path: &str, above: &SimZnode, next: i32) {
        let above = SimZnode {
            pzxid: self.zxid,
            next,
            ..above.clone()
        };
        self.change(Change::Parent(Path::from(path), Arc::new(above)));
    }

    fn delete(&mut self, path: &str, version: Option<i32>) -> Result<(), Error> {
        if path == "/" {
            return Err(Error::BadArguments("the root cannot be deleted".to_string()));
        }
        self.checked(path, version)?;
        if self.tree.has_children(path) {
            return Err(Error::NotEmpty);
        }
        self.remove(&Path::from(path));
        Ok(())
    }

    fn remove(&mut self, path: &Path) {
        if let Some(above) = self.tree.get(parent(path)).cloned() {
            self.parent(parent(path), &above, above.next);
        }
        self.change(Change::Delete(path.clone()));
    }

    fn set(&mut self, path: &str, data: &[u8], version: Option<i32>) -> Result<Stat, Error> {
        let before = self.checked(path, version)?;
        let stat = Stat {
            mzxid: self.zxid,
            version: before.stat.version.wrapping_add(1),
            ..before.stat
        };
        let node = SimZnode {
            stat,
            data: data.to_vec(),
            ..*before
        };
        self.change(Change::Set(Path::from(path), Arc::new(node)));
        Ok(stat)
    }

    /// The end of a session takes its ephemerals with it, in the same transaction.
    fn close(&mut self) {
        for path in self.tree.ephemerals(self.session) {
            self.remove(&path);
        }
        self.change(Change::Close(self.session));
    }
}

impl Txn {
    /// What a server's log has of it.
    pub(super) fn logged(&self) -> evidence::Txn {
        let mut logged = evidence::Txn {
            zxid: self.zxid,
            session: session_hex(self.session),
            ..evidence::Txn::default()
        };
        let op = match (&self.write, &self.outcome) {
            (_, Err(MultiError { index: None, .. })) | (Write::One(_), Err(_)) => "error",
            (Write::Open(_), _) => "createSession",
            (Write::Close, _) => {
                logged.paths = self.changes.iter().filter_map(deleted).collect();
                "closeSession"
            }
            (Write::Multi(ops), outcome) => {
                logged.parts = match outcome {
                    Ok(results) => ops.iter().zip(results).map(part).collect(),
                    Err(_) => vec![error(); ops.len()],
                };
                "multi"
            }
            (Write::One(op), Ok(results)) => {
                let part = results.first().map_or_else(error, |result| part((op, result)));
                (logged.op, logged.ephemeral, logged.data) = (part.op, part.ephemeral, part.data);
                logged.paths.push(part.path);
                return logged;
            }
        };
        logged.op = op.to_string();
        logged
    }
}

fn deleted(change: &Change) -> Option<String> {
    match change {
        Change::Delete(path) => Some(path.to_string()),
        _ => None,
    }
}

/// What is logged of one operation, alone or in a multi.
fn part((op, result): (&MultiOp, &OpResult)) -> TxnPart {
    let (name, path) = match (op, result) {
        (MultiOp::Create(..), OpResult::Created(created)) => ("create", &created.path),
        (MultiOp::Create(path, ..), _) => ("create", path),
        (MultiOp::Delete(path, _), _) => ("delete", path),
        (MultiOp::Set(path, ..), _) => ("setData", path),
        (MultiOp::Check(path, _), _) => ("check", path),
    };
    let (ephemeral, data) = match op {
        MultiOp::Create(_, data, mode) => (Some(mode.is_ephemeral()), Some(data)),
        MultiOp::Set(_, data, _) => (None, Some(data)),
        MultiOp::Delete(..) | MultiOp::Check(..) => (None, None),
    };
    TxnPart {
        op: name.to_string(),
        path: path.clone(),
        ephemeral,
        data: data.map(|data| data_text(data)),
    }
}

/// A part of a multi that failed.
fn error() -> TxnPart {
    TxnPart {
        op: "error".to_string(),
        ..TxnPart::default()
    }
}
