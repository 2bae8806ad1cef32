//! Drawing calls: good ones with a few tokens changed, words in any order, and plain text.

use arbitrary::{Result, Unstructured};

/// Good calls of each macro.
const CALLS: [&[&str]; 6] = [
    &[
        "pub static ONE ; elements : [ f32 , Colour as x32 ] ; indices : [ i32 , i64 ] ; ranks : 1 ..= 3 , any ; ops : [ gather ] ;",
        "# [ cfg ( test ) ] pub ( crate ) static SOME ; elements : [ # [ cfg ( unix ) ] half :: f16 as x16 , [ u8 ; 3 ] ] ; \
         indices : [ usize , isize ] ; ranks : any ; ops : [ gather_nd , batch_to_space ] ; widths : [ rows , x128 ] ;",
    ],
    &[
        "pub static SCALE = | value : u8 , scale : f32 | -> f32 { f32 :: from ( value ) * scale } ;",
        "/// Two.\nstatic A = | mut a : [ u8 ; 3 ] | -> i32 { a [ 0 ] as i32 } ; pub ( super ) static B = | b : f32 , c : ( f32 , u8 ) | -> f32 { b } ;",
    ],
    &[
        "/// Rows.\npub fn embed = gather ( axis = 0 ) ( f16 [ _ , DIM ] , u32 [ _ ] ) ; pub static MODEL ;",
        "fn points < T : Element > = gather_nd :: openvino5 ( batch_dims = 2 , out_of_bounds = clamp ) ( T [ _ , 2 , 8 ] , i64 [ _ , _ , 1 ] ) ; \
         static SET = [ points :: < f32 > , points :: < [ u8 ; 3 ] > ] ;",
        "fn near = gather_elements ( axis = -1 , negative_index = reject , map = maps :: WIDEN ( scale : f32 , zero : u8 ) ) ( [ u8 ; 4 ] [ 8 , 8 ] , u8 [ 8 , 4 ] ) -> f32 ;",
        "pub ( crate ) fn tiles = batch_to_space ( block = [ 1 , 2 , B , 1 ] , crops_begin = [ 0 , 1 , 0 , 0 ] ) ( u8 [ 8 , _ , 64 , 3 ] ) ;",
    ],
    &[
        "# [ derive ( Clone , Copy , Element ) ] # [ repr ( C ) ] # [ element ( zero = Self :: NONE ) ] pub struct Particle { position : [ f32 ; 3 ] , pub id : u32 }",
        "# [ repr ( transparent ) ] # [ element ( crate = tensors ) ] struct Metres < T : Copy > ( T ) where T : Send ;",
        "# [ repr ( u8 ) ] # [ element ( zero = Unknown ) ] enum Base { Adenine = b'A' , Cytosine = 3 , Unknown }",
        "# [ repr ( C , packed ) ] union Both { a : & 'static u8 , b : * const u8 }",
    ],
    &[
        "pub static MAX_ABS = | kept : f32 , new : f32 | -> f32 { if new . abs ( ) > kept . abs ( ) { new } else { kept } } ;",
        "/// Or.\nstatic OR = | a : [ u8 ; 3 ] , b : [ u8 ; 3 ] | -> [ u8 ; 3 ] { a } ; pub ( super ) static B = | b : f32 | -> u8 { 1 } ;",
    ],
    &[
        "pub static DOT = | row : & [ f32 ] , query : & [ f32 ] | -> f32 { rows :: dot ( row , query ) } ;",
        "/// Scaled.\nstatic SCALE = | row : & [ u8 ] , out : & mut [ f32 ] , # [ optional ] more : & [ f32 ] , # [ any_len ] code : & [ u8 ] , by : f32 | { write ( row , out ) } ;",
    ],
];

/// Words that mean something somewhere, and some that do not.
const WORDS: [&str; 83] = [
    "pub",
    "crate",
    "static",
    "mut",
    "struct",
    "enum",
    "union",
    "const",
    "fn",
    "as",
    "where",
    "self",
    "Self",
    "super",
    "elements",
    "indices",
    "ranks",
    "ops",
    "widths",
    "any",
    "rows",
    "x8",
    "x16",
    "x32",
    "x64",
    "x128",
    "gather",
    "gather_elements",
    "gather_nd",
    "batch_to_space",
    "axis",
    "batch_dims",
    "block",
    "crops_end",
    "out_of_bounds",
    "wrap",
    "map",
    "torch",
    "i8",
    "i64",
    "u8",
    "usize",
    "f32",
    "bool",
    "zero",
    "repr",
    "C",
    "packed",
    "transparent",
    "element",
    "cfg",
    "derive",
    "T",
    "r#type",
    "any_len",
    "optional",
    "_",
    "'a",
    "0",
    "1",
    "8",
    "255",
    "1u8",
    "99999999999999999999",
    "-1",
    "0x1",
    "1.5",
    "\"text\"",
    "b'x'",
    ":",
    "::",
    ";",
    ",",
    "=",
    "..=",
    "..",
    "->",
    "|",
    "#",
    "!",
    "&",
    "<",
    ">",
];

/// What stands around other tokens.
const AROUND: [(&str, &str); 3] = [("(", ")"), ("[", "]"), ("{", "}")];

/// The most brackets that stand open: more end the stack of any parser that recurses, as the compiler's does too.
const DEEPEST: usize = 48;

/// A call of a macro.
pub(crate) fn draw(u: &mut Unstructured<'_>, which: usize) -> Result<String> {
    let text = match u.int_in_range(0..=7)? {
        0 => String::from_utf8_lossy(u.bytes(u.len().min(512))?).into_owned(),
        1 => words(u, 0)?,
        _ => changed(u, which)?,
    };
    let open = text.chars().filter(|&c| "([{<&*".contains(c)).count();
    Ok(if open > DEEPEST { String::new() } else { text })
}

/// Words in any order, some in brackets.
fn words(u: &mut Unstructured<'_>, depth: usize) -> Result<String> {
    let mut text = String::new();
    for _ in 0..u.int_in_range(0..=12)? {
        if depth < 4 && u.ratio(1, 6)? {
            let (open, close) = *u.choose(&AROUND)?;
            text += &[open, &words(u, depth + 1)?, close].concat();
        } else {
            text += u.choose(&WORDS)?;
        }
        text.push(' ');
    }
    Ok(text)
}

/// A good call with some of its tokens taken out, doubled, exchanged or replaced.
fn changed(u: &mut Unstructured<'_>, which: usize) -> Result<String> {
    let mut tokens: Vec<&str> = u.choose(CALLS[which])?.split(' ').collect();
    for _ in 0..u.int_in_range(0..=6)? {
        if tokens.is_empty() {
            break;
        }
        let at = u.choose_index(tokens.len())?;
        match u.int_in_range(0..=4)? {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at]),
            2 => {
                let other = u.choose_index(tokens.len())?;
                tokens.swap(at, other);
            }
            3 => tokens[at] = u.choose(&WORDS)?,
            _ => tokens.insert(at, u.choose(&WORDS)?),
        }
    }
    Ok(tokens.join(" "))
}
