//! How many members are in a round at each of many moments, and since when the number that it takes was there: asked
//! for all moments together, because a round may have as many members as moments.

use super::rounds::RoundMember;
use std::collections::{BTreeSet, HashMap};

/// A member of a round. Positions are those of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberStay<'a> {
    /// The client that was sent to the round.
    pub node: &'a str,
    /// Which member it is; each counts once.
    pub member: RoundMember<'a>,
    /// The request that names the member; `None` where the client is the member.
    pub named: Option<usize>,
    /// The event that shows it: its enter was sent, or its join was answered.
    pub since: usize,
    /// The first and the last moment at which it counts.
    pub alive: (usize, usize),
    /// The last event that shows it; `None` where that is the moment that is asked for.
    pub until: Option<usize>,
}

impl MemberStay<'_> {
    fn alive(&self, at: usize) -> bool {
        self.alive.0 <= at && at <= self.alive.1
    }
}

/// The members of a round, those that came first first.
#[derive(Debug, Default)]
pub struct Presence<'a> {
    stays: Vec<MemberStay<'a>>,
    /// For each the place of the first stay of its member.
    who: Vec<usize>,
}

/// Whether so many members, beside one, are there at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The event at which they are counted.
    pub at: usize,
    /// The member that is not counted; `None` where all are.
    pub beside: Option<RoundMember<'a>>,
    /// The number of members that is asked for.
    pub wanted: usize,
}

/// What is known of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresentMembers {
    /// How many members there were, the one that is not counted among them.
    pub members: usize,
    /// Of as many as it takes, the earliest: the event that shows the last of them, and the one up to which all are
    /// shown if that is before the moment. `None` if there are not so many.
    pub full: Option<(usize, Option<usize>)>,
}

impl<'a> Presence<'a> {
    /// Each member counts once, by the earliest of its stays.
    pub fn new(mut stays: Vec<MemberStay<'a>>) -> Self {
        stays.retain(|stay| stay.alive.0 <= stay.alive.1);
        stays.sort_by_key(|stay| (stay.since, stay.until.is_some()));
        let mut members: HashMap<RoundMember<'_>, usize> = HashMap::new();
        let who = stays.iter().enumerate();
        let who = who.map(|(place, stay)| *members.entry(stay.member).or_insert(place));
        let who = who.collect();
        Self { stays, who }
    }

    /// The members that make up [`PresentMembers::full`], and how many stays were looked at for them.
    pub fn named(&self, question: Question<'a>) -> (Vec<MemberStay<'a>>, usize) {
        let mut seen = BTreeSet::new();
        let (mut named, mut looked_at) = (Vec::new(), 0);
        for (stay, &who) in self.stays.iter().zip(&self.who) {
            if named.len() == question.wanted {
                break;
            }
            looked_at += 1;
            if stay.alive(question.at) && Some(stay.member) != question.beside && seen.insert(who) {
                named.push(*stay);
            }
        }
        (named, looked_at)
    }

    /// Answers questions, in time nearly linear in them and in the members.
    pub fn answers(&self, questions: &[Question<'a>]) -> Vec<PresentMembers> {
        let sorted = |key: &dyn Fn(&MemberStay<'_>) -> usize| {
            let mut places: Vec<usize> = (0..self.stays.len()).collect();
            places.sort_by_key(|&place| key(&self.stays[place]));
            places
        };
        let (begins, ends) = (sorted(&|stay| stay.alive.0), sorted(&|stay| stay.alive.1));
        let mut begins = begins.into_iter().peekable();
        let mut ends = ends.into_iter().peekable();
        let mut order: Vec<usize> = (0..questions.len()).collect();
        order.sort_by_key(|&question| questions[question].at);
        let stays = self.stays.iter().map(|stay| stay.member);
        let places: HashMap<RoundMember<'_>, usize> = stays.zip(self.who.iter().copied()).collect();
        let mut there = MembersAtMoment::new(self);
        let mut answers = vec![PresentMembers { members: 0, full: None }; questions.len()];
        for number in order {
            let Question { at, beside, wanted } = questions[number];
            while let Some(place) = begins.next_if(|&place| self.stays[place].alive.0 <= at) {
                there.change(self.who[place], |own| own.insert(place));
            }
            while let Some(place) = ends.next_if(|&place| self.stays[place].alive.1 < at) {
                there.change(self.who[place], |own| own.remove(&place));
            }
            let members = there.tree.all();
            let own = beside.and_then(|member| there.of.get(places.get(&member)?)?.first().copied());
            own.into_iter().for_each(|place| there.tree.set(place, None));
            let full = there.tree.first(wanted);
            own.into_iter()
                .for_each(|place| there.tree.set(place, Some(there.until(place))));
            let full = full.map(|(last, until)| (last.map_or(0, |place| self.stays[place].since), until));
            answers[number] = PresentMembers { members, full };
        }
        answers
    }
}

/// Who is there at a moment.
struct MembersAtMoment<'p, 'a> {
    presence: &'p Presence<'a>,
    /// By member its stays, of which the first counts.
    of: HashMap<usize, BTreeSet<usize>>,
    tree: PresenceTree,
}

impl<'p, 'a> MembersAtMoment<'p, 'a> {
    fn new(presence: &'p Presence<'a>) -> Self {
        Self {
            presence,
            of: HashMap::new(),
            tree: PresenceTree::new(presence.stays.len()),
        }
    }

