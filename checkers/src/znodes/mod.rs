//! Checkers of the znodes by which clients hold, or are members: who created them, who deleted them, and which of them
//! nobody claims.

pub mod claims;
pub mod evidence_consistency;
pub mod foreign_znode;
pub mod holder_znodes;
pub mod orphan_node;
pub mod persistent_contender;
pub mod quiesce_answers;
pub mod stolen_znode;
mod unnamed_waiters;
pub mod unowned_release;
