//! The orchestrator's end of the stream to a sidecar.

use super::LOCAL;
use super::engine_watch::EngineWatch;
use super::exec::{Command, spawn};
use crate::Stdin;
use crate::sidecar::{SidecarLine, SidecarRequest};
use anyhow::{Context, Result, anyhow, ensure};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use testcontainers::bollard::Docker;
use tokio::sync::oneshot;
use zooquake_history::Node;
use zooquake_history::fault::{Cut, Payload};
use zooquake_history::plan::{Plan, Target, Window};
use zooquake_workloads::protocol::{Message, Outcome, ProcessOutput};

/// If this program stood still until the time was up, an answer that waited unread meanwhile is read within this.
const UNREAD: Duration = Duration::from_millis(500);

/// How often a sidecar is started again that does not answer.
const STARTS: usize = 2;

/// The requests that wait for their replies, by number.
type WaitingRequests = HashMap<u64, oneshot::Sender<Result<Value>>>;

/// Those of a stream; `None` once it has ended.
type PendingReplies = Arc<Mutex<Option<WaitingRequests>>>;

/// A resident program beside one host; see [`crate::sidecar`].
#[derive(Debug)]
pub struct Sidecar {
    docker: Docker,
    container: String,
    host: String,
    log: PathBuf,
    watch: Arc<EngineWatch>,
    stream: tokio::sync::Mutex<Arc<SidecarStream>>,
    next: AtomicU64,
}

/// The stream to the program.
#[derive(Debug)]
struct SidecarStream {
    stdin: Stdin,
    pending: PendingReplies,
    /// How often the engine had been lost when it began.
    losses: u64,
}

impl SidecarStream {
    fn has_ended(&self) -> bool {
        lock(&self.pending).is_none()
    }
}

fn lock(pending: &PendingReplies) -> MutexGuard<'_, Option<WaitingRequests>> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sidecar {
    /// Starts the program in the sidecar's container, and again if it does not answer: the engine may have lost its
    /// streams.
    ///
    /// # Errors
    /// If it does not start, or does not answer.
    pub async fn start(
        docker: &Docker,
        watch: &Arc<EngineWatch>,
        container: &str,
        host: &str,
        log: PathBuf,
    ) -> Result<Self> {
        let mut attempts = 0..STARTS;
        loop {
            let sidecar = Self {
                docker: docker.clone(),
                container: container.to_string(),
                host: host.to_string(),
                stream: tokio::sync::Mutex::new(launch(docker, watch, container, host, log.clone()).await?),
                log: log.clone(),
                watch: Arc::clone(watch),
                next: AtomicU64::new(1),
            };
            match sidecar.call::<Vec<i32>>(SidecarRequest::Processes, LOCAL).await {
                Ok(_) => return Ok(sidecar),
                Err(error) => {
                    attempts.next().ok_or(error)?;
                }
            }
        }
    }

    /// The stream to the program, which is started again if the engine was lost, and the stream with it: the program
    /// has ended then, as its stdin has.
    async fn stream(&self) -> Result<Arc<SidecarStream>> {
        let mut stream = self.stream.lock().await;
        if stream.has_ended() && self.watch.losses() != stream.losses {
            ensure!(!self.watch.is_lost(), "the engine does not answer");
            let Self {
                docker,
                watch,
                container,
                host,
                log,
                ..
            } = self;
            *stream = launch(docker, watch, container, host, log.clone()).await?;
        }
        Ok(Arc::clone(&stream))
    }

    /// Sends a request and waits for its answer, as the request has it.
    ///
    /// # Errors
    /// The sidecar's own, or that it did not answer in time, or with something else, or that it has ended.
    pub async fn call<T: DeserializeOwned>(&self, request: SidecarRequest, limit: Duration) -> Result<T> {
        let name = format!("`{request}` beside {}", self.host);
        let late = || format!("{name} was not answered in {} ms", limit.as_millis());
        let stream = tokio::time::timeout(limit, self.stream()).await;
        let stream = stream.with_context(late)?.with_context(|| name.clone())?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, mut receiver) = oneshot::channel();
        // Without a stream the sender is dropped here.
        if let Some(pending) = lock(&stream.pending).as_mut() {
            pending.insert(id, sender);
        }
        let line = serde_json::to_string(&SidecarLine { id, request });
        stream.stdin.send(line.context("writing a request")?);
        let mut answer = tokio::time::timeout(limit, &mut receiver).await;
        if answer.is_err() {
            answer = tokio::time::timeout(UNREAD, receiver).await;
        }
        if let Some(pending) = lock(&stream.pending).as_mut() {
            pending.remove(&id);
        }
        let answer = answer
            .with_context(late)?
            .with_context(|| format!("{name}: the sidecar has ended"))?
            .with_context(|| name.clone())?;
        serde_json::from_value(answer).with_context(|| format!("what {name} was answered"))
    }
}

