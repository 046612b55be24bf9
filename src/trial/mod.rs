//! Holding a client against the protocol, on an ensemble of one server and with two clients: each sentence of
//! [`SENTENCES`] is held, broken, or was not tried.

mod barrier;
mod commit;
mod common;
mod conversation;
mod counter;
mod exchanges;
mod families;
mod family;
mod holder;
mod life;
mod membership;
mod queue;
mod register;
mod sentences;
mod znodes;

use crate::planning::case::Case;
use anyhow::{Context, Error, Result};
use futures_util::future::BoxFuture;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zooquake_backend::{Backend, BringUp, Clock, Cluster, OnOutput, Stdin};
use zooquake_history::{
    Node,
    evidence::Znode,
    plan::{ClusterPlan as Shape, Plan, Timing, Workload},
    protocol::KitPart,
};

use conversation::Talk;
use family::FamilyTrial;
pub use sentences::{SENTENCES, Sentence};

static SERVER: Node = Node::server(1);

/// The clients, by position.
static CLIENTS: [Node; 2] = [Node::client(1), Node::client(2)];

/// Longest wait for what comes at once.
const SOON: Duration = Duration::from_secs(3);

/// Longest wait for what may take a session's expiry.
const PATIENT: Duration = Duration::from_secs(20);

/// What became of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SentenceVerdict {
    /// It holds in all that was seen.
    Held,
    /// It does not.
    Broken,
    /// Nothing was seen of it.
    NotTried,
}

/// A sentence, and what was seen of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    #[serde(flatten)]
    pub sentence: Sentence,
    /// What became of it.
    pub outcome: SentenceVerdict,
    /// What was seen, in words; why nothing was, if it was not tried.
    pub seen: String,
}

/// What a trial showed of a client.
#[derive(Debug, Default)]
pub struct ClientTrial {
    /// What its kit does in place of the recipe.
    pub kit: Vec<KitPart>,
    pub findings: Vec<Finding>,
}

/// What was seen of a sentence: `Ok` if it holds.
type SentenceResult = Result<String, String>;

