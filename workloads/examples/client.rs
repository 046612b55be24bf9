//! The client program by itself, for trying it by hand: configured by the environment, driven by stdin.

use zooquake_workloads::client::{Config, run};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    run(Config::from_env()?).await
}
