//! The workloads of the operators that rearrange space, and the plain loops that say what must come out.

use crate::inverse::par;
use gather_core::{
    BatchToSpace, DepthMode, DepthToSpace, Layout, Par, RearrangePlan, SpaceAttributes, SpaceOperator, SpaceToBatch,
    SpaceToDepth, Spec, Tensor, View, ViewMut,
};

/// A workload: data of four dimensions, and what is made of it.
pub struct Space {
    /// The name.
    pub name: &'static str,
    /// The shape of data.
    pub shape: [usize; 4],
    /// The plain loop.
    pub plain: fn(&[f32], [usize; 4], &mut [f32]),
    /// The operator, for the threads that `Par` allows.
    pub op: fn(Par) -> Box<dyn Rearrange>,
}

impl Space {
    /// A plan for a number of threads, and the shape of what it writes.
    ///
    /// # Panics
    /// When the attributes do not fit the shape, as in no workload.
    #[must_use]
    pub fn planned(&self, threads: usize) -> (RearrangePlan<f32>, Vec<usize>) {
        let plan = (self.op)(par(threads)).plan(&Layout::contiguous(&self.shape).expect(FITS));
        let shape = plan.output_shape().to_vec();
        (plan, shape)
    }
}

/// An operator that rearranges space.
pub trait Rearrange {
    /// A plan for data of a layout.
    ///
    /// # Panics
    /// When the attributes do not fit the shape, as in no workload.
    fn plan(&self, data: &Layout) -> RearrangePlan<f32>;

    /// The operator, unplanned.
    ///
    /// # Panics
    /// As for [`Rearrange::plan`].
    fn run_into(&self, data: &View<'_, f32>, out: &mut ViewMut<'_, f32>);

