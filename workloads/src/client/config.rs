//! The configuration of the client program, from environment variables.

use std::time::Duration;

use anyhow::Context;

/// What the client program is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The client's name, `c1`: `ZOOQUAKE_CLIENT`.
    pub client: String,
    /// How often it has been started, from 1: `ZOOQUAKE_INCARNATION`.
    pub incarnation: u32,
    /// `lock/protected`: `ZOOQUAKE_VARIANT`.
    pub variant: String,
    /// `host:port,host:port`: `ZOOQUAKE_CONNECT`.
    pub connect: String,
    /// `n2`, the only server in [`Config::connect`], where the plan pins clients to servers: `ZOOQUAKE_SERVER`.
    pub server: Option<String>,
    /// The session timeout to ask for: `ZOOQUAKE_SESSION_MS`.
    pub session_timeout: Duration,
}

impl Config {
    /// Reads the environment.
    ///
    /// # Errors
    /// If a variable that every client needs is missing, or one makes no sense.
    pub fn from_env() -> anyhow::Result<Self> {
        Self::read(|name| std::env::var(name).with_context(|| format!("the environment variable {name} is missing")))
    }

    fn read(variable: impl Fn(&str) -> anyhow::Result<String>) -> anyhow::Result<Self> {
        let number = |name: &str| {
            let text = variable(name)?;
            text.parse::<u32>()
                .with_context(|| format!("{name} is `{text}`, not a number"))
        };
        Ok(Self {
            client: variable("ZOOQUAKE_CLIENT")?,
            incarnation: number("ZOOQUAKE_INCARNATION")?,
            variant: variable("ZOOQUAKE_VARIANT")?,
            connect: variable("ZOOQUAKE_CONNECT")?,
            // Missing where clients are not pinned.
            server: variable("ZOOQUAKE_SERVER").ok(),
            session_timeout: Duration::from_millis(number("ZOOQUAKE_SESSION_MS")?.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> anyhow::Result<String> {
        let value = match name {
            "ZOOQUAKE_CLIENT" => "c3",
            "ZOOQUAKE_INCARNATION" => "2",
            "ZOOQUAKE_VARIANT" => "lock/fenced",
            "ZOOQUAKE_CONNECT" => "10.0.0.1:2181,10.0.0.2:2181",
            "ZOOQUAKE_SESSION_MS" => "2000",
            _ => anyhow::bail!("{name} is not one of them"),
        };
        Ok(value.to_string())
    }

    #[test]
    fn the_environment_is_read() {
        let config = Config::read(variable).unwrap();
        assert_eq!((config.client.as_str(), config.incarnation), ("c3", 2));
        assert_eq!(config.session_timeout, Duration::from_secs(2));
        assert_eq!(config.server, None);
    }

    #[test]
    fn a_pinned_client_knows_its_server() {
        let pinned = |name: &str| match name {
            "ZOOQUAKE_SERVER" => Ok("n2".to_string()),
            other => variable(other),
        };
        assert_eq!(Config::read(pinned).unwrap().server.as_deref(), Some("n2"));
    }

    #[test]
    fn nonsense_is_named() {
        let nonsense = |name: &str| {
            if name == "ZOOQUAKE_SESSION_MS" {
                Ok("2s".to_string())
            } else {
                variable(name)
            }
        };
        let error = Config::read(nonsense).unwrap_err();
        assert_eq!(error.to_string(), "ZOOQUAKE_SESSION_MS is `2s`, not a number");
    }
}
