//! Time that the checkers take for generated histories in memory: `cargo bench` in this folder.

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use std::time::{Duration, Instant};
use zooquake_checkers::generate::{Options, Values, generate};
use zooquake_checkers::search::{self, Budget, ModelKind, Notation};
use zooquake_checkers::Verdict;
use zooquake_history::History;

/// Wall-clock budget of a check, the default of `zooquake check`.
const TIME: Duration = Duration::from_secs(60);

/// Memory budget of a search in bytes, the default of `zooquake check`.
const BYTES: usize = 1 << 30;

fn judged(history: &History, kind: ModelKind) -> Verdict {
    let begun = Instant::now();
    let mut budget = Budget {
        steps: u64::MAX,
        bytes: BYTES,
        expired: &mut || begun.elapsed() > TIME,
    };
    search::judge(history, Vec::new(), kind, Notation::Maps, &mut budget).verdict
}

/// Measures each history valid and with a planted violation.
///
/// # Panics
/// If a verdict is not the expected one.
fn checks(criterion: &mut Criterion) {
    let (unique, five) = (Values::Unique, Values::Of(5));
    let rows = [
        ("mutex", 100_000, 10, 0.01, unique),
        ("cas-register", 100_000, 10, 0.0, unique),
        ("cas-register", 100_000, 10, 0.01, unique),
        ("cas-register", 100_000, 10, 0.05, unique),
        ("cas-register", 100_000, 30, 0.0, unique),
        ("cas-register", 100_000, 30, 0.01, unique),
        ("cas-register", 100_000, 30, 0.05, unique),
        ("cas-register", 10_000, 20, 0.0, five),
        ("cas-register", 10_000, 20, 0.01, five),
        ("cas-register", 10_000, 30, 0.0, five),
        ("cas-register", 10_000, 30, 0.01, five),
        ("fenced-mutex", 100_000, 10, 0.01, unique),
        ("reentrant-mutex", 100_000, 10, 0.01, unique),
        ("semaphore:3", 100_000, 10, 0.01, unique),
        ("rwlock", 100_000, 10, 0.01, unique),
        ("fifo-queue", 100_000, 10, 0.01, unique),
        ("fifo-queue", 10_000, 10, 0.0, five),
        ("fifo-queue", 10_000, 10, 0.01, five),
        ("fifo-queue", 10_000, 30, 0.0, five),
        ("unordered-queue", 100_000, 10, 0.01, unique),
        ("total-queue", 100_000, 10, 0.01, unique),
        ("set", 10_000, 10, 0.01, unique),
        ("counter", 100_000, 10, 0.01, unique),
        ("id-generator", 100_000, 10, 0.01, unique),
        ("barrier:5", 100_000, 10, 0.01, unique),
        ("atomic-commit", 100_000, 10, 0.01, unique),
    ];
    let mut group = criterion.benchmark_group("check");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (model, ops, clients, unknown, values) in rows {
        for violation in [false, true] {
            let options = Options {
                object: model.parse().expect("an object"),
                ops,
                clients,
                unknown,
                values,
                seed: 1,
                violation,
            };
            let history = generate(&options).expect("a history");
            let kind: ModelKind = model.parse().expect("a model");
            let wanted = if violation { Verdict::Invalid } else { Verdict::Valid };
            assert_eq!(judged(&history, kind), wanted, "{options:?}");
            let name = format!(
                "{model}, {ops} ops, c {clients}, {:.0} % unknown, {values} values",
                unknown * 100.0
            );
            let id = BenchmarkId::new(name, if violation { "invalid" } else { "valid" });
            group.bench_function(id, |bencher| bencher.iter(|| judged(&history, kind)));
        }
    }
    group.finish();
}

criterion_group!(benches, checks);
criterion_main!(benches);
