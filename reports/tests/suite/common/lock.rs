//! Clients that take turns with a lock, as it looks from outside.

use super::build::{Builder, MS};
use fastrand::Rng;
use zooquake_history::Node;
use zooquake_history::evidence::ServerSample;

/// Faults on clients: number, kind, client, from, until.
const PAUSE_HOLDER: (u64, u64) = (24_000, 27_400);
const KILL: (u64, u64) = (8_100, 11_000);
const CUT: (u64, u64) = (45_200, 48_400);
const LEADER_CUT: (u64, u64) = (15_800, 20_900);
const SERVER_PAUSE: (u64, u64) = (34_000, 36_500);

struct Client {
    process: u64,
    asks_at: u64,
}

/// The history of the run.
pub fn sixty_seconds() -> Builder {
    let mut rng = Rng::with_seed(7);
    let mut b = Builder::default();
    let mut clients: Vec<Client> = (0..5)
        .map(|i| Client {
            process: i,
            asks_at: 1000 + 37 * i,
        })
        .collect();
    frame(&mut b);
    let mut free = 1000;
    let mut grant = 0;
    while free < 57_000 {
        let next = (0..5).min_by_key(|&i| clients[i].asks_at).unwrap();
        grant += 1;
        free = turn(&mut b, &mut rng, (next, &mut clients), grant, free);
    }
    for (i, client) in clients.iter().enumerate().filter(|(_, client)| client.asks_at < 60_000) {
        let (asks, at, who) = (
            client.asks_at,
            66_000 + i as u64 * 40,
            format!("{}/{}", Node::client(i + 1), client.process),
        );
        b.tell(&format!(
            "{asks}-{at} {who} acquire grant=w{i} timeout_ms=120000 -> ok grant=w{i} czxid={}
             {}-{} {who} release grant=w{i} -> ok grant=w{i} removed=null",
            0x2_0000_0000_u64 + i as u64,
            at + 5,
            at + 12,
        ));
    }
    b
}

fn frame(b: &mut Builder) {
    b.phase(900 * MS, "ops")
        .phase(60_000 * MS, "heal")
        .phase(60_400 * MS, "recover")
        .phase(65_900 * MS, "recovered");
    b.phase(65_950 * MS, "final")
        .phase(66_700 * MS, "audit")
        .phase(67_100 * MS, "done");
    b.fault(1, "kill", "c2", KILL.0 * MS, KILL.1 * MS);
    b.fault(2, "partition", "n2", LEADER_CUT.0 * MS, LEADER_CUT.1 * MS);
    b.fault(3, "pause", "c3", PAUSE_HOLDER.0 * MS, PAUSE_HOLDER.1 * MS);
    b.fault(4, "pause", "n1", SERVER_PAUSE.0 * MS, SERVER_PAUSE.1 * MS);
    b.fault(6, "partition", "c4", CUT.0 * MS, CUT.1 * MS);
    for client in 1..=5 {
        b.tell(&format!(
            "500 c{client} note hello pid={} incarnation=1 session=\"0x100{client}\"
             66800 c{client} ask quiesce
             66900 c{client} answer quiesce sessions=[] znodes=[]",
            10 + client
        ));
    }
}

