//! Which windows may be on at once: those whose effects and healings are seen each by itself.

use super::{Victims, find};
use zooquake_history::fault::PARTITION;
use zooquake_history::node;
use zooquake_history::plan::{ClusterPlan, Target, Window};
use zooquake_history::{FaultKind, Node};

/// A window, and whom it hits as far as that is known.
#[derive(Debug, Clone)]
pub struct Reach<'a> {
    kind: &'static FaultKind,
    target: &'a Target,
    nodes: Vec<Node>,
}

impl<'a> Reach<'a> {
    /// Whom a window hits once it strikes.
    pub fn of_victims(window: &'a Window, victims: &[Node]) -> Self {
        Self {
            kind: FaultKind::by_name(&window.fault),
            target: &window.target,
            nodes: victims.to_vec(),
        }
    }

    /// Whom a window hits by its plan; whom its trigger, or the ensemble's state, will name is not known.
    pub fn planned(window: &'a Window, cluster: &ClusterPlan) -> Self {
        let nodes = match &window.target {
            Target::Node(node) => vec![node.clone()],
            Target::Servers(servers) => servers.clone(),
            Target::Host(host) => cluster.nodes_on(host).unwrap_or_default().to_vec(),
            Target::Client | Target::Leader | Target::Follower | Target::HolderServer => Vec::new(),
        };
        Self::of_victims(window, &nodes)
    }

    fn hits_servers(&self) -> bool {
        let role = matches!(self.target, Target::Leader | Target::Follower | Target::HolderServer);
        role || self.nodes.iter().any(Node::is_server)
    }

    /// Whether it takes more than half of the servers that vote away.
    fn is_of_majority(&self) -> bool {
        find(self.kind.name).is_some_and(|fault| fault.victims == Victims::Majority)
    }

    /// Why the two cannot be on at once, as a clause; `None` if they can, or if that depends on whom they will hit.
    pub fn excludes(&self, other: &Self) -> Option<String> {
        let shared: Vec<Node> = self
            .nodes
            .iter()
            .filter(|node| other.nodes.contains(node))
            .cloned()
            .collect();
        if !shared.is_empty() {
            return Some(format!("both strike {}", node::join(&shared, ", ")));
        }
        if self.target == other.target && *self.target == Target::Leader {
            return Some("both strike the leader".into());
        }
        let servers = self.hits_servers() || other.hits_servers();
        if self.is_of_majority() || other.is_of_majority() {
            return Some("a `wipe` kills every server that votes, and what else is on could not be seen healed".into());
        }
        let cuts = |reach: &Self| reach.kind.is_felt_as(PARTITION.name);
        if cuts(self) && cuts(other) && servers {
            return Some("connections that one cuts the other one would have to make again".into());
        }
        let lags = self.kind.between_servers || other.kind.between_servers;
        if lags && self.hits_servers() && other.hits_servers() {
            return Some("how late a follower is can be seen only while no other server is struck".into());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_history::plan::Trigger;

    fn window(fault: &str, target: Target) -> Window {
        Window {
            id: 1,
            fault: fault.into(),
            target,
            payload: None,
            trigger: Trigger::At { at_ms: 0 },
            duration_ms: 1_000,
            beside: true,
        }
    }

    fn node(name: &str) -> Target {
        Target::Node(name.into())
    }

    fn excluded(one: (&str, Target), other: (&str, Target)) -> Option<String> {
        let cluster = ClusterPlan::default();
        let (one, other) = (window(one.0, one.1), window(other.0, other.1));
        let [one, other] = [&one, &other].map(|window| Reach::planned(window, &cluster));
        assert_eq!(one.excludes(&other), other.excludes(&one), "whichever is first");
        one.excludes(&other)
    }

    #[test]
    fn nodes_that_differ_are_struck_at_once() {
        for (one, other) in [
            (("pause", node("c1")), ("kill", node("c2"))),
            (("pause", node("c1")), ("kill", Target::Leader)),
            (("kill", node("n1")), ("pause", node("n2"))),
            (("partition", node("c1")), ("partition", node("c2"))),
            (("partition", node("n1")), ("pause", node("c2"))),
            (("lag", Target::Follower), ("latency", node("c2"))),
            (("drop-reply", node("c1")), ("stall", node("c2"))),
            (("pause", Target::Client), ("kill", Target::Client)),
        ] {
            assert_eq!(excluded(one.clone(), other.clone()), None, "{one:?} {other:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_each_by_itself_is_not_on_at_once() {
        let servers = Target::Servers(vec!["n1".into(), "n2".into()]);
        for (one, other, why) in [
            (("pause", node("c1")), ("stall", node("c1")), "both strike c1"),
            (("partition", servers.clone()), ("kill", node("n2")), "both strike n2"),
            (
                ("pause", Target::Leader),
                ("kill", Target::Leader),
                "both strike the leader",
            ),
            (("wipe", servers), ("expire", node("c1")), "kills every server"),
            (("partition", node("n1")), ("partition", node("c1")), "make again"),
            (("partition", Target::Leader), ("partition", node("n2")), "make again"),
            (("lag", Target::Follower), ("kill", Target::Leader), "no other server"),
        ] {
            let excluded = excluded(one.clone(), other.clone()).unwrap_or_default();
            assert!(excluded.contains(why), "{one:?} {other:?}: {excluded}");
        }
    }
}
