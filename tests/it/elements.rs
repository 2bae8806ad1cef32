//! Every data type that the library has by every operator, with types known at run time: each is moved, and a reduction
//! either runs or is refused.

use gather_core::{
    Bags, DepthMode, DepthToSpace, DynTensor, EmbeddingBag, Error, Gather, GatherElements, Reduction, ScatterElements,
    ScatterNd, View,
};
use gather_tests::values::Values;

/// A result has this shape, or the reduction is one that the type lacks.
fn reduced(got: Result<DynTensor, Error>, shape: &[usize], reduction: Reduction, may_be_refused: bool) {
    match got {
        Ok(out) => assert_eq!(out.shape(), shape, "{reduction} of {}", out.dtype()),
        Err(Error::ReductionUnavailable { reduction: refused, .. }) => {
            assert!(refused == reduction && may_be_refused, "{reduction} is refused");
        }
        Err(error) => panic!("{reduction}: {error}"),
    }
}

#[test]
fn every_data_type_takes_every_operator() {
    let (two, six) = ([1i64, 0], [0i64, 1, 1, 0, 0, 1]);
    let (rows, tuples) = (View::new(&two, &[2]).unwrap(), View::new(&two, &[2, 1]).unwrap());
    let same = View::new(&six, &[2, 3]).unwrap();
    for values in Values::zeros(6) {
        let Some(data) = values.dyn_view(&[2, 3]) else { continue };
        let data = data.unwrap();
        assert_eq!(Gather::new(0).run(&data, &rows).unwrap().dtype(), data.dtype());
        assert_eq!(GatherElements::new(0).run(&data, &same).unwrap().dtype(), data.dtype());
        let deep = values.dyn_view(&[1, 6, 1]).expect("a plain data type").unwrap();
        assert_eq!(DepthToSpace::new(2, DepthMode::Dcr).run(&deep).unwrap().shape(), [1, 3, 2]);
        for &reduction in Reduction::ALL {
            let refused = reduction != Reduction::None;
            let elements = ScatterElements::new(0).reduction(reduction).run(&data, &same, &data);
            reduced(elements, &[2, 3], reduction, refused);
            reduced(ScatterNd::new().reduction(reduction).run(&data, &tuples, &data), &[2, 3], reduction, refused);
            let bags = Bags::packed(&tuples);
            reduced(EmbeddingBag::new(reduction).run(&data, &bags), &[2, 3], reduction, true);
        }
    }
}
