//! How it was measured, in words: the same on the page and in the markdown.

/// The paragraphs, each with what it is about.
pub const METHOD: [(&str, &str); 9] = [
    (
        "What is compared.",
        "A workload is one call of one operator on fixed shapes, with the same random inputs for every engine. \
         gather-core runs a plan that was made ahead, into memory that has been written before. gather-core-fresh \
         makes everything anew, output included. The peers run as their users would call them, and do ahead whatever \
         they can do ahead. The table of engines says for each of them what is not equal.",
    ),
    (
        "Right first.",
        "Before an engine is timed, its output is compared bit by bit with that of the plain loop. An engine whose \
         output differs is shown as `wrong` and is not timed.",
    ),
    (
        "One process for each engine.",
        "Each engine has a process of its own for each number of threads. A crash or a hang ends that process only, \
         and is shown. Allocators, thread pools and page tables are not shared.",
    ),
    (
        "In turn.",
        "The engines take turns on a workload, round by round, for a fraction of a second each, with one thread and \
         with more. So a busy moment of the machine hits all of them. Only one process works at a time.",
    ),
    (
        "Medians, and all samples.",
        "A sample is the mean of calls in a row that take a millisecond or more together, or one call if that is \
         longer. Each turn begins with calls that do not count, since other processes have had the caches. No sample \
         is thrown away: the tables have the quartiles, and measurements.json has every sample.",
    ),
    (
        "Why ratios.",
        "A time holds for one machine in one state. The ratio of two engines that took turns changes less from day to \
         day and from machine to machine. The best peer is chosen for each workload anew, so gather-core is compared \
         with more than any single engine can do. Means of ratios are geometric.",
    ),
    (
        "Huge pages and first touch.",
        "The inputs and gather-core's warm outputs begin at a cache line. The system was asked to put them on huge \
         pages, where it has those on request. An engine that allocates its output pays for the first touch of each \
         page whenever its allocator has given the memory back between calls. For megabytes that can take longer than \
         the gather itself. It is part of how such an engine is called, and the reason why gather-core-fresh stands \
         beside gather-core.",
    ),
    (
        "Threads.",
        "Every engine is told the number of threads. A peer that runs on one thread only competes with its time of \
         one thread. Calls are made from inside a thread pool of that size, so that none waits for a pool to start.",
    ),
    (
        "The reference.",
        "`copy` is a plain copy of the output's bytes between warm buffers. It shows what the machine does with as \
         many bytes. It is no limit: a kernel that keeps its table in registers reads fewer. What limits a workload \
         is measured by `record`.",
    ),
];
