// No layout, a parameter, a borrow, pointers and a bad attribute: all are reported at once, and nothing else is.
#[derive(Clone, Copy, gather_core::Element)]
#[element(zeros = 0, size = 8)]
pub struct Everything<'a, T> {
    name: &'a str,
    next: *const T,
}

#[derive(Clone, Copy, gather_core::Element)]
pub enum Shape {
    Circle(f32),
    Square { side: f32 },
}

fn needs_an_element<T: gather_core::Element>() {}

fn main() {
    needs_an_element::<Shape>();
}
