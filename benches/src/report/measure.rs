//! Runs the workloads: every peer in its process, in turn, round by round.
//!
//! ```text
//! for each workload, for each number of threads:
//!     until the time that the workload is due is over, but at least LEAST_ROUNDS times unless that takes far longer:
//!         for each peer:   prepare and check it (the first time), then time it for a short while
//! ```
//!
//! A busy moment of the machine so hits the peers alike, and not the one that was measured then. Peers whose tensors do not
//! fit beside the others' let go of them after every turn and make them again for the next.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::engine::{Engine, Lost};
use super::model::{COPY, LOOP, Measured, OURS, Outcome, PeerInfo, Section, UNPLANNED, WorkloadInfo, is_limit};
use super::options::Effort;
use super::protocol::{Answer, Request};
use super::workloads::{self, info};
use crate::peers::{self, Peer};
use crate::workloads::Workload;

/// Rounds that there should be at least: in fewer nothing is interleaved.
const LEAST_ROUNDS: usize = 2;
/// Bytes that all processes may hold together.
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
}

/// Measures the workloads whose names contain `filter`.
#[must_use]
pub fn measure(filter: &str, threads: &[usize], effort: Effort) -> Measurements {
    let chosen: Vec<_> = workloads::all().into_iter().filter(|(_, workload)| workload.name.contains(filter)).collect();
    let mut session = Session::new(threads, effort, &chosen);
    for (section, workload) in &chosen {
        session.run(*section, workload);
    }
    session.progress.finish_and_clear();
    let workloads = chosen.iter().map(|(section, workload)| info(*section, workload)).collect();
    Measurements { peers: session.infos(), workloads, results: session.results }
}

/// Whether a peer takes part in a section.
fn takes_part(peer: &str, section: Section, threads: usize) -> bool {
    match section {
        Section::Workloads => peer != UNPLANNED && (threads == 1 || !(is_limit(peer) || peer == LOOP)),
        Section::RowBytes => threads == 1 && (SWEPT.contains(&peer) || peer == COPY),
        Section::TableBytes => threads == 1 && SWEPT.contains(&peer),
        Section::Latency => threads == 1 && !is_limit(peer),
    }
}

struct Session<'a> {
    threads: &'a [usize],
    effort: Effort,
    peers: Vec<Box<dyn Peer>>,
    engines: Vec<Engine>,
    pace: Pace,
    progress: ProgressBar,
    results: Vec<Measured>,
}

impl<'a> Session<'a> {
    fn new(threads: &'a [usize], effort: Effort, chosen: &[(Section, Workload)]) -> Self {
        let peers = peers::peers();
        let engines: Vec<_> = peers.iter().map(|peer| Engine::new(peer.name())).collect();
        let groups = chosen.iter().flat_map(|&(section, _)| threads.iter().map(move |&threads| (section, threads)));
        let takes_part = |section, threads| engines.iter().any(|engine| takes_part(engine.peer, section, threads));
        let groups = groups.filter(|&(section, threads)| takes_part(section, threads)).count();
        let pace = Pace { deadline: Instant::now() + effort.total, left: groups };
        Session { threads, effort, peers, engines, pace, progress: bar(groups), results: Vec::new() }
    }

    /// One workload, one number of threads after the other.
    fn run(&mut self, section: Section, workload: &Workload) {
        for &threads in self.threads {
            let mut room = MEMORY;
            let mut turns = Vec::new();
            for (at, engine) in self.engines.iter().enumerate() {
                if takes_part(engine.peer, section, threads) {
                    let needs = workloads::memory(workload);
                    turns.push(Turn::new(at, threads, room >= needs));
                    room = room.saturating_sub(needs);
                }
            }
            if !turns.is_empty() {
                self.rounds(workload, turns);
            }
        }
        for engine in &mut self.engines {
            engine.rest();
        }
    }

