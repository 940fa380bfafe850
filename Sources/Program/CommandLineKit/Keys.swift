internal import Glibc
internal import SystemSupport

/// The keyboard, key by key and without echo; Ctrl-C and Ctrl-Z keep their meaning. The terminal is
/// as it was at the end, before a signal ends or stops the process, and while that runs in the
/// background.
package final class RawTerminal {
  private let descriptor: Int32
  private var decoder = KeyDecoder()
  package private(set) var isClosed = false

  /// Takes the keys of standard input, one at a time, or nothing where it is not this process's
  /// terminal.
  package init?(_ descriptor: Int32 = STDIN_FILENO) {
    guard TerminalMode.begin(on: descriptor) else { return nil }
    self.descriptor = descriptor
    _ = TerminalMode.enter()
  }

  deinit { TerminalMode.end() }

  /// The descriptors to wait for, until they can be read, before asking for keys; ask again each
  /// time.
  package var descriptors: [Int32] {
    let wake = TerminalMode.wakeDescriptor
    return isClosed || !TerminalMode.enter() ? [wake] : [wake, descriptor]
  }

  /// How long to wait at most; a job behind looks now and then, since no shell reports that it
  /// comes to the front.
  package func timeout(at now: Duration) -> Duration? {
    if let deadline = decoder.deadline { return max(.zero, deadline - now) }
    return isClosed || TerminalMode.isForeground(descriptor) ? nil : Self.foregroundPollInterval
  }

  private static let foregroundPollInterval = Duration.milliseconds(250)

  package func readKeys(at now: Duration) -> [KeyPress] {
    TerminalMode.lowerWake()
    return decoder.decode(readBytes(), at: now)
  }

  private func readBytes() -> [UInt8] {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard !isClosed, unsafe poll(&ready, 1, 0) > 0 else { return [] }
    guard Int32(ready.revents) & (POLLHUP | POLLERR | POLLNVAL) == 0 else {
      isClosed = true
      return []
    }
    guard TerminalMode.enter() else { return [] }
    // Should another job take the terminal just now, a blocked SIGTTIN makes the read fail, not
    // stop.
    var only = sigset_t()
    var before = sigset_t()
    unsafe sigemptyset(&only)
    unsafe sigaddset(&only, SIGTTIN)
    unsafe pthread_sigmask(SIG_BLOCK, &only, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    if count < 0 && errno == EIO && TerminalMode.isForeground(descriptor) {
      isClosed = true
    }
    return Array(bytes.prefix(max(0, count)))
  }
}

/// Makes keys of a terminal's bytes: sequences of ECMA-48 as xterm and its kin send them; unknown
/// ones are dropped.
struct KeyDecoder {
  /// How long the rest of a key is waited for: far above a slow line's gaps, too short to be felt.
  static let sequenceTimeout = Duration.milliseconds(50)
  /// Bytes of one sequence; what is longer is noise.
  static let maximumSequenceLength = 32

  private var pending: [UInt8] = []
  private(set) var deadline: Duration?

  /// The keys that are complete with these bytes, or because their rest did not come in time.
  mutating func decode(_ bytes: [UInt8], at now: Duration) -> [KeyPress] {
    var keys: [KeyPress] = []
    // A lone escape is the key; any other rest was none.
    if let deadline, now >= deadline {
      if pending == [0x1B] {
        keys.append(.escape)
      }
      pending = []
      self.deadline = nil
    }
    if bytes.isEmpty { return keys }
    pending += bytes
    var start = 0
    while start < pending.count {
      guard let (key, length) = Self.firstKey(in: pending[start...]) else { break }
      if let key {
        keys.append(key)
      }
      start += length
    }
    pending.removeFirst(start)
    deadline = pending.isEmpty ? nil : now + Self.sequenceTimeout
    return keys
  }

  /// The first key and its length, no key for what means nothing, and nothing at all where more is
  /// needed.
  private static func firstKey(in bytes: ArraySlice<UInt8>) -> (key: KeyPress?, length: Int)? {
    guard let byte = bytes.first else { return nil }
    switch byte {
    case 0x1B: return escapeSequence(bytes)
    case 0x0A, 0x0D: return (.enter, 1)
    case 0x09: return (.tab, 1)
    case 0x08, 0x7F: return (.backspace, 1)
    case 0x01...0x1A: return (.control(Character(Unicode.Scalar(byte + 0x60))), 1)
    case 0x00...0x1F: return (nil, 1)
    case 0x20...0x7E: return (.character(Character(Unicode.Scalar(byte))), 1)
    default: return characterKey(bytes)
    }
  }

  /// One character of more than one byte; bytes that are none are passed over singly.
  private static func characterKey(_ bytes: ArraySlice<UInt8>) -> (key: KeyPress?, length: Int)? {
    let length =
      switch bytes[bytes.startIndex] {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    let whole = bytes.prefix(length)
    guard length > 1, whole.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else { return (nil, 1) }
    guard whole.count == length else { return nil }
    guard let text = String(validating: whole, as: UTF8.self), let character = text.first else {
      return (nil, 1)
    }
    // C1 controls are as little a key as unknown sequences.
    return (
      bytes.first == 0xC2 && whole.last.map { $0 < 0xA0 } == true ? nil : .character(character),
      length
    )
  }

  private static func escapeSequence(_ bytes: ArraySlice<UInt8>) -> (key: KeyPress?, length: Int)? {
    let body = bytes.dropFirst()
    switch body.first {
    case nil: return nil
    case UInt8(ascii: "O"): return body.dropFirst().first.map { (cursorKey($0), 3) }
    case UInt8(ascii: "["): return controlSequence(body.dropFirst())
    // The escape key, and then another.
    default: return (.escape, 1)
    }
  }

  /// A control sequence behind `ESC [`: parameters, then a final byte from `@` on.
  private static func controlSequence(_ body: ArraySlice<UInt8>) -> (key: KeyPress?, length: Int)? {
    // The Linux console's function keys have a second bracket before the final byte.
    let hasBracket = body.first == UInt8(ascii: "[")
    let rest = hasBracket ? body.dropFirst() : body
    let parameters = rest.prefix { (0x20...0x3F).contains($0) }
    let length = 2 + (hasBracket ? 1 : 0) + parameters.count
    guard let final = rest.dropFirst(parameters.count).first else {
      return length < maximumSequenceLength ? nil : (nil, length)
    }
    // Another control in the middle restarts.
    guard (0x40...0x7E).contains(final) else { return (nil, length) }
    if hasBracket { return (nil, length + 1) }
    guard final == UInt8(ascii: "~") else { return (cursorKey(final), length + 1) }
    // What follows a semicolon encodes Shift and Control.
    let number = String(decoding: parameters.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
    return (editingKeys[number], length + 1)
  }

  private static let editingKeys: [String: KeyPress] = [
    "1": .home, "2": .insert, "3": .delete, "4": .end, "5": .pageUp, "6": .pageDown, "7": .home,
    "8": .end,
  ]

  private static let cursorKeys: [Unicode.Scalar: KeyPress] = [
    "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "Z": .backTab,
    "M": .enter,
  ]

  private static func cursorKey(_ final: UInt8) -> KeyPress? { cursorKeys[Unicode.Scalar(final)] }
}

package enum KeyPress: Equatable, Sendable {
  case character(Character)
  /// A letter with Control, in lower case, where it means nothing to the terminal.
  case control(Character)
  case up, down, left, right
  case home, end, pageUp, pageDown, insert, delete
  /// Keys around the letters; Shift with Tab is `backTab`.
  case enter, tab, backTab, backspace, escape
}
