/// One key, or a key with Control.
package enum KeyPress: Equatable, Sendable {
  /// A key that writes something, the space bar too.
  case character(Character)
  /// A letter with Control, in lower case, where it means nothing to the terminal.
  case control(Character)
  /// The arrows.
  case up, down, left, right
  /// The block above the arrows.
  case home, end, pageUp, pageDown, insert, delete
  /// Keys around the letters; Shift with Tab is `backTab`.
  case enter, tab, backTab, backspace, escape
}
