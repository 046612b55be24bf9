//! How long the checkers take for generated histories, without reading them: `cargo bench` in this folder.

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use std::time::{Duration, Instant};
use zooquake_checkers::generate::{Object, Options, Values, generate};
use zooquake_checkers::search::{self, Budget, Kind, Notation};
use zooquake_checkers::{History, Verdict};

/// The budgets of `zooquake check`.
const TIME: Duration = Duration::from_secs(60);
const BYTES: usize = 2 << 30;

fn judged(history: &History, kind: Kind) -> Verdict {
    let begun = Instant::now();
    let mut budget = Budget {
        steps: u64::MAX,
        bytes: BYTES,
        expired: &mut || begun.elapsed() > TIME,
    };
    search::judge(history, Vec::new(), kind, Notation::Maps, &mut budget).verdict
}

/// A history of each model, valid and with a violation, is judged, and rightly.
fn checks(criterion: &mut Criterion) {
    let row = |object, model, ops, clients, unknown, values| (object, model, ops, clients, unknown, values);
    let (unique, five) = (Values::Unique, Values::Of(5));
    let rows = [
        row(Object::Mutex, "mutex", 100_000, 10, 0.01, unique),
        row(Object::CasRegister, "register", 100_000, 10, 0.0, unique),
        row(Object::CasRegister, "register", 100_000, 10, 0.01, unique),
        row(Object::CasRegister, "register", 100_000, 10, 0.05, unique),
        row(Object::CasRegister, "register", 100_000, 30, 0.0, unique),
        row(Object::CasRegister, "register", 100_000, 30, 0.01, unique),
        row(Object::CasRegister, "register", 100_000, 30, 0.05, unique),
        row(Object::CasRegister, "register", 10_000, 20, 0.0, five),
        row(Object::CasRegister, "register", 10_000, 20, 0.01, five),
        row(Object::CasRegister, "register", 10_000, 30, 0.0, five),
        row(Object::CasRegister, "register", 10_000, 30, 0.01, five),
        row(Object::FencedMutex, "fenced-mutex", 100_000, 10, 0.01, unique),
        row(Object::ReentrantMutex, "reentrant-mutex", 100_000, 10, 0.01, unique),
        row(Object::Semaphore(3), "semaphore:3", 100_000, 10, 0.01, unique),
        row(Object::RwLock, "rwlock", 100_000, 10, 0.01, unique),
        row(Object::FifoQueue, "fifo-queue", 100_000, 10, 0.01, unique),
        row(Object::UnorderedQueue, "unordered-queue", 100_000, 10, 0.01, unique),
        row(Object::TotalQueue, "total-queue", 100_000, 10, 0.01, unique),
        row(Object::Set, "set", 10_000, 10, 0.01, unique),
        row(Object::Counter, "counter", 100_000, 10, 0.01, unique),
        row(Object::IdGenerator, "id-generator", 100_000, 10, 0.01, unique),
    ];
    let mut group = criterion.benchmark_group("check");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (object, model, ops, clients, unknown, values) in rows {
        for violation in [false, true] {
            let options = Options {
                object,
                ops,
                clients,
                unknown,
                values,
                seed: 1,
                violation,
            };
            let history = generate(&options).expect("a history");
            let kind: Kind = model.parse().expect("a model");
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
