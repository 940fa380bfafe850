import Diagnostics
import Foundation
import HapticFormats
import HapticModel
import JSONText

extension PatternContent {
  /// Reads nested dictionaries by writing them as the text they stand for, so that one reader judges
  /// both.
  init(dictionary: [AnyHashable: Any]) throws {
    var reader = DictionaryValueReader()
    let root = try reader.read(dictionary)
    var writer = JSONWriter(layout: .compact)
    if case .object(let members) = root {
      writer.object { object in
        for member in members { object.write(member.value, key: member.key) }
      }
    }
    let text = SourceFile(writer.finish(), name: "dictionary")
    do throws(InputError) {
      let options = ReadingOptions(wantsFindings: false)
      let composition = try AHAPFormat().examine(text, options: options).get()
      self.init(HapticComposition(layers: composition.layers))
    } catch {
      throw CHHapticError(error, stranger: reader.strangers[error.place.path])
    }
  }
}

extension CHHapticError {
  /// Makes the error of a dictionary: the way to the value instead of a line and column.
  ///
  /// What has no place in JSON was written as null and is named here by what it was.
  fileprivate init(_ error: InputError, stranger: String?) {
    let finding = error.finding
    var message = finding.message
    if let stranger, message.hasSuffix("null") {
      message = message.dropLast("null".count) + stranger
    }
    let sentence =
      (finding.place.path.isEmpty ? "" : "\(finding.place.path): ") + message
      + (finding.suggestion.map { "; \($0)" } ?? "")
    // A text of one's own that no reader takes is too large or too deep.
    let code = finding.rule == "syntax" ? nil : finding.foreignCode.flatMap(Code.init(rawValue:))
    self.init(code ?? .invalidPatternDictionary, sentence)
  }
}

extension JSONObjectWriter {
  /// Writes a value as a member.
  fileprivate mutating func write(_ value: DictionaryValue, key: String) {
    switch value {
    case .object(let members):
      object(key) { object in
        for member in members { object.write(member.value, key: member.key) }
      }
    case .array(let elements):
      array(key) { array in for element in elements { array.write(element) } }
    case .text(let text): member(key, text)
    case .number(let number): member(key, number)
    case .nothing: null(key)
    }
  }
}

extension JSONArrayWriter {
  /// Writes a value as an element.
  fileprivate mutating func write(_ value: DictionaryValue) {
    switch value {
    case .object(let members):
      object { object in
        for member in members { object.write(member.value, key: member.key) }
      }
    case .array(let elements):
      array { array in for element in elements { array.write(element) } }
    case .text(let text): element(text)
    case .number(let number): element(number)
    case .nothing: null()
    }
  }
}
