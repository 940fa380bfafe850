import Diagnostics
import Foundation

extension CHHapticError {
  /// Makes an error with a sentence of its own.
  init(_ code: Code, _ sentence: String) {
    self.init(code, userInfo: [NSLocalizedDescriptionKey: sentence])
  }

  /// Makes the error of a text that is no pattern: its line, column and reason.
  init(_ error: InputError) {
    self.init(error.finding.foreignCode.flatMap(Code.init(rawValue:)) ?? .invalidPatternData, error.description)
  }
}