    /// The operator, unplanned, into a tensor that is used again.
    ///
    /// # Panics
    /// As for [`Rearrange::plan`].
    fn run_again(&self, data: &View<'_, f32>, out: &mut Tensor<f32>);

    /// The operator, unplanned, into a fresh tensor.
    ///
    /// # Panics
    /// As for [`Rearrange::plan`].
    fn run(&self, data: &View<'_, f32>) -> Tensor<f32>;
}

/// Why no call can fail.
const FITS: &str = "a workload's attributes fit its shape";

impl<A: SpaceAttributes> Rearrange for SpaceOperator<A> {
    fn plan(&self, data: &Layout) -> RearrangePlan<f32> {
        SpaceOperator::plan(self, &Spec::from_layout(data)).expect(FITS)
    }

    fn run_into(&self, data: &View<'_, f32>, out: &mut ViewMut<'_, f32>) {
        SpaceOperator::run_into(self, data, out).expect(FITS);
    }

    fn run_again(&self, data: &View<'_, f32>, out: &mut Tensor<f32>) {
        SpaceOperator::run_into(self, data, out).expect(FITS);
    }

    fn run(&self, data: &View<'_, f32>) -> Tensor<f32> {
        SpaceOperator::run(self, data).expect(FITS)
    }
}

/// Every workload.
pub const SPACES: [Space; 8] = [
    Space {
        name: "space_to_batch/nhwc_16x128x128x32_b2",
        shape: [16, 128, 128, 32],
        plain: space_to_batch::<0>,
        op: |par| Box::new(SpaceToBatch::openvino2(&[1, 2, 2, 1], &[0; 4], &[0; 4]).par(par)),
    },
    Space {
        name: "space_to_batch/nhwc_16x128x128x32_b2_pad2",
        shape: [16, 128, 128, 32],
        plain: space_to_batch::<2>,
        op: |par| Box::new(SpaceToBatch::tensorflow(&[2, 2], &[[2; 2]; 2]).par(par)),
    },
    Space {
        name: "depth_to_space/dcr_16x256x64x64_b2",
        shape: [16, 256, 64, 64],
        plain: depth_to_space::<2, false>,
        op: |par| Box::new(DepthToSpace::onnx13(2, DepthMode::Dcr).par(par)),
    },
    Space {
        name: "depth_to_space/crd_16x256x64x64_b2",
        shape: [16, 256, 64, 64],
        plain: depth_to_space::<2, true>,
        op: |par| Box::new(DepthToSpace::onnx13(2, DepthMode::Crd).par(par)),
    },
    Space {
        name: "space_to_depth/16x64x128x128_b2",
        shape: [16, 64, 128, 128],
        plain: space_to_depth::<2>,
        op: |par| Box::new(SpaceToDepth::onnx13(2).par(par)),
    },
    Space {
        name: "space_to_depth/4x16x128x128_b2",
        shape: [4, 16, 128, 128],
        plain: space_to_depth::<2>,
        op: |par| Box::new(SpaceToDepth::onnx13(2).par(par)),
    },
    Space {
        name: "space_to_depth/4x4x128x128_b4",
        shape: [4, 4, 128, 128],
        plain: space_to_depth::<4>,
        op: |par| Box::new(SpaceToDepth::onnx13(4).par(par)),
    },
    Space {
        name: "batch_to_space/nhwc_64x64x64x32_b2",
        shape: [64, 64, 64, 32],
        plain: batch_to_space,
        op: |par| Box::new(BatchToSpace::openvino2(&[1, 2, 2, 1], &[0; 4], &[0; 4]).par(par)),
    },
];

/// SpaceToBatch in blocks of 2 x 2, with `PAD` rows and columns at every end.
fn space_to_batch<const PAD: usize>(data: &[f32], [n, h, w, c]: [usize; 4], out: &mut [f32]) {
    let (rows, columns) = (h / 2 + PAD, w / 2 + PAD);
    let mut at = 0;
    for image in 0..4 * n {
        let (place, image) = (image / n, image % n);
        for row in 0..rows {
            for column in 0..columns {
                let to = &mut out[at..at + c];
                let (y, x) = ((row * 2 + place / 2).wrapping_sub(PAD), (column * 2 + place % 2).wrapping_sub(PAD));
                if y < h && x < w {
                    let from = ((image * h + y) * w + x) * c;
                    to.copy_from_slice(&data[from..from + c]);
                } else {
                    to.fill(0.0);
                }
                at += c;
            }
        }
    }
}

/// BatchToSpace in blocks of 2 x 2.
fn batch_to_space(data: &[f32], [n, h, w, c]: [usize; 4], out: &mut [f32]) {
    let images = n / 4;
    let mut at = 0;
    for image in 0..images {
        for y in 0..2 * h {
            for x in 0..2 * w {
                let from = ((((y % 2 * 2 + x % 2) * images + image) * h + y / 2) * w + x / 2) * c;
                out[at..at + c].copy_from_slice(&data[from..from + c]);
                at += c;
            }
        }
    }
}

fn depth_to_space<const B: usize, const CRD: bool>(data: &[f32], [n, c, h, w]: [usize; 4], out: &mut [f32]) {
    let depth = c / (B * B);
    let mut at = 0;
    for image in 0..n {
        for channel in 0..depth {
            for y in 0..h * B {
                for x in 0..w * B {
                    let place = y % B * B + x % B;
                    let from = if CRD { channel * B * B + place } else { place * depth + channel };
                    out[at] = data[((image * c + from) * h + y / B) * w + x / B];
                    at += 1;
                }
            }
        }
    }
}

fn space_to_depth<const B: usize>(data: &[f32], [n, c, h, w]: [usize; 4], out: &mut [f32]) {
    let mut at = 0;
    for image in 0..n {
        for channel in 0..c * B * B {
            let (place, channel) = (channel / c, channel % c);
            for y in 0..h / B {
                let from = ((image * c + channel) * h + y * B + place / B) * w + place % B;
                for x in 0..w / B {
                    out[at] = data[from + x * B];
                    at += 1;
                }
            }
        }
    }
}
