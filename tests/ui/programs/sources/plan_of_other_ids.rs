// A plan runs on indices of another type.
use gather_core::{Error, Gather, Spec, View};

fn main() -> Result<(), Error> {
    let plan = Gather::new(0).plan(&Spec::<f32>::new(&[2])?, &Spec::<u32>::new(&[2])?)?;
    plan.run(&View::new(&[1.0f32, 2.0], &[2])?, &[1i64, 0])?;
    Ok(())
}
