//! The operators behind one face.

use gather_core::{
    Dyn, DynPlan, DynView, DynViewMut, Error, Explain, GatherOperator, IndexAttributes, RearrangePlan, Reduction,
    Registry, ScatterAttributes, ScatterOperator, ScatterPlan, Shape, SpaceAttributes, SpaceOperator, Spec,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::Input;
use crate::error::python;

/// Kernels of all types.
pub(crate) static KERNELS: Registry = Registry::builtin();

/// The arrays that a call reads.
pub(crate) struct Inputs<'py> {
    pub(crate) data: Input<'py>,
    pub(crate) indices: Option<Input<'py>>,
    pub(crate) updates: Option<Input<'py>>,
}

impl<'py> Inputs<'py> {
    pub(crate) fn indices(&self) -> PyResult<&Input<'py>> {
        needed("indices", self.indices.as_ref())
    }

    pub(crate) fn updates(&self) -> PyResult<&Input<'py>> {
        needed("updates", self.updates.as_ref())
    }

    /// Everything that is read.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Input<'py>> + Clone {
        std::iter::once(&self.data).chain(&self.indices).chain(&self.updates)
    }

    /// The elements.
    #[inline(always)]
    pub(crate) fn views(&self) -> Views<'_> {
        let (indices, updates) = (self.indices.as_ref().map(Input::view), self.updates.as_ref().map(Input::view));
        Views { data: self.data.view(), indices, updates }
    }
}

/// The elements of [`Inputs`].
pub(crate) struct Views<'a> {
    data: DynView<'a>,
    indices: Option<DynView<'a>>,
    updates: Option<DynView<'a>>,
}

impl<'a> Views<'a> {
    fn indices(&self) -> PyResult<&DynView<'a>> {
        needed("indices", self.indices.as_ref())
    }

    fn updates(&self) -> PyResult<&DynView<'a>> {
        needed("updates", self.updates.as_ref())
    }
}

/// An argument that not every operator has.
fn needed<T>(name: &str, argument: Option<T>) -> PyResult<T> {
    argument.ok_or_else(|| PyValueError::new_err(format!("{name} are missing")))
}

/// An operator with its attributes.
pub(crate) trait Operator: Sync {
    /// The shape of the result.
    fn output_shape(&self, inputs: &Inputs<'_>) -> PyResult<Shape>;

    /// Runs the operator.
    fn run_into(&self, views: &Views<'_>, out: &mut DynViewMut<'_>) -> PyResult<()>;

    /// Plans the operator for arrays of these layouts and types.
    fn plan(&self, inputs: &Inputs<'_>) -> PyResult<Box<dyn Planned>>;

    /// Whether elements are calculated with, so that their bytes must be values.
    fn calculates(&self) -> bool {
        false
    }
}

/// A plan of any operator.
pub(crate) trait Planned: Send + Sync {
    /// The shape of the result.
    fn output_shape(&self) -> &[usize];

    /// What a call will do.
    fn explain(&self) -> Explain<'_>;

    /// Runs the plan.
    fn run_into(&self, views: &Views<'_>, out: &mut DynViewMut<'_>) -> PyResult<()>;
}

/// What a plan is made for.
fn spec(input: &Input<'_>) -> Spec<Dyn> {
    Spec::from_dtype(input.dtype(), input.layout())
}

impl<A: IndexAttributes + Sync> Operator for GatherOperator<A> {
    fn output_shape(&self, inputs: &Inputs<'_>) -> PyResult<Shape> {
        self.output_shape(inputs.data.layout().shape(), inputs.indices()?.layout().shape()).map_err(python)
    }

    fn run_into(&self, views: &Views<'_>, out: &mut DynViewMut<'_>) -> PyResult<()> {
        GatherOperator::run_into(self, &views.data, views.indices()?, out).map_err(python)
    }

    fn plan(&self, inputs: &Inputs<'_>) -> PyResult<Box<dyn Planned>> {
        let (data, indices) = (&inputs.data, inputs.indices()?);
        boxed(GatherOperator::plan(self, &spec(data), &spec(indices)))
    }
}

impl<A: SpaceAttributes + Clone + Sync> Operator for SpaceOperator<A> {
    fn output_shape(&self, inputs: &Inputs<'_>) -> PyResult<Shape> {
        self.output_shape(inputs.data.layout().shape()).map_err(python)
    }

    fn run_into(&self, views: &Views<'_>, out: &mut DynViewMut<'_>) -> PyResult<()> {
        self.clone().registry(&KERNELS).run_into(&views.data, out).map_err(python)
    }

    fn plan(&self, inputs: &Inputs<'_>) -> PyResult<Box<dyn Planned>> {
        boxed(self.clone().registry(&KERNELS).plan(&spec(&inputs.data)))
    }
}

impl<A: ScatterAttributes + Clone + Sync> Operator for ScatterOperator<A> {
    fn output_shape(&self, inputs: &Inputs<'_>) -> PyResult<Shape> {
        let (indices, updates) = (inputs.indices()?.layout(), inputs.updates()?.layout());
        self.output_shape(inputs.data.layout().shape(), indices.shape(), updates.shape()).map_err(python)
    }

    fn run_into(&self, views: &Views<'_>, out: &mut DynViewMut<'_>) -> PyResult<()> {
        self.clone().registry(&KERNELS).run_into(&views.data, views.indices()?, views.updates()?, out).map_err(python)
    }

    fn plan(&self, inputs: &Inputs<'_>) -> PyResult<Box<dyn Planned>> {
        let (data, indices, updates) = (&inputs.data, inputs.indices()?, inputs.updates()?);
        boxed(self.clone().registry(&KERNELS).plan(&spec(data), &spec(indices), &spec(updates)))
    }

    fn calculates(&self) -> bool {
        self.get_reduction() != Reduction::None
    }
}

fn boxed<P: Planned + 'static>(plan: Result<P, Error>) -> PyResult<Box<dyn Planned>> {
    plan.map(|plan| Box::new(plan) as Box<dyn Planned>).map_err(python)
}

/// A plan's run, with what it takes.
macro_rules! planned {
    ($($plan:ty: |$views:ident| ($($argument:expr),*);)*) => {$(
        impl Planned for $plan {
            fn output_shape(&self) -> &[usize] {
                self.output_shape()
            }

            fn explain(&self) -> Explain<'_> {
                self.explain()
            }

            fn run_into(&self, $views: &Views<'_>, out: &mut DynViewMut<'_>) -> PyResult<()> {
                self.run_into($($argument,)* out).map_err(python)
            }
        }
    )*};
}

planned! {
    DynPlan: |views| (&views.data, views.indices()?);
    RearrangePlan<Dyn>: |views| (&views.data);
    ScatterPlan<Dyn, Dyn>: |views| (&views.data, views.indices()?, views.updates()?);
}
