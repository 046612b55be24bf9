//! `barrier/tutorial` and `barrier/double`, driven line by line.

use serde_json::{Value, json};
use zooquake_workloads::protocol::Outcome;

use crate::bed::{LONG, MOMENT};
use crate::driven::{ClientTestBed, DrivenClient};
use zooquake_workloads::zk::sim::Fate;

fn enter(client: &mut DrivenClient, round: i64, members: usize) -> u64 {
    client.send("enter", json!({"round": round, "members": members}))
}

fn round_of(bed: &ClientTestBed, clients: &mut [DrivenClient], round: i64) {
    let asked: Vec<u64> = clients.iter_mut().map(|client| enter(client, round, 3)).collect();
    bed.world.pass(LONG);
    for (client, id) in clients.iter().zip(asked) {
        assert_eq!(
            client.reply(id).map(|(outcome, ..)| outcome),
            Some(Outcome::Ok),
            "round {round}"
        );
    }
    let asked: Vec<u64> = clients
        .iter_mut()
        .map(|client| client.send("leave", json!({"round": round})))
        .collect();
    bed.world.pass(LONG);
    for (client, id) in clients.iter().zip(asked) {
        let (outcome, value, _) = client.reply(id).unwrap();
        assert_eq!((outcome, &value["round"]), (Outcome::Ok, &json!(round)));
    }
}

#[test]
fn members_enter_and_leave_together() {
    let bed = ClientTestBed::new();
    let mut clients = ["c1", "c2", "c3"].map(|name| bed.drive(name, "barrier", "double"));
    let first = enter(&mut clients[0], 1, 3);
    let second = enter(&mut clients[1], 1, 3);
    assert_eq!(clients[0].reply(first), None);
    let third = enter(&mut clients[2], 1, 3);
    for (client, id) in clients.iter().zip([first, second, third]) {
        assert_eq!(client.reply(id).unwrap().0, Outcome::Ok);
    }
    let first = clients[0].send("leave", json!({"round": 1}));
    let second = clients[1].send("leave", json!({"round": 1}));
    assert_eq!((clients[0].reply(first), clients[1].reply(second)), (None, None));
    let third = clients[2].ok("leave", json!({"round": 1}));
    assert_eq!(
        third["removed"]["path"]
            .as_str()
            .map(|path| path.starts_with("/barrier/1/")),
        Some(true)
    );
    assert!(clients[0].reply(first).is_some() && clients[1].reply(second).is_some());
    round_of(&bed, &mut clients, 2);
}

#[test]
fn a_double_barrier_outlasts_lost_replies_connections_and_sessions() {
    for op in ["create", "exists", "children", "delete"] {
        for fate in [Fate::ReplyLost, Fate::RequestLost] {
            let bed = ClientTestBed::new();
            let mut clients = ["c1", "c2", "c3"].map(|name| bed.drive(name, "barrier", "double"));
            round_of(&bed, &mut clients, 1);
            (0..3).for_each(|_| bed.net.next(op, fate));
            round_of(&bed, &mut clients, 2);
        }
    }
    let bed = ClientTestBed::new();
    let mut clients = ["c1", "c2", "c3"].map(|name| bed.drive(name, "barrier", "double"));
    let session = bed.net.last_session();
    let first = enter(&mut clients[2], 1, 3);
    bed.net.expire(session, MOMENT);
    bed.world.pass(LONG);
    let others = [enter(&mut clients[0], 1, 3), enter(&mut clients[1], 1, 3)];
    assert_eq!(
        clients[2].reply(first).unwrap().0,
        Outcome::Ok,
        "it joins again in its next session"
    );
    assert!(clients[0].reply(others[0]).is_some() && clients[1].reply(others[1]).is_some());
}

/// B7: peers pass between a member's create and its wait. Here they cannot pass unseen.
#[test]
fn peers_that_pass_at_once_leave_nobody_behind() {
    let bed = ClientTestBed::new();
    let mut clients = ["c1", "c2"].map(|name| bed.drive(name, "barrier", "double"));
    let first = enter(&mut clients[0], 1, 2);
    bed.net.before("children", Fate::RequestLost, |server| {
        let ready = server.create(
            0,
            "/barrier/1/ready",
            b"",
            zooquake_workloads::zk::CreateMode::Persistent,
        );
        ready.unwrap();
    });
    let second = enter(&mut clients[1], 1, 2);
    bed.world.pass(LONG);
    assert!(clients[0].reply(first).is_some() && clients[1].reply(second).is_some());
}

#[test]
fn who_waits_at_a_gate_goes_on_when_it_is_lifted() {
    let bed = ClientTestBed::new();
    let mut clients = ["c1", "c2", "c3"].map(|name| bed.drive(name, "barrier", "gate"));
    let round = json!({"round": 1});
    clients[0].ok("wait", round.clone());
    for _ in 0..2 {
        clients[2].ok("raise", round.clone());
    }
    let waiting = [0, 1].map(|client| clients[client].send("wait", round.clone()));
    bed.world.pass(LONG);
    assert_eq!(
        [0, 1].map(|client| clients[client].reply(waiting[client])),
        [None, None]
    );
    assert_eq!(clients[2].ok("raise", json!({"round": 2})), json!({"round": 2}));
    for _ in 0..2 {
        clients[2].ok("lift", round.clone());
    }
    bed.world.pass(MOMENT);
    for (client, id) in clients.iter().zip(waiting) {
        let (outcome, value, _) = client.reply(id).unwrap();
        assert_eq!((outcome, &value), (Outcome::Ok, &round));
    }
    assert_eq!(
        bed.net.server().children("/gate").unwrap(),
        ["2"],
        "the other gate stands"
    );
}

