//! The nodes of a consensus protocol by what they are for.

/// Sets of nodes by their roles: bit `n` is node `n`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeSets {
    pub learners: u32,
    /// Those whose majority makes a leader: servers, nodes, replicas.
    pub voters: u32,
}

impl NodeSets {
    /// The sets of nodes with these names, each a role and a number, such as `acceptor2`. The first 32 are looked at.
    pub fn from_names<S: AsRef<str>>(names: &[S]) -> Self {
        let mut sets = Self::default();
        for (node, name) in names.iter().take(32).enumerate() {
            match name.as_ref().trim_end_matches(|last: char| last.is_ascii_digit()) {
                "learner" => sets.learners |= 1 << node,
                "server" | "node" | "replica" => sets.voters |= 1 << node,
                _ => {}
            }
        }
        sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_read_from_names() {
        let sets = NodeSets::from_names(&["acceptor1", "learner1", "learner2", "server10", "observer1", "node1"]);
        assert_eq!((sets.learners, sets.voters), (0b110, 0b10_1000));
    }
}
