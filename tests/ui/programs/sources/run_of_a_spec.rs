// A call runs on a spec, which has no elements.
use gather_core::{Error, Gather, Spec};

fn main() -> Result<(), Error> {
    Gather::new(0).run(&Spec::<f32>::new(&[2])?, &[0u32])?;
    Ok(())
}