    fn until(&self, place: usize) -> usize {
        self.presence.stays[place].until.unwrap_or(usize::MAX)
    }

    fn change(&mut self, who: usize, change: impl FnOnce(&mut BTreeSet<usize>) -> bool) {
        let own = self.of.entry(who).or_default();
        let before = own.first().copied();
        change(own);
        let after = own.first().copied();
        if before != after {
            before.into_iter().for_each(|place| self.tree.set(place, None));
            after
                .into_iter()
                .for_each(|place| self.tree.set(place, Some(self.until(place))));
        }
    }
}

/// Places, each there or not, with a number each: a binary tree that holds how many are there below each node, and the
/// least of their numbers.
struct PresenceTree {
    nodes: Vec<(usize, usize)>,
    leaves: usize,
}

impl PresenceTree {
    fn new(places: usize) -> Self {
        let leaves = places.next_power_of_two();
        Self {
            nodes: vec![(0, usize::MAX); 2 * leaves],
            leaves,
        }
    }

    fn set(&mut self, place: usize, number: Option<usize>) {
        let mut node = self.leaves + place;
        self.nodes[node] = number.map_or((0, usize::MAX), |number| (1, number));
        while node > 1 {
            node /= 2;
            let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
            self.nodes[node] = (left.0 + right.0, left.1.min(right.1));
        }
    }

    fn all(&self) -> usize {
        self.nodes[1].0
    }

    /// The last of the first `count` places that are there, and the least number of these if it is one; `None` if there
    /// are not so many.
    fn first(&self, count: usize) -> Option<(Option<usize>, Option<usize>)> {
        if count == 0 {
            return Some((None, None));
        }
        if self.all() < count {
            return None;
        }
        let (mut node, mut left, mut least) = (1, count, usize::MAX);
        while node < self.leaves {
            let (before, number) = self.nodes[2 * node];
            node *= 2;
            if before < left {
                left -= before;
                least = least.min(number);
                node += 1;
            }
        }
        least = least.min(self.nodes[node].1);
        Some((
            Some(node - self.leaves),
            Some(least).filter(|&least| least != usize::MAX),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::RoundMember;
    use super::{MemberStay, Presence, PresentMembers, Question};

    /// The same result by a scan over all members.
    fn scan<'a>(presence: &Presence<'a>, question: Question<'a>) -> PresentMembers {
        let all = |beside| {
            presence
                .named(Question {
                    beside,
                    wanted: usize::MAX,
                    ..question
                })
                .0
        };
        let (named, _) = presence.named(question);
        PresentMembers {
            members: all(None).len(),
            full: (named.len() == question.wanted).then(|| {
                let since = named.iter().map(|stay| stay.since).max();
                (since.unwrap_or(0), named.iter().filter_map(|stay| stay.until).min())
            }),
        }
    }

    #[test]
    fn all_answers_together_are_those_of_a_scan() {
        let mut random = fastrand::Rng::with_seed(1);
        let nodes = ["c1", "c2", "c3", "c4"];
        let mut full = 0;
        for _ in 0..3000 {
            let stays = (0..random.usize(0..9)).map(|_| {
                let since = random.usize(0..12);
                let until = random.bool().then(|| since + random.usize(0..6));
                let alive = match until {
                    Some(_) => (0, usize::MAX),
                    None => (since + 1, random.usize(0..14)),
                };
                let node = nodes[random.usize(0..4)];
                let member = match random.u8(0..3) {
                    0 => RoundMember::Number(random.i64(0..3)),
                    _ => RoundMember::Client(node),
                };
                MemberStay {
                    node,
                    member,
                    named: None,
                    since,
                    alive,
                    until,
                }
            });
            let presence = Presence::new(stays.collect());
            let questions = (0..6).map(|_| Question {
                at: random.usize(1..14),
                beside: random.bool().then(|| RoundMember::Client(nodes[random.usize(0..4)])),
                wanted: random.usize(0..4),
            });
            let questions: Vec<Question<'_>> = questions.collect();
            let answers = presence.answers(&questions);
            for (&question, answer) in questions.iter().zip(answers) {
                assert_eq!(answer, scan(&presence, question), "{question:?} of {presence:?}");
                full += usize::from(answer.full.is_some_and(|(since, _)| since > 0));
            }
        }
        assert!(full > 1000, "only {full} moments at which all were there");
    }
}
