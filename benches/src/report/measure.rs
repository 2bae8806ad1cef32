//! Runs the workloads: every peer takes its turns, in a process of its own for each number of threads.
//!
//! ```text
//! for each workload:
//!     until the workload's share of the time is over, but at least LEAST_ROUNDS times unless that takes far longer:
//!         for each peer, for each number of threads:
//!             prepare and check it (the first time), then time it for a short while
//! ```
//!
//! So a busy moment of the machine hits all peers and all numbers of threads alike. Where the tensors of all processes
//! do not fit in memory together, some processes let go of theirs after every turn and make them again for the next.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::engine::Engine;
use super::format;
use super::machine::load;
use super::model::{COPY, LOOP, Lost, Measured, OURS, Outcome, PeerInfo, Section, WorkloadInfo, is_reference};
use super::options::Effort;
use super::protocol::{Answer, Request};
use super::workloads::{self, Work};
use crate::peers::{self, NotRun, Peer};

/// Fewest rounds: in one alone nothing takes turns.
const LEAST_ROUNDS: usize = 2;
/// Bytes that all processes may hold at the same time.
const MEMORY: usize = 4 << 30;
/// Peers whose lines are drawn over the size of rows and tables.
const SWEPT: [&str; 4] = [OURS, LOOP, "ndarray", "arrow"];

/// What was measured.
pub struct Measurements {
    /// The peers.
    pub peers: Vec<PeerInfo>,
    /// The workloads.
    pub workloads: Vec<WorkloadInfo>,
    /// What came out.
    pub results: Vec<Measured>,
    /// The load average after each workload, where the system tells it.
    pub loads: Vec<f64>,
}

/// Measures the workloads whose names contain `filter`.
#[must_use]
pub fn measure(filter: &str, threads: &[usize], effort: Effort) -> Measurements {
    let chosen: Vec<_> =
        workloads::all().into_iter().filter(|(_, workload)| workload.name().contains(filter)).collect();
    let mut session = Session::new(threads, effort, &chosen);
    for (section, workload) in &chosen {
        session.run(*section, workload);
    }
    session.progress.finish_and_clear();
    let workloads = chosen.iter().map(|(section, workload)| workload.info(*section)).collect();
    Measurements { peers: session.infos(), workloads, results: session.results, loads: session.loads }
}

/// Whether a peer takes part in a section.
fn takes_part(peer: &str, section: Section, threads: usize) -> bool {
    match section {
        Section::Workloads => threads == 1 || !(is_reference(peer) || peer == LOOP),
        Section::Inverses => peer.starts_with(OURS) || threads == 1 && [COPY, LOOP].contains(&peer),
        Section::RowBytes => threads == 1 && (SWEPT.contains(&peer) || peer == COPY),
        Section::TableBytes => threads == 1 && SWEPT.contains(&peer),
        Section::Latency => threads == 1 && !is_reference(peer),
    }
}

struct Session<'a> {
    threads: &'a [usize],
    effort: Effort,
    peers: Vec<Box<dyn Peer>>,
    /// One for each number of threads of each peer, peer by peer.
    engines: Vec<Engine>,
    begin: Instant,
    pace: Pace,
    progress: ProgressBar,
    results: Vec<Measured>,
    loads: Vec<f64>,
}

impl<'a> Session<'a> {
    fn new(threads: &'a [usize], effort: Effort, chosen: &[(Section, Work)]) -> Self {
        let peers = peers::peers();
        let engines = peers.iter().flat_map(|peer| threads.iter().map(|_| Engine::new(peer.name()))).collect();
        let pace = Pace { deadline: Instant::now() + effort.total, left: chosen.len() };
        let progress = bar(chosen.len());
        Session {
            threads,
            effort,
            peers,
            engines,
            begin: Instant::now(),
            pace,
            progress,
            results: Vec::new(),
            loads: Vec::new(),
        }
    }

    /// Measures a workload: all peers and all numbers of threads in turn.
    fn run(&mut self, section: Section, workload: &Work) {
        let needs = workload.memory();
        let (mut room, mut turns) = (MEMORY, Vec::new());
        for (at, peer) in self.peers.iter().enumerate() {
            for (which, &threads) in self.threads.iter().enumerate() {
                if !takes_part(peer.name(), section, threads) {
                    continue;
                }
                if threads > 1 && workload.one_thread(&**peer) {
                    let outcome = Outcome::Not(NotRun::one_thread().into());
                    self.results.push(measured(workload, peer.name(), threads, outcome));
                    continue;
                }
                turns.push(Turn::new(at * self.threads.len() + which, threads, room >= needs));
                room = room.saturating_sub(needs);
            }
        }
        self.rounds(workload, turns);
        for engine in &mut self.engines {
            engine.rest();
        }
        self.loads.extend(load());
    }

