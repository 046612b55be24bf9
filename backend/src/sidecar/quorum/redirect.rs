//! The kernel's redirection of a host's own connections to the quorum proxy, in a chain of our own.

use super::relay::MARK;
use crate::sidecar::firewall::{restore, take_away};
use anyhow::{Context, Result};
use std::net::SocketAddr;

const CHAIN: &str = "ZOOQUAKE-QUORUM";

/// Redirects all connections that this host makes to these addresses to the proxy's ports, but for the proxy's own.
///
/// # Errors
/// If iptables refuses: the kernel may have no `nat`, `REDIRECT` or `mark`.
pub async fn install(peers: &[SocketAddr], ports: &[u16]) -> Result<()> {
    let mut script = format!("*nat\n:{CHAIN} - [0:0]\n-A {CHAIN} -m mark --mark {MARK:#x} -j RETURN\n");
    for (peer, port) in peers.iter().zip(ports) {
        let (address, quorum) = (peer.ip(), peer.port());
        script.push_str(&format!(
            "-A {CHAIN} -d {address} -p tcp --dport {quorum} -j REDIRECT --to-ports {port}\n"
        ));
    }
    script.push_str(&format!("-I OUTPUT 1 -j {CHAIN}\nCOMMIT\n"));
    restore(&script).await.context(
        "redirecting connections to the quorum proxy, which the fault `lag` needs; the kernel of the Docker engine's host may \
         lack iptables' table nat, its target REDIRECT or its match mark",
    )
}

/// Takes the redirection away and sees it gone; whether there was one. Connections that are open stay with the proxy.
///
/// # Errors
/// If it is still there.
pub async fn remove() -> Result<bool> {
    let script = format!("*nat\n-D OUTPUT -j {CHAIN}\n-F {CHAIN}\n-X {CHAIN}\nCOMMIT\n");
    let (doing, failed) = ("ending the redirection to the quorum proxy", "a redirection is left");
    // All tables in use: to ask for one that the kernel does not have would be an error.
    take_away(&[], CHAIN, &script, doing, failed).await
}
