//! Whether several engines are one Swarm, so that containers on all of them can share a network.

use super::DockerMachine;
use crate::retry::again;
use anyhow::{Context, Result, bail, ensure};
use futures_util::future::try_join_all;
use std::collections::BTreeSet;
use testcontainers::bollard::models::{LocalNodeState, SystemInfo};
use testcontainers::bollard::query_parameters::ListNodesOptions;

/// The place of the first machine whose engine manages the Swarm that all of them are in.
///
/// # Errors
/// If they are none, with the commands that make one of them; if none of them manages it; if two addresses are one
/// engine; if their processors differ, so that one cannot run the images of another.
pub async fn manager(machines: &[DockerMachine]) -> Result<usize> {
    let infos = try_join_all(machines.iter().map(|machine| async move {
        let info = again(|| machine.docker.info()).await;
        info.with_context(|| format!("asking the engine{} what it is", machine.words()))
    }));
    let infos = infos.await?;
    let members: Vec<SwarmMember> = infos.iter().map(SwarmMember::of_engine).collect();
    let manager = judge(machines, &members)?;
    let nodes = again(|| machines[manager].docker.list_nodes(None::<ListNodesOptions>)).await;
    let nodes = nodes.with_context(|| format!("listing the nodes of the Swarm{}", machines[manager].words()))?;
    let nodes: BTreeSet<String> = nodes.into_iter().filter_map(|node| node.id).collect();
    for (machine, member) in machines.iter().zip(&members) {
        ensure!(
            nodes.contains(&member.node),
            "the engine{} is in another Swarm than that{}: {}",
            machine.words(),
            machines[manager].words(),
            way_in(machines, manager, machine)
        );
    }
    Ok(manager)
}

/// An engine as it describes itself.
#[derive(Debug, Default)]
struct SwarmMember {
    /// Its id in the Swarm; empty if it is in none. The id of the engine itself is of a file that two on one machine
    /// may share.
    node: String,
    manages: bool,
    architecture: String,
}

impl SwarmMember {
    fn of_engine(info: &SystemInfo) -> Self {
        let swarm = info.swarm.clone().unwrap_or_default();
        let active = swarm.local_node_state == Some(LocalNodeState::ACTIVE);
        Self {
            node: swarm.node_id.filter(|_| active).unwrap_or_default(),
            manages: active && swarm.control_available == Some(true),
            architecture: info.architecture.clone().unwrap_or_default(),
        }
    }
}

fn judge(machines: &[DockerMachine], members: &[SwarmMember]) -> Result<usize> {
    for (at, (machine, member)) in machines.iter().zip(members).enumerate() {
        let same = |other: &SwarmMember| !other.node.is_empty() && other.node == member.node;
        if let Some(other) = members[..at].iter().position(same) {
            bail!(
                "the hosts {} and {} are one Docker engine by two addresses: give each engine once",
                name(&machines[other]),
                name(machine)
            );
        }
        ensure!(
            member.architecture == members[0].architecture,
            "the host {} has processors of the kind {}, and {} of the kind {}: images of the one do not run on the other; give \
             hosts of one kind",
            name(machine),
            member.architecture,
            name(&machines[0]),
            members[0].architecture
        );
    }
    let manager = members.iter().position(|member| member.manages);
    let outside = machines.iter().zip(members).find(|(_, member)| member.node.is_empty());
    match (manager, outside) {
        (Some(manager), None) => Ok(manager),
        (Some(manager), Some((machine, _))) => bail!(
            "the engine{} is in no Swarm: {}",
            machine.words(),
            way_in(machines, manager, machine)
        ),
        (None, None) => bail!(
            "the engines are in a Swarm that none of them manages: name a manager too, or run `docker node promote` on one"
        ),
        (None, Some(_)) => bail!(
            "the engines are no Swarm, which a run over several hosts needs for its network. `docker -H {first} swarm init` \
             makes one; then {}",
            way_in(machines, 0, &machines[1]),
            first = address(&machines[0])
        ),
    }
}

/// The command by which an engine joins the Swarm that another one manages.
fn way_in(machines: &[DockerMachine], manager: usize, machine: &DockerMachine) -> String {
    let manager = address(&machines[manager]);
    format!(
        "`docker -H {} swarm join --token $(docker -H {manager} swarm join-token -q worker) IP-OF-THE-MANAGER:2377` lets it in",
        address(machine)
    )
}

fn name(machine: &DockerMachine) -> String {
    machine
        .named
        .as_ref()
        .map_or_else(String::new, |named| named.host.to_string())
}

fn address(machine: &DockerMachine) -> &str {
    machine.named.as_ref().map_or("", |named| &named.address)
}

#[cfg(test)]
mod tests {
    use super::super::super::engine::{Address, client};
    use super::super::MachineName;
    use super::*;
    use zooquake_history::Host;

    fn machines(count: usize) -> Vec<DockerMachine> {
        let machine = |number: usize| DockerMachine {
            docker: client(Address::Unix(format!("/nowhere/{number}.sock").into())).unwrap(),
            named: Some(MachineName {
                host: Host::new(number),
                address: format!("unix:///nowhere/{number}.sock"),
            }),
            _tunnel: None,
        };
        (1..=count).map(machine).collect()
    }

    fn member(node: &str, manages: bool) -> SwarmMember {
        SwarmMember {
            node: node.into(),
            manages,
            architecture: "x86_64".into(),
        }
    }

    fn refused(members: &[SwarmMember]) -> String {
        judge(&machines(members.len()), members).unwrap_err().to_string()
    }

    #[test]
    fn engines_of_one_swarm_have_a_manager() {
        let members = [member("1", false), member("2", true)];
        assert_eq!(judge(&machines(2), &members).unwrap(), 1);
    }

    #[test]
    fn engines_that_are_no_swarm_get_the_commands_that_make_one() {
        let none = refused(&[member("", false), member("", false)]);
        assert!(none.contains("`docker -H unix:///nowhere/1.sock swarm init`"), "{none}");
        assert!(none.contains("`docker -H unix:///nowhere/2.sock swarm join"), "{none}");
        let half = refused(&[member("1", true), member("", false)]);
        assert!(
            half.contains("on the host h2 is in no Swarm") && half.contains("swarm join-token"),
            "{half}"
        );
        let headless = refused(&[member("1", false), member("2", false)]);
        assert!(headless.contains("docker node promote"), "{headless}");
    }

    #[test]
    fn one_engine_twice_and_processors_that_differ_are_refused() {
        let twice = refused(&[member("1", true), member("1", true)]);
        assert!(twice.contains("h1 and h2 are one Docker engine"), "{twice}");
        let mut other = member("2", false);
        other.architecture = "aarch64".into();
        let differ = refused(&[member("1", true), other]);
        assert!(differ.contains("aarch64") && differ.contains("x86_64"), "{differ}");
    }
}
