// A set plugs into a registry: its rows are listed and selected, and its kernels run on types known at run time.
use gather_core::{
    BatchToSpace, DynView, Element, Error, Gather, GatherElements, GatherNd, IndexType, KernelKey, Level, Op, Registry,
    View,
};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Particle {
    position: [f32; 3],
    id: u16,
    kind: [u8; 6],
}

gather_core::kernels! {
    static PARTICLES;
    elements: [Particle];
    indices: [u32, i64];
    ranks: 1..=3, any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
}

#[test]
fn builds_and_runs() -> Result<(), Error> {
    let registry = const { &Registry::builtin().with(&PARTICLES) };
    let rows: Vec<_> = registry.kernels().filter(|row| row.dtype == Particle::DTYPE).collect();
    // The listed index types, and the pointer-sized one that has the kernels of one of them.
    let pointer = if cfg!(target_pointer_width = "64") { IndexType::Isize } else { IndexType::Usize };
    let taken = [IndexType::U32, IndexType::I64, pointer];
    assert!(rows.iter().all(|row| row.index.is_none_or(|index| taken.contains(&index))));
    // 3 operators x 3 index types x 4 ranks and 4 of BatchToSpace, at each level.
    let scalar = rows.iter().filter(|row| row.level == Level::Scalar);
    assert_eq!(scalar.count(), 3 * 3 * 4 + 4);

    let key = |rank| KernelKey {
        op: Op::GatherNd,
        dtype: Particle::DTYPE,
        index: Some(IndexType::I64),
        rank,
        level: Level::Scalar,
    };
    let select = |rank| registry.select(&key(rank)).map(|row| (row.name, row.rank));
    assert_eq!(select(2), Some(("gather_particle_i64_r2__scalar", Some(2))));
    assert_eq!(select(7), Some(("gather_particle_i64_rn__scalar", None)));
    assert_eq!(Registry::builtin().select(&key(2)), None);

    let particles = [1, 2, 3, 4].map(|id| Particle { position: [f32::from(id); 3], id, kind: [0; 6] });
    let ids = |tensor: gather_core::DynTensor| -> Result<Vec<u16>, Error> {
        Ok(tensor.downcast::<Particle>()?.as_slice().iter().map(|particle| particle.id).collect())
    };
    let line = View::new(&particles, &[4])?;
    let (line, square) = (DynView::from(&line), DynView::from(&View::new(&particles, &[2, 2])?));
    let (chosen, low) = (View::new(&[-1i64, 0], &[2, 1])?, View::new(&[1u32, 0], &[1, 2])?);
    let (chosen, low) = (DynView::from(&chosen), DynView::from(&low));
    assert_eq!(ids(Gather::new(0).registry(registry).run(&line, &chosen)?)?, [4, 1]);
    assert_eq!(ids(GatherElements::new(0).registry(registry).run(&square, &low)?)?, [3, 2]);
    assert_eq!(ids(GatherNd::new().registry(registry).run(&line, &chosen)?)?, [4, 1]);
    let batches = DynView::from(&View::new(&particles, &[4, 1])?);
    assert_eq!(ids(BatchToSpace::new(&[1, 2], &[0, 0], &[0, 0]).registry(registry).run(&batches)?)?, [1, 3, 2, 4]);
    assert!(Gather::new(0).run(&line, &chosen).is_err());
    Ok(())
}
