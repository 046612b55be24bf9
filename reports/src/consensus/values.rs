//! What leads to a value: the rounds in which it was voted for, and the votes that reached its learner.

use super::network_run::{NetworkRun, PublicStep, arrived, listed};
use super::scope::{CALM, DiagramScope};
use crate::messages::DiagramTone;
use std::collections::BTreeSet;
use zooquake_history::operation::consensus::Announcement;
use zooquake_history::{Event, EventType, MessageRecord};

/// A value that a learner learned.
#[derive(Debug, Clone, Copy)]
struct LearnerValue {
    learner: usize,
    time: u64,
    value: u32,
    round: u32,
}

impl LearnerValue {
    fn new(step: &PublicStep) -> Option<Self> {
        let Announcement::Learned { value, round } = step.what else {
            return None;
        };
        Some(Self {
            learner: step.node,
            time: step.time,
            value,
            round,
        })
    }

    /// How the votes for it compare with a fast quorum, ⌈3n/4⌉ of n acceptors, if they are fewer; `None` in a classic
    /// round.
    fn fast_quorum(self, run: &NetworkRun<'_>) -> Option<String> {
        let is_fast = run
            .messages
            .iter()
            .any(|message| message.kind == "2a" && message.detail == "any" && message.round == Some(self.round));
        let acceptors = run.names.iter().filter(|name| name.starts_with("acceptor")).count();
        let (needed, votes) = ((3 * acceptors).div_ceil(4), self.votes(run).len());
        // One that another learner informed needs no votes.
        let informed = run.messages.iter().any(|message| {
            message.kind == "learned" && run.node(&message.to) == Some(self.learner) && arrived(message, self.time)
        });
        (is_fast && votes < needed && !informed).then(|| {
            format!(
                "Round {} is a fast one (2a any): a fast quorum is {needed} of {acceptors} acceptors, and {votes} had voted.",
                self.round
            )
        })
    }

    /// The votes for it that had reached its learner: the places of the messages, one of each acceptor.
    fn votes(self, run: &NetworkRun<'_>) -> Vec<usize> {
        let value = self.value.to_string();
        let of_it = |message: &MessageRecord| {
            message.kind == "2b"
                && message.round == Some(self.round)
                && run.node(&message.to) == Some(self.learner)
                && message.detail == value
        };
        let votes = run.messages.iter().enumerate().filter(|(_, message)| of_it(message));
        let reached = votes.filter_map(|(place, message)| Some((message.received?, place)));
        let mut reached: Vec<(u64, usize)> = reached.filter(|(at, _)| *at <= self.time).collect();
        reached.sort_unstable();
        let mut voters = BTreeSet::new();
        let votes = reached.into_iter().map(|(_, place)| place);
        votes
            .filter(|place| voters.insert(&run.messages[*place].from))
            .collect()
    }
}

/// Which acceptors voted in the earlier of two rounds after they had promised, by a 1b in the later one, not to.
fn forgotten(run: &NetworkRun<'_>, one: LearnerValue, other: LearnerValue) -> Option<String> {
    let (early, late) = if one.round < other.round {
        (one, other)
    } else {
        (other, one)
    };
    let promised = |vote: &MessageRecord| {
        run.messages.iter().any(|message| {
            message.kind == "1b"
                && message.round == Some(late.round)
                && message.from == vote.from
                && message.sent < vote.sent
        })
    };
    let mut votes = early.votes(run);
    votes.retain(|&vote| promised(run.messages[vote]));
    let names = run.senders(&votes);
    let (word, early, late) = (run.round, early.round, late.round);
    (!names.is_empty() && early < late).then(|| {
        format!(
            "{} had promised, by a 1b of {word} {late}, to vote in no lower {word}, and then voted in {word} {early}.",
            listed(&names)
        )
    })
}

