import Diagnostics
import HapticModel
import JSONText

extension PatternDecoder {
  /// Checks what the text as a whole has or lacks.
  mutating func checkText() {
    for tolerance in json.tolerances {
      let value = json.value(of: tolerance)
      switch tolerance.kind {
      case .byteOrderMark:
        log.add(
          .byteOrderMark, at: value, offset: 0, "the text starts with a byte-order mark",
          hint: "save it as UTF-8 without one")
      case .trailingComma:
        log.add(
          .trailingComma, at: value, offset: tolerance.offset,
          "comma before a closing bracket", hint: "remove it")
      case .duplicateKey:
        log.add(
          .duplicateKey, at: value, offset: tolerance.offset,
          "duplicate key \((value.key ?? "").quoted()); the last value is used")
      }
    }
    let root = json.root
    guard root.kind == .object else { return }
    if root["Version"] == nil {
      log.add(
        .missingVersion, at: root, "missing key \"Version\"",
        hint: "add \"Version\": 1.0")
    }
    if let metadata, metadata.kind != .object {
      log.add(
        .wrongType, at: metadata, severity: .warning,
        "Metadata should be an object, not \(metadata.kind.noun); it is ignored")
    }
    checkOverlaps()
    if let entries, entries.kind == .array, pattern.events.isEmpty, log.errorCount == 0 {
      log.add(.noEvents, at: entries, "the pattern has no events and plays nothing")
    }
  }
}
