//! Rows of bags, converted one by one before they are reduced.

use crate::kernels::args::{Cursor, IndexArgs, KernelSpec};
use crate::kernels::convert::Conversion;
use crate::kernels::moves::MoveJob;
use crate::kernels::moves::prefetch::NextSlice;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::policy::IndexPolicy;

/// Converts rows by a map.
pub(crate) struct RowConverter {
    spec: KernelSpec,
    params: *const (),
}

impl RowConverter {
    /// By a map at a level, with what is given for its parameters.
    pub(crate) fn new(conversion: Conversion, level: Level, policy: IndexPolicy, params: *const ()) -> Self {
        let spec = KernelSpec { conversion: Some(conversion), ..KernelSpec::new(Method::Accumulated, level, policy) };
        RowConverter { spec, params }
    }

    /// Converts the `elements` elements at `from`, which belong to the row `position`, into those at `to`.
    ///
    /// # Safety
    /// K7, and K1, K2, K4 and K8 for these elements: they may be read and written, are apart, and are aligned for the
    /// types of the map. So many elements of data are values of its input, and its parameters have values for them.
    #[inline]
    pub(crate) unsafe fn convert(&mut self, from: *const u8, position: usize, to: *mut u8, elements: usize) {
        let conversion = self.spec.conversion.as_mut().expect("rows are converted by a map");
        conversion.elements = elements;
        let convert_fn = conversion.convert_fn;
        let at = Cursor { out: to, data: from, index: core::ptr::null() };
        let args = IndexArgs { spec: &self.spec, origin: at, loops: &[], stride: 0, params: self.params };
        let zero = 0i32;
        let job = MoveJob {
            out: to,
            out_step: 0,
            data: from,
            data_step: 0,
            positions: &raw const zero,
            first_position: position,
            stride: 0,
            n: 1,
            row: 0,
            prefetch_distance: 0,
            packed: false,
            table_entries: 0,
            next: NextSlice::NONE,
        };
        // SAFETY: the caller's promise, for a row whose position is in its address already. It has no loops, components
        // or fill, which the functions of maps do not read (K8).
        unsafe { convert_fn(&args, &job) }
    }
}
