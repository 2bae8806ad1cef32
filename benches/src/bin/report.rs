//! Measures gather-core and its peers on the workloads, and writes a page, a markdown file and charts.

use std::process::ExitCode;

use gather_benches::report;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    match report::run(&arguments) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("report: {}", failure.text);
            ExitCode::from(if failure.usage { 2 } else { 1 })
        }
    }
}
