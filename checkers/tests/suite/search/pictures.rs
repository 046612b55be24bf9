//! Pictures of histories: their orders are those of the model, and what is shown lies around what was found.

use super::{told, with_budget};
use zooquake_checkers::generate::{Options, Values, generate};
use zooquake_checkers::search::picture::{OrderEnd, PictureSubject, SHOWN, picture};
use zooquake_checkers::search::{ListedModel, ModelKind, Notation};

/// Models that are judged without one order of all.
const WITHOUT: [&str; 3] = ["total-queue", "barrier", "atomic-commit"];

fn tried(model: &ListedModel, violation: bool) {
    let kind: ModelKind = model.to_string().parse().expect("it is listed");
    let options = Options {
        object: model.to_string().parse().expect("it is generated"),
        ops: 300,
        clients: 6,
        unknown: 0.02,
        values: Values::Unique,
        seed: 7,
        violation,
    };
    let history = generate(&options).expect("the options make sense");
    let results = told(&history, kind);
    let subject = PictureSubject {
        kind,
        terms: Notation::Maps.into(),
        only: None,
        anomalies: &results.anomalies,
    };
    let found = with_budget(|budget| {
        budget.steps = 1_000_000;
        picture(&history, subject, budget)
    });
    let [object] = &found.objects[..] else {
        panic!("{model}: {found:?}");
    };
    assert_eq!(object.bars.len(), object.operations.min(SHOWN), "{model}");
    assert_eq!(object.bars.iter().any(|bar| bar.witness), violation, "{model}");
    let Ok(order) = &object.order else {
        assert!(WITHOUT.contains(&model.name), "{model}: {:?}", object.order);
        return;
    };
    if let Some(stuck) = object.stuck {
        assert!(violation && object.bars[stuck].witness, "{model}: {order:?}");
        let ends = match order.end {
            // Nothing is refused but what is stuck.
            OrderEnd::Whole => order.refused == [stuck],
            OrderEnd::Longest => order.reached < order.certain,
            OrderEnd::GaveUp(_) => order.reached > 0 && order.refused.is_empty(),
        };
        assert!(ends, "{model}: {order:?}");
        return;
    }
    let whole = order.end == OrderEnd::Whole;
    assert_eq!(whole, order.reached == order.certain, "{model}: {order:?}");
    if matches!(order.end, OrderEnd::GaveUp(_)) {
        assert!(order.reached > 0, "{model}: {order:?}");
        return;
    }
    assert_eq!(whole, !violation, "{model}: {order:?}");
    assert_eq!(order.refused.is_empty(), whole, "{model}: {order:?}");
}

#[test]
fn orders_of_generated_histories_reach_as_far_as_their_verdicts() {
    let generated: Vec<ListedModel> = ModelKind::listed().filter(|model| model.generated).collect();
    assert!(generated.len() > 10);
    for model in &generated {
        tried(model, false);
        tried(model, true);
    }
}
