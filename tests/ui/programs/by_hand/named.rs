// What calls and kernels are given, and the traits that their types have: no path leads there.
#![forbid(unsafe_code)]

use gather_core::call::bag::erased::BagTensors;
use gather_core::exec::index::Operands;
use gather_core::kernels::bodies::IndexWidth;
use gather_core::kernels::levels::Isa;
use gather_core::kernels::nest::args::IndexArgs;
use gather_core::kernels::nest::plane::Planes;
use gather_core::tensor::output::Target;
use gather_core::__private_0_1_0::{IndexArgs as Args, Isa as Level, Planes as All};

fn main() {}
