//! The recipes against a small ZooKeeper in memory, in virtual time: what is dropped, lost or delayed is chosen by the
//! test.

mod barriers;
mod bed;
mod client;
mod commit;
mod counter;
mod counts;
mod driven;
mod election;
mod membership;
mod outages;
mod protected;
mod queues;
mod register;
mod rwlock;
mod semaphore;
mod tutorials;
mod world;
