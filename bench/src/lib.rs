//! Benchmarks of the checkers, in `benches`.
