// `Dyn` stands for a type that is known at run time, and has no bytes: results of a dynamic plan fit in none of these.
use core::mem::MaybeUninit;

use gather_core::{Dyn, DynPlan, DynView, Tensor, ViewMut};

fn results(plan: &DynPlan, data: &DynView<'_>, indices: &DynView<'_>) {
    let _ = plan.run_into(data, indices, &mut Tensor::<Dyn>::default());
    let mut nothing = [MaybeUninit::<Dyn>::uninit(); 100];
    let _ = plan.run_into(data, indices, &mut ViewMut::new(&mut nothing, &[100]).unwrap());
}

fn main() {}
