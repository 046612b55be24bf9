//! Where servers and clients stand in a run over several hosts: as the user places them, and the others spread.

use std::str::FromStr;
use zooquake_history::plan::{ClusterPlan, PlannedHost};
use zooquake_history::{Host, Node, node};

/// The most hosts of a run.
pub const MOST_HOSTS: usize = 16;

/// One server or client, and the host that the user places it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedNode {
    node: Node,
    host: Host,
}

impl FromStr for PlacedNode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let placed = text.split_once('=').map(|(node, host)| Self {
            node: node.into(),
            host: host.into(),
        });
        let counted = |number: Option<usize>| number.is_some_and(|number| number > 0);
        let stands = |node: &Node| (node.is_server() || node.is_client()) && counted(node.number());
        placed
            .filter(|placed| stands(&placed.node) && counted(placed.host.number()))
            .ok_or_else(|| format!("`{text}` places nothing: give NODE=HOST, such as n1=h1 or c3=h2"))
    }
}

/// `n1=h2`.
pub fn text(placed: &PlacedNode) -> String {
    format!("{}={}", placed.node, placed.host)
}

/// The hosts at these addresses with what stands on each. What is not placed is spread: a voter to the host with the
/// fewest voters, so that none has a majority of them where that can be, and then, as all others, to the one with the
/// fewest nodes; of several to the first.
///
/// # Errors
/// If a node or a host that is placed does not exist, or one is placed twice, or there is one host alone: a message for
/// the user.
pub fn hosts(addresses: &[String], placed: &[PlacedNode], cluster: &ClusterPlan) -> Result<Vec<PlannedHost>, String> {
    if addresses.is_empty() {
        return match placed.first() {
            None => Ok(Vec::new()),
            Some(one) => Err(format!("{} is placed on one of no hosts: give --hosts too", one.node)),
        };
    }
    if !(2..=MOST_HOSTS).contains(&addresses.len()) {
        return Err(format!(
            "--hosts takes 2 to {MOST_HOSTS} hosts; for a run on one alone leave --hosts out, and set DOCKER_HOST"
        ));
    }
    if let Some(twice) = (1..addresses.len()).find(|&n| addresses[..n].contains(&addresses[n])) {
        return Err(format!("the host {} is there twice", addresses[twice]));
    }
    let (voters, nodes) = (cluster.voters(), cluster.nodes());
    let mut on: Vec<Vec<&Node>> = vec![Vec::new(); addresses.len()];
    for PlacedNode { node, host } in placed {
        let place = (0..addresses.len()).find(|&place| Host::new(place + 1) == *host);
        let place = place.ok_or_else(|| format!("there is no host {host}: there are h1 to h{}", addresses.len()))?;
        let known = nodes.iter().find(|known| *known == node);
        let known = known.ok_or_else(|| {
            format!(
                "there is no {node} to be placed: there are {}",
                node::join(&nodes, ", ")
            )
        })?;
        if on.iter().flatten().any(|other| *other == known) {
            return Err(format!("{node} is placed twice"));
        }
        on[place].push(known);
    }
    for node in &nodes {
        if on.iter().flatten().any(|other| *other == node) {
            continue;
        }
        let voting = |host: &[&Node]| host.iter().filter(|other| voters.contains(other)).count();
        let weight = |place: &usize| {
            let weighed = if voters.contains(node) { voting(&on[*place]) } else { 0 };
            (weighed, on[*place].len(), *place)
        };
        let least = (0..on.len()).min_by_key(weight).unwrap_or_default();
        on[least].push(node);
    }
    let each = addresses.iter().zip(on).map(|(address, on)| PlannedHost {
        address: address.clone(),
        nodes: nodes.iter().filter(|node| on.contains(node)).cloned().collect(),
    });
    Ok(each.collect())
}

/// What a user has to place to get the hosts of a plan; nothing if they are as nodes are spread.
pub fn placed(cluster: &ClusterPlan) -> Vec<PlacedNode> {
    let addresses: Vec<String> = cluster.hosts.iter().map(|host| host.address.clone()).collect();
    if hosts(&addresses, &[], cluster).is_ok_and(|spread| spread == cluster.hosts) {
        return Vec::new();
    }
    let placed = cluster.nodes().into_iter().filter_map(|node| {
        let host = Host::new(cluster.host_of(&node)? + 1);
        Some(PlacedNode { node, host })
    });
    placed.collect()
}

