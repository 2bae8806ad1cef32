// A field that is a `PhantomData` has no bytes: ids that name what they are ids of.

use std::marker::PhantomData;

use gather_core::{Element, Gather, View};

/// Not an element.
#[derive(Clone, Copy, Debug, PartialEq)]
struct User(char);

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(transparent)]
struct Id<T>(u32, PhantomData<T>);

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Tagged {
    marker: std::marker::PhantomData<fn() -> User>,
    value: u64,
}

mod hidden {
    // Named alike: it has bytes, and is an element.
    #[derive(Clone, Copy, Debug, PartialEq, gather_core::Element)]
    #[repr(transparent)]
    pub struct Marker(pub u8);
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(transparent)]
struct Both<T> {
    phantom: PhantomData<T>,
    marker: hidden::Marker,
}

#[test]
fn builds_and_runs() -> Result<(), gather_core::Error> {
    let id = |id| Id::<User>(id, PhantomData);
    let ids = [1, 2, 3].map(id);
    let found = Gather::new(0).run(&View::new(&ids, &[3])?, &View::new(&[2u8, 0], &[2])?)?;
    assert_eq!(found.as_slice(), [id(3), id(1)]);
    assert_eq!((Id::<User>::DTYPE.size(), Tagged::DTYPE.size(), Both::<User>::DTYPE.size()), (4, 8, 1));
    assert_eq!((Id::<User>::ZERO, Tagged::ZERO.value), (id(0), 0));
    Ok(())
}
