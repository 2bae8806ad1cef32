//! Writes a page, a markdown file and charts of what was measured of gather-core and its peers.

use gather_benches::report;

fn main() {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    match report::run(&arguments) {
        Ok(text) => println!("{text}"),
        Err(why) => {
            eprintln!("report: {why}");
            std::process::exit(1);
        }
    }
}
