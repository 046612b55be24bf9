//! What a cluster can be asked for, on a simulated ensemble: sessions, faults and their healing, what is read at the
//! end.

use super::cluster::SimCluster;
use super::process::ProcessState;
use anyhow::{Context, Result, bail, ensure};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either, select};
use serde_json::json;
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use zooquake_backend::sidecar::{HeldKind, LossKind, RuleAction, RuleEffect};
use zooquake_backend::{
    BackendFuture, Cluster, Directions, LeaderDelay, OnOutput, Passage, ServerState, Stdin, lineage, setup_paths,
};
use zooquake_history::Node;
use zooquake_history::evidence::{Znode, data_text};
use zooquake_history::fault::{Latency, Wire, WireOp};
use zooquake_history::txnlog::entry::LogEntry;
use zooquake_history::txnlog::{ServerEntries, TxnLogs, union};
use zooquake_workloads::zk::sim::{self, Fate, HoldOutcome, Refusal, ScriptedRequest, SimZnode};
use zooquake_workloads::zk::{Connect, CreateMode, Error, Host, Zk, session_hex};

/// How long it takes to see the effect of a fault.
const SEEN: Duration = Duration::from_millis(10);

fn znode((path, node): (&str, &SimZnode)) -> Znode {
    let SimZnode { stat, data, .. } = node;
    Znode {
        path: path.to_string(),
        czxid: stat.czxid,
        mzxid: stat.mzxid,
        version: stat.version,
        owner: (stat.ephemeral_owner != 0).then(|| session_hex(stat.ephemeral_owner)),
        data: data_text(data),
    }
}

impl SimCluster {
    /// What was done, once it has had the time to be seen.
    fn after<'a>(&'a self, done: Result<()>, seen: &'static str) -> BackendFuture<'a> {
        async move {
            done?;
            self.world.sleep(SEEN).await;
            Ok(seen.to_string())
        }
        .boxed()
    }

    /// Cuts or heals what passes between a node and its peers.
    fn cut_off(&self, node: &Node, peers: &[Node], directions: Option<Directions>) -> Result<()> {
        let at = self.node(node)?;
        let peers: Vec<usize> = peers.iter().map(|peer| self.node(peer)).collect::<Result<_>>()?;
        let mut ensemble = self.net.server();
        let Some(directions) = directions else {
            ensemble.heal(at, &peers);
            return Ok(());
        };
        for peer in peers {
            if directions.inbound {
                ensemble.cut(peer, at);
            }
            if directions.outbound {
                ensemble.cut(at, peer);
            }
        }
        Ok(())
    }

    /// Waits until something is so of servers or sessions; whether it came about in time.
    pub(super) async fn until(&self, limit: Duration, holds: impl Fn() -> bool) -> bool {
        let changes = self.net.server().changes();
        let comes = changes.until(|_| holds().then_some(()));
        matches!(select(pin!(comes), self.world.sleep(limit)).await, Either::Left(_))
    }

    /// A session through a server. To open one is a write, so that the server then has all that was acknowledged
    /// before.
    pub(super) async fn session(&self, server: &Node) -> Result<Arc<dyn Zk>> {
        let opening = self.net.at(self.server(server)?).connect();
        match select(opening, self.world.sleep(ADMIN)).await {
            Either::Left((session, _)) => Ok(session),
            Either::Right(_) => bail!("{server} opened no session within {} s", ADMIN.as_secs()),
        }
    }

    pub(super) async fn create_through(&self, server: &Node, paths: &[String]) -> Result<()> {
        let session = self.session(server).await?;
        for path in paths.iter().flat_map(|path| lineage(path)) {
            match session.create(path, b"", CreateMode::Persistent).await {
                Ok(_) | Err(Error::NodeExists) => {}
                Err(error) => bail!("creating {path} through {server}: {error}"),
            }
        }
        Ok(())
    }

