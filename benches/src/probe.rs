//! Foreign code may end the process that runs it. It is tried in a process of its own first.

use std::env;
use std::process::{Command, exit};

use crate::peers::{NotRun, Peer, peer, with_threads};
use crate::sections;

/// The variable that says what a probing process is to run.
const QUESTION: &str = "GATHER_BENCH_PROBE";
/// Calls after the one whose output is checked.
const CALLS: usize = 3;

/// Runs a workload in a new process of this program, whose `main` must begin with [`answer`].
///
/// # Errors
/// How that process ended, unless it ended well. Where it did, the peer can be run in this process.
pub fn probe(peer: &dyn Peer, workload: &str, threads: usize) -> Result<(), NotRun> {
    let program = env::current_exe().map_err(NotRun::failed)?;
    let question = format!("{}\n{workload}\n{threads}", peer.name());
    let output = Command::new(program).env(QUESTION, question).output().map_err(NotRun::failed)?;
    match output.status.success() {
        true => Ok(()),
        false => Err(NotRun::Failed(format!("its process died: {}", output.status))),
    }
}

/// In a process that [`probe`] has started, runs the peer and ends the process. In others it does nothing.
pub fn answer() {
    let Ok(question) = env::var(QUESTION) else { return };
    let mut words = question.lines();
    let peer = words.next().and_then(peer);
    let workload = words.next().and_then(sections::find);
    let threads = words.next().and_then(|threads| threads.parse().ok());
    let (Some(peer), Some(workload), Some(threads)) = (peer, workload, threads) else { exit(2) };
    with_threads(threads, || {
        // Errors are left to the process that asks: it runs the same call again and gets them.
        if let Ok(mut call) = workload.hold().prepare(&*peer, threads) {
            (0..CALLS).for_each(|_| call.run());
        }
    });
    exit(0);
}
