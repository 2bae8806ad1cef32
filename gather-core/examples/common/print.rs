//! Lines on standard output, for examples whose reader may leave early, as `head` does.

/// Prints a line. Where nobody reads any more, the line is dropped and the example goes on: it may still write a file,
/// and its exit status still says whether its checks hold.
macro_rules! say {
    ($($line:tt)*) => {
        $crate::print::line(format_args!($($line)*))
    };
}

/// Writes a line.
///
/// # Panics
/// When standard output fails otherwise than by a closed pipe.
pub(crate) fn line(line: std::fmt::Arguments<'_>) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{line}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => panic!("standard output: {error}"),
        _ => {}
    }
}
