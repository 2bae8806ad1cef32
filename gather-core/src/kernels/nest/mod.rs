//! Kernel arguments and views of them: planes, strips, indices, rows. Each carries the contract of the memory it
//! reaches, so that bodies and moves are safe functions around loads and stores.
//!
//! | module | contents |
//! |---|---|
//! | `args` | the arguments of a plan, and of a call |
//! | `plane` | a plane of a loop nest, strips of it, their indices and rows of the output |
//! | `positions` | the buffer of resolved indices |
//! | `rows` | rows of a strip by their positions |

pub(crate) mod args;
pub(crate) mod plane;
pub(crate) mod positions;
pub(crate) mod rows;
