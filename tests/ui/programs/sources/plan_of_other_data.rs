// A plan runs on data of another type.
use gather_core::{Error, Gather, Spec, View};

fn main() -> Result<(), Error> {
    let plan = Gather::new(0).plan(&Spec::<f32>::new(&[2])?, &Spec::<u32>::new(&[2])?)?;
    plan.run(&View::new(&[1.0f64, 2.0], &[2])?, &[1u32, 0])?;
    Ok(())
}
