//! ZooKeeper's four letter words, asked over the host's own loopback, which no fault cuts.

use crate::ServerState;
use anyhow::{Context, Result, bail};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const LIMIT: Duration = Duration::from_millis(400);

/// Asks the host's server for its state.
///
/// # Errors
/// If it does not answer within 400 ms or does not serve at the moment.
pub async fn srvr() -> Result<ServerState> {
    let text = tokio::time::timeout(LIMIT, ask("srvr"))
        .await
        .context("srvr was not answered in 400 ms")??;
    parse(&text)
}

async fn ask(word: &str) -> Result<String> {
    let mut stream = TcpStream::connect("127.0.0.1:2181")
        .await
        .context("connecting to the server's client port")?;
    stream.write_all(word.as_bytes()).await.context("asking the server")?;
    let mut text = String::new();
    stream
        .read_to_string(&mut text)
        .await
        .context("reading the server's answer")?;
    Ok(text)
}

fn parse(text: &str) -> Result<ServerState> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let (Some(mode), Some(zxid)) = (field("Mode:"), field("Zxid:")) else {
        bail!("the server does not serve: {}", text.trim());
    };
    let zxid = i64::from_str_radix(zxid.trim_start_matches("0x"), 16).with_context(|| format!("zxid {zxid}"))?;
    let version = field("Zookeeper version:").and_then(|version| version.split(['-', ',']).next());
    Ok(ServerState {
        mode: mode.to_string(),
        zxid,
        version: version.unwrap_or_default().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_serving_server() {
        let text =
            "Zookeeper version: 3.8.0-1, built on x\nLatency min/avg/max: 0/0.0/0\nZxid: 0x100000002\nMode: leader\n";
        let state = parse(text).unwrap();
        assert_eq!(
            state,
            ServerState {
                mode: "leader".into(),
                zxid: 0x1_0000_0002,
                version: "3.8.0".into()
            }
        );
    }

    #[test]
    fn a_server_without_quorum_has_no_state() {
        let error = parse("This ZooKeeper instance is not currently serving requests\n").unwrap_err();
        assert!(error.to_string().contains("not currently serving"), "{error}");
    }
}
