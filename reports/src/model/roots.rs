//! Anomalies by what they follow from: roots, each with its followers.

use zooquake_checkers::{Anomaly, Results};

/// The most anomalies that a page lists.
const LISTED: usize = 100;
/// The most followers that it lists of one root.
const FOLLOWERS: usize = 20;

/// An anomaly that follows from no other, with those that follow from it.
#[derive(Debug)]
pub struct Root<'a> {
    /// Its number on the page, from 1; its followers have the next ones.
    pub number: usize,
    pub anomaly: &'a Anomaly,
    /// Those that the page lists, in the order of the results.
    pub followers: Vec<&'a Anomaly>,
    /// How many more there are.
    pub more: usize,
}

impl<'a> Root<'a> {
    /// The roots that a page lists, with their followers. The one that it opens with is the first: not advisory rather
    /// than advisory, not accepted rather than accepted, then the one with the shortest witness. The others keep the
    /// order of the results.
    pub fn all(results: &'a Results) -> Vec<Self> {
        let all = &results.anomalies;
        let mut followers: Vec<Vec<&Anomaly>> = vec![Vec::new(); all.len()];
        let mut roots: Vec<usize> = Vec::new();
        for (at, anomaly) in all.iter().enumerate() {
            match root(all, at) {
                root if root == at => roots.push(at),
                root => followers[root].push(anomaly),
            }
        }
        let new = |&at: &usize| !all[at].accepted || followers[at].iter().any(|follower| is_new(follower));
        let rank = |at: &usize| (all[*at].advisory, !new(at), all[*at].accepted, all[*at].witness.len());
        let leader = roots.iter().copied().min_by_key(rank);
        roots.sort_by_key(|at| Some(*at) != leader);
        let mut listed = Vec::new();
        let mut number = 1;
        for at in roots {
            if number > LISTED {
                break;
            }
            let mut followers = std::mem::take(&mut followers[at]);
            let count = followers.len();
            followers.truncate(FOLLOWERS.min(LISTED - number));
            let shown = followers.len();
            listed.push(Self {
                number,
                anomaly: &all[at],
                followers,
                more: count - shown,
            });
            number += 1 + shown;
        }
        listed
    }

    /// It and its followers, each with its number on the page.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &'a Anomaly)> {
        (self.number..).zip(std::iter::once(self.anomaly).chain(self.followers.iter().copied()))
    }
}

/// Whether it makes a run invalid, and is not accepted.
fn is_new(anomaly: &Anomaly) -> bool {
    !anomaly.advisory && !anomaly.accepted
}

/// The place of the anomaly's root: its own if it is one, if its cause names none that exists, or if it is a violation
/// and the other only an observation.
fn root(all: &[Anomaly], at: usize) -> usize {
    let above = |at: usize| {
        let above = all[at].cause.as_ref()?.root?;
        let known = all.get(above)?;
        (above != at && (all[at].advisory || !known.advisory)).then_some(above)
    };
    let mut root = at;
    // One step for each anomaly is as many as there can be without a circle.
    for _ in 0..all.len() {
        match above(root) {
            Some(above) => root = above,
            None => return root,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::Root;
    use zooquake_checkers::{Anomaly, Cause, Results};

    fn anomaly(kind: &str, steps: usize, root: Option<usize>) -> Anomaly {
        Anomaly {
            kind: kind.to_owned(),
            property: String::new(),
            advisory: kind.starts_with("advisory"),
            accepted: kind.starts_with("accepted"),
            witness: vec![0; steps],
            span: None,
            stuck: None,
            cause: root.map(|root| Cause {
                root: Some(root),
                ..Cause::default()
            }),
            why: String::new(),
        }
    }

    /// The kinds of the roots, each with its number and with those of its followers.
    fn listed(anomalies: Vec<Anomaly>) -> Vec<(usize, String, Vec<String>)> {
        let results = Results {
            anomalies,
            ..Results::default()
        };
        let kinds = |root: Root<'_>| {
            let followers = root.followers.iter().map(|follower| follower.kind.clone());
            (root.number, root.anomaly.kind.clone(), followers.collect())
        };
        Root::all(&results).into_iter().map(kinds).collect()
    }

    fn entry(number: usize, kind: &str, followers: &[&str]) -> (usize, String, Vec<String>) {
        let followers = followers.iter().map(|kind| (*kind).to_owned()).collect();
        (number, kind.to_owned(), followers)
    }

    #[test]
    fn the_shortest_root_that_is_not_accepted_leads() {
        let all = vec![
            anomaly("accepted", 2, None),
            anomaly("long", 9, None),
            anomaly("short", 3, None),
            anomaly("shorter", 1, Some(1)),
            anomaly("advisory", 1, None),
        ];
        let expected = [
            entry(1, "short", &[]),
            entry(2, "accepted", &[]),
            entry(3, "long", &["shorter"]),
            entry(5, "advisory", &[]),
        ];
        assert_eq!(listed(all), expected);
    }

    #[test]
    fn what_follows_is_below_the_last_root_of_a_chain() {
        let all = vec![
            anomaly("root", 1, None),
            anomaly("second", 1, Some(0)),
            anomaly("third", 1, Some(1)),
        ];
        assert_eq!(listed(all), [entry(1, "root", &["second", "third"])]);
    }

    #[test]
    fn no_root_is_made_up_or_hidden() {
        // One that does not exist, a circle, and an observation above a violation.
        let all = vec![
            anomaly("lost", 1, Some(77)),
            anomaly("round", 2, Some(2)),
            anomaly("about", 2, Some(1)),
            anomaly("advisory", 1, None),
            anomaly("violation", 3, Some(3)),
        ];
        let kinds: Vec<String> = listed(all).into_iter().map(|(_, kind, _)| kind).collect();
        assert_eq!(kinds, ["lost", "round", "about", "advisory", "violation"]);
    }

    #[test]
    fn many_followers_leave_room_for_other_roots() {
        let mut all = vec![anomaly("root", 1, None)];
        all.extend((0..500).map(|_| anomaly("follower", 1, Some(0))));
        all.push(anomaly("other", 2, None));
        let results = Results {
            anomalies: all,
            ..Results::default()
        };
        let roots = Root::all(&results);
        assert_eq!((roots[0].followers.len(), roots[0].more), (20, 480));
        assert_eq!((roots[1].number, roots[1].anomaly.kind.as_str()), (22, "other"));
    }
}
