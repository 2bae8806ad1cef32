//! How it was measured, in words: the same on the page and in the markdown.

/// The paragraphs, each with what it is about.
pub const METHOD: [(&str, &str); 9] = [
    (
        "What is compared.",
        "Each workload is one call of one operator on fixed shapes with seeded inputs. gather-core runs a plan made ahead, into \
         memory that has been written before; gather-core-fresh makes everything anew, output included. The peers run as \
         their users would call them, with whatever they can do ahead done ahead. The table of engines says for each what is \
         not equal.",
    ),
    (
        "Right first.",
        "Before it is timed, every engine's output is compared bit by bit with that of the plain loop. One that differs is \
         shown as `wrong` and is not timed.",
    ),
    (
        "One process for each engine.",
        "A crash or a hang ends that engine only, and is shown. Allocators, thread pools and page tables are not shared.",
    ),
    (
        "Interleaved.",
        "The engines take turns on a workload, round by round, a fraction of a second each: a busy moment of the machine hits \
         all of them. Only one process works at a time. Numbers of threads are measured one after the other.",
    ),
    (
        "Medians, and all samples.",
        "A sample is the mean of calls in a row that take a millisecond or more together, or one call if it is longer. Each turn \
         begins with calls that are not counted, since other processes have had the caches. Nothing is thrown away: the tables \
         have the quartiles and the number of outliers, and measurements.json every sample.",
    ),
    (
        "Why ratios.",
        "Milliseconds hold for one machine in one state. The ratio of two engines that took turns on it changes less from day \
         to day and from machine to machine. The best peer is chosen for each workload anew, which no single engine could be; \
         means of ratios are geometric.",
    ),
    (
        "Huge pages and first touch.",
        "The inputs and gather-core's warm outputs lie in memory that begins with a cache line, and for which the system was \
         asked for huge pages where it has them on request. Engines that allocate their output pay for the first touch of its \
         pages whenever their allocator gives memory back between calls: for megabytes that can be more than the gather itself. \
         That is part of how they are called, and why gather-core-fresh stands beside gather-core.",
    ),
    (
        "Threads.",
        "Every engine is told the number of threads. A peer that takes one only competes with its time of one thread. Calls are \
         made from inside a thread pool of that size, so that none waits for a pool to start.",
    ),
    (
        "The limits.",
        "`copy` is a plain copy of the output's bytes between warm buffers: a limit for calls that stream. `moves` moves the rows \
         of the gather, known beforehand and unchecked, in the fastest of a few plain ways: a limit for kernels that read each \
         row from where it lies. Kernels that do not (tables in registers, packed panels) can pass it.",
    ),
];
