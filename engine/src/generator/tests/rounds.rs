//! The double barrier's rounds, when one of them is stuck.

use super::*;

/// A generator with its clients' pending operations.
struct PlayedGenerator {
    generator: Box<dyn Generator>,
    pending: Vec<Option<OperationRequest>>,
    now: Duration,
    phase: GeneratorPhase,
}

impl PlayedGenerator {
    fn new() -> Self {
        let mut plan = plan("barrier/double");
        plan.cluster.clients = CLIENTS;
        Self {
            generator: from_plan(&plan).unwrap(),
            pending: (0..CLIENTS).map(|_| None).collect(),
            now: Duration::ZERO,
            phase: GeneratorPhase::Load,
        }
    }

    fn at(&self) -> GeneratorMoment {
        let (phase, now) = (self.phase, self.now);
        GeneratorMoment { phase, now }
    }

    /// Asks every client that has nothing pending.
    fn ask(&mut self) {
        for client in 0..CLIENTS {
            let at = self.at();
            if self.pending[client].is_none()
                && let Assignment::Ask(request) = self.generator.next(client, at)
            {
                self.pending[client] = Some(request);
            }
        }
    }

    /// The client answers what it has pending.
    fn ok(&mut self, client: usize) {
        let request = self.pending[client].take().unwrap();
        let (end, at) = (end(EventType::Ok, request.value.clone()), self.at());
        self.generator.ended(client, &op(request, self.now), &end, at);
    }

    fn pass(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    /// What each client has pending.
    fn asked(&self) -> Vec<String> {
        let told = |request: &Option<OperationRequest>| {
            let of = request
                .as_ref()
                .map(|request| format!("{} {}", request.f, request.value));
            of.unwrap_or_default()
        };
        self.pending.iter().map(told).collect()
    }
}

/// All have entered the first round, and the first client's leave of it is never answered.
fn stuck() -> PlayedGenerator {
    let mut played = PlayedGenerator::new();
    played.ask();
    (0..CLIENTS).for_each(|client| played.ok(client));
    played.ask();
    (1..CLIENTS).for_each(|client| played.ok(client));
    played
}

const STUCK: &str = r#"leave {"round":1}"#;

#[test]
fn a_round_opens_when_all_have_ended_the_one_before() {
    let mut played = stuck();
    played.ask();
    assert_eq!(played.asked(), [STUCK, "", ""]);
    played.ok(0);
    played.ask();
    assert_eq!(played.asked(), vec![r#"enter {"members":3,"round":2}"#; 3]);
}

#[test]
fn who_is_not_stuck_goes_on_without_who_is_and_takes_it_in_again() {
    let mut played = stuck();
    played.pass(5_999);
    played.ask();
    assert_eq!(played.asked(), [STUCK, "", ""]);
    played.pass(1);
    for round in [2, 3] {
        played.ask();
        let enter = format!(r#"enter {{"members":2,"round":{round}}}"#);
        assert_eq!(played.asked(), [STUCK, &enter, &enter], "nobody waits again");
        played.ok(1);
        played.ok(2);
        played.ask();
        let leave = format!(r#"leave {{"round":{round}}}"#);
        assert_eq!(played.asked(), [STUCK, &leave, &leave]);
        played.ok(1);
        played.ok(2);
    }
    played.ok(0);
    played.ask();
    assert_eq!(played.asked(), vec![r#"enter {"members":3,"round":4}"#; 3]);
}

#[test]
fn after_recovery_those_who_are_not_stuck_do_one_round_more() {
    let mut played = stuck();
    played.phase = GeneratorPhase::Drain;
    played.pass(6_000);
    played.ask();
    assert_eq!(played.asked(), [STUCK, "", ""], "nobody is sent to a new round");
    played.generator.recovered(&AnsweredDurations::default());
    played.phase = GeneratorPhase::Final;
    for f in ["enter", "leave"] {
        assert!(!played.generator.finished(1));
        played.ask();
        assert!(played.asked()[1].starts_with(f), "{:?}", played.asked());
        played.ok(1);
        played.ok(2);
    }
    played.ask();
    assert_eq!(played.asked(), [STUCK, "", ""]);
    assert!(!played.generator.finished(0) && played.generator.finished(1) && played.generator.finished(2));
}

#[test]
fn one_that_remains_alone_enters_nothing() {
    let mut played = PlayedGenerator::new();
    played.ask();
    played.ok(1);
    played.generator.died(1);
    played.pass(60_000);
    played.ask();
    let waits = r#"enter {"members":3,"round":1}"#;
    assert_eq!(played.asked(), [waits, "", waits]);
}

#[test]
fn one_whose_process_dies_enters_the_same_round_again_with_as_many_members() {
    let mut played = stuck();
    played.pass(6_000);
    played.ask();
    played.generator.died(2);
    played.pending[2] = None;
    played.ask();
    assert_eq!(played.asked()[2], r#"enter {"members":2,"round":2}"#);
}
