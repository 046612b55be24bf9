//! The host's proxies and package mirrors, as a build needs them.

use std::collections::HashMap;

use tokio::process::Command;

/// Proxies and odd mirrors: a container has none of them unless they are passed to it.
pub(super) struct ProxySettings {
    proxies: Vec<(&'static str, String)>,
    apt_options: Vec<String>,
}

// Lower case is what apt reads, and what the engine's builder takes without being declared in the Dockerfile.
const PROXIES: [(&str, &str, &str); 4] = [
    ("http_proxy", "HTTP_PROXY", "Acquire::http::Proxy"),
    ("https_proxy", "HTTPS_PROXY", "Acquire::https::Proxy"),
    ("ftp_proxy", "FTP_PROXY", "Acquire::ftp::Proxy"),
    ("no_proxy", "NO_PROXY", ""),
];

/// Set where a mirror is a snapshot, or a clock is off: the packages inside come from the same mirror, by the same
/// clock.
const CHECKS: [&str; 2] = ["Acquire::Check-Valid-Until", "Acquire::Check-Date"];

impl ProxySettings {
    /// Looks at the environment and, where there is one, at apt's configuration.
    pub(super) async fn look() -> Self {
        let mut proxies = Vec::new();
        for (name, upper, key) in PROXIES {
            let variable = std::env::var(name).or_else(|_| std::env::var(upper)).ok();
            let value = match variable.filter(|value| !value.is_empty()) {
                Some(value) => Some(value),
                None if key.is_empty() => None,
                None => apt_setting(key).await.filter(|value| value != "DIRECT"),
            };
            proxies.extend(value.map(|value| (name, value)));
        }
        let mut apt_options = Vec::new();
        for key in CHECKS {
            if apt_setting(key)
                .await
                .is_some_and(|value| ["false", "0", "no", "off"].contains(&value.as_str()))
            {
                apt_options.push(format!("-o {key}=false"));
            }
        }
        ProxySettings { proxies, apt_options }
    }

    /// Build arguments for a Dockerfile of ours. Proxies do not stay in the image: the engine takes them out.
    pub(super) fn build_arguments(&self) -> HashMap<String, String> {
        let mut arguments: HashMap<String, String> = self
            .proxies
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        arguments.insert("APT_OPTIONS".to_owned(), self.apt_options.join(" "));
        arguments
    }

    /// A proxy on this host's loopback is reached from this host's network only.
    pub(super) fn build_network(&self) -> Option<&'static str> {
        let loopback = |value: &String| ["//127.", "//localhost", "//[::1]"].iter().any(|at| value.contains(at));
        self.proxies
            .iter()
            .any(|(name, value)| *name != "no_proxy" && loopback(value))
            .then_some("host")
    }
}

async fn apt_setting(key: &str) -> Option<String> {
    let output = Command::new("apt-config")
        .args(["shell", "VALUE", key])
        .output()
        .await
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let value = text.trim().strip_prefix("VALUE='")?.strip_suffix('\'')?;
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_on_the_host_network_only_for_a_local_proxy() {
        let host = |proxy: &str| ProxySettings {
            proxies: vec![("http_proxy", proxy.to_owned())],
            apt_options: Vec::new(),
        };
        assert_eq!(host("http://127.0.0.1:3142").build_network(), Some("host"));
        assert_eq!(host("http://proxy.example:3128").build_network(), None);
        assert_eq!(
            host("http://proxy.example:3128").build_arguments()["http_proxy"],
            "http://proxy.example:3128"
        );
    }
}
