//! The checkers against histories written by hand, against a brute force, and against damage.

/// A hundred thousand histories are four tests, which run beside each other: each is a call of `share` with its number.
macro_rules! quarters {
    () => {
        #[test]
        fn first_quarter() {
            share(0);
        }

        #[test]
        fn second_quarter() {
            share(1);
        }

        #[test]
        fn third_quarter() {
            share(2);
        }

        #[test]
        fn fourth_quarter() {
            share(3);
        }
    };
}

mod agree;
mod brute;
mod commit;
mod damage;
mod election;
mod ensemble;
mod growth;
mod leaderless;
mod naive;
mod notation;
mod queue;
mod register;
mod safety;
mod scale;
mod script;
mod search;
mod shutdown;
mod teller;
mod terms;
mod verdicts;
mod witness;
mod world;
