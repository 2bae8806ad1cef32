// Elements of elements: derived structs and enums in structs and arrays, types of other crates, types by path.
use gather_core::Element;

mod colours {
    #[derive(Clone, Copy, Debug, PartialEq, gather_core::Element)]
    #[repr(C)]
    pub struct Rgba(pub [u8; 4]);
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(u32)]
#[element(zero = Hidden)]
enum State {
    Hidden,
    Shown = 7,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Pixel {
    colour: self::colours::Rgba,
    half: [half::f16; 2],
    wave: num_complex::Complex<f32>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Tile {
    pixels: [[Pixel; 2]; 3],
    states: [State; 5],
}

#[test]
fn builds_and_runs() {
    assert_eq!(Pixel::DTYPE.size(), 20);
    assert_eq!(Tile::DTYPE.size(), 6 * 20 + 5 * 4);
    assert_eq!(Tile::ZERO.pixels[2][1].colour, colours::Rgba([0; 4]));
    assert_eq!(Tile::ZERO.states, [State::Hidden; 5]);
    assert_ne!(Tile::ZERO.states[0], State::Shown);
}
