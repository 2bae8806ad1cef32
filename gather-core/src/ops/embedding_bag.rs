//! The presets of EmbeddingBag.

#![forbid(unsafe_code)]

use crate::call::bag::EmbeddingBag;
use crate::types::policy::NegativeIndex;
use crate::types::reduction::Reduction;

impl EmbeddingBag {
    /// OpenVINO EmbeddingBagOffsets-15, with reductions `Add` and `Mean`: negative and out-of-range indices are errors.
    /// An empty bag yields the row `default_index`, or zeros for `None` and `Some(-1)`. Takes bags of any lengths.
    #[must_use]
    pub fn openvino15_offsets(reduction: Reduction, default_index: Option<i64>) -> Self {
        let default_index = default_index.filter(|&index| index != -1);
        Self::new(reduction).negative_index(NegativeIndex::Reject).default_index(default_index)
    }

    /// OpenVINO EmbeddingBagPacked-15, with reductions `Add` and `Mean`: negative and out-of-range indices are errors.
    /// Takes [packed](crate::Bags::packed) bags.
    #[must_use]
    pub fn openvino15_packed(reduction: Reduction) -> Self {
        Self::new(reduction).negative_index(NegativeIndex::Reject)
    }

    /// `torch.nn.EmbeddingBag`, with modes `Add`, `Mean` and `Max`: negative and out-of-range indices are errors. For
    /// `padding_idx` and `include_last_offset`, see [`padding_index`](Self::padding_index) and
    /// [`include_last_offset`](Self::include_last_offset).
    #[must_use]
    pub fn torch(mode: Reduction) -> Self {
        Self::new(mode).negative_index(NegativeIndex::Reject)
    }
}
