// A plan of types that the compiler knows runs on types known at run time.
use gather_core::{DynView, Error, Gather, View};

fn main() -> Result<(), Error> {
    let table = View::new(&[1.0f32, 2.0], &[2])?;
    let plan = Gather::new(0).plan(&table, &[1u32, 0])?;
    plan.run(&DynView::from(&table), &[1u32, 0])?;
    Ok(())
}
