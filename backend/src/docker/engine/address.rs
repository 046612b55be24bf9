//! Where the engine is.

use anyhow::{Result, bail};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

/// The variable that names an engine.
const VARIABLE: &str = "DOCKER_HOST";

/// The socket of an engine that is installed as usual.
const SOCKET: &str = "/var/run/docker.sock";

/// The port of an engine that is reached over TCP, if none is named.
const PORT: u16 = 2375;

/// Longest wait for a connection.
const CONNECTS_WITHIN: Duration = Duration::from_secs(10);

/// The address of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A socket of this machine.
    Unix(PathBuf),
    /// `host:port`.
    Tcp(String),
}

/// Bytes in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Whether somebody has chosen an engine, by `DOCKER_HOST` or by a socket in one of the places where engines have
/// theirs.
pub fn is_chosen() -> bool {
    std::env::var_os(VARIABLE).is_some() || socket().is_some()
}

/// Where an engine is looked for.
pub fn tried() -> String {
    match std::env::var(VARIABLE) {
        Ok(named) => named,
        Err(_) => Address::usual().to_string(),
    }
}

/// The first socket that is there: the engine's of the machine, one without root, one of Docker Desktop.
fn socket() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let own = [
        runtime.as_deref().map(|folder| folder.join("docker.sock")),
        runtime.as_deref().map(|folder| folder.join(".docker/run/docker.sock")),
        home.as_deref().map(|folder| folder.join(".docker/run/docker.sock")),
        home.as_deref().map(|folder| folder.join(".docker/desktop/docker.sock")),
    ];
    let mut all = std::iter::once(PathBuf::from(SOCKET)).chain(own.into_iter().flatten());
    all.find(|path| path.exists())
}

impl Address {
    /// The address that `DOCKER_HOST` names, or else that of the first socket that is there.
    ///
    /// # Errors
    /// If `DOCKER_HOST` is set to something that is no address of an engine that can be reached.
    pub fn find() -> Result<Self> {
        match std::env::var_os(VARIABLE) {
            Some(named) => Self::read(&named.to_string_lossy()),
            None => Ok(Self::usual()),
        }
    }

    fn usual() -> Self {
        Self::Unix(socket().unwrap_or_else(|| PathBuf::from(SOCKET)))
    }

    /// Reads `unix:///path` or `tcp://host:port`.
    ///
    /// # Errors
    /// If it is neither.
    pub fn read(named: &str) -> Result<Self> {
        match named.split_once("://") {
            Some(("unix", path)) if Path::new(path).is_absolute() => Ok(Self::Unix(path.into())),
            Some(("tcp" | "http", host)) if !host.trim_end_matches('/').is_empty() => {
                let host = host.trim_end_matches('/');
                let port = host
                    .rsplit_once(':')
                    .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
                Ok(Self::Tcp(if port {
                    host.to_owned()
                } else {
                    format!("{host}:{PORT}")
                }))
            }
            _ => bail!("`{named}` is not an address of an engine: there are unix:///path and tcp://host:port"),
        }
    }

    /// Connects.
    ///
    /// # Errors
    /// If nothing listens there, or does not answer in 10 s.
    pub async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        let connecting = async {
            Ok(match self {
                Self::Unix(path) => Box::new(UnixStream::connect(path).await?) as Box<dyn Stream>,
                Self::Tcp(host) => Box::new(TcpStream::connect(host).await?),
            })
        };
        tokio::time::timeout(CONNECTS_WITHIN, connecting).await?
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Tcp(host) => write!(f, "tcp://{host}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn reads_the_addresses_that_docker_reads() {
        let read = |named| Address::read(named).expect(named);
        assert_eq!(read("unix:///run/d.sock"), Address::Unix("/run/d.sock".into()));
        assert_eq!(read("tcp://engine:2376/"), Address::Tcp("engine:2376".into()));
        assert_eq!(read("http://10.0.0.1"), Address::Tcp("10.0.0.1:2375".into()));
        for no in [
            "",
            "/run/d.sock",
            "unix://d.sock",
            "ssh://engine",
            "tcp://",
            "https://engine",
        ] {
            assert!(Address::read(no).is_err(), "{no}");
        }
    }
}