    pub(super) fn state_of(&self, server: &Node) -> Result<ServerState> {
        let state = self.net.server().state_of(self.server(server)?);
        let (mode, zxid) = state.with_context(|| format!("{server} does not serve"))?;
        Ok(ServerState {
            mode: mode.to_string(),
            zxid,
            version: "model".to_string(),
        })
    }

    pub(super) async fn until_ready(&self) -> Result<()> {
        let serve = || self.servers.iter().all(|server| self.state_of(server).is_ok());
        ensure!(
            self.until(READY, serve).await,
            "the ensemble does not serve after {} s",
            READY.as_secs()
        );
        Ok(())
    }

    pub(super) async fn come_back(&self, client: &Node) -> Result<String> {
        let host = self.node(client)?;
        self.net.server().let_through(host);
        match self.until(BACK, || self.net.server().server_for(host).is_some()).await {
            true => Ok(format!("a server accepted the next connection of {client}")),
            false => Ok(format!("{client} has no connection, and none would be refused")),
        }
    }

    /// Lets a client's connections to one server alone, and sees that one serve it.
    pub(super) async fn let_to(&self, client: &Node, server: &Node) -> Result<String> {
        let (host, at) = (self.node(client)?, self.server(server)?);
        let ended = self.net.server().refuse(host, Refusal::AllBut(at));
        let served = || self.net.server().server_for(host) == Some(at);
        ensure!(
            self.until(BACK, served).await,
            "{server} did not serve {client} within {} ms; connections to others that were ended: {ended}",
            BACK.as_millis()
        );
        Ok(format!(
            "connections to other servers closed: {ended}; others to them are refused; {server} serves {client}"
        ))
    }

    pub(super) async fn close_newest(&self, client: &Node) -> Result<Option<String>> {
        let host = self.node(client)?;
        let (session, zxid) = {
            let mut ensemble = self.net.server();
            let Some(session) = ensemble.session_on(host) else {
                return Ok(None);
            };
            (session, ensemble.close_session(session).context("nobody leads")?)
        };
        let gone = || !self.net.server().sessions_alive().contains(&session);
        ensure!(
            self.until(ADMIN, gone).await,
            "session {} is still there",
            session_hex(session)
        );
        Ok(Some(format!(
            "session {} was closed, as zxid {zxid:#x}, and is refused since",
            session_hex(session)
        )))
    }

    pub(super) async fn silent_session(&self, server: &Node, timeout: Duration) -> Result<u64> {
        let at = self.server(server)?;
        self.state_of(server)?;
        let silent = self.net.at(at).silent(timeout).connect().await;
        let (session, begun) = (silent.session(), self.world.now());
        let gone = || !self.net.server().has_session(at, session);
        ensure!(
            self.until(timeout * 10 + ADMIN, gone).await,
            "a silent session did not expire"
        );
        Ok(u64::try_from((self.world.now() - begun).as_millis()).unwrap_or(u64::MAX))
    }

    /// Loses the request of a client that `wire` names, or the reply to it, or keeps that back; `None` if none came
    /// within the limit.
    pub(super) async fn strike_one(&self, client: &Node, wire: Wire, limit: Duration) -> Result<Option<RuleEffect>> {
        let (which, fate, action) = match wire {
            Wire::DropReply(which) => (which, Fate::ReplyLost, RuleAction::Lost(LossKind::Reply)),
            Wire::DropRequest(which) => (which, Fate::RequestLost, RuleAction::Lost(LossKind::Request)),
            Wire::HoldReply(which) => (which, Fate::ReplyHeld, RuleAction::Held(HeldKind::Reply)),
            Wire::Close | Wire::Reset => bail!("{wire:?} waits for no request"),
        };
        self.process(client)?;
        let host = self.node(client)?;
        let (acted, acts) = oneshot::channel();
        let mut seen = 0;
        let given_up = Arc::new(AtomicBool::new(false));
        let over = given_up.clone();
        let scripted = ScriptedRequest {
            fits: Box::new(move |from, asked| {
                let fits = from == host && fits(which.op, asked) && !over.load(Ordering::Relaxed);
                seen += u32::from(fits);
                fits && seen >= which.nth
            }),
            fate,
            before: None,
            // The nemesis may have given it up.
            after: Box::new(move |what| drop(acted.send(effect(action, what)))),
        };
        self.net.server().script.push(scripted);
        match select(acts, self.world.sleep(limit)).await {
            Either::Left((effect, _)) => Ok(effect.ok()),
            Either::Right(_) => {
                // What is scripted for other clients stays.
                given_up.store(true, Ordering::Relaxed);
                Ok(None)
            }
        }
    }

