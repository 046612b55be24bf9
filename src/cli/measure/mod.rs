//! `zooquake measure`

pub mod args;

use super::exit::{Code, Usage};
use super::{interrupt, paths};
use crate::measure::channel::{self, ChannelCost};
use crate::measure::chart::Chart;
use crate::measure::clients::ClientsOrder;
use crate::measure::commit::CommitOrder;
use crate::measure::herd::HerdOrder;
use crate::planning::{names, recipe};
use anyhow::Result;
use args::{ChannelOptions, ChartOptions, ClientsOptions, CommitOptions, HerdOptions, MeasureOptions, Measurement};
use serde_json::json;
use std::time::Duration;
use zooquake_reports::measurement::{self, written};

/// The variant whose clients are started, if a measurement does not name one. Any will do where each process is passed
/// a variant of its own.
pub const ANY: &str = "lock/protected";

/// Measures what was asked for.
///
/// # Errors
/// [`Usage`] for a variant that does not exist; otherwise the harness failed.
pub async fn measure(options: MeasureOptions) -> Result<Code> {
    if let Measurement::Herd(HerdOptions { common, .. })
    | Measurement::Commit(CommitOptions { common, .. })
    | Measurement::Clients(ClientsOptions { common, .. }) = &options.what
    {
        paths::output_folder(&common.out, "--out")?;
    }
    match options.what {
        Measurement::Herd(options) => herd(options).await,
        Measurement::Commit(options) => commit(options).await,
        Measurement::Channel(options) => channel(&options).await,
        Measurement::Clients(options) => clients(options).await,
    }
}

async fn herd(options: HerdOptions) -> Result<Code> {
    let order = HerdOrder {
        variants: options.variants,
        candidates: options.candidates,
        changes: options.changes,
        servers: options.common.servers,
    };
    order.check().map_err(Usage)?;
    let workload = names::workload(ANY).map_err(Usage)?;
    let chart = order
        .measure(workload, &options.common.out, interrupt::listen()?)
        .await?;
    print(chart, &options.common)
}

async fn commit(options: CommitOptions) -> Result<Code> {
    let order = CommitOrder {
        variants: options.variants,
        sites: options.sites,
        transactions: options.transactions,
        stagger_ms: options.stagger,
        servers: options.common.servers,
    };
    order.check().map_err(Usage)?;
    let workload = names::workload(ANY).map_err(Usage)?;
    let chart = order
        .measure(workload, &options.common.out, interrupt::listen()?)
        .await?;
    print(chart, &options.common)
}

async fn clients(options: ClientsOptions) -> Result<Code> {
    let order = ClientsOrder {
        clients: options.clients,
        lasts: Duration::from_secs(options.seconds),
        servers: options.common.servers,
        hosts: options.hosts,
    };
    let workload = names::workload(ANY).map_err(Usage)?;
    let chart = order
        .measure(workload, &options.common.out, interrupt::listen()?)
        .await?;
    print(chart, &options.common)
}

async fn channel(options: &ChannelOptions) -> Result<Code> {
    recipe::prepare(&options.variant).await?;
    let interrupt = interrupt::listen()?;
    let workload = names::workload(&options.variant).map_err(Usage)?;
    let ChannelCost {
        rate,
        worst_ms,
        start_ms,
    } = channel::measure(workload, options.requests, interrupt).await?;
    if options.json {
        let all = json!({ "round_trips_per_second": rate, "worst_ms": worst_ms, "start_ms": start_ms });
        println!("{all}");
    } else {
        println!(
            "{} round trips: {rate:.0} a second, the longest took {worst_ms:.1} ms; the client answered {start_ms:.0} ms \
             after its process was asked for",
            options.requests
        );
    }
    Ok(Code::Valid)
}

/// Prints the numbers and the files of a chart.
fn print(chart: Chart, options: &ChartOptions) -> Result<Code> {
    if options.json {
        let mut value = chart.numbers;
        value["files"] = json!(chart.files);
        crate::output::json(&value)?;
        return Ok(Code::Valid);
    }
    println!("{}", chart.measurement.title);
    println!("{}", chart.measurement.subtitle);
    print!("{}", table(&chart.measurement));
    chart.files.iter().for_each(|file| println!("{}", file.display()));
    Ok(Code::Valid)
}

fn table(measurement: &measurement::Measurement) -> String {
    let wide = measurement
        .series
        .iter()
        .map(|series| series.name.len())
        .max()
        .unwrap_or(0);
    let mut out = format!("{:wide$}  {:>10}", "", measurement.axis);
    for quantity in &measurement.quantities {
        out += &format!("  {quantity:>12}");
    }
    out.push('\n');
    for series in &measurement.series {
        for point in &series.points {
            out += &format!("{:wide$}  {:>10}", series.name, point.size);
            for value in &point.values {
                out += &format!("  {:>12}", written(*value));
            }
            out.push('\n');
        }
    }
    out
}