/// Refuses hosts of a plan from elsewhere that do not have each node of it once.
///
/// # Errors
/// What is wrong with them, as the end of a sentence about the plan.
pub fn check(cluster: &ClusterPlan) -> Result<(), String> {
    if cluster.hosts.is_empty() {
        return Ok(());
    }
    let mut placed: Vec<&Node> = cluster.hosts.iter().flat_map(|host| &host.nodes).collect();
    let nodes = cluster.nodes();
    let mut all: Vec<&Node> = nodes.iter().collect();
    placed.sort_unstable();
    all.sort_unstable();
    if !(2..=MOST_HOSTS).contains(&cluster.hosts.len()) || placed != all {
        return Err("does not have each of its servers and clients on one of its hosts".into());
    }
    let foreign = |host: &&PlannedHost| !zooquake_backend::docker::is_host(&host.address);
    match cluster.hosts.iter().find(foreign) {
        Some(host) => Err(format!("names {:?}, which is not the address of a host", host.address)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(servers: usize, observers: usize, clients: usize) -> ClusterPlan {
        ClusterPlan {
            servers,
            observers,
            clients,
            ..ClusterPlan::default()
        }
    }

    fn addresses(count: usize) -> Vec<String> {
        (1..=count).map(|n| format!("unix:///run/{n}.sock")).collect()
    }

    fn spread(count: usize, placed: &[&str], cluster: &ClusterPlan) -> Result<Vec<String>, String> {
        let placed: Vec<PlacedNode> = placed.iter().map(|text| text.parse().unwrap()).collect();
        let hosts = hosts(&addresses(count), &placed, cluster)?;
        Ok(hosts.into_iter().map(|host| node::join(&host.nodes, ",")).collect())
    }

    #[test]
    fn no_host_has_a_majority_of_the_voters_where_there_are_enough_hosts() {
        for servers in [3, 5] {
            for count in 2..=6 {
                let cluster = cluster(servers, 1, 7);
                let hosts = hosts(&addresses(count), &[], &cluster).unwrap();
                let voters = cluster.voters();
                let voting = |host: &PlannedHost| host.nodes.iter().filter(|node| voters.contains(node)).count();
                let most = hosts.iter().map(voting).max().unwrap();
                assert_eq!(most, servers.div_ceil(count), "{servers} on {count}");
                let sizes = || hosts.iter().map(|host| host.nodes.len());
                assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1, "{hosts:?}");
            }
        }
    }

    #[test]
    fn what_the_user_places_stays_there_and_the_others_are_spread_around_it() {
        assert_eq!(
            spread(2, &[], &cluster(3, 0, 5)).unwrap(),
            ["n1,n3,c2,c4", "n2,c1,c3,c5"]
        );
        assert_eq!(
            spread(2, &["n1=h2", "c5=h1"], &cluster(3, 0, 5)).unwrap(),
            ["n2,c1,c3,c5", "n1,n3,c2,c4"]
        );
    }

    #[test]
    fn what_cannot_be_placed_is_refused_with_the_reason() {
        let refused = |count, placed: &[&str]| spread(count, placed, &cluster(3, 0, 5)).unwrap_err();
        assert!(refused(2, &["n1=h3"]).contains("h1 to h2"));
        assert!(refused(2, &["n4=h1"]).contains("there is no n4"));
        assert!(refused(2, &["n1=h1", "n1=h2"]).contains("twice"));
        assert!(refused(1, &[]).contains("2 to 16"));
        assert!(refused(0, &["n1=h1"]).contains("give --hosts"));
        for text in ["n1", "n1=2", "x1=h1", "n0=h1", "n1=h", "n01=h1", "=h1", "é1=h1"] {
            assert!(text.parse::<PlacedNode>().is_err(), "{text}");
        }
        let twice = vec!["unix:///a".to_owned(); 2];
        assert!(hosts(&twice, &[], &cluster(3, 0, 5)).unwrap_err().contains("twice"));
    }

    #[test]
    fn a_plan_is_placed_again_as_it_was() {
        let mut cluster = cluster(3, 1, 4);
        for given in [vec![], vec!["n1=h2", "n2=h2", "n3=h2", "c1=h2"]] {
            let given: Vec<PlacedNode> = given.iter().map(|text| text.parse().unwrap()).collect();
            cluster.hosts = hosts(&addresses(2), &given, &cluster).unwrap();
            let again = placed(&cluster);
            assert_eq!(again.is_empty(), given.is_empty());
            assert_eq!(hosts(&addresses(2), &again, &cluster).unwrap(), cluster.hosts);
            assert_eq!(check(&cluster), Ok(()));
        }
        cluster.hosts[0].nodes.pop();
        assert!(check(&cluster).is_err());
    }
}
