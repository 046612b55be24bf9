//! Checkers of the znodes by which clients hold, or are members: who created them, who deleted them, and which of them
//! nobody claims.

pub mod evidence_consistency;
pub mod foreign_znode;
pub mod holder_znodes;
pub mod orphan_node;
pub mod quiesce_answers;
pub mod stolen_znode;
pub mod unowned_release;
