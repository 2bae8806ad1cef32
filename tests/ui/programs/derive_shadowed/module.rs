// A module has the name that emitted code once had for gather-core's, and other types than that.
mod __g {
    #[derive(Clone, Copy)]
    pub struct Element(pub char);
    #[allow(non_camel_case_types)]
    pub type u32 = Element;
}

#[derive(Clone, Copy, gather_core::Element)]
#[repr(transparent)]
#[element(zero = Letter(__g::Element('a')))]
pub struct Letter(__g::u32);

fn main() {}
