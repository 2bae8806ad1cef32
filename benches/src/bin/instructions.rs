//! Counts the instructions of calls under valgrind and compares them with the committed baselines and with limits.
//! With `GATHER_BLESS=1` it writes the counts down as the new baselines. Ends with status 1 when a call takes more
//! than it may.

use std::process::ExitCode;

use gather_benches::instructions::{self, callgrind::CALLS, calls, kernels, scatters, short, specialized};

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(CALLS) {
        kernels::run();
        scatters::run();
        short::run();
        calls::run();
        specialized::run();
        return ExitCode::SUCCESS;
    }
    match instructions::gate(std::env::var_os("GATHER_BLESS").is_some_and(|value| value == "1")) {
        Ok((text, passes)) => {
            println!("{text}");
            ExitCode::from(u8::from(!passes))
        }
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::from(2)
        }
    }
}
