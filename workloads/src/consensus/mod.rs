//! The tutorials' protocols beside ZooKeeper's recipes, as pure state machines, one file each: no async, no clock, no
//! network. What plays them is not here; neither is what judges them.

pub mod discovery;
pub mod fast_leader_election;
pub mod fast_paxos;
pub mod isr;
pub mod isr_register;
pub mod paxos;
pub mod planted;
pub mod protocol;
pub mod quorum;
pub mod setting;
#[cfg(test)]
mod test_network;
pub mod variants;
pub mod zen;
