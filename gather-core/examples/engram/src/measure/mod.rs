//! Times and memory of reads, with pages of the files dropped before.

mod budget;
mod compare;
mod pages;
mod ring;
mod ways;

pub(crate) use compare::run as compare;
