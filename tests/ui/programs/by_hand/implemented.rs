// Traits that unsafe code relies on, implemented without the word `unsafe`, and traits that are sealed.
#![forbid(unsafe_code)]

use gather_core::__private_0_1_0::{DType, Element};
use gather_core::{
    Destination, Float, GatherKind, Index, IndexAttributes, IndexKind, IndexType, Kind, Output, Params, PlanBags,
    Position, Reduces, RowParam, RowParams, Source, Typing, UniqueId,
};

#[derive(Clone, Copy)]
pub struct Mine(u8, u16);

#[derive(Clone, Copy)]
pub struct Other;

impl Element for Mine {
    const DTYPE: DType = <u32 as Element>::DTYPE;
    type Number = u32;
    const ZERO: Self = Mine(0, 0);
}

impl Index for Mine {
    const TYPE: IndexType = IndexType::I32;
}

impl Source for Mine {}
impl Destination for Mine {}
impl PlanBags<f32> for Mine {}
impl Reduces<f32> for Mine {}
impl Params for Mine {}
impl RowParam for Box<Mine> {}
impl RowParams for Mine {}
impl Kind for Other {}
impl IndexKind for Other {}
impl GatherKind for Other {}
impl IndexAttributes for Mine {}
impl Typing for Other {}
impl Float for Mine {}
impl Output<f32> for Mine {}
impl Position for Mine {}
impl UniqueId for Mine {}

fn main() {}
