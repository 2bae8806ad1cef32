//! Arrays, masks and ids of random values.

use std::sync::Arc;

use arrow_array::types::UInt32Type;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, PrimitiveArray, RecordBatch, UInt32Array,
    builder::StringViewBuilder, make_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Schema};

/// Rows before and behind a slice.
const AROUND: usize = 9;

/// Numbers that look random.
pub struct Random(pub u64);

impl Random {
    /// A number of 31 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    /// Positions below `n`.
    pub fn list(&mut self, len: usize, n: usize) -> Vec<u32> {
        (0..len).map(|_| self.below(n) as u32).collect()
    }

    /// A part of `len` values is null, or none is.
    pub fn nulls(&mut self, len: usize, some: bool) -> Option<NullBuffer> {
        some.then(|| BooleanBuffer::collect_bool(len, |_| self.bits().is_multiple_of(2)).into())
    }

    /// An array that is a slice of a longer one.
    pub fn numbers<T: ArrowPrimitiveType>(
        &mut self,
        len: usize,
        some: bool,
        value: impl Fn(u64) -> T::Native,
    ) -> PrimitiveArray<T> {
        let all: Vec<T::Native> = (0..len + AROUND).map(|_| value(self.bits())).collect();
        PrimitiveArray::new(all.into(), self.nulls(len + AROUND, some)).slice(5, len)
    }

    /// Indices below `dim`; the value of some null ones is out of range.
    pub fn ids(&mut self, len: usize, some: bool, dim: usize) -> UInt32Array {
        let valid = self.numbers::<UInt32Type>(len, some, |bits| (bits % dim.max(1) as u64) as u32);
        let wild = |at: usize| if valid.is_null(at) && at.is_multiple_of(3) { u32::MAX } else { valid.value(at) };
        UInt32Array::new((0..len).map(wild).collect(), valid.nulls().cloned())
    }

    /// A mask of which some percents are true, a slice of a longer one.
    pub fn mask(&mut self, len: usize, percent: usize, some: bool) -> BooleanArray {
        let bits = BooleanBuffer::collect_bool(len + AROUND, |_| self.below(100) < percent);
        BooleanArray::new(bits, self.nulls(len + AROUND, some)).slice(3, len)
    }

    /// Lists of `size` numbers, sliced.
    pub fn fixed_lists(&mut self, len: usize, size: i32, null_lists: bool, null_values: bool) -> FixedSizeListArray {
        let field = Arc::new(Field::new_list_field(DataType::Float32, true));
        let child = self.array(&DataType::Float32, (len + AROUND) * size as usize, null_values);
        FixedSizeListArray::new(field, size, child, self.nulls(len + AROUND, null_lists)).slice(3, len)
    }

    /// An array of any type, whose children are slices. Half of its values are null at every depth, or none is.
    pub fn array(&mut self, of: &DataType, len: usize, some: bool) -> ArrayRef {
        let child = |this: &mut Self, of: &Field, len| this.array(of.data_type(), len + 2, some).slice(2, len);
        let data = match of {
            DataType::Null => ArrayData::builder(of.clone()),
            DataType::Utf8View | DataType::BinaryView => {
                // Buffers of few strings each.
                let mut strings = StringViewBuilder::new().with_fixed_block_size(100);
                for _ in 0..len {
                    let (first, length) = (self.below(9), self.below(30));
                    strings.append_value(&"Strings of up to 12 bytes lie in their views."[first..first + length]);
                }
                strings.finish().into_data().into_builder().data_type(of.clone())
            }
            DataType::Boolean => {
                let bits = BooleanBuffer::collect_bool(len, |_| self.bits().is_multiple_of(2));
                ArrayData::builder(of.clone()).add_buffer(bits.into_inner())
            }
            DataType::Utf8 | DataType::Binary | DataType::LargeUtf8 | DataType::LargeBinary => {
                let is_large = matches!(of, DataType::LargeUtf8 | DataType::LargeBinary);
                let (offsets, last) = self.offsets(len, 40, is_large);
                let bytes: Vec<u8> = (0..last).map(|_| b'a' + self.below(26) as u8).collect();
                ArrayData::builder(of.clone()).add_buffer(offsets).add_buffer(Buffer::from_vec(bytes))
            }
            DataType::List(field) | DataType::LargeList(field) => {
                let (offsets, last) = self.offsets(len, 8, matches!(of, DataType::LargeList(_)));
                let child = child(self, field, last);
                ArrayData::builder(of.clone()).add_buffer(offsets).add_child_data(child.to_data())
            }
            DataType::FixedSizeList(field, size) => {
                let child = child(self, field, len * *size as usize);
                ArrayData::builder(of.clone()).add_child_data(child.to_data())
            }
            DataType::Struct(fields) => {
                let children = fields.iter().map(|field| child(self, field, len).to_data());
                ArrayData::builder(of.clone()).child_data(children.collect())
            }
            DataType::Dictionary(keys, values) => {
                let width = keys.primitive_width().expect("keys are integers");
                let keys = (0..len).flat_map(|_| self.below(20).to_le_bytes()[..width].to_vec());
                let keys = Buffer::from_vec(keys.collect::<Vec<u8>>());
                // The dictionary is the same one for all arrays of a type.
                let values = Random(1).array(values, 20, false);
                ArrayData::builder(of.clone()).add_buffer(keys).add_child_data(values.to_data())
            }
            _ => {
                let bytes = match of {
                    DataType::FixedSizeBinary(size) => *size as usize,
                    _ => of.primitive_width().expect("numbers"),
                };
                let bytes: Vec<u8> = (0..len * bytes).map(|_| self.bits() as u8).collect();
                ArrayData::builder(of.clone()).add_buffer(Buffer::from_vec(bytes))
            }
        };
        let nulls = self.nulls(len, some && *of != DataType::Null);
        make_array(data.len(len).nulls(nulls).align_buffers(true).build().expect("an array"))
    }

    /// Offsets of `len` rows of fewer than `longest` values, and the last of them.
    fn offsets(&mut self, len: usize, longest: usize, is_large: bool) -> (Buffer, usize) {
        let lengths = (0..len).map(|_| self.below(longest));
        let offsets = std::iter::once(0).chain(lengths.scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        }));
        let offsets: Vec<usize> = offsets.collect();
        let last = offsets[len];
        match is_large {
            true => (offsets.into_iter().map(|offset| offset as i64).collect(), last),
            false => (offsets.into_iter().map(|offset| offset as i32).collect(), last),
        }
    }
}

/// A list of values of a type.
pub fn list_of(of: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(of, true)))
}

/// A record batch of columns of one length.
pub fn batch(columns: Vec<ArrayRef>) -> RecordBatch {
    let fields: Vec<Field> = columns.iter().map(|of| Field::new("", of.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("columns of one length")
}
