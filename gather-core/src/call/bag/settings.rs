//! The settings of EmbeddingBag.

#![forbid(unsafe_code)]

use crate::call::bag::{BagOperator, EmbeddingBag};
use crate::plan::BagSettings;
use crate::types::declare::accessors;
use crate::types::policy::{IndexPolicy, Options};
use crate::types::reduction::Reduction;

impl EmbeddingBag {
    /// An EmbeddingBag. Negative indices count from the end; out-of-range indices are errors. There is no padding row,
    /// empty bags yield zeros, and the last bag ends with the indices.
    #[must_use]
    pub fn new(reduction: Reduction) -> Self {
        let settings = BagSettings {
            policy: IndexPolicy::default(),
            padding_index: None,
            default_index: None,
            skip_negative: false,
            skip_out_of_range: false,
            include_last_offset: false,
        };
        BagOperator { reduction, settings, options: Options::default() }
    }
}

impl<R> BagOperator<R> {
    accessors! { self:
        /// Sets the padding row. Its indices are skipped, and do not count. A negative number counts from the end.
        #[doc(alias("padding_idx"))]
        pub fn padding_index(padding_index: impl Into<Option<i64>>) => self.settings.padding_index = padding_index.into();
        /// Sets whether negative indices are skipped, and do not count. For example, -1 marks a row that was pruned
        /// from the table. If set, [`negative_index`](Self::negative_index) has no effect.
        ///
        /// ```
        /// use gather_core::{Bags, EmbeddingBag, Reduction, View};
        ///
        /// fn main() -> Result<(), gather_core::Error> {
        ///     let (table, ids) = ([1.0f32, 2.0, 4.0], [0i32, -1, 2, -1, -1, -1]);
        ///     let (table, ids) = (View::new(&table, &[3])?, View::new(&ids, &[2, 3])?);
        ///     let mean = EmbeddingBag::new(Reduction::Mean).skip_negative(true);
        ///     assert_eq!(mean.run(&table, &Bags::packed(&ids))?.as_slice(), [2.5, 0.0]);
        ///     Ok(())
        /// }
        /// ```
        #[doc(alias("pruned"))]
        pub fn skip_negative(skip_negative: bool) => self.settings.skip_negative = skip_negative;
        /// Sets whether indices out of range are skipped, and do not count, such as ids of items that a table does not
        /// have yet. Missing positions of [`Checked`](crate::Checked) are skipped, too. If set,
        /// [`out_of_bounds`](Self::out_of_bounds) has no effect.
        ///
        /// ```
        /// use gather_core::{Bags, EmbeddingBag, NegativeIndex, Reduction, View};
        ///
        /// fn main() -> Result<(), gather_core::Error> {
        ///     let (table, ids) = ([1.0f32, 2.0, 4.0], [0i64, 9, 2, -1, 3, 3]);
        ///     let (table, ids) = (View::new(&table, &[3])?, View::new(&ids, &[2, 3])?);
        ///     let mean = EmbeddingBag::new(Reduction::Mean).skip_out_of_range(true);
        ///     assert_eq!(mean.run(&table, &Bags::packed(&ids))?.as_slice(), [2.5, 4.0]);
        ///     // If negative indices do not count from the end, they are out of range.
        ///     let mean = mean.negative_index(NegativeIndex::Reject);
        ///     assert_eq!(mean.run(&table, &Bags::packed(&ids))?.as_slice(), [2.5, 0.0]);
        ///     Ok(())
        /// }
        /// ```
        #[doc(alias("unknown", "out of vocabulary", "OOV"))]
        pub fn skip_out_of_range(skip_out_of_range: bool) => self.settings.skip_out_of_range = skip_out_of_range;
        /// Sets the result of a bag in which no row counts: an unweighted row, whose index must not be negative.
        pub fn default_index(default_index: impl Into<Option<i64>>) => self.settings.default_index = default_index.into();
        /// Sets whether the last offset is the end of the last bag, instead of the start of one more bag. Indices after
        /// this end belong to no bag, and are not read.
        pub fn include_last_offset(include_last_offset: bool) => self.settings.include_last_offset = include_last_offset;
        /// The padding row, as given.
        pub fn get_padding_index() -> Option<i64> => self.settings.padding_index;
        /// The row that is the result of a bag in which no row counts.
        pub fn get_default_index() -> Option<i64> => self.settings.default_index;
        /// Whether negative indices are skipped.
        pub fn get_skip_negative() -> bool => self.settings.skip_negative;
        /// Whether indices out of range are skipped.
        pub fn get_skip_out_of_range() -> bool => self.settings.skip_out_of_range;
        /// Whether the last offset is the end of the last bag.
        pub fn get_include_last_offset() -> bool => self.settings.include_last_offset;
    }
}
