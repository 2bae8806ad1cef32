//! Text built at compile time.

#![forbid(unsafe_code)]

/// Text of at most `N` bytes. Longer text is cut between characters.
#[derive(Clone, Copy)]
pub(crate) struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
    is_cut: bool,
}

impl<const N: usize> Text<N> {
    pub(crate) const fn new() -> Self {
        Text { bytes: [0; N], len: 0, is_cut: false }
    }

    pub(crate) const fn text(mut self, text: &str) -> Self {
        let mut fits = text.len();
        while fits > N - self.len || !text.is_char_boundary(fits) {
            fits -= 1;
            self.is_cut = true;
        }
        let (_, room) = self.bytes.split_at_mut(self.len);
        room.split_at_mut(fits).0.copy_from_slice(text.as_bytes().split_at(fits).0);
        self.len += fits;
        self
    }

    /// `1 byte`, `2 bytes` and so on.
    pub(crate) const fn bytes(self, count: usize) -> Self {
        self.number(count).text(if count == 1 { " byte" } else { " bytes" })
    }

    pub(crate) const fn number(self, number: usize) -> Self {
        let text = if number >= 10 { self.number(number / 10) } else { self };
        let digit = [b'0' + (number % 10) as u8];
        match core::str::from_utf8(&digit) {
            Ok(digit) => text.text(digit),
            Err(_) => text,
        }
    }

    pub(crate) const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => panic!("text consists of pieces of text"),
        }
    }

    /// The text; `None` if it was cut.
    pub(crate) const fn whole(&self) -> Option<&str> {
        if self.is_cut { None } else { Some(self.as_str()) }
    }

    #[track_caller]
    pub(crate) const fn panic(&self) -> ! {
        panic!("{}", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_put_together() {
        let text = Text::<512>::new().text("`T` has ").bytes(1).text(", not ").bytes(1207);
        assert_eq!(text.as_str(), "`T` has 1 byte, not 1207 bytes");
        assert_eq!(text.whole(), Some(text.as_str()));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = Text::<512>::new().text("-").text(&"é".repeat(300));
        let cut = text.as_str();
        assert_eq!((cut.len(), cut[1..].chars().all(|c| c == 'é')), (511, true));
        assert_eq!(text.whole(), None);
        assert_eq!(Text::<3>::new().text("abc").whole(), Some("abc"));
        assert_eq!(Text::<3>::new().text("ab").number(12).whole(), None);
    }
}
