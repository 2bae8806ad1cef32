//! What emitted code asserts at compile time. Each function is seen through: an error stands where the macro's user wrote
//! what it is about.

#![forbid(unsafe_code)]

/// Asserts that a type has as many bytes as it is said to have.
#[track_caller]
pub const fn assert_width<T>(name: &str, bytes: usize) {
    let class = match size_of::<T>() {
        size if size == bytes => return,
        1 => "x8",
        2 => "x16",
        4 => "x32",
        8 => "x64",
        16 => "x128",
        _ => Message::new().text("`").text(name).text("` does not have ").bytes(bytes).panic(),
    };
    let message = Message::new().text("`").text(name).text("` has ").bytes(size_of::<T>());
    message.text("; give it the class `").text(class).text("`").panic()
}

/// Asserts that a type has bytes to move.
#[track_caller]
pub const fn assert_has_bytes<T>() {
    assert!(size_of::<T>() > 0, "a type without bytes cannot be an element");
}

/// Asserts that a field of `bytes` bytes that begins at `start` reaches to `end`, where the next one begins or the type
/// ends.
#[track_caller]
pub const fn assert_no_padding(name: &str, field: &str, start: usize, bytes: usize, end: usize) {
    let gap = end - start - bytes;
    if gap > 0 {
        let message = Message::new().text("`").text(name).text("` cannot be an element: ").bytes(gap);
        message.text(" of padding after field `").text(field).text("`; add a field that fills them").panic()
    }
}

/// A message put together at compile time. One that is too long is cut.
struct Message {
    text: [u8; 512],
    len: usize,
}

impl Message {
    const fn new() -> Self {
        Message { text: [0; 512], len: 0 }
    }

    const fn text(mut self, text: &str) -> Self {
        let mut fits = text.len();
        while fits > self.text.len() - self.len || !text.is_char_boundary(fits) {
            fits -= 1;
        }
        let (_, room) = self.text.split_at_mut(self.len);
        room.split_at_mut(fits).0.copy_from_slice(text.as_bytes().split_at(fits).0);
        self.len += fits;
        self
    }

    /// A number of bytes in words.
    const fn bytes(self, count: usize) -> Self {
        self.number(count).text(if count == 1 { " byte" } else { " bytes" })
    }

    const fn number(self, number: usize) -> Self {
        let message = if number >= 10 { self.number(number / 10) } else { self };
        let digit = [b'0' + (number % 10) as u8];
        match core::str::from_utf8(&digit) {
            Ok(digit) => message.text(digit),
            Err(_) => message,
        }
    }

    #[track_caller]
    const fn panic(&self) -> ! {
        match core::str::from_utf8(self.text.split_at(self.len).0) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("a message in pieces of text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Message;

    fn written(message: &Message) -> &str {
        core::str::from_utf8(&message.text[..message.len]).expect("pieces of text")
    }

    #[test]
    fn messages_are_put_together() {
        let message = Message::new().text("`T` has ").bytes(1).text(", not ").bytes(1207);
        assert_eq!(written(&message), "`T` has 1 byte, not 1207 bytes");
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let message = Message::new().text("-").text(&"é".repeat(300));
        let text = written(&message);
        assert_eq!((text.len(), text[1..].chars().all(|c| c == 'é')), (511, true));
    }
}
