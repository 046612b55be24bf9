//! The addresses of the engines of a run over several hosts.

use super::super::engine::Address;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// The socket of an engine that is reached through ssh, if none is named.
const SOCKET: &str = "/var/run/docker.sock";

/// How an engine is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostAddress {
    /// By a connection of our own.
    Direct(Address),
    /// Through ssh.
    Ssh(SshTarget),
}

/// A Docker engine's socket on a machine that is reached by ssh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshTarget {
    /// `user@host`, or the host alone.
    pub destination: String,
    /// The port, if it is not ssh's own choice.
    pub port: Option<u16>,
    /// The path of the socket there.
    pub socket: String,
}

impl HostAddress {
    /// Reads `unix:///path`, `tcp://host:port` or `ssh://user@host:port/path`; port and path may be left out.
    ///
    /// # Errors
    /// If it is none of these, or holds what ssh would take for an option.
    pub fn read(text: &str) -> Result<Self> {
        let Some(rest) = text.strip_prefix("ssh://") else {
            return Address::read(text).map(Self::Direct).with_context(|| {
                format!("`{text}` is no host: there are unix:///path, tcp://host:port and ssh://user@host")
            });
        };
        let (authority, path) = match rest.find('/') {
            Some(at) if at + 1 < rest.len() => (&rest[..at], &rest[at..]),
            Some(at) => (&rest[..at], SOCKET),
            None => (rest, SOCKET),
        };
        let (destination, port) = match authority.rsplit_once(':') {
            Some((destination, port)) => (
                destination,
                Some(
                    port.parse()
                        .with_context(|| format!("`{port}` in `{text}` is no port"))?,
                ),
            ),
            None => (authority, None),
        };
        let plain = |part: &str| {
            let known = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            !part.is_empty() && !part.starts_with('-') && part.chars().all(known)
        };
        let whole = destination.split('@').all(plain) && destination.matches('@').count() <= 1;
        let on_path = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        ensure!(
            whole && path.chars().all(on_path),
            "`{text}` is no host that ssh could reach: there is ssh://user@host:port/path of the socket"
        );
        Ok(Self::Ssh(SshTarget {
            destination: destination.to_owned(),
            port,
            socket: path.to_owned(),
        }))
    }
}

/// Whether a text is the address of a host.
pub fn is_host(text: &str) -> bool {
    HostAddress::read(text).is_ok() && !text.contains([',', '\n'])
}

/// The address that a text is, or that the docker context of this name has.
///
/// # Errors
/// If it is none, or there is no such context, or that one cannot be reached.
pub fn host_address(text: &str) -> Result<String> {
    let text = text.trim();
    let address = match text.contains("://") {
        true => text.to_owned(),
        false => of_context(text)?,
    };
    ensure!(!address.contains([',', '\n']), "an address of a host has no comma");
    HostAddress::read(&address)?;
    Ok(address)
}

/// The address in the files that `docker context create` writes.
fn of_context(name: &str) -> Result<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    ensure!(
        !name.is_empty() && name.chars().all(plain),
        "`{name}` is no host: there are unix:///path, tcp://host:port, ssh://user@host, and names of docker contexts"
    );
    if name == "default" {
        return Ok(Address::find()?.to_string());
    }
    let own = std::env::var_os("DOCKER_CONFIG").map(PathBuf::from);
    let usual = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".docker"));
    let folder = own.or_else(usual).context("neither DOCKER_CONFIG nor HOME is set")?;
    let folder_name: String = Sha256::digest(name).iter().map(|byte| format!("{byte:02x}")).collect();
    let context = folder.join("contexts/meta").join(&folder_name).join("meta.json");
    let text = std::fs::read_to_string(&context).with_context(|| {
        format!("there is no docker context `{name}`, and it is no address either; `docker context ls` shows all")
    })?;
    ensure!(
        !folder.join("contexts/tls").join(&folder_name).exists(),
        "the docker context `{name}` uses TLS, which zooquake does not: give one that goes through ssh"
    );
    let meta: Value = serde_json::from_str(&text).with_context(|| format!("reading {}", context.display()))?;
    let host = meta["Endpoints"]["docker"]["Host"].as_str();
    Ok(host
        .with_context(|| format!("the docker context `{name}` has no endpoint of an engine"))?
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_ways_to_an_engine() {
        let ssh = |destination: &str, port, socket: &str| {
            HostAddress::Ssh(SshTarget {
                destination: destination.into(),
                port,
                socket: socket.into(),
            })
        };
        for (text, address) in [
            ("unix:///a.sock", HostAddress::Direct(Address::Unix("/a.sock".into()))),
            ("tcp://b:2375", HostAddress::Direct(Address::Tcp("b:2375".into()))),
            ("ssh://me@b", ssh("me@b", None, SOCKET)),
            ("ssh://b:2222", ssh("b", Some(2222), SOCKET)),
            (
                "ssh://me@b/run/user/1/docker.sock",
                ssh("me@b", None, "/run/user/1/docker.sock"),
            ),
        ] {
            assert_eq!(HostAddress::read(text).unwrap(), address, "{text}");
            assert!(is_host(text));
        }
    }

    #[test]
    fn what_ssh_would_take_for_an_option_or_a_shell_for_a_command_is_no_host() {
        for text in [
            "ssh://",
            "ssh://-oProxyCommand=x",
            "ssh://me@-oProxyCommand=x",
            "ssh://a@b@c",
            "ssh://b:x",
            "ssh://b;x",
            "ssh://b/run/$(x).sock",
            "ssh://b/a:b",
            "unix://relative",
            "somewhere",
        ] {
            assert!(!is_host(text), "{text}");
        }
        assert!(!is_host("unix:///a,unix:///b"));
    }

    #[test]
    fn a_name_that_is_no_context_is_refused_with_the_way_out() {
        let why = format!("{:#}", host_address("no-such-context-of-docker").unwrap_err());
        assert!(why.contains("docker context ls"), "{why}");
        assert!(format!("{:#}", host_address("../x").unwrap_err()).contains("unix:///path"));
    }
}
