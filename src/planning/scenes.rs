//! Variants that are runs of scenes: fresh ensembles without clients, brought into a given state step by step.

use zooquake_history::Node;
use zooquake_history::plan::{Act, ClusterPlan, Plan, Scene, Step, Workload};

/// A variant that is a run of scenes.
#[derive(Debug)]
pub struct Variant {
    /// What it is.
    pub workload: fn() -> Workload,
    /// Its plan from a seed and the shape asked for.
    pub plan: fn(u64, ClusterPlan) -> Plan,
    /// The numbers of servers that it is played on.
    pub servers: usize,
    /// Observers, unless another number is asked for.
    pub observers: usize,
}

/// All of them.
pub const VARIANTS: &[Variant] = &[Variant {
    workload: textbook,
    plan: textbook_plan,
    servers: SERVERS,
    observers: 1,
}];

/// The variant of this name; `None` if there is none.
pub fn variant(family: &str, name: &str) -> Option<&'static Variant> {
    let is = |workload: Workload| (workload.family.as_str(), workload.variant.as_str()) == (family, name);
    VARIANTS.iter().find(|variant| is((variant.workload)()))
}

/// Number of servers of the textbook that vote.
const SERVERS: usize = 5;

/// `ensemble/textbook`: how servers 3, 4 and 5 elect a leader after 1 and 2, which led, have died.
fn textbook() -> Workload {
    Workload {
        family: "ensemble".into(),
        variant: "textbook".into(),
        promise:
            "the textbook's exchange of votes on real servers: 1 and 2, which led, die; of 3, 4 and 5 the one with \
                  the highest zxid wins, or with equal zxids the one with the highest id; an observer never votes"
                .into(),
        ..Workload::default()
    }
}

/// Both scenes of the textbook, on five servers and as many observers as the cluster has, without clients.
fn textbook_plan(seed: u64, cluster: ClusterPlan) -> Plan {
    let cluster = ClusterPlan {
        servers: SERVERS,
        clients: 0,
        ..cluster
    };
    Plan {
        format: Plan::FORMAT,
        seed,
        workload: textbook(),
        scenes: vec![by_zxid(&cluster), by_sid(&cluster)],
        cluster,
        ..Plan::default()
    }
}

fn step(act: Act, servers: impl IntoIterator<Item = impl Into<Node>>) -> Step {
    Step {
        act,
        servers: servers.into_iter().map(Into::into).collect(),
    }
}

/// These servers and the observers.
fn with(cluster: &ClusterPlan, servers: &[&str]) -> Vec<Node> {
    let servers = servers.iter().copied().map(Node::from);
    servers.chain(cluster.observers()).collect()
}

/// Server 2 leads all five, which a fresh ensemble would never have it do: with nothing written the highest id wins.
/// Written to while 3 is among them, then without 3, the ensemble of 1, 2 and an empty 4 elects 2.
fn two_leads(cluster: &ClusterPlan) -> Vec<Step> {
    use Act::{Kill, Lead, Level, Start, Write};
    vec![
        step(Start, with(cluster, &["n1", "n2", "n3"])),
        step(Lead, with(cluster, &["n3", "n1", "n2"])),
        step(Write, ["n3"]),
        step(Kill, ["n3"]),
        step(Start, ["n4"]),
        step(Lead, with(cluster, &["n2", "n1", "n4"])),
        step(Start, ["n3", "n5"]),
        step(Lead, with(cluster, &["n2", "n1", "n3", "n4", "n5"])),
        step(Write, ["n2"]),
        step(Level, with(cluster, &["n1", "n2", "n3", "n4", "n5"])),
    ]
}

/// Servers 4 and 5 miss a write before 1 and 2 die: 3 is ahead of them.
fn by_zxid(cluster: &ClusterPlan) -> Scene {
    use Act::{Cut, Elect, Heal, Kill, Lose, Write};
    let mut steps = two_leads(cluster);
    steps.extend([
        step(Cut, ["n4", "n5"]),
        step(Write, ["n2"]),
        step(Kill, ["n1", "n2"]),
        step(Lose, ["n3", "n4", "n5"]),
        step(Heal, ["n4", "n5"]),
        step(Elect, with(cluster, &["n3", "n4", "n5"])),
    ]);
    Scene {
        name: "zxid".into(),
        winner: "n3".into(),
        rule: "zxid".into(),
        steps,
    }
}

/// Servers 3, 4 and 5 have the same when 1 and 2 die.
fn by_sid(cluster: &ClusterPlan) -> Scene {
    let mut steps = two_leads(cluster);
    steps.extend([
        step(Act::Kill, ["n1", "n2"]),
        step(Act::Elect, with(cluster, &["n3", "n4", "n5"])),
    ]);
    Scene {
        name: "sid".into(),
        winner: "n5".into(),
        rule: "sid".into(),
        steps,
    }
}