    /// Has what passes between a client and the servers take longer.
    pub(super) async fn come_late(&self, client: &Node, Latency { ms, jitter_ms }: Latency) -> Result<String> {
        let host = self.node(client)?;
        let time = Duration::from_millis;
        self.net.server().delay(host, time(ms), time(jitter_ms));
        self.world.sleep(SEEN).await;
        Ok(format!(
            "all that passes between {client} and the servers is {ms} ms late each way, give or take {jitter_ms} ms"
        ))
    }

    /// Lets nothing pass between a client and the servers, and sees something wait.
    pub(super) async fn hold_all(&self, client: &Node) -> Result<String> {
        let host = self.node(client)?;
        let connections = self.net.server().stall(host);
        ensure!(connections > 0, "{client} had no connection that could be stalled");
        let begun = self.world.now();
        while self.net.server().waiting(host) == 0 {
            ensure!(
                self.world.now() - begun < WAITS,
                "nothing that {client} or a server has sent waited"
            );
            self.world.sleep(SEEN).await;
        }
        Ok(format!(
            "nothing passes between {client} and the servers, connections open: {connections}, messages that wait: {}",
            self.net.server().waiting(host)
        ))
    }

    /// Lets everything pass again between a client and the servers.
    pub(super) async fn let_pass(&self, client: &Node) -> Result<Passage> {
        let host = self.node(client)?;
        let held = self.net.server().pass_on(host);
        let kept_back = held.map(
            |HoldOutcome {
                 messages,
                 lasted,
                 delivered,
             }| {
                let ms = lasted.as_millis();
                match delivered {
                    true => format!(
                        "the reply was kept back for {ms} ms and delivered, {messages} messages with what followed it"
                    ),
                    false => {
                        format!("{client} gave the connection up after {ms} ms, with {messages} messages kept back")
                    }
                }
            },
        );
        self.world.sleep(SEEN).await;
        let reached = match self.until(BACK, || self.net.server().server_for(host).is_some()).await {
            true => format!("a server serves {client}"),
            false => format!("{client} has no connection, and none would be refused"),
        };
        let sentences: Vec<String> = kept_back.into_iter().chain([reached]).collect();
        Ok(Passage {
            detail: sentences.join("; "),
            evidence: held.map(|held| {
                json!({
                    "messages": held.messages,
                    "ms": held.lasted.as_millis() as u64,
                    "delivered": held.delivered,
                })
            }),
        })
    }

    /// Writes through another server; returns its name, and how long after its answer this one showed the write.
    async fn lateness(&self, server: &Node, limit: Duration) -> Result<(Node, Duration)> {
        let others = self.servers.iter().filter(|other| *other != server);
        let leads = |other: &&Node| self.state_of(other).is_ok_and(|state| state.leads());
        let serves = |other: &&Node| self.state_of(other).is_ok();
        let writer = others.clone().find(leads).or_else(|| others.clone().find(serves));
        let writer = writer.with_context(|| format!("no server but {server} serves"))?;
        self.create_through(writer, &[PROBE.to_string()]).await?;
        let written = self.session(writer).await?.set(PROBE, b"probe", None).await;
        let zxid = written.with_context(|| format!("writing through {writer}"))?.mzxid;
        let answered = self.world.now();
        let shows = || self.state_of(server).is_ok_and(|state| state.zxid >= zxid);
        ensure!(
            self.until(limit, shows).await,
            "{server} did not show zxid {zxid:#x} within {} ms",
            limit.as_millis()
        );
        Ok((writer.clone(), self.world.now() - answered))
    }

