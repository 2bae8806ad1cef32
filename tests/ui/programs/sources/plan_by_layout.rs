// A plan is made of a layout, which has no type.
use gather_core::{Error, Gather, Layout, Spec};

fn main() -> Result<(), Error> {
    let layout = Layout::contiguous(&[2])?;
    Gather::new(0).plan(&layout, &Spec::<u32>::new(&[2])?)?;
    Ok(())
}
