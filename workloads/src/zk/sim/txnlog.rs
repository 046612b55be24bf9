//! Transactions as the servers' logs have them.

use super::tree::Change;
use super::txn::{Txn, Write};
use crate::zk::{MultiError, MultiOp, OpResult, session_hex};
use zooquake_history::evidence::{self, TxnPart, data_text};

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
