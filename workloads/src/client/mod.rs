//! The client program: a process that holds one recipe object and executes the requests on its stdin.
//! `docs/protocol.md` specifies the protocol.

mod answers;
mod config;
mod crowd;
mod driver;
mod output;

use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::Arc;

use anyhow::{Context, anyhow};
pub use config::Config;
pub use crowd::run as run_crowd;
pub use driver::{DriverInput, RecipeClient};
pub use output::Output;
use tokio::sync::mpsc;

use crate::protocol::{Message, VERSION};
use crate::recipes::{self, Env, Notice, Variant};
use crate::zk::SharedValue;
use crate::zk::counted::Counters;
use crate::zk::real::{RealEnsemble, RealHost};

/// Runs the client program on stdin and stdout. It does not return: it ends the process when stdin ends.
///
/// # Errors
/// If the configuration names no variant.
pub async fn run(config: Config) -> anyhow::Result<()> {
    let variant = variant(&config)?;
    crash_on_panic();
    let output = Output::to(std::io::stdout());
    output.send(Message::Hello {
        protocol: VERSION,
        pid: std::process::id(),
        session: None,
        cannot: Vec::new(),
        kit: Vec::new(),
    });
    // The reader starts before anything can hang, so that the end of stdin always ends the process.
    let last_words = output.clone();
    let requests = read_stdin(move || last_words.flush());
    client(&config, variant, &config.client, output)?.serve(requests).await;
    // The reader ends the process.
    std::future::pending().await
}

/// The variant that the configuration names.
fn variant(config: &Config) -> anyhow::Result<&'static Variant> {
    let (family, name) = config.variant.split_once('/').unwrap_or(("", &config.variant));
    recipes::variant(family, name).with_context(|| {
        let names = recipes::registry()
            .iter()
            .map(|variant| format!("{}/{}", variant.family, variant.name));
        format!(
            "no variant `{}`; there are {}",
            config.variant,
            names.collect::<Vec<_>>().join(", ")
        )
    })
}

/// The client of this name with the recipe of the variant.
fn client(config: &Config, variant: &Variant, name: &str, output: Output) -> anyhow::Result<RecipeClient> {
    let ensemble = RealEnsemble {
        connect: config.connect.clone(),
        session_timeout: config.session_timeout,
    };
    let notices = output.clone();
    let env = Env {
        client: name.into(),
        connect: Arc::new(ensemble.clone()),
        host: Arc::new(RealHost::default()),
        ensemble: Some(ensemble),
        server: config.server.as_deref().map(Arc::from),
        journal: None,
        notify: Arc::new(move |notice| notices.send(message(notice))),
        sessions: SharedValue::new(BTreeSet::new()),
        bug: None,
        counters: Counters::default(),
    };
    let recipe = variant
        .recipe(&env)
        .map_err(|error| anyhow!("{}: {error}", config.variant))?;
    Ok(RecipeClient::new(name, env, recipe, output))
}

/// The line that a notice is.
pub fn message(notice: Notice) -> Message {
    notice.into()
}

/// A thread of its own reads stdin and ends the process with it, whatever the rest of it is doing.
fn read_stdin(last_words: impl FnOnce() + Send + 'static) -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            match line {
                Ok(line) if line.trim().is_empty() => {}
                Ok(line) => drop(sender.send(line)),
                Err(error) => {
                    eprintln!("read stdin: {error}");
                    break;
                }
            }
        }
        last_words();
        std::process::exit(0);
    });
    receiver
}

/// A task that panicked would leave the process half alive, which looks like a fault of the recipe.
fn crash_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        std::process::exit(101);
    }));
}
