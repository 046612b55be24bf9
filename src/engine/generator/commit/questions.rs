//! What a site is asked at the end: for each decision that it has not reported, until it knows it.

use super::DECIDE_MS;

/// Of the transactions that a site has not reported it is asked about so many of the oldest, and about the newest.
const OLDEST: usize = 3;

/// What a site is still to be asked about.
#[derive(Debug, Default)]
pub struct Questions {
    /// The next one first.
    left: Vec<Question>,
    /// The one that it is being asked.
    asking: Option<Question>,
}

#[derive(Debug)]
struct Question {
    tx: String,
    /// Whether it was asked since recovery.
    asked: bool,
}

impl Questions {
    /// After recovery: about these transactions, oldest first, and what is being asked.
    pub fn about(&mut self, unreported: &[String]) {
        let newest = unreported.len().saturating_sub(1);
        let chosen = (0..unreported.len()).filter(|n| *n < OLDEST || *n == newest);
        let chosen = chosen.map(|n| &unreported[n]).filter(|tx| !self.is_asking(tx));
        let question = |tx: &String| Question {
            tx: tx.clone(),
            asked: false,
        };
        self.left = chosen.map(question).collect();
    }

    /// One more, before all others.
    pub fn first(&mut self, tx: String) {
        self.left.insert(0, Question { tx, asked: false });
    }

    /// Asks the next one: the transaction, and the time to answer in milliseconds. Each is asked once as in the operations,
    /// so that the site tells all that it knows, and then for `last_ms`.
    pub fn ask(&mut self, last_ms: u64) -> Option<(String, u64)> {
        if self.left.is_empty() {
            return None;
        }
        let Question { tx, asked } = self.left.remove(0);
        let timeout_ms = if asked || self.left.is_empty() {
            last_ms
        } else {
            DECIDE_MS
        };
        self.asking = Some(Question {
            tx: tx.clone(),
            asked: true,
        });
        Some((tx, timeout_ms))
    }

    /// What was being asked, which has ended; `None` if nothing was.
    pub fn ended(&mut self) -> Option<String> {
        Some(self.asking.take()?.tx)
    }

    /// Asks about it again, after all others.
    pub fn again(&mut self, tx: String) {
        self.left.push(Question { tx, asked: true });
    }

    /// Nobody asks about it any more.
    pub fn forget(&mut self, tx: &str) {
        self.left.retain(|question| question.tx != tx);
    }

    /// Whether one was not asked since recovery.
    pub fn unasked(&self) -> bool {
        self.left.iter().any(|question| !question.asked)
    }

    /// Whether something is being asked.
    pub fn asking(&self) -> bool {
        self.asking.is_some()
    }

    /// Whether nothing is left to ask.
    pub fn over(&self) -> bool {
        self.left.is_empty() && self.asking.is_none()
    }

    fn is_asking(&self, tx: &str) -> bool {
        self.asking.as_ref().is_some_and(|asking| asking.tx == tx)
    }
}
