//! Least privilege: what the containers of a run may do.

use crate::retry::again;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::HashMap;
use testcontainers::bollard::Docker;
use testcontainers::bollard::models::HostConfig;

/// What one kind of container may do. None of them may gain privileges, or has a way out of the run's network.
#[derive(Debug)]
pub struct Confinement {
    /// The containers.
    role: &'static str,
    /// User and group of every process in it; `None` for those of the image.
    pub user: Option<&'static str>,
    /// Capabilities that it keeps; all others are dropped.
    capabilities: &'static [&'static str],
    /// Most memory, in MiB.
    memory_mib: i64,
    /// Most processes and threads.
    pids: i64,
    /// Its share of the processors where they are short, beside the others'. There is no quota: a container that has
    /// used up its own stands still, which would be a pause that no history records.
    cpu_weight: i64,
    /// Whether it writes nothing to its disk.
    read_only: bool,
}

/// User and group `nobody`, by number: an image need not define the name.
const NOBODY: Option<&str> = Some("65534:65534");

/// ZooKeeper's images begin as root, give their folders to the user `zookeeper`, and go on as that one without any
/// capability. Wiping a dead server's data takes the right to write into them. The heap has 256 MiB.
pub const SERVER: Confinement = Confinement {
    role: "servers",
    user: None,
    capabilities: &["CHOWN", "DAC_OVERRIDE", "SETGID", "SETUID"],
    memory_mib: 1024,
    pids: 1024,
    cpu_weight: 1024,
    read_only: false,
};

/// Recipe clients need nothing but their connections.
pub const CLIENT: Confinement = Confinement {
    role: "clients",
    user: NOBODY,
    capabilities: &[],
    memory_mib: 1024,
    pids: 1024,
    cpu_weight: 512,
    read_only: false,
};

/// Sidecars set network rules and kill processes of other users.
pub const SIDECAR: Confinement = Confinement {
    role: "sidecars",
    user: Some("0:0"),
    capabilities: &["KILL", "NET_ADMIN"],
    memory_mib: 512,
    pids: 256,
    cpu_weight: 2048,
    read_only: true,
};

/// The lease reads its stdin.
pub const LEASE: Confinement = Confinement {
    role: "lease",
    user: NOBODY,
    capabilities: &[],
    memory_mib: 128,
    pids: 64,
    cpu_weight: 1024,
    read_only: true,
};

impl Confinement {
    /// Sets it in the configuration of a container.
    pub fn apply(&self, config: &mut HostConfig) {
        config.cap_drop = Some(vec!["ALL".to_string()]);
        config.cap_add = Some(self.capabilities.iter().map(|name| (*name).to_string()).collect());
        config.security_opt = Some(vec!["no-new-privileges".to_string()]);
        config.memory = Some(self.memory_mib << 20);
        config.pids_limit = Some(self.pids);
        config.cpu_shares = Some(self.cpu_weight);
        config.readonly_rootfs = Some(self.read_only);
        if self.read_only {
            // The lock of iptables.
            config.tmpfs = Some(HashMap::from([(
                "/run".to_string(),
                "rw,noexec,nosuid,size=1m".to_string(),
            )]));
        }
        // Published ports would cost a proxy process each, and nothing uses them.
        config.publish_all_ports = Some(false);
    }
}

/// The confinement of a run's containers as its history has it; a limit that the engine cannot set is `null`.
///
/// # Errors
/// If the engine does not answer the query for its capabilities.
pub async fn describe(docker: &Docker) -> Result<Value> {
    let engine = again(|| docker.info())
        .await
        .context("asking the engine what it can do")?;
    let limits = [engine.memory_limit, engine.pids_limit, engine.cpu_shares].map(|can| can.unwrap_or(false));
    let containers = [SERVER, CLIENT, SIDECAR, LEASE].map(|one| {
        json!({
            "role": one.role,
            "user": one.user,
            "capabilities": one.capabilities,
            "memory_mib": limits[0].then_some(one.memory_mib),
            "pids": limits[1].then_some(one.pids),
            "cpu_weight": limits[2].then_some(one.cpu_weight),
            "read_only_root": one.read_only,
        })
    });
    Ok(json!({
        "internal_network": true,
        "no_new_privileges": true,
        "security": engine.security_options.unwrap_or_default(),
        "containers": containers,
    }))
}
