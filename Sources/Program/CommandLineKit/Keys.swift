internal import Glibc
internal import SystemSupport

/// A terminal that delivers single key presses without echo. Ctrl-C and Ctrl-Z keep their meaning.
///
/// The original terminal mode is restored at the end, before a signal ends or stops the process,
/// and while the process runs in the background.
package final class RawTerminal {
  private let terminalDescriptor: Int32
  private var decoder = KeyDecoder()
  package private(set) var isClosed = false

  /// Creates a terminal for single key presses, or nil if the descriptor is not the controlling
  /// terminal of this process.
  package init?(_ descriptor: Int32 = STDIN_FILENO) {
    guard TerminalMode.claimTerminal(descriptor) else { return nil }
    self.terminalDescriptor = descriptor
    _ = TerminalMode.enterRawMode()
  }

  deinit { TerminalMode.releaseTerminal() }

  /// The descriptors to wait for before `readKeys(at:)` is called. They can change after every
  /// call.
  package var terminalDescriptors: [Int32] {
    let wakeDescriptor = TerminalMode.wakeDescriptor
    return isClosed || !TerminalMode.enterRawMode()
      ? [wakeDescriptor] : [wakeDescriptor, terminalDescriptor]
  }

  /// Returns the maximum time to wait for the descriptors, or nil to wait without a timeout.
  ///
  /// A background job has to poll, because shells do not report when it returns to the foreground.
  package func waitTimeout(at now: Duration) -> Duration? {
    if let deadline = decoder.escapeSequenceDeadline { return max(.zero, deadline - now) }
    return isClosed || TerminalMode.isForegroundJob(ofTerminal: terminalDescriptor)
      ? nil : Self.foregroundPollInterval
  }

  private static let foregroundPollInterval = Duration.milliseconds(250)

  package func readKeys(at now: Duration) -> [KeyPress] {
    TerminalMode.clearWakeSignal()
    return decoder.decode(readBytes(), at: now)
  }

  private func readBytes() -> [UInt8] {
    var pollEntry = pollfd(fd: terminalDescriptor, events: Int16(POLLIN), revents: 0)
    guard !isClosed, unsafe poll(&pollEntry, 1, 0) > 0 else { return [] }
    guard Int32(pollEntry.revents) & (POLLHUP | POLLERR | POLLNVAL) == 0 else {
      isClosed = true
      return []
    }
    guard TerminalMode.enterRawMode() else { return [] }
    // With SIGTTIN blocked, the read fails instead of stopping the process if another job takes the
    // terminal now.
    var blockedSignals = sigset_t()
    var previousSignals = sigset_t()
    unsafe sigemptyset(&blockedSignals)
    unsafe sigaddset(&blockedSignals, SIGTTIN)
    unsafe pthread_sigmask(SIG_BLOCK, &blockedSignals, &previousSignals)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &previousSignals, nil) }
    var readBuffer = [UInt8](repeating: 0, count: 256)
    let readByteCount = unsafe Glibc.read(terminalDescriptor, &readBuffer, readBuffer.count)
    if readByteCount < 0 && errno == EIO
      && TerminalMode.isForegroundJob(ofTerminal: terminalDescriptor)
    {
      isClosed = true
    }
    return Array(readBuffer.prefix(max(0, readByteCount)))
  }
}

/// A decoder of key presses from the bytes of a terminal.
/// It decodes the ECMA-48 sequences that xterm and compatible terminals send. Unknown sequences are
/// dropped.
struct KeyDecoder {
  /// The maximum pause between the bytes of an escape sequence. The pause is much longer than the
  /// gaps on a slow line, and too short to notice.
  static let maximumSequencePause = Duration.milliseconds(50)
  /// The maximum number of bytes in an escape sequence. Longer input is discarded as noise.
  static let maximumSequenceByteCount = 32

  private var pendingBytes: [UInt8] = []
  private(set) var escapeSequenceDeadline: Duration?

  /// Returns the keys that the given bytes complete, and the key Escape if its timeout has passed
  /// without further bytes.
  mutating func decode(_ bytes: [UInt8], at now: Duration) -> [KeyPress] {
    var decodedKeys: [KeyPress] = []
    // A lone escape byte is the Escape key. Any other incomplete sequence is dropped.
    if let escapeSequenceDeadline, now >= escapeSequenceDeadline {
      if pendingBytes == [0x1B] {
        decodedKeys.append(.escape)
      }
      pendingBytes = []
      self.escapeSequenceDeadline = nil
    }
    if bytes.isEmpty { return decodedKeys }
    pendingBytes += bytes
    var startIndex = 0
    while startIndex < pendingBytes.count {
      guard let (key, length) = Self.firstKey(in: pendingBytes[startIndex...]) else { break }
      if let key {
        decodedKeys.append(key)
      }
      startIndex += length
    }
    pendingBytes.removeFirst(startIndex)
    escapeSequenceDeadline = pendingBytes.isEmpty ? nil : now + Self.maximumSequencePause
    return decodedKeys
  }

