//! Calls on elements without bytes through plans for other outputs and counts, on slices, and with maps.

needs_bytes! {
    GatherPlanInto: "Gather::new(0)
        .plan_into(&Spec::<T>::from_layout(&three), &Spec::<i64>::from_layout(&two), &two)?;";
    GatherPlanAnyCount: "Gather::new(0)
        .plan_any_count(&Spec::<T>::from_layout(&three), &Spec::<i64>::from_layout(&two))?;";
    GatherElementsPlanInto: "GatherElements::new(0)
        .plan_into(&Spec::<T>::from_layout(&three), &Spec::<i64>::from_layout(&two), &two)?;";
    GatherElementsPlanAnyCount: "GatherElements::new(0)
        .plan_any_count(&Spec::<T>::from_layout(&three), &Spec::<i64>::from_layout(&two))?;";
    GatherNdPlanInto: "GatherNd::new()
        .plan_into(&Spec::<T>::from_layout(&three), &Spec::<i64>::from_layout(&pair), &two)?;";
    GatherNdPlanAnyCount: "GatherNd::new()
        .plan_any_count(&Spec::<T>::from_layout(&three), &Spec::<i64>::from_layout(&pair))?;";
    BatchToSpacePlanInto: "blocks.plan_into(&Spec::<T>::from_layout(&pair), &Layout::contiguous(&[1, 2])?)?;";
    SpaceToBatchFunction: "space_to_batch(&square, &[1, 1], &[0, 0], &[0, 1])?;";
    DepthToSpaceFunction: "depth_to_space(&View::new(&values[..2], &[1, 2, 1])?, 2, DepthMode::Dcr)?;";
    SpaceToDepthFunction: "space_to_depth(&View::new(&values[..2], &[1, 1, 2])?, 2, DepthMode::Crd)?;";
    Rows: "rows(&values, 1, &[1i64, 2])?;";
    RowsInto: "rows_into(&values, 1, &[1i64, 2], &mut [ZERO; 2])?;";
    MapPlan: "map_kernels! { static MAP = |value: T| -> T { value }; }
        Gather::new(0).plan(&Spec::<T>::from_layout(&three).map(&MAP), &Spec::<i64>::from_layout(&two))?;";
    MapOfElements: "map_kernels! { static MAP = |value: T| -> T { value }; }
        GatherElements::new(0).run(&data.map(&MAP, ()), &indices)?;";
    MapOfTuples: "map_kernels! { static MAP = |value: T| -> T { value }; }
        GatherNd::new().run(&data.map(&MAP, ()), &tuples)?;";
    ErasedMut: "DynViewMut::from(out);";
}