/// Up to the last of what learners learned; `None` if the witness has nothing that was learned.
pub fn learned(run: &NetworkRun<'_>, witness: &[&Event]) -> Option<DiagramScope> {
    let steps = witness.iter().filter_map(|event| run.step(event.index));
    let lessons: Vec<LearnerValue> = steps.filter_map(LearnerValue::new).take(2).collect();
    let until = lessons.iter().map(|lesson| lesson.time).max()?;
    let mut scope = DiagramScope {
        until,
        ..DiagramScope::default()
    };
    emphasize(run, &lessons, &mut scope);
    let first = scope.core.first().map(|place| run.messages[*place].sent);
    scope.from = first.unwrap_or(0);
    Some(scope)
}

/// Lets the rounds of what was learned be the core, and the votes that reached the learners stand out.
fn emphasize(run: &NetworkRun<'_>, lessons: &[LearnerValue], scope: &mut DiagramScope) {
    let rounds: Vec<u32> = lessons.iter().map(|lesson| lesson.round).collect();
    let values: Vec<String> = lessons.iter().map(|lesson| lesson.value.to_string()).collect();
    scope.add_core(run, |message: &MessageRecord| match message.kind.as_str() {
        "request" => values.contains(&message.detail),
        "learned" => false,
        _ => message.round.is_some_and(|round| rounds.contains(&round)),
    });
    let mut said = Vec::new();
    let mut quorums = Vec::new();
    for (lesson, tone) in lessons.iter().zip([DiagramTone::First, DiagramTone::Second]) {
        let votes = lesson.votes(run);
        scope.stand_out(run, &votes, tone);
        let names = run.senders(&votes);
        let LearnerValue { value, round, .. } = lesson;
        said.push(format!("{} voted for {value} in {} {round}", listed(&names), run.round));
        quorums.push(names);
    }
    if let [one] = lessons {
        said.push(format!(
            "so {} learned that {} is chosen",
            run.name(one.learner),
            one.value
        ));
    }
    if !said.is_empty() {
        scope.sentences.push(format!("{}.", said.join("; ")));
    }
    if let [one, other] = lessons {
        let few = [one, other].into_iter().filter_map(|lesson| lesson.fast_quorum(run));
        scope.cause = forgotten(run, *one, *other).or_else(|| few.reduce(|all, next| format!("{all} {next}")));
    }
    if let [one, other] = quorums.as_slice() {
        let both: Vec<&str> = one.iter().copied().filter(|name| other.contains(name)).collect();
        match both.as_slice() {
            [] => {
                let apart = || "No acceptor is in both sets: two quorums that do not meet.".to_owned();
                scope.cause.get_or_insert_with(apart);
            }
            both => scope.sentences.push(format!(
                "In both sets {} {}.",
                if both.len() == 1 { "is" } else { "are" },
                listed(both)
            )),
        }
    }
}

/// Up to the first decision, and on to what all learners learn and clients are answered if that is not long; from the
/// first message if there is room, else from the first request.
pub fn decided(run: &NetworkRun<'_>) -> Option<DiagramScope> {
    let lessons: Vec<LearnerValue> = run.steps.iter().filter_map(LearnerValue::new).collect();
    let first = *lessons.first()?;
    let mut learners = BTreeSet::new();
    let firsts = lessons.iter().filter(|lesson| learners.insert(lesson.learner));
    let all = firsts.map(|lesson| lesson.time).max().unwrap_or(first.time);
    let answers = run.operations().filter(|(event, ..)| event.kind == EventType::Ok);
    let answered = answers.map(|(event, ..)| event.time).min().unwrap_or(all).max(all);
    let request = run.first_request().filter(|at| *at <= first.time).unwrap_or(0);
    let spans = [
        (0, answered),
        (0, all),
        (request, answered),
        (request, all),
        (request, first.time),
    ];
    let fits = |&(from, until): &(u64, u64)| run.sent_in(from, until).count() <= CALM;
    let (from, until) = spans.into_iter().find(fits).unwrap_or((request, first.time));
    let mut scope = DiagramScope {
        from,
        until,
        ..DiagramScope::default()
    };
    emphasize(run, &[first], &mut scope);
    Some(scope)
}
