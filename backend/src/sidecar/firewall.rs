//! Cutting a host off from its peers with iptables, in chains of our own.

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::process::Stdio;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::sync::Mutex;

const IN: &str = "ZOOQUAKE-IN";
const OUT: &str = "ZOOQUAKE-OUT";

/// The table of the cuts.
const FILTER: &[&str] = &["-t", "filter"];

/// Whether no rule may be set any more. Held while rules change, so that none is set after the last healing.
static CLOSED: Mutex<bool> = Mutex::const_new(false);

/// One peer that this host is cut off from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerRule {
    /// Its address, by which packets are matched.
    pub peer: IpAddr,
    /// Drop what comes from it.
    pub inbound: bool,
    /// Drop what goes to it.
    pub outbound: bool,
}

/// Installs the rules at one stroke, so that no packet sees half of them.
///
/// # Errors
/// If iptables refuses, or the last healing has begun.
pub async fn cut(rules: &[PeerRule]) -> Result<()> {
    let closed = CLOSED.lock().await;
    ensure!(!*closed, "the orchestrator has gone: nothing is cut any more");
    let mut script = format!("*filter\n:{IN} - [0:0]\n:{OUT} - [0:0]\n");
    for PeerRule {
        peer,
        inbound,
        outbound,
    } in rules
    {
        if *inbound {
            script.push_str(&format!("-A {IN} -s {peer} -j DROP\n"));
        }
        if *outbound {
            script.push_str(&format!("-A {OUT} -d {peer} -j DROP\n"));
        }
    }
    script.push_str(&format!("-I INPUT 1 -j {IN}\n-I OUTPUT 1 -j {OUT}\nCOMMIT\n"));
    restore(&script).await.context("cutting the network")
}

/// Removes all rules of ours, after a cut that is being made, and lets none be set any more.
///
/// # Errors
/// If one is left.
pub async fn close() -> Result<()> {
    let mut closed = CLOSED.lock().await;
    *closed = true;
    remove_all().await.map(|_| ())
}

/// Removes all rules of ours and verifies that none is left; returns whether there was any.
///
/// # Errors
/// If one is left.
pub async fn heal() -> Result<bool> {
    let _changing = CLOSED.lock().await;
    remove_all().await
}

async fn remove_all() -> Result<bool> {
    let script =
        format!("*filter\n-D INPUT -j {IN}\n-D OUTPUT -j {OUT}\n-F {IN}\n-F {OUT}\n-X {IN}\n-X {OUT}\nCOMMIT\n");
    let (doing, failed) = ("healing the network", "rules are left after healing");
    take_away(FILTER, "ZOOQUAKE", &script, doing, failed).await
}

/// Removes the rules of iptables that have `name` by a script for iptables-restore; whether there were any.
/// `arguments` choose the table that iptables-save lists, `doing` and `failed` are for errors.
///
/// # Errors
/// If iptables-save does not answer, or lists such a rule afterwards.
pub(super) async fn take_away(
    arguments: &[&str],
    name: &str,
    script: &str,
    doing: &'static str,
    failed: &str,
) -> Result<bool> {
    if !save(arguments).await?.contains(name) {
        return Ok(false);
    }
    // It fails also where another program has done it meanwhile: what is left decides.
    let restored = restore(script).await.context(doing);
    let left = save(arguments).await?;
    if left.contains(name) {
        restored?;
        bail!("{failed}:\n{left}");
    }
    Ok(true)
}

/// Packets dropped by our rules since they were installed.
///
/// # Errors
/// If iptables does not answer.
pub async fn dropped() -> Result<u64> {
    Ok(save(&[FILTER, &["-c"]].concat())
        .await?
        .lines()
        .filter(|line| line.ends_with("-j DROP"))
        .filter_map(packets)
        .sum())
}

/// The packet count of a line such as `[12:720] -A ZOOQUAKE-IN -s 10.0.0.2/32 -j DROP`.
fn packets(line: &str) -> Option<u64> {
    if !line.contains("ZOOQUAKE") {
        return None;
    }
    line.strip_prefix('[')?.split(':').next()?.parse().ok()
}

/// The rules of iptables, of all tables in use unless the arguments name one.
///
/// # Errors
/// If iptables does not answer.
async fn save(arguments: &[&str]) -> Result<String> {
    let output = Command::new("iptables-save")
        .args(arguments)
        .output()
        .await
        .context("iptables-save")?;
    ensure!(
        output.status.success(),
        "iptables-save: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Changes the rules of iptables at one stroke.
///
/// # Errors
/// If iptables refuses.
pub(super) async fn restore(script: &str) -> Result<()> {
    let mut child = Command::new("iptables-restore")
        .args(["--noflush", "--wait"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("iptables-restore")?;
    let mut stdin = child.stdin.take().context("iptables-restore has no stdin")?;
    stdin
        .write_all(script.as_bytes())
        .await
        .context("writing to iptables-restore")?;
    drop(stdin);
    let output = child.wait_with_output().await.context("waiting for iptables-restore")?;
    ensure!(
        output.status.success(),
        "iptables-restore: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::packets;

    #[test]
    fn counts_only_our_rules() {
        assert_eq!(packets("[12:720] -A ZOOQUAKE-IN -s 10.0.0.2/32 -j DROP"), Some(12));
        assert_eq!(packets("[12:720] -A OTHER -s 10.0.0.2/32 -j DROP"), None);
        assert_eq!(packets("*filter"), None);
    }
}
