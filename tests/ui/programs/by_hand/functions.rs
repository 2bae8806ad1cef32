// Functions that safe code makes by hand of its own traits: names for other parameters than there are, values that do
// not fit on the stack, and types that do not hold what they are said to.
#![forbid(unsafe_code)]

use gather_core::__private_0_1_0::{Combine, Convert, Rowwise};
use gather_core::{Map, Reducer, RowFunction};

type Big = [u8; 1 << 20];

pub struct Named;

impl Convert for Named {
    type In = u8;
    type Out = f32;
    type Params = (f32, f32);
    const NAME: &'static str = "named";
    const PARAMS: &'static [&'static str] = &["scale"];
    fn convert(value: u8, (scale, offset): (f32, f32)) -> f32 {
        f32::from(value) * scale + offset
    }
}

impl Rowwise for Named {
    type In = u8;
    type Out = f32;
    type Params = (f32,);
    const NAME: &'static str = "named";
    const PARAMS: &'static [&'static str] = &[];
    const ONE: bool = true;
}

pub struct Large;

impl Convert for Large {
    type In = u8;
    type Out = Big;
    type Params = ();
    const NAME: &'static str = "large";
    const PARAMS: &'static [&'static str] = &[];
    fn convert(value: u8, _: ()) -> Big {
        [value; 1 << 20]
    }
}

impl Rowwise for Large {
    type In = u8;
    type Out = Big;
    type Params = ();
    const NAME: &'static str = "large";
    const PARAMS: &'static [&'static str] = &[];
    const ONE: bool = true;
}

impl Combine for Large {
    type Item = Big;
    fn combine(kept: Big, _: Big) -> Big {
        kept
    }
}

pub static MAP_OF_OTHER_PARAMETERS: Map<u8, f32, (f32, f32)> = Map::new::<Named>();
pub static ROWS_OF_OTHER_PARAMETERS: RowFunction<u8, f32, (f32,)> = RowFunction::new::<Named>();
pub static LARGE_MAP: Map<u8, Big> = Map::new::<Large>();
pub static LARGE_ROWS: RowFunction<u8, Big> = RowFunction::new::<Large>();
pub static LARGE_REDUCER: Reducer<Big> = Reducer::new::<Large>();

fn main() {}
