//! Operations of a sequence, drawn from its seed.

use zooquake_workloads::zk::{CreateMode, MultiOp};

/// What a sequence is drawn from.
pub struct Draw {
    pub rng: fastrand::Rng,
    /// The parent of all its znodes.
    pub root: String,
}

impl Draw {
    /// A path below the root.
    fn child(&mut self) -> String {
        let names = ["a", "b", "c", "a/x", "a/y", "b/x", "c/x"];
        format!("{}/{}", self.root, names[self.rng.usize(..names.len())])
    }

    /// A path below the root, or now and then the root.
    pub fn path(&mut self) -> String {
        match self.rng.usize(..8) {
            0 => self.root.clone(),
            _ => self.child(),
        }
    }

    fn version(&mut self) -> Option<i32> {
        [None, None, None, Some(0), Some(1)][self.rng.usize(..5)]
    }

    fn mode(&mut self) -> CreateMode {
        match self.rng.usize(..6) {
            0 | 1 => CreateMode::Ephemeral,
            2 => CreateMode::EphemeralSequential,
            3 => CreateMode::PersistentSequential,
            _ => CreateMode::Persistent,
        }
    }

    /// An operation that can be a part of a multi.
    pub fn op(&mut self) -> MultiOp {
        let data = vec![b'0' + self.rng.u8(..10)];
        match self.rng.usize(..8) {
            0..4 => MultiOp::Create(self.child(), data, self.mode()),
            4 | 5 => MultiOp::Delete(self.path(), self.version()),
            6 => MultiOp::Set(self.path(), data, self.version()),
            _ => MultiOp::Check(self.path(), self.version()),
        }
    }
}
