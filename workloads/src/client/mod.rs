//! The client program: a process that holds one recipe object and executes the requests on its stdin, or many of them
//! ([`run_crowd`]). `docs/protocol.md` specifies the protocol.

mod config;
mod driver;
mod output;

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, Write};
use std::sync::Arc;

use anyhow::{Context, anyhow};
pub use config::Config;
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

/// Runs many clients in one process on stdin and stdout, each with its own recipe object and sessions: what a
/// measurement needs that asks how a recipe fares with fifty of them. It does not return: it ends the process when
/// stdin ends.
///
/// `ZOOQUAKE_CLIENT` has all their names, with commas. A line is a client's name, a space, and the line of the protocol
/// that the client reads or writes.
///
/// # Errors
/// If the configuration names no variant.
pub async fn run_crowd(config: Config) -> anyhow::Result<()> {
    let variant = variant(&config)?;
    crash_on_panic();
    let mut clients = HashMap::new();
    for name in config.client.split(',') {
        let output = Output::to(LabelledStdout { name: name.into() });
        let (lines, requests) = mpsc::unbounded_channel();
        tokio::spawn(client(&config, variant, name, output)?.serve(requests));
        clients.insert(name.to_string(), lines);
    }
    // Once stdin is closed the orchestrator reads no more: there is no final output to wait for.
    let mut lines = read_stdin(|| {});
    while let Some(line) = lines.recv().await {
        let known = line
            .split_once(' ')
            .and_then(|(name, request)| Some((clients.get(name)?, request)));
        match known {
            // A client serves for as long as it gets requests.
            Some((client, request)) => drop(client.send(request.to_string())),
            None => eprintln!("for no client: {line}"),
        }
    }
    std::future::pending().await
}

/// A stdout that puts a client's name before each line. Each write is whole lines, as [`Output`] makes them.
struct LabelledStdout {
    name: Arc<str>,
}

impl Write for LabelledStdout {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let mut stdout = std::io::stdout().lock();
        write!(stdout, "{} ", self.name)?;
        stdout.write_all(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().flush()
    }
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