/// Starts a client's process.
pub type Start = Arc<dyn Fn(&'static Node, u64, OnOutput) -> BoxFuture<'static, Result<Stdin>> + Send + Sync>;

/// The case of a trial: its plan is what its cluster is made of.
///
/// # Errors
/// If this program does not have what is to be tried.
pub fn case(workload: Workload) -> Result<Case> {
    let plan = Plan {
        format: Plan::FORMAT,
        workload,
        cluster: Shape {
            servers: 1,
            clients: 2,
            timing: Timing::default(),
            ..Shape::default()
        },
        // What cuts a client off is beside it, and what cuts its connection before it.
        faults: vec!["partition".into(), "disconnect".into()],
        ..Plan::default()
    };
    Case::new(plan).map_err(Error::msg)
}

/// Brings an ensemble up, holds the case's client against the protocol, and clears everything away. The logs go to the
/// folder.
///
/// # Errors
/// If the harness fails.
pub async fn conduct(backend: &Arc<dyn Backend>, case: &Case, run: &str, logs: PathBuf) -> Result<ClientTrial> {
    let claim = backend.claim(run, None).await?;
    let tried = async {
        let what = BringUp {
            run,
            plan: case.plan(),
            logs,
            keep: false,
        };
        let cluster = bring_up(&**backend, what).await?;
        let starts = Arc::clone(&cluster);
        let start: Start = Arc::new(move |client, incarnation, on_output| {
            let cluster = Arc::clone(&starts);
            Box::pin(async move { cluster.start_client(client, incarnation, on_output).await })
        });
        let tried = Trial::new(cluster.clone(), backend.clock(), case, start)?.run().await?;
        cluster.remove().await?;
        anyhow::Ok(tried)
    };
    let tried = tried.await;
    if tried.is_err() {
        backend.remove_dead(run).await.context("clearing away")?;
    }
    claim.end().await?;
    tried
}

async fn bring_up(backend: &dyn Backend, what: BringUp<'_>) -> Result<Arc<dyn Cluster>> {
    let cluster = backend.bring_up(what).await?;
    cluster.start_server(&SERVER).await?;
    cluster.ready().await?;
    cluster.set_up(&SERVER).await?;
    Ok(cluster)
}

/// A trial that goes on.
struct Trial {
    cluster: Arc<dyn Cluster>,
    clock: Arc<dyn Clock>,
    plan: Plan,
    family: &'static FamilyTrial,
    start: Start,
    /// Each of [`CLIENTS`], by position.
    clients: Vec<Talk>,
    /// Conversations with processes that are dead.
    former: Vec<Talk>,
    /// What `hello` declares that the client cannot do or give.
    cannot: Vec<String>,
    /// What `hello` declares that the kit does in place of the recipe.
    kit: Vec<KitPart>,
    /// How many numbers were given.
    numbers: u64,
    /// How often each client was started.
    incarnations: [u64; 2],
    /// Where what contends was seen.
    places: Mutex<znodes::ContendingPlaces>,
    findings: Vec<Finding>,
}

impl Trial {
    fn new(cluster: Arc<dyn Cluster>, clock: Arc<dyn Clock>, case: &Case, start: Start) -> Result<Self> {
        let family = families::of(case.family());
        let family = family.with_context(|| format!("the family {} has no clients to try", case.family().name))?;
        Ok(Self {
            cluster,
            clock,
            plan: case.plan().clone(),
            family,
            start,
            clients: Vec::new(),
            former: Vec::new(),
            cannot: Vec::new(),
            kit: Vec::new(),
            numbers: 0,
            incarnations: [0; 2],
            places: Mutex::default(),
            findings: Vec::new(),
        })
    }

    /// Tries all sentences; those that could not be tried are named as such, with the reason.
    async fn run(mut self) -> Result<ClientTrial> {
        if self.begin().await? {
            self.common().await?;
            self.awake().await?;
            // A client that holds nothing yet reports so.
            let seen = self.confirms(None).await?;
            self.note(sentences::CONFIRM, seen);
            self.awake().await?;
            (self.family.course)(&mut self).await?;
            self.life().await?;
            self.note(sentences::STAYS_UP, Ok("none ended".to_string()));
            self.fields();
            self.audited();
            self.whole_lines();
        }
        for sentence in SENTENCES {
            if !self.findings.iter().any(|finding| finding.sentence == *sentence) {
                self.findings.push(Finding {
                    sentence: *sentence,
                    outcome: SentenceVerdict::NotTried,
                    seen: self.why_not_tried(*sentence),
                });
            }
        }
        self.findings
            .sort_by_key(|finding| SENTENCES.iter().position(|sentence| *sentence == finding.sentence));
        Ok(ClientTrial {
            kit: self.kit,
            findings: self.findings,
        })
    }

    /// Notes what was seen of a sentence; whether it holds. A sentence that was broken once stays so.
    fn note(&mut self, sentence: Sentence, seen: SentenceResult) -> bool {
        let held = seen.is_ok();
        let outcome = if held {
            SentenceVerdict::Held
        } else {
            SentenceVerdict::Broken
        };
        let (Ok(seen) | Err(seen)) = seen;
        let finding = Finding {
            sentence,
            outcome,
            seen,
        };
        match self.findings.iter_mut().find(|other| other.sentence == sentence) {
            Some(other) if other.outcome == SentenceVerdict::Held => *other = finding,
            Some(_) => {}
            None => self.findings.push(finding),
        }
        held
    }

    /// Starts a client's process and waits for its hello, which is noted.
    async fn start(&mut self, client: usize) -> Result<bool> {
        self.incarnations[client] += 1;
        let (mut talk, on_output) = Talk::new(Arc::clone(&self.clock));
        talk.open((self.start)(&CLIENTS[client], self.incarnations[client], on_output).await?);
        let hello = talk.hear(Duration::from_secs(10), |lines| lines.first().cloned()).await;
        match self.clients.get_mut(client) {
            Some(slot) => self.former.push(std::mem::replace(slot, talk)),
            None => self.clients.push(talk),
        }
        let seen = common::hello(hello.as_ref());
        self.cannot = common::cannot(hello.as_ref());
        self.kit = common::kit(hello.as_ref());
        Ok(self.note(sentences::HELLO, seen))
    }

    async fn begin(&mut self) -> Result<bool> {
        let first = self.start(0).await?;
        Ok(self.start(1).await? && first)
    }

    /// Notes the processes that have ended by themselves, and starts them again: what follows is tried all the same.
    async fn awake(&mut self) -> Result<()> {
        for (client, name) in CLIENTS.iter().enumerate() {
            if self.clients[client].ended() {
                let seen = format!("{name} ended, though nothing had befallen it or its session");
                self.note(sentences::STAYS_UP, Err(seen));
                self.start(client).await?;
            }
        }
        Ok(())
    }

    fn can(&self, what: &str) -> bool {
        !self.cannot.iter().any(|cannot| cannot == what)
    }

    /// A number that nothing was called by before: of a grant, an item, a round.
    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn grant(&mut self) -> String {
        format!("g{}", self.number())
    }

    async fn tree(&self) -> Result<Vec<Znode>> {
        let tree = self.cluster.tree(&SERVER).await?;
        self.places
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .look(&self.plan.workload.contenders, &tree);
        Ok(tree)
    }

    fn whole_lines(&mut self) {
        let stray = self.clients.iter().chain(&self.former).find_map(Talk::stray);
        let lines: usize = self
            .clients
            .iter()
            .chain(&self.former)
            .map(|talk| talk.lines().len())
            .sum();
        self.note(sentences::WHOLE_LINES, stray.map_or(Ok(format!("{lines} lines")), Err));
    }
}

#[cfg(test)]
mod tests;
