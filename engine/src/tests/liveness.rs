//! The bound of liveness: the last operations stay open for as long as what is pending in them has to be to convict.

use super::recovery::leader;
use super::*;
use std::collections::HashMap;

/// Milliseconds that each slow operation takes, and the bound that follows from them.
const SLOW_MS: u64 = 2_000;
const BOUND: Duration = Duration::from_secs(20);

/// Clients that answer what they are asked, some of it late.
struct AnsweringClients {
    bench: Bench,
    /// When each request was seen first, by its number.
    seen: HashMap<u64, Duration>,
    items: i64,
}

impl AnsweringClients {
    fn new(name: &str, clients: usize) -> Self {
        let bench = Bench::with(name, clients, |plan| {
            plan.time_ms = 30_000;
            plan.transactions = vec![PlannedTransaction {
                votes: vec![true; clients - 1],
                work_ms: vec![0; clients - 1],
                early: true,
            }];
        });
        Self {
            bench,
            seen: HashMap::new(),
            items: 0,
        }
    }

    /// Lets a moment pass, and answers what has been pending for as many milliseconds as an operation of its name takes
    /// of its client; what takes `None` is not answered.
    fn pass(&mut self, takes: impl Fn(usize, &str) -> Option<u64>) {
        self.bench.pass(50);
        for (client, request) in self.bench.sent.clone() {
            let seen = *self.seen.entry(request.id).or_insert(self.bench.now);
            let over = |takes: &u64| self.bench.now - seen >= Duration::from_millis(*takes);
            if takes(client, &request.f).filter(over).is_none() {
                continue;
            }
            self.items += i64::from(request.f == "dequeue");
            let value = match request.f.as_str() {
                "dequeue" => json!({ "item": self.items }),
                _ => request.value,
            };
            self.bench.answer(client, &request.f, Outcome::Ok, value);
        }
    }

    /// Plays until the last operations begin.
    fn recover(&mut self, takes: impl Fn(usize, &str) -> Option<u64>) {
        while self.bench.phases().last().unwrap() != "recover" {
            self.pass(&takes);
        }
        self.bench.step(Input::Answer(ShellAnswer::Steady(Ok(leader()))));
        self.bench.all_ok("quiesce");
        if self.bench.phases().last().unwrap() == "calm" {
            calm::pass(&mut self.bench);
        }
        assert_eq!(self.bench.phases().last().unwrap(), "final");
    }

    fn asks_for_leader(&mut self) -> bool {
        let bench = &mut self.bench;
        took!(bench, Effect::Ask(Question::Leader(_)))
    }

    /// Plays the last operations until the engine asks for the leader, as it does at the end of the bound. Returns the
    /// longest time for which an operation of this name was pending in them.
    fn close(&mut self, stuck: &str, takes: impl Fn(usize, &str) -> Option<u64>) -> Duration {
        let began = self.bench.now;
        while !self.asks_for_leader() {
            self.pass(&takes);
            let lasts = self.bench.now - began;
            assert!(lasts < BOUND * 40, "{stuck}: {:?}", self.bench.phases());
        }
        let pending = self.bench.sent.iter().filter(|(_, request)| request.f == stuck);
        let pending = pending.map(|(_, request)| self.bench.now - self.seen[&request.id].max(began));
        pending.max().unwrap_or_default()
    }
}
/// The operations that convict, each with that whose durations make its bound.
const STUCK: [(&str, &str, &str); 11] = [
    ("lock/fenced", "acquire", "acquire"),
    ("rwlock/fenced", "acquire", "acquire"),
    ("semaphore/leases", "acquire", "acquire"),
    ("election/epoch", "elect", "elect"),
    ("barrier/tutorial", "enter", "enter"),
    ("barrier/double", "enter", "enter"),
    ("barrier/double", "leave", "leave"),
    ("queue/fifo", "dequeue", "dequeue"),
    ("queue/claimed", "acknowledge", "acknowledge"),
    ("commit/coordinated", "decided", "decided"),
    ("commit/coordinated", "decide", "decided"),
];

