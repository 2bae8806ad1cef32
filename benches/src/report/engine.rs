//! A peer in a process of its own, seen from the side that asks. The process is started when it is needed, and again
//! when it has died.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::model::{Lost, Status};
use super::protocol::{Answer, Request};

/// The argument that makes the program a worker; the peer's name follows.
pub const WORKER: &str = "--worker";

/// How long an answer may take. The longest request is to make the inputs and to run the plain loop and the peer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A peer.
pub struct Engine {
    /// Its name.
    pub peer: &'static str,
    process: Option<Process>,
    /// The version, once it has started.
    pub version: Option<String>,
    /// What must be set before the peer runs anything, once it has said so.
    absent: Option<String>,
}

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<Answer>,
    /// Gives the last line of standard error.
    complaints: JoinHandle<String>,
}

impl Engine {
    /// A peer that has not started yet.
    #[must_use]
    pub fn new(peer: &'static str) -> Self {
        Engine { peer, process: None, version: None, absent: None }
    }

    /// Asks the process, which is started first where there is none.
    ///
    /// # Errors
    /// The process died, or gave no answer in time. The next request starts another.
    pub fn ask(&mut self, request: &Request) -> Result<Answer, Lost> {
        if let Some(detail) = &self.absent {
            return Ok(Answer::Not(Lost { status: Status::NotSet, detail: detail.clone() }));
        }
        if self.process.is_none() {
            self.process = Some(self.start()?);
            if let Answer::Hello { version } = self.answer()? {
                self.version = Some(version);
            }
        }
        if let Some(process) = &mut self.process {
            // Whether the process has died shows when its answer is waited for.
            let _ = writeln!(process.requests, "{}", request.line());
        }
        let answer = self.answer()?;
        if let Answer::Not(Lost { status: Status::NotSet, detail }) = &answer {
            self.absent = Some(detail.clone());
            self.end();
        }
        Ok(answer)
    }

    /// Makes the process let go of its tensors, where there is one.
    pub fn rest(&mut self) {
        if self.process.is_some() {
            // Where it dies of that, the next request starts another.
            let _ = self.ask(&Request::Drop);
        }
    }

    fn start(&self) -> Result<Process, Lost> {
        let failed = |error: std::io::Error| Lost { status: Status::Failed, detail: format!("not started: {error}") };
        let mut child = Command::new(std::env::current_exe().map_err(failed)?)
            .args([WORKER, self.peer])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (requests, out, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(requests), Some(out), Some(errors)) = (requests, out, errors) else {
            unreachable!("all three are piped");
        };
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            // The receiver is gone once nobody waits for answers any more.
            lines.filter_map(|line| Answer::parse(&line)).try_for_each(|answer| sender.send(answer))
        });
        Ok(Process { child, requests, answers, complaints: std::thread::spawn(|| last_line(errors)) })
    }

    fn answer(&mut self) -> Result<Answer, Lost> {
        let Some(process) = &mut self.process else { unreachable!("a process was started") };
        let lost = match process.answers.recv_timeout(PATIENCE) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Status::Crashed),
        };
        let ended = self.end();
        Err(match lost {
            Some(status) => Lost { status, detail: ended },
            None => Lost { status: Status::Hung, detail: format!("no answer for {} s", PATIENCE.as_secs()) },
        })
    }

    /// Ends the process, whatever it is doing. Returns how it ended and its last words.
    fn end(&mut self) -> String {
        let Some(Process { mut child, requests, complaints, .. }) = self.process.take() else { return String::new() };
        drop(requests);
        // Fails where the process has ended, which is as well.
        let _ = child.kill();
        let how = child.wait().map_or_else(|error| error.to_string(), how_it_ended);
        let words = complaints.join().unwrap_or_default();
        if words.is_empty() { how } else { format!("{how}: {words}") }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.end();
    }
}

/// How a process ended.
fn how_it_ended(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    status.code().map_or("ended".to_owned(), |code| format!("exit status {code}"))
}

/// The last line that is not empty.
fn last_line(from: impl Read) -> String {
    let lines = BufReader::new(from).split(b'\n').map_while(Result::ok);
    let last = lines.filter(|line| !line.trim_ascii().is_empty()).last();
    last.map(|line| String::from_utf8_lossy(line.trim_ascii()).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_the_last_line_with_text() {
        assert_eq!(last_line("warning: x\n  terminate called \n\n".as_bytes()), "terminate called");
        assert_eq!(last_line(&b"\xff\n"[..]), "\u{fffd}");
        assert_eq!(last_line("".as_bytes()), "");
    }
}
