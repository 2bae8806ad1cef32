//! Calls on elements without bytes through plans for other outputs and counts, on slices, and with maps.

needs_bytes! {
    GatherPlanInto: "Gather::new(0).plan_into::<T, i64>(&three, &two, &two)?;";
    GatherPlanAnyCount: "Gather::new(0).plan_any_count::<T, i64>(&three, &two)?;";
    GatherElementsPlanInto: "GatherElements::new(0).plan_into::<T, i64>(&three, &two, &two)?;";
    GatherElementsPlanAnyCount: "GatherElements::new(0).plan_any_count::<T, i64>(&three, &two)?;";
    GatherNdPlanInto: "GatherNd::new().plan_into::<T, i64>(&three, &pair, &two)?;";
    GatherNdPlanAnyCount: "GatherNd::new().plan_any_count::<T, i64>(&three, &pair)?;";
    BatchToSpacePlanInto: "blocks.plan_into::<T>(&pair, &Layout::contiguous(&[1, 2])?)?;";
    SpaceToBatchFunction: "space_to_batch(&square, &[1, 1], &[0, 0], &[0, 1])?;";
    DepthToSpaceFunction: "depth_to_space(&View::new(&values[..2], &[1, 2, 1])?, 2, Mode::Dcr)?;";
    SpaceToDepthFunction: "space_to_depth(&View::new(&values[..2], &[1, 1, 2])?, 2, Mode::Crd)?;";
    Rows: "rows(&values, 1, &[1i64, 2])?;";
    RowsInto: "rows_into(&values, 1, &[1i64, 2], &mut [ZERO; 2])?;";
    MapPlan: "map_kernels! { static MAP = |value: T| -> T { value }; }
        Gather::new(0).plan_map::<_, _, _, i64>(&MAP, &three, &two)?;";
    MapOfElements: "map_kernels! { static MAP = |value: T| -> T { value }; }
        GatherElements::new(0).run_map(&MAP, &data, &indices, ())?;";
    MapOfTuples: "map_kernels! { static MAP = |value: T| -> T { value }; }
        GatherNd::new().run_map(&MAP, &data, &tuples, ())?;";
    ErasedMut: "DynViewMut::from(out);";
}
