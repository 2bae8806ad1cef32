//! Calls on elements without bytes through plans for other outputs and counts, on slices, and with maps.

needs_bytes! {
    GatherPlanInto: "Gather::new(0).plan_into(&Spec::<T>::of(&three), &Spec::<i64>::of(&two), &two)?;";
    GatherPlanAnyCount: "Gather::new(0).plan_any_count(&Spec::<T>::of(&three), &Spec::<i64>::of(&two))?;";
    GatherElementsPlanInto: "GatherElements::new(0).plan_into(&Spec::<T>::of(&three), &Spec::<i64>::of(&two), &two)?;";
    GatherElementsPlanAnyCount: "GatherElements::new(0)
        .plan_any_count(&Spec::<T>::of(&three), &Spec::<i64>::of(&two))?;";
    GatherNdPlanInto: "GatherNd::new().plan_into(&Spec::<T>::of(&three), &Spec::<i64>::of(&pair), &two)?;";
    GatherNdPlanAnyCount: "GatherNd::new().plan_any_count(&Spec::<T>::of(&three), &Spec::<i64>::of(&pair))?;";
    BatchToSpacePlanInto: "blocks.plan_into(&Spec::<T>::of(&pair), &Layout::contiguous(&[1, 2])?)?;";
    SpaceToBatchFunction: "space_to_batch(&square, &[1, 1], &[0, 0], &[0, 1])?;";
    DepthToSpaceFunction: "depth_to_space(&View::new(&values[..2], &[1, 2, 1])?, 2, Mode::Dcr)?;";
    SpaceToDepthFunction: "space_to_depth(&View::new(&values[..2], &[1, 1, 2])?, 2, Mode::Crd)?;";
    Rows: "rows(&values, 1, &[1i64, 2])?;";
    RowsInto: "rows_into(&values, 1, &[1i64, 2], &mut [ZERO; 2])?;";
    MapPlan: "map_kernels! { static MAP = |value: T| -> T { value }; }
        Gather::new(0).plan(&Spec::<T>::of(&three).map(&MAP), &Spec::<i64>::of(&two))?;";
    MapOfElements: "map_kernels! { static MAP = |value: T| -> T { value }; }
        GatherElements::new(0).run(&data.map(&MAP, ()), &indices)?;";
    MapOfTuples: "map_kernels! { static MAP = |value: T| -> T { value }; }
        GatherNd::new().run(&data.map(&MAP, ()), &tuples)?;";
    ErasedMut: "DynViewMut::from(out);";
}