async fn launch(
    docker: &Docker,
    watch: &EngineWatch,
    container: &str,
    host: &str,
    log: PathBuf,
) -> Result<Arc<SidecarStream>> {
    let losses = watch.losses();
    let pending: PendingReplies = Arc::new(Mutex::new(Some(HashMap::new())));
    let waiting = Arc::clone(&pending);
    let command = Command {
        argv: vec!["zooquake".into(), "sidecar".into()],
        env: Vec::new(),
        log,
        log_stdout: false,
    };
    let name = host.to_string();
    let started = spawn(docker, container, &command, move |output| {
        deliver(&name, &waiting, output)
    })
    .await?;
    Ok(Arc::new(SidecarStream {
        stdin: started.stdin,
        pending,
        losses,
    }))
}

/// Whether a fault of the plan may touch a client's host, or is seen from there: only then there is a sidecar beside
/// it.
pub fn touches_client(plan: &Plan, client: &Node) -> bool {
    // What a cut of a server from all clients drops is tried from the clients' side.
    let cuts = |window: &Window| matches!(&window.payload, Some(Payload::Cut(cut)) if *cut != Cut::FromServers);
    if plan.windows.is_empty() {
        // It strikes by itself, without a schedule, or not at all.
        return !plan.faults.is_empty();
    }
    plan.windows.iter().any(|window| match &window.target {
        Target::Node(node) => node == client || node.is_server() && cuts(window),
        // Which client it is, or to which server clients are connected, is found out when it strikes.
        Target::Client | Target::Follower | Target::HolderServer => true,
        // All containers of a machine are struck, and from those of the others it is seen.
        Target::Host(_) => true,
        Target::Leader | Target::Servers(_) => cuts(window),
    })
}

fn deliver(host: &str, pending: &PendingReplies, output: ProcessOutput) {
    let mut pending = lock(pending);
    let said = match output {
        ProcessOutput::Ended => return drop(pending.take()),
        ProcessOutput::Message(message) => Ok(message),
        ProcessOutput::Line(line) => serde_json::from_str(&line).map_err(|_| line),
    };
    match said {
        Ok(Message::Reply {
            id,
            outcome,
            value,
            error,
        }) => {
            if let Some(waiting) = pending.as_mut().and_then(|pending| pending.remove(&id)) {
                let answer = match outcome {
                    Outcome::Ok => Ok(value),
                    _ => Err(anyhow!(error.unwrap_or_else(|| "failed without a reason".into()))),
                };
                // The caller may have stopped waiting.
                let _ = waiting.send(answer);
            }
        }
        Ok(other) => log::warn!("the sidecar of {host} sent an unexpected message: {other:?}"),
        Err(line) => log::warn!("the sidecar of {host} wrote: {line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zooquake_history::plan::Trigger;

    /// The clients of three that have a sidecar under one window.
    fn beside(target: Target, cut: Option<Cut>) -> Vec<Node> {
        let window = Window {
            id: 1,
            fault: if cut.is_some() { "partition" } else { "kill" }.to_string(),
            target,
            payload: cut.map(Payload::Cut),
            trigger: Trigger::At { at_ms: 100 },
            duration_ms: 100,
            beside: false,
        };
        let plan = Plan {
            windows: vec![window],
            ..Plan::default()
        };
        let clients = (1..=3).map(Node::client);
        clients.filter(|client| touches_client(&plan, client)).collect()
    }

    #[test]
    fn only_clients_that_a_fault_may_touch_have_a_sidecar() {
        let (all, none): (_, [Node; 0]) = ([1, 2, 3].map(Node::client), []);
        let (client, server) = (Node::client(2), Node::server(2));
        let unscheduled = |faults: &[&str]| Plan {
            faults: faults.iter().map(ToString::to_string).collect(),
            ..Plan::default()
        };
        assert!(touches_client(&unscheduled(&["partition"]), &client));
        assert!(!touches_client(&unscheduled(&[]), &client));
        assert_eq!(
            beside(Target::Node(client.clone()), None),
            std::slice::from_ref(&client)
        );
        assert_eq!(beside(Target::Node(client.clone()), Some(Cut::Isolate)), [client]);
        assert_eq!(beside(Target::Node(server.clone()), None), none);
        assert_eq!(beside(Target::Leader, None), none);
        assert_eq!(beside(Target::Servers(vec![Node::server(1)]), None), none);
        assert_eq!(beside(Target::Leader, Some(Cut::FromServers)), none);
        assert_eq!(
            beside(Target::Leader, Some(Cut::Isolate)),
            all,
            "the cut is tried from each client"
        );
        assert_eq!(beside(Target::Node(server), Some(Cut::Deaf)), all);
        for target in [Target::Client, Target::Follower, Target::HolderServer] {
            assert_eq!(beside(target, None), all, "it is found out when it strikes");
        }
    }
}
