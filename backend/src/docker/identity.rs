//! Which engine it is, on which machine.

use super::machines::Machines;
use crate::retry::again;
use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use testcontainers::bollard::Docker;
use testcontainers::bollard::models::SystemInfo;

/// All engines, as [`engine`] describes each: those of several machines with their names, in one text.
///
/// # Errors
/// If one does not answer.
pub async fn engines(machines: &Machines) -> Result<String> {
    let described = machines.all.iter().map(|machine| async move {
        let engine = engine(&machine.docker).await?;
        anyhow::Ok(match &machine.named {
            Some(named) => format!("{}: {engine}", named.host),
            None => engine,
        })
    });
    Ok(try_join_all(described).await?.join("; "))
}

/// The engine with its version, and the system and kernel that it runs on.
///
/// # Errors
/// If it does not answer.
async fn engine(docker: &Docker) -> Result<String> {
    let info = again(|| docker.info()).await;
    Ok(words(&info.context("asking the engine for its version")?))
}

/// What an engine's machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineMachine {
    /// Processors, at least 1.
    pub processors: usize,
    /// Bytes of memory.
    pub memory: u64,
}

/// What the engine's machine has.
///
/// # Errors
/// If the engine does not answer, or does not report it.
pub async fn machine(docker: &Docker) -> Result<EngineMachine> {
    let info = again(|| docker.info()).await;
    size(&info.context("asking the engine for its machine")?)
}

fn size(info: &SystemInfo) -> Result<EngineMachine> {
    let memory = info.mem_total.and_then(|bytes| u64::try_from(bytes).ok());
    Ok(EngineMachine {
        processors: info
            .ncpu
            .and_then(|number| usize::try_from(number).ok())
            .unwrap_or(1)
            .max(1),
        memory: memory.context("the engine does not report the memory of its machine")?,
    })
}

/// `Docker 20.10.24 on Debian GNU/Linux 12 (bookworm), kernel 6.1.0, x86_64`, without what is not given.
fn words(info: &SystemInfo) -> String {
    let given = |what: &str, value: &Option<String>| {
        let value = value.as_deref().filter(|value| !value.is_empty());
        value.map_or_else(String::new, |value| format!("{what}{value}"))
    };
    [
        "Docker".to_owned(),
        given(" ", &info.server_version),
        given(" on ", &info.operating_system),
        given(", kernel ", &info.kernel_version),
        given(", ", &info.architecture),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_memory_is_an_error() {
        let info = SystemInfo {
            ncpu: Some(2),
            mem_total: Some(8 << 30),
            ..SystemInfo::default()
        };
        let (processors, memory) = (2, 8 << 30);
        assert_eq!(size(&info).unwrap(), EngineMachine { processors, memory });
        assert!(size(&SystemInfo::default()).is_err());
    }

    #[test]
    fn what_the_engine_does_not_give_is_left_out() {
        let whole = SystemInfo {
            server_version: Some("20.10.24".into()),
            operating_system: Some("Debian GNU/Linux 12 (bookworm)".into()),
            kernel_version: Some("6.1.0".into()),
            architecture: Some("x86_64".into()),
            ..SystemInfo::default()
        };
        let all = "Docker 20.10.24 on Debian GNU/Linux 12 (bookworm), kernel 6.1.0, x86_64";
        assert_eq!(words(&whole), all);
        let partial = SystemInfo {
            operating_system: Some(String::new()),
            kernel_version: None,
            ..whole
        };
        assert_eq!(words(&partial), "Docker 20.10.24, x86_64");
        assert_eq!(words(&SystemInfo::default()), "Docker");
    }
}