#[test]
fn a_gate_outlasts_lost_replies_connections_and_sessions() {
    for op in ["create", "exists", "set", "delete"] {
        for fate in [Fate::ReplyLost, Fate::RequestLost] {
            let bed = ClientTestBed::new();
            let mut clients = ["c1", "c2"].map(|name| bed.drive(name, "barrier", "gate"));
            (0..3).for_each(|_| bed.net.next(op, fate));
            let raised = clients[1].send("raise", json!({"round": 1}));
            bed.world.pass(LONG);
            assert_eq!(clients[1].reply(raised).unwrap().0, Outcome::Ok, "{op}");
            let waiting = clients[0].send("wait", json!({"round": 1}));
            bed.world.pass(LONG);
            assert_eq!(clients[0].reply(waiting), None, "{op}");
            let lifted = clients[1].send("lift", json!({"round": 1}));
            bed.world.pass(LONG);
            assert_eq!(clients[1].reply(lifted).unwrap().0, Outcome::Ok, "{op}");
            assert_eq!(clients[0].reply(waiting).unwrap().0, Outcome::Ok, "{op}");
        }
    }
    let bed = ClientTestBed::new();
    let mut keeper = bed.drive("c2", "barrier", "gate");
    keeper.ok("raise", json!({"round": 1}));
    bed.net.expire(bed.net.last_session(), MOMENT);
    let mut client = bed.drive("c1", "barrier", "gate");
    let waiting = client.send("wait", json!({"round": 1}));
    bed.world.pass(MOMENT);
    bed.net.expire(bed.net.last_session(), MOMENT);
    bed.world.pass(LONG);
    assert_eq!(client.reply(waiting), None, "it waits in its next session");
    let lifted = keeper.send("lift", json!({"round": 1}));
    bed.world.pass(LONG);
    assert_eq!(keeper.reply(lifted).unwrap().0, Outcome::Ok);
    assert_eq!(client.reply(waiting).unwrap().0, Outcome::Ok);
}

fn join(client: &mut DrivenClient, round: i64, member: u64) -> (Outcome, Value, Option<String>) {
    client.ask("join", json!({"round": round, "members": 2, "member": member}))
}

#[test]
fn the_tutorials_barrier_starts_when_all_have_joined() {
    let bed = ClientTestBed::new();
    let mut clients = ["c1", "c2", "c3"].map(|name| bed.drive(name, "barrier", "tutorial"));
    for round in 1..3 {
        let waiting = enter(&mut clients[2], round, 2);
        assert_eq!(join(&mut clients[0], round, 1).0, Outcome::Ok);
        assert_eq!(clients[2].reply(waiting), None);
        assert_eq!(join(&mut clients[1], round, 2).0, Outcome::Ok);
        assert!(clients[2].reply(waiting).is_some());
        // A client that joins now counts enough of them too, and finds that `start` exists.
        let (outcome, _, error) = join(&mut clients[0], round, 1);
        assert_eq!(outcome, Outcome::Info);
        assert!(error.unwrap().starts_with("start: "));
        for client in &mut clients {
            client.ok("close", json!({"round": round}));
        }
        assert_eq!(bed.net.server().children("/queue").unwrap(), Vec::<String>::new());
    }
}

#[test]
fn one_client_may_join_for_all_of_the_tutorials_members() {
    let bed = ClientTestBed::new();
    let mut clients = ["c1", "c3"].map(|name| bed.drive(name, "barrier", "tutorial"));
    let waiting = enter(&mut clients[1], 1, 2);
    join(&mut clients[0], 1, 1);
    assert_eq!(clients[1].reply(waiting), None);
    join(&mut clients[0], 1, 2);
    assert!(clients[1].reply(waiting).is_some());
}

/// Why `early-release` is accepted: who died in the last round is counted in the next one.
#[test]
fn a_ghost_is_counted_by_the_tutorials_barrier() {
    let bed = ClientTestBed::new();
    let mut clients = ["c1", "c2", "c3"].map(|name| bed.drive(name, "barrier", "tutorial"));
    join(&mut clients[0], 1, 1);
    let waiting = enter(&mut clients[2], 2, 2);
    join(&mut clients[1], 2, 2);
    assert!(clients[2].reply(waiting).is_some(), "one join of this round was enough");
}

#[test]
fn an_application_whose_session_ended_waits_again_in_another_one() {
    let bed = ClientTestBed::new();
    let mut application = bed.drive("c1", "barrier", "tutorial");
    let first = application.send("enter", json!({"round": 1, "members": 1}));
    bed.world.pass(MOMENT);
    bed.net.expire(bed.net.last_session(), MOMENT);
    bed.world.pass(LONG);
    assert_eq!(application.reply(first).unwrap().0, Outcome::Fail);
    let second = application.send("enter", json!({"round": 1, "members": 1}));
    let mut member = bed.drive("c2", "barrier", "tutorial");
    member.ok("join", json!({"round": 1, "members": 1}));
    bed.world.pass(MOMENT);
    assert_eq!(application.reply(second).unwrap().0, Outcome::Ok);
}