    fn rounds(&mut self, workload: &Work, mut turns: Vec<Turn>) {
        let (begin, share) = (Instant::now(), self.pace.share());
        for round in 0..self.effort.rounds {
            for turn in &mut turns {
                let engine = &mut self.engines[turn.engine];
                let threads = format::threads(turn.threads);
                self.progress.set_message(format!("{}, {}, {threads}", workload.name(), engine.peer));
                turn.take(engine, workload, self.effort);
            }
            // A workload that takes far longer gets one round: the number of samples shows it.
            let due = if round + 1 < LEAST_ROUNDS { 3 * share } else { share };
            if begin.elapsed() >= due {
                break;
            }
        }
        for turn in turns {
            let (peer, threads) = (self.engines[turn.engine].peer, turn.threads);
            self.results.push(measured(workload, peer, threads, turn.outcome()));
        }
        self.progress.inc(1);
        if self.progress.is_hidden() {
            let [done, all] = [self.progress.position(), self.progress.length().unwrap_or(0)];
            eprintln!("[{done}/{all}] {}: {} left", workload.name(), left(self.begin.elapsed(), done, all));
        }
    }

    fn infos(&self) -> Vec<PeerInfo> {
        let engines = self.engines.chunks(self.threads.len());
        let info = self.peers.iter().zip(engines).map(|(peer, engines)| PeerInfo {
            name: peer.name().into(),
            version: engines.iter().find_map(|engine| engine.version.clone()).unwrap_or_else(|| "unknown".into()),
            unequal: peer.unequal().into(),
            fresh: peer.fresh(),
            python: false,
        });
        info.collect()
    }
}

fn measured(workload: &Work, peer: &str, threads: usize, outcome: Outcome) -> Measured {
    Measured { workload: workload.name().into(), peer: peer.into(), threads, outcome }
}

/// The part of one process in the rounds of a workload.
struct Turn {
    engine: usize,
    threads: usize,
    /// Whether it keeps the workload between rounds.
    stays: bool,
    prepared: bool,
    nanos: Vec<f64>,
    lost: Option<Lost>,
}

impl Turn {
    fn new(engine: usize, threads: usize, stays: bool) -> Self {
        Turn { engine, threads, stays, prepared: false, nanos: Vec::new(), lost: None }
    }

    fn take(&mut self, engine: &mut Engine, workload: &Work, effort: Effort) {
        if !self.prepared {
            let (workload, threads) = (workload.name().into(), self.threads);
            self.prepared = self.ask(engine, &Request::Prepare { workload, threads });
        }
        if self.prepared {
            self.ask(engine, &Request::Time { millis: effort.slice, least: effort.least });
        }
        if !self.stays {
            self.prepared = false;
            engine.rest();
        }
    }

    /// Asks, and says whether the answer was what was hoped for. After the first other answer it asks nothing more.
    fn ask(&mut self, engine: &mut Engine, request: &Request) -> bool {
        if self.lost.is_some() {
            return false;
        }
        match engine.ask(request) {
            Ok(Answer::Times(mut nanos)) => self.nanos.append(&mut nanos),
            Ok(Answer::Ready | Answer::Dropped | Answer::Hello { .. }) => {}
            Ok(Answer::Not(lost)) | Err(lost) => self.lost = Some(lost),
        }
        self.lost.is_none()
    }

    fn outcome(self) -> Outcome {
        match self.lost {
            Some(lost) => Outcome::Not(lost),
            None => Outcome::Timed(self.nanos),
        }
    }
}

/// Shares the time that is left among the workloads that are left.
struct Pace {
    deadline: Instant,
    left: usize,
}

impl Pace {
    /// The share of the next workload.
    fn share(&mut self) -> Duration {
        let share = self.deadline.saturating_duration_since(Instant::now()) / self.left.max(1) as u32;
        self.left = self.left.saturating_sub(1);
        share
    }
}

/// The time that is left, if the workloads that are left take as long as those before.
fn left(elapsed: Duration, done: u64, all: u64) -> String {
    let seconds = elapsed.as_secs_f64() / done.max(1) as f64 * all.saturating_sub(done) as f64;
    humantime::format_duration(Duration::from_secs(seconds.round() as u64)).to_string()
}

/// Drawn on a terminal; elsewhere every workload gets a line when it is done.
fn bar(workloads: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(workloads as u64), ProgressDrawTarget::stderr());
    let style =
        ProgressStyle::with_template("{bar:24} {pos}/{len}, {eta} left · {msg}").expect("a template that is right");
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_shared_among_the_workloads_left() {
        let mut pace = Pace { deadline: Instant::now() + Duration::from_secs(100), left: 4 };
        let near = |share: Duration, seconds: f64| (share.as_secs_f64() - seconds).abs() < 1.0;
        assert!(near(pace.share(), 25.0));
        assert!(near(pace.share(), 100.0 / 3.0), "time that was not used is there for the others");
        pace.deadline = Instant::now();
        assert_eq!(pace.share(), Duration::ZERO);
    }

    #[test]
    fn the_time_left_is_told_by_the_workloads_before() {
        assert_eq!(left(Duration::from_secs(30), 10, 40), "1m 30s");
        assert_eq!([left(Duration::from_secs(5), 4, 4), left(Duration::ZERO, 0, 9)], ["0s", "0s"]);
    }

    #[test]
    fn every_workload_is_run_by_every_peer() {
        for peer in peers::peers() {
            let part = |section, threads| takes_part(peer.name(), section, threads);
            assert!(part(Section::Workloads, 1), "{}", peer.name());
            assert_eq!(part(Section::Latency, 1), !is_reference(peer.name()), "{}", peer.name());
            assert!(!part(Section::RowBytes, 2));
        }
        assert!(SWEPT.iter().all(|name| peers::peer(name).is_some()), "a swept peer has another name");
    }
}
