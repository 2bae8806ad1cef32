// Functions in the list of a set that cannot stand there, one mistake each.
gather_core::specialize! {
    static SET = [
        embed::<f32>,
        embd::<u8>,
        embed::<f32>,
        embed::<f32, u32>,
        rows::<f32>,
        widen::<u32>,
    ];
    pub fn embed<T: gather_core::Element> = gather(axis = 0) (T[_, 16], u32[_]);
    pub fn rows = gather(axis = 0) (f32[_, 16], u32[_]);
    pub fn widen<I: gather_core::Index> =
        gather(axis = 0, map = gather_core::maps::convert) (half::bf16[_, 2], I[_]) -> f32;
}
gather_core::specialize! {
    static NO_LIST = embed::<f32>;
    static NO_TYPES = [embed];
    static NO_NAME = [<f32>];
    static NUMBER = [embed::<16>];
    static GOES_ON = [embed::<f32>] + 1;
    pub fn other<T: gather_core::Element> = gather(axis = 0) (T[_, 16], u32[_]);
}

fn main() {}
