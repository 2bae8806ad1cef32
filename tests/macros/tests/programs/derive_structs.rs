// Structs of elements: named and unnamed fields, one and many, aligned, in a function, with a name that is a keyword.
use gather_core::{Element, Gather, View};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Particle {
    position: [f32; 3],
    id: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Pair(i16, u16);

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, align(8))]
struct Aligned {
    low: u32,
    high: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct r#struct {
    r#type: u8,
}

fn gathered<T: Element>(values: &[T], chosen: &[u8]) -> Vec<T> {
    let data = View::new(values, &[values.len()]).unwrap();
    let indices = View::new(chosen, &[chosen.len()]).unwrap();
    Gather::new(0).run(&data, &indices).unwrap().as_slice().to_vec()
}

#[test]
fn builds_and_runs() {
    #[derive(Clone, Copy, Debug, PartialEq, Element)]
    #[repr(C)]
    struct Local {
        values: [u64; 2],
    }

    let [first, second] = [1, 2].map(|id| Particle { position: [0.5; 3], id });
    assert_eq!(gathered(&[first, second], &[1, 1, 0]), [second, second, first]);
    assert_eq!(gathered(&[Pair(-1, 2), Pair(3, 4)], &[1]), [Pair(3, 4)]);
    assert_eq!(gathered(&[Aligned { low: 1, high: 2 }], &[0]), [Aligned { low: 1, high: 2 }]);
    assert_eq!(gathered(&[r#struct { r#type: 7 }], &[0]), [r#struct { r#type: 7 }]);
    assert_eq!(gathered(&[Local { values: [1, 2] }], &[0]), [Local { values: [1, 2] }]);
    assert_eq!((Particle::DTYPE.name(), Particle::DTYPE.size(), Particle::DTYPE.align()), ("Particle", 16, 4));
    assert_eq!((r#struct::DTYPE.name(), Aligned::DTYPE.align()), ("struct", 8));
    assert_eq!((Particle::ZERO, Pair::ZERO), (Particle { position: [0.0; 3], id: 0 }, Pair(0, 0)));
}
