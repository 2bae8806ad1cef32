// Enums with a zero: a variant, a path, a constant; of every fixed representation.
use gather_core::{Element, Gather, OutOfBounds, View};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(u8)]
#[element(zero = Unknown)]
enum Base {
    Adenine = b'A',
    Cytosine = b'C',
    Unknown = b'N',
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(i16)]
#[element(zero = Sign::None)]
enum Sign {
    Minus = -1,
    None = 0,
    Plus = 1,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(i64)]
#[element(zero = DEFAULT)]
enum Wide {
    Only = i64::MIN,
}

const DEFAULT: Wide = Wide::Only;

macro_rules! of_every_representation {
    ($($name:ident: $repr:ident, $size:expr;)*) => {$(
        #[derive(Clone, Copy, Element)]
        #[repr($repr)]
        #[element(zero = Off)]
        enum $name {
            Off,
            On,
        }
        assert_eq!($name::DTYPE.size(), $size);
        let _ = ($name::Off, $name::On);
    )*};
}

#[test]
fn builds_and_runs() {
    of_every_representation! {
        A: u8, 1; B: u16, 2; C: u32, 4; D: u64, 8; E: i8, 1; F: i16, 2; G: i32, 4; H: i64, 8;
    }
    assert_eq!((Base::ZERO, Sign::ZERO, Wide::ZERO), (Base::Unknown, Sign::None, Wide::Only));
    let signs = [Sign::Minus, Sign::Plus];
    let _ = (Base::Adenine, Base::Cytosine);
    let found = Gather::new(0)
        .out_of_bounds(OutOfBounds::Zero)
        .run(&View::new(&signs, &[2]).unwrap(), &View::new(&[1i8, -1, 5], &[3]).unwrap())
        .unwrap();
    assert_eq!(found.as_slice(), [Sign::Plus, Sign::Plus, Sign::None]);
}
