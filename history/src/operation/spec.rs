//! What is known of an operation, for all who deal with it: one table for each family.

use super::RequiredField;
use crate::plan::{Capabilities, ClientState, Workload};

/// A family of recipes: its operations, each in one place.
#[derive(Debug)]
pub struct Family {
    /// Its name in plans.
    pub name: &'static str,
    /// Whether its variants are recipes: programs of clients of ZooKeeper.
    pub recipes: bool,
    /// Whether it grants something that a client then holds, works under and gives back.
    pub grants: bool,
    /// Its operations.
    pub ops: &'static [OpSpec],
    /// The fields of answers and notices that checks rest on.
    pub fields: &'static [&'static [RequiredField]],
}

/// The names of the operations by which a client holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantOps {
    /// The operation that waits for a grant.
    pub takes: &'static str,
    /// The read under a grant; `None` in a family without reads.
    pub reads: Option<&'static str>,
    /// The work, or the write, under a grant.
    pub works: &'static str,
    /// The operation that gives a grant back.
    pub gives: &'static str,
}

impl Family {
    /// The fields that clients of a workload of the family are asked for.
    pub fn required<'w>(&self, workload: &'w Workload) -> impl Iterator<Item = &'static RequiredField> + use<'w> {
        let all = self.fields.iter().copied().flatten();
        all.filter(move |field| (field.asked)(workload))
    }

    /// The operations of a family that grants: of each role the first one in its table.
    ///
    /// # Panics
    /// The table has no operation of a role other than reads.
    pub const fn grant_ops(&self) -> GrantOps {
        GrantOps {
            takes: self.first(Role::Wait).expect("an operation that takes"),
            reads: self.first(Role::Take),
            works: self.first(Role::Work).expect("an operation that works"),
            gives: self.first(Role::Leave).expect("an operation that gives"),
        }
    }

    /// The name of the first operation of a role.
    const fn first(&self, role: Role) -> Option<&'static str> {
        let mut at = 0;
        while at < self.ops.len() {
            if self.ops[at].role as u8 == role as u8 {
                return Some(self.ops[at].f);
            }
            at += 1;
        }
        None
    }
}

/// One operation.
#[derive(Debug)]
pub struct OpSpec {
    /// Its name in requests, histories and plans.
    pub f: &'static str,
    /// What it is for.
    pub role: Role,
    /// Whether its answer waits for other clients.
    pub waits: bool,
    /// Which answers finish it.
    pub finishes: FinishRule,
    /// What makes up for one that did not finish.
    pub again: Replacement,
    /// The states of a client for which a fault strikes in it.
    pub struck: &'static [StrikePoint],
}

/// What an operation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Waits for others: acquire, elect, enter, decide, decided.
    Wait,
    /// Changes something, or works: write, cas, enqueue, join, begin, vote, work.
    Work,
    /// Asks for something, and takes it: dequeue, read.
    Take,
    /// Gives up what it had: release, resign, acknowledge, leave, close.
    Leave,
    /// Anything else.
    Other,
}

impl Role {
    /// All of them, in the order in which they are drawn.
    pub const ALL: [Self; 5] = [Self::Wait, Self::Work, Self::Take, Self::Leave, Self::Other];
}

/// Which answers finish an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishRule {
    /// `ok`, whatever its value: a dequeue that finds nothing has finished too.
    Ok,
    /// `ok`, and `fail`: to be refused is what was asked for.
    OkOrFail,
    /// `ok`, and the refusal of the resource: `fail` with `"accepted":false`, or with the code `refused`.
    OkOrRefused,
    /// `ok`, and a mismatch of the compare-and-set: `fail` with that code or with none.
    OkOrMismatch,
    /// None of its own: it finishes with its round or its transaction.
    WithOthers,
}

/// What makes up for an attempt that did not finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacement {
    /// An operation of the same client and name, about the same round or transaction.
    Same,
    /// Any operation of the same client.
    Any,
}

/// That a fault which is to strike a client in a state strikes it in an operation, or after one. The states are those
/// of a lock's client.
#[derive(Debug)]
pub struct StrikePoint {
    pub state: ClientState,
    /// Whether it strikes after the answer `ok`, while the client is asked for nothing else.
    pub answered: bool,
    /// Of several operations with the state, how often this one is struck: its share of the sum.
    pub share: u32,
    /// How long after the operation was sent, or answered.
    pub delay: Delay,
    /// Which variants of the family have it.
    pub of: fn(&Capabilities) -> bool,
}

/// How long after an operation was sent, or answered, a fault strikes, from the milliseconds that it was to wait.
#[derive(Debug, Clone, Copy)]
pub enum Delay {
    /// As long.
    Same,
    /// So many times as long.
    Times(u64),
    /// As long, at most so many milliseconds.
    AtMost(u64),
    /// Anything from the first to below the second number of milliseconds.
    Between(u64, u64),
}

impl OpSpec {
    /// An operation that is finished by `ok`, and made up for by any other of its client.
    pub const fn new(f: &'static str, role: Role) -> Self {
        Self {
            f,
            role,
            waits: false,
            finishes: FinishRule::Ok,
            again: Replacement::Any,
            struck: &[],
        }
    }

    /// The same, whose answer waits for other clients.
    pub const fn waits(self) -> Self {
        Self { waits: true, ..self }
    }

    /// The same, finished by other answers.
    pub const fn finishes(self, finishes: FinishRule) -> Self {
        Self { finishes, ..self }
    }

    /// The same, made up for by another operation of its name.
    pub const fn again(self) -> Self {
        let again = Replacement::Same;
        Self { again, ..self }
    }
}

/// What is known of an operation by its name alone; `None` if no family has it. Two families give one name one meaning.
pub fn op(f: &str) -> Option<&'static OpSpec> {
    super::FAMILIES
        .iter()
        .flat_map(|family| family.ops)
        .find(|op| op.f == f)
}

/// What an operation is for, by its name.
pub fn role(f: &str) -> Role {
    op(f).map_or(Role::Other, |op| op.role)
}

/// A family by its name.
pub fn family(name: &str) -> Option<&'static Family> {
    super::FAMILIES.iter().copied().find(|family| family.name == name)
}

#[cfg(test)]
mod tests {
    use super::super::FAMILIES;

    #[test]
    fn a_family_that_grants_has_the_operations_of_a_holder() {
        for family in FAMILIES.iter().filter(|family| family.grants) {
            let ops = family.grant_ops();
            let reads = family.name == "rwlock";
            assert_eq!(ops.reads.is_some(), reads, "{}", family.name);
        }
    }

    #[test]
    fn one_name_has_one_meaning() {
        let all: Vec<_> = FAMILIES.iter().flat_map(|family| family.ops).collect();
        for one in &all {
            let same = all.iter().filter(|other| other.f == one.f);
            for other in same {
                let meaning = |op: &super::OpSpec| (op.role, op.waits, op.again);
                assert_eq!(meaning(one), meaning(other), "{}", one.f);
                assert_eq!(one.finishes, other.finishes, "{}", one.f);
            }
        }
    }
}
