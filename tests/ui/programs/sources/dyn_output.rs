// Results of types known at run time go to a typed output.
use gather_core::{DynView, Error, Gather, Tensor, View};

fn main() -> Result<(), Error> {
    let table = View::new(&[1.0f32, 2.0], &[2])?;
    let mut out = Tensor::<f32>::default();
    Gather::new(0).run_into(&DynView::from(&table), &[1u32, 0], &mut out)?;
    Ok(())
}