#[test]
fn what_is_stuck_stays_pending_for_ten_medians_of_the_operations_that_it_is_measured_by() {
    for (name, stuck, measured) in STUCK {
        let mut clients = AnsweringClients::new(name, 3);
        clients.recover(|_, f| Some(if f == measured { SLOW_MS } else { 0 }));
        let pending = clients.close(stuck, |_, f| (f != stuck).then_some(0));
        assert!(pending >= BOUND, "{name} {stuck}: {pending:?}");
    }
}

#[test]
fn what_is_stuck_while_another_operation_is_slow_may_be_pending_for_longer() {
    for (stuck, slow) in [("enter", "leave"), ("leave", "enter")] {
        let mut clients = AnsweringClients::new("barrier/double", 3);
        clients.recover(|_, f| Some(if f == slow { SLOW_MS } else { 0 }));
        let pending = clients.close(stuck, |_, f| (f != stuck).then_some(0));
        assert!(pending >= BOUND, "{stuck}: {pending:?}");
    }
}

#[test]
fn an_answer_after_recovery_raises_the_bound_of_what_is_pending() {
    let mut clients = AnsweringClients::new("lock/fenced", 3);
    clients.recover(|_, _| None);
    // It waited since the operations began, for 30 s, and is the only one that was answered.
    let pending = clients.close("acquire", |client, f| (client == 0 || f != "acquire").then_some(0));
    assert!(pending >= Duration::from_secs(300), "{pending:?}");
}

#[test]
fn an_answer_at_the_end_of_the_bound_that_raises_it_keeps_the_last_operations_open() {
    let mut clients = AnsweringClients::new("lock/fenced", 3);
    clients.recover(|_, _| None);
    let pending = clients.close("acquire", |_, f| (f != "acquire").then_some(0));
    assert!(pending < BOUND, "{pending:?}");
    clients.bench.ok(0, "acquire");
    clients.bench.step(Input::Answer(ShellAnswer::Leads(Ok(()))));
    assert_eq!(clients.bench.phases().last().unwrap(), "final");
    let pending = pending + clients.close("acquire", |_, f| (f != "acquire").then_some(0));
    assert!(pending >= Duration::from_secs(400), "{pending:?}");
    clients.bench.step(Input::Answer(ShellAnswer::Leads(Ok(()))));
    assert_eq!(clients.bench.phases().last().unwrap(), "audit");
}

/// A client that fails at once, each time that it is asked, is asked until its attempts span the bound; the last
/// client, which has not finished, is then given no second operation.
#[test]
fn who_is_refused_is_asked_until_the_attempts_span_the_bound() {
    for (name, refused, outcome) in [
        ("counter/versioned", "increment", Outcome::Info),
        ("register/quorum-read", "write", Outcome::Fail),
        ("lock/fenced", "acquire", Outcome::Info),
        ("membership/cached", "register", Outcome::Fail),
    ] {
        let mut clients = AnsweringClients::new(name, 2);
        clients.recover(|_, _| Some(0));
        let (began, mut last, mut first) = (clients.bench.now, None, None);
        while !clients.asks_for_leader() {
            clients.bench.pass(50);
            for (client, request) in clients.bench.sent.clone() {
                if request.f == "quiesce" {
                    clients.bench.ok(client, "quiesce");
                } else if clients.bench.asked(client, refused) {
                    first.get_or_insert(clients.bench.now);
                    last = Some(clients.bench.now);
                    clients.bench.answer(client, refused, outcome, Value::Null);
                } else if clients.bench.asked(client, &request.f) {
                    clients.bench.ok(client, &request.f);
                }
            }
            assert!(clients.bench.now - began < BOUND * 2, "{name}");
        }
        let lasted = last.unwrap() - first.unwrap();
        assert!(lasted >= Duration::from_secs(10), "{name}: {lasted:?}");
    }
}