    pub(super) async fn fall_behind(&self, server: &Node, behind: LeaderDelay) -> Result<String> {
        let delay = self.plan.cluster.timing.lag(behind.delay_percent);
        let ServerState { mode, .. } = self.state_of(server)?;
        ensure!(
            mode == "follower" || mode == "observer",
            "{server} is {mode}, and follows nobody"
        );
        self.net.server().lag(self.server(server)?, delay);
        let (writer, late) = self.lateness(server, delay * 2 + SHOWS).await?;
        ensure!(
            late >= delay * 3 / 4,
            "{server} showed a write of {writer} {} ms after its answer",
            late.as_millis()
        );
        let after = self.state_of(server)?;
        ensure!(after.mode == mode, "{server} lost its leader: it is {}", after.mode);
        Ok(format!(
            "what the leader sends to {server} is {} ms late: a write acknowledged by {writer} was shown by {server} {} ms later; \
             {server} serves as {mode}",
            delay.as_millis(),
            late.as_millis()
        ))
    }

    pub(super) async fn catch_up_again(&self, server: &Node, behind: LeaderDelay) -> Result<String> {
        self.net.server().catch_up(self.server(server)?);
        let prompt = self.plan.cluster.timing.lag(behind.delay_percent) / 2;
        let (writer, late) = self.lateness(server, SHOWS).await?;
        ensure!(
            late < prompt,
            "{server} still shows a write of {writer} {} ms late",
            late.as_millis()
        );
        let ServerState { mode, .. } = self.state_of(server)?;
        Ok(format!(
            "a write acknowledged by {writer} was shown by {server} within {} ms; {server} serves as {mode}",
            late.as_millis()
        ))
    }
}

impl Cluster for SimCluster {
    fn servers(&self) -> Vec<Node> {
        self.servers.to_vec()
    }

    /// The order of the operations is chosen; what follows them has the order of time.
    fn entered(&self, phase: &str) {
        self.world.choose(phase == "ops");
    }

    fn voters(&self) -> Vec<Node> {
        self.plan.cluster.voters()
    }

    fn clients(&self) -> Vec<Node> {
        self.machines().keys().cloned().collect()
    }

    fn nodes_on(&self, host: &zooquake_history::Host) -> Option<Vec<Node>> {
        Some(self.plan.cluster.nodes_on(host)?.to_vec())
    }

