//! A crate that has gather-core under another name: there is no `gather_core` here. That it builds is what it shows.
#![forbid(unsafe_code)]

/// A cell of 3 bytes.
#[derive(Clone, Copy, Debug, PartialEq, tensors::Element)]
#[repr(C)]
#[element(crate = tensors)]
pub struct Cell(pub u8, pub u8, pub u8);

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq, tensors::Element)]
#[repr(u8)]
#[element(crate = ::tensors, zero = Empty)]
pub enum State {
    /// Nothing.
    Empty,
    /// Something.
    Full,
}

tensors::kernels! {
    /// Kernels for cells and what they are.
    pub static CELLS;
    elements: [Cell, State as x8];
    indices: [usize, i32];
    ranks: 1..=2, any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
}

#[cfg(test)]
mod tests {
    use tensors::{DynView, Error, Gather, OutOfBounds, Registry, View};

    use super::{CELLS, Cell, State};

    #[test]
    fn both_macros_work_under_another_name() -> Result<(), Error> {
        let registry = const { &Registry::builtin().with(&CELLS) };
        let gather = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
        let indices = View::new(&[1usize, 2], &[2])?;

        let cells = [Cell(1, 2, 3), Cell(4, 5, 6)];
        let cells = gather.registry(registry).run(&DynView::from(&View::new(&cells, &[2])?), &indices)?;
        assert_eq!(cells.downcast::<Cell>()?.as_slice(), [Cell(4, 5, 6), Cell(0, 0, 0)]);

        let states = [State::Empty, State::Full];
        let states = gather.registry(registry).run(&DynView::from(&View::new(&states, &[2])?), &indices)?;
        assert_eq!(states.downcast::<State>()?.as_slice(), [State::Full, State::Empty]);
        Ok(())
    }
}