/// One client acquires, writes and releases; returns when the lock is free again. Times are milliseconds.
fn turn(b: &mut Builder, rng: &mut Rng, (who, clients): (usize, &mut [Client]), grant: usize, free: u64) -> u64 {
    let client = &mut clients[who];
    let (c, name) = (who + 1, format!("g{grant}"));
    let mut at = free.max(client.asks_at) + rng.u64(3..14);
    if (LEADER_CUT.0..LEADER_CUT.0 + 2600).contains(&at) {
        at = LEADER_CUT.0 + 2600 + rng.u64(5..90);
    }
    let who = format!("{}/{}", Node::client(c), client.process);
    let czxid = 0x1_0000_0000_u64 + grant as u64;
    b.tell(&format!(
        "{}-{at} {who} acquire grant={name} timeout_ms=120000 -> ok grant={name} path=/lock/x-{grant} czxid={czxid} session=\"0x1001\"",
        client.asks_at
    ));
    for n in 0..rng.u64(1..4) {
        let work = [20, 60, 140, 400][rng.usize(0..4)];
        at += 1;
        let value = grant as u64 * 10 + n;
        if c == 2 && at > KILL.0 - 1500 && at < KILL.0 {
            b.tell(&format!(
                "{at} {who} invoke write grant={name} value={value} work_ms={work}"
            ));
            return killed(b, client, &who);
        }
        if c == 3 && at > 22_500 && at < 26_000 {
            clients[4].asks_at = PAUSE_HOLDER.1 + 900;
            return late(b, &mut clients[c - 1], &who, at, (&name, value));
        }
        b.tell(&format!(
            "{at} {who} invoke write grant={name} value={value} work_ms={work}"
        ));
        at += work + rng.u64(1..6);
        if c == 4 && at > CUT.0 && at < CUT.1 {
            b.tell(&format!(
                "{at} {who} fail write grant={name} value=0 !not-held
                 {} c{c} note lost grant={name} why=disconnected",
                at - 1
            ));
            client.asks_at = CUT.1 + rng.u64(50..300);
            return at + 1900;
        }
        b.tell(&format!(
            "{at} {who} ok write grant={name} value={value} token=null accepted=true"
        ));
    }
    b.tell(&format!("{} {who} invoke release grant={name}", at + 1));
    let end = at + 2 + rng.u64(2..9);
    if rng.u8(0..24) == 0 {
        b.tell(&format!(
            "{end} {who} info release grant={name} !ConnectionLoss: /lock/x"
        ));
        client.process += 5;
    } else {
        let removed = format!(r#"{{"path":"/lock/x-{grant}","czxid":1}}"#);
        b.tell(&format!("{end} {who} ok release grant={name} removed={removed}"));
    }
    client.asks_at = end + rng.u64(100..900);
    end
}

/// The process is killed while it works: the outcome of the write is unknown, and the lock waits for the session.
fn killed(b: &mut Builder, client: &mut Client, who: &str) -> u64 {
    b.tell(&format!(
        "{} {who} info write !stream-ended
         {} {who} note exit incarnation=1
         {} {who} note hello pid=44 incarnation=2 session=\"0x2001\"",
        KILL.0 + 3,
        KILL.0 + 4,
        KILL.1 - 2
    ));
    client.process += 5;
    client.asks_at = KILL.1 + 60;
    KILL.0 + 2100
}

/// The client is frozen while it works, its session expires, the next one writes, and then its own write arrives.
fn late(b: &mut Builder, client: &mut Client, who: &str, at: u64, (name, value): (&str, u64)) -> u64 {
    let (frozen, next, end) = (PAUSE_HOLDER.0, PAUSE_HOLDER.0 + 2150, PAUSE_HOLDER.1 + 30);
    b.tell(&format!(
        "{} {who} invoke write grant={name} value={value} work_ms=2600 @late-work
         {end} {who} ok write grant={name} value={value} token=null accepted=true @late-write
         {} c5/7001 invoke acquire grant=g900 timeout_ms=120000 @rival-asks
         {next} c5/7001 ok acquire grant=g900 path=/lock/x-900 czxid={} session=\"0x1005\" @rival-grant
         {} c5/7001 invoke write grant=g900 value=9001 work_ms=300
         {} c5/7001 ok write grant=g900 value=9001 token=null accepted=true @rival-write
         {}-{} c5/7001 write grant=g900 value=9002 work_ms=600 -> ok grant=g900 value=9002 token=null accepted=true
         {}-{} c5/7001 release grant=g900 -> ok grant=g900 removed=null",
        at.max(frozen - 420),
        frozen - 200,
        0x1_0000_0900_u64,
        next + 2,
        next + 310,
        next + 320,
        next + 925,
        next + 930,
        next + 941
    ));
    b.tell(&format!(
        "{} {who} note lost grant={name} why=\"session\\u0020expired\"",
        end + 2
    ));
    client.process += 5;
    client.asks_at = end + 400;
    end + 20
}

/// The samples of three servers meanwhile.
pub fn servers() -> Vec<ServerSample> {
    let mut samples = Vec::new();
    for tick in 0..330_u64 {
        let ms = 500 + tick * 200;
        for n in 1..=3 {
            let cut = (LEADER_CUT.0..LEADER_CUT.1).contains(&ms);
            let silent = (cut && (n == 2 || ms < LEADER_CUT.0 + 1500))
                || (n == 1 && (SERVER_PAUSE.0..SERVER_PAUSE.1).contains(&ms));
            let (leader, epoch) = if ms < LEADER_CUT.0 { (2, 1) } else { (3, 2) };
            let mode = match silent {
                true => "silent",
                false if n == leader => "leader",
                false => "follower",
            };
            let epoch = if silent { 0 } else { epoch };
            samples.push(ServerSample {
                time: ms * MS,
                server: Node::server(n).to_string(),
                mode: mode.into(),
                epoch,
                zxid: (epoch << 32) + tick as i64,
                version: if silent { String::new() } else { "3.8.0".into() },
            });
        }
    }
    samples
}
