use super::*;

fn header(options: &str) -> MeasurementHeader {
    MeasurementHeader {
        measurement: "herd".into(),
        options: options.into(),
        words: "{} candidates".into(),
    }
}

#[test]
fn points_on_record_are_kept_for_the_same_options_only() {
    let folder = tempfile::tempdir().unwrap();
    let places = places(&["a", "b", "a"].map(String::from), &[20, 5, 5]);
    assert_eq!(
        places.iter().map(|place| place.size).collect::<Vec<_>>(),
        [5, 20, 5, 20]
    );
    let mut record = ChartRecord::open(folder.path(), header("3 servers")).unwrap();
    let measured = |place: &ChartPlace| MeasuredPoint {
        place: place.clone(),
        values: vec![1.5, 0.1],
        seconds: 2.0,
    };
    record.ledger.record(measured(&places[3])).unwrap();
    record.ledger.record(measured(&places[0])).unwrap();
    drop(record);
    let record = ChartRecord::open(folder.path(), header("3 servers")).unwrap();
    let left: Vec<bool> = places.iter().map(|place| lacks(&record.ledger, place)).collect();
    assert_eq!(left, [false, true, true, false]);
    assert!(record.lacks(&places) && !record.lacks(&[places[0].clone(), places[3].clone()]));
    let series = record.series(&places);
    let sizes = |number: usize| series[number].points.iter().map(|point| point.size).collect::<Vec<_>>();
    assert_eq!((sizes(0), sizes(1)), (vec![5], vec![20]));
    assert_eq!(series[1].points[0].values, [1.5, 0.1]);
    drop(record);
    let record = ChartRecord::open(folder.path(), header("5 servers")).unwrap();
    assert!(places.iter().all(|place| lacks(&record.ledger, place)));
    record.remove().unwrap();
    assert!(!folder.path().join("herd.jsonl").exists());
}
