// Transparent structs may be generic: over types, over constants, with bounds and defaults.
use gather_core::{Element, Gather, View};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(transparent)]
struct Metres(f64);

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(transparent)]
struct Wrap<T>(T);

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(transparent)]
struct Bytes<const N: usize>([u8; N]);

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(transparent)]
struct Matrix<T: Default = f32, const ROWS: usize = 2, const COLUMNS: usize = 2>
where
    T: PartialOrd,
{
    rows: [[T; COLUMNS]; ROWS],
}

#[test]
fn builds_and_runs() {
    assert_eq!(Metres::ZERO, Metres(0.0));
    assert_eq!(Wrap::<Wrap<u16>>::ZERO, Wrap(Wrap(0)));
    assert_eq!(Bytes::<5>::DTYPE.size(), 5);
    assert_eq!(<Matrix>::ZERO, Matrix { rows: [[0.0; 2]; 2] });
    assert_ne!(Wrap::<u16>::DTYPE, Wrap::<i16>::DTYPE);

    let data = [1, 2, 3].map(|n| Bytes([n; 3]));
    let found = Gather::new(0).run(&View::new(&data, &[3]).unwrap(), &View::new(&[2i64], &[1]).unwrap()).unwrap();
    assert_eq!(found.as_slice(), [Bytes([3; 3])]);
}
