//! The register that holds who leads a Kafka partition: one value with a version, read and compared-and-set.
//!
//! It stands for Kafka's controller and what that writes to ZooKeeper's `/brokers/topics/<topic>/partitions/<n>/state`,
//! whose version guards each change. A change of the in-sync replicas is what `AlterPartition` asks for (KIP-497), a
//! change of the leader what the controller decides; here the replica that would lead asks for it.

use super::protocol::{Node, NodeSet};

/// Who leads a partition, and which replicas may lead it next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PartitionState {
    /// The replica that leads, or that led last.
    pub leader: Node,
    /// How often a leader has been chosen; 0 for the replica that is to be the first.
    pub epoch: u16,
    /// The in-sync replicas (ISR): those that have every committed message.
    pub isr: NodeSet,
    /// How often this was changed, from 1: Kafka's partition epoch. 0 is older than any.
    pub version: u16,
}

impl PartitionState {
    /// The state of a new partition.
    pub fn initial(replicas: u8) -> Self {
        Self {
            leader: 0,
            epoch: 0,
            isr: NodeSet::range(0..replicas),
            version: 1,
        }
    }

    /// The state that a replica starts from before it has read the register.
    pub const UNKNOWN: Self = Self {
        leader: 0,
        epoch: 0,
        isr: NodeSet::EMPTY,
        version: 0,
    };
}

/// What replicas ask of the register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartitionRequest {
    /// What the state is.
    Read,
    /// That the state be this one, if the one before it is in force. Its version is that of the state before plus 1.
    CompareAndSet(PartitionState),
}

/// What the register answers, with the state that is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartitionAnswer {
    /// To a read.
    State(PartitionState),
    /// To a change that has been made, now or when the request arrived before.
    Swapped(PartitionState),
    /// To a change that has not been made, and will not be unless it has been made and overwritten already.
    Refused(PartitionState),
}

impl PartitionAnswer {
    /// The state in force at the time of the answer.
    pub fn state(self) -> PartitionState {
        match self {
            Self::State(state) | Self::Swapped(state) | Self::Refused(state) => state,
        }
    }
}

/// The register's machine, which is its disk as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PartitionRegister(pub PartitionState);

impl PartitionRegister {
    /// The answer to a request, and whether the state has changed: the disk is to be written before the answer is sent.
    /// A request that arrives again is answered as before as long as its state is in force.
    pub fn answer(&mut self, request: PartitionRequest) -> (PartitionAnswer, bool) {
        match request {
            PartitionRequest::Read => (PartitionAnswer::State(self.0), false),
            PartitionRequest::CompareAndSet(next) if next == self.0 => (PartitionAnswer::Swapped(next), false),
            PartitionRequest::CompareAndSet(next) if next.version == self.0.version + 1 => {
                self.0 = next;
                (PartitionAnswer::Swapped(next), true)
            }
            PartitionRequest::CompareAndSet(_) => (PartitionAnswer::Refused(self.0), false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_changes_of_one_version_the_first_is_made_and_a_repeated_one_answered_again() {
        let mut register = PartitionRegister(PartitionState::initial(2));
        let first = PartitionState {
            isr: NodeSet(1),
            version: 2,
            ..register.0
        };
        let second = PartitionState {
            leader: 1,
            epoch: 1,
            isr: NodeSet(2),
            version: 2,
        };
        assert_eq!(
            register.answer(PartitionRequest::CompareAndSet(first)),
            (PartitionAnswer::Swapped(first), true)
        );
        assert_eq!(
            register.answer(PartitionRequest::CompareAndSet(second)),
            (PartitionAnswer::Refused(first), false)
        );
        assert_eq!(
            register.answer(PartitionRequest::CompareAndSet(first)),
            (PartitionAnswer::Swapped(first), false)
        );
        assert_eq!(
            register.answer(PartitionRequest::Read),
            (PartitionAnswer::State(first), false)
        );
    }
}