    fn ready(&self) -> BackendFuture<'_, ()> {
        self.until_ready().boxed()
    }

    fn kill<'a>(&'a self, node: &'a Node) -> BackendFuture<'a> {
        let killed = match node.is_client() {
            true => self.live(node, ProcessState::Dead),
            false => self.server(node).map(|server| self.net.server().kill_server(server)),
        };
        self.after(killed, "killed")
    }

    fn start_server<'a>(&'a self, server: &'a Node) -> BackendFuture<'a, ()> {
        ready(self.server(server).map(|server| self.net.server().start_server(server))).boxed()
    }

    fn wipe<'a>(&'a self, server: &'a Node) -> BackendFuture<'a, ()> {
        let wiped = self.server(server).and_then(|number| {
            let wiped = self.net.server().wipe_server(number);
            wiped.map_err(|why| anyhow::anyhow!("{server} cannot be wiped: {why}"))
        });
        ready(wiped).boxed()
    }

    fn start_client<'a>(&'a self, client: &'a Node, incarnation: u64, on_output: OnOutput) -> BackendFuture<'a, Stdin> {
        ready(self.start_process(client, incarnation, on_output)).boxed()
    }

    fn pause<'a>(&'a self, node: &'a Node) -> BackendFuture<'a> {
        let frozen = match node.is_client() {
            true => self.live(node, ProcessState::Frozen),
            false => self.server(node).map(|server| self.net.server().freeze(server)),
        };
        self.after(frozen, "frozen")
    }

    fn resume<'a>(&'a self, node: &'a Node) -> BackendFuture<'a> {
        let thawed = match node.is_client() {
            true => self.live(node, ProcessState::Runs),
            false => self.server(node).map(|server| self.net.server().thaw(server)),
        };
        self.after(thawed, "thawed")
    }

    fn sees_running<'a>(&'a self, client: &'a Node) -> BackendFuture<'a> {
        let runs = self.process(client).and_then(|process| {
            ensure!(process.life() == ProcessState::Runs, "{client} does not run");
            Ok(())
        });
        self.after(runs, "it runs")
    }

    fn partition<'a>(&'a self, node: &'a Node, peers: &'a [Node], directions: Directions) -> BackendFuture<'a> {
        self.after(self.cut_off(node, peers, Some(directions)), "cut off")
    }

    fn heal_partition<'a>(&'a self, node: &'a Node, peers: &'a [Node]) -> BackendFuture<'a> {
        self.after(self.cut_off(node, peers, None), "connected again")
    }

    fn arm<'a>(&'a self, client: &'a Node, wire: Wire, limit: Duration) -> BackendFuture<'a, Option<RuleEffect>> {
        self.strike_one(client, wire, limit).boxed()
    }

    fn delay<'a>(&'a self, client: &'a Node, latency: Latency) -> BackendFuture<'a> {
        self.come_late(client, latency).boxed()
    }

    fn stall<'a>(&'a self, client: &'a Node) -> BackendFuture<'a> {
        self.hold_all(client).boxed()
    }

    fn pass_on<'a>(&'a self, client: &'a Node, _: Option<Latency>) -> BackendFuture<'a, Passage> {
        self.let_pass(client).boxed()
    }

    fn disarm<'a>(&'a self, _: &'a Node) -> BackendFuture<'a, ()> {
        // What waits is dropped with its way back, and so it ends.
        self.net.server().script.clear();
        ready(Ok(())).boxed()
    }

    fn disconnect<'a>(&'a self, client: &'a Node, _: Wire) -> BackendFuture<'a> {
        let refused = self.node(client).and_then(|host| {
            let connections = self.net.server().refuse(host, Refusal::All);
            ensure!(connections > 0, "{client} had no connection that could be cut");
            Ok(())
        });
        self.after(refused, "connections closed, and others are refused")
    }

    fn reconnect<'a>(&'a self, client: &'a Node) -> BackendFuture<'a> {
        self.come_back(client).boxed()
    }

    fn route<'a>(&'a self, client: &'a Node, server: &'a Node) -> BackendFuture<'a> {
        self.let_to(client, server).boxed()
    }

    fn unroute<'a>(&'a self, client: &'a Node) -> BackendFuture<'a> {
        let through = self.node(client).map(|host| self.net.server().let_through(host));
        self.after(through, "connections to all servers are let through")
    }

    fn expire<'a>(&'a self, client: &'a Node) -> BackendFuture<'a, Option<String>> {
        self.close_newest(client).boxed()
    }

    fn lag<'a>(&'a self, server: &'a Node, behind: LeaderDelay) -> BackendFuture<'a> {
        self.fall_behind(server, behind).boxed()
    }

    fn catch_up<'a>(&'a self, server: &'a Node, behind: LeaderDelay) -> BackendFuture<'a> {
        self.catch_up_again(server, behind).boxed()
    }

    fn create<'a>(&'a self, server: &'a Node, paths: &'a [String]) -> BackendFuture<'a, ()> {
        self.create_through(server, paths).boxed()
    }

    fn set_up<'a>(&'a self, server: &'a Node) -> BackendFuture<'a, ()> {
        async move { self.create_through(server, &setup_paths(&self.plan)).await }.boxed()
    }

    fn exists<'a>(&'a self, server: &'a Node, path: &'a str) -> BackendFuture<'a, bool> {
        async move {
            let stat = self.session(server).await?.exists(path).await;
            Ok(stat.with_context(|| format!("asking {server} for {path}"))?.is_some())
        }
        .boxed()
    }

    fn server_state<'a>(&'a self, server: &'a Node) -> BackendFuture<'a, ServerState> {
        async move {
            self.world.sleep(Duration::from_millis(1)).await;
            self.state_of(server)
        }
        .boxed()
    }

    fn server_of<'a>(&'a self, client: &'a Node) -> BackendFuture<'a, Option<Node>> {
        let server = self.node(client).map(|host| self.net.server().server_for(host));
        ready(server.map(|server| server.map(|server| self.servers[server].clone()))).boxed()
    }

    fn canary<'a>(&'a self, server: &'a Node, session_ms: u64) -> BackendFuture<'a, u64> {
        self.silent_session(server, Duration::from_millis(session_ms)).boxed()
    }

    fn tree<'a>(&'a self, server: &'a Node) -> BackendFuture<'a, Vec<Znode>> {
        async move {
            let _session = self.session(server).await?;
            Ok(self.net.server().nodes_at(self.server(server)?).map(znode).collect())
        }
        .boxed()
    }

    fn transactions(&self) -> BoxFuture<'_, TxnLogs> {
        let (ensemble, voters) = (self.net.server(), self.voters());
        let logged = |txn| LogEntry {
            txn,
            unlisted: false,
            data: 0,
        };
        let log = |(number, server): (usize, &Node)| ServerEntries {
            server: server.to_string(),
            voter: voters.contains(server),
            entries: ensemble.logged(number).map(logged).collect(),
            problems: Vec::new(),
        };
        ready(union(self.servers.iter().enumerate().map(log).collect())).boxed()
    }

    fn log_tail(&self, node: &Node) -> String {
        format!("{node} writes no log")
    }

    fn how_to_reach(&self) -> Result<String> {
        bail!("nothing is left of what was in memory")
    }

    fn remove(&self) -> BackendFuture<'_, ()> {
        let clients = self.clients();
        // What still runs there ends.
        clients
            .iter()
            .for_each(|client| drop(self.live(client, ProcessState::Dead)));
        for server in 0..self.servers.len() {
            self.net.server().kill_server(server);
        }
        ready(Ok(())).boxed()
    }
}

