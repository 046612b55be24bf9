//! Time that the checkers take for generated histories in memory: `cargo bench` in this folder.

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use std::time::{Duration, Instant};
use zooquake_checkers::generate::{GeneratedLoad, Object, generate};
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

/// Measures each model under its loads, each history valid and with a planted violation.
///
/// # Panics
/// If a verdict is not the expected one.
fn checks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("check");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (object, load) in Object::all().flat_map(|object| object.loads().iter().map(move |load| (object, load))) {
        let GeneratedLoad {
            ops,
            clients,
            unknown,
            values,
        } = *load;
        for violation in [false, true] {
            let options = load.options(object, 1, violation);
            let history = generate(&options).expect("a history");
            let kind: ModelKind = object.to_string().parse().expect("a model");
            let wanted = if violation { Verdict::Invalid } else { Verdict::Valid };
            assert_eq!(judged(&history, kind), wanted, "{options:?}");
            let name = format!(
                "{object}, {ops} ops, c {clients}, {:.0} % unknown, {values} values",
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
