//! What comes of operations, in words that are the same whatever the numbers of transactions and sessions.

use super::play::Story;
use std::collections::BTreeMap;
use zooquake_workloads::zk::{CreatedZnode, Error, OpResult, Stat, WatchEvent};

/// The transactions and the sessions that a story has named.
#[derive(Default)]
pub struct Words {
    zxids: Vec<i64>,
    owners: BTreeMap<i64, usize>,
}

impl Words {
    /// A session was opened: it is named by its number.
    pub fn opened(&mut self, session: i64) {
        let number = self.owners.len() + 1;
        self.owners.insert(session, number);
    }

    /// A result, or an error by its kind.
    pub fn shown<T>(&mut self, result: Result<T, Error>, show: impl FnOnce(&mut Self, T) -> String) -> String {
        match result {
            Ok(result) => show(self, result),
            Err(error) => kind(&error),
        }
    }

    pub fn created(&mut self, created: CreatedZnode) -> String {
        let stat = created.stat.map_or("no stat".to_string(), |stat| self.stat(stat));
        format!("{} {stat}", created.path)
    }

    pub fn result(&mut self, result: OpResult) -> String {
        match result {
            OpResult::Checked => "checked".to_string(),
            OpResult::Created(created) => self.created(created),
            OpResult::Set(stat) => self.stat(stat),
            OpResult::Deleted => "deleted".to_string(),
        }
    }

    /// A stat, with marks in the place of transactions and sessions.
    pub fn stat(&mut self, stat: Stat) -> String {
        self.zxids.extend([stat.czxid, stat.mzxid]);
        let owner = self.owners.get(&stat.ephemeral_owner).copied().unwrap_or_default();
        format!("<{}> <{}> version {} of {owner}", stat.czxid, stat.mzxid, stat.version)
    }

    /// The story, with each transaction replaced by its place among those that were seen, and paths as they are below
    /// the root.
    pub fn ranked(mut self, mut story: Story, root: &str) -> Story {
        self.zxids.sort_unstable();
        self.zxids.dedup();
        for line in &mut story {
            *line = line.replace(root, "");
            for (rank, zxid) in self.zxids.iter().enumerate() {
                *line = line.replace(&format!("<{zxid}>"), &format!("z{rank}"));
            }
        }
        story
    }
}

/// How an outcome is shown that is not known.
pub const UNKNOWN: &str = "unknown";

/// An error by its kind: its message is the library's own.
pub fn kind(error: &Error) -> String {
    match error {
        Error::Unknown(_) => UNKNOWN.to_string(),
        Error::BadArguments(_) => "bad arguments".to_string(),
        definite => format!("{definite:?}"),
    }
}

/// An event of a watch.
pub fn heard(step: usize, session: usize, (path, since, event): (String, usize, WatchEvent)) -> String {
    format!("{step} session {session} hears {event:?} of {path}, watched since {since}")
}