/// How long servers may take to serve.
const READY: Duration = Duration::from_secs(60);

/// How long an administrator waits for a server.
const ADMIN: Duration = Duration::from_secs(20);

/// How long something may take to come that waits where nothing passes: a client that does nothing else sends pings.
const WAITS: Duration = Duration::from_secs(1);

/// How long a client may take to come back before that is not waited for any longer.
const BACK: Duration = Duration::from_secs(2);

/// Whether a request of the model is of such a kind.
fn fits(op: WireOp, asked: &str) -> bool {
    match op {
        WireOp::Create => asked == "create",
        WireOp::Delete => asked == "delete",
        WireOp::Removal => asked == "delete" || asked == "close",
        WireOp::SetData => asked == "set",
        WireOp::Multi => asked == "multi",
        WireOp::CloseSession => asked == "close",
        WireOp::AnyWrite => ["create", "delete", "set", "multi", "close"].contains(&asked),
    }
}

/// What was done, in the words of the proxy.
fn effect(action: RuleAction, what: sim::StruckRequest) -> RuleEffect {
    RuleEffect {
        action,
        op: match what.op {
            "set" => "setData".to_string(),
            "close" => "closeSession".to_string(),
            other => other.to_string(),
        },
        path: what.path,
        xid: i32::try_from(what.request).unwrap_or(i32::MAX),
        session: Some(session_hex(what.session)),
        zxid: what.zxid,
        outcome: match action {
            RuleAction::Lost(LossKind::Request) => "not-sent".to_string(),
            RuleAction::Lost(LossKind::Reply) | RuleAction::Held(HeldKind::Reply) => "applied".to_string(),
        },
    }
}

/// The znode that is written to see when a server shows it.
const PROBE: &str = "/zooquake/probe";

/// How long a server may take to show a write that is not delayed.
const SHOWS: Duration = Duration::from_secs(2);