    fn rounds(&mut self, workload: &Workload, mut turns: Vec<Turn>) {
        let (begin, share) = (Instant::now(), self.pace.share());
        for round in 0..self.effort.rounds {
            for turn in &mut turns {
                let engine = &mut self.engines[turn.engine];
                let threads = if turn.threads == 1 { "1 thread".into() } else { format!("{} threads", turn.threads) };
                self.progress.set_message(format!("{}, {}, {threads}", workload.name, engine.peer));
                turn.take(engine, workload, self.effort);
            }
            // Far behind, one round has to do: the number of samples shows it.
            let due = if round + 1 < LEAST_ROUNDS { 3 * share } else { share };
            if begin.elapsed() >= due {
                break;
            }
        }
        let results = turns.into_iter().map(|turn| Measured {
            workload: workload.name.into(),
            peer: self.engines[turn.engine].peer.into(),
            threads: turn.threads,
            outcome: turn.outcome(),
        });
        self.results.extend(results);
        self.progress.inc(1);
    }

    fn infos(&self) -> Vec<PeerInfo> {
        let both = self.peers.iter().zip(&self.engines);
        let info = both.map(|(peer, engine)| PeerInfo {
            name: peer.name().into(),
            version: engine.version.clone().unwrap_or_else(|| "unknown".into()),
            unequal: peer.unequal().into(),
        });
        info.collect()
    }
}

/// One peer's part in the rounds of a workload.
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

    fn take(&mut self, engine: &mut Engine, workload: &Workload, effort: Effort) {
        if !self.prepared {
            let (workload, threads) = (workload.name.into(), self.threads);
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

    /// Whether it was answered as hoped; after the first time that it was not, it is never asked again.
    fn ask(&mut self, engine: &mut Engine, request: &Request) -> bool {
        if self.lost.is_some() {
            return false;
        }
        match engine.ask(request) {
            Ok(Answer::Times(mut nanos)) => self.nanos.append(&mut nanos),
            Ok(Answer::Not { status, detail }) => self.lost = Some(Lost { status, detail }),
            Ok(Answer::Ready | Answer::Dropped | Answer::Hello { .. }) => {}
            Err(lost) => self.lost = Some(lost),
        }
        self.lost.is_none()
    }

    fn outcome(self) -> Outcome {
        match self.lost {
            Some(Lost { status, detail }) => Outcome::Not { status, detail },
            None => Outcome::Timed(self.nanos),
        }
    }
}

/// Shares the time that is left among the groups that are left.
struct Pace {
    deadline: Instant,
    left: usize,
}

impl Pace {
    /// The share of the next group.
    fn share(&mut self) -> Duration {
        let share = self.deadline.saturating_duration_since(Instant::now()) / self.left.max(1) as u32;
        self.left = self.left.saturating_sub(1);
        share
    }
}

/// Drawn on a terminal only.
fn bar(groups: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(groups as u64), ProgressDrawTarget::stderr());
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
    fn the_time_left_is_shared_among_the_groups_left() {
        let mut pace = Pace { deadline: Instant::now() + Duration::from_secs(100), left: 4 };
        let near = |share: Duration, seconds: f64| (share.as_secs_f64() - seconds).abs() < 1.0;
        assert!(near(pace.share(), 25.0));
        assert!(near(pace.share(), 100.0 / 3.0), "time that was not used is there for the others");
        pace.deadline = Instant::now();
        assert_eq!(pace.share(), Duration::ZERO);
    }

    #[test]
    fn every_workload_is_run_by_every_peer() {
        for peer in peers::peers() {
            let part = |section, threads| takes_part(peer.name(), section, threads);
            assert_eq!(part(Section::Workloads, 1), peer.name() != UNPLANNED, "{}", peer.name());
            assert_eq!(part(Section::Latency, 1), !is_limit(peer.name()), "{}", peer.name());
            assert!(!part(Section::RowBytes, 2));
        }
        assert!(SWEPT.iter().all(|name| peers::peer(name).is_some()), "a swept peer has another name");
    }
}
