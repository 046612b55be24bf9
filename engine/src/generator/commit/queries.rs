//! What a site is asked at the end: for each decision that it has not reported, until it reports it.

use std::time::Duration;

/// Of the transactions that a site has not reported it is asked about so many of the oldest, and about the newest.
const OLDEST: usize = 3;

/// What a site is still to be asked about.
#[derive(Debug, Default)]
pub struct DecisionQueries {
    /// The next one first.
    left: Vec<DecisionQuery>,
    /// The one that it is being asked.
    pub asking: Option<DecisionQuery>,
    /// How long the site has from now on.
    pub times: QueryTimes,
}

/// How long a site has to answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct QueryTimes {
    /// One question among others.
    pub one: Duration,
    /// The only one.
    pub alone: Duration,
    /// The bound of liveness, over which a question among others is asked again.
    pub bound: Duration,
}

/// A question for the decision about a transaction.
#[derive(Debug)]
pub struct DecisionQuery {
    /// The transaction.
    pub tx: String,
    /// Whether the transaction certainly began: only then it can be blocked.
    began: bool,
    /// Whether it was asked since recovery.
    asked: bool,
    /// From when on it was asked, and until when, since another client reported the decision. One that is asked for
    /// less than the bound has to be asked again to make that long enough.
    span: Option<(Duration, Duration)>,
    /// Whether it is being asked and nothing else is to be asked.
    alone: bool,
}

impl DecisionQuery {
    fn new(tx: &str, began: bool) -> Self {
        Self {
            tx: tx.to_string(),
            began,
            asked: false,
            span: None,
            alone: false,
        }
    }

    /// Whether it was asked for the bound.
    fn settled(&self, bound: Duration) -> bool {
        let lasted = self.span.map(|(first, last)| last.saturating_sub(first));
        lasted.is_some_and(|lasted| lasted >= bound)
    }
}

impl DecisionQueries {
    /// After recovery: about these transactions, each with whether it certainly began, oldest first, and what is being
    /// asked.
    pub fn about(&mut self, unreported: &[(&str, bool)]) {
        let newest = unreported.len().saturating_sub(1);
        let chosen = (0..unreported.len()).filter(|n| *n < OLDEST || *n == newest);
        let chosen = chosen.map(|n| unreported[n]).filter(|(tx, _)| !self.is_asking(tx));
        self.left = chosen.map(|(tx, began)| DecisionQuery::new(tx, began)).collect();
    }

    /// One more, before all others.
    pub fn first(&mut self, tx: &str, began: bool) {
        self.left.insert(0, DecisionQuery::new(tx, began));
    }

    /// Asks the next one at a moment: the transaction, and the time to answer. Each is asked once, so that the site can
    /// report every decision that it has. Then those that certainly began are asked about in turn, or all if none did,
    /// until each was asked over the bound; a single one is asked for longer than that.
    pub fn ask(&mut self, now: Duration) -> Option<(String, Duration)> {
        let mut next = self.left.remove(self.next()?);
        (next.asked, next.alone) = (true, self.left.is_empty());
        next.span = next.span.or(Some((now, now)));
        let time = if next.alone { self.times.alone } else { self.times.one };
        let tx = next.tx.clone();
        self.asking = Some(next);
        Some((tx, time))
    }

    /// The place of the next one.
    fn next(&self) -> Option<usize> {
        let unsettled = |began: bool| {
            let all = self.left.iter();
            all.clone()
                .position(|one| one.began >= began && !one.settled(self.times.bound))
        };
        let unasked = self.left.iter().position(|one| !one.asked);
        unasked.or_else(|| unsettled(self.left.iter().any(|one| one.began)))
    }

    /// Asks about it again, after all others. It was answered at a moment; `None` if the site's process died over it,
    /// and has to begin anew.
    pub fn again(&mut self, mut question: DecisionQuery, at: Option<Duration>) {
        question.alone = false;
        // It begins later if another client reported the decision meanwhile.
        question.span = question.span.and_then(|(first, _)| Some((first, at?)));
        self.left.push(question);
    }

    /// Nobody asks about it any more.
    pub fn forget(&mut self, tx: &str) {
        self.left.retain(|question| question.tx != tx);
    }

    /// Another client reported the decision: whether it reaches this one is another question than whether there is one.
    pub fn decided(&mut self, tx: &str) {
        let all = self.left.iter_mut().chain(&mut self.asking);
        for question in all.filter(|question| question.tx == tx) {
            question.span = None;
        }
    }

    /// Whether something is still to be asked, or is being asked that is.
    pub fn unasked(&self) -> bool {
        let open = |asking: &DecisionQuery| asking.alone || !asking.settled(self.times.bound);
        self.next().is_some() || self.asking.as_ref().is_some_and(open)
    }

    /// Whether nothing is left to ask.
    pub fn over(&self) -> bool {
        self.left.is_empty() && self.asking.is_none()
    }

    fn is_asking(&self, tx: &str) -> bool {
        self.asking.as_ref().is_some_and(|asking| asking.tx == tx)
    }
}