  /// Returns the first key in the bytes and its length in bytes.
  /// The key is nil for an unknown sequence, and the result is nil if more bytes are needed.
  private static func firstKey(in bytes: ArraySlice<UInt8>) -> (key: KeyPress?, length: Int)? {
    guard let firstByte = bytes.first else { return nil }
    switch firstByte {
    case 0x1B: return escapeSequenceKey(bytes)
    case 0x0A, 0x0D: return (.enter, 1)
    case 0x09: return (.tab, 1)
    case 0x08, 0x7F: return (.backspace, 1)
    case 0x01...0x1A: return (.control(Character(Unicode.Scalar(firstByte + 0x60))), 1)
    case 0x00...0x1F: return (nil, 1)
    case 0x20...0x7E: return (.character(Character(Unicode.Scalar(firstByte))), 1)
    default: return characterKey(bytes)
    }
  }

  /// Returns the key for a character of several UTF-8 bytes. Invalid bytes are skipped one at a
  /// time.
  private static func characterKey(_ bytes: ArraySlice<UInt8>) -> (key: KeyPress?, length: Int)? {
    let characterByteCount =
      switch bytes[bytes.startIndex] {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    let characterBytes = bytes.prefix(characterByteCount)
    guard characterByteCount > 1, characterBytes.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 })
    else { return (nil, 1) }
    guard characterBytes.count == characterByteCount else { return nil }
    guard let characterText = String(validating: characterBytes, as: UTF8.self),
      let character = characterText.first
    else {
      return (nil, 1)
    }
    // C1 controls are dropped like unknown sequences.
    return (
      bytes.first == 0xC2 && characterBytes.last.map { $0 < 0xA0 } == true
        ? nil : .character(character),
      characterByteCount
    )
  }

  private static func escapeSequenceKey(_ bytes: ArraySlice<UInt8>) -> (
    key: KeyPress?, length: Int
  )? {
    let sequenceBody = bytes.dropFirst()
    switch sequenceBody.first {
    case nil: return nil
    case UInt8(ascii: "O"):
      return sequenceBody.dropFirst().first.map { (cursorKey(forFinalByte: $0), 3) }
    case UInt8(ascii: "["): return controlSequenceKey(sequenceBody.dropFirst())
    // The Escape key, followed by another key.
    default: return (.escape, 1)
    }
  }

  /// Returns the key of a control sequence: parameters after `ESC [`, then a final byte from `@` to
  /// `~`.
  private static func controlSequenceKey(_ body: ArraySlice<UInt8>) -> (
    key: KeyPress?, length: Int
  )? {
    // The function keys of the Linux console have a second bracket before the final byte.
    let hasBracket = body.first == UInt8(ascii: "[")
    let sequenceBytes = hasBracket ? body.dropFirst() : body
    let parameterBytes = sequenceBytes.prefix { (0x20...0x3F).contains($0) }
    let sequenceByteCount = 2 + (hasBracket ? 1 : 0) + parameterBytes.count
    guard let finalByte = sequenceBytes.dropFirst(parameterBytes.count).first else {
      return sequenceByteCount < maximumSequenceByteCount ? nil : (nil, sequenceByteCount)
    }
    // Another control character inside the sequence restarts it.
    guard (0x40...0x7E).contains(finalByte) else { return (nil, sequenceByteCount) }
    if hasBracket { return (nil, sequenceByteCount + 1) }
    guard finalByte == UInt8(ascii: "~") else {
      return (cursorKey(forFinalByte: finalByte), sequenceByteCount + 1)
    }
    // The part after a semicolon encodes Shift and Control.
    let keyNumber = String(
      decoding: parameterBytes.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
    return (editingKeysByNumber[keyNumber], sequenceByteCount + 1)
  }

  private static let editingKeysByNumber: [String: KeyPress] = [
    "1": .home, "2": .insert, "3": .delete, "4": .end, "5": .pageUp, "6": .pageDown, "7": .home,
    "8": .end,
  ]

  private static let cursorKeysByFinalByte: [Unicode.Scalar: KeyPress] = [
    "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "Z": .backTab,
    "M": .enter,
  ]

  private static func cursorKey(forFinalByte final: UInt8) -> KeyPress? {
    cursorKeysByFinalByte[Unicode.Scalar(final)]
  }
}

/// A key press at a terminal.
package enum KeyPress: Equatable, Sendable {
  case character(Character)
  /// A lowercase letter that is pressed with Control, if the terminal does not interpret it.
  case control(Character)
  case up, down, left, right
  case home, end, pageUp, pageDown, insert, delete
  /// A key of the main block that produces no printable character. Shift-Tab is `backTab`.
  case enter, tab, backTab, backspace, escape
}
