// The parameter of the field's type is not an element, so neither is the wrapper.
#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
pub struct Wrap<T>(T);

fn needs_an_element<T: gather_core::Element>() {}

fn main() {
    needs_an_element::<Wrap<u8>>();
    needs_an_element::<Wrap<char>>();
}
